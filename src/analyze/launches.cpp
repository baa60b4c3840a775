// How device work was launched: what each launching API call costs the CPU, and how long its work then waits.
//
// Launch delay of a call = max(0, start of the first slice it launched − end of the call): it holds the driver's and device's latency and the time that the
// work queued behind earlier work. (Also measured for drivers' calls, hip*, graphs and copies, in ns; some tools look at cudaLaunchKernel, cudaMemcpyAsync
// and cudaMemsetAsync alone, in whole µs.) Calls whose work has no device record have a cost but no delay.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "analyze/question.h"
#include "analyze/rank_rows.h"
#include "analyze/value.h"
#include "base/spread.h"

namespace stepscope {

namespace {

struct Api {
  NameId name{};
  Column<Nanoseconds> costs, delays;
  std::int64_t slices = 0, unrecorded = 0;
};

struct Call {
  SliceId call{};
  Nanoseconds first_start = 0;
  std::int64_t slices = 0;
};

// The calls of the window that launched recorded work, each with the start of the first slice that it launched.
Column<Call> recorded_calls(const Scene& scene) {
  constexpr std::uint32_t unseen = 0xFFFF'FFFFu;
  const SliceColumns& s = scene.timeline.slices;
  RankColumn<std::uint32_t> place(scene, unseen);
  Column<Call> calls;
  std::size_t most = 0;
  for (const DeviceFacts& device : scene.facts.devices)
    if (device.rank == scene.rank) most += device.slices.size();
  calls.reserve(most);
  for_each_device_slice(scene, [&](SliceId id) {
    const SliceId launch = scene.facts.launch[id];
    if (launch == no_id<SliceId> || !place.contains(launch)) return;
    if (place[launch] == unseen) {
      place[launch] = static_cast<std::uint32_t>(calls.size());
      calls.push_back({launch, s.start[id], 0});
    }
    Call& call = calls[place[launch]];
    call.first_start = std::min(call.first_start, s.start[id]);
    ++call.slices;
  });
  return calls;
}

// Bounds of the histogram: 0, then 1, 2, 5 µs of each decade up to 1 s.
std::vector<Nanoseconds> bucket_bounds() {
  std::vector<Nanoseconds> bounds{0};
  for (Nanoseconds decade = 1'000; decade < 1'000'000'000; decade *= 10)
    for (const Nanoseconds digit : {1, 2, 5}) bounds.push_back(digit * decade);
  bounds.push_back(1'000'000'000);
  return bounds;
}

Table histogram(std::span<const Nanoseconds> delays) {
  Table table{.key = "delay_histogram",
              .title = "Launch delays",
              .columns = {{"from_ns", "From", Unit::nanoseconds},
                          {"to_ns", "To", Unit::nanoseconds},
                          {"launches", "Launches", Unit::count},
                          {"share", "Share", Unit::ratio}},
              .rows = {}};
  const std::vector<Nanoseconds> bounds = bucket_bounds();
  std::vector<std::int64_t> counts(bounds.size(), 0);
  for (const Nanoseconds delay : delays) ++counts[static_cast<std::size_t>(std::ranges::upper_bound(bounds, delay) - bounds.begin()) - 1];
  const auto filled = [](std::int64_t count) { return count != 0; };
  const auto first = std::ranges::find_if(counts, filled) - counts.begin();
  auto last = static_cast<std::ptrdiff_t>(counts.size());
  while (last > first && counts[static_cast<std::size_t>(last - 1)] == 0) --last;
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
    table.rows.push_back({whole(bounds[i]), whole_if(i + 1 < bounds.size(), i + 1 < bounds.size() ? bounds[i + 1] : 0), whole(counts[i]),
                          share(counts[i], static_cast<std::int64_t>(delays.size()))});
  return table;
}

std::vector<Section> answer_launches(const Scene& scene) {
  const Timeline& timeline = scene.timeline;
  const SliceColumns& s = timeline.slices;
  constexpr std::uint32_t unseen = 0xFFFF'FFFFu;
  std::vector<std::uint32_t> api_of_name(timeline.names.size(), unseen);
  std::vector<Api> apis;
  const auto api_of = [&](SliceId call) -> Api& {
    std::uint32_t& api = api_of_name[index(s.name[call])];
    if (api == unseen) {
      api = static_cast<std::uint32_t>(apis.size());
      apis.push_back({.name = s.name[call], .costs = {}, .delays = {}});
    }
    return apis[api];
  };
  const Column<Call> recorded = recorded_calls(scene);
  for (const Call& call : recorded) {
    Api& api = api_of(call.call);
    if (api.costs.empty()) {  // address space only: a page is there once it is written to
      api.costs.reserve(recorded.size());
      api.delays.reserve(recorded.size());
    }
    api.costs.push_back(s.duration[call.call]);
    api.delays.push_back(std::max<Nanoseconds>(0, call.first_start - s.end(call.call)));
    api.slices += call.slices;
  }
  for (const SliceId call : scene.facts.unrecorded_launches) {
    if (timeline.track_of(call).rank != scene.rank) continue;
    if (!scene.whole_capture && !scene.window.contains(s.start[call])) continue;
    Api& api = api_of(call);
    api.costs.push_back(s.duration[call]);
    ++api.unrecorded;
  }
  if (apis.empty()) return {};

  Column<Nanoseconds> all_costs, all_delays;
  all_costs.reserve(recorded.size() + scene.facts.unrecorded_launches.size());
  all_delays.reserve(recorded.size());
  std::int64_t slices = 0, unrecorded = 0;
  for (const Api& api : apis) {
    all_costs.append(api.costs);
    all_delays.append(api.delays);
    slices += api.slices;
    unrecorded += api.unrecorded;
  }
  Section section{.key = "launches", .title = "Launches", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 55};
  Table table{.key = "by_api",
              .title = "By launching call",
              .columns = {{"api", "Call"},
                          {"calls", "Calls", Unit::count},
                          {"launched", "Launched", Unit::count, false},
                          {"call_total_ns", "Cost, total", Unit::nanoseconds},
                          {"call_median_ns", "Cost, median", Unit::nanoseconds},
                          {"call_p90_ns", "p90", Unit::nanoseconds, false},
                          {"call_max_ns", "max", Unit::nanoseconds, false},
                          {"delay_median_ns", "Delay, median", Unit::nanoseconds},
                          {"delay_p90_ns", "p90", Unit::nanoseconds},
                          {"delay_max_ns", "max", Unit::nanoseconds},
                          {"without_record", "No record", Unit::count}},
              .rows = {}};
  std::ranges::sort(apis, [](const Api& a, const Api& b) { return a.costs.size() != b.costs.size() ? a.costs.size() > b.costs.size() : a.name < b.name; });
  for (Api& api : apis) {
    const Spread cost = spread(api.costs.span()), delay = spread(api.delays.span());
    const auto of_delay = [&](Nanoseconds value) { return whole_if(delay.count != 0, value); };
    table.rows.push_back({text(timeline.names[api.name]), whole(cost.count), whole(api.slices), whole(cost.total), whole(cost.median), whole(cost.p90),
                          whole(cost.maximum), of_delay(delay.median), of_delay(delay.p90), of_delay(delay.maximum), whole(api.unrecorded)});
  }
  section.tables.push_back(std::move(table));
  section.tables.push_back(histogram(all_delays.span()));

  const Spread cost = spread(all_costs.span()), delay = spread(all_delays.span());
  const auto of_delay = [&](Nanoseconds value) { return whole_if(delay.count != 0, value); };
  section.figures = {{"calls", "Launching calls", Unit::count, whole(cost.count)},
                     {"launched", "Device slices launched", Unit::count, whole(slices)},
                     {"call_total_ns", "Cost of the calls", Unit::nanoseconds, whole(cost.total)},
                     {"call_median_ns", "Cost of a call, median", Unit::nanoseconds, whole(cost.median)},
                     {"delay_median_ns", "Launch delay, median", Unit::nanoseconds, of_delay(delay.median)},
                     {"delay_p90_ns", "Launch delay, p90", Unit::nanoseconds, of_delay(delay.p90)},
                     {"without_record", "Without device record", Unit::count, whole(unrecorded)}};
  section.summary = std::to_string(cost.count) + " launching calls of " + format_duration(cost.median) + " (median)";
  if (delay.count > 0) section.summary += "; their work starts " + format_duration(delay.median) + " after the call (median)";
  section.summary += ".";
  if (unrecorded > 0)
    section.caveats.push_back(std::to_string(unrecorded) +
                              " launching calls have no device record: they have a cost but no delay, and busy time is a lower bound.");
  if (delay.count > 0)
    section.caveats.push_back("Launch delay counts queueing behind earlier work on the device; a short one means that the device waits for the host.");
  return {std::move(section)};
}

}  // namespace

extern const Question launches_question;
const Question launches_question{"launches", "What does launching cost, and how long does launched work wait?", Scope::rank, answer_launches};

}  // namespace stepscope
