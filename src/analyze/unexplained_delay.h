// Why a delay on the critical path is not explained: the likely reason, in words.
#pragma once

#include <string>

#include "analyze/question.h"
#include "simulate/critical_path.h"

namespace stepscope {

// part: a lag of kind unexplained or no_cause.
std::string reason_of_delay(const Scene& scene, const PathPart& part);

}  // namespace stepscope
