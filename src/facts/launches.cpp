// Which call launched each device slice. Correlation ids are unique within (rank's file, process) only. Of several nested calls with one id (a runtime call and
// the driver call in it) the outermost is the launch. One launch may own many slices (CUDA graphs). Calls that are not nested and claim one id are a damaged
// input: their slices are paired with them in order of time and counted as ambiguous.
#include <algorithm>
#include <limits>
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

// The launch of each id that device slices carry, in pages of ids. Ids are counters, so that neighbours in a file share a page and the last page is mostly the
// next one too. Where ids lie so far apart that pages would be nearly empty, each page holds a single id.
class LinkTable {
 public:
  LinkTable(const std::vector<std::uint32_t>& process_of_track, const SliceColumns& slices, std::span<const SliceId> linked) {
    for (const int bits : {12, 0}) {
      page_bits_ = bits;
      if (add_all(process_of_track, slices, linked)) return;
    }
  }
  // Null where no device slice of the process has this id or one near it.
  SliceId* find(std::uint32_t process, std::uint64_t correlation) {
    const std::uint64_t page = correlation >> page_bits_;
    if (!find_page(process, page)) return nullptr;
    return &launches_[last_.first + (correlation & ((std::uint64_t{1} << page_bits_) - 1))];
  }

 private:
  struct Slot {
    std::uint64_t page = 0;
    std::size_t first = 0;  // of the page's launches
    std::uint32_t process = 0;
    bool used = false;
  };
  static constexpr std::size_t most_ids_per_slice = 32;  // 128 bytes per device slice

  // False where the pages would hold too little for their size.
  bool add_all(const std::vector<std::uint32_t>& process_of_track, const SliceColumns& slices, std::span<const SliceId> linked) {
    const std::size_t page_size = std::size_t{1} << page_bits_, most = page_bits_ == 0 ? linked.size() : 16 + linked.size() * most_ids_per_slice / page_size;
    std::size_t slots = 64;
    while (slots < most * 2) slots *= 2;
    slots_.clear();
    slots_.resize(slots);
    std::size_t pages = 0;
    last_ = {};
    for (const SliceId id : linked) {
      const std::uint32_t process = process_of_track[index(slices.track[id])];
      if (find_page(process, slices.correlation[id] >> page_bits_)) continue;
      if (++pages > most) return false;
      std::size_t slot = place(process, slices.correlation[id] >> page_bits_);
      while (slots_[slot].used) slot = next(slot);
      slots_[slot] = last_ = {slices.correlation[id] >> page_bits_, (pages - 1) * page_size, process, true};
    }
    launches_.resize(pages * page_size, no_id<SliceId>);
    return true;
  }
  bool find_page(std::uint32_t process, std::uint64_t page) {
    if (page == last_.page && process == last_.process && last_.used) return true;
    std::size_t slot = place(process, page);
    while (slots_[slot].used && (slots_[slot].page != page || slots_[slot].process != process)) slot = next(slot);
    if (slots_[slot].used) last_ = slots_[slot];
    return slots_[slot].used;
  }
  std::size_t next(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
  std::size_t place(std::uint32_t process, std::uint64_t page) const {
    std::uint64_t mixed = (page ^ (static_cast<std::uint64_t>(process) << 40)) * 0x9E37'79B9'7F4A'7C15u;
    mixed ^= mixed >> 32;
    mixed *= 0xD6E8'FEB8'6659'FD93u;
    mixed ^= mixed >> 29;
    return mixed & (slots_.size() - 1);
  }

  int page_bits_ = 0;
  Column<Slot> slots_;        // open addressing by (process, page)
  Column<SliceId> launches_;  // the pages
  Slot last_;
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
    std::vector<SliceId> linked;
    for (std::size_t row = 0; row < s.size(); ++row)
      if (is_device_activity(s.kind[row]) && s.correlation[row] != no_number) linked.push_back(SliceId{static_cast<std::uint32_t>(row)});
    LinkTable links(processes_, s, linked);
    for (std::size_t row = 0; row < s.size(); ++row)
      if (is_api_call(s.kind[row])) note_call(SliceId{static_cast<std::uint32_t>(row)}, links);
    std::ranges::sort(facts_.inner_calls.span());
    std::ranges::stable_sort(facts_.wait_calls.span(), {}, [&](SliceId id) { return s.start[id]; });
    for (const SliceId id : linked) facts_.launch[id] = *links.find(process(id), s.correlation[id]);
    if (!claims_.empty()) pair_ambiguous(linked, links);
  }

 private:
  std::uint32_t process(std::size_t row) const { return processes_[index(timeline_.slices.track[row])]; }
  std::uint32_t process(SliceId id) const { return process(index(id)); }

  // By start, the outer one first.
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
    if (kind.role == ApiRole::wait_event) facts_.wait_calls.push_back(call);
    if (s.correlation[call] == no_number) return;
    const std::uint32_t owner = process(call);
    SliceId* launch = links.find(owner, s.correlation[call]);
    if (launch == nullptr) return;
    if (*launch == no_id<SliceId>) {
      *launch = call;
    } else if (nested(call, *launch)) {
      const bool outer = earlier_or_outer(call, *launch);
      facts_.inner_calls.push_back(outer ? *launch : call);
      if (outer) *launch = call;
    } else {
      claims_.push_back({owner, s.correlation[call], *launch});
      claims_.push_back({owner, s.correlation[call], call});
    }
  }

  void pair_ambiguous(const std::vector<SliceId>& linked, LinkTable& links) {
    const SliceColumns& s = timeline_.slices;
    // The call that was outermost so far may have been replaced after it was noted as a claim.
    for (const Claim& claim : std::vector<Claim>(claims_)) {
      const SliceId launch = *links.find(claim.process, claim.correlation);
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
    std::vector<SliceId> slices;
    for (const SliceId id : linked) {
      const auto mine = std::ranges::lower_bound(outermost, std::pair(process(id), s.correlation[id]), {},
                                                 [](const Claim& claim) { return std::pair(claim.process, claim.correlation); });
      if (mine != outermost.end() && mine->process == process(id) && mine->correlation == s.correlation[id]) slices.push_back(id);
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
