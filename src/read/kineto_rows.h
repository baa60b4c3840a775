// The rows that events become, block by block, and how blocks become a Timeline in the order of the file.
//
// A block is what one stretch of the file holds, in columns, with names and tracks numbered by the vocabulary of the thread that read it; a merger takes the
// blocks in the order of the file and numbers everything anew, so that the Timeline does not depend on how the file was cut or by how many threads it was read.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/names.h"
#include "read/kineto_event.h"
#include "read/kineto_repairs.h"
#include "timeline/timeline.h"

namespace stepscope {

// A row of the trace's picture. Device rows are told apart by device and stream as well.
struct KinetoTrack {
  NameId process{}, thread{};     // "pid" and "tid" as written
  NameId device = no_id<NameId>;  // of device rows
  std::int64_t stream = -1;
  friend bool operator==(const KinetoTrack&, const KinetoTrack&) = default;
};

class KinetoTrackTable {
 public:
  std::uint32_t intern(const KinetoTrack& track);
  const KinetoTrack& operator[](std::uint32_t id) const { return tracks_[id]; }
  std::size_t size() const { return tracks_.size(); }

 private:
  void rehash(std::size_t slots);
  std::vector<KinetoTrack> tracks_;
  std::vector<std::uint32_t> slots_;  // track + 1; 0 = free
};

// What one thread calls names, details and tracks, and what the merger made of them.
struct KinetoVocabulary {
  NameTable names, details;
  KinetoTrackTable tracks;
  std::vector<NameId> merged_names, merged_details;  // no_id = not met yet
  std::vector<std::uint32_t> merged_tracks;          // 0xFFFFFFFF = not met yet
  std::vector<NameId> merged_threads;                // of tracks, for rows that are no slices; no_id = not met yet
};

// The slices of a block: columns of one capacity, so that a row costs one check.
struct KinetoSlices {
  Column<Nanoseconds> start, duration;
  Column<NameId> name, detail;
  Column<std::uint32_t> track;
  Column<SliceKind> kind;
  Column<std::uint64_t> correlation, external;
  std::size_t count = 0;  // rows in use; the columns are longer
  std::size_t capacity = 0;

  void reserve(std::size_t rows);
  // The next row's number; the caller writes every column of it.
  std::uint32_t add() {
    if (count == capacity) reserve(count + 1);
    return static_cast<std::uint32_t>(count++);
  }
};

struct KinetoBlock {
  static constexpr Nanoseconds unfinished = -1;  // a duration that waits for its end
  KinetoSlices slices;

  // Facts; their slices are rows of this block.
  Column<SequenceFact> sequences;
  Column<PythonFact> python;
  Column<TransferFact> transfers;
  Column<SyncFact> syncs;
  Column<FlowEnd> flows;  // here and below, tracks and names are the vocabulary's
  Column<MemoryEvent> memory;
  Column<CounterSample> counters;
  Column<Instant> instants;

  struct Mark {  // a begin or end event, in order
    bool begins;
    std::uint32_t row;       // of a begin
    NameId process, thread;  // after KinetoMerger::number, thread is the merger's
    Nanoseconds time;
    NameId detail;  // of an end
    std::uint64_t offset;
  };
  std::vector<Mark> marks;
  struct ZeroRow {
    std::uint32_t row;
    std::uint64_t offset;
  };
  std::vector<ZeroRow> zero_rows;              // slices at time 0
  std::vector<std::uint32_t> unfinished_rows;  // slices with a negative duration on CPU threads
  struct ThreadMetadata {
    NameId process, thread, label;
    bool is_label;  // else a sort index
    std::int64_t sort_index;
  };
  std::vector<ThreadMetadata> metadata;

  std::uint64_t events = 0;         // of any kind
  std::uint64_t launch_arrows = 0;  // ends of arrows from launches to device slices
  std::uint64_t unread_events = 0;  // of phases that say nothing we keep
  Repairs repairs;

  void clear();
};

// Adds an event to a block; of a slice, its row is the last one then. offset: of the event in the content.
void add_event(const KinetoEvent& event, std::uint64_t offset, KinetoVocabulary& vocabulary, KinetoBlock& block);

}  // namespace stepscope
