#include "edit/module_path.h"

#include <algorithm>

namespace stepscope {

namespace {

constexpr std::string_view frame_prefix = "nn.Module: ";
constexpr int most_levels = 10'000;  // of a call stack; a damaged one ends here

std::uint64_t key_of(RankId rank, std::int64_t sequence) {
  return static_cast<std::uint64_t>(rank) << 48 ^ static_cast<std::uint64_t>(sequence);
}

}  // namespace

ModulePaths::ModulePaths(const Timeline& timeline, const Facts& facts) : timeline_(timeline), facts_(facts), is_module_(timeline.slices.size(), false) {
  for (const PythonFact& fact : timeline.python)
    if (fact.module != 0xFFFF'FFFFu) is_module_[index(fact.slice)] = true;
  const SliceColumns& s = timeline.slices;
  for (const SequenceFact& fact : timeline.sequences) {
    if (fact.sequence < 0 || fact.forward_thread == no_number) continue;
    if (fact.forward_thread != 0) {
      backward_.emplace(static_cast<std::uint32_t>(fact.slice), fact.sequence);
      continue;
    }
    const auto [found, fresh] = forward_.try_emplace(key_of(timeline.track_of(fact.slice).rank, fact.sequence), fact.slice);
    if (fresh || found->second == no_id<SliceId>) continue;
    if (s.track[found->second] != s.track[fact.slice])
      found->second = no_id<SliceId>;
    else if (s.start[fact.slice] >= s.start[found->second])  // the ones before the last one only foresaw the number
      found->second = fact.slice;
  }
}

SliceId ModulePaths::innermost_frame(SliceId on_thread) const {
  int level = 0;
  for (SliceId at = on_thread; at != no_id<SliceId> && level < most_levels; at = facts_.parent[at], ++level)
    if (is_module_[index(at)]) return at;
  return no_id<SliceId>;
}

SliceId ModulePaths::forward_operator(SliceId on_thread) const {
  int level = 0;
  for (SliceId at = on_thread; at != no_id<SliceId> && level < most_levels; at = facts_.parent[at], ++level) {
    const auto sequence = backward_.find(static_cast<std::uint32_t>(at));
    if (sequence == backward_.end()) continue;
    const auto found = forward_.find(key_of(timeline_.track_of(at).rank, sequence->second));
    return found == forward_.end() ? no_id<SliceId> : found->second;
  }
  return no_id<SliceId>;
}

const std::vector<std::string_view>& ModulePaths::around(SliceId slice) {
  const SliceId on_thread = is_device_activity(timeline_.slices.kind[slice]) ? facts_.launch[slice] : slice;
  if (on_thread == no_id<SliceId>) return none_;
  SliceId frame = innermost_frame(on_thread);
  if (frame == no_id<SliceId>)
    if (const SliceId forward = forward_operator(on_thread); forward != no_id<SliceId>) frame = innermost_frame(forward);
  if (frame == no_id<SliceId>) return none_;
  const auto [found, fresh] = paths_.try_emplace(static_cast<std::uint32_t>(frame));
  if (!fresh) return found->second;
  std::vector<std::string_view>& path = found->second;
  int level = 0;
  for (SliceId at = frame; at != no_id<SliceId> && level < most_levels; at = facts_.parent[at], ++level) {
    if (!is_module_[index(at)]) continue;
    std::string_view name = timeline_.name_of(at);
    if (name.starts_with(frame_prefix)) name.remove_prefix(frame_prefix.size());
    path.push_back(name);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace stepscope
