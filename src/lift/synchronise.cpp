// A thread waits for a device: synchronising calls, copies that block, and calls that synchronise as a side effect (freeing memory). Which work a call waited
// for says its synchronisation row; where there is none, the work whose end explains when the call returned.
#include <algorithm>

#include "lift/draft.h"
#include "lift/sync_calls.h"

namespace stepscope {

namespace {

constexpr Nanoseconds longest_return = 50'000;    // from the end of what was waited for to the call's return: a thread that sleeps is woken within it
constexpr Nanoseconds clock_tolerance = 2'000;    // a device may seem to end so much after the call that waited for it returned
constexpr Nanoseconds shortest_inferred = 5'000;  // calls shorter than this waited for nothing worth inferring
constexpr int most_looked_at = 32;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class Synchroniser {
 public:
  explicit Synchroniser(Draft& draft) : draft_(draft), calls_(draft) {
    for (const Stream& stream : draft.streams)
      for (const StreamSlice& slice : stream.slices) by_end_[draft.timeline.tracks[index(stream.track)].rank].push_back(&slice);
    for (auto& [rank, slices] : by_end_) std::ranges::stable_sort(slices, {}, &StreamSlice::end);
    for (const Stream& stream : draft.streams)
      for (const StreamSlice& slice : stream.slices) {
        if (slice.launch == no_id<SliceId> || draft.facts.api_calls[draft.timeline.slices.name[slice.launch]].role != ApiRole::copy) continue;
        const StreamSlice*& last = own_[slice.launch];
        if (last == nullptr || last->end < slice.end) last = &slice;
      }
  }

  void synchronise() {
    for (std::vector<ThreadPart>& parts : draft_.parts)
      for (ThreadPart& part : parts)
        if (part.owner != no_id<SliceId> && is_api_call(draft_.timeline.slices.kind[part.owner])) look_at(part);
    settle_waits();
  }

 private:
  void look_at(ThreadPart& part) {
    const std::string_view name = draft_.timeline.name_of(part.owner);
    const ApiCall api = draft_.facts.api_calls[draft_.timeline.slices.name[part.owner]];
    if (api.role == ApiRole::synchronise)
      wait_in(part, waited_for(part, name));
    else if (api.role == ApiRole::copy && blocked(part, api))
      wait_for_own(part);
    else if (has(name, "Free") && part.end - part.begin >= shortest_inferred)
      wait_in(part, ended_before_return(part));
  }

  // All that was launched before a call, one per stream: the last.
  std::vector<const StreamSlice*> last_of_all_streams(RankId rank, Nanoseconds called) const {
    std::vector<const StreamSlice*> found;
    for (const Stream& stream : draft_.streams)
      if (draft_.timeline.tracks[index(stream.track)].rank == rank)
        if (const StreamSlice* slice = stream.last_launched_before(called)) found.push_back(slice);
    return found;
  }

  std::vector<const StreamSlice*> waited_for(const ThreadPart& part, std::string_view name) const {
    const SliceId call = part.owner;
    const Track& thread = draft_.timeline.track_of(call);
    if (has(name, "DeviceSynchronize") || has(name, "CtxSynchronize")) return last_of_all_streams(thread.rank, part.begin);
    if (const SyncFact* record = calls_.record_of(call)) {
      const Track& row = draft_.timeline.track_of(record->slice);
      const Nanoseconds event = record->wait_on_record_correlation == no_number
                                    ? part.begin
                                    : calls_.call_start(thread.rank, record->wait_on_record_correlation).value_or(part.begin);
      const std::int64_t number = has(name, "Event") && record->wait_on_stream >= 0 ? record->wait_on_stream : row.stream;
      if (const Stream* stream = calls_.stream(thread.rank, row.device, number))
        if (auto work = calls_.work_before(*stream, event); !work.empty()) return work;
    }
    return ended_before_return(part);
  }

  // The work whose end explains the call's return: the last that ended in the call, shortly before it returned.
  std::vector<const StreamSlice*> ended_before_return(const ThreadPart& part) const {
    if (part.end - part.begin < shortest_inferred) return {};
    const auto mine = by_end_.find(draft_.timeline.track_of(part.owner).rank);
    if (mine == by_end_.end()) return {};
    auto at = std::ranges::upper_bound(mine->second, part.end, {}, &StreamSlice::end);
    for (int looked_at = 0; at != mine->second.begin() && looked_at < most_looked_at; ++looked_at) {
      --at;
      if ((*at)->end <= part.begin || part.end - (*at)->end > longest_return) break;
      if ((*at)->launched < part.begin) return {*at};
    }
    return {};
  }

  // A call and what it waits for.
  struct Wait {
    OpId op{};
    NameId name{};
    Nanoseconds begin = 0, end = 0;
    Nanoseconds ready = 0;  // when it had begun and all that it waits for had ended
    std::vector<const StreamSlice*> on = {};
  };

  void wait_in(const ThreadPart& part, const std::vector<const StreamSlice*>& waited) {
    Wait wait{.op = part.op, .name = draft_.timeline.slices.name[part.owner], .begin = part.begin, .end = part.end, .ready = part.begin};
    for (const StreamSlice* slice : waited) {
      if (slice->end > part.end + clock_tolerance || slice->launched > part.begin) continue;  // it cannot have waited for that
      wait.on.push_back(slice);
      wait.ready = std::max(wait.ready, std::min(slice->end, part.end));
    }
    if (!wait.on.empty()) waits_.push_back(std::move(wait));
  }

  // The thread goes on when the call has begun and what it waits for has ended. What is left of the call then is its own time, as long as calls of this name
  // (or else of any) usually take that find nothing to wait for, and before it what it takes to wake the thread (LagKind::hand_over). Where all calls waited,
  // all of it is the call's own.
  void settle_waits() {
    struct Usual {
      std::vector<Nanoseconds> own, returns;
    };
    std::unordered_map<NameId, Usual> usual;
    std::vector<Nanoseconds> own_of_all;
    for (const Wait& wait : waits_) {
      const bool waited = wait.ready > wait.begin;
      (waited ? usual[wait.name].returns : usual[wait.name].own).push_back(wait.end - wait.ready);
      if (!waited) own_of_all.push_back(wait.end - wait.ready);
    }
    const auto median = [](std::vector<Nanoseconds>& values) -> std::optional<Nanoseconds> {
      if (values.empty()) return std::nullopt;
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::ranges::nth_element(values, middle);
      return *middle;
    };
    std::unordered_map<NameId, std::pair<std::optional<Nanoseconds>, std::optional<Nanoseconds>>> typical;
    const std::optional<Nanoseconds> own_of_any = median(own_of_all);
    for (auto& [name, one] : usual) typical[name] = {one.own.empty() ? own_of_any : median(one.own), median(one.returns)};
    for (const Wait& wait : waits_) {
      const auto& [own, returns] = typical.at(wait.name);
      const Nanoseconds rest = wait.end - wait.ready;
      Nanoseconds duration = rest, waking = 0;
      if (wait.ready > wait.begin) {
        duration = std::min(own.value_or(rest), rest);
        waking = rest - duration;
      } else if (returns) {
        waking = std::max<Nanoseconds>(0, *returns - duration);
      }
      draft_.builder.operations().duration[wait.op] = duration;
      for (const StreamSlice* slice : wait.on) {
        // At most what the trace leaves room for; negative where clocks disagree.
        const Nanoseconds lag = std::min(waking, wait.end - duration - slice->end);
        draft_.builder.depend(wait.op, Moment::end(slice->op), DependencyKind::synchronise, lag, lag == 0 ? LagKind::none : LagKind::hand_over);
      }
    }
  }

  void depend(OpId op, const StreamSlice& slice, Nanoseconds end) {
    const Nanoseconds lag = std::min<Nanoseconds>(0, end - slice.end);  // clocks
    draft_.builder.depend(op, Moment::end(slice.op), DependencyKind::synchronise, lag, lag == 0 ? LagKind::none : LagKind::hand_over);
  }

  // Whether a call that launches a copy returned only when the copy had ended.
  bool blocked(const ThreadPart& part, const ApiCall& api) const {
    const auto own = own_.find(part.owner);
    if (own == own_.end()) return false;
    const StreamSlice* const copy = own->second;
    if (copy->end > part.end + clock_tolerance || copy->end <= part.begin) return false;
    const std::string_view name = draft_.timeline.name_of(copy->slice);
    if (api.blocks || has(name, "Pageable")) return true;
    // A copy of pinned memory, or inside the device, may end in its call by chance.
    return !has(name, "Pinned") && !has(name, "DtoD") && part.end - copy->end <= longest_return;
  }

  // The call is two operations then: one that launches the copy, and one that goes on when the copy has ended.
  void wait_for_own(ThreadPart& part) {
    const StreamSlice& copy = *own_.at(part.owner);
    OperationColumns& operations = draft_.builder.operations();
    const Nanoseconds ready = std::min(std::max(part.begin, copy.end), part.end);
    part.completion = draft_.add({.place = operations.place[part.op],
                                  .operation_class = OperationClass::synchronisation,
                                  .duration = part.end - ready,
                                  .name = operations.name[part.op],
                                  .origin = part.owner},
                                 {ready, part.end});
    draft_.builder.operations().duration[part.op] = 0;
    depend(part.completion, copy, part.end);
  }

  Draft& draft_;
  const SyncCalls calls_;
  std::vector<Wait> waits_;
  std::unordered_map<RankId, std::vector<const StreamSlice*>> by_end_;
  std::unordered_map<SliceId, const StreamSlice*> own_;  // of calls that launch a copy: it
};

}  // namespace

void synchronise_threads(Draft& draft) {
  Synchroniser(draft).synchronise();
}

}  // namespace stepscope
