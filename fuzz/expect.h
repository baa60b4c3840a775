// What must hold for every input: a broken expectation is a finding, as a crash is.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "timeline/check.h"

namespace stepscope {

inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FINDING: %s\n", what);
  std::abort();
}

inline void expect_sound(const Timeline& timeline) {
  for (const std::string& violation : check(timeline)) expect(false, violation.c_str());
}

}  // namespace stepscope
