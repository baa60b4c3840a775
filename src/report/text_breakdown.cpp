// The breakdown of time as bars. One device: one bar over the page and its parts below. Several: one bar each; many: the extremes and the rest in a line.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"
#include "report/format.h"
#include "report/text_parts.h"

namespace stepscope {

namespace {

constexpr std::size_t most_bars = 16;

std::vector<BarPart> parts_of(const DeviceTime& d) {
  std::vector<BarPart> parts = {{d.compute, Ink::compute}, {d.exposed_communication, Ink::communication}, {d.exposed_memory, Ink::memory}};
  double named = 0;
  for (const Ink ink : {Ink::host, Ink::launch}) {
    double time = 0;
    for (const auto& cause : d.causes) time += cause.ink == ink ? cause.time : 0;
    parts.push_back({time, ink});
    named += time;
  }
  parts.push_back({std::max(0.0, d.idle - named), Ink::other});
  return parts;
}

void write_legend(TextPage& page, const std::vector<DeviceTime>& devices) {
  struct Entry {
    Ink ink;
    const char* name;
  };
  static constexpr Entry entries[] = {{Ink::compute, "compute"},
                                      {Ink::communication, "exposed communication"},
                                      {Ink::memory, "exposed copies"},
                                      {Ink::host, "host"},
                                      {Ink::launch, "launching"}};
  std::vector<std::pair<std::string, std::string>> shown;  // glyph and name
  for (const Entry& entry : entries) {
    const bool there = std::any_of(devices.begin(), devices.end(), [&](const DeviceTime& d) {
      const std::vector<BarPart> parts = parts_of(d);
      return std::any_of(parts.begin(), parts.end(), [&](const BarPart& part) { return part.ink == entry.ink && part.length > 0; });
    });
    if (there) shown.emplace_back(bar_glyph(page, entry.ink), entry.name);
  }
  shown.emplace_back("blank:", "other idle");
  std::string line = "  ";
  int width = 2;
  for (const auto& [glyph, name] : shown) {
    const int needed = (glyph == "blank:" ? 7 : 2) + display_width(name);
    if (width > 2 && width + needed > page.columns()) {
      page.line(line);
      line = "  ";
      width = 2;
    }
    line.append(glyph).append(" ").append(name).append("  ");
    width += needed + 2;
  }
  page.line(line);
}

void write_part(TextPage& page, int depth, std::string_view name, double time, double span, std::string_view remark, Ink ink) {
  const std::string glyph = ink == Ink::plain ? " " : bar_glyph(page, ink);
  const int width = std::min(40, page.columns() - 24);
  const std::string label = pad_right(shorten_end(std::string(static_cast<std::size_t>(2 * depth), ' ') + std::string(name), width), width);
  const std::string line =
      fmt::format("  {} {}{}  {}", glyph, label, pad_left(format_value(time, Unit::nanoseconds), 9), pad_left(format_value(time / span, Unit::ratio), 7));
  page.line(line + (width + 24 + display_width(remark) <= page.columns() ? "  " + page.paint(Ink::faint, remark) : ""));
}

void write_one(TextPage& page, const DeviceTime& d) {
  page.line("  " + bar(page, parts_of(d), d.span, page.columns() - 2));
  write_part(page, 0, "compute", d.compute, d.span, "", Ink::compute);
  if (d.communication > 0) {
    const double hidden = 1 - d.exposed_communication / d.communication;
    write_part(page, 0, "exposed communication", d.exposed_communication, d.span,
               fmt::format("of {}, {} hidden", format_value(d.communication, Unit::nanoseconds), format_percent(hidden)), Ink::communication);
  }
  if (d.exposed_memory > 0) write_part(page, 0, "exposed copies", d.exposed_memory, d.span, "", Ink::memory);
  if (d.idle > 0) write_part(page, 0, "idle", d.idle, d.span, "", Ink::plain);
  for (const auto& cause : d.causes) {
    const std::string name = cause.name.starts_with("idle ") ? cause.name.substr(5) : cause.name;
    if (d.idle > 0) write_part(page, 1, name, cause.time, d.span, "", cause.ink);
  }
}

// The devices that are worth a line of their own where there are many: the extremes of each part.
std::set<std::size_t> extremes(const std::vector<DeviceTime>& devices, std::vector<std::string>& remarks) {
  struct Trait {
    const char* most;
    const char* least;
    double (*value)(const DeviceTime&);
  };
  static constexpr Trait traits[] = {
      {"slowest step", "fastest step", [](const DeviceTime& d) { return d.step_time; }},
      {"most compute", "least compute", [](const DeviceTime& d) { return d.share(d.compute); }},
      {"most exposed communication", "least exposed communication", [](const DeviceTime& d) { return d.share(d.exposed_communication); }},
      {"most idle", "least idle", [](const DeviceTime& d) { return d.share(d.idle); }},
  };
  std::set<std::size_t> chosen;
  const bool all_have_steps = std::ranges::all_of(devices, [](const DeviceTime& d) { return d.step_time > 0; });
  for (const Trait& trait : traits) {
    if (&trait == &traits[0] && !all_have_steps) continue;
    const auto less = [&](const DeviceTime& a, const DeviceTime& b) { return trait.value(a) < trait.value(b); };
    const auto [least, most] = std::minmax_element(devices.begin(), devices.end(), less);
    if (trait.value(*least) == trait.value(*most)) continue;
    for (const auto& [device, name] : {std::pair{most, trait.most}, std::pair{least, trait.least}}) {
      const auto at = static_cast<std::size_t>(device - devices.begin());
      chosen.insert(at);
      remarks[at] += (remarks[at].empty() ? "" : ", ") + std::string(name);
    }
  }
  return chosen;
}

void write_many(TextPage& page, const std::vector<DeviceTime>& devices, bool every_one) {
  std::vector<std::string> remarks(devices.size());
  std::set<std::size_t> shown = extremes(devices, remarks);
  if (every_one || devices.size() <= most_bars) {
    for (std::size_t i = 0; i < devices.size(); ++i) shown.insert(i);
  }
  int name_width = 0;
  for (const std::size_t i : shown) name_width = std::max(name_width, display_width(device_name(devices[i], devices)));
  name_width = std::min(name_width, page.columns() >= 90 ? 24 : 10);
  const bool steps = std::any_of(devices.begin(), devices.end(), [](const DeviceTime& d) { return d.step_time > 0; });
  const auto duration = [](const DeviceTime& d) { return format_value(d.step_time > 0 ? d.step_time : d.span, Unit::nanoseconds); };
  int duration_width = 10;
  for (const std::size_t i : shown) duration_width = std::max(duration_width, display_width(duration(devices[i])));
  const int bar_width = std::max(0, page.columns() - 2 - name_width - 2 - 37 - duration_width);
  page.line("  " + page.paint(Ink::faint, fmt::format("{}{} {} {} {} {} {}", std::string(static_cast<std::size_t>(name_width + 2 + bar_width), ' '),
                                                      pad_left(steps ? "step" : "span", duration_width), pad_left("compute", 8), pad_left("comm", 6),
                                                      pad_left("copies", 6), pad_left("host", 6), pad_left("other", 6))));
  const auto percent = [](double ratio, int width) { return pad_left(format_percent(ratio), width); };
  for (const std::size_t i : shown) {
    const DeviceTime& d = devices[i];
    const double host = d.cause("host_ns");
    page.line(fmt::format("  {}  {}{} {} {} {} {} {}", pad_right(shorten_middle(device_name(d, devices), name_width), name_width),
                          bar(page, parts_of(d), d.span, bar_width), pad_left(duration(d), duration_width), percent(d.share(d.compute), 8),
                          percent(d.share(d.exposed_communication), 6), percent(d.share(d.exposed_memory), 6), percent(d.share(host), 6),
                          percent(d.share(std::max(0.0, d.idle - host)), 6)));
  }
  if (shown.size() < devices.size()) page.line("  " + page.paint(Ink::faint, fmt::format("… and {} more between these", devices.size() - shown.size())));
  for (const std::size_t i : shown) {
    if (!remarks[i].empty()) page.paragraph(device_name(devices[i], devices) + ": " + remarks[i], 2, Ink::faint);
  }
}

}  // namespace

void write_breakdown(TextPage& page, const TextOptions& options, const std::vector<DeviceTime>& devices) {
  if (devices.empty()) return;
  const DeviceTime& first = devices.front();
  std::string title = first.steps > 0 ? "Where the time of a step goes" : "Where the time goes";
  if (devices.size() > 1) {
    title += ", per device";
  } else if (first.counted > 1) {
    title += fmt::format(": {} on the device, mean of {} steps", format_value(first.span, Unit::nanoseconds), first.counted);
  } else {
    title += fmt::format(": {} on the device", format_value(first.span, Unit::nanoseconds));
  }
  page.heading(title);
  if (devices.size() == 1) {
    write_one(page, devices.front());
  } else {
    write_legend(page, devices);
    write_many(page, devices, options.verbosity > 0);
  }
}

}  // namespace stepscope
