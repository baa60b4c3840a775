// Model and hardware FLOP utilisation of a device, per step and over all (METRICS.md, Work).
//
// FLOPs: those of matrix products, convolutions and attention, as in the publications that MFU is compared with; elementwise work is not counted.
// Model FLOPs leave out what is computed a second time: forward operators run again inside backward, and the scores that flash attention's backward recomputes.
// Hardware FLOPs include both. MFU = model FLOPs / (time · rate), HFU with hardware FLOPs; rate = the vendor's dense rate of the precision that did most FLOPs.
// Time of a step = its window on the device, idle time included; over all = the sum over steps without first, last and outlying ones, or the window asked
// about where there are no steps.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analyze/operator_work.h"
#include "analyze/value.h"

namespace stepscope {

namespace {

// Below this share of compute time with a formula the FLOPs of a step are not known well enough to divide by.
constexpr double least_coverage = 0.5;

struct Utilisation {
  double model_flops = 0, hardware_flops = 0;
  Nanoseconds compute = 0, covered = 0;
  Nanoseconds time = 0;

  Utilisation& operator+=(const Utilisation& more) {
    model_flops += more.model_flops;
    hardware_flops += more.hardware_flops;
    compute += more.compute;
    covered += more.covered;
    time += more.time;
    return *this;
  }
  double coverage() const { return compute == 0 ? 0 : static_cast<double>(covered) / static_cast<double>(compute); }
};

// Of the part of the window that lies in the interval.
Utilisation utilisation_in(const OperatorWork& work, Interval interval) {
  Utilisation sum;
  sum.time = interval.length();
  const auto first_call = std::ranges::lower_bound(work.calls, interval.begin, {}, &CallWork::first_start);
  for (auto call = first_call; call != work.calls.end() && call->first_start < interval.end; ++call) {
    const Work& one = work.known[call->known].work;
    if (!one.matrix_units) continue;
    sum.hardware_flops += one.flops;
    if (!call->recomputed) sum.model_flops += one.flops - one.repeated_flops;
  }
  const auto first_kernel = std::ranges::lower_bound(work.kernels, interval.begin, {}, &KernelWork::start);
  for (auto kernel = first_kernel; kernel != work.kernels.end() && kernel->start < interval.end; ++kernel) {
    sum.compute += kernel->duration;
    if (kernel->covered) sum.covered += kernel->duration;
  }
  return sum;
}

struct Precision {
  DataType type = DataType::unknown;
  double share = 0;  // of the FLOPs
};

// The type with most matrix FLOPs.
Precision main_precision(const OperatorWork& work) {
  std::array<double, data_type_count> flops{};
  double all = 0;
  for (const CallWork& call : work.calls) {
    const KnownWork& known = work.known[call.known];
    if (!known.work.matrix_units) continue;
    flops[static_cast<std::size_t>(rate_type(known, call))] += known.work.flops;
    all += known.work.flops;
  }
  const auto most = std::ranges::max_element(flops);
  if (all <= 0) return {};
  return {static_cast<DataType>(most - flops.begin()), *most / all};
}

// rate: operations per second; 0 = unknown.
Value fraction(double flops, const Utilisation& of, double rate) {
  if (rate <= 0 || of.time <= 0 || of.coverage() < least_coverage) return absent();
  return flops * 1e9 / (static_cast<double>(of.time) * rate);
}

std::vector<StepWindow> steps_asked_about(const Scene& scene) {
  std::vector<StepWindow> windows = scene.device->windows;
  if (!scene.whole_capture)
    std::erase_if(windows, [&](const StepWindow& step) { return step.window.begin < scene.window.begin || step.window.end > scene.window.end; });
  return windows;
}

std::string percent(double ratio) {
  if (ratio > 0 && ratio < 0.0005) return "<0.1 %";
  return fmt::format("{:.{}f} %", 100 * ratio, ratio < 0.0995 ? 1 : 0);
}

}  // namespace

Section utilisation_section(const Scene& scene, const OperatorWork& work) {
  Section section{.key = "mfu", .title = "FLOP utilisation", .summary = {}, .figures = {}, .tables = {}, .caveats = {}, .prominence = 44};
  if (!work.shapes_recorded) {
    section.figures = {{"mfu", "MFU", Unit::ratio, absent()}, {"hfu", "HFU", Unit::ratio, absent()}};
    section.caveats.push_back("The shapes of the operators were not recorded, so that FLOPs are not known: profile with record_shapes=True.");
    return section;
  }
  const Precision precision = main_precision(work);
  const double rate = scene.gpu == nullptr ? 0 : scene.gpu->matrix_rate(precision.type).value_or(0);

  const std::vector<StepWindow> steps = steps_asked_about(scene);
  const std::vector<Step>& facts = scene.facts.steps[index(scene.rank)].steps;
  const bool only_outliers = std::ranges::all_of(steps, [&](const StepWindow& step) { return facts[step.step].outlier; });
  Table table{.key = "by_step",
              .title = "By step",
              .columns = {{"step", "Step"},
                          {"window_ns", "Window", Unit::nanoseconds},
                          {"model_flops", "Model FLOPs", Unit::flops},
                          {"hardware_flops", "Hardware FLOPs", Unit::flops},
                          {"mfu", "MFU", Unit::ratio},
                          {"hfu", "HFU", Unit::ratio},
                          {"coverage", "Coverage", Unit::ratio},
                          {"outlier", "Outlier"}},
              .rows = {}};
  Utilisation all;
  std::int64_t counted = 0;
  for (const StepWindow& step : steps) {
    const Utilisation one = utilisation_in(work, step.window);
    const bool outlier = facts[step.step].outlier;
    std::vector<Value> row{whole(step.number), whole(one.time), one.model_flops, one.hardware_flops};
    row.push_back(fraction(one.model_flops, one, rate));
    row.push_back(fraction(one.hardware_flops, one, rate));
    row.push_back(share(one.covered, one.compute));
    row.push_back(outlier);
    table.rows.push_back(std::move(row));
    if (outlier && !only_outliers) continue;
    all += one;
    ++counted;
  }
  if (steps.empty()) {
    const auto& s = scene.timeline.slices;
    Interval window = scene.window;
    if (scene.whole_capture) {
      window = {s.start[scene.device->slices[0]], s.start[scene.device->slices[0]]};
      for (const SliceId id : scene.device->slices) window.end = std::max(window.end, s.end(id));
    }
    all = utilisation_in(work, window);
  }
  const double per_step = counted == 0 ? 1 : static_cast<double>(counted);
  const Value mfu = fraction(all.model_flops, all, rate), hfu = fraction(all.hardware_flops, all, rate);
  section.figures = {
      {"mfu", "MFU", Unit::ratio, mfu},
      {"hfu", "HFU", Unit::ratio, hfu},
      {"coverage", "Coverage", Unit::ratio, share(all.covered, all.compute)},
      {"model_flops", steps.empty() ? "Model FLOPs" : "Model FLOPs per step", Unit::flops, work.known.empty() ? absent() : Value{all.model_flops / per_step}},
      {"hardware_flops", steps.empty() ? "Hardware FLOPs" : "Hardware FLOPs per step", Unit::flops,
       work.known.empty() ? absent() : Value{all.hardware_flops / per_step}},
      {"time_ns", steps.empty() ? "Time" : "Mean step on the device", Unit::nanoseconds,
       whole(static_cast<Nanoseconds>(static_cast<double>(all.time) / per_step + 0.5))},
      {"precision", "Precision", Unit::none, precision.type == DataType::unknown ? absent() : text(data_type_name(precision.type))},
      {"peak_flops_per_s", "Dense rate", Unit::flops_per_second, rate > 0 ? Value{rate} : absent()}};
  if (!table.rows.empty()) section.tables.push_back(std::move(table));

  if (const double* ratio = std::get_if<double>(&mfu))
    section.summary = "MFU " + percent(*ratio) + " of the dense " + std::string(data_type_name(precision.type)) + " rate; formulas cover " +
                      percent(all.coverage()) + " of the compute time.";
  if (precision.type == DataType::unknown) {
    section.caveats.push_back("No matrix product, convolution or attention with known arguments was found.");
  } else {
    if (all.coverage() < least_coverage)
      section.caveats.push_back("Formulas cover less than half of the compute time: a utilisation would say nothing.");
    else if (all.coverage() < 0.9)
      section.caveats.push_back("Formulas do not cover all of the compute time: the utilisation is a lower bound.");
    if (scene.gpu == nullptr)
      section.caveats.push_back("The GPU is not known, so that there is no rate to compare with: name it with --gpu.");
    else if (rate <= 0)
      section.caveats.push_back("The description of " + scene.gpu->title + " has no dense " + std::string(data_type_name(precision.type)) + " rate.");
    else
      section.caveats.push_back("Dense " + std::string(data_type_name(precision.type)) + " rate of " + scene.gpu->title + " (" + scene.gpu->confidence +
                                "): " + scene.gpu->source);
    if (const double* ratio = std::get_if<double>(&hfu); ratio != nullptr && *ratio > 1)
      section.caveats.push_back("More than the rate is not possible: this GPU's description is not of the one that ran, or the trace lacks device time.");
    if (precision.share < 0.95)
      section.caveats.push_back("Only " + percent(precision.share) + " of the FLOPs are of this precision; the others are held against its rate too.");
    if (steps.empty()) section.caveats.push_back("No steps were found: the utilisation is that of the whole time shown.");
  }
  return section;
}

}  // namespace stepscope
