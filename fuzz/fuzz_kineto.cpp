// The Kineto reader: any text ends in a sound Timeline or an Error, and the Timeline does not depend on the number of threads, on where the
// text is cut, or on whether events are compared with layouts.
#include <cstdint>

#include "base/bytes.h"
#include "expect.h"
#include "read/kineto.h"

namespace {

using namespace stepscope;

Result<Timeline> read(std::string_view text, int threads, const KinetoTuning& tuning) {
  const auto source = open_memory(text, "fuzz");
  ReadOptions options;
  options.threads = threads;
  TimelineBuilder builder;
  if (auto done = read_kineto(*source, options, tuning, builder); !done) return std::unexpected(std::move(done.error()));
  return builder.finish();
}

void expect_equal(const Timeline& a, const Timeline& b) {
  expect(a.slices.size() == b.slices.size() && a.tracks.size() == b.tracks.size() && a.origin_ns == b.origin_ns, "threads change the sizes");
  for (std::uint32_t i = 0; i < a.slices.size(); ++i) {
    const SliceId id{i};
    expect(a.slices.start[id] == b.slices.start[id] && a.slices.duration[id] == b.slices.duration[id] && a.slices.track[id] == b.slices.track[id] &&
               a.slices.kind[id] == b.slices.kind[id] && a.slices.correlation[id] == b.slices.correlation[id] &&
               a.slices.external[id] == b.slices.external[id] && a.name_of(id) == b.name_of(id) && a.detail_of(id) == b.detail_of(id),
           "threads change a slice");
  }
  expect(a.sequences.size() == b.sequences.size() && a.python.size() == b.python.size() && a.transfers.size() == b.transfers.size() &&
             a.syncs.size() == b.syncs.size() && a.flows.size() == b.flows.size() && a.memory.size() == b.memory.size() &&
             a.counters.size() == b.counters.size() && a.instants.size() == b.instants.size(),
         "threads change the facts");
  const auto &ours = a.health.repairs.items(), &theirs = b.health.repairs.items();
  expect(ours.size() == theirs.size(), "threads change the kinds of repairs");
  for (std::size_t i = 0; i < ours.size(); ++i)
    expect(ours[i].kind == theirs[i].kind && ours[i].count == theirs[i].count && ours[i].where == theirs[i].where, "threads change a repair");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto one = read(text, 1, KinetoTuning{.by_layout = false});
  if (!one) {
    expect(!one.error().problem.empty(), "an error without a problem");
    return 0;
  }
  expect_sound(*one);
  // Blocks so small that the threads meet in an input of a few kilobytes.
  for (const bool by_place : {true, false}) {
    const KinetoTuning tuning{.block_bytes = 512, .thread_block_bytes = 512, .threads_from_bytes = 512, .alone_bytes = 2048, .by_place = by_place};
    const auto many = read(text, 3, tuning);
    expect(many.has_value(), "threads change whether it can be read");
    if (many) expect_equal(*one, *many);
  }
  return 0;
}
