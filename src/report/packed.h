// Bytes as text that a page can carry and a browser can undo without a library: gzip in base64.
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

std::string gzip_base64(std::string_view bytes);

}  // namespace stepscope
