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
  KinetoMerger(TimelineBuilder& builder, RankId rank) : builder_(builder), rank_(rank), first_row_(builder.slice_count()) {}

  // Appends a block's rows; the block may be reused afterwards.
  void merge(const KinetoBlock& block, KinetoVocabulary& vocabulary);
  // After the last block. Tells the repairs and notes to the builder's health.
  void finish(Repairs repairs);
  std::uint64_t events() const { return events_; }

 private:
  struct TrackUse {
    bool has_thread_rows = false;  // operators, calls, Python, annotations, memory
    bool has_device_slices = false;
    bool has_calls = false;
  };
  struct Label {
    std::string text;
    bool has_text = false, has_sort_index = false;
    std::int64_t sort_index = 0;
  };

  NameId name(NameId local, KinetoVocabulary& vocabulary);
  NameId detail(NameId local, KinetoVocabulary& vocabulary);
  std::uint32_t track(std::uint32_t local, KinetoVocabulary& vocabulary);
  NameId thread_key(NameId process, NameId thread, const KinetoVocabulary& vocabulary);
  void merge_slices(const KinetoBlock& block, KinetoVocabulary& vocabulary);
  void merge_marks(const KinetoBlock& block, std::size_t first_row, const KinetoVocabulary& vocabulary);
  void drop_zero_rows();
  void remove_rows(const std::vector<std::uint32_t>& rows);
  void end_unfinished();
  std::vector<TrackId> make_tracks();
  void number_tracks(const std::vector<TrackId>& ids);
  void find_owners(const std::vector<TrackId>& ids);

  TimelineBuilder& builder_;
  const RankId rank_;
  const std::size_t first_row_;
  // Tracks in the order of their first row, by their names in the Timeline; they get their TrackIds at the end.
  KinetoTrackTable tracks_;
  std::vector<TrackUse> uses_;
  NameTable thread_keys_;  // process, NUL, thread
  struct OpenBegin {
    std::uint32_t row;
    std::uint64_t offset;
  };
  std::unordered_map<NameId, std::vector<OpenBegin>> open_;  // by thread key: begins without their ends
  std::unordered_map<NameId, Label> labels_;                 // by thread key
  struct ZeroRow {
    std::uint32_t row;
    std::uint64_t offset;
  };
  std::vector<ZeroRow> zero_rows_;
  std::vector<std::uint32_t> unfinished_rows_;
  std::size_t first_flow_ = 0, first_memory_ = 0, first_counter_ = 0, first_instant_ = 0;
  bool started_ = false;
  std::uint64_t events_ = 0, launch_arrows_ = 0, unread_events_ = 0;
  Repairs repairs_;
};

}  // namespace stepscope
