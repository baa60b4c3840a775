#include "advise/advise.h"

#include <algorithm>
#include <utility>

#include "simulate/step_length.h"

namespace stepscope {

std::string_view confidence_name(Confidence confidence) {
  return confidence == Confidence::high ? "high" : confidence == Confidence::medium ? "medium" : "low";
}

std::string_view change_form_name(Change::Form form) {
  return form == Change::Form::code ? "code" : form == Change::Form::flag ? "flag" : "environment";
}

namespace {

struct Replayed {
  double step_ns = 0;
  double optimistic = 1, pessimistic = 1;
  std::vector<std::string> caveats;
};

class Ranking {
 public:
  Ranking(const AdviceScene& scene, const AdviceOptions& options) : scene_(scene), options_(options), windows_(representative_windows(scene.lifted)) {}

  AdviceList rank() {
    AdviceList list;
    list.step_ns = list.after_all_ns = step_length(scene_.lifted, scene_.times, windows_);
    std::vector<Advice> with_gain, without;
    for (const Rule* rule : all_rules())
      for (Finding& finding : rule->detect(scene_)) {
        Advice advice{.rule = rule, .finding = std::move(finding), .gain_ns = {}, .caveats = {}};
        const std::optional<Replayed> replayed = advice.finding.edits.empty() || list.step_ns <= 0 ? std::nullopt : with_edits(scene_.lifted.graph, advice);
        if (!replayed) {
          without.push_back(std::move(advice));
          continue;
        }
        advice.alone_ns = list.step_ns - replayed->step_ns;
        advice.caveats = replayed->caveats;
        if (advice.alone_ns >= options_.least_share * list.step_ns) with_gain.push_back(std::move(advice));
      }
    Graph graph = scene_.lifted.graph.copy();
    double before = list.step_ns;
    while (!with_gain.empty()) {
      // Marginal gains mostly shrink, so that the one that saves most alone is looked at first; who cannot save more than the best found is not looked at.
      std::ranges::stable_sort(with_gain, std::ranges::greater{}, &Advice::alone_ns);
      std::size_t best = 0;
      double best_gain = -1;
      std::optional<Replayed> best_replayed;
      for (std::size_t i = 0; i < with_gain.size(); ++i) {
        if (with_gain[i].alone_ns <= best_gain) break;
        std::optional<Replayed> replayed = with_edits(graph, with_gain[i]);
        if (!replayed || before - replayed->step_ns <= best_gain) continue;
        best = i;
        best_gain = before - replayed->step_ns;
        best_replayed = std::move(replayed);
      }
      Advice advice = std::move(with_gain[best]);
      with_gain.erase(with_gain.begin() + static_cast<std::ptrdiff_t>(best));
      if (!best_replayed) continue;
      advice.gain_ns = best_gain;
      advice.pessimistic_ns = best_gain * std::min(1.0, best_replayed->pessimistic);
      advice.optimistic_ns = best_gain * std::max(1.0, best_replayed->optimistic);
      if (best_gain < options_.least_share * list.step_ns) advice.caveats.push_back("What it would save, the ones above save already.");
      if (!apply_edits(scene_of_edits(), advice.finding.edits, graph)) continue;
      before -= best_gain;
      list.advice.push_back(std::move(advice));
    }
    list.after_all_ns = before;
    std::ranges::move(without, std::back_inserter(list.advice));
    return list;
  }

 private:
  EditScene scene_of_edits() const { return {.timeline = scene_.timeline, .facts = scene_.facts, .lifted = scene_.lifted, .gpu = scene_.gpu}; }

  // The step with an advice's edits on top of a graph; absent where they cannot be applied.
  std::optional<Replayed> with_edits(const Graph& graph, const Advice& advice) {
    graph.copy_to(edited_);
    const auto effects = apply_edits(scene_of_edits(), advice.finding.edits, edited_);
    if (!effects) return std::nullopt;
    Replayed found;
    for (const EditEffect& effect : *effects) {
      found.optimistic = std::max(found.optimistic, effect.optimistic);
      found.pessimistic = std::min(found.pessimistic, effect.pessimistic);
      found.caveats.insert(found.caveats.end(), effect.caveats.begin(), effect.caveats.end());
    }
    replay(edited_, times_);
    found.step_ns = step_length(scene_.lifted, times_, windows_);
    return found;
  }

  const AdviceScene& scene_;
  const AdviceOptions options_;
  const std::vector<std::uint32_t> windows_;
  ReplayTimes times_;
  Graph edited_;  // of the advice that was looked at last
};

}  // namespace

AdviceList advise(const AdviceScene& scene, const AdviceOptions& options) {
  return Ranking(scene, options).rank();
}

}  // namespace stepscope
