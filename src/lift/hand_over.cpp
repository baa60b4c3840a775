// Hand-over between threads: a thread (forward) starts another's work (autograd's backward) and waits for its end. The trace shows it as a part of the one
// thread that covers a burst of work of the other, which was idle before: the burst begins when the part has begun, and the part ends when the burst has ended.
// The idle time of the other thread before the burst is then no operation of its own.
#include <algorithm>

#include "lift/draft.h"

namespace stepscope {

namespace {

constexpr Nanoseconds shortest_rest = 20'000;  // shorter idle times of a thread are between its own operators

class HandOver {
 public:
  explicit HandOver(Draft& draft) : draft_(draft), s_(draft.timeline.slices) {}

  void find() {
    std::vector<TrackId> threads;
    for (std::uint32_t track = 0; track < draft_.parts.size(); ++track)
      if (!draft_.parts[track].empty()) threads.push_back(TrackId{track});
    for (const TrackId worker : threads) {
      if (!works_backward(worker)) continue;
      for (const TrackId starter : threads)
        if (starter != worker && same_process(starter, worker) && !works_backward(starter)) connect(starter, worker);
    }
    settle_returns();
  }

 private:
  bool same_process(TrackId a, TrackId b) const {
    const Track &x = draft_.timeline.tracks[index(a)], &y = draft_.timeline.tracks[index(b)];
    return x.rank == y.rank && x.process == y.process;
  }

  // A thread of autograd's own: nearly all of its operators are backward ones. (Where backward runs on the forward thread, they may be the most of its own.)
  bool works_backward(TrackId track) const {
    std::size_t operators = 0, backward = 0;
    for (const ThreadPart& part : draft_.parts[index(track)]) {
      if (part.owner == no_id<SliceId> || s_.kind[part.owner] != SliceKind::operation) continue;
      ++operators;
      backward += draft_.facts.phase[part.owner] == Phase::backward;
    }
    return operators != 0 && backward * 10 > operators * 8;
  }

  // The row behind the rest that begins with a part: parts without an owner, one after the other (steps cut them). `row` itself where there is none.
  static std::size_t behind_rest(const std::vector<ThreadPart>& work, std::size_t row) {
    std::size_t end = row;
    while (end < work.size() && work[end].owner == no_id<SliceId>) ++end;
    return end > row && work[end - 1].end - work[row].begin >= shortest_rest ? end : row;
  }

  // Of a part, whether its thread may have waited in it for another one.
  bool may_wait(const ThreadPart& part) const {
    return part.completion == no_id<OpId> && (part.owner == no_id<SliceId> || s_.kind[part.owner] == SliceKind::operation);
  }

  void connect(TrackId starter, TrackId worker) {
    std::vector<ThreadPart>& work = draft_.parts[index(worker)];
    for (std::size_t rest = 0; rest < work.size();) {
      // A burst: from behind a rest (or the thread's beginning) to the next rest.
      const std::size_t first = behind_rest(work, rest);
      if (first == work.size()) return;
      std::size_t behind = first + 1;
      while (behind < work.size() && behind_rest(work, behind) == behind) ++behind;
      start_burst(starter, work, rest, first, behind - 1);
      rest = behind;
    }
  }

  // Parts `first` … `last` are the burst; those from `rest` on before it, the rest.
  void start_burst(TrackId starter, std::vector<ThreadPart>& work, std::size_t rest, std::size_t first, std::size_t last) {
    const ThreadPart* const waiting = draft_.part_at(starter, work[first].begin);
    if (waiting == nullptr || waiting->begin > work[first].begin || waiting->end < work[last].end || !may_wait(*waiting)) return;
    std::vector<ThreadPart>& parts = draft_.parts[index(starter)];
    const std::size_t row = static_cast<std::size_t>(waiting - parts.data());
    if (row == 0) return;
    const OpId before = parts[row - 1].completion == no_id<OpId> ? parts[row - 1].op : parts[row - 1].completion;
    if (rest != first && work[rest].begin > waiting->begin && handed_[index(starter)] != row + 1) return;  // it began to rest when the other waited already
    OperationColumns& operations = draft_.builder.operations();
    const Nanoseconds lag = work[first].begin - waiting->begin;
    if (handed_[index(starter)] == row + 1) return;  // one burst per wait: later ones follow the first on their own thread
    handed_[index(starter)] = row + 1;
    draft_.builder.depend(work[first].op, Moment::end(before), DependencyKind::hand_over, lag, lag == 0 ? LagKind::none : LagKind::hand_over);
    work[first].handed_over = true;
    for (std::size_t part = rest; part < first; ++part) operations.duration[work[part].op] = 0;
    // The last part of the worker that ends within the wait.
    std::size_t end = last;
    while (end + 1 < work.size() && work[end + 1].end <= waiting->end) ++end;
    std::size_t begin = end;
    while (begin > first && work[begin - 1].owner == no_id<SliceId>) --begin;
    if (begin > first && behind_rest(work, begin) != begin) end = begin - 1;
    // From the worker's end to the end of the part: until the thread is awake, as long as it took to wake the worker, and then its own time.
    const Nanoseconds left = waiting->end - std::max(waiting->begin, work[end].end);
    returns_.push_back({waiting->op, Moment::end(work[end].completion == no_id<OpId> ? work[end].op : work[end].completion), left, lag});
  }

  struct Return {
    OpId waiting{};
    Moment on;
    Nanoseconds rest = 0, handed_over_in = 0;
  };

  void settle_returns() {
    if (returns_.empty()) return;
    // The shortest: others hold what the starter did before.
    const Nanoseconds waking = std::max<Nanoseconds>(0, std::ranges::min(returns_, {}, &Return::handed_over_in).handed_over_in);
    for (const Return& back : returns_) {
      const Nanoseconds lag = std::min(waking, back.rest);
      draft_.builder.depend(back.waiting, back.on, DependencyKind::hand_over, lag, lag == 0 ? LagKind::none : LagKind::hand_over);
      draft_.builder.operations().duration[back.waiting] = back.rest - lag;
    }
  }

  Draft& draft_;
  const SliceColumns& s_;
  std::vector<Return> returns_;
  std::vector<std::size_t> handed_ = std::vector<std::size_t>(draft_.parts.size(), 0);  // per thread: the part (+ 1) that handed over last
};

}  // namespace

void hand_over_between_threads(Draft& draft) {
  HandOver(draft).find();
}

}  // namespace stepscope
