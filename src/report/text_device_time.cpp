// Reads the time breakdown back out of the findings by key (METRICS.md names the figures).
#include <algorithm>
#include <filesystem>

#include "base/text.h"
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

bool is_outlier(const Table& steps, std::size_t row) {
  const auto column = column_of(steps, "outlier");
  if (!column) return false;
  const Value& value = steps.rows[row][*column];
  const bool* flag = std::get_if<bool>(&value);
  return flag != nullptr ? *flag : std::holds_alternative<std::string>(value);  // the reason in words
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
    {"graph_ns", "gaps inside CUDA/HIP graphs", Ink::other},
    {"unlinked_ns", "idle before work without a launch record", Ink::other},
    {"unknown_ns", "idle for an unknown reason", Ink::other},
};

// The columns of the steps table and the figures of the "all" section have the same keys.
void read_times(DeviceTime& time, const auto& value_of) {
  time.span = value_of("span_ns");
  time.compute = value_of("compute_ns");
  time.communication = value_of("communication_ns");
  time.exposed_communication = value_of("exposed_communication_ns");
  time.exposed_memory = value_of("exposed_memory_ns");
  time.idle = value_of("idle_ns");
}

void read_causes(DeviceTime& time, const auto& value_of) {
  for (const CauseName& name : cause_names) {
    if (const double value = value_of(name.key); value > 0) time.causes.push_back({std::string(name.key), std::string(name.name), name.ink, value});
  }
  std::stable_sort(time.causes.begin(), time.causes.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
}

// Means over the steady steps, or over all where there are no steady ones.
void read_steps(const Table& table, const Table* causes, DeviceTime& time) {
  time.steps = table.rows.size();
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (!is_outlier(table, row)) rows.push_back(row);
  }
  time.steady = !rows.empty();
  if (rows.empty()) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) rows.push_back(row);
  }
  time.counted = rows.size();
  const auto mean_over = [&rows](const Table& of) {
    return [&rows, &of](std::string_view key) {
      double sum = 0;
      for (const std::size_t row : rows) sum += cell(of, row, key).value_or(0);
      return sum / static_cast<double>(rows.size());
    };
  };
  const auto mean = mean_over(table);
  read_times(time, mean);
  // Both tables have the same steps in the same order.
  if (causes != nullptr && causes->rows.size() == table.rows.size()) read_causes(time, mean_over(*causes));
  time.step_time = mean("step_time_ns");
  for (const std::size_t row : rows) {
    const double step_time = cell(table, row, "step_time_ns").value_or(0);
    time.shortest_step = row == rows.front() ? step_time : std::min(time.shortest_step, step_time);
    time.longest_step = std::max(time.longest_step, step_time);
  }
}

}  // namespace

std::vector<DeviceTime> device_times(const Findings& findings) {
  std::vector<DeviceTime> devices;
  for (const RankFindings& rank : findings.ranks) {
    for (const DeviceFindings& device : rank.devices) {
      DeviceTime time;
      time.rank = &rank;
      time.device = &device;
      const Section* idle = find_section(device.sections, "idle_by_cause");
      if (const Section* steps = device_steps(device); steps != nullptr) {
        time.inferred = steps->key == "inferred_steps";
        read_steps(steps->tables.front(), idle != nullptr ? idle->table("by_step") : nullptr, time);
      } else {
        const Section* all = find_section(device.sections, "all");
        read_times(time, [all](std::string_view key) { return figure(all, key).value_or(0); });
        read_causes(time, [idle](std::string_view key) { return figure(idle, key).value_or(0); });
      }
      time.mfu = figure(find_section(device.sections, "mfu"), "mfu");
      if (time.span > 0) devices.push_back(std::move(time));
    }
  }
  return devices;
}

const DeviceTime* representative(const std::vector<DeviceTime>& devices) {
  const auto faster = [](const DeviceTime& a, const DeviceTime& b) { return std::pair(a.step_time, a.span) < std::pair(b.step_time, b.span); };
  return devices.empty() ? nullptr : &*std::max_element(devices.begin(), devices.end(), faster);
}

const Section* device_steps(const DeviceFindings& device) {
  for (const std::string_view key : {"steps", "inferred_steps"}) {
    const Section* section = find_section(device.sections, key);
    if (section != nullptr && !section->tables.empty() && !section->tables.front().rows.empty()) return section;
  }
  return nullptr;
}

std::string device_name(const DeviceTime& device, const std::vector<DeviceTime>& all) {
  const std::string number = "device " + format_value(device.device->device, Unit::none);
  const auto same_rank = [&](const DeviceTime& other) { return other.rank == device.rank; };
  if (std::ranges::all_of(all, same_rank)) return number;
  std::string rank = "rank " + std::to_string(device.rank->rank);
  const bool number_repeats = std::ranges::any_of(all, [&](const DeviceTime& other) { return !same_rank(other) && other.rank->rank == device.rank->rank; });
  if (number_repeats) rank += " (" + printable(std::filesystem::path(device.rank->file).filename().string()) + ")";
  return std::ranges::count_if(all, same_rank) > 1 ? rank + ", " + number : rank;
}

}  // namespace stepscope
