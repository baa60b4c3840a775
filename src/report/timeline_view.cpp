#include "report/timeline_view.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "analyze/idle_parts.h"
#include "report/lane_layout.h"
#include "report/view_windows.h"

namespace stepscope {

namespace {

constexpr std::array<std::string_view, shade_count> shade_names = {"compute",         "communication",   "memory",      "device_sync",     "device_annotation",
                                                                   "operation",       "runtime_call",    "driver_call", "python_function", "annotation",
                                                                   "overhead",        "profiler",        "other",       "idle_host",       "idle_launch",
                                                                   "idle_scheduling", "idle_dependency", "idle_graph",  "idle_unknown",    "idle_unlinked"};

// Blocks are at most this long: 1 µs · 4^level. The last level is longer than any trace.
constexpr std::size_t threshold_levels = 16;
constexpr Nanoseconds threshold(std::size_t level) {
  return level + 1 == threshold_levels ? std::numeric_limits<Nanoseconds>::max() : Nanoseconds{1000} << (2 * level);
}

Shade shade_of(const Timeline& timeline, const Facts& facts, SliceId slice) {
  switch (timeline.slices.kind[slice]) {
    case SliceKind::kernel:
    case SliceKind::copy:
    case SliceKind::fill:
      switch (facts.activity.empty() ? ActivityClass::none : facts.activity[slice]) {
        case ActivityClass::communication:
          return Shade::communication;
        case ActivityClass::memory:
          return Shade::memory;
        default:
          return Shade::compute;
      }
    case SliceKind::device_sync:
      return Shade::device_sync;
    case SliceKind::device_annotation:
      return Shade::device_annotation;
    case SliceKind::operation:
      return Shade::operation;
    case SliceKind::runtime_call:
      return Shade::runtime_call;
    case SliceKind::driver_call:
      return Shade::driver_call;
    case SliceKind::python_function:
      return Shade::python_function;
    case SliceKind::annotation:
      return Shade::annotation;
    case SliceKind::overhead:
      return Shade::overhead;
    case SliceKind::profiler:
      return Shade::profiler;
    case SliceKind::other:
      return Shade::other;
  }
  return Shade::other;
}

// Numbers (name, shade) pairs by first use. A name nearly always has one shade: that one is found in a table, the rest in a map.
class Labels {
 public:
  Labels(std::size_t names, std::vector<ViewLabel>& labels) : labels_(labels) { first_.resize(names, no_item); }
  std::uint32_t operator()(NameId name, Shade shade) {
    std::uint32_t& first = first_[name];
    if (first != no_item && labels_[first].shade == shade) return first;
    const auto next = static_cast<std::uint32_t>(labels_.size());
    if (first == no_item) {
      first = next;
    } else if (const auto [found, added] = others_.try_emplace(std::uint64_t{index(name)} * shade_count + static_cast<std::uint64_t>(shade), next); !added) {
      return found->second;
    }
    labels_.push_back({name, shade});
    return next;
  }

 private:
  std::vector<ViewLabel>& labels_;
  Column<std::uint32_t> first_;
  std::unordered_map<std::uint64_t, std::uint32_t> others_;
};

// The windows of one rank, walked along slices whose starts do not decrease.
class WindowCursor {
 public:
  explicit WindowCursor(const std::vector<Interval>& windows) : windows_(windows) {}
  bool contains(Nanoseconds start) {
    while (next_ < windows_.size() && windows_[next_].end <= start) ++next_;
    return next_ < windows_.size() && windows_[next_].begin <= start;
  }

 private:
  const std::vector<Interval>& windows_;
  std::size_t next_ = 0;
};

class ViewMaker {
 public:
  ViewMaker(const Timeline& timeline, const Facts& facts, std::size_t most_items)
      : timeline_(timeline),
        facts_(facts),
        layout_(lay_out_lanes(timeline, most_view_tracks, most_lanes_per_track)),
        labels_(timeline.names.size(), view_.labels) {
    view_.slices_left_out = layout_.left_out;
    const bool all_fit = layout_.slices.size() <= most_items;
    if (all_fit) {
      view_.whole.resize(timeline.ranks.size());
    } else {
      view_.whole = choose_whole_windows(timeline, facts, most_items - most_items / 4);
      level_ = choose_level(most_items);
      view_.merged_below = threshold(level_);
    }
    merge_ = !all_fit;
  }

  TimelineView make() {
    item_of_.resize(timeline_.slices.size(), no_item);
    Nanoseconds begin = std::numeric_limits<Nanoseconds>::max(), end = std::numeric_limits<Nanoseconds>::min();
    for (const LaneLayout::TrackLanes& lanes : layout_.tracks) {
      const Track& track = timeline_.tracks[index(lanes.track)];
      const ViewTrackKind kind = track.kind == TrackKind::stream   ? ViewTrackKind::stream
                                 : track.kind == TrackKind::thread ? ViewTrackKind::thread
                                                                   : ViewTrackKind::other;
      view_.tracks.push_back({kind, lanes.track, track.rank, track.device, static_cast<std::uint32_t>(view_.lanes.size()), lanes.lanes});
      for (std::uint32_t lane = lanes.first_lane; lane < lanes.first_lane + lanes.lanes; ++lane) {
        const std::span<const SliceId> slices = lane_slices(lane);
        add_lane(slices, view_.whole[index(track.rank)]);
        if (slices.empty()) continue;
        begin = std::min(begin, timeline_.slices.start[slices.front()]);
        end = std::max(end, timeline_.slices.end(slices.back()));
      }
    }
    if (begin <= end) view_.span = {begin, end};
    link();
    for (const DeviceFacts& device : facts_.devices) add_idle(device);
    return std::move(view_);
  }

 private:
  std::span<const SliceId> lane_slices(std::uint32_t lane) const {
    return layout_.slices.span().subspan(layout_.first[lane], layout_.first[lane + 1] - layout_.first[lane]);
  }

  // The finest threshold at which single slices and blocks together are at most most_items; all thresholds are counted in one pass.
  std::size_t choose_level(std::size_t most_items) const {
    std::array<std::uint64_t, threshold_levels> counts{};
    std::uint64_t whole = 0;
    for (const LaneLayout::TrackLanes& lanes : layout_.tracks) {
      const std::vector<Interval>& windows = view_.whole[index(timeline_.tracks[index(lanes.track)].rank)];
      for (std::uint32_t lane = lanes.first_lane; lane < lanes.first_lane + lanes.lanes; ++lane) {
        WindowCursor cursor(windows);
        std::array<Nanoseconds, threshold_levels> block_begin;
        block_begin.fill(std::numeric_limits<Nanoseconds>::min() / 2);
        for (const SliceId slice : lane_slices(lane)) {
          const Nanoseconds start = timeline_.slices.start[slice], end = timeline_.slices.end(slice);
          if (cursor.contains(start)) {
            ++whole;
            block_begin.fill(std::numeric_limits<Nanoseconds>::min() / 2);
            continue;
          }
          for (std::size_t level = 0; level < threshold_levels; ++level) {
            const bool opens = end - block_begin[level] > threshold(level);
            counts[level] += opens;
            block_begin[level] = opens ? start : block_begin[level];
          }
        }
      }
    }
    for (std::size_t level = 0; level < threshold_levels; ++level) {
      if (whole + counts[level] <= most_items) return level;
    }
    return threshold_levels - 1;
  }

  // A device's idle time as a lane of its own, by cause. Where slices are merged, so are the gaps: parts of one cause that are shorter than a block may be.
  void add_idle(const DeviceFacts& device) {
    const IdleParts idle(timeline_, facts_, device);
    const std::vector<IdlePart> parts = idle.of(device.slices);
    if (parts.empty()) return;
    ViewLane lane;
    lane.first_item = static_cast<std::uint32_t>(view_.items.size());
    WindowCursor cursor(view_.whole[index(device.rank)]);
    const Nanoseconds longest_block = threshold(level_);
    for (std::size_t first = 0; first < parts.size();) {
      const Nanoseconds begin = parts[first].interval.begin;
      std::size_t last = first + 1;
      if (merge_ && !cursor.contains(begin)) {
        while (last < parts.size() && parts[last].interval.end - begin <= longest_block && !cursor.contains(parts[last].interval.begin)) ++last;
      }
      add_idle_item(std::span(parts).subspan(first, last - first));
      first = last;
    }
    lane.items = static_cast<std::uint32_t>(view_.items.size()) - lane.first_item;
    lane.slices = parts.size();
    for (const IdlePart& part : parts) lane.busy += part.interval.length();
    view_.tracks.push_back({ViewTrackKind::idle, no_id<TrackId>, device.rank, device.device, static_cast<std::uint32_t>(view_.lanes.size()), 1});
    view_.lanes.push_back(lane);
  }

  static Shade idle_shade(IdleCause cause) { return static_cast<Shade>(static_cast<std::size_t>(Shade::idle_host) + static_cast<std::size_t>(cause)); }

  void add_idle_item(std::span<const IdlePart> parts) {
    std::array<Nanoseconds, shade_count> by_shade{};
    ViewBlock block{.count = static_cast<std::uint32_t>(parts.size())};
    const IdlePart* longest = &parts.front();
    for (const IdlePart& part : parts) {
      by_shade[static_cast<std::size_t>(idle_shade(part.cause))] += part.interval.length();
      block.busy += part.interval.length();
      if (part.interval.length() > longest->interval.length()) longest = &part;
    }
    block.longest = longest->interval.length();
    block.shade = static_cast<Shade>(std::max_element(by_shade.begin(), by_shade.end()) - by_shade.begin());
    const bool single = parts.size() == 1;
    // Named after the slice that ended the gap: what was waited for.
    add_item(parts.front().interval.begin, parts.back().interval.end - parts.front().interval.begin,
             labels_(timeline_.slices.name[longest->next], idle_shade(longest->cause)), single ? no_item : static_cast<std::uint32_t>(view_.blocks.size()),
             NameId{0});
    if (!single) view_.blocks.push_back(block);
  }

  void add_lane(std::span<const SliceId> slices, const std::vector<Interval>& windows) {
    ViewLane lane;
    lane.first_item = static_cast<std::uint32_t>(view_.items.size());
    lane.slices = slices.size();
    WindowCursor cursor(windows);
    const Nanoseconds longest_block = threshold(level_);
    for (std::size_t first = 0; first < slices.size();) {
      const Nanoseconds start = timeline_.slices.start[slices[first]];
      std::size_t last = first + 1;
      if (merge_ && !cursor.contains(start)) {
        while (last < slices.size() && timeline_.slices.end(slices[last]) - start <= longest_block && !cursor.contains(timeline_.slices.start[slices[last]]))
          ++last;
      }
      lane.busy += last - first == 1 ? add_single(slices[first]) : add_block(slices.subspan(first, last - first));
      first = last;
    }
    lane.items = static_cast<std::uint32_t>(view_.items.size()) - lane.first_item;
    view_.lanes.push_back(lane);
  }

  Nanoseconds add_single(SliceId slice) {
    const Nanoseconds duration = timeline_.slices.duration[slice];
    item_of_[slice] = static_cast<std::uint32_t>(view_.items.size());
    add_item(timeline_.slices.start[slice], duration, labels_(timeline_.slices.name[slice], shade_of(timeline_, facts_, slice)), no_item,
             timeline_.slices.detail[slice]);
    ++view_.slices_single;
    return duration;
  }

  Nanoseconds add_block(std::span<const SliceId> slices) {
    ViewBlock block;
    block.count = static_cast<std::uint32_t>(slices.size());
    std::array<Nanoseconds, shade_count> busy{};
    SliceId longest = slices.front();
    for (const SliceId slice : slices) {
      const Nanoseconds duration = timeline_.slices.duration[slice];
      busy[static_cast<std::size_t>(shade_of(timeline_, facts_, slice))] += duration;
      block.busy += duration;
      if (duration > timeline_.slices.duration[longest]) longest = slice;
    }
    block.longest = timeline_.slices.duration[longest];
    block.shade = static_cast<Shade>(std::max_element(busy.begin(), busy.end()) - busy.begin());
    if (block.busy == 0) block.shade = shade_of(timeline_, facts_, longest);
    const Nanoseconds start = timeline_.slices.start[slices.front()];
    add_item(start, timeline_.slices.end(slices.back()) - start, labels_(timeline_.slices.name[longest], shade_of(timeline_, facts_, longest)),
             static_cast<std::uint32_t>(view_.blocks.size()), NameId{0});
    view_.blocks.push_back(block);
    view_.slices_merged += slices.size();
    return block.busy;
  }

  void add_item(Nanoseconds start, Nanoseconds duration, std::uint32_t label, std::uint32_t block, NameId detail) {
    view_.items.start.push_back(start);
    view_.items.duration.push_back(duration);
    view_.items.label.push_back(label);
    view_.items.block.push_back(block);
    view_.items.detail.push_back(detail);
    view_.items.launch.push_back(no_item);
    view_.items.operation.push_back(no_item);
  }

  SliceId enclosing_operation(SliceId slice) const {
    while (slice != no_id<SliceId> && timeline_.slices.kind[slice] != SliceKind::operation)
      slice = facts_.parent.empty() ? no_id<SliceId> : facts_.parent[slice];
    return slice;
  }

  // Device items to the items of their launches and operators, once all items have their numbers.
  void link() {
    if (facts_.launch.empty()) return;
    for (const LaneLayout::TrackLanes& lanes : layout_.tracks) {
      if (timeline_.tracks[index(lanes.track)].kind != TrackKind::stream) continue;
      for (std::uint32_t lane = lanes.first_lane; lane < lanes.first_lane + lanes.lanes; ++lane) {
        for (const SliceId slice : lane_slices(lane)) {
          const std::uint32_t item = item_of_[slice];
          if (item == no_item) continue;
          const SliceId launch = facts_.launch[slice];
          if (launch != no_id<SliceId>) view_.items.launch[item] = item_of_[launch];
          const SliceId operation = facts_.operation.empty() ? no_id<SliceId> : facts_.operation[slice];
          if (operation != no_id<SliceId> && (launch == no_id<SliceId> || item_of_[launch] == no_item || enclosing_operation(launch) != operation)) {
            view_.items.operation[item] = item_of_[operation];
          }
        }
      }
    }
  }

  const Timeline& timeline_;
  const Facts& facts_;
  TimelineView view_;
  LaneLayout layout_;
  Labels labels_;
  Column<std::uint32_t> item_of_;  // per slice
  std::size_t level_ = 0;
  bool merge_ = false;
};

}  // namespace

std::string_view shade_name(Shade shade) {
  return shade_names[static_cast<std::size_t>(shade)];
}

TimelineView view_timeline(const Timeline& timeline, const Facts& facts, std::size_t most_items) {
  return ViewMaker(timeline, facts, most_items).make();
}

}  // namespace stepscope
