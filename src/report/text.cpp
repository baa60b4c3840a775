// The terminal report: verdict, bars, then the sections in the order in which an engineer asks. Sections of a job's many devices are shown for one of them
// (the slowest); all with -v.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"
#include "report/text_table.h"

namespace stepscope {

namespace {

// Sections whose place on the page is decided here; others follow by their prominence.
constexpr std::string_view page_order[] = {"slow_steps", "idle_by_cause", "kernels",          "short_kernels", "operators",   "work",    "mfu",
                                           "launches",   "queue",         "synchronisations", "copies",        "collectives", "modules", "memory"};
// Told by the bars and the steps, or long: only with -v.
constexpr std::string_view only_verbose[] = {"all", "call_tree", "kernels_by_short_name"};
constexpr std::string_view step_sections[] = {"step_times", "steps", "inferred_steps"};

std::size_t place_of(const Section& section) {
  const auto* found = std::find(std::begin(page_order), std::end(page_order), section.key);
  return static_cast<std::size_t>(found - std::begin(page_order));
}

bool is_shown(const Section& section, const TextOptions& options) {
  return options.verbosity > 0 || std::find(std::begin(only_verbose), std::end(only_verbose), section.key) == std::end(only_verbose);
}

std::vector<const Section*> in_page_order(const std::vector<const Section*>& sections) {
  std::vector<const Section*> sorted = sections;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Section* a, const Section* b) { return std::pair(place_of(*a), a->prominence) < std::pair(place_of(*b), b->prominence); });
  return sorted;
}

std::string file_name(const std::string& path) {
  if (path == "-") return "standard input";
  const std::string name = std::filesystem::path(path).filename().string();
  return printable(name.empty() ? path : name);
}

void write_sections(TextPage& page, const TextOptions& options, const RankFindings& rank, const DeviceFindings* device, bool with_rank,
                    std::string_view addition) {
  const Section* times = with_rank ? find_section(rank.sections, "step_times") : nullptr;
  const Section* steps = device != nullptr ? device_steps(*device) : nullptr;
  const Section* idle = device != nullptr ? find_section(device->sections, "idle_by_cause") : nullptr;
  if (times != nullptr || steps != nullptr) write_steps(page, options, times, steps, idle);
  std::vector<const Section*> sections;
  if (with_rank) {
    for (const Section& section : rank.sections) sections.push_back(&section);
  }
  if (device != nullptr) {
    for (const Section& section : device->sections) sections.push_back(&section);
  }
  for (const Section* section : in_page_order(sections)) {
    const bool told = std::ranges::find(step_sections, section->key) != std::end(step_sections);
    if (told || !is_shown(*section, options)) continue;
    // What the utilisation lacks is what the work before it lacks, and is said there.
    const bool says_nothing = section->summary.empty() && section->tables.empty() &&
                              std::ranges::all_of(section->figures, [](const Figure& figure) { return std::holds_alternative<std::monostate>(figure.value); });
    if (section->key == "mfu" && says_nothing) continue;
    if (section->key == "slow_steps") {
      write_slow_steps(page, options, *section);
    } else if (section->key == "work" || section->key == "mfu") {
      write_work(page, options, *section);
    } else if (section->key == "short_kernels") {
      write_short_kernels(page, options, *section);
    } else {
      write_section(page, options, *section, addition);
    }
  }
}

// "2 × NVIDIA H100 80GB HBM3, 1 × NVIDIA L4"; "1 × h100-sxm (not named in the trace)" for what --gpu or another device's description says.
std::string gpus_of(const Findings& findings) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  std::size_t devices = 0;
  for (const RankFindings& rank : findings.ranks) {
    for (const DeviceFindings& device : rank.devices) {
      ++devices;
      if (device.gpu_reported.empty() && device.gpu.empty()) continue;
      const std::string name = device.gpu_reported.empty() ? printable(device.gpu) + " (not named in the trace)" : printable(device.gpu_reported);
      const auto known = std::ranges::find(counts, name, &std::pair<std::string, std::size_t>::first);
      if (known == counts.end())
        counts.emplace_back(name, 1);
      else
        ++known->second;
    }
  }
  std::string text;
  for (const auto& [name, count] : counts) text += (text.empty() ? "" : ", ") + (devices > 1 ? fmt::format("{} × {}", count, name) : name);
  return text;
}

}  // namespace

void write_header(TextPage& page, const ReportInput& input) {
  const std::vector<Rank>& ranks = input.timeline.ranks;
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (!part.empty()) text += (text.empty() ? "" : " · ") + std::string(part);
  };
  std::uint64_t events = 0;
  for (const Rank& rank : ranks) events += rank.events;
  if (ranks.size() == 1) {
    add(file_name(ranks.front().file));
    add(ranks.front().world_size > 1 ? fmt::format("rank {} of {}", ranks.front().number, ranks.front().world_size) : "");
  } else if (!ranks.empty()) {
    add(fmt::format("{} files", ranks.size()));
    if (const std::vector<RankFindings>& shown = input.findings.ranks; !shown.empty()) {
      const auto [least, most] = std::ranges::minmax(shown, {}, &RankFindings::rank);
      const char* all = shown.size() == ranks.size() ? "all of " : "";
      add(least.rank == most.rank ? fmt::format("{}rank {}", all, least.rank) : fmt::format("ranks {} to {}", least.rank, most.rank));
    }
  }
  add(gpus_of(input.findings));
  add(fmt::format("{} event{} in {}", format_count(static_cast<std::int64_t>(events)), events == 1 ? "" : "s",
                  format_duration(std::llround(1e9 * (input.read_seconds + input.analysis_seconds)))));
  page.paragraph(text, 0, Ink::faint);
}

std::string text_report(const ReportInput& input, const TextOptions& options) {
  TextPage page(std::max(40, options.columns), options.colour, options.ascii);
  const Findings& findings = input.findings;
  const std::vector<DeviceTime> devices = device_times(findings);

  write_header(page, input);
  const bool health_first = health_comes_first(input);
  if (health_first) {
    page.line();
    page.paragraph(health_line(input), 0, Ink::warning);
  }
  page.line();
  write_verdict(page, input, devices);
  if (!health_first) page.paragraph(health_line(input));
  if (health_first) write_health(page, options, findings);

  if (const Section* advice = find_section(findings.sections, "advice")) write_advice(page, options, *advice);
  write_breakdown(page, options, devices);
  for (const Section& section : findings.sections) {
    if (section.key != "health" && section.key != "advice") write_section(page, options, section, "");
  }

  const std::size_t all = devices.size();
  const bool one_for_all = options.verbosity == 0 && (all > 1 || findings.ranks.size() > 1);
  const DeviceTime* shown = representative(devices);
  if (one_for_all && shown != nullptr) {
    page.line();
    page.paragraph(fmt::format("Below: {}, the one with the slowest step. Another one: --rank N; all of them: -v.", device_name(*shown, devices)), 0,
                   Ink::strong);
    write_sections(page, options, *shown->rank, shown->device, true, "");
  } else {
    for (const RankFindings& rank : findings.ranks) {
      if (one_for_all && &rank != &findings.ranks.front()) break;
      const std::string of_rank = findings.ranks.size() > 1 ? fmt::format(", rank {}", rank.rank) : "";
      for (std::size_t i = 0; i < std::max<std::size_t>(1, rank.devices.size()); ++i) {
        const DeviceFindings* device = i < rank.devices.size() ? &rank.devices[i] : nullptr;
        const std::string addition = rank.devices.size() > 1 ? fmt::format("{}, device {}", of_rank, printable(device->device)) : of_rank;
        write_sections(page, options, rank, device, i == 0, addition);
      }
    }
  }
  if (!health_first) write_health(page, options, findings);
  if (options.verbosity == 0) {
    page.line();
    page.line(page.paint(Ink::faint, "Everything: -v. In a browser: -o report.html."));
  }
  return std::move(page).finish();
}

}  // namespace stepscope
