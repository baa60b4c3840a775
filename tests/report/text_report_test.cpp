#include <gtest/gtest.h>

#include <sstream>

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

// A 400 ms step whose parts are 61, 22, 9, 4, 1 and 3 percent; the page is compared word by word.
TEST(TextReport, PageOfOneDevice) {
  const Case c = one_gpu();
  const std::string expected = R"PAGE(rank0.json.gz · NVIDIA H100 80GB HBM3 · 12,345 events in 64.3 ms

Step 400 ms (mean of 3 steady steps): 61 % compute, 22 % exposed communication, 9 % waiting for the
host, 4 % launching, 1 % exposed copies, 3 % other idle.
Exposed communication costs 88.0 ms per step (22 %); 20 % of all communication is hidden behind
compute.
Longest on the device: vectorized_elementwise_kernel<CUDAFunctor_add<float>>, 90.0 ms in 1,200
launches, 45 % of all kernel and copy time.
Capture: nothing repaired, one thing worth knowing (at the end).

Where the time of a step goes: 400 ms on the device, mean of 3 steps ───────────────────────────────
  ████████████████████████████████████████████████████████████▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒░░░░░░░░░····
  █ compute                                    244 ms   61.0 %
  ▓ exposed communication                     88.0 ms   22.0 %  of 110 ms, 20 % hidden
  ▒ exposed copies                            4.00 ms    1.0 %
    idle                                      64.0 ms   16.0 %
  ░   waiting for the host                    36.0 ms    9.0 %
  ·   launching                               16.0 ms    4.0 %
      gaps between queued kernels             12.0 ms    3.0 %

Steps ──────────────────────────────────────────────────────────────────────────────────────────────
  Steps by ProfilerStep annotations.
  step 3     902 ms  ███████████████████▓▓▓▓▓▓▓░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░·   left out
  step 4     401 ms  ███████████████████▓▓▓▓▓▓▓░░░·
  step 5     399 ms  ███████████████████▓▓▓▓▓▓▓░░░·
  step 6     400 ms  ███████████████████▓▓▓▓▓▓▓░░░·

Idle time, by cause ────────────────────────────────────────────────────────────────────────────────
  host: framework and Python  36.0 ms

Kernels ────────────────────────────────────────────────────────────────────────────────────────────
    Kernel                                                 Count  Total ms   Share  Median ms
  █ vectorized_elementwise_kernel<CUDAFunctor_add<float>>  1,200      90.0  45.0 %      0.075
  █ ampere_bf16_s16816gemm_128x128_tn                         96      80.5  40.2 %      0.838
  ▓ ncclDevKernel_AllReduce_Sum_bf16_RING_LL                   7      29.5  14.8 %      4.200

Capture health ─────────────────────────────────────────────────────────────────────────────────────
  - No shapes were recorded (record_shapes=True), so no FLOPs are known.

Everything: -v. In a browser: -o report.html.
)PAGE";
  EXPECT_EQ(text_report(c.input(), {}), expected);
}

std::string line_with(const std::string& page, std::string_view part) {
  const std::size_t at = page.find(part);
  if (at == std::string::npos) return {};
  const std::size_t begin = page.rfind('\n', at) + 1;
  return page.substr(begin, page.find('\n', at) - begin);
}

TEST(TextReport, DamageIsToldBeforeTheFigures) {
  Case c = one_gpu();
  c.findings.sections = {health_section(true)};
  const std::string page = text_report(c.input(), {});
  const std::size_t damage = page.find("Capture: 1 kind of repair: truncated."), health = page.find("The file ends inside an event"),
                    verdict = page.find("Step 400 ms"), bars = page.find("Where the time of a step goes");
  ASSERT_NE(damage, std::string::npos);
  EXPECT_LT(damage, verdict);
  EXPECT_LT(verdict, health);
  EXPECT_LT(health, bars);
  EXPECT_NE(page.find("(first: byte 3813)"), std::string::npos);
}

TEST(TextReport, WithoutStepsTheWindowIsNamed) {
  Case c;
  const Times t{
      .span = 100 * ms, .compute = 90 * ms, .communication = 0, .exposed_communication = 0, .exposed_memory = 0, .host = 10 * ms, .launch = 0, .scheduling = 0};
  c.add_rank(0, {all_section(t), idle_section(t, {})});
  const std::string page = text_report(c.input(), {});
  EXPECT_NE(page.find("\nNo steps were marked; of the whole capture (100 ms) 90 % compute, 10 % waiting for the host.\n"), std::string::npos) << page;
  EXPECT_NE(page.find("The device waits 10.0 ms (10 %) for the host, which is mostly busy in framework and Python.\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\nCapture: health unknown.\n"), std::string::npos);
  EXPECT_EQ(page.find("communication"), std::string::npos);
}

// The shares speak of the device's part of the step, and the page says how small that is.
TEST(TextReport, ADeviceThatWorksForAPartOfTheStep) {
  Case c;
  const Times t{
      .span = 100 * ms, .compute = 100 * ms, .communication = 0, .exposed_communication = 0, .exposed_memory = 0, .host = 0, .launch = 0, .scheduling = 0};
  c.add_rank(0, {steps_section({{400 * ms, t}}, {3}), all_section(t)});
  const std::string page = text_report(c.input(), {});
  EXPECT_NE(
      page.find("\nStep 400 ms; on the device 100 ms: 100 % compute.\n300 ms of the step (75 %) lie before the device's first compute or after its last.\n"),
      std::string::npos)
      << page;
}

TEST(TextReport, WithoutADevice) {
  Case c;
  Section operators{.key = "operators",
                    .title = "Operators",
                    .summary = {},
                    .figures = {{"cpu_ns", "CPU time in operators", Unit::nanoseconds, ns(28 * ms)}},
                    .tables = {},
                    .caveats = {},
                    .prominence = 40};
  c.add_rank(0, {}, {operators});
  c.findings.sections.push_back(health_section(false));
  const std::string page = text_report(c.input(), {});
  EXPECT_NE(page.find("\nNo device activity in this trace; its operators took 28.0 ms of CPU time.\n"), std::string::npos) << page;
  EXPECT_EQ(page.find("Where the time"), std::string::npos);
}

// Rank r spends r % of its step waiting for the host: 20 ranks, of which the extremes are shown.
TEST(TextReport, ManyRanksAreCompressedToTheExtremes) {
  Case c;
  for (std::int64_t rank = 0; rank < 20; ++rank) {
    const Times t{.span = 100 * ms,
                  .compute = (100 - rank) * ms,
                  .communication = 0,
                  .exposed_communication = 0,
                  .exposed_memory = 0,
                  .host = rank * ms,
                  .launch = 0,
                  .scheduling = 0};
    const Steps steps = {{(100 + rank) * ms, t}};
    c.add_rank(rank, {all_section(t), idle_section(t, steps), steps_section(steps, {}), kernels_section()});
  }
  const std::string page = text_report(c.input(), {});
  EXPECT_NE(
      page.find(
          "\n20 devices, step 110 ms (100 ms in rank 0, 119 ms in rank 19); on the devices 100 ms: on average\n90 % compute, 10 % waiting for the host.\n"),
      std::string::npos)
      << page;
  EXPECT_NE(line_with(page, "  rank 19  "), "");
  EXPECT_NE(line_with(page, "  rank 0 "), "");
  EXPECT_EQ(line_with(page, "  rank 7 "), "");
  EXPECT_NE(page.find("… and 18 more between these"), std::string::npos) << page;
  EXPECT_NE(page.find("rank 19: slowest step, least compute, most idle"), std::string::npos) << page;
  EXPECT_NE(page.find("Below: rank 19, the one with the slowest step."), std::string::npos);
  const auto count = [](const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(page, "\nKernels "), 1u);  // of rank 19 alone
  EXPECT_EQ(count(text_report(c.input(), {.verbosity = 1}), "\nKernels, rank "), 20u);
}

TEST(TextReport, ANewQuestionShowsUpByItself) {
  Case c = one_gpu();
  Section news{.key = "brand_new",
               .title = "Something new",
               .summary = "A finding.",
               .figures = {{"answer", "The answer", Unit::bytes_per_second, 42e9}},
               .tables = {},
               .caveats = {"It is new"},
               .prominence = 60};
  news.tables.push_back({.key = "rows",
                         .title = "Rows",
                         .columns = {{"name", "Name"}, {"hidden", "Hidden", Unit::count, false}, {"time_ns", "Time", Unit::nanoseconds}},
                         .rows = {{std::string("first"), std::int64_t{7}, ns(2'000)}, {std::string("second"), std::int64_t{8}, ns(500)}}});
  c.findings.ranks.front().devices.front().sections.push_back(news);
  const std::string page = text_report(c.input(), {});
  EXPECT_NE(page.find("\nSomething new ─"), std::string::npos);
  EXPECT_NE(page.find("\n  A finding.\n  The answer  42.0 GB/s\n\n  Name    Time µs\n  first      2.00\n  second     0.50\n  Note: It is new\n"),
            std::string::npos)
      << page;
  EXPECT_NE(text_report(c.input(), {.verbosity = 1}).find("Hidden"), std::string::npos);
}

TEST(TextReport, RowsBeyondTopAreSummedUp) {
  Case c = one_gpu();
  const std::string page = text_report(c.input(), {.top = 1});
  EXPECT_NE(page.find("  … and 2 more, 110 ms\n"), std::string::npos) << page;
}

TEST(TextReport, HostileNamesStayInTheirCells) {
  const std::string hostile[] = {std::string(5'000, 'x'),
                                 "\x1b[31mred\x1b[0m\r\n",
                                 "\u202Eright to left",
                                 std::string(300, '\n'),
                                 "\xFF\xFE\x80 broken",
                                 "\u6838\u51FD\u6570\u6838\u51FD\u6570\u6838\u51FD\u6570\u6838\u51FD\u6570\u6838\u51FD\u6570\u6838\u51FD\u6570\u6838\u51FD"
                                 "\u6570\u6838\u51FD\u6570\u6838\u51FD\u6570\u6838\u51FD\u6570",
                                 "void a::b<" + std::string(400, '<') + ">(int)",
                                 std::string("nul\0inside", 10),
                                 ""};
  Case c = one_gpu();
  Section kernels = kernels_section();
  for (const std::string& name : hostile) kernels.tables.front().rows.push_back({name, name, std::string("compute"), std::int64_t{1}, ns(1), 0.0, ns(1)});
  kernels.summary = hostile[1] + hostile[0];
  kernels.caveats = {hostile[2], hostile[0]};
  c.findings.ranks.front().devices.front().sections.back() = kernels;
  c.findings.ranks.front().devices.front().gpu_reported = hostile[1];
  c.findings.ranks.front().devices.front().device = hostile[0];
  c.timeline.ranks.front().file = "dir/" + hostile[1];
  for (const int columns : {100, 60}) {
    for (const int verbosity : {0, 1}) {
      std::istringstream lines(text_report(c.input(), {.columns = columns, .top = 100, .verbosity = verbosity}));
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(display_width(line), columns) << line;
        EXPECT_EQ(printable(line), line);
      }
    }
  }
}

}  // namespace
}  // namespace stepscope
