// Sections as members of a JSON object, the same in every report (json.cpp).
#pragma once

#include <vector>

#include "analyze/findings.h"
#include "base/json_writer.h"

namespace stepscope {

// "KEY": {figures, tables, summary, caveats} of each, into the object that is open.
void write_json_sections(JsonWriter& json, const std::vector<Section>& sections);

}  // namespace stepscope
