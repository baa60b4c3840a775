// Reading fast what is read often. A training job repeats itself, and a profiler writes every event of a kind the same way: apart from a few numbers (its
// times, its ids) most events' text was there before, to the byte. A layout is such a text with the places of its numbers, and what it became: the name, the
// track, the detail of its slice. An event whose layout is guessed right is compared, not parsed: about one byte in four of a trace is looked at as more than
// bytes.
//
// The guess: for each category of events the layouts seen are written down in order, and read again from where the same eight (else three) of them followed
// each other before. Where that fails: the next ones there, then the last layout whose text began alike (category and name), then the one that parted from the
// first of those that begin alike with the same few bytes.
//
// A layout is made of an event that was read in full (kineto_event.h), so both give the same rows; what fits no layout is read in full.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "read/kineto_rows.h"

namespace stepscope {

class KinetoLayouts {
 public:
  KinetoLayouts();
  // Reads events as long as each fits a layout. `at`: an event's first byte; returns the first byte not read: an event's first byte, or what follows an
  // event that no other follows behind a comma. 64 bytes behind `end` must be readable.
  const char* read(const char* at, const char* end, KinetoBlock& block);
  // Makes a layout of an event that was read in full and is the last one of the block. known_detail: its detail was met before (what comes only once is not
  // worth a layout).
  void learn(std::string_view text, const KinetoEventParser& parser, const KinetoBlock& block, bool known_detail);
  void clear();

 private:
  static constexpr std::size_t most_fields = 12;
  static constexpr std::size_t most_layouts = 1u << 15;
  static constexpr std::size_t most_text = 8u << 20;
  static constexpr std::size_t longest_text = 16u << 10;

  enum class Outcome : std::uint8_t { slice, launch_arrow, flow, memory };
  // A stretch of text that is the same in all events of the layout, and the field behind it (the last stretch has none).
  struct Part {
    std::uint32_t text;  // place in texts_
    std::uint16_t length;
    KinetoField field;
    std::uint8_t unused;
  };
  struct alignas(64) Layout {
    NameId name{}, detail{};
    std::uint32_t track = 0;
    std::uint32_t has = 0;  // bit of each KinetoField
    std::uint8_t fields = 0;
    Outcome outcome = Outcome::slice;
    SliceKind slice_kind = SliceKind::other;
    bool has_facts = false;
    std::array<Part, most_fields + 1> parts{};
  };
  struct Rest {                // what is seldom needed
    std::uint32_t eldest = 0;  // the first layout with the same first stretch
    FlowKind flow_kind = FlowKind::other;
    bool flow_starts = false;
    std::int32_t device_type = 0, device_number = -1;
    std::int64_t wait_on_stream = -1;
  };
  using Values = std::array<std::uint64_t, kineto_field_count>;
  // What was seen of a category, in order, and the place from which it seems to repeat.
  struct Replay {
    std::vector<std::uint32_t> log;      // layouts; a ring once it is full
    std::uint32_t written = 0;           // in all
    std::uint32_t at = 0;                // the next guess
    std::uint32_t eight = 0, three = 0;  // the last layouts, mixed so that those before the eighth (third) last are shifted out
  };
  static constexpr std::uint32_t log_size = 1u << 16;

  const char* match(std::uint32_t layout, const char* at, Values& values) const;
  const char* match_other(const Replay& replay, const char* at, Values& values, std::uint32_t& found) const;
  void add_facts(const Layout& layout, const Rest& rest, const Values& values, std::uint32_t row, KinetoBlock& block) const;
  bool add(std::uint32_t number, const Values& values, KinetoBlock& block) const;
  bool describe(std::string_view text, const KinetoEventParser& parser, const KinetoBlock& block, Layout& layout, Rest& rest);
  std::uint32_t intern_stretch(std::string_view text);
  std::size_t category(const char* at) const;
  std::size_t beginning(const char* at) const;
  std::size_t parting(std::uint32_t eldest, const char* at) const;
  std::uint32_t logged(const Replay& replay, std::uint32_t place) const;
  void follow(Replay& replay, const char* at, std::uint32_t layout);

  std::vector<Layout> layouts_;
  std::vector<Rest> rests_;
  std::vector<char> texts_;
  std::vector<std::uint32_t> slots_;            // by hash of fields and stretches: layout + 1; 0 = free
  std::vector<std::uint32_t> first_stretches_;  // by place of the first stretch: layout + 1
  struct Stretch {
    std::uint32_t text, length;
  };
  std::vector<Stretch> stretches_;  // by hash of their text; length 0 = free
  std::size_t stretch_count_ = 0;
  std::size_t category_at_ = 0;                           // where an event's category stands, as seen last
  std::array<Replay, 64> replays_;                        // by category
  std::vector<std::uint32_t> after_eight_, after_three_;  // by the last layouts of a category: the place in its log where they were followed
  std::vector<std::uint32_t> same_beginning_;             // by the text from the category on: the last layout
  std::vector<std::uint32_t> parted_;                     // by where and how a text parts from an eldest layout: the layout that fitted
};

}  // namespace stepscope
