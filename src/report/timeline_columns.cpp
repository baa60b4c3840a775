#include "report/timeline_columns.h"

#include <unordered_map>

namespace stepscope {

namespace {

class Numbers {
 public:
  void add(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void append_to(std::string& result) const {
    const std::size_t size = bytes_.size();
    for (unsigned shift = 0; shift < 32; shift += 8) result += static_cast<char>(size >> shift & 0xFF);
    result.append(bytes_.data(), bytes_.size());
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  Column<char> bytes_;
};

// References to other items: near the last one given, usually.
class References {
 public:
  explicit References(Numbers& target) : target_(target) {}
  void add(std::uint32_t item) {
    if (item == no_item) {
      target_.add(0);
      return;
    }
    const std::int64_t difference = std::int64_t{item} - last_;
    const auto zigzag = (static_cast<std::uint64_t>(difference) << 1) ^ static_cast<std::uint64_t>(difference >> 63);
    target_.add(zigzag + 1);
    last_ = item;
  }

 private:
  Numbers& target_;
  std::int64_t last_ = 0;
};

}  // namespace

TimelineColumns encode_columns(const TimelineView& view, std::size_t most_details) {
  TimelineColumns result;
  Numbers gaps, durations, labels, runs, blocks, details, launches, operations;
  References launch_references(launches), operation_references(operations);
  constexpr std::uint64_t no_detail = 1, detail_left_out = 1;
  std::vector<std::uint64_t> last_detail(view.labels.size(), no_detail);
  std::unordered_map<NameId, std::uint64_t> detail_numbers;
  std::uint64_t run = 0;
  bool run_of_blocks = false;

  for (const ViewTrack& track : view.tracks) {
    for (std::uint32_t l = track.first_lane; l < track.first_lane + track.lanes; ++l) {
      const ViewLane& lane = view.lanes[l];
      Nanoseconds previous_end = view.span.begin;
      for (std::uint32_t item = lane.first_item; item < lane.first_item + lane.items; ++item) {
        const ViewItems& items = view.items;
        gaps.add(static_cast<std::uint64_t>(items.start[item] - previous_end));
        durations.add(static_cast<std::uint64_t>(items.duration[item]));
        labels.add(items.label[item]);
        previous_end = items.start[item] + items.duration[item];

        const bool block = items.block[item] != no_item;
        if (block != run_of_blocks) {
          runs.add(run);
          run = 0;
          run_of_blocks = block;
        }
        ++run;
        if (block) {
          const ViewBlock& facts = view.blocks[items.block[item]];
          blocks.add(facts.count);
          blocks.add(static_cast<std::uint64_t>(facts.busy));
          blocks.add(static_cast<std::uint64_t>(facts.longest));
          blocks.add(static_cast<std::uint64_t>(facts.shade));
          continue;
        }

        std::uint64_t detail = no_detail;
        if (const NameId id = items.detail[item]; id != NameId{0}) {
          if (const auto found = detail_numbers.find(id); found != detail_numbers.end()) {
            detail = found->second;
          } else if (result.details.size() < most_details) {
            detail = 2 + result.details.size();
            detail_numbers.emplace(id, detail);
            result.details.push_back(id);
          } else {
            detail = detail_left_out;
            ++result.details_left_out;
          }
        }
        std::uint64_t& last = last_detail[items.label[item]];
        details.add(detail == last ? 0 : detail);
        last = detail;

        if (track.kind == ViewTrackKind::stream) {
          launch_references.add(items.launch[item]);
          operation_references.add(items.operation[item]);
        }
      }
    }
  }
  runs.add(run);
  const Numbers* columns[] = {&gaps, &durations, &labels, &runs, &blocks, &details, &launches, &operations};
  std::size_t size = 0;
  for (const Numbers* column : columns) size += column->size() + 4;
  result.bytes.reserve(size);
  for (const Numbers* column : columns) column->append_to(result.bytes);
  return result;
}

}  // namespace stepscope
