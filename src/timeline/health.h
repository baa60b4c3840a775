// Capture health: every repair of a bad input and everything a capture lacks, counted by kind. It is shown first in every report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

struct HealthItem {
  std::string kind;         // a stable key: "truncated", "invalid_utf8", "negative_duration", …
  std::uint64_t count = 0;  // how often it was seen
  std::string where;        // the first place: "byte 3813", "kernel 'gemm' at 60 µs"
  std::string explanation;  // one sentence for people: what was found and what was done about it
};

// A short list with unique kinds: adding a kind that is there adds to its count and keeps the first place.
class HealthList {
 public:
  void add(std::string_view kind, std::uint64_t count, std::string_view where, std::string_view explanation);
  std::uint64_t count(std::string_view kind) const;  // 0 where the kind is absent
  const std::vector<HealthItem>& items() const { return items_; }
  bool empty() const { return items_.empty(); }
  void append(const HealthList& other, std::string_view place_prefix);

 private:
  std::vector<HealthItem> items_;
};

struct CaptureHealth {
  HealthList repairs;  // input that was damaged or contradictory: what was done about it
  HealthList notes;    // input that is right but says something the reader must know (no shapes recorded, rank taken from the file's name, …)
};

}  // namespace stepscope
