#include "verbs/stepscope.h"

namespace stepscope {

std::string_view version() {
  return STEPSCOPE_VERSION;
}

}  // namespace stepscope
