// TraceLens's gpu_timeline.csv and kernel_summary.csv, derived again from our columns under its definitions, so that every difference from METRICS.md is
// understood (docs/differences.md):
//   - a memory set is computation; with repeated work told apart it is nothing at all;
//   - slices without a link to the CPU are left out of gpu_timeline, but not of kernel_summary;
//   - communication is what has "nccl", "rccl" or "cross_device_reduce" in its name;
//   - repeated work is a timeline of its own, also with a total of its own;
//   - times are microseconds in doubles (as_written()), then milliseconds.
#include <gtest/gtest.h>

#include <algorithm>

#include "cost/tracelens_report.h"

namespace stepscope {
namespace {

using namespace tracelens;

using Intervals = std::vector<Microseconds>;  // sorted, apart from each other

Intervals united(Intervals intervals) {
  std::ranges::sort(intervals, {}, &Microseconds::begin);
  Intervals result;
  for (const Microseconds& one : intervals) {
    if (!result.empty() && one.begin <= result.back().end)
      result.back().end = std::max(result.back().end, one.end);
    else
      result.push_back(one);
  }
  return result;
}

Intervals without(const Intervals& intervals, const Intervals& removed) {
  Intervals result;
  std::size_t first = 0;
  for (const Microseconds& one : intervals) {
    double begin = one.begin;
    while (first < removed.size() && removed[first].end <= one.begin) ++first;
    for (std::size_t i = first; i < removed.size() && removed[i].begin < one.end; ++i) {
      if (removed[i].begin > begin) result.push_back({begin, removed[i].begin});
      begin = std::max(begin, removed[i].end);
    }
    if (begin < one.end) result.push_back({begin, one.end});
  }
  return result;
}

double length(const Intervals& intervals) {
  double sum = 0;
  for (const Microseconds& one : intervals) sum += one.end - one.begin;
  return sum;
}

bool is_its_communication(std::string_view name) {
  return name.find("nccl") != std::string_view::npos || name.find("rccl") != std::string_view::npos ||
         name.find("cross_device_reduce") != std::string_view::npos;
}

// Milliseconds by the row's name, of the slices that keep(id) takes.
template <class Keep>
std::map<std::string, double> timeline_of(const Trace& trace, Keep keep) {
  const SliceColumns& s = trace.timeline.slices;
  Intervals computation, communication, copies;
  double begin = 1e300, end = -1e300;
  for (std::uint32_t i = 0; i < s.size(); ++i) {
    const SliceId id{i};
    if (!is_device_activity(s.kind[id]) || trace.facts.launch[id] == no_id<SliceId> || !keep(id)) continue;
    const Microseconds one = as_written(trace, id);
    begin = std::min(begin, one.begin);
    end = std::max(end, one.end);
    (s.kind[id] == SliceKind::copy ? copies : is_its_communication(trace.timeline.name_of(id)) ? communication : computation).push_back(one);
  }
  computation = united(computation);
  communication = united(communication);
  copies = united(copies);
  Intervals busy = computation;
  busy.insert(busy.end(), communication.begin(), communication.end());
  const Intervals not_copying = united(busy);
  busy.insert(busy.end(), copies.begin(), copies.end());
  const double all_busy = length(united(busy));
  return {{"computation_time", length(computation) / 1e3},
          {"exposed_comm_time", length(without(communication, computation)) / 1e3},
          {"exposed_memcpy_time", length(without(copies, not_copying)) / 1e3},
          {"busy_time", all_busy / 1e3},
          {"idle_time", (end - begin - all_busy) / 1e3},
          {"total_time", (end - begin) / 1e3},
          {"total_comm_time", length(communication) / 1e3},
          {"total_memcpy_time", length(copies) / 1e3}};
}

class TraceLensTimeline : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder())) GTEST_SKIP() << folder() << " is absent";
  }
};

TEST_P(TraceLensTimeline, GpuTimeline) {
  const std::vector<Row> sheet = read_csv(folder() / GetParam() / "gpu_timeline.csv");
  ASSERT_FALSE(sheet.empty());
  const Result<Trace> trace = read_trace(GetParam());
  ASSERT_TRUE(trace) << trace.error().message();
  const bool told_apart = sheet.front().contains("is_recompute");
  EXPECT_EQ(sheet.size(), told_apart ? 16u : 8u);
  for (const Row& row : sheet) {
    const bool again = told_apart && row.at("is_recompute") == "True";
    const auto timeline = timeline_of(*trace, [&](SliceId id) {
      if (!told_apart) return true;
      return trace->timeline.slices.kind[id] != SliceKind::fill && (trace->facts.recomputed[id] != 0) == again;
    });
    const double theirs = std::stod(row.at("time ms")), total = timeline.at("total_time");
    ASSERT_TRUE(timeline.contains(row.at("type"))) << row.at("type");
    EXPECT_NEAR(timeline.at(row.at("type")), theirs, 1e-6 * theirs) << row.at("type") << (again ? " again" : "");
    EXPECT_NEAR(100 * timeline.at(row.at("type")) / total, std::stod(row.at("percent")), 1e-6 * std::stod(row.at("percent"))) << row.at("type");
  }
}

TEST_P(TraceLensTimeline, KernelSummary) {
  const std::vector<Row> sheet = read_csv(folder() / GetParam() / "kernel_summary.csv");
  if (std::string_view(GetParam()) == "tl_mi300_resnet_act_ckpt") {
    EXPECT_TRUE(sheet.empty()) << "this report came without the sheet";
    return;
  }
  ASSERT_FALSE(sheet.empty());
  const Result<Trace> trace = read_trace(GetParam());
  ASSERT_TRUE(trace) << trace.error().message();
  const Timeline& timeline = trace->timeline;
  struct Sums {
    Nanoseconds total = 0, least = std::numeric_limits<Nanoseconds>::max(), most = 0;
    std::size_t count = 0;
  };
  std::map<std::tuple<std::string, std::string, std::int64_t>, Sums> kernels;
  Nanoseconds all = 0;
  for (std::uint32_t i = 0; i < timeline.slices.size(); ++i) {
    const SliceId id{i};
    if (timeline.slices.kind[id] != SliceKind::kernel) continue;
    const SliceId operation = trace->facts.operation[id];
    Sums& sums =
        kernels[{operation == no_id<SliceId> ? "" : std::string(timeline.name_of(operation)), std::string(timeline.name_of(id)), timeline.track_of(id).stream}];
    const Nanoseconds duration = timeline.slices.duration[id];
    sums.total += duration;
    sums.least = std::min(sums.least, duration);
    sums.most = std::max(sums.most, duration);
    ++sums.count;
    all += duration;
  }
  const auto near = [](Nanoseconds ours, const std::string& theirs, const std::string& what) {
    EXPECT_NEAR(static_cast<double>(ours) / 1e3, std::stod(theirs), 1e-6 * std::stod(theirs)) << what;
  };
  for (const Row& row : sheet) {
    const std::string parent = row.contains("Parent cpu_op") ? row.at("Parent cpu_op") : "";
    const std::string what = parent + " " + row.at("Kernel name");
    const auto found = kernels.find({parent, row.at("Kernel name"), std::stoll(row.at("Kernel stream"))});
    ASSERT_NE(found, kernels.end()) << what;
    near(found->second.total, row.at("Kernel duration (µs)_sum"), what);
    near(found->second.least, row.at("Kernel duration (µs)_min"), what);
    near(found->second.most, row.at("Kernel duration (µs)_max"), what);
    EXPECT_EQ(found->second.count, std::stoul(row.at("Kernel duration (µs)_count"))) << what;
    const double share = 100 * static_cast<double>(found->second.total) / static_cast<double>(all);
    EXPECT_NEAR(share, std::stod(row.at("Percent of kernels time (%)")), 1e-6 * share) << what;
  }
  EXPECT_EQ(sheet.size(), kernels.size());
}

INSTANTIATE_TEST_SUITE_P(Reports, TraceLensTimeline, testing::ValuesIn(reports), [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace stepscope
