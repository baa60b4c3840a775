#include <gtest/gtest.h>

#include "base/text.h"
#include "report/hand_built.h"

namespace stepscope {
namespace {

using namespace hand_built;

constexpr std::int64_t ms = 1'000'000;

Case one_gpu() {
  Case c;
  const Times steady{.span = 400 * ms,
                     .compute = 244 * ms,
                     .communication = 110 * ms,
                     .exposed_communication = 88 * ms,
                     .exposed_memory = 4 * ms,
                     .host = 36 * ms,
                     .launch = 16 * ms,
                     .scheduling = 12 * ms};
  Times slow = steady;
  slow.span = 900 * ms;
  slow.host = 536 * ms;
  const Steps steps = {{902 * ms, slow}, {401 * ms, steady}, {399 * ms, steady}, {400 * ms, steady}};
  c.add_rank(0, {all_section(steady), idle_section(steady, steps), steps_section(steps, {3}), kernels_section()});
  c.findings.sections.push_back(health_section(false));
  return c;
}

TEST(TextReport, Look) {
  const Case c = one_gpu();
  printf("%s", text_report(c.input(), {.colour = false}).c_str());
}

}  // namespace
}  // namespace stepscope
