// replay_speed [RUNS]: how fast the times of a Graph follow from its durations, beside what memory allows.
//
// The limit: a re-run reads every column of the graph once (first 4 bytes, duration 8, per dependency moment 4 and lag 8) and writes two times of 8 bytes;
// the times that it reads are those of operations shortly before, in a cache. Eight sets read eight durations and write sixteen times. So the time is at least
// that of copying as many bytes: a copy of columns of that size, from and to memory that is there already, runs in turn with the replays.
// Graphs as in a step's: RANKS × (2 threads + 3 streams), each operation waits for the one before it at its place and three in ten for one of another place
// as well (1.3 dependencies per operation), one in 64 of these of another rank.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/column.h"
#include "graph/builder.h"
#include "simulate/replay.h"

namespace {

using namespace stepscope;

constexpr std::uint32_t places_of_rank = 5;

Graph step_graph(std::uint32_t ranks, std::uint32_t operations_per_rank) {
  std::mt19937_64 random(ranks);
  const auto below = [&](std::uint64_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  GraphBuilder builder;
  const NameId name = builder.names().intern("operation");
  const std::uint32_t places = ranks * places_of_rank;
  std::vector<OpId> last(places, OpId{0});
  std::vector<Nanoseconds> now(places, 0);
  for (std::uint32_t i = 0; i < operations_per_rank; ++i)
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::uint32_t place = rank * places_of_rank + below(places_of_rank);
      const Nanoseconds duration = 500 + below(30'000);
      const OpId op = builder.add({.operation_class = OperationClass::compute, .duration = duration, .name = name, .about = now[place]});
      const Nanoseconds gap = below(2'000);
      builder.depend(op, Moment::end(last[place]), DependencyKind::program_order, gap, LagKind::scheduling);
      if (below(10) < 3) {
        const std::uint32_t other = (below(64) == 0 ? below(ranks) : rank) * places_of_rank + below(places_of_rank);
        if (last[other] != op && last[other] != OpId{0})
          builder.depend(op, below(2) == 0 ? Moment::end(last[other]) : Moment::start(last[other]), DependencyKind::event, below(5'000), LagKind::hand_over);
        now[place] = std::max(now[place], now[other]);
      }
      now[place] += duration + gap;
      last[place] = op;
    }
  return std::move(builder).finish().graph;
}

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Figures {
  std::vector<double> values;
  std::string text(const char* unit) {
    std::ranges::sort(values);
    return fmt::format("{:.1f} ({:.1f} … {:.1f}) {}", values[values.size() / 2], values.front(), values.back(), unit);
  }
  double median() {
    std::ranges::sort(values);
    return values[values.size() / 2];
  }
};

bool measure(std::uint32_t ranks, std::uint32_t operations_per_rank, int runs) {
  const Graph graph = step_graph(ranks, operations_per_rank);
  const std::size_t n = graph.size(), d = graph.dependencies.size();
  const auto operations = static_cast<double>(n);
  const std::size_t columns = 4 * n + 12 * d;
  const std::size_t read_by_one = columns + 8 * n, written_by_one = 16 * n, read_by_eight = columns + 64 * n, written_by_eight = 128 * n;
  const auto bytes_of_one = static_cast<double>(read_by_one + written_by_one), bytes_of_eight = static_cast<double>(read_by_eight + written_by_eight);

  std::mt19937_64 random(7);
  Column<Nanoseconds> durations;
  Column<double> durations_of_eight;
  for (std::size_t op = 0; op < n; ++op) {
    durations.push_back(op == 0 ? 0 : static_cast<Nanoseconds>(random() % 30'000));
    for (std::size_t set = 0; set < replay_sets; ++set) durations_of_eight.push_back(op == 0 ? 0 : static_cast<double>(random() % 30'000));
  }
  ReplayTimes one;
  Column<double> eight;
  Column<std::uint64_t> from, to;
  from.resize(16 * n, 1), to.resize(16 * n, 2);
  // A copy of half the bytes reads one half and writes the other.
  const auto copy = [&](double bytes) {
    const auto words = static_cast<std::size_t>(bytes / 16);
    std::copy_n(from.data(), words, to.data());
  };

  Figures speed_of_one, speed_of_eight, copy_of_one, copy_of_eight;
  Nanoseconds sum = 0;
  for (int run = -1; run < runs; ++run) {  // the first finds the pages, and is not counted
    const double time_of_one = seconds([&] { replay(graph, durations.span(), one); });
    const double time_of_copy = seconds([&] { copy(bytes_of_one); });
    const double time_of_eight = seconds([&] { replay_sets_of_eight(graph, durations_of_eight.span(), eight); });
    const double time_of_copies = seconds([&] { copy(bytes_of_eight); });
    sum += one.times[2 * n - 1] + static_cast<Nanoseconds>(eight[16 * n - 1]) + static_cast<Nanoseconds>(to[n / 2]);
    if (run < 0) continue;
    speed_of_one.values.push_back(operations / time_of_one / 1e6);
    copy_of_one.values.push_back(operations / time_of_copy / 1e6);
    speed_of_eight.values.push_back(8 * operations / time_of_eight / 1e6);
    copy_of_eight.values.push_back(8 * operations / time_of_copies / 1e6);
  }
  fmt::print("{} ranks x {} operations, {:.2f} dependencies per operation\n", ranks, operations_per_rank, static_cast<double>(d) / operations);
  const auto line = [&](const char* what, Figures& replayed, Figures& copied, double bytes, double goal) {
    fmt::print("  {:28} {:>34}   limit, {:5.1f} bytes copied: {:>34}   of limit {:.2f}   goal {:.0f}: {}\n", what, replayed.text("M/s"), bytes,
               copied.text("M/s"), replayed.median() / copied.median(), goal, replayed.median() >= goal ? "met" : "MISSED");
    return replayed.median() >= goal;
  };
  const bool met = line("changed durations, operations", speed_of_one, copy_of_one, bytes_of_one / operations, 100);
  const bool met_by_eight = line("8 what-ifs, operations of all", speed_of_eight, copy_of_eight, bytes_of_eight / operations / 8, 400);
  fmt::print("  (sum of ends {})\n", sum);
  return met && met_by_eight;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = std::max(5, argc > 1 ? std::atoi(argv[1]) : 21);
  const bool few = measure(8, 400'000, runs), many = measure(512, 6'000, runs);
  return few && many ? 0 : 1;
}
