// From bytes to reports: read, derive, every question, text, JSON and HTML. Any input ends in reports or an Error; the JSON is JSON.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "expect.h"
#include "report/report.h"
#include "verbs/stepscope.h"

namespace {

// Whether text is one whole JSON value: brackets and strings only, which is what a report can get wrong.
bool is_closed_json(std::string_view text) {
  std::string open;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != c) return false;
      open.pop_back();
    } else if (c == 'i' || c == 'I' || c == 'N' || (c == 'n' && text.substr(i, 4) != "null")) {
      return false;  // no inf, Infinity, NaN or nan
    }
  }
  return open.empty() && !in_string;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const int file = ::memfd_create("fuzz", MFD_CLOEXEC);
  expect(file >= 0 && ::write(file, data, size) == static_cast<ssize_t>(size), "no file in memory");
  AnalyzeOptions options;
  options.paths = {"/proc/self/fd/" + std::to_string(file)};
  options.threads = 1;
  const auto analysis = analyze(options);
  ::close(file);
  if (!analysis) {
    expect(!analysis.error().problem.empty(), "an error without a problem");
    return 0;
  }
  expect_sound(analysis->timeline);
  const ReportInput input{analysis->timeline, analysis->facts, analysis->findings, 0, 0};
  expect(is_closed_json(json_report(input)), "the JSON report is no JSON");
  expect(!text_report(input, {}).empty(), "an empty text report");
  (void)html_report(input);
  return 0;
}
