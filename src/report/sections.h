// Reports of verbs whose whole answer is a list of sections (analyze/findings.h): the same words as text, JSON and one HTML page.
#pragma once

#include <string>
#include <vector>

#include "analyze/findings.h"
#include "report/report.h"

namespace stepscope {

struct SectionReport {
  std::string title;   // "stepscope whatif trace.json.gz"
  std::string schema;  // of the JSON: "stepscope.whatif/1"
  std::vector<Section> sections;
};

std::string sections_text(const SectionReport& report, const TextOptions& options);
// {"schema": …, "version": …, SECTION: …}; a section as in the JSON of analyze.
std::string sections_json(const SectionReport& report);
// Self-contained, without scripts; light or dark as the reader's system is.
std::string sections_html(const SectionReport& report);

}  // namespace stepscope
