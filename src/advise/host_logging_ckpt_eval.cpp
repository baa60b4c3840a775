// host.logging_ckpt_eval: between the end of one step and the begin of the next the host does something else (logging, evaluation, saving).
#include <fmt/core.h>

#include <algorithm>

#include "advise/evidence_host.h"

namespace stepscope {

namespace {

constexpr double least_gap = 0.05;  // of the median step

std::vector<Finding> detect(const AdviceScene& scene) {
  const SteadySteps steps(scene);
  const SliceColumns& s = scene.timeline.slices;
  const ThreadOperations threads(scene);
  std::vector<OpId> operations;
  std::vector<SliceId> evidence;
  std::size_t gaps = 0, followed = 0;
  Nanoseconds total = 0;
  bool in_steady = false;
  for (std::size_t rank = 0; rank < scene.facts.steps.size(); ++rank) {
    const RankSteps& own = scene.facts.steps[rank];
    if (own.source == StepSource::launch_period || own.steps.size() < 3) continue;  // found by what repeats: nothing lies between them
    std::vector<Nanoseconds> lengths;
    for (const Step& step : own.steps) lengths.push_back(step.annotation.length());
    std::ranges::nth_element(lengths, lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2));
    const double median = static_cast<double>(lengths[lengths.size() / 2]);
    for (std::size_t i = 0; i + 1 < own.steps.size(); ++i) {
      const Interval gap{own.steps[i].annotation.end, own.steps[i + 1].annotation.begin};
      if (own.steps[i + 1].annotation.begin < scene.lifted.when.begin || gap.begin > scene.lifted.when.end) continue;
      ++followed;
      if (static_cast<double>(gap.length()) < least_gap * median) continue;
      ++gaps;
      total += gap.length();
      in_steady |= !own.steps[i].outlier;
      for (std::uint32_t track = 0; track < scene.timeline.tracks.size(); ++track) {
        if (scene.timeline.tracks[track].rank != RankId{static_cast<std::uint32_t>(rank)} || !threads.launches(TrackId{track})) continue;
        append(operations, threads.within(TrackId{track}, gap));
        const auto slices = scene.timeline.on_track(TrackId{track});
        auto at = std::ranges::lower_bound(slices, gap.begin, {}, [&](SliceId id) { return s.start[id]; });
        for (; at != slices.end() && s.start[*at] < gap.end; ++at)
          if (scene.facts.parent[*at] == no_id<SliceId>) evidence.push_back(*at);
        if (evidence.empty() && at != slices.end()) evidence.push_back(*at);
      }
    }
  }
  if (gaps == 0) return {};
  Finding found;
  found.title = "The host does something else between steps";
  found.observation = fmt::format("Between {} of {} steps and the next one lies more than 5 % of a step: {} in all.", gaps, followed, format_duration(total));
  if (!evidence.empty()) {
    const SliceId longest = most_telling(scene, evidence).front();
    found.observation += fmt::format(" The longest that is recorded there is {} ({}).", scene.timeline.name_of(longest), format_duration(s.duration[longest]));
  }
  if (in_steady && !operations.empty())
    found.edits = {edit_of("free", std::move(operations))};
  else
    found.unknown = in_steady ? "Nothing of what fills these gaps was recorded."
                              : "It happens in steps that are left out of means: how often must be known to spread it over all steps.";
  found.evidence = most_telling(scene, std::move(evidence));
  found.changes = {{"Megatron-LM", Change::Form::flag, "--log-interval 100 --eval-interval 5000"},
                   {"PyTorch", Change::Form::code, "Write metrics from a thread of their own, on one rank; evaluate in another job"}};
  found.confidence = gaps == followed ? Confidence::medium : Confidence::high;
  found.would_settle = "How often it happens (marks of many steps).";
  return {std::move(found)};
}

}  // namespace

extern const Rule host_logging_ckpt_eval_rule{
    .name = "host.logging_ckpt_eval",
    .help = "Logging, evaluation or saving between steps.",
    .guard = "Steps that were found by what repeats: nothing lies between them.",
    .source = "5 % of the median step: proposed",
    .detect = detect,
};

}  // namespace stepscope
