// Reads the time breakdown back out of the findings by key (METRICS.md names the figures).
#include <algorithm>

#include "report/format.h"
#include "report/text_parts.h"

namespace stepscope {

std::optional<double> figure(const Section* section, std::string_view key) {
  const Figure* found = section != nullptr ? section->figure(key) : nullptr;
  return found != nullptr ? number_of(found->value) : std::nullopt;
}

std::optional<std::size_t> column_of(const Table& table, std::string_view key) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].key == key) return column;
  }
  return std::nullopt;
}

std::optional<double> cell(const Table& table, std::size_t row, std::string_view key) {
  const auto column = column_of(table, key);
  return column ? number_of(table.rows[row][*column]) : std::nullopt;
}

std::string text_cell(const Table& table, std::size_t row, std::string_view key) {
  const auto column = column_of(table, key);
  return column ? format_value(table.rows[row][*column], table.columns[*column].unit) : std::string();
}

double DeviceTime::cause(std::string_view key) const {
  const auto found = std::find_if(causes.begin(), causes.end(), [key](const IdleCause& c) { return c.key == key; });
  return found != causes.end() ? found->time : 0;
}

namespace {

struct CauseName {
  std::string_view key, name;
  Ink ink;
};
// METRICS.md, Idle by cause.
constexpr CauseName cause_names[] = {
    {"host_ns", "waiting for the host", Ink::host},
    {"launch_ns", "launching", Ink::launch},
    {"scheduling_ns", "gaps between queued kernels", Ink::other},
    {"dependency_ns", "waiting for other work", Ink::other},
    {"graph_ns", "gaps inside CUDA graphs", Ink::other},
    {"unlinked_ns", "before kernels without a launch record", Ink::other},
    {"unknown_ns", "idle for an unknown reason", Ink::other},
};

// A row of the steps table that stands for the steady state.
bool is_outlier(const Table& table, std::size_t row) {
  const auto column = column_of(table, "outlier");
  const bool* outlier = column ? std::get_if<bool>(&table.rows[row][*column]) : nullptr;
  return outlier != nullptr && *outlier;
}

void read_steps(const Section* section, DeviceTime& time) {
  const Table* table = section != nullptr ? section->table("steps") : nullptr;
  if (table == nullptr || table->rows.empty()) return;
  time.steps = table->rows.size();
  for (std::size_t row = 0; row < table->rows.size(); ++row) time.steady_steps += !is_outlier(*table, row) && cell(*table, row, "step_time_ns");
  double sum = 0;
  std::size_t counted = 0;
  for (std::size_t row = 0; row < table->rows.size(); ++row) {
    const auto step_time = cell(*table, row, "step_time_ns");
    if (!step_time || (time.steady_steps > 0 && is_outlier(*table, row))) continue;
    time.shortest_step = counted == 0 ? *step_time : std::min(time.shortest_step, *step_time);
    time.longest_step = std::max(time.longest_step, *step_time);
    sum += *step_time;
    ++counted;
  }
  if (counted > 0) time.step_time = sum / static_cast<double>(counted);
}

}  // namespace

std::vector<DeviceTime> device_times(const Findings& findings) {
  std::vector<DeviceTime> devices;
  for (const RankFindings& rank : findings.ranks) {
    for (const DeviceFindings& device : rank.devices) {
      const Section* all = find_section(device.sections, "all");
      DeviceTime time;
      time.rank = &rank;
      time.device = &device;
      time.span = figure(all, "span_ns").value_or(0);
      if (all == nullptr || time.span <= 0) continue;
      time.compute = figure(all, "compute_ns").value_or(0);
      time.communication = figure(all, "communication_ns").value_or(0);
      time.exposed_communication = figure(all, "exposed_communication_ns").value_or(0);
      time.exposed_memory = figure(all, "exposed_memory_ns").value_or(0);
      time.idle = figure(all, "idle_ns").value_or(0);
      const Section* idle = find_section(device.sections, "idle_by_cause");
      for (const CauseName& name : cause_names) {
        if (const auto value = figure(idle, name.key); value && *value > 0)
          time.causes.push_back({std::string(name.key), std::string(name.name), name.ink, *value});
      }
      std::stable_sort(time.causes.begin(), time.causes.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
      read_steps(find_section(device.sections, "steps"), time);
      time.mfu = figure(find_section(device.sections, "mfu"), "mfu");
      devices.push_back(std::move(time));
    }
  }
  return devices;
}

std::string device_name(const DeviceTime& device, const std::vector<DeviceTime>& all) {
  if (all.size() == 1) return "the device";
  const bool several = std::any_of(all.begin(), all.end(), [&](const DeviceTime& d) { return d.rank == device.rank && d.device != device.device; });
  std::string name = "rank " + std::to_string(device.rank->rank);
  if (several) name += ", device " + format_value(device.device->device, Unit::none);
  return name;
}

}  // namespace stepscope
