#include "timeline/health.h"

namespace stepscope {

void HealthList::add(std::string_view kind, std::uint64_t count, std::string_view where, std::string_view explanation) {
  if (count == 0) return;
  for (HealthItem& item : items_) {
    if (item.kind != kind) continue;
    item.count += count;
    return;
  }
  items_.push_back({std::string(kind), count, std::string(where), std::string(explanation)});
}

std::uint64_t HealthList::count(std::string_view kind) const {
  for (const HealthItem& item : items_)
    if (item.kind == kind) return item.count;
  return 0;
}

void HealthList::append(const HealthList& other, std::string_view place_prefix) {
  for (const HealthItem& item : other.items_) add(item.kind, item.count, std::string(place_prefix) + item.where, item.explanation);
}

}  // namespace stepscope
