// Edits that change what runs where and who waits for whom: messages, fused kernels, data loading, stragglers, streams.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "paired.h"
#include "paired_work.h"

namespace stepscope::paired {

template <int bandwidth, int latency_percent>
void other_network(Program& program, const Drawn&) {
  for_works(program, [&](DeviceWork& work) {
    if (work.message > 0)
      work.duration = std::llround(program.message_alpha * latency_percent / 100 + static_cast<double>(work.message) * program.message_beta / bandwidth);
  });
}

// What a rank's threads issued, in order of time, and what each wait stands for: the last works before it, of its own stream and of those that this one waits
// for. Threads of a program take turns, except one that only ever uses a stream of its own.
class Issued {
 public:
  struct Item {
    Action* action = nullptr;
    Around around;
    std::uint32_t thread = 0, row = 0;
    std::set<std::uint32_t> waits_for;  // works: of a wait, what the stream waits for; of a synchronisation, what the thread waits for
  };
  Issued(RankProgram& rank, const RankRun& run) {
    for (std::uint32_t t = 0; t < rank.threads.size(); ++t) {
      Around open;
      for (std::uint32_t i = 0; i < rank.threads[t].size(); ++i) {
        Action& action = rank.threads[t][i];
        if (action.what == Do::enter) open.push_back(&action);
        if (action.what == Do::leave) open.pop_back();
        items.push_back({.action = &action, .around = open, .thread = t, .row = i, .waits_for = {}});
      }
    }
    std::ranges::stable_sort(items, {}, [&](const Item& item) { return std::tuple(run.actions[item.thread][item.row].begin, item.row); });
    struct Stream {
      std::set<std::uint32_t> last, waits;  // the last work; what it waits for since
      std::set<std::uint32_t> all() const {
        std::set<std::uint32_t> both = last;
        both.insert(waits.begin(), waits.end());
        return both;
      }
    };
    std::vector<Stream> streams(rank.streams.size());
    std::map<std::uint32_t, std::set<std::uint32_t>> events;
    for (Item& item : items) {
      const Action& action = *item.action;
      Stream& stream = streams[action.stream];
      switch (action.what) {
        case Do::launch:
        case Do::blocking_copy:
          stream = {.last = {action.first_work + action.works - 1}, .waits = {}};
          if (action.what == Do::blocking_copy) item.waits_for = stream.last;
          break;
        case Do::record:
          events[action.number] = stream.all();
          break;
        case Do::wait:
          item.waits_for = events[action.number];
          stream.waits.insert(item.waits_for.begin(), item.waits_for.end());
          break;
        case Do::sync_event:
          item.waits_for = events[action.number];
          break;
        case Do::sync_stream:
          item.waits_for = stream.all();
          break;
        case Do::sync_device:
          for (const Stream& one : streams) item.waits_for.merge(one.all());
          break;
        default:
          break;
      }
    }
  }
  std::vector<Item> items;
};
inline bool is_synchronisation(const Action& action) {
  return action.what == Do::sync_stream || action.what == Do::sync_event || action.what == Do::sync_device || action.what == Do::blocking_copy;
}

// Actions that come before or behind others of a thread.
class Insertions {
 public:
  void before(std::uint32_t thread, std::uint32_t row, const Action& action) { list_.push_back({thread, row, action}); }
  void behind(std::uint32_t thread, std::uint32_t row, const Action& action) { list_.push_back({thread, row + 1, action}); }
  void put_into(RankProgram& rank) {
    std::ranges::stable_sort(list_, {}, [](const One& one) { return std::tuple(one.thread, one.row); });
    for (std::size_t i = list_.size(); i-- > 0;) {
      auto& thread = rank.threads[list_[i].thread];
      thread.insert(thread.begin() + list_[i].row, list_[i].action);
    }
  }

 private:
  struct One {
    std::uint32_t thread, row;
    Action action;
  };
  std::vector<One> list_;
};

// Two collectives that follow each other on their stream become one, which the second launches, unless somebody was to wait for the first before that.
inline void merged_messages(Program& program, const Drawn& drawn) {
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    RankProgram& rank = program.ranks[r];
    Issued issued(rank, drawn.run[r]);
    Insertions insertions;
    std::uint32_t new_event = 2'000'000;
    // The last work of each stream that may become the first of two, with the records behind it.
    Action* first = nullptr;
    std::vector<Action*> behind;
    std::map<std::uint32_t, std::set<std::uint32_t>> told;  // by stream: works that its next work waits for
    for (Issued::Item& item : issued.items) {
      Action& action = *item.action;
      const bool of_message = action.what == Do::launch && rank.works[action.first_work].message > 0;
      const auto waits_for_first = [&](const std::set<std::uint32_t>& works) { return first != nullptr && works.contains(first->first_work); };
      if (action.what == Do::wait) told[action.stream].insert(item.waits_for.begin(), item.waits_for.end());
      if (is_synchronisation(action) && waits_for_first(item.waits_for)) first = nullptr;
      if (action.what == Do::record && first != nullptr && action.stream == first->stream) behind.push_back(&action);
      if (action.what != Do::launch && action.what != Do::blocking_copy) continue;
      if (of_message && first != nullptr && first->stream == action.stream && !waits_for_first(told[action.stream])) {
        rank.works[action.first_work].message += rank.works[first->first_work].message;
        rank.works[action.first_work].duration =
            std::llround(program.message_alpha + static_cast<double>(rank.works[action.first_work].message) * program.message_beta);
        first->removed = true;
        for (Action* record : behind) {
          insertions.behind(item.thread, item.row, {.what = Do::record, .stream = record->stream, .number = record->number});
          record->number = new_event++;
        }
        first = nullptr;
      } else if (first != nullptr && (action.stream == first->stream || waits_for_first(told[action.stream]))) {
        first = of_message ? &action : nullptr;
      } else if (first == nullptr && of_message) {
        first = &action;
      }
      if (first == &action || first == nullptr) behind.clear();
      told[action.stream].clear();
    }
    insertions.put_into(rank);
  }
}

// forward, backward, optimizer or "" of what is launched here.
inline std::string_view phase_of(const Around& around) {
  std::string_view phase;
  for (const Action* one : around) {
    if (one->annotation)
      phase = one->name.starts_with("Optimizer.") ? "optimizer" : phase;
    else if (one->name.starts_with("autograd::") || (one->sequence >= 0 && one->backward))
      phase = "backward";
    else if (phase.empty() && one->sequence >= 0)
      phase = "forward";
  }
  return phase;
}

// Pointwise kernels that follow each other on a stream become one: by the bytes that it still moves, or, where nobody wrote them down, as long as the longest.
inline void fused_pointwise(Program& program, const Drawn& drawn) {
  struct Member {
    Action* launch;
    std::uint32_t work;
  };
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    RankProgram& rank = program.ranks[r];
    const auto fuse = [&](const std::vector<Member>& run) {
      if (run.size() < 2) return;
      double sum = 0, longest = 0, bytes = 0, passed_on = 0;
      bool known = true;
      for (const Member& one : run) {
        const DeviceWork& work = rank.works[one.work];
        sum += static_cast<double>(work.duration);
        longest = std::max(longest, static_cast<double>(work.duration));
        bytes += work.arithmetic.bytes();
        passed_on += &one == &run.back() ? 0 : work.arithmetic.written;
        known = known && work.arithmetic.bytes() > 0;
      }
      const double least = rank.works[run.front().work].arithmetic.read + rank.works[run.back().work].arithmetic.written;
      rank.works[run.front().work].duration = std::llround(known ? sum * std::min(1.0, std::max(bytes - 2 * passed_on, least) / bytes) : longest);
      for (std::size_t i = 1; i < run.size(); ++i) {
        DeviceWork& work = rank.works[run[i].work];
        if (run[i].launch->works == 1)
          run[i].launch->removed = true;
        else
          work.duration = 0, work.gap = 0;
      }
    };
    Issued issued(rank, drawn.run[r]);
    std::map<std::uint32_t, std::vector<Member>> runs;  // by stream
    std::map<std::uint32_t, std::string_view> phases;
    for (Issued::Item& item : issued.items) {
      Action& action = *item.action;
      const auto close = [&](std::uint32_t stream) { fuse(std::exchange(runs[stream], {})); };
      if (action.what == Do::wait && !item.waits_for.empty()) close(action.stream);
      if (is_synchronisation(action))
        for (auto& [stream, run] : runs)
          if (std::ranges::any_of(run, [&](const Member& one) { return item.waits_for.contains(one.work); })) close(stream);
      if (action.what != Do::launch && action.what != Do::blocking_copy) continue;
      const bool of_graph = action.works > 1;
      if (of_graph) close(action.stream);
      for (std::uint32_t w = action.first_work; w < action.first_work + action.works; ++w) {
        const DeviceWork& work = rank.works[w];
        const bool joins = std::ranges::any_of(work.after, [&](std::uint32_t other) { return rank.works[other].stream != work.stream; });
        if (joins) close(work.stream);
        if (work.kind != SliceKind::kernel || is_communication(work) || kind_of(item.around) != Kind::pointwise) {
          close(work.stream);
          continue;
        }
        if (!runs[work.stream].empty() && phases[work.stream] != phase_of(item.around)) close(work.stream);
        phases[work.stream] = phase_of(item.around);
        runs[work.stream].push_back({&action, w});
      }
      if (of_graph) {
        close(action.stream);
        for (std::uint32_t w = action.first_work; w < action.first_work + action.works; ++w) close(rank.works[w].stream);
      }
    }
    for (auto& [stream, run] : runs) fuse(run);
  }
}

// What a thread does while it loads data.
inline std::vector<std::vector<Action*>> batches_of(std::vector<Action>& thread, std::vector<std::size_t>* ends = nullptr) {
  std::vector<std::vector<Action*>> batches;
  int depth = 0;
  for (std::size_t i = 0; i < thread.size(); ++i) {
    Action& action = thread[i];
    if (action.what == Do::enter && (depth > 0 || is_loading(action))) {
      if (depth++ == 0) batches.emplace_back();
    } else if (action.what == Do::leave && depth > 0 && --depth == 0 && ends != nullptr) {
      ends->push_back(i);
    }
    if (depth > 0 && action.what == Do::work) batches.back().push_back(&action);
  }
  return batches;
}

inline void quick_loading(Program& program, const Drawn&) {
  for (RankProgram& rank : program.ranks)
    for (const auto& batch : batches_of(rank.threads.front()))
      for (Action* work : batch) work->duration = work == batch.front() ? 2'000 : 0;
}

// A batch is ready a share of its loading after the one before it was taken: a thread that stands for the workers says so.
template <int workers>
void loading_workers(Program& program, const Drawn& drawn) {
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    RankProgram& rank = program.ranks[r];
    std::vector<std::size_t> ends;
    const auto batches = batches_of(rank.threads.front(), &ends);
    if (batches.empty()) continue;
    const auto& run = drawn.run[r].actions.front();
    std::vector<Nanoseconds> loading;
    double rest = 0;
    for (std::size_t b = 0; b < batches.size(); ++b) {
      const auto row = [&](const Action* action) { return static_cast<std::size_t>(action - rank.threads.front().data()); };
      Nanoseconds sum = 0;
      for (Action* work : batches[b]) sum += std::exchange(work->duration, 0);
      loading.push_back(sum);
      if (b > 0)
        rest += static_cast<double>(run[row(batches[b].front())].begin - run[row(batches[b - 1].back())].end) / static_cast<double>(batches.size() - 1);
    }
    // What was before the first is not in the trace.
    const double first = static_cast<double>(loading[0]) / workers - rest;
    batches[0].front()->duration = std::llround(std::clamp(first, 0.0, static_cast<double>(loading[0])));
    constexpr std::uint32_t taken = 3'000'000, ready = 4'000'000;
    std::vector<Action> worker;
    for (std::uint32_t b = 1; b < batches.size(); ++b) {
      worker.push_back({.what = Do::await, .number = taken + b - 1});
      worker.push_back({.what = Do::work, .duration = std::llround(static_cast<double>(loading[b]) / workers)});
      worker.push_back({.what = Do::signal, .number = ready + b});
    }
    auto& thread = rank.threads.front();
    for (std::size_t b = ends.size(); b-- > 0;) {
      const auto number = static_cast<std::uint32_t>(b);
      thread.insert(thread.begin() + static_cast<std::ptrdiff_t>(ends[b]), {.what = Do::signal, .number = taken + number});
      if (b > 0) thread.insert(thread.begin() + static_cast<std::ptrdiff_t>(ends[b]), {.what = Do::await, .number = ready + number});
    }
    rank.threads.push_back(std::move(worker));
  }
}

// Between two collectives everything that a late rank began is shortened by the factor that would let it arrive with the median one.
inline void balanced(Program& program, const Drawn& drawn) {
  struct Stretch {
    Interval time;
    double factor;
  };
  const std::size_t ranks = program.ranks.size();
  std::vector<std::vector<Stretch>> stretches(ranks);
  std::vector<std::uint32_t> collectives;  // works, the same of every rank, in order
  for (std::uint32_t w = 0; w < program.ranks.front().works.size(); ++w)
    if (program.ranks.front().works[w].collective >= 0) collectives.push_back(w);
  std::ranges::sort(collectives, {}, [&](std::uint32_t w) { return drawn.run.front().works[w].begin; });
  std::vector<Nanoseconds> last(ranks, 0);
  for (const std::uint32_t w : collectives) {
    std::vector<Nanoseconds> took;
    for (std::size_t r = 0; r < ranks; ++r) took.push_back(drawn.run[r].works[w].begin - last[r]);
    std::vector<Nanoseconds> sorted = took;
    std::ranges::sort(sorted);
    const Nanoseconds middle = sorted[(ranks - 1) / 2];
    for (std::size_t r = 0; r < ranks; ++r) {
      if (took[r] > middle && took[r] > 0)
        stretches[r].push_back({{last[r], drawn.run[r].works[w].begin}, static_cast<double>(std::max<Nanoseconds>(0, middle)) / static_cast<double>(took[r])});
      last[r] = drawn.run[r].works[w].end;
    }
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    RankProgram& rank = program.ranks[r];
    const auto factor_at = [&](Nanoseconds time) {
      for (const Stretch& one : stretches[r])
        if (one.time.contains(time)) return one.factor;
      return 1.0;
    };
    for (std::uint32_t t = 0; t < rank.threads.size(); ++t)
      for (std::size_t i = 0; i < rank.threads[t].size(); ++i) {
        Action& action = rank.threads[t][i];
        const Interval when = drawn.run[r].actions[t][i];
        times(action.duration, factor_at(when.begin));
        times(action.back, factor_at(when.begin));
        // How long a launch takes counts for what it launches.
        if (action.what == Do::launch || action.what == Do::blocking_copy) times(action.latency, factor_at(drawn.run[r].works[action.first_work].begin));
      }
    for (std::size_t w = 0; w < rank.works.size(); ++w) {
      DeviceWork& work = rank.works[w];
      const double factor = factor_at(drawn.run[r].works[w].begin);
      times(work.gap, factor);
      if (work.message == 0) times(work.duration, factor);
    }
  }
}

// The launches of one kernel go to a stream of their own. Each waits there for what its old stream held before it. Who waited for it still does; else who
// waits for what the old stream does next, or the old stream itself where the next step begins.
inline void overlapped(Program& program, const Drawn& drawn) {
  for (std::size_t r = 0; r < program.ranks.size(); ++r) {
    RankProgram& rank = program.ranks[r];
    Issued issued(rank, drawn.run[r]);
    struct OnStream {
      const Issued::Item* item;
      std::uint32_t step;
      bool moved;
    };
    std::map<std::uint32_t, std::vector<OnStream>> streams;
    std::map<std::uint32_t, std::vector<const Issued::Item*>> waiting;  // by work
    std::vector<Nanoseconds> hand_overs;
    std::uint32_t step = 0;
    for (const Issued::Item& item : issued.items) {
      const Action& action = *item.action;
      if (action.what == Do::begin_step) step = action.number;
      if (action.what == Do::wait) hand_overs.push_back(action.latency);
      for (const std::uint32_t work : item.waits_for) waiting[work].push_back(&item);
      if (action.what != Do::launch && action.what != Do::blocking_copy) continue;
      streams[action.stream].push_back({&item, step, action.works == 1 && rank.works[action.first_work].name == drawn.kernel});
    }
    // As long as in the rest of the program.
    std::ranges::sort(hand_overs);
    const Nanoseconds hand_over = hand_overs.empty() ? 0 : hand_overs[hand_overs.size() / 2];
    Insertions insertions;
    std::uint32_t event = 5'000'000;
    for (const auto& [row, launches] : streams) {
      const auto own = static_cast<std::uint32_t>(rank.streams.size());
      if (std::ranges::none_of(launches, &OnStream::moved)) continue;
      rank.streams.push_back(100 + static_cast<std::int64_t>(row));
      for (std::size_t i = 0; i < launches.size(); ++i) {
        if (!launches[i].moved) continue;
        const Issued::Item& item = *launches[i].item;
        const std::uint32_t data = event++, result = event++;
        insertions.before(item.thread, item.row, {.what = Do::record, .stream = row, .number = data});
        insertions.before(item.thread, item.row, {.what = Do::wait, .latency = hand_over, .stream = own, .number = data});
        insertions.behind(item.thread, item.row, {.what = Do::record, .stream = own, .number = result});
        const auto wait_for_result = [&](const Issued::Item& one) {
          if (one.action->what == Do::wait)
            insertions.behind(one.thread, one.row, {.what = Do::wait, .latency = one.action->latency, .stream = one.action->stream, .number = result});
          else
            insertions.behind(one.thread, one.row, {.what = Do::sync_event, .back = one.action->back, .number = result});
        };
        for (const Issued::Item* one : waiting[item.action->first_work]) wait_for_result(*one);
        if (!waiting[item.action->first_work].empty()) continue;
        for (std::size_t later = i + 1; later < launches.size(); ++later) {
          const Issued::Item& next = *launches[later].item;
          const auto& who = waiting[next.action->first_work + next.action->works - 1];
          if (launches[later].moved) {
            if (!who.empty()) break;
            continue;
          }
          if (launches[later].step != launches[i].step) {
            insertions.before(next.thread, next.row, {.what = Do::wait, .latency = hand_over, .stream = row, .number = result});
            break;
          }
          for (const Issued::Item* one : who) wait_for_result(*one);
          if (!who.empty()) break;
        }
      }
      for (const OnStream& one : launches)
        if (one.moved) one.item->action->stream = own, rank.works[one.item->action->first_work].stream = own;
    }
    insertions.put_into(rank);
  }
}

}  // namespace stepscope::paired
