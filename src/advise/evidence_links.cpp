#include "advise/evidence_links.h"

#include <algorithm>
#include <map>

namespace stepscope::on_device {

namespace {

constexpr std::int64_t large_bytes = 64 << 20;
constexpr std::size_t least_calls = 3;
constexpr double few_blocks = 8;
constexpr double least_share = 0.01;  // of the step

std::vector<LinkUse> uses_of_links(const CollectiveEvidence& c, const Gpu& gpu, double link_bytes_per_second) {
  std::map<std::pair<std::string, CollectiveFunction>, std::vector<const DeviceCollective*>> groups;
  for (const DeviceCollective& one : c.all)
    if (one.call.bytes.value_or(0) >= large_bytes && one.call.group_size.value_or(1'000'000) <= gpu.scale_up_gpus.value_or(8) && c.bus_bandwidth(one))
      groups[{one.group, one.call.function}].push_back(&one);
  std::vector<LinkUse> uses;
  for (auto& [key, calls] : groups) {
    if (calls.size() < least_calls) continue;
    LinkUse use;
    std::optional<double> blocks;
    for (const DeviceCollective* one : calls) {
      use.reached = std::max(use.reached, *c.bus_bandwidth(*one) / link_bytes_per_second);
      blocks = c.e.blocks(c.slice(*one));
    }
    use.few_channels = blocks && *blocks < few_blocks;
    use.calls = std::move(calls);
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace

std::optional<SlowLinks> slow_links(const CollectiveEvidence& c, const std::function<bool(const LinkUse&)>& is_slow, double sound, double most_times) {
  const Gpu* const gpu = c.e.scene.gpu;
  if (gpu == nullptr || !gpu->link_bytes_per_second_each_way) return std::nullopt;
  std::vector<const DeviceCollective*> chosen;
  ScaleEdits edits;
  double slowest = 1;
  for (const LinkUse& use : uses_of_links(c, *gpu, *gpu->link_bytes_per_second_each_way)) {
    if (!is_slow(use)) continue;
    slowest = std::min(slowest, use.reached);
    for (const DeviceCollective* one : use.calls) {
      chosen.push_back(one);
      c.shorten(edits, *one, static_cast<double>(c.slice(*one).duration()) * (1 - std::max(1 / most_times, use.reached / sound)));
    }
  }
  SlowLinks found{.picked = c.picked(chosen), .edits = edits.edits(), .slowest = slowest};
  if (found.picked.share() < least_share) return std::nullopt;
  return found;
}

}  // namespace stepscope::on_device
