#include "base/time.h"

#include <fmt/core.h>

#include <cmath>

namespace stepscope {

std::string format_duration(Nanoseconds duration) {
  struct Unit {
    double nanoseconds;
    const char* name;
  };
  static constexpr Unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
  const double magnitude = std::fabs(static_cast<double>(duration));
  for (const Unit& unit : units) {
    // 999.5 of the unit below would print as 1000: take the larger unit from there on.
    if (magnitude < 0.9995 * unit.nanoseconds) continue;
    const double value = static_cast<double>(duration) / unit.nanoseconds;
    const double size = std::fabs(value);
    return fmt::format("{:.{}f} {}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0, unit.name);
  }
  return fmt::format("{} ns", duration);
}

}  // namespace stepscope
