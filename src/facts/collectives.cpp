#include "facts/collectives.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>

#include "facts/collective_call.h"
#include "facts/derive.h"

namespace stepscope {

namespace {

// Of calls matched by order, how far the corrected ends of members may lie apart. Ours: real members end within microseconds on one host and within 1 % of
// the kernel on many; calls that are not the same one lie as far apart as calls do.
constexpr Nanoseconds most_apart = 20'000;
constexpr std::int64_t most_apart_share = 20;  // 1 / 20 of the longest member

bool is_matched(CollectiveFunction function) {
  using enum CollectiveFunction;
  return function != send && function != receive && function != send_receive && function != unknown;
}

// What must be equal in all members. Parts are separated by a byte that no name has.
std::string group_key(const CollectiveCall& call) {
  std::string key = std::to_string(static_cast<int>(call.function)) + '\x1f' + call.group + '\x1f';
  for (const char c : call.group_ranks)
    if (c != ' ') key += c;
  return key + '\x1f';
}

class Matcher {
 public:
  Matcher(const Timeline& timeline, Facts& facts) : timeline_(timeline), facts_(facts), found_(facts.collectives) {
    for (const Rank& rank : timeline.ranks) rank_numbers_.push_back(rank.number);
    std::ranges::sort(rank_numbers_);
  }

  void match() {
    // By rank, and in order of time on each: so the calls of one key stand in rows of ascending ranks.
    for (const DeviceFacts& device : facts_.devices)
      for (const SliceId id : device.slices)
        if (facts_.activity[id] == ActivityClass::communication) take(id, device.rank);
    std::ranges::stable_sort(calls_, {}, [](const Call& call) { return call.member.rank; });
    std::ranges::stable_sort(calls_, {}, &Call::key);
    for (std::size_t first = 0; first < calls_.size();) {
      std::size_t last = first;
      while (last < calls_.size() && calls_[last].key == calls_[first].key) ++last;
      const std::span<const Call> same = std::span<const Call>(calls_).subspan(first, last - first);
      if (keys_[same.front().key].match == CollectiveMatch::sequence)
        match_by_sequence(same);
      else
        match_by_order(same);
      first = last;
    }
    const SliceColumns& s = timeline_.slices;
    std::ranges::stable_sort(found_.matched, {}, [&](const MatchedCollective& one) { return s.start[found_.members[one.first].slice]; });
  }

 private:
  struct Call {
    std::uint32_t key = 0;
    CollectiveMember member;
  };
  struct Key {
    CollectiveFunction function{};
    CollectiveMatch match{};
    std::int64_t bytes = -1;
    std::int64_t group_size = 0;
    bool group_known = false;
    std::size_t ranks_here = 0;  // of the group's recorded ranks, how many are in the capture
  };

  void take(SliceId id, RankId rank) {
    const CollectiveCall call = collective_call(timeline_, facts_, id);
    if (!is_matched(call.function)) {
      ++found_.point_to_point;
      return;
    }
    std::string text = group_key(call);
    if (call.sequence)
      text += "seq" + std::to_string(*call.sequence);
    else
      text += call.bytes ? std::to_string(*call.bytes) : "?";
    const auto [at, fresh] = rows_.try_emplace(std::move(text), static_cast<std::uint32_t>(keys_.size()));
    if (fresh)
      keys_.push_back({.function = call.function,
                       .match = call.sequence ? CollectiveMatch::sequence : CollectiveMatch::order,
                       .bytes = call.bytes.value_or(-1),
                       .group_size = call.group_size.value_or(0),
                       .group_known = !call.group_ranks.empty() || !call.group.empty(),
                       .ranks_here = ranks_here(call.group_ranks)});
    calls_.push_back({.key = at->second, .member = {rank, id}});
  }

  // text: "[0, 1, 2, 3]".
  std::size_t ranks_here(std::string_view text) const {
    std::size_t here = 0;
    while (!text.empty()) {
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error == std::errc{}) here += std::ranges::binary_search(rank_numbers_, number);
      text.remove_prefix(error == std::errc{} ? static_cast<std::size_t>(end - text.data()) : 1);
    }
    return here;
  }

  static std::size_t ranks_in(std::span<const Call> calls) {
    std::size_t ranks = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) ranks += i == 0 || calls[i].member.rank != calls[i - 1].member.rank;
    return ranks;
  }

  // The members of a group. Where the trace names none, the call is taken for one of all ranks of the job: those of the capture did the same.
  std::int64_t group_size(const Key& key, std::size_t members) const {
    if (key.group_size > 0) return key.group_size;
    if (key.group_known || members != timeline_.ranks.size()) return 0;
    return timeline_.ranks.front().world_size;
  }

  void add(const Key& key, std::span<const Call> calls, std::size_t step, std::size_t offset, std::size_t members) {
    found_.matched.push_back({.function = key.function,
                              .match = key.match,
                              .bytes = key.bytes,
                              .group_size = group_size(key, members),
                              .first = static_cast<std::uint32_t>(found_.members.size()),
                              .members = static_cast<std::uint32_t>(members)});
    for (std::size_t member = 0; member < members; ++member) found_.members.push_back(calls[member * step + offset].member);
  }

  void match_by_sequence(std::span<const Call> calls) {
    const std::size_t ranks = ranks_in(calls);
    if (ranks < 2)
      found_.alone += calls.size();
    else if (ranks != calls.size())
      found_.repeated += calls.size();
    else
      add(keys_[calls.front().key], calls, 1, 0, ranks);
  }

  void match_by_order(std::span<const Call> calls) {
    const Key& key = keys_[calls.front().key];
    const std::size_t ranks = ranks_in(calls);
    if (ranks < 2) {
      found_.alone += calls.size();
      return;
    }
    const std::size_t each = calls.size() / ranks;
    bool even = each * ranks == calls.size() && ranks >= key.ranks_here;
    for (std::size_t i = 0; even && i < calls.size(); ++i) even = calls[i].member.rank == calls[i / each * each].member.rank;
    if (!even) {
      found_.uneven += calls.size();
      return;
    }
    for (std::size_t k = 0; k < each; ++k) add(key, calls, each, k, ranks);
  }

  const Timeline& timeline_;
  const Facts& facts_;
  Collectives& found_;
  std::vector<std::int64_t> rank_numbers_;  // ascending
  std::unordered_map<std::string, std::uint32_t> rows_;
  std::vector<Key> keys_;
  std::vector<Call> calls_;
};

}  // namespace

void match_collectives(const Timeline& timeline, Facts& facts) {
  if (timeline.ranks.size() > 1) Matcher(timeline, facts).match();
}

void drop_collectives_apart(const Timeline& timeline, Facts& facts) {
  const SliceColumns& s = timeline.slices;
  Collectives& found = facts.collectives;
  std::vector<MatchedCollective> kept;
  std::vector<CollectiveMember> members;
  for (MatchedCollective& one : found.matched) {
    Nanoseconds first_end = 0, last_end = 0, last_start = 0, longest = 0;
    bool first = true;
    for (const CollectiveMember& member : found.members_of(one)) {
      const Nanoseconds offset = facts.clocks[index(member.rank)].offset.value_or(0);
      const Nanoseconds start = s.start[member.slice] - offset, end = s.end(member.slice) - offset;
      first_end = first ? end : std::min(first_end, end);
      last_end = first ? end : std::max(last_end, end);
      last_start = first ? start : std::max(last_start, start);
      longest = std::max(longest, s.duration[member.slice]);
      first = false;
    }
    const bool together = first_end >= last_start && last_end - first_end <= std::max(most_apart, longest / most_apart_share);
    if (one.match == CollectiveMatch::order && !together) {
      found.apart += one.members;
      continue;
    }
    const auto mine = found.members_of(one);
    one.first = static_cast<std::uint32_t>(members.size());
    members.insert(members.end(), mine.begin(), mine.end());
    kept.push_back(one);
  }
  found.matched = std::move(kept);
  found.members = std::move(members);
}

}  // namespace stepscope
