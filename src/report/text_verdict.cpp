// The first lines of the page: what a step costs and where it goes, then what stands out most. Only what the findings hold is said; every sentence is true
// of the capture at hand (no steps, no device activity, several ranks).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"

namespace stepscope {

namespace {

constexpr double least_share = 0.005;           // smaller parts are left to "other idle"
constexpr double notable_loss = 0.05;           // of the time, for a loss to be what stands out
constexpr double notable_kernel = 0.2;          // of the compute time
constexpr std::size_t devices_first_rows = 20;  // kernels of each device that may be the longest of all
constexpr double notable_difference = 0.03;     // between the host's step time and the device's
constexpr double notable_slowness = 0.1;        // of a step's time, for a slow step to be told
constexpr double notable_outside = 0.2;         // of the step, without the device
constexpr double notable_spread = 0.02;         // of the step time, for its range to be told

std::string duration(double nanoseconds) {
  return format_duration(static_cast<Nanoseconds>(std::llround(nanoseconds)));
}

// The mean over devices, for the sentence about a job of several.
DeviceTime mean_of(const std::vector<DeviceTime>& devices) {
  if (devices.size() == 1) return devices.front();
  DeviceTime mean;
  const double n = static_cast<double>(devices.size());
  for (const DeviceTime& d : devices) {
    mean.span += d.span / n;
    mean.compute += d.compute / n;
    mean.communication += d.communication / n;
    mean.exposed_communication += d.exposed_communication / n;
    mean.exposed_memory += d.exposed_memory / n;
    mean.idle += d.idle / n;
    mean.step_time += d.step_time / n;
    for (const auto& cause : d.causes) {
      auto known = std::find_if(mean.causes.begin(), mean.causes.end(), [&](const auto& c) { return c.key == cause.key; });
      if (known == mean.causes.end()) known = mean.causes.insert(known, {cause.key, cause.name, cause.ink, 0});
      known->time += cause.time / n;
    }
  }
  std::stable_sort(mean.causes.begin(), mean.causes.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return mean;
}

// "61 % compute, 22 % exposed communication, 9 % waiting for the host, 3 % other idle"
std::string shares(const DeviceTime& d) {
  struct Part {
    std::string name;
    double time;
  };
  std::vector<Part> parts = {{"compute", d.compute}, {"exposed communication", d.exposed_communication}, {"exposed copies", d.exposed_memory}};
  double rest = d.idle;
  for (const auto& cause : d.causes) {
    if (cause.ink == Ink::other && d.share(cause.time) < notable_loss) continue;
    parts.push_back({cause.name, cause.time});
    rest -= cause.time;
  }
  std::stable_sort(parts.begin() + 1, parts.end(), [](const Part& a, const Part& b) { return a.time > b.time; });
  parts.push_back({d.causes.empty() ? "idle" : "other idle", rest});
  std::string text;
  for (const Part& part : parts) {
    if (d.share(part.time) < least_share && part.name != "compute") continue;
    text += (text.empty() ? "" : ", ") + format_percent(d.share(part.time)) + " " + part.name;
  }
  return text;
}

bool device_differs(const DeviceTime& d) {
  return std::fabs(d.span - d.step_time) > notable_difference * d.step_time;
}

// "mean of 4 steady steps, 76.3 ms to 78.5 ms"; "" where there is only one step.
std::string about_steps(const DeviceTime& d) {
  const char* inferred = d.inferred ? "inferred " : "";
  if (d.counted > 1) {
    std::string text = fmt::format("mean of {} {}{}steps", d.counted, d.steady && d.counted < d.steps ? "steady " : "", inferred);
    if (d.longest_step - d.shortest_step > notable_spread * d.step_time) text += fmt::format(", {} to {}", duration(d.shortest_step), duration(d.longest_step));
    return text;
  }
  if (d.steps > 1)
    return d.steady ? fmt::format("the one steady {}step of {}", d.inferred ? "inferred " : "", d.steps) : fmt::format("one of {} {}steps", d.steps, inferred);
  return d.inferred ? "inferred" : "";
}

std::string in_parentheses(const std::string& text) {
  return text.empty() ? text : " (" + text + ")";
}

std::string mfu_of(const std::vector<DeviceTime>& devices) {
  double sum = 0;
  std::size_t known = 0;
  for (const DeviceTime& d : devices) {
    if (!d.mfu) continue;
    sum += *d.mfu;
    ++known;
  }
  return known == devices.size() && known > 0 ? fmt::format("; MFU {}", format_percent(sum / static_cast<double>(known), true)) : "";
}

std::string one_device_verdict(const DeviceTime& d, const std::vector<DeviceTime>& all) {
  if (d.step_time > 0) {
    const std::string device = device_differs(d) ? fmt::format("; on the device {}", duration(d.span)) : "";
    return fmt::format("Step {}{}{}: {}{}.", duration(d.step_time), in_parentheses(about_steps(d)), device, shares(d), mfu_of(all));
  }
  return fmt::format("No steps were marked; of the whole capture ({}) {}{}.", duration(d.span), shares(d), mfu_of(all));
}

std::string several_devices_verdict(const std::vector<DeviceTime>& devices) {
  const DeviceTime mean = mean_of(devices);
  const bool all_have_steps = std::all_of(devices.begin(), devices.end(), [](const DeviceTime& d) { return d.step_time > 0; });
  const auto slower = [](const DeviceTime& a, const DeviceTime& b) { return a.step_time < b.step_time; };
  std::string text = fmt::format("{} devices", devices.size());
  if (all_have_steps) {
    text += fmt::format(", step {}", duration(mean.step_time));
    const auto [fastest, slowest] = std::minmax_element(devices.begin(), devices.end(), slower);
    if (slowest->step_time - fastest->step_time > notable_spread * mean.step_time) {
      text += fmt::format(" ({} in {}, {} in {})", duration(fastest->step_time), device_name(*fastest, devices), duration(slowest->step_time),
                          device_name(*slowest, devices));
    }
    if (device_differs(mean)) text += fmt::format("; on the devices {}", duration(mean.span));
    text += ": on average ";
  } else {
    text += fmt::format("; steps were not marked on all of them. Of the {} on average, ", duration(mean.span));
  }
  return text + shares(mean) + mfu_of(devices) + ".";
}

std::string no_device_verdict(const Findings& findings) {
  std::string text = "No device activity in this trace";
  for (const RankFindings& rank : findings.ranks) {
    const Section* operators = find_section(rank.sections, "operators");
    if (const auto cpu = figure(operators, "cpu_ns"); cpu && *cpu > 0) {
      text += fmt::format("; its operators took {} of CPU time{}", duration(*cpu), findings.ranks.size() > 1 ? fmt::format(" in rank {}", rank.rank) : "");
      break;
    }
  }
  return text + ".";
}

// ", mostly in framework and Python": from the split of the host's part of the idle time.
std::string what_the_host_did(const std::vector<DeviceTime>& devices) {
  struct Activity {
    const char* key;
    const char* words;
  };
  static constexpr Activity activities[] = {{"host_data_loading_ns", "which mostly loads data"},
                                            {"host_synchronisation_ns", "which mostly waits in synchronisations"},
                                            {"host_framework_ns", "which is mostly busy in framework and Python"},
                                            {"host_other_ns", "of which mostly nothing is recorded meanwhile"}};
  double all = 0, most = 0;
  const char* words = nullptr;
  for (const Activity& activity : activities) {
    double time = 0;
    for (const DeviceTime& d : devices) time += figure(find_section(d.device->sections, "idle_by_cause"), activity.key).value_or(0);
    all += time;
    if (time > most) {
      most = time;
      words = activity.words;
    }
  }
  return words != nullptr && most > 0.5 * all ? fmt::format(", {}", words) : "";
}

std::string_view other_cause(std::string_view key) {
  if (key == "graph_ns") return "in gaps inside CUDA/HIP graphs";
  if (key == "unlinked_ns") return "before work without a launch record";
  if (key == "dependency_ns") return "while queued work waits for other work";
  if (key == "scheduling_ns") return "between queued kernels";
  return "although work was queued, for a reason that the trace does not show";
}

struct Standout {
  double loss = 0;  // ns of the mean step or window
  std::string text;
};

// The largest loss of time, and what is known about it.
Standout largest_loss(const std::vector<DeviceTime>& devices) {
  const DeviceTime mean = mean_of(devices);
  const std::string per = mean.step_time > 0 ? " per step" : "";
  const char* subject = devices.size() > 1 ? "The devices" : "The device";
  const char* s = devices.size() > 1 ? "" : "s";
  Standout best;
  const auto offer = [&](double loss, std::string text) {
    if (loss > best.loss) best = {loss, std::move(text)};
  };
  const auto with_share = [&](double time) { return fmt::format("{}{} ({})", duration(time), per, format_percent(mean.share(time))); };
  if (mean.exposed_communication > 0) {
    offer(mean.exposed_communication, fmt::format("Exposed communication costs {}; {} of all communication is hidden behind compute.",
                                                  with_share(mean.exposed_communication), format_percent(1 - mean.exposed_communication / mean.communication)));
  }
  if (mean.exposed_memory > 0)
    offer(mean.exposed_memory, fmt::format("{} wait{} {} for copies that nothing hides.", subject, s, with_share(mean.exposed_memory)));
  for (const auto& cause : mean.causes) {
    if (cause.key == "host_ns") {
      offer(cause.time, fmt::format("{} wait{} {} for the host{}.", subject, s, with_share(cause.time), what_the_host_did(devices)));
    } else if (cause.key == "launch_ns") {
      offer(cause.time,
            fmt::format("{} wait{} {} for work whose launch call has begun: long launch calls, or the way to the device.", subject, s, with_share(cause.time)));
    } else {
      offer(cause.time, fmt::format("{} {} idle {} {}.", subject, devices.size() > 1 ? "are" : "is", with_share(cause.time), other_cause(cause.key)));
    }
  }
  return mean.share(best.loss) >= notable_loss ? best : Standout{};
}

// The kernel that ran longest, over all devices.
std::string largest_kernel(const std::vector<DeviceTime>& devices) {
  struct Kernel {
    double time = 0, count = 0;
  };
  std::map<std::string, Kernel> kernels;
  double total = 0;
  for (const DeviceTime& d : devices) {
    const Section* section = find_section(d.device->sections, "kernels");
    const Table* table = section != nullptr ? section->table("kernels") : nullptr;
    if (table == nullptr) continue;
    for (std::size_t row = 0; row < table->rows.size(); ++row) {
      const double time = cell(*table, row, "total_ns").value_or(0);
      total += time;
      if (row >= devices_first_rows) continue;
      Kernel& kernel = kernels[text_cell(*table, row, column_of(*table, "short_name") ? "short_name" : "name")];
      kernel.time += time;
      kernel.count += cell(*table, row, "count").value_or(0);
    }
  }
  const auto longest = std::ranges::max_element(kernels, {}, [](const auto& entry) { return entry.second.time; });
  if (longest == kernels.end() || total <= 0 || longest->second.time / total < notable_kernel) return {};
  const std::string launches = longest->second.count == 1 ? "one launch" : format_count(std::llround(longest->second.count)) + " launches";
  return fmt::format("Longest on the device{}: {}, {} in {}, {} of all kernel and copy time.", devices.size() > 1 ? "s" : "",
                     shorten_middle(longest->first, 60), duration(longest->second.time), launches, format_percent(longest->second.time / total));
}

// The step inside the capture that is farthest above the others, and what made it so.
std::string slowest_step(const std::vector<DeviceTime>& devices) {
  struct Slow {
    const DeviceTime* device = nullptr;
    double difference = 0;
    std::string step, mostly;
  };
  Slow slowest;
  for (const DeviceTime& d : devices) {
    const Section* steps = device_steps(*d.device);
    const Section* section = find_section(d.device->sections, "slow_steps");
    const Table* slow = section != nullptr ? section->table("steps") : nullptr;
    if (steps == nullptr || slow == nullptr || !d.steady) continue;
    const Table& all = steps->tables.front();
    for (std::size_t row = 1; row + 1 < all.rows.size(); ++row) {
      if (!is_outlier(all, row)) continue;
      const std::string step = text_cell(all, row, "step");
      for (std::size_t other = 0; other < slow->rows.size(); ++other) {
        const double difference = cell(*slow, other, "difference_ns").value_or(0);
        if (text_cell(*slow, other, "step") != step || difference <= std::max(slowest.difference, notable_slowness * d.span)) continue;
        slowest = {&d, difference, step, text_cell(*slow, other, "mostly")};
      }
    }
  }
  if (slowest.device == nullptr) return {};
  return fmt::format("Step {}{} took {} ({}) longer than the median step, mostly: {}.", slowest.step,
                     devices.size() > 1 ? " of " + device_name(*slowest.device, devices) : "", duration(slowest.difference),
                     format_percent(slowest.difference / slowest.device->span), shorten_middle(slowest.mostly, 60));
}

// Without steps, one collective that waited for other ranks' profilers can be most of the window.
std::string start_transients(const ReportInput& input, const std::vector<DeviceTime>& devices) {
  double waited = 0, window = 0;
  for (const SliceId id : input.facts.start_transients) waited += static_cast<double>(input.timeline.slices.duration[id]);
  for (const DeviceTime& d : devices) window += d.steps == 0 ? d.span : 0;
  if (window <= 0 || waited < notable_loss * window) return {};
  return fmt::format("{} of this is communication that waited for other ranks to start their profiler: no steady state.", duration(waited));
}

// Where a step is much longer than the device's part of it, the shares speak of the small part.
std::string outside_of_device(const DeviceTime& d) {
  const double outside = d.step_time - d.span;
  if (d.step_time <= 0 || outside < notable_outside * d.step_time) return {};
  return fmt::format("{} of the step ({}) lie before the device's first compute or after its last.", duration(outside), format_percent(outside / d.step_time));
}

}  // namespace

void write_verdict(TextPage& page, const ReportInput& input, const std::vector<DeviceTime>& devices) {
  std::string verdict;
  if (devices.empty()) {
    verdict = no_device_verdict(input.findings);
  } else {
    verdict = devices.size() == 1 ? one_device_verdict(devices.front(), devices) : several_devices_verdict(devices);
  }
  page.paragraph(verdict, 0, Ink::strong);
  if (const std::string transients = start_transients(input, devices); !transients.empty()) page.paragraph(transients);
  if (devices.size() == 1) {
    if (const std::string outside = outside_of_device(devices.front()); !outside.empty()) page.paragraph(outside);
  }
  if (const Standout loss = largest_loss(devices); !loss.text.empty()) page.paragraph(loss.text);
  if (const std::string slow = slowest_step(devices); !slow.empty()) page.paragraph(slow);
  if (const std::string kernel = largest_kernel(devices); !kernel.empty()) page.paragraph(kernel);
}

}  // namespace stepscope
