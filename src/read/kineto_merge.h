// Blocks in the order of the file become one rank of a Timeline; at the end begins find their ends, unfinished slices theirs, and streams their processes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "read/kineto_rows.h"
#include "timeline/builder.h"

namespace stepscope {

class KinetoMerger {
 public:
  KinetoMerger(TimelineBuilder& builder, RankId rank);

  // Appends a block's rows; the block may be reused afterwards.
  void merge(KinetoBlock& block, KinetoVocabulary& vocabulary) {
    number(block, vocabulary);
    append(block);
  }
  // The same in two steps, which may run at the same time for different blocks; each takes the blocks in the order of the file.
  // Gives the block's names, details, tracks and threads the numbers that they have in the whole.
  void number(KinetoBlock& block, KinetoVocabulary& vocabulary);
  // Appends the rows of a numbered block.
  void append(const KinetoBlock& block);
  // So many times the rows that there are now will follow, probably: asks for room for them at once, because growing interrupts other threads. What is not used
  // stays untouched memory.
  void expect(std::uint64_t times);
  // After the last block. Tells the repairs and notes to the builder's health.
  void finish(const Repairs& repairs);
  std::uint64_t events() const { return events_; }

 private:
  struct TrackUse {
    bool has_thread_rows = false;  // operators, calls, Python, annotations
    bool has_device_slices = false;
    bool has_calls = false;
  };
  struct Label {
    std::string text;
    std::int64_t sort_index = 0;
  };
  struct OpenBegin {
    std::uint32_t row;
    std::uint64_t offset;
  };
  struct ZeroRow {
    std::uint32_t row;
    std::uint64_t offset;
  };
  struct LateDetail {  // of an end event, for the slice that it ends
    std::uint32_t row;
    NameId detail;
  };

  NameId name(NameId local, KinetoVocabulary& vocabulary);
  NameId detail(NameId local, KinetoVocabulary& vocabulary);
  std::uint32_t track(std::uint32_t local, KinetoVocabulary& vocabulary);
  NameId thread(NameId process, NameId thread, const KinetoVocabulary& vocabulary);
  NameId thread(TrackId local, KinetoVocabulary& vocabulary);
  NameId thread_of(const KinetoTrack& merged);
  void number_slices(KinetoSlices& slices, KinetoVocabulary& vocabulary);
  void number_others(KinetoBlock& block, KinetoVocabulary& vocabulary);
  void append_slices(const KinetoSlices& from);
  void append_marks(const KinetoBlock& block, std::size_t first_row);
  void drop_zero_rows();
  void remove_rows(const std::vector<std::uint32_t>& rows);
  void end_unfinished();
  std::vector<TrackId> make_tracks();
  void set_tracks_of_slices(const std::vector<TrackId>& ids);
  void set_tracks_of_others(const std::vector<TrackId>& ids);
  void find_owners(const std::vector<TrackId>& ids);

  TimelineBuilder& builder_;
  const RankId rank_;
  const std::size_t first_row_, first_flow_, first_memory_, first_counter_, first_instant_;
  // Until the end slices carry the number of their track in tracks_ (in the order of their first slice), and rows that are no slices that of their thread, name
  // and detail in the tables below: ids in the Timeline are given in one order of the rows, not as blocks happen to be cut.
  // Of number(), which also interns the builder's names and details:
  KinetoTrackTable tracks_;
  std::vector<TrackUse> uses_;
  NameTable threads_;  // process, NUL, thread
  NameTable other_names_, other_details_;
  std::unordered_map<NameId, Label> labels_;  // by thread
  std::uint64_t events_ = 0, launch_arrows_ = 0, unread_events_ = 0;
  Repairs repairs_;
  // Of append(), which also grows the builder's columns:
  std::vector<LateDetail> late_details_;
  std::unordered_map<NameId, std::vector<OpenBegin>> open_;  // by thread: begins without their ends
  std::vector<ZeroRow> zero_rows_;
  std::vector<std::uint32_t> unfinished_rows_;
  Repairs repairs_of_rows_;
};

}  // namespace stepscope
