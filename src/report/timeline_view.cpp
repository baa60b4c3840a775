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

// Blocks are at most this long: 1 µs · 2^level. The last level is longer than any trace.
constexpr std::size_t threshold_levels = 32;
constexpr Nanoseconds threshold(std::size_t level) {
  return level + 1 == threshold_levels ? std::numeric_limits<Nanoseconds>::max() : Nanoseconds{1000} << level;
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
    std::size_t idle_parts = 0;
    for (const DeviceFacts& device : facts.devices) {
      idle_.push_back(IdleParts(timeline, facts, device).of(device.slices));
      idle_parts += idle_.back().size();
    }
    const bool all_fit = layout_.slices.size() + idle_parts <= most_items;
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
        add_lane(lane, view_.whole[index(track.rank)]);
        if (layout_.first[lane] == layout_.first[lane + 1]) continue;
        begin = std::min(begin, layout_.start[layout_.first[lane]]);
        end = std::max(end, layout_.end[layout_.first[lane + 1] - 1]);
      }
    }
    if (begin <= end) view_.span = {begin, end};
    link();
    for (std::size_t device = 0; device < facts_.devices.size(); ++device) add_idle(facts_.devices[device], idle_[device]);
    return std::move(view_);
  }

 private:
  std::span<const SliceId> lane_slices(std::uint32_t lane) const {
    return layout_.slices.span().subspan(layout_.first[lane], layout_.first[lane + 1] - layout_.first[lane]);
  }

  // The finest threshold at which single slices and blocks together are at most most_items. Each level merges what the one before it left, so that all are
  // counted in little more than one pass; merging the slices themselves at the level then chosen gives about the same number.
  std::size_t choose_level(std::size_t most_items) const {
    std::array<std::uint64_t, threshold_levels> counts{};
    std::uint64_t whole = 0;
    std::vector<Interval> blocks;
    const auto count_blocks = [&] {
      for (std::size_t level = 0; level < threshold_levels && !blocks.empty(); ++level) {
        std::size_t kept = 0;
        for (std::size_t next = 1; next < blocks.size(); ++next) {
          if (blocks[next].end - blocks[kept].begin <= threshold(level)) {
            blocks[kept].end = blocks[next].end;
          } else {
            blocks[++kept] = blocks[next];
          }
        }
        blocks.resize(kept + 1);
        counts[level] += blocks.size();
      }
      blocks.clear();
    };
    for (const LaneLayout::TrackLanes& lanes : layout_.tracks) {
      const std::vector<Interval>& windows = view_.whole[index(timeline_.tracks[index(lanes.track)].rank)];
      for (std::uint32_t lane = lanes.first_lane; lane < lanes.first_lane + lanes.lanes; ++lane) {
        WindowCursor cursor(windows);
        for (std::uint32_t i = layout_.first[lane]; i < layout_.first[lane + 1]; ++i) {
          if (cursor.contains(layout_.start[i])) {
            ++whole;
            count_blocks();
          } else {
            blocks.push_back({layout_.start[i], layout_.end[i]});
          }
        }
        count_blocks();
      }
    }
    for (std::size_t device = 0; device < idle_.size(); ++device) {
      WindowCursor cursor(view_.whole[index(facts_.devices[device].rank)]);
      for (const IdlePart& part : idle_[device]) {
        if (cursor.contains(part.interval.begin)) {
          ++whole;
          count_blocks();
        } else {
          blocks.push_back(part.interval);
        }
      }
      count_blocks();
    }
    for (std::size_t level = 0; level < threshold_levels; ++level) {
      if (whole + counts[level] <= most_items) return level;
    }
    return threshold_levels - 1;
  }

  // A device's idle time as a lane of its own, by cause. Where slices are merged, so are the gaps: parts of one cause that are shorter than a block may be.
  void add_idle(const DeviceFacts& device, const std::vector<IdlePart>& parts) {
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

  void add_lane(std::uint32_t number, const std::vector<Interval>& windows) {
    ViewLane lane;
    lane.first_item = static_cast<std::uint32_t>(view_.items.size());
    const std::uint32_t end = layout_.first[number + 1];
    lane.slices = end - layout_.first[number];
    WindowCursor cursor(windows);
    const Nanoseconds longest_block = threshold(level_);
    for (std::uint32_t first = layout_.first[number]; first < end;) {
      const Nanoseconds start = layout_.start[first];
      std::uint32_t last = first + 1;
      if (merge_ && !cursor.contains(start)) {
        while (last < end && layout_.end[last] - start <= longest_block && !cursor.contains(layout_.start[last])) ++last;
      }
      lane.busy += last - first == 1 ? add_single(first) : add_block(first, last);
      first = last;
    }
    lane.items = static_cast<std::uint32_t>(view_.items.size()) - lane.first_item;
    view_.lanes.push_back(lane);
  }

  // Of a place in the layout.
  Nanoseconds add_single(std::uint32_t place) {
    const SliceId slice = layout_.slices[place];
    const Nanoseconds duration = layout_.end[place] - layout_.start[place];
    item_of_[slice] = static_cast<std::uint32_t>(view_.items.size());
    add_item(layout_.start[place], duration, labels_(timeline_.slices.name[slice], shade_of(timeline_, facts_, slice)), no_item,
             timeline_.slices.detail[slice]);
    ++view_.slices_single;
    return duration;
  }

  // Of places [first, last) of the layout.
  Nanoseconds add_block(std::uint32_t first, std::uint32_t last) {
    ViewBlock block;
    block.count = last - first;
    std::array<Nanoseconds, shade_count> busy{};
    std::uint32_t longest = first;
    block.longest = -1;
    for (std::uint32_t place = first; place < last; ++place) {
      const Nanoseconds duration = layout_.end[place] - layout_.start[place];
      busy[static_cast<std::size_t>(shade_of(timeline_, facts_, layout_.slices[place]))] += duration;
      block.busy += duration;
      if (duration > block.longest) {
        block.longest = duration;
        longest = place;
      }
    }
    const SliceId named = layout_.slices[longest];
    const Shade shade = shade_of(timeline_, facts_, named);
    block.shade = block.busy == 0 ? shade : static_cast<Shade>(std::max_element(busy.begin(), busy.end()) - busy.begin());
    add_item(layout_.start[first], layout_.end[last - 1] - layout_.start[first], labels_(timeline_.slices.name[named], shade),
             static_cast<std::uint32_t>(view_.blocks.size()), NameId{0});
    view_.blocks.push_back(block);
    view_.slices_merged += block.count;
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
  Column<std::uint32_t> item_of_;            // per slice
  std::vector<std::vector<IdlePart>> idle_;  // per device of the facts
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
