// Files compiled into the program, so that it runs without an installation: machine descriptions, the HTML report's template.
#pragma once

#include <span>
#include <string_view>

namespace stepscope {

struct EmbeddedFile {
  std::string_view name;  // "h100-sxm.yaml"
  std::string_view bytes;
};

std::span<const EmbeddedFile> embedded_machines();   // data/machines/*.yaml
std::span<const EmbeddedFile> embedded_templates();  // report.html, built from web/

}  // namespace stepscope
