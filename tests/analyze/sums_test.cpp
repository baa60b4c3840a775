// What must hold of the questions' figures whatever the input: by-operator times sum to the device total, own ≤ total, the call tree and the modules add up,
// and a window never says more than the whole. On random timelines (not nested, badly linked) and on every trace of ../shared.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <map>

#include "hand_built.h"
#include "read/reader.h"

namespace stepscope {

extern const Question operators_question, call_tree_question, modules_question, launches_question, queue_question, copies_question, synchronisations_question,
    collectives_question, memory_question;

namespace {

Nanoseconds device_time(const Scene& scene) {
  Nanoseconds sum = 0;
  for (const DeviceFacts& device : scene.facts.devices) {
    if (device.rank != scene.rank) continue;
    for (const SliceId id : device.slices) {
      const SliceId launch = scene.facts.launch[id];
      if (scene.whole_capture || scene.window.contains(scene.timeline.slices.start[launch == no_id<SliceId> ? id : launch]))
        sum += scene.timeline.slices.duration[id];
    }
  }
  return sum;
}

std::int64_t whole_or_zero(const std::vector<Value>& row, std::size_t column) {
  const auto* number = std::get_if<std::int64_t>(&row[column]);
  return number == nullptr ? 0 : *number;
}

// Every violated law of a rank, in words.
std::vector<std::string> violations_of_rank(const Scene& scene) {
  std::vector<std::string> found;
  const auto must = [&](bool holds, std::string what) {
    if (!holds) found.push_back(std::move(what));
  };
  const Nanoseconds total = device_time(scene);
  for (const Section& section : operators_question.answer(scene)) {
    const Table& names = *section.table("by_name");
    must(sum_of(names, "device_own_ns") == total, "operators do not sum to the device time");
    for (const std::string_view table : {"categories", "phases"}) {
      must(sum_of(*section.table(table), "device_ns") == total, std::string(table) + " do not sum to the device time");
      must(sum_of(*section.table(table), "cpu_own_ns") == sum_of(names, "cpu_own_ns"), std::string(table) + " do not sum to the CPU time");
    }
    for (const auto& row : names.rows) {
      must(whole_or_zero(row, column_of(names, "device_own_ns")) <= whole_or_zero(row, column_of(names, "device_total_ns")), "own device time above the total");
      must(whole_or_zero(row, column_of(names, "cpu_own_ns")) >= 0, "negative own CPU time");
      must(row.size() == names.columns.size(), "a row without all columns");
    }
  }
  for (const Section& section : call_tree_question.answer(scene)) {
    const Table& tree = section.tables.at(0);
    must(sum_of(tree, "device_own_ns") == total, "the call tree does not sum to the device time");
    std::map<std::int64_t, std::pair<Nanoseconds, Nanoseconds>> inner;
    const std::size_t parent = column_of(tree, "parent");
    for (const auto& row : tree.rows)
      if (const auto* above = std::get_if<std::int64_t>(&row[parent])) {
        inner[*above].first += whole_or_zero(row, column_of(tree, "cpu_total_ns"));
        inner[*above].second += whole_or_zero(row, column_of(tree, "device_total_ns"));
      }
    for (std::size_t i = 0; i < tree.rows.size(); ++i) {
      const auto& row = tree.rows[i];
      const auto& [cpu, device] = inner[static_cast<std::int64_t>(i)];
      must(whole_or_zero(row, column_of(tree, "cpu_own_ns")) >= 0, "negative own CPU time in the call tree");
      must(whole_or_zero(row, column_of(tree, "cpu_own_ns")) + cpu == whole_or_zero(row, column_of(tree, "cpu_total_ns")),
           "own and inner CPU time do not make the total");
      must(whole_or_zero(row, column_of(tree, "device_own_ns")) + device == whole_or_zero(row, column_of(tree, "device_total_ns")),
           "own and inner device time do not make the total");
    }
  }
  for (const Section& section : modules_question.answer(scene))
    must(sum_of(section.tables.at(0), "device_own_ns") == total, "modules do not sum to the device time");
  for (const Section& section : launches_question.answer(scene)) {
    const Table& calls = *section.table("by_api");
    must(sum_of(calls, "calls") - sum_of(calls, "without_record") == sum_of(*section.table("delay_histogram"), "launches"), "the histogram lacks a launch");
    for (const auto& row : calls.rows) must(whole_or_zero(row, column_of(calls, "delay_median_ns")) >= 0, "negative launch delay");
  }
  for (const Section& section : synchronisations_question.answer(scene)) {
    const std::int64_t blocked = whole_of(section.figure("blocked_ns")->value);
    must(sum_of(*section.table("by_call"), "blocked_ns") == blocked && sum_of(*section.table("by_operator"), "blocked_ns") == blocked,
         "synchronisations do not sum");
    must(sum_of(*section.table("by_call"), "launching_blocked_ns") <= blocked, "launching threads block longer than all");
  }
  for (const Section& section : memory_question.answer(scene))
    must(section.table("series")->rows.size() <= 1000 * section.table("devices")->rows.size(), "too many points");
  return found;
}

std::vector<std::string> violations_of_device(const Scene& scene) {
  std::vector<std::string> found;
  const auto must = [&](bool holds, std::string what) {
    if (!holds) found.push_back(std::move(what));
  };
  Nanoseconds copies = 0, communication = 0;
  for (const SliceId id : scene.device_slices()) {
    if (scene.timeline.slices.kind[id] != SliceKind::kernel) copies += scene.timeline.slices.duration[id];
    if (scene.facts.activity[id] == ActivityClass::communication) communication += scene.timeline.slices.duration[id];
  }
  for (const Section& section : copies_question.answer(scene)) must(sum_of(*section.table("by_kind"), "total_ns") == copies, "copies do not sum");
  for (const Section& section : collectives_question.answer(scene))
    must(sum_of(*section.table("by_kind"), "total_ns") == communication, "collectives do not sum");
  for (const Section& section : queue_question.answer(scene)) {
    const Table& streams = *section.table("streams");
    for (const auto& row : streams.rows) {
      const auto* mean = std::get_if<double>(&row[column_of(streams, "mean_length")]);
      must(mean == nullptr || (*mean >= 0 && *mean <= static_cast<double>(whole_of(row[column_of(streams, "max_length")]))), "a mean length above the longest");
    }
  }
  return found;
}

// All questions over the whole capture, a third of it, and each step.
std::vector<std::string> violations(const Timeline& timeline, const Facts& facts) {
  std::vector<std::string> found;
  Nanoseconds end = 1;
  for (std::size_t row = 0; row < timeline.slices.size(); ++row) end = std::max(end, timeline.slices.end(SliceId{static_cast<std::uint32_t>(row)}));
  const auto ask = [&](Scene scene, bool of_rank) {
    std::vector<std::string> more = of_rank ? violations_of_rank(scene) : violations_of_device(scene);
    found.insert(found.end(), more.begin(), more.end());
  };
  for (std::uint32_t i = 0; i < timeline.ranks.size(); ++i) {
    Scene scene{.timeline = timeline, .facts = facts, .rank = RankId{i}, .device = nullptr, .gpu = nullptr, .window = {}, .whole_capture = true};
    ask(scene, true);
    scene.whole_capture = false;
    scene.window = {end / 3, 2 * end / 3};
    ask(scene, true);
    if (facts.steps[i].steps.size() > 1) {
      scene.window = facts.steps[i].steps[1].annotation;
      ask(scene, true);
    }
  }
  for (const DeviceFacts& device : facts.devices) {
    Scene scene{.timeline = timeline, .facts = facts, .rank = device.rank, .device = &device, .gpu = nullptr, .window = {}, .whole_capture = true};
    ask(scene, false);
    scene.whole_capture = false;
    scene.window = {end / 3, 2 * end / 3};
    ask(scene, false);
    if (!device.windows.empty()) {
      scene.window = device.windows.front().window;
      ask(scene, false);
    }
  }
  return found;
}

// Slices anywhere on two threads and two streams: overlapping, overhanging, recursive, of no length, linked twice or not at all.
RC_GTEST_PROP(Sums, HoldOnAnyTimeline, ()) {
  struct Spec {
    int kind, track, name, start, duration, correlation;
  };
  const auto small = [](int end) { return rc::gen::inRange(0, end); };
  const auto specs = *rc::gen::container<std::vector<Spec>>(rc::gen::construct<Spec>(small(8), small(2), small(4), small(60), small(40), small(12)));
  HandBuilt run;
  const TrackId threads[] = {run.thread("1"), run.thread("2")}, streams[] = {run.stream(7), run.stream(8)};
  const char* operators[] = {"aten::mm", "aten::add", "c10d::allreduce_", "Custom"};
  const char* calls[] = {"cudaLaunchKernel", "cudaStreamSynchronize", "cudaMemcpyAsync", "cudaGraphLaunch"};
  const char* kernels[] = {"gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "Memcpy DtoH (Device -> Pageable)", "reduce"};
  run.operation(threads[0], "first", 0, 1);
  for (const Spec& spec : specs) {
    const auto correlation = static_cast<std::uint64_t>(spec.correlation);
    switch (spec.kind) {
      case 0:
      case 1:
      case 2:
        run.operation(threads[spec.track], operators[spec.name], spec.start, spec.duration);
        break;
      case 3:
        run.module(threads[spec.track], "nn.Module: Linear_" + std::to_string(spec.name), 0, spec.start, spec.duration);
        break;
      case 4:
      case 5:
        run.call(threads[spec.track], calls[spec.name], spec.start, spec.duration, correlation);
        break;
      default:
        if (spec.name == 2)
          run.copy(streams[spec.track], kernels[2], spec.start, spec.duration, correlation, spec.start);
        else
          run.kernel(streams[spec.track], kernels[spec.name], spec.start, spec.duration, correlation);
    }
  }
  run.finish();
  const Facts facts = derive(run.timeline, {});
  const std::vector<std::string> found = violations(run.timeline, facts);
  RC_ASSERT(found == std::vector<std::string>{});
}

TEST(Sums, HoldOnEveryTraceAndEveryFault) {
  namespace fs = std::filesystem;
  const fs::path shared = STEPSCOPE_SHARED_DIR;
  if (!fs::is_directory(shared / "traces")) GTEST_SKIP() << "../shared is not here";
  std::vector<fs::path> files;
  for (const auto& folder : fs::directory_iterator(shared / "traces"))
    if (folder.is_directory() && folder.path().filename() != "expected")
      for (const auto& file : fs::directory_iterator(folder)) files.push_back(file.path());
  for (const auto& file : fs::directory_iterator(shared / "faults")) files.push_back(file.path());
  std::size_t asked = 0;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    const std::vector<std::string> paths{file.string()};
    const Result<Timeline> timeline = read_timeline(paths, {.threads = 2});
    if (!timeline) continue;  // refused as a whole: the reader's tests say which
    const Facts facts = derive(*timeline, {});
    EXPECT_EQ(violations(*timeline, facts), std::vector<std::string>{});
    ++asked;
  }
  EXPECT_GE(asked, 60u);
}

}  // namespace
}  // namespace stepscope
