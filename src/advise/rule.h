// The seam of advise/: one file per rule, each defining `extern const Rule NAME_rule`. CMake collects them into all_rules().
//
// A rule recognises one bottleneck in what a trace shows, with a guard against what only looks like it; it builds the edit that stands for its fix, and the
// gain is what a replay of the edited graph saves (never a guess). advise.h ranks them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "edit/edit.h"
#include "simulate/replay.h"

namespace stepscope {

// What a rule may look at: everything that is known of the run.
struct AdviceScene {
  const Timeline& timeline;
  const Facts& facts;
  const Lifted& lifted;
  const ReplayTimes& times;  // of the unedited graph
  const Gpu* gpu = nullptr;  // null = unknown
};

enum class Confidence : std::uint8_t { low, medium, high };
std::string_view confidence_name(Confidence confidence);

// How to do it in one framework or library.
struct Change {
  std::string_view framework;  // "PyTorch", "Megatron-LM", "torchtitan", "DeepSpeed", "NCCL", "environment"
  enum class Form : std::uint8_t { code, flag, environment } form = Form::code;
  std::string text;  // "DataLoader(..., num_workers=4)", "--overlap-grad-reduce", "NCCL_MIN_CTAS=16"
};

std::string_view change_form_name(Change::Form form);  // "code"

// One bottleneck found.
struct Finding {
  std::string title;              // "Exposed gradient all-reduce"
  std::string observation;        // what was seen, with figures: one or two sentences
  std::vector<SliceId> evidence;  // a few slices that show it, the most telling first
  std::vector<Edit> edits;        // the fix in the graph's terms; empty = the gain cannot be told from this trace (say why in `unknown`)
  std::vector<Change> changes;    // how to do it
  Confidence confidence = Confidence::medium;
  std::string would_settle;  // what data would make it certain; "" = nothing more is needed
  std::string unknown;       // why no gain can be told
};

struct Rule {
  std::string_view name;    // as in the list of bottlenecks: "data.loader_stall"
  std::string_view help;    // the bottleneck in one line
  std::string_view guard;   // what it must not be confused with
  std::string_view source;  // of the threshold: a document, or "ours"
  std::vector<Finding> (*detect)(const AdviceScene& scene);
};
std::span<const Rule* const> all_rules();  // generated; in order of name

}  // namespace stepscope
