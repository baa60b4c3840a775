// The public library: one function per verb. app/ and the Python module call these and nothing else.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "advise/advise.h"
#include "analyze/findings.h"
#include "base/error.h"
#include "base/progress.h"
#include "facts/facts.h"
#include "lift/lift.h"
#include "simulate/replay.h"
#include "timeline/timeline.h"

namespace stepscope {

std::string_view version();  // "0.1.0"

struct AnalyzeOptions {
  std::vector<std::string> paths;    // files, directories of ranks, "-"
  std::string steps = "all";         // "all", "last", "5", "3-5"
  std::optional<std::int64_t> rank;  // only this rank
  std::string gpu;                   // name or file; "" = as the trace says
  std::string patterns_file;         // YAML of KernelPattern; "" = none
  int threads = 0;                   // 0 = one per core
  Progress* progress = nullptr;
};

// Everything a report needs. The timeline is kept because the HTML report draws it.
struct Analysis {
  Timeline timeline;
  Facts facts;
  // The graph of what must happen, with the times of its replay; empty where there is nothing to analyse.
  Lifted lifted;
  ReplayTimes times;
  AdviceList advice;  // ranked; its rules are valid for the program's life
  Findings findings;  // of which section "advice" says the same
  // Set where a readable input holds nothing to analyse: why, and what to do about it. The findings then say only what is known of the capture (its health);
  // exit code 3.
  std::optional<Error> nothing_to_analyse;
  double read_seconds = 0, analysis_seconds = 0;
};

// Errors: unusable input or bad options (exit 2). Of a readable input with nothing to analyse in it, an Analysis that says so.
Result<Analysis> analyze(const AnalyzeOptions& options);

struct WhatIfOptions {
  std::vector<std::string> paths;  // files, directories of ranks, "-"
  std::vector<std::string> edits;  // "scale name=gemm* by=0.5" (edit/edit.h, docs/whatif.md); applied in order
  std::string edits_file;          // YAML of edits, applied before these; "" = none
  std::string gpu;                 // that the trace ran on, name or file; "" = as the trace says
  int threads = 0;                 // 0 = one per core
  Progress* progress = nullptr;
};

// What changes of a run, and what of it, with what was asked: sections "step", "edits", "moved", "critical_path" (docs/whatif.md).
struct WhatIf {
  std::vector<Section> sections;
  std::optional<Error> nothing_to_analyse;  // as in Analysis
  double read_seconds = 0, analysis_seconds = 0;
};

// Errors: unusable input, edits that are not understood or make no sense for this run.
Result<WhatIf> what_if(const WhatIfOptions& options);

struct ExportOptions {
  std::vector<std::string> paths;  // files, directories of ranks, "-"
  std::string format = "chrome";   // name of a Writer (write/writer.h)
  bool critical_path = true;       // drawn in, where the format can hold it
  bool compress = false;           // as gzip
  int threads = 0;                 // 0 = one per core
  Progress* progress = nullptr;
};
// Reads the traces and writes them in another tool's format, piece by piece. Errors: unusable input, an unknown format, and those of the sink.
Result<void> export_timeline(const ExportOptions& options, const std::function<Result<void>(std::string_view)>& sink);

}  // namespace stepscope
