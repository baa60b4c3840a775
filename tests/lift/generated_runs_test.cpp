// That a lifted graph means what it says: an engine runs a random program and writes the trace; the trace is lifted without the program at hand, edited and
// replayed; and the engine runs the program with the same edit made on itself. Prints the table of both compared.
// STEPSCOPE_GENERATED_RUNS sets the number of programs (default 200; the goals are stated for 1,000).
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "engine_timeline.h"
#include "graph/check.h"
#include "lift/lift.h"
#include "paired_edits.h"
#include "random_program.h"
#include "simulate/replay.h"

namespace stepscope {
namespace {

std::uint64_t seeds() {
  const char* const asked = std::getenv("STEPSCOPE_GENERATED_RUNS");
  return asked == nullptr ? 200 : std::strtoull(asked, nullptr, 10);
}

TEST(GeneratedRuns, ReplayAsTheyWere) {
  std::size_t device_slices = 0, calls = 0, windows = 0;
  for (std::uint64_t seed = 0; seed < seeds(); ++seed) {
    const Program program = RandomProgram::draw(seed, {});
    const WrittenRun run = RunWriter::write(program, Engine::run(program));
    const Lifted lifted = lift(run.timeline, run.facts);
    ASSERT_TRUE(check(lifted.graph).empty()) << "seed " << seed << ": " << check(lifted.graph)[0];
    ASSERT_EQ(lifted.dropped_in_cycles, 0u) << "seed " << seed;
    const ReplayTimes times = replay(lifted.graph);
    const SliceColumns& s = run.timeline.slices;
    for (std::uint32_t row = 0; row < s.size(); ++row) {
      const SliceId id{row};
      const OpId op = lifted.operation_of[id];
      if (is_device_activity(s.kind[id])) {
        ++device_slices;
        ASSERT_NE(op, no_id<OpId>);
        ASSERT_EQ(times.start(op), s.start[id]) << "seed " << seed << ", " << run.timeline.name_of(id);
        ASSERT_EQ(times.end(op), s.end(id)) << "seed " << seed << ", " << run.timeline.name_of(id);
      } else if (is_api_call(s.kind[id]) && run.timeline.name_of(id) != "cudaMemcpy") {
        ++calls;
        ASSERT_NE(op, no_id<OpId>);
        ASSERT_EQ(times.end(op), s.end(id)) << "seed " << seed << ", " << run.timeline.name_of(id);
      }
    }
    ASSERT_EQ(lifted.windows.size(), 8u) << "seed " << seed << ": four steps of the host and four on the device";
    for (const GraphWindow& window : lifted.windows) {
      ++windows;
      ASSERT_EQ(times[window.begin], window.measured.begin) << "seed " << seed;
      ASSERT_EQ(times[window.end], window.measured.end) << "seed " << seed;
    }
    for (const DeviceLags& device : lifted.device_lags) ASSERT_EQ(device.lags[LagKind::unexplained].count, 0u) << "seed " << seed;
  }
  fmt::print("{} programs: {} device slices, {} calls and {} windows replayed as they were\n", seeds(), device_slices, calls, windows);
}

// Lengths of steps, by place (the host's, a device's) and rank: the sum over the steps, by replay and by the engine's own run of the edited program.
struct Lengths {
  double replayed = 0, run = 0;
  double error() const { return std::abs(replayed - run) / run; }
};

// The time of a window's border in another run of the same program: the rows of both timelines are the same.
Nanoseconds time_in(const WrittenRun& run, const Graph& graph, Moment moment) {
  const SliceId slice = graph.operations.origin[moment.operation()];
  return moment.is_end() ? run.timeline.slices.end(slice) : run.timeline.slices.start[slice];
}

double worst_error(const Lifted& lifted, const ReplayTimes& times, const WrittenRun& edited) {
  std::map<std::pair<RankId, DeviceId>, Lengths> lengths;
  for (const GraphWindow& window : lifted.windows) {
    Lengths& length = lengths[{window.rank, window.device}];
    length.replayed += static_cast<double>(times[window.end] - times[window.begin]);
    if (window.device == no_id<DeviceId>)
      length.run += static_cast<double>(edited.facts.steps[index(window.rank)].steps[window.step].step_time);
    else
      length.run += static_cast<double>(time_in(edited, lifted.graph, window.end) - time_in(edited, lifted.graph, window.begin));
  }
  double worst = 0;
  for (const auto& [place, length] : lengths) worst = std::max(worst, length.error());
  return worst;
}

struct Errors {
  std::vector<std::pair<double, std::uint64_t>> of_seeds;
  std::vector<double> gains;
  void sort() { std::ranges::sort(of_seeds); }
  double median() const { return of_seeds[of_seeds.size() / 2].first; }
};

void compare(std::uint32_t ranks, std::uint64_t programs) {
  std::vector<Errors> errors(std::size(paired_edits));
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const Program program = RandomProgram::draw(seed, {.ranks = ranks == 1 ? 1 : 2 + static_cast<std::uint32_t>(seed % (ranks - 1))});
    const WrittenRun run = RunWriter::write(program, Engine::run(program));
    const Lifted lifted = lift(run.timeline, run.facts);
    ReplayTimes times;
    for (std::size_t i = 0; i < std::size(paired_edits); ++i) {
      Program edited = program;
      paired_edits[i].on_program(edited, seed);
      const WrittenRun truth = RunWriter::write(edited, Engine::run(edited));
      Graph graph = lifted.graph.copy();
      paired_edits[i].on_graph(graph, seed);
      replay(graph, times);
      errors[i].of_seeds.emplace_back(worst_error(lifted, times, truth), seed);
    }
  }
  fmt::print("{} programs of {} rank{}; error of the step time, replay of the edited graph against the engine's run of the edited program\n", programs,
             ranks == 1 ? "one" : "several", ranks == 1 ? "" : "s");
  fmt::print("{:42} {:>9} {:>9} {:>9}  of seed\n", "edit", "median", "99 of 100", "worst");
  for (std::size_t i = 0; i < std::size(paired_edits); ++i) {
    errors[i].sort();
    const auto& of_seeds = errors[i].of_seeds;
    fmt::print("{:42} {:>8.3f}% {:>8.3f}% {:>8.3f}%  {}\n", paired_edits[i].name, 100 * errors[i].median(), 100 * of_seeds[of_seeds.size() * 99 / 100].first,
               100 * of_seeds.back().first, of_seeds.back().second);
    EXPECT_LE(errors[i].median(), 0.005) << paired_edits[i].name;
    EXPECT_LE(of_seeds.back().first, 0.03) << paired_edits[i].name << ", seed " << of_seeds.back().second;
  }
}

TEST(GeneratedRuns, EditsMeanWhatTheySay) {
  compare(1, seeds());
}

}  // namespace
}  // namespace stepscope
