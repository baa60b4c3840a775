// What a selector that matched nothing could have said instead.
#pragma once

#include <span>
#include <string>

#include "edit/edit.h"

namespace stepscope {

// "names near it: a, b, c" of the first of the selector's globs that nothing matches by itself; "" where no single one is to blame.
std::string what_there_is(const EditScene& scene, const Graph& graph, const Edit& edit, std::span<const OperationClass> classes);

}  // namespace stepscope
