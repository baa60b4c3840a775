// Advice as changes to apply: what `stepscope advise --emit` writes.
#pragma once

#include <string>

#include "advise/advise.h"

namespace stepscope {

// A shell script of the environment variables; changes of other forms stand in it as comments. To be sourced before the job starts.
std::string advice_environment(const AdviceList& list);
// For programs: a list of advice, each with its gain, confidence and changes. Schema "stepscope.advice/1" (docs/advice.md).
std::string advice_yaml(const AdviceList& list);
// For a ticket or a mail.
std::string advice_markdown(const AdviceList& list);

}  // namespace stepscope
