#include "edit/attention_spans.h"

#include <optional>

#include "edit/words.h"

namespace stepscope {

namespace {

// The count-th batched product from a softmax on, at most reach calls away; another softmax ends the search. The last one found where there are fewer.
std::optional<std::size_t> product_from(std::span<const AttentionPart> calls, std::size_t softmax, bool ahead, std::size_t reach, std::size_t count) {
  std::optional<std::size_t> found;
  for (std::size_t step = 1; step <= reach && (ahead ? softmax + step < calls.size() : step <= softmax); ++step) {
    const std::size_t at = ahead ? softmax + step : softmax - step;
    if (calls[at] == AttentionPart::softmax || calls[at] == AttentionPart::softmax_backward) break;
    if (calls[at] != AttentionPart::batched_product) continue;
    found = at;
    if (--count == 0) break;
  }
  return found;
}

}  // namespace

AttentionPart attention_part(std::string_view name, bool is_product) {
  const std::string text = lower_case(name);
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  if (is_product) return has("bmm") ? AttentionPart::batched_product : AttentionPart::other;
  if (!has("softmax") || has("log_softmax") || has("logsoftmax")) return AttentionPart::other;
  return has("backward") || has("bwd") ? AttentionPart::softmax_backward : AttentionPart::softmax;
}

std::vector<AttentionSpan> attention_spans(std::span<const AttentionPart> calls) {
  std::vector<AttentionSpan> spans;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool backward = calls[i] == AttentionPart::softmax_backward;
    if (!backward && calls[i] != AttentionPart::softmax) continue;
    const auto first = product_from(calls, i, false, backward ? 8 : 6, backward ? 2 : 1),
               last = product_from(calls, i, true, backward ? 8 : 4, backward ? 2 : 1);
    if (!first || !last || (!spans.empty() && *first <= spans.back().last)) continue;
    spans.push_back({.softmax = i, .first = *first, .last = *last, .backward = backward});
  }
  return spans;
}

}  // namespace stepscope
