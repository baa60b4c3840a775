// The parts of the terminal page, one file each (text_*.cpp), in the order in which text.cpp puts them together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/findings.h"
#include "base/time.h"
#include "report/report.h"
#include "report/text_page.h"

namespace stepscope {

// What one device's sections say about its time, gathered for the verdict and the bars. Times are means per steady step where steps are known (first, last
// and outlying ones left out, unless there are no others), else of the asked window.
struct DeviceTime {
  const RankFindings* rank = nullptr;
  const DeviceFindings* device = nullptr;
  double span = 0, compute = 0, communication = 0, exposed_communication = 0, exposed_memory = 0, idle = 0;  // ns
  struct IdleCause {
    std::string key;   // "host_ns"
    std::string name;  // "waiting for the host"
    Ink ink = Ink::other;
    double time = 0;  // ns
  };
  std::vector<IdleCause> causes;                              // partition of idle where known, largest first; else empty
  std::size_t steps = 0;                                      // known on this device; 0 = the times are of the window
  std::size_t counted = 0;                                    // of those, the ones that the means are of
  bool steady = false;                                        // whether those are the steady ones
  bool inferred = false;                                      // nothing in the trace marks them
  double step_time = 0, shortest_step = 0, longest_step = 0;  // ns, on the host, of the counted ones; step_time is the mean; 0 = not known
  std::optional<double> mfu;

  double cause(std::string_view key) const;
  double share(double time) const { return span > 0 ? time / span : 0; }
};

// One entry per device with activity.
std::vector<DeviceTime> device_times(const Findings& findings);

// The device whose sections stand for all: the slowest step, else the longest window; null = there is none.
const DeviceTime* representative(const std::vector<DeviceTime>& devices);

// Figures and cells by key; nullopt where they are absent or no numbers.
std::optional<double> figure(const Section* section, std::string_view key);
std::optional<std::size_t> column_of(const Table& table, std::string_view key);
std::optional<double> cell(const Table& table, std::size_t row, std::string_view key);
std::string text_cell(const Table& table, std::size_t row, std::string_view key);

// Whether a step is left out of the means (the first, the last, one far from the median).
bool is_outlier(const Table& steps, std::size_t row);

// "rank 3"; "rank 3, device 1" where ranks have several devices; "device 1" where there is one rank.
std::string device_name(const DeviceTime& device, const std::vector<DeviceTime>& all);

void write_header(TextPage& page, const ReportInput& input);
void write_verdict(TextPage& page, const ReportInput& input, const std::vector<DeviceTime>& devices);
// The ranked changes (section "advice"); nothing where there are none.
void write_advice(TextPage& page, const TextOptions& options, const Section& section);
void write_breakdown(TextPage& page, const TextOptions& options, const std::vector<DeviceTime>& devices);
// The device's steps: the section "steps", or "inferred_steps" where nothing in the trace marks them; null = none.
const Section* device_steps(const DeviceFindings& device);
// `times` (the rank's) may be null, `steps` (the device's) too, not both; `idle` (the device's idle time by cause) may be null.
void write_steps(TextPage& page, const TextOptions& options, const Section* times, const Section* steps, const Section* idle);
// What made the slowest step slow; the other slow ones in a line.
void write_slow_steps(TextPage& page, const TextOptions& options, const Section& section);
// The work of operators against what the GPU can do, with the achieved rate that bounds each.
void write_work(TextPage& page, const TextOptions& options, const Section& section);
// How many kernels, and how much of their time, are shorter than 5, 10 and 20 µs.
void write_short_kernels(TextPage& page, const TextOptions& options, const Section& section);
// A section that nobody prepared for: its summary, figures, tables and caveats.
void write_section(TextPage& page, const TextOptions& options, const Section& section, std::string_view title_addition);
// The same without the heading and the summary.
void write_section_body(TextPage& page, const TextOptions& options, const Section& section);
// One line, for the top of the page.
std::string health_line(const ReportInput& input);
// Whether the health says that the figures are partial or doubtful, so that it must be read before them.
bool health_comes_first(const ReportInput& input);
void write_health(TextPage& page, const TextOptions& options, const Findings& findings);

}  // namespace stepscope
