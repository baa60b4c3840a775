// A user's own kernel classes, from a YAML file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "facts/facts.h"

namespace stepscope {

// A list, or a map whose key `patterns` is one:
//   - name: "my_fused_.*"        regular expression (ECMAScript), searched anywhere in the kernel's name
//     class: compute             compute, communication or memory
//     category: my fusion        optional, shown in the kernel table
// The first pattern that matches a name decides. Errors: unreadable files, YAML mistakes with their line, malformed expressions, unknown classes and keys.
Result<std::vector<KernelPattern>> read_patterns(const std::string& file);
Result<std::vector<KernelPattern>> parse_patterns(std::string_view yaml, const std::string& file);

}  // namespace stepscope
