// What the threads that launch were doing while the device waited for them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "analyze/idle_parts.h"

namespace stepscope {

enum class HostActivity : std::uint8_t { data_loading, synchronisation, framework, other };
inline constexpr std::size_t host_activity_count = 4;

// Splits the parts whose cause is the host by what their launching thread did: loading data (facts/phases.cpp), waiting in a call that blocks, running the
// framework or Python, other (nothing was recorded on the thread, or the profiler's own work). Sums to the parts of that cause within the window, exactly.
std::array<Nanoseconds, host_activity_count> host_activities(const Timeline& timeline, const Facts& facts, std::span<const IdlePart> parts, Interval window);

}  // namespace stepscope
