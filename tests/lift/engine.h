// Runs a Program by itself, event after event from a queue ordered by time: threads run their actions, streams take what was launched into them in order. It
// shares no code and no idea with replay (simulate/replay.h): no graph, no order known beforehand.
#pragma once

#include <algorithm>
#include <map>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/intervals.h"
#include "program.h"

namespace stepscope {

struct RankRun {
  std::vector<std::vector<Interval>> actions;  // per thread
  std::vector<Interval> works;
};

class Engine {
 public:
  static std::vector<RankRun> run(const Program& program) {
    Engine engine(program);
    return engine.run();
  }

 private:
  // Something that happens once: whoever waits for it goes on then.
  struct Happening {
    bool done = false;
    Nanoseconds at = 0;
    std::vector<std::pair<std::uint32_t, bool>> waiting;  // threads (true) and streams (false), by number over all ranks
  };
  enum class ItemKind : std::uint8_t { works, record, wait };
  struct Item {
    ItemKind kind;
    Nanoseconds ready = 0;
    const Action* action = nullptr;
    std::uint32_t event = 0;
  };
  struct Stream {
    std::uint32_t rank = 0;
    std::vector<Item> items = {};
    std::size_t next = 0;
    std::uint32_t running = 0;  // works of the item at `next`
    bool any_before = false, asked = false;
    Nanoseconds ended = 0, held = 0;  // the last work's end; what an event allows
    Happening* drained = nullptr;
  };
  struct Thread {
    std::uint32_t rank = 0, row = 0;
    std::size_t next = 0;
    Nanoseconds begun = 0;
    bool inside = false;  // the action at `next` has begun
  };
  struct Collective {
    std::uint32_t arrived = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> members;  // rank, work
  };
  enum class What : std::uint8_t { thread, stream, work_ends };
  struct Event {
    Nanoseconds time;
    std::uint64_t order;
    What what;
    std::uint32_t who, work;
    bool operator>(const Event& other) const { return std::pair(time, order) > std::pair(other.time, other.order); }
  };

  explicit Engine(const Program& program) : program_(program) {
    collectives_.resize(program.collectives);
    for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) {
      const RankProgram& from = program.ranks[rank];
      first_stream_.push_back(static_cast<std::uint32_t>(streams_.size()));
      streams_.resize(streams_.size() + from.streams.size(), Stream{.rank = rank});
      runs_.push_back({{}, std::vector<Interval>(from.works.size())});
      unmet_.emplace_back();
      stream_of_.emplace_back(from.works.size(), 0);
      for (const DeviceWork& work : from.works) unmet_.back().push_back(static_cast<std::uint32_t>(work.after.size()));
      for (std::uint32_t row = 0; row < from.threads.size(); ++row) {
        runs_.back().actions.emplace_back(from.threads[row].size());
        at(0, What::thread, static_cast<std::uint32_t>(threads_.size()));
        threads_.push_back({.rank = rank, .row = row});
      }
    }
  }

  std::vector<RankRun> run() {
    while (!queue_.empty()) {
      const Event event = queue_.top();
      queue_.pop();
      now_ = event.time;
      if (event.what == What::thread) go_on(event.who);
      if (event.what == What::stream) advance(event.who);
      if (event.what == What::work_ends) work_ended(event.who, event.work);
    }
    for (const Thread& thread : threads_)
      if (thread.next != program_.ranks[thread.rank].threads[thread.row].size()) throw std::logic_error("the program waits for ever");
    return std::move(runs_);
  }

  void at(Nanoseconds time, What what, std::uint32_t who, std::uint32_t work = 0) { queue_.push({time, order_++, what, who, work}); }

  // `since`: when it came true, where that was before anybody could notice.
  void happen(Happening& happening, Nanoseconds since) {
    happening.done = true;
    happening.at = since;
    for (const auto& [who, is_thread] : std::exchange(happening.waiting, {})) at(now_, is_thread ? What::thread : What::stream, who);
  }

  // A thread: runs the action at `next`, or asks for its event.
  void go_on(std::uint32_t number) {
    Thread& thread = threads_[number];
    const auto& actions = program_.ranks[thread.rank].threads[thread.row];
    while (thread.next < actions.size()) {
      const Action& action = actions[thread.next];
      if (!thread.inside) {
        thread.inside = true;
        thread.begun = now_;
        if (!action.removed) begin(thread, action);
      }
      Nanoseconds end = thread.begun + (action.removed ? 0 : action.duration);
      if (!action.removed && waits_for_others(action)) {
        Happening* const awaited = first_undone(thread, action, end);
        if (awaited != nullptr) {
          awaited->waiting.emplace_back(number, true);
          return;
        }
      }
      if (end > now_) {
        at(end, What::thread, number);
        return;
      }
      runs_[thread.rank].actions[thread.row][thread.next] = {thread.begun, end};
      thread.inside = false;
      ++thread.next;
    }
  }

  static bool waits_for_others(const Action& action) {
    switch (action.what) {
      case Do::sync_stream:
      case Do::sync_event:
      case Do::sync_device:
        return action.waits;
      case Do::blocking_copy:
      case Do::await:
        return true;
      default:
        return false;
    }
  }

  // What the action still waits for; null = nothing, and `end` is moved to where what it waited for allows.
  Happening* first_undone(const Thread& thread, const Action& action, Nanoseconds& end) {
    for (Happening* happening : awaited_[{thread.rank, thread.row}]) {
      if (!happening->done) return happening;
      end = std::max(end, happening->at + action.back);
    }
    return nullptr;
  }

  // The action's effects at its begin.
  void begin(const Thread& thread, const Action& action) {
    auto& awaited = awaited_[{thread.rank, thread.row}];
    awaited.clear();
    const std::uint32_t stream = first_stream_[thread.rank] + action.stream;
    switch (action.what) {
      case Do::launch:
        put(stream, {ItemKind::works, now_ + action.latency, &action});
        break;
      case Do::record:
        put(stream, {ItemKind::record, now_, &action, action.number});
        break;
      case Do::wait:
        put(stream, {ItemKind::wait, now_, &action, action.number});
        break;
      case Do::blocking_copy:
        put(stream, {ItemKind::works, now_ + action.latency, &action});
        awaited.push_back(mark(stream));
        break;
      case Do::sync_stream:
        awaited.push_back(mark(stream));
        break;
      case Do::sync_event:
        awaited.push_back(&events_[{thread.rank, action.number}]);
        break;
      case Do::sync_device:
        for (std::uint32_t s = 0; s < program_.ranks[thread.rank].streams.size(); ++s) awaited.push_back(mark(first_stream_[thread.rank] + s));
        break;
      case Do::signal:
        happen(signals_[{thread.rank, action.number}], now_);
        break;
      case Do::await:
        awaited.push_back(&signals_[{thread.rank, action.number}]);
        break;
      default:
        break;
    }
  }

  // A happening behind all that the stream holds now.
  Happening* mark(std::uint32_t stream) {
    const std::uint32_t number = next_mark_++;
    put(stream, {ItemKind::record, now_, nullptr, number});
    return &events_[{streams_[stream].rank, number}];
  }

  void put(std::uint32_t stream, const Item& item) {
    streams_[stream].items.push_back(item);
    if (streams_[stream].next + 1 == streams_[stream].items.size()) advance(stream);
  }

  // A stream: starts what may start now, passes records and waits.
  void advance(std::uint32_t number) {
    Stream& stream = streams_[number];
    while (stream.running == 0 && stream.next < stream.items.size()) {
      const Item item = stream.items[stream.next];
      if (item.kind == ItemKind::record) {
        ++stream.next;
        happen(events_[{stream.rank, item.event}], std::max(stream.ended, stream.held));
        continue;
      }
      if (item.kind == ItemKind::wait) {
        Happening& event = events_[{stream.rank, item.event}];
        if (!event.done) {
          event.waiting.emplace_back(number, false);
          return;
        }
        stream.held = std::max(stream.held, event.at + item.action->latency);
        ++stream.next;
        continue;
      }
      const auto& works = program_.ranks[stream.rank].works;
      Nanoseconds start = std::max(item.ready, stream.held);
      if (stream.any_before) start = std::max(start, stream.ended + works[item.action->first_work].gap);
      if (start > now_) {
        at(start, What::stream, number);
        return;
      }
      stream.running = item.action->works;
      for (std::uint32_t i = 0; i < item.action->works; ++i) {
        const std::uint32_t work = item.action->first_work + i;
        stream_of_[stream.rank][work] = number;
        if (works[work].after.empty()) start_work(number, work, now_);
      }
    }
  }

  void start_work(std::uint32_t stream, std::uint32_t work, Nanoseconds start) {
    const std::uint32_t rank = streams_[stream].rank;
    const DeviceWork& what = program_.ranks[rank].works[work];
    runs_[rank].works[work].begin = start;
    if (what.collective < 0) {
      at(start + what.duration, What::work_ends, rank, work);
      return;
    }
    // Nothing is transferred before all are there: the last one to arrive starts it. Works of a graph start ahead of `now_`; collectives are in none.
    Collective& collective = collectives_[static_cast<std::size_t>(what.collective)];
    collective.members.emplace_back(rank, work);
    if (collective.members.size() == program_.ranks.size())
      for (const auto& [member, its_work] : collective.members) at(start + what.duration, What::work_ends, member, its_work);
  }

  void work_ended(std::uint32_t rank, std::uint32_t work) {
    runs_[rank].works[work].end = now_;
    const std::uint32_t number = stream_of_[rank][work];
    Stream& stream = streams_[number];
    const Action& launch = *stream.items[stream.next].action;
    const auto& works = program_.ranks[rank].works;
    for (std::uint32_t i = 0; i < launch.works; ++i) {
      const std::uint32_t other = launch.first_work + i;
      if (std::ranges::find(works[other].after, work) != works[other].after.end() && --unmet_[rank][other] == 0)
        start_work(number, other, now_ + works[other].gap);
    }
    if (--stream.running > 0) return;
    stream.any_before = true;
    stream.ended = now_;
    ++stream.next;
    advance(number);
  }

  const Program& program_;
  std::vector<RankRun> runs_;
  std::vector<Stream> streams_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> first_stream_;
  std::vector<std::vector<std::uint32_t>> unmet_, stream_of_;  // per rank and work
  std::vector<Collective> collectives_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Happening> events_, signals_;       // by rank and number
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Happening*>> awaited_;  // by rank and thread
  std::uint32_t next_mark_ = 1'000'000;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;
  std::uint64_t order_ = 0;
  Nanoseconds now_ = 0;
};

}  // namespace stepscope
