// What the program puts into the page of the HTML report, packed within a budget: 200 KB or 2 % of the raw trace, whichever is more (and never above 8 MB).
// It is kept by drawing fewer slices one by one and by cutting long tables and names, never by changing a figure; what was cut is said in the data.
#pragma once

#include <cstdint>
#include <string>

#include "report/report.h"

namespace stepscope {

struct PageData {
  std::string document;  // page_document.h, as gzip in base64
  std::string columns;   // timeline_columns.h, as gzip in base64
  std::uint64_t size() const { return document.size() + columns.size(); }
};

PageData pack_page_data(const ReportInput& input);

}  // namespace stepscope
