// The HTML report: the page built from web/ with this run's data put in. One file that opens without a network.
#include <string>
#include <string_view>

#include "base/embedded.h"
#include "report/page_data.h"
#include "report/report.h"

namespace stepscope {

namespace {

constexpr std::string_view document_mark = "@@STEPSCOPE_DOCUMENT@@", columns_mark = "@@STEPSCOPE_COLUMNS@@";

std::string_view page_template() {
  for (const EmbeddedFile& file : embedded_templates()) {
    if (file.name == "report.html") return file.bytes;
  }
  return {};
}

constexpr std::string_view page_missing =
    "<!doctype html><meta charset=\"utf-8\"><title>Stepscope</title><p>This build of Stepscope was made without the page of its HTML report. Build it with "
    "<code>web/build.sh</code> and build Stepscope again, or use <code>--format text</code> or <code>--format json</code>.</p>\n";

}  // namespace

std::string html_report(const ReportInput& input) {
  const std::string_view page = page_template();
  const std::size_t document_at = page.find(document_mark), columns_at = page.rfind(columns_mark);
  if (document_at == std::string_view::npos || columns_at == std::string_view::npos || columns_at < document_at) return std::string(page_missing);
  const PageData data = pack_page_data(input);
  std::string html;
  html.reserve(page.size() + data.size());
  html += page.substr(0, document_at);
  html += data.document;
  html += page.substr(document_at + document_mark.size(), columns_at - document_at - document_mark.size());
  html += data.columns;
  html += page.substr(columns_at + columns_mark.size());
  return html;
}

}  // namespace stepscope
