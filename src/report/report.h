// What people read: one function per form. They take the parts of an Analysis (verbs/stepscope.h), because report/ comes before verbs/.
#pragma once

#include <string>

#include "analyze/findings.h"
#include "facts/facts.h"
#include "lift/lift.h"
#include "simulate/replay.h"
#include "timeline/timeline.h"

namespace stepscope {

struct ReportInput {
  const Timeline& timeline;
  const Facts& facts;
  const Findings& findings;
  double read_seconds = 0, analysis_seconds = 0;
  // The page draws the critical path where they are given.
  const Lifted* lifted = nullptr;
  const ReplayTimes* times = nullptr;
};

struct TextOptions {
  int columns = 100;    // never wider
  bool colour = false;  // only on a terminal
  bool ascii = false;   // no box drawing or block characters
  int top = 10;         // rows per table
  int verbosity = 0;    // 1 (-v): every section with every column
};

std::string text_report(const ReportInput& input, const TextOptions& options);
// Schema "stepscope.analysis/1": docs/analysis-schema.md.
std::string json_report(const ReportInput& input);
// One self-contained page.
std::string html_report(const ReportInput& input);

}  // namespace stepscope
