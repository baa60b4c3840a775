// That a lifted graph means what it says: an engine runs a random program and writes the trace; the trace is lifted without the program at hand, edited and
// replayed; and the engine runs the program with the same edit made on itself. Prints the table of both compared; "changes" is by how much the edit changes the
// step (median).
// STEPSCOPE_GENERATED_RUNS sets the number of programs (default 200, over ranks a quarter of it below 1,000, for which the goals are stated),
// STEPSCOPE_FIRST_SEED the first one's seed.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "edit/edit.h"
#include "engine_timeline.h"
#include "graph/check.h"
#include "lift/lift.h"
#include "paired_edits.h"
#include "random_program.h"
#include "simulate/replay.h"

namespace stepscope {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const asked = std::getenv(variable);
  return asked == nullptr ? otherwise : std::strtoull(asked, nullptr, 10);
}
std::uint64_t seeds() {
  return number_of("STEPSCOPE_GENERATED_RUNS", 200);
}
std::uint64_t first_seed() {
  return number_of("STEPSCOPE_FIRST_SEED", 0);
}

TEST(GeneratedRuns, ReplayAsTheyWere) {
  std::size_t device_slices = 0, calls = 0, windows = 0;
  for (std::uint64_t seed = first_seed(); seed < first_seed() + seeds(); ++seed) {
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

// The time of a window's border in another run of the same program; absent where an edit removed it.
std::optional<Nanoseconds> time_in(const WrittenRun& run, const WrittenRun& edited, const Graph& graph, Moment moment) {
  const auto slice = edited.slices.find(run.origins[index(graph.operations.origin[moment.operation()])]);
  if (slice == edited.slices.end()) return std::nullopt;
  return moment.is_end() ? edited.timeline.slices.end(slice->second) : edited.timeline.slices.start[slice->second];
}

// The largest error of all places.
double worst_error(const WrittenRun& run, const Lifted& lifted, const ReplayTimes& times, const WrittenRun& edited) {
  std::map<std::pair<RankId, DeviceId>, Lengths> lengths;
  for (const GraphWindow& window : lifted.windows) {
    const bool host = window.device == no_id<DeviceId>;
    const auto begin = host ? 0 : time_in(run, edited, lifted.graph, window.begin);
    const auto end = host ? edited.facts.steps[index(window.rank)].steps[window.step].step_time : time_in(run, edited, lifted.graph, window.end);
    if (!begin || !end) continue;
    Lengths& length = lengths[{window.rank, window.device}];
    length.replayed += static_cast<double>(times[window.end] - times[window.begin]);
    length.run += static_cast<double>(*end - *begin);
  }
  double worst = 0;
  for (const auto& [place, length] : lengths) worst = std::max(worst, length.error());
  return worst;
}

// The GPU that a program is moved to, as a file.
std::string gpu_file() {
  static const std::string path = [] {
    const std::string name = testing::TempDir() + "stepscope_gpu_there.yaml";
    std::ofstream(name) << paired::gpu_there_yaml;
    return name;
  }();
  return path;
}

std::vector<Edit> edits_of(std::string_view text, std::string_view kernel, bool transfers) {
  std::vector<Edit> edits;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    std::string one(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    if (const auto at = one.find("KERNEL"); at != std::string::npos) one.replace(at, 6, kernel);
    if (const auto at = one.find("COMMUNICATION"); at != std::string::npos) one.replace(at, 13, transfers ? "class=transfer" : "class=communication");
    if (const auto at = one.find("GPU_FILE"); at != std::string::npos) one.replace(at, 8, gpu_file());
    const auto edit = parse_edit(one.substr(one.find_first_not_of(' ')));
    EXPECT_TRUE(edit.has_value()) << one;
    if (edit) edits.push_back(*edit);
  }
  return edits;
}

bool has_transfers(const Graph& graph) {
  return std::ranges::find(graph.operations.operation_class, OperationClass::transfer) != graph.operations.operation_class.end();
}

struct Compared {
  std::vector<std::pair<double, std::uint64_t>> errors;  // with their seeds
  std::vector<double> changes;                           // of the step time by the edit, as the engine's run tells it
};

void compare(std::uint32_t most_ranks, std::uint64_t programs) {
  std::vector<Compared> compared(std::size(paired_edits));
  for (std::uint64_t seed = first_seed(); seed < first_seed() + programs; ++seed) {
    const Program program = RandomProgram::draw(seed, {.ranks = most_ranks == 1 ? 1 : 2 + static_cast<std::uint32_t>(seed % (most_ranks - 1))});
    const std::vector<RankRun> drawn = Engine::run(program);
    const WrittenRun run = RunWriter::write(program, drawn);
    const Lifted lifted = lift(run.timeline, run.facts);
    const Gpu gpu = paired::gpu_here();
    const EditScene scene{.timeline = run.timeline, .facts = run.facts, .lifted = lifted, .gpu = &gpu};
    const bool transfers = has_transfers(lifted.graph);
    ReplayTimes times;
    for (std::size_t i = 0; i < std::size(paired_edits); ++i) {
      const PairedEdit& paired = paired_edits[i];
      if (program.ranks.size() < paired.least_ranks) continue;
      const std::string_view kernel = kernel_of(seed, !paired.edits.starts_with("remove") && !paired.edits.starts_with("overlap"));
      Graph graph = lifted.graph.copy();
      if (!apply_edits(scene, edits_of(paired.edits, kernel, transfers), graph)) continue;  // nothing there that it could change
      replay(graph, times);
      Program edited = program;
      paired.on_program(edited, {kernel, drawn});
      const WrittenRun truth = RunWriter::write(edited, Engine::run(edited));
      compared[i].errors.emplace_back(worst_error(run, lifted, times, truth), seed);
      const auto length = [](const WrittenRun& of) { return static_cast<double>(of.facts.steps[0].steps[1].step_time); };
      compared[i].changes.push_back(std::abs(length(truth) / length(run) - 1));
    }
  }
  fmt::print("Error of the step time: replay of the edited graph against the engine's own run of the edited program ({})\n",
             most_ranks == 1 ? "one rank" : fmt::format("2 to {} ranks", most_ranks));
  fmt::print("{:85} {:>8} {:>8} {:>9} {:>9} {:>8}\n", "edit", "programs", "median", "99 of 100", "worst", "changes");
  for (std::size_t i = 0; i < std::size(paired_edits); ++i) {
    auto& [errors, changes] = compared[i];
    if (most_ranks < paired_edits[i].least_ranks) continue;
    const std::string_view name = paired_edits[i].edits.empty() ? "(none)" : paired_edits[i].edits;
    ASSERT_GT(errors.size(), programs / 4) << name;
    std::ranges::sort(errors);
    std::ranges::sort(changes);
    const double median = errors[errors.size() / 2].first, worst = errors.back().first;
    fmt::print("{:85} {:>8} {:>7.3f}% {:>8.3f}% {:>8.3f}% {:>7.1f}%\n", name, errors.size(), 100 * median, 100 * errors[errors.size() * 99 / 100].first,
               100 * worst, 100 * changes[changes.size() / 2]);
    EXPECT_LE(median, 0.005) << name;
    EXPECT_LE(worst, 0.03) << name << ", seed " << errors.back().second;
  }
}

TEST(GeneratedRuns, EditsMeanWhatTheySay) {
  compare(1, seeds());
}

TEST(GeneratedRuns, EditsMeanWhatTheySayOverRanks) {
  compare(4, seeds() < 1'000 ? seeds() / 4 : seeds());
}

}  // namespace
}  // namespace stepscope
