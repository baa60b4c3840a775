// What the page knows, as JSON ("stepscope.page/1", read by web/src/data/): where it came from, all findings, and the frame of the timeline whose items
// travel apart (timeline_columns.h). Long texts stand once, in "strings"; a cell [7] means the eighth of them. Sections stand in one list; ranks and devices
// name theirs by number. Fractions keep ten digits.
#pragma once

#include <cstddef>
#include <string>

#include "report/report.h"
#include "report/timeline_columns.h"
#include "report/timeline_view.h"

namespace stepscope {

struct PageLimits {
  std::size_t table_rows = 3000;     // a table keeps its first rows; how many it had is said
  std::size_t text_bytes = 4000;     // longer texts end in "…"
  std::size_t memory_points = 1500;  // per series of memory over time
};

std::string page_document(const ReportInput& input, const TimelineView& view, const TimelineColumns& columns, const PageLimits& limits);

}  // namespace stepscope
