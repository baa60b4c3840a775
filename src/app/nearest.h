// "Did you mean": the closest of the known words.
#pragma once

#include <span>
#include <string_view>

namespace stepscope::app {

// The candidate with the fewest insertions, deletions, replacements and swaps of neighbours from word, where that is at most a third of its length (at
// least 1) or word begins it; "" = none is near. Words of more than 64 characters are near to nothing.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace stepscope::app
