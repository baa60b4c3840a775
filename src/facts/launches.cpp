// Which call launched each device slice. Correlation ids are unique within (rank's file, process) only. Of several nested calls with one id (a runtime call and
// the driver call in it) the outermost is the launch. One launch may own many slices (CUDA graphs). Calls that are not nested and claim one id are a damaged
// input: their slices are paired with them in order of time and counted as ambiguous.
#include <algorithm>
#include <unordered_map>

#include "facts/derive.h"

namespace stepscope {

namespace {

// The process that a track's correlation ids belong to, as a small number per track.
std::vector<std::uint32_t> process_of_tracks(const Timeline& timeline) {
  std::vector<std::uint32_t> processes;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (const Track& track : timeline.tracks) {
    const std::uint64_t key = (static_cast<std::uint64_t>(track.rank) << 32) | static_cast<std::uint64_t>(track.owner_process);
    processes.push_back(numbers.try_emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  return processes;
}

// What device slices with one id were launched by.
struct Link {
  std::uint64_t correlation;
  std::uint32_t process;
  SliceId launch = no_id<SliceId>;
  bool used = false;
  bool ambiguous = false;
};

// Open addressing by (process, id). Ids come in runs, so their low bits are kept together: neighbours share cache lines.
class LinkTable {
 public:
  explicit LinkTable(std::size_t expected) {
    std::size_t slots = 64;
    while (slots < expected + expected / 2) slots *= 2;
    slots_.resize(slots);
  }
  Link& find_or_add(std::uint32_t process, std::uint64_t correlation) {
    std::size_t slot = place(process, correlation);
    while (slots_[slot].used && !(slots_[slot].correlation == correlation && slots_[slot].process == process)) slot = next(slot);
    if (!slots_[slot].used) slots_[slot] = Link{correlation, process, no_id<SliceId>, true, false};
    return slots_[slot];
  }
  Link* find(std::uint32_t process, std::uint64_t correlation) {
    for (std::size_t slot = place(process, correlation); slots_[slot].used; slot = next(slot))
      if (slots_[slot].correlation == correlation && slots_[slot].process == process) return &slots_[slot];
    return nullptr;
  }

 private:
  std::size_t next(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  std::size_t place(std::uint32_t process, std::uint64_t correlation) const {
    constexpr int run_bits = 8;
    std::uint64_t block = (correlation >> run_bits) ^ (static_cast<std::uint64_t>(process) << 40);
    block *= 0x9E37'79B9'7F4A'7C15u;
    block ^= block >> 32;
    block *= 0xD6E8'FEB8'6659'FD93u;
    block ^= block >> 29;
    return ((block << run_bits) + (correlation & ((1u << run_bits) - 1))) & (slots_.size() - 1);
  }
  Column<Link> slots_;
};

// A call that claims an id which another call, not nested with it, claims too.
struct Claim {
  std::uint32_t process;
  std::uint64_t correlation;
  SliceId call;
};

class Linker {
 public:
  Linker(const Timeline& timeline, Facts& facts) : timeline_(timeline), facts_(facts), processes_(process_of_tracks(timeline)) {}

  void link() {
    const SliceColumns& s = timeline_.slices;
    facts_.launch.resize(s.size(), no_id<SliceId>);
    facts_.graph_launch.resize(s.size(), 0);
    facts_.api_calls.resize(timeline_.names.size());
    std::size_t device_slices = 0;
    for (const SliceKind kind : s.kind) device_slices += is_device_activity(kind);
    LinkTable links(device_slices);
    for (std::size_t row = 0; row < s.size(); ++row)
      if (is_device_activity(s.kind[row]) && s.correlation[row] != no_number) links.find_or_add(process(row), s.correlation[row]);
    for (std::size_t row = 0; row < s.size(); ++row)
      if (is_api_call(s.kind[row])) note_call(SliceId{static_cast<std::uint32_t>(row)}, links);
    std::vector<SliceId> ambiguous;
    for (std::size_t row = 0; row < s.size(); ++row) {
      if (!is_device_activity(s.kind[row]) || s.correlation[row] == no_number) continue;
      const Link* found = links.find(process(row), s.correlation[row]);
      facts_.launch[row] = found->launch;
      if (found->ambiguous) ambiguous.push_back(SliceId{static_cast<std::uint32_t>(row)});
    }
    if (!ambiguous.empty()) pair_ambiguous(ambiguous, links);
  }

 private:
  std::uint32_t process(std::size_t row) const { return processes_[index(timeline_.slices.track[row])]; }
  std::uint32_t process(SliceId id) const { return process(index(id)); }

  bool earlier_or_outer(SliceId a, SliceId b) const {
    const SliceColumns& s = timeline_.slices;
    if (s.start[a] != s.start[b]) return s.start[a] < s.start[b];
    if (s.duration[a] != s.duration[b]) return s.duration[a] > s.duration[b];
    return a < b;
  }
  // Of two calls: whether they overlap on one thread, so that one lies in the other.
  bool nested(SliceId a, SliceId b) const {
    const SliceColumns& s = timeline_.slices;
    return s.track[a] == s.track[b] && (s.start[a] == s.start[b] || (s.start[a] < s.end(b) && s.start[b] < s.end(a)));
  }

  void note_call(SliceId call, LinkTable& links) {
    const SliceColumns& s = timeline_.slices;
    ApiCall& kind = facts_.api_calls[s.name[call]];
    if (!kind.known) kind = api_call(timeline_.name_of(call));
    if (kind.role == ApiRole::launch_graph) facts_.graph_launch[call] = 1;
    if (s.correlation[call] == no_number) return;
    Link* link = links.find(process(call), s.correlation[call]);
    if (link == nullptr) return;
    if (link->launch == no_id<SliceId>) {
      link->launch = call;
    } else if (nested(call, link->launch)) {
      if (earlier_or_outer(call, link->launch)) link->launch = call;
    } else {
      if (!link->ambiguous) claims_.push_back({link->process, link->correlation, link->launch});
      link->ambiguous = true;
      claims_.push_back({link->process, link->correlation, call});
    }
  }

  void pair_ambiguous(std::vector<SliceId>& slices, LinkTable& links) {
    const SliceColumns& s = timeline_.slices;
    // The call that was outermost so far may have been replaced after it was noted as a claim.
    for (const Claim& claim : std::vector<Claim>(claims_)) {
      const SliceId launch = links.find(claim.process, claim.correlation)->launch;
      if (launch != claim.call) claims_.push_back({claim.process, claim.correlation, launch});
    }
    std::ranges::sort(claims_, [&](const Claim& a, const Claim& b) {
      if (a.process != b.process) return a.process < b.process;
      if (a.correlation != b.correlation) return a.correlation < b.correlation;
      return a.call != b.call && earlier_or_outer(a.call, b.call);
    });
    std::vector<Claim> outermost;
    for (const Claim& claim : claims_) {
      const bool same = !outermost.empty() && outermost.back().process == claim.process && outermost.back().correlation == claim.correlation;
      if (!same || !nested(outermost.back().call, claim.call)) outermost.push_back(claim);
    }
    std::ranges::sort(slices, [&](SliceId a, SliceId b) {
      if (process(a) != process(b)) return process(a) < process(b);
      if (s.correlation[a] != s.correlation[b]) return s.correlation[a] < s.correlation[b];
      return earlier_or_outer(a, b);
    });
    std::size_t claim = 0;
    for (std::size_t first = 0; first < slices.size();) {
      const std::uint32_t owner = process(slices[first]);
      const std::uint64_t correlation = s.correlation[slices[first]];
      const auto is_mine = [&](SliceId id) { return process(id) == owner && s.correlation[id] == correlation; };
      std::size_t last = first;
      while (last < slices.size() && is_mine(slices[last])) ++last;
      while (outermost[claim].process != owner || outermost[claim].correlation != correlation) ++claim;
      std::size_t end = claim;
      while (end < outermost.size() && outermost[end].process == owner && outermost[end].correlation == correlation) ++end;
      pair(std::span(slices).subspan(first, last - first), std::span(outermost).subspan(claim, end - claim));
      first = last;
      claim = end;
    }
  }

  // As many calls as slices: one each, in order of time. Otherwise a slice belongs to the last call that began before it.
  void pair(std::span<const SliceId> slices, std::span<const Claim> calls) {
    const SliceColumns& s = timeline_.slices;
    std::size_t latest = 0;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      while (latest + 1 < calls.size() && s.start[calls[latest + 1].call] <= s.start[slices[i]]) ++latest;
      facts_.launch[slices[i]] = calls[slices.size() == calls.size() ? i : latest].call;
    }
    if (calls.size() > 1) facts_.ambiguous_links += slices.size();
  }

  const Timeline& timeline_;
  Facts& facts_;
  std::vector<std::uint32_t> processes_;
  std::vector<Claim> claims_;
};

}  // namespace

void find_launches(const Timeline& timeline, Facts& facts) {
  Linker(timeline, facts).link();
}

}  // namespace stepscope
