// The reduction of a timeline for the page: nothing overlaps in a lane, nothing is lost at any number of items, and the steps that matter stay whole.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "report/lane_layout.h"
#include "report/timeline_columns.h"
#include "report/timeline_view.h"
#include "timeline/builder.h"

namespace stepscope {
namespace {

struct Maker {
  TimelineBuilder builder;
  RankId rank = builder.add_rank({});
  TrackId thread = builder.track(rank, TrackKind::thread, "1", "1");
  DeviceId device = builder.device(rank, "0");
  TrackId stream = builder.track(rank, TrackKind::stream, "0", "7", device, 7);
  Maker() { builder.track(stream).owner_process = builder.track(thread).owner_process = builder.names().intern("1"); }
  SliceId add(SliceKind kind, TrackId track, Nanoseconds start, Nanoseconds duration, std::string_view name, std::uint64_t correlation = no_number,
              std::string_view detail = "") {
    return builder.add_slice(kind, track, start, duration, builder.names().intern(name), correlation, no_number, builder.details().intern(detail));
  }
};

Facts facts_of(const Timeline& timeline) {
  Facts facts = derive(timeline, {});
  return facts;
}

TEST(LaneLayout, CallsGoBelowTheirCallersAndCrossingOnesBelowWhatTheyCross) {
  Maker m;
  m.add(SliceKind::operation, m.thread, 0, 100, "outer");
  m.add(SliceKind::operation, m.thread, 10, 50, "inner");
  m.add(SliceKind::operation, m.thread, 50, 30, "crosses inner");  // 50..80, inner ends at 60
  m.add(SliceKind::operation, m.thread, 90, 5, "inner again");
  m.add(SliceKind::operation, m.thread, 120, 5, "next");
  const Timeline timeline = m.builder.finish();
  const LaneLayout layout = lay_out_lanes(timeline, 10, 10);
  ASSERT_EQ(layout.tracks.size(), 1u);
  std::vector<std::vector<std::string>> lanes;
  for (std::uint32_t lane = 0; lane < layout.tracks[0].lanes; ++lane) {
    lanes.emplace_back();
    for (std::uint32_t i = layout.first[lane]; i < layout.first[lane + 1]; ++i) lanes.back().emplace_back(timeline.name_of(layout.slices[i]));
  }
  EXPECT_EQ(lanes, (std::vector<std::vector<std::string>>{{"outer", "next"}, {"inner", "inner again"}, {"crosses inner"}}));
}

TEST(LaneLayout, KernelsThatOverlapTheOneBeforeThemUseTwoLanesHoweverLongTheChain) {
  Maker m;
  for (int i = 0; i < 100; ++i) m.add(SliceKind::kernel, m.stream, 90 * i, 100, "k");
  m.add(SliceKind::device_annotation, m.stream, 0, 9'000, "step");
  const LaneLayout layout = lay_out_lanes(m.builder.finish(), 10, 10);
  ASSERT_EQ(layout.tracks.size(), 1u);
  EXPECT_EQ(layout.tracks[0].lanes, 3u);  // two for kernels, one for the annotation below them
  EXPECT_EQ(layout.first[1] - layout.first[0], 50u);
  EXPECT_EQ(layout.first[3] - layout.first[2], 1u);
}

TEST(LaneLayout, SlicesBeyondTheLimitsAreCounted) {
  Maker m;
  for (int depth = 0; depth < 30; ++depth) m.add(SliceKind::python_function, m.thread, depth, 100 - 2 * depth, "f");
  m.add(SliceKind::kernel, m.stream, 0, 5, "k");
  const Timeline timeline = m.builder.finish();
  EXPECT_EQ(lay_out_lanes(timeline, 10, 20).left_out, 10u);
  EXPECT_EQ(lay_out_lanes(timeline, 1, 20).left_out, 11u);
}

const ViewTrack& track_of_kind(const TimelineView& view, ViewTrackKind kind) {
  return *std::find_if(view.tracks.begin(), view.tracks.end(), [&](const ViewTrack& track) { return track.kind == kind; });
}

// Sums of each lane as the items tell them.
void check_view(const Timeline& timeline, const TimelineView& view) {
  std::uint64_t slices = 0, single = 0;
  for (const ViewTrack& track : view.tracks) {
    if (track.kind == ViewTrackKind::idle) continue;
    for (std::uint32_t l = track.first_lane; l < track.first_lane + track.lanes; ++l) {
      const ViewLane& lane = view.lanes[l];
      std::uint64_t count = 0;
      Nanoseconds busy = 0, last_end = view.span.begin;
      for (std::uint32_t item = lane.first_item; item < lane.first_item + lane.items; ++item) {
        ASSERT_GE(view.items.start[item], last_end) << "items of a lane overlap";
        last_end = view.items.start[item] + view.items.duration[item];
        ASSERT_LE(last_end, view.span.end);
        if (view.items.block[item] == no_item) {
          ++count;
          ++single;
          busy += view.items.duration[item];
        } else {
          const ViewBlock& block = view.blocks[view.items.block[item]];
          ASSERT_GE(block.count, 2u);
          ASSERT_LE(block.busy, view.items.duration[item]);
          ASSERT_LE(view.items.duration[item], view.merged_below);
          ASSERT_LE(block.longest, block.busy);
          count += block.count;
          busy += block.busy;
        }
      }
      ASSERT_EQ(count, lane.slices);
      ASSERT_EQ(busy, lane.busy);
      slices += count;
    }
  }
  ASSERT_EQ(slices + view.slices_left_out, timeline.slices.size());
  ASSERT_EQ(single, view.slices_single);
  ASSERT_EQ(view.slices_single + view.slices_merged + view.slices_left_out, timeline.slices.size());
}

TEST(TimelineView, DrawsEverySliceWhereTheyFit) {
  Maker m;
  m.add(SliceKind::operation, m.thread, 0, 40, "aten::mm");
  m.add(SliceKind::runtime_call, m.thread, 10, 5, "cudaLaunchKernel", 3);
  m.add(SliceKind::kernel, m.stream, 30, 20, "gemm", 3, R"("grid": [1,2,3])");
  m.add(SliceKind::kernel, m.stream, 60, 10, "ncclDevKernel_AllReduce_Sum_f32", 4);
  const Timeline timeline = m.builder.finish();
  const TimelineView view = view_timeline(timeline, facts_of(timeline), 100);
  check_view(timeline, view);
  EXPECT_EQ(view.slices_single, 4u);
  EXPECT_EQ(view.merged_below, 0);
  EXPECT_EQ(view.span, (Interval{0, 70}));
  std::map<std::string, std::uint32_t> item;
  for (std::uint32_t i = 0; i < view.items.size(); ++i) {
    if (view.labels[view.items.label[i]].shade < Shade::idle_host) item[std::string(timeline.names[view.labels[view.items.label[i]].name])] = i;
  }
  EXPECT_EQ(view.labels[view.items.label[item["gemm"]]].shade, Shade::compute);
  EXPECT_EQ(view.labels[view.items.label[item["ncclDevKernel_AllReduce_Sum_f32"]]].shade, Shade::communication);
  EXPECT_EQ(view.items.launch[item["gemm"]], item["cudaLaunchKernel"]);
  EXPECT_EQ(view.items.launch[item["ncclDevKernel_AllReduce_Sum_f32"]], no_item);
  EXPECT_EQ(view.items.operation[item["gemm"]], no_item) << "aten::mm encloses the launch, so it need not be said";
  EXPECT_EQ(timeline.details[view.items.detail[item["gemm"]]], R"("grid": [1,2,3])");
}

TEST(TimelineView, BlocksSayHowManyHowBusyAndWhichWasLongest) {
  Maker m;
  for (int i = 0; i < 1000; ++i) m.add(SliceKind::kernel, m.stream, 1'000 * i, i == 2 ? 900 : 100, i == 2 ? "long one" : "short one");
  m.add(SliceKind::kernel, m.stream, 5'000'000, 4'000'000, "much longer than any block");
  const Timeline timeline = m.builder.finish();
  const TimelineView view = view_timeline(timeline, facts_of(timeline), 50);
  check_view(timeline, view);
  EXPECT_LE(view.items.size(), 60u);
  EXPECT_GE(view.slices_single, 1u);
  const ViewLane& lane = view.lanes[track_of_kind(view, ViewTrackKind::stream).first_lane];
  const ViewBlock& first = view.blocks.at(view.items.block[lane.first_item]);
  EXPECT_EQ(first.longest, 900);
  EXPECT_EQ(first.busy, 100 * (Nanoseconds{first.count} - 1) + 900);
  EXPECT_EQ(first.shade, Shade::compute);
  EXPECT_EQ(view.items.block[lane.first_item + lane.items - 1], no_item) << "a slice longer than the threshold is never merged";
}

TEST(TimelineView, IdleTimeIsALaneByCause) {
  Maker m;
  m.add(SliceKind::runtime_call, m.thread, 0, 5, "cudaLaunchKernel", 1);
  m.add(SliceKind::kernel, m.stream, 10, 20, "first", 1);
  m.add(SliceKind::runtime_call, m.thread, 100, 5, "cudaLaunchKernel", 2);  // the host is 70 ns late, then the launch takes 12 ns
  m.add(SliceKind::kernel, m.stream, 112, 20, "second", 2);
  const Timeline timeline = m.builder.finish();
  const TimelineView view = view_timeline(timeline, facts_of(timeline), 100);
  const ViewLane& lane = view.lanes[track_of_kind(view, ViewTrackKind::idle).first_lane];
  ASSERT_EQ(lane.items, 2u);
  EXPECT_EQ(lane.busy, 82);
  EXPECT_EQ(view.items.start[lane.first_item], 30);
  EXPECT_EQ(view.items.duration[lane.first_item], 70);
  EXPECT_EQ(view.labels[view.items.label[lane.first_item]].shade, Shade::idle_host);
  EXPECT_EQ(view.items.duration[lane.first_item + 1], 12);
  EXPECT_EQ(view.labels[view.items.label[lane.first_item + 1]].shade, Shade::idle_launch);
  EXPECT_EQ(timeline.names[view.labels[view.items.label[lane.first_item]].name], "second") << "what was waited for";
  EXPECT_EQ(view.slices_single, 4u) << "gaps are no slices";
}

TEST(TimelineView, KeepsTheTypicalAndTheSlowestStepWhole) {
  Maker m;
  Nanoseconds at = 0;
  for (int step = 0; step < 20; ++step) {
    const Nanoseconds slice = step == 13 ? 3'000 : 1'000;
    m.add(SliceKind::annotation, m.thread, at, slice * 100, "ProfilerStep#" + std::to_string(step));
    for (int i = 0; i < 100; ++i) m.add(SliceKind::operation, m.thread, at + i * slice, slice / 2, "aten::add");
    at += slice * 100;
  }
  const Timeline timeline = m.builder.finish();
  const TimelineView view = view_timeline(timeline, facts_of(timeline), 600);
  check_view(timeline, view);
  EXPECT_LE(view.items.size(), 600u);
  ASSERT_EQ(view.whole.size(), 1u);
  const auto whole = [&](Nanoseconds time) {
    return std::any_of(view.whole[0].begin(), view.whole[0].end(), [&](Interval window) { return window.contains(time); });
  };
  EXPECT_TRUE(whole(13 * 100'000 + 1)) << "the slow step";
  EXPECT_GE(view.slices_single, 200u);
  EXPECT_GT(view.slices_merged, 0u);
}

TEST(TimelineView, SumsHoldAtAnyNumberOfItems) {
  rc::check("sums of a lane are the same however few items there are", [] {
    Maker m;
    const int slices = *rc::gen::inRange(1, 300);
    for (int i = 0; i < slices; ++i) {
      const bool on_device = *rc::gen::arbitrary<bool>();
      const auto start = *rc::gen::inRange<Nanoseconds>(0, 200'000);
      const auto duration = *rc::gen::oneOf(rc::gen::inRange<Nanoseconds>(0, 50), rc::gen::inRange<Nanoseconds>(0, 40'000));
      m.add(on_device ? SliceKind::kernel : SliceKind::operation, on_device ? m.stream : m.thread, start, duration, std::to_string(i % 7));
    }
    const Timeline timeline = m.builder.finish();
    const TimelineView view = view_timeline(timeline, facts_of(timeline), *rc::gen::inRange<std::size_t>(1, 400));
    check_view(timeline, view);
    RC_ASSERT(!::testing::Test::HasFatalFailure());
  });
}

TEST(TimelineView, OfNothingIsEmpty) {
  TimelineBuilder builder;
  builder.add_rank({});
  const Timeline timeline = builder.finish();
  const TimelineView view = view_timeline(timeline, facts_of(timeline), 100);
  EXPECT_EQ(view.items.size(), 0u);
  EXPECT_EQ(view.span, (Interval{0, 0}));
  EXPECT_EQ(encode_columns(view, 10).bytes.size(), 8 * 4 + 1u);  // eight lengths and one run of no items
}

TEST(TimelineColumns, AreSmallNumbers) {
  Maker m;
  for (int i = 0; i < 1000; ++i) {
    m.add(SliceKind::runtime_call, m.thread, 100 * i, 50, "cudaLaunchKernel", static_cast<std::uint64_t>(i));
    m.add(SliceKind::kernel, m.stream, 100 * i + 30, 70, "k", static_cast<std::uint64_t>(i), i % 2 == 0 ? R"("grid": [1,1,1])" : R"("grid": [2,1,1])");
  }
  const Timeline timeline = m.builder.finish();
  const TimelineView view = view_timeline(timeline, facts_of(timeline), 10'000);
  const TimelineColumns columns = encode_columns(view, 100);
  EXPECT_EQ(columns.details.size(), 2u);
  EXPECT_EQ(columns.details_left_out, 0u);
  EXPECT_LT(columns.bytes.size(), view.items.size() * 5);
  const TimelineColumns fewer = encode_columns(view, 1);
  EXPECT_EQ(fewer.details.size(), 1u);
  EXPECT_EQ(fewer.details_left_out, 500u);
}

}  // namespace
}  // namespace stepscope
