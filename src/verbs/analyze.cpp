// analyze: read the traces, derive the facts, ask every question of every rank and device.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "advise/advice_section.h"
#include "analyze/question.h"
#include "facts/facts.h"
#include "lift/lift.h"
#include "machine/gpu.h"
#include "read/reader.h"
#include "simulate/replay.h"
#include "verbs/device_gpu.h"
#include "verbs/patterns.h"
#include "verbs/step_choice.h"
#include "verbs/stepscope.h"

namespace stepscope {

namespace {

using Clock = std::chrono::steady_clock;

// Of large captures a few typical steps stand for all: what is lifted costs about a microsecond and 300 bytes per slice.
constexpr std::size_t most_lifted_slices = 100'000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Everything asked for that is decided before reading.
struct Wishes {
  StepChoice steps;
  std::optional<Gpu> gpu;
  FactOptions facts;
};

Result<Wishes> understand(const AnalyzeOptions& options) {
  Wishes wishes;
  Result<StepChoice> steps = StepChoice::parse(options.steps);
  if (!steps) return std::unexpected(steps.error());
  wishes.steps = *std::move(steps);
  if (!options.gpu.empty()) {
    Result<Gpu> gpu = find_gpu(options.gpu);
    if (!gpu) return std::unexpected(gpu.error());
    wishes.gpu = *std::move(gpu);
  }
  if (!options.patterns_file.empty()) {
    Result<std::vector<KernelPattern>> patterns = read_patterns(options.patterns_file);
    if (!patterns) return std::unexpected(patterns.error());
    wishes.facts.patterns = *std::move(patterns);
  }
  return wishes;
}

Result<std::vector<RankId>> chosen_ranks(const Timeline& timeline, const std::optional<std::int64_t>& wanted) {
  std::vector<RankId> ranks;
  std::string present;
  for (std::uint32_t row = 0; row < timeline.ranks.size(); ++row) {
    const std::int64_t number = timeline.ranks[row].number;
    if (!wanted || number == *wanted) ranks.push_back(RankId{row});
    if (present.size() < 200) present += fmt::format("{}{}", present.empty() ? "" : ", ", number);
  }
  if (ranks.empty())
    return std::unexpected(
        Error{"", std::nullopt, fmt::format("there is no rank {}", wanted.value_or(0)), "The traces are of rank " + present, Error::Kind::unusable});
  return ranks;
}

std::optional<Error> why_nothing(const Timeline& timeline) {
  const bool anything =
      std::ranges::any_of(timeline.slices.kind, [](SliceKind kind) { return is_device_activity(kind) || is_api_call(kind) || kind == SliceKind::operation; });
  if (anything) return std::nullopt;
  const std::string file = timeline.ranks.size() == 1 ? timeline.ranks.front().file : std::string();
  const std::string problem =
      timeline.slices.size() == 0 ? "the trace holds no events with a duration" : "the trace holds neither device activity nor framework operators";
  return Error{file, std::nullopt, problem + ": there is nothing to analyse",
               "Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and let the profiler run over whole steps",
               Error::Kind::nothing_to_analyse};
}

class Interview {
 public:
  Interview(const Analysis& analysis, const Wishes& wishes)
      : timeline_(analysis.timeline),
        facts_(analysis.facts),
        lifted_(analysis.lifted.graph.size() == 0 ? nullptr : &analysis.lifted),
        times_(lifted_ == nullptr ? nullptr : &analysis.times),
        wishes_(wishes) {}

  Findings ask_all(const std::vector<RankId>& ranks) {
    Findings findings;
    ask(Scope::run, Scene{.timeline = timeline_, .facts = facts_, .window = capture_, .whole_capture = wishes_.steps.all(), .lifted = lifted_, .times = times_},
        findings.sections);
    for (const RankId rank : ranks) findings.ranks.push_back(of_rank(rank));
    for (const DeviceFacts& device : facts_.devices) {
      const Gpu* gpu = std::ranges::find(ranks, device.rank) != ranks.end() ? gpu_of(device) : nullptr;
      if (gpu != nullptr && std::ranges::find(findings.gpus, gpu->name, &Gpu::name) == findings.gpus.end()) findings.gpus.push_back(*gpu);
    }
    return findings;
  }
  // What is known of a capture that holds nothing to analyse.
  Findings ask_run_only() {
    Findings findings;
    ask(Scope::run, Scene{.timeline = timeline_, .facts = facts_, .window = capture_}, findings.sections);
    return findings;
  }

 private:
  const Gpu* gpu_of(const DeviceFacts& device) const {
    if (wishes_.gpu) return &*wishes_.gpu;
    return gpu_of_device(timeline_, device);
  }

  RankFindings of_rank(RankId rank) {
    const Rank& described = timeline_.ranks[index(rank)];
    const RankSteps& steps = facts_.steps[index(rank)];
    RankFindings found{.rank = described.number, .file = described.file, .sections = {}, .devices = {}};
    Scene scene{
        .timeline = timeline_, .facts = facts_, .rank = rank, .window = capture_, .whole_capture = wishes_.steps.all(), .lifted = lifted_, .times = times_};
    for (const DeviceFacts& device : facts_.devices)
      if (device.rank == rank && scene.gpu == nullptr) scene.gpu = gpu_of(device);
    const std::optional<Interval> host = wishes_.steps.all() ? capture_ : wishes_.steps.host_window(steps);
    if (host) {
      scene.window = *host;
      ask(Scope::rank, scene, found.sections);
    }
    for (const DeviceFacts& device : facts_.devices)
      if (device.rank == rank) found.devices.push_back(of_device(device, steps));
    return found;
  }

  DeviceFindings of_device(const DeviceFacts& device, const RankSteps& steps) {
    const Device& described = timeline_.devices[index(device.device)];
    const Gpu* gpu = gpu_of(device);
    DeviceFindings found{.device = described.label, .gpu = gpu == nullptr ? std::string() : gpu->name, .gpu_reported = described.gpu_name, .sections = {}};
    const std::optional<Interval> window = wishes_.steps.all() ? whole(device) : wishes_.steps.device_window(device, steps);
    if (!window) return found;  // none of the chosen steps ran anything here
    ask(Scope::device,
        Scene{.timeline = timeline_,
              .facts = facts_,
              .rank = device.rank,
              .device = &device,
              .gpu = gpu,
              .window = *window,
              .whole_capture = wishes_.steps.all(),
              .lifted = lifted_,
              .times = times_},
        found.sections);
    return found;
  }

  Interval whole(const DeviceFacts& device) const {
    Interval window{timeline_.slices.start[device.slices[0]], timeline_.slices.start[device.slices[0]]};
    for (const SliceId id : device.slices) window.end = std::max(window.end, timeline_.slices.end(id));
    return window;
  }

  static Interval capture_of(const Timeline& timeline) {
    const SliceColumns& s = timeline.slices;
    Interval capture;
    for (std::size_t row = 0; row < s.size(); ++row) capture.end = std::max(capture.end, s.start[row] + s.duration[row]);
    return capture;
  }

  void ask(Scope scope, const Scene& scene, std::vector<Section>& sections) {
    for (const Question* question : all_questions()) {
      if (question->scope != scope) continue;
      for (Section& section : question->answer(scene)) sections.push_back(std::move(section));
    }
    std::ranges::stable_sort(sections, {}, &Section::prominence);
  }

  const Timeline& timeline_;
  const Facts& facts_;
  const Lifted* lifted_;
  const ReplayTimes* times_;
  const Wishes& wishes_;
  const Interval capture_ = capture_of(timeline_);
};

}  // namespace

Result<Analysis> analyze(const AnalyzeOptions& options) {
  const Result<Wishes> wishes = understand(options);
  if (!wishes) return std::unexpected(wishes.error());

  Analysis analysis;
  const Clock::time_point begin = Clock::now();
  Result<Timeline> timeline = read_timeline(options.paths, {.threads = options.threads, .progress = options.progress});
  if (!timeline) return std::unexpected(timeline.error());
  analysis.timeline = *std::move(timeline);
  analysis.read_seconds = seconds_since(begin);

  if (options.progress != nullptr) options.progress->stage("analysing");
  const Clock::time_point read = Clock::now();
  const Result<std::vector<RankId>> ranks = chosen_ranks(analysis.timeline, options.rank);
  if (!ranks) return std::unexpected(ranks.error());
  analysis.facts = derive(analysis.timeline, wishes->facts);
  analysis.nothing_to_analyse = why_nothing(analysis.timeline);
  if (analysis.nothing_to_analyse) {
    analysis.findings = Interview(analysis, *wishes).ask_run_only();
  } else {
    const Result<void> steps = wishes->steps.check(analysis.timeline, analysis.facts, *ranks);
    if (!steps) return std::unexpected(steps.error());
    analysis.lifted = lift(analysis.timeline, analysis.facts, typical_time(analysis.timeline, analysis.facts, most_lifted_slices));
    if (analysis.lifted.graph.size() != 0) replay(analysis.lifted.graph, analysis.times);
    analysis.findings = Interview(analysis, *wishes).ask_all(*ranks);
    if (analysis.lifted.graph.size() != 0) {
      const Gpu* const gpu = analysis.findings.gpus.empty() ? nullptr : &analysis.findings.gpus.front();
      analysis.advice = advise({.timeline = analysis.timeline, .facts = analysis.facts, .lifted = analysis.lifted, .times = analysis.times, .gpu = gpu});
      analysis.findings.sections.push_back(advice_section(analysis.advice));
      std::ranges::stable_sort(analysis.findings.sections, {}, &Section::prominence);
    }
  }
  analysis.analysis_seconds = seconds_since(read);
  return analysis;
}

}  // namespace stepscope
