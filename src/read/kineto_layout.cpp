#include "read/kineto_layout.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "read/kineto_number.h"
#include "read/kineto_scan.h"

namespace stepscope {

namespace {

constexpr std::size_t padding = 64;
constexpr int guess_bits = 15;
constexpr int category_bits = 6;
constexpr std::size_t furthest_category = 48;
constexpr std::size_t most_of_new_details = 1u << 13;  // beyond so many layouts, a detail must come twice to get one

constexpr std::uint32_t bit(KinetoField field) {
  return 1u << static_cast<unsigned>(field);
}

// The text with its digits blanked: ids and the like do not tell categories apart.
inline std::uint64_t without_digits(std::uint64_t text) {
  const std::uint64_t values = text ^ 0x3030'3030'3030'3030u;
  const std::uint64_t others = ((values + 0x7676'7676'7676'7676u) | values) & 0x8080'8080'8080'8080u;
  return text & ((others >> 7) * 0xFF);
}

constexpr std::uint64_t odd = 0x9E37'79B9'7F4A'7C15u;

}  // namespace

KinetoLayouts::KinetoLayouts() {
  clear();
}

void KinetoLayouts::clear() {
  // Layout 0 stands for "none": its one stretch begins no event.
  texts_.assign(1 + padding, '\1');
  layouts_.assign(1, Layout{});
  layouts_[0].parts[0].length = 1;
  rests_.assign(1, Rest{});
  slots_.assign(most_layouts * 2, 0);
  first_stretches_.assign(most_layouts * 2, 0);
  stretches_.assign(1024, Stretch{});
  stretch_count_ = 0;
  for (Replay& replay : replays_) replay = Replay{{0}, 1, 0, 0, 0};
  for (auto* guesses : {&after_eight_, &after_three_, &same_beginning_, &parted_}) guesses->assign(std::size_t{1} << guess_bits, 0);
}

std::size_t KinetoLayouts::category(const char* at) const {
  const std::uint64_t phase = without_digits(load64(at + 4)) ^ std::rotl(without_digits(load64(at + 10)), 29);
  return (without_digits(load64(at + category_at_)) ^ phase * odd) * odd >> (64 - category_bits);
}

std::size_t KinetoLayouts::beginning(const char* at) const {
  std::uint64_t mixed = without_digits(load64(at + 4)) ^ std::rotl(without_digits(load64(at + 10)), 29);
  for (std::size_t i = category_at_; i < category_at_ + 48; i += 8) mixed = (std::rotl(mixed, 23) ^ load64(at + i)) * odd;
  return mixed >> (64 - guess_bits);
}

inline std::uint32_t KinetoLayouts::logged(const Replay& replay, std::uint32_t place) const {
  return replay.log[std::min<std::size_t>(place & (log_size - 1), replay.log.size() - 1)];
}

constexpr std::size_t guess_place(std::uint32_t mixed) {
  return mixed * 0x9E37'79B1u >> (32 - guess_bits);
}

// Writes down what came, and where to guess from next.
inline void KinetoLayouts::follow(Replay& replay, const char* at, std::uint32_t layout) {
  std::uint32_t ahead = 0;
  while (ahead < 3 && logged(replay, replay.at + ahead) != layout) ++ahead;
  if (ahead < 3) {
    replay.at += ahead + 1;
  }
  if (ahead != 0) {
    const std::size_t eight = guess_place(replay.eight), three = guess_place(replay.three);
    if (ahead == 3) {
      if (logged(replay, after_eight_[eight]) == layout)
        replay.at = after_eight_[eight] + 1;
      else if (logged(replay, after_three_[three]) == layout)
        replay.at = after_three_[three] + 1;
    }
    after_eight_[eight] = replay.written;
    after_three_[three] = replay.written;
    same_beginning_[beginning(at)] = layout;
    if (const std::uint32_t eldest = rests_[layout].eldest; eldest != layout) parted_[parting(eldest, at)] = layout;
  } else if (replay.three % 8 == 0) {
    // Noted here and there even where the guess was right: it is what a reader that leaps to another place of the file finds its way by.
    after_three_[guess_place(replay.three)] = replay.written;
  }
  if (replay.log.size() < log_size)
    replay.log.push_back(layout);
  else
    replay.log[replay.written & (log_size - 1)] = layout;
  ++replay.written;
  const std::uint32_t mixed = layout * 0x85EB'CA77u;
  replay.eight = replay.eight << 4 ^ mixed;
  replay.three = replay.three << 11 ^ mixed;
}

namespace {

inline const char* read_field(KinetoField field, const char* at, std::uint64_t& value) {
  switch (field) {
    case KinetoField::time:
    case KinetoField::duration:
      return read_time(at, value);
    case KinetoField::bytes:
    case KinetoField::sequence:
    case KinetoField::total_allocated:
    case KinetoField::total_reserved:
      return read_signed(at, value);
    case KinetoField::left_out_number:
      return skip_number(at);
    case KinetoField::left_out_text:
      return skip_text(at);
    default:
      return read_unsigned(at, value);
  }
}

}  // namespace

inline const char* KinetoLayouts::match(std::uint32_t number, const char* at, Values& values) const {
  const Layout& layout = layouts_[number];
  const char* const texts = texts_.data();
  const unsigned fields = layout.fields;
  for (unsigned i = 0; i < fields; ++i) {
    const Part part = layout.parts[i];
    if (!same_bytes(texts + part.text, at, part.length)) return nullptr;
    at = read_field(part.field, at + part.length, values[static_cast<std::size_t>(part.field)]);
    if (at == nullptr) return nullptr;
  }
  const Part last = layout.parts[fields];
  return same_bytes(texts + last.text, at, last.length) ? at + last.length : nullptr;
}

// A place in parted_ that says at which byte of which stretch the text is not the eldest layout's any more, and what stands there. 0 where it never was.
std::size_t KinetoLayouts::parting(std::uint32_t eldest, const char* at) const {
  const Layout& layout = layouts_[eldest];
  std::uint64_t ignored = 0;
  for (unsigned i = 0; i <= layout.fields; ++i) {
    const Part part = layout.parts[i];
    const char* const text = texts_.data() + part.text;
    if (!same_bytes(text, at, part.length)) {
      if (i == 0) return 0;
      std::size_t same = 0;
      while (text[same] == at[same]) ++same;
      const std::uint64_t where = (std::uint64_t{eldest} << 32 | std::uint64_t{i} << 16 | same) * odd;
      const std::uint64_t what = (load64(at + same) ^ std::rotl(load64(at + same + 8), 21) ^ std::rotl(load64(at + same + 16), 42)) * odd;
      return (where ^ std::rotl(what, 17)) * odd >> (64 - guess_bits);
    }
    if (i == layout.fields) break;
    at = read_field(part.field, at + part.length, ignored);
    if (at == nullptr) break;
  }
  return 0;
}

// The first guess was wrong: the others.
const char* KinetoLayouts::match_other(const Replay& replay, const char* at, Values& values, std::uint32_t& found) const {
  const std::uint32_t guesses[] = {logged(replay, replay.at),
                                   logged(replay, replay.at + 1),
                                   logged(replay, replay.at + 2),
                                   logged(replay, after_eight_[guess_place(replay.eight)]),
                                   logged(replay, after_three_[guess_place(replay.three)]),
                                   same_beginning_[beginning(at)]};
  for (std::size_t i = 1; i < std::size(guesses); ++i) {
    found = guesses[i];
    if (std::find(guesses, guesses + i, found) != guesses + i) continue;
    if (const char* const behind = match(found, at, values); behind != nullptr) return behind;
  }
  const std::size_t parted = parting(rests_[guesses[std::size(guesses) - 1]].eldest, at);
  found = parted_[parted];
  return found == 0 ? nullptr : match(found, at, values);
}

void KinetoLayouts::add_facts(const Layout& layout, const Rest& rest, const Values& values, std::uint32_t row, KinetoBlock& block) const {
  const SliceId slice{row};
  const auto has = [&](KinetoField field) { return (layout.has & bit(field)) != 0; };
  const auto value = [&](KinetoField field) { return values[static_cast<std::size_t>(field)]; };
  const auto small = [&](KinetoField field) { return has(field) ? static_cast<std::uint32_t>(value(field)) : 0xFFFF'FFFFu; };
  if (has(KinetoField::sequence))
    block.sequences.push_back(
        {slice, static_cast<std::int64_t>(value(KinetoField::sequence)), has(KinetoField::forward_thread) ? value(KinetoField::forward_thread) : no_number});
  if (has(KinetoField::python_id) && layout.slice_kind == SliceKind::python_function)
    block.python.push_back({slice, small(KinetoField::python_id), small(KinetoField::python_parent), small(KinetoField::python_module)});
  if (has(KinetoField::bytes)) block.transfers.push_back({slice, static_cast<std::int64_t>(value(KinetoField::bytes))});
  if (layout.slice_kind == SliceKind::device_sync)
    block.syncs.push_back({slice, rest.wait_on_stream, has(KinetoField::wait_on_record) ? value(KinetoField::wait_on_record) : no_number});
}

// False where a value asks for more than this: then the event is read in full.
inline bool KinetoLayouts::add(std::uint32_t number, const Values& values, KinetoBlock& block) const {
  const Layout& layout = layouts_[number];
  const auto value = [&](KinetoField field) { return values[static_cast<std::size_t>(field)]; };
  const auto signed_value = [&](KinetoField field) { return static_cast<std::int64_t>(value(field)); };
  const auto has = [&](KinetoField field) { return (layout.has & bit(field)) != 0; };
  const auto time = static_cast<Nanoseconds>(value(KinetoField::time));
  switch (layout.outcome) {
    case Outcome::slice: {
      const auto duration = static_cast<Nanoseconds>(value(KinetoField::duration));
      if (time == 0 || duration > latest_time - time) return false;
      if (layout.has_facts)
        for (const KinetoField field : {KinetoField::python_id, KinetoField::python_parent, KinetoField::python_module})
          if (has(field) && value(field) >= 0xFFFF'FFFFu) return false;
      KinetoSlices& slices = block.slices;
      const std::uint32_t row = slices.add();
      slices.start[row] = time;
      slices.duration[row] = duration;
      slices.name[row] = layout.name;
      slices.detail[row] = layout.detail;
      slices.track[row] = layout.track;
      slices.kind[row] = layout.slice_kind;
      slices.correlation[row] = has(KinetoField::correlation) ? value(KinetoField::correlation) : no_number;
      slices.external[row] = has(KinetoField::external) ? value(KinetoField::external) : no_number;
      if (layout.has_facts) add_facts(layout, rests_[number], values, row, block);
      break;
    }
    case Outcome::launch_arrow:
      ++block.launch_arrows;
      break;
    case Outcome::flow:
      block.flows.push_back({value(KinetoField::id), time, TrackId{layout.track}, rests_[number].flow_kind, rests_[number].flow_starts});
      break;
    case Outcome::memory: {
      const Rest& rest = rests_[number];
      block.memory.push_back({time, TrackId{layout.track}, rest.device_type, rest.device_number, has(KinetoField::address) ? value(KinetoField::address) : 0,
                              signed_value(KinetoField::bytes), has(KinetoField::total_allocated) ? signed_value(KinetoField::total_allocated) : -1,
                              has(KinetoField::total_reserved) ? signed_value(KinetoField::total_reserved) : -1});
      break;
    }
  }
  ++block.events;
  return true;
}

const char* KinetoLayouts::read(const char* at, const char* end, KinetoBlock& block) {
  Values values{};
  for (;;) {
    Replay& replay = replays_[category(at)];
    std::uint32_t found = logged(replay, replay.at);
    __builtin_prefetch(&layouts_[logged(replay, replay.at + 2)]);
    __builtin_prefetch(reinterpret_cast<const char*>(&layouts_[logged(replay, replay.at + 2)]) + 64);
    const char* behind = match(found, at, values);
    if (behind == nullptr) behind = match_other(replay, at, values, found);
    if (behind == nullptr || behind > end || !add(found, values, block)) return at;
    follow(replay, at, found);
    const char* next = behind;
    if (next == end || *next != ',') return behind;
    next = skip_space(next + 1, end);
    if (next == end || *next != '{') return behind;
    at = next;
  }
}

// The place of a text in texts_, where each distinct one stands once: what many layouts share stays in the nearest cache.
std::uint32_t KinetoLayouts::intern_stretch(std::string_view text) {
  if (stretch_count_ * 2 >= stretches_.size()) {
    std::vector<Stretch> old(stretches_.size() * 2);
    old.swap(stretches_);
    for (const Stretch& stretch : old) {
      if (stretch.length == 0) continue;
      std::size_t slot = hash_bytes({texts_.data() + stretch.text, stretch.length}) & (stretches_.size() - 1);
      while (stretches_[slot].length != 0) slot = (slot + 1) & (stretches_.size() - 1);
      stretches_[slot] = stretch;
    }
  }
  std::size_t slot = hash_bytes(text) & (stretches_.size() - 1);
  for (; stretches_[slot].length != 0; slot = (slot + 1) & (stretches_.size() - 1))
    if (text == std::string_view(texts_.data() + stretches_[slot].text, stretches_[slot].length)) return stretches_[slot].text;
  texts_.resize(texts_.size() - padding);
  const auto place = static_cast<std::uint32_t>(texts_.size());
  texts_.insert(texts_.end(), text.begin(), text.end());
  texts_.resize(texts_.size() + padding);
  stretches_[slot] = {place, static_cast<std::uint32_t>(text.size())};
  ++stretch_count_;
  return place;
}

// What an event of this text becomes. False where that cannot be said by a layout.
bool KinetoLayouts::describe(std::string_view text, const KinetoEventParser& parser, const KinetoBlock& block, Layout& layout, Rest& rest) {
  const KinetoEvent& event = parser.event();
  const std::vector<KinetoFieldText>& fields = parser.fields();
  if (text.size() > longest_text || fields.size() > most_fields || !event.has_time || event.category == KinetoCategory::derived) return false;
  const char* from = text.data();
  const auto add_part = [&](const char* to, KinetoField field) {
    const std::string_view stretch(from, static_cast<std::size_t>(to - from));
    layout.parts[layout.fields] = {intern_stretch(stretch), static_cast<std::uint16_t>(stretch.size()), field, 0};
  };
  for (const KinetoFieldText& field : fields) {
    const bool repeats = field.field != KinetoField::left_out_number && field.field != KinetoField::left_out_text;
    if (repeats && (layout.has & bit(field.field)) != 0) return false;  // one key twice
    layout.has |= bit(field.field);
    add_part(field.text.data(), field.field);
    ++layout.fields;
    from = field.text.data() + field.text.size();
  }
  add_part(text.data() + text.size(), KinetoField::left_out_number);

  const auto has = [&](KinetoField field) { return (layout.has & bit(field)) != 0; };
  if (!has(KinetoField::time)) return false;
  if ((event.phase == 's' || event.phase == 'f') && has(KinetoField::id)) {
    if (event.category == KinetoCategory::launch_flow) {
      layout.outcome = Outcome::launch_arrow;
      return true;
    }
    const FlowEnd& flow = block.flows[block.flows.size() - 1];
    layout.outcome = Outcome::flow;
    layout.track = static_cast<std::uint32_t>(flow.track);
    rest.flow_kind = flow.kind;
    rest.flow_starts = flow.starts;
    return true;
  }
  if (event.is_memory) {
    if (!has(KinetoField::bytes) || has(KinetoField::address) != (event.address != 0)) return false;
    if (has(KinetoField::total_allocated) != (event.total_allocated != -1) || has(KinetoField::total_reserved) != (event.total_reserved != -1)) return false;
    layout.outcome = Outcome::memory;
    layout.track = static_cast<std::uint32_t>(block.memory[block.memory.size() - 1].track);
    rest.device_type = event.device_type;
    rest.device_number = event.device_number;
    return true;
  }
  if (event.phase != 'X' || !has(KinetoField::duration) || event.duration < 0) return false;
  // A value that is there without being a field (a quoted number) would be the same in all events of the layout.
  if (has(KinetoField::correlation) != (event.correlation != no_number) || has(KinetoField::external) != (event.external != no_number)) return false;
  if (has(KinetoField::sequence) != event.has_sequence || has(KinetoField::python_id) != event.has_python_id || has(KinetoField::bytes) != event.has_bytes)
    return false;
  if (has(KinetoField::forward_thread) != (event.forward_thread != no_number) ||
      has(KinetoField::wait_on_record) != (event.wait_on_record_correlation != no_number))
    return false;
  if (has(KinetoField::python_parent) != (event.python_parent != 0xFFFF'FFFFu) || has(KinetoField::python_module) != (event.python_module != 0xFFFF'FFFFu))
    return false;
  const KinetoSlices& slices = block.slices;
  const std::size_t row = slices.count - 1;
  layout.outcome = Outcome::slice;
  layout.slice_kind = slices.kind[row];
  layout.name = slices.name[row];
  layout.detail = slices.detail[row];
  layout.track = slices.track[row];
  rest.wait_on_stream = event.wait_on_stream;
  layout.has_facts = has(KinetoField::sequence) || has(KinetoField::python_id) || has(KinetoField::bytes) || layout.slice_kind == SliceKind::device_sync;
  return true;
}

void KinetoLayouts::learn(std::string_view text, const KinetoEventParser& parser, const KinetoBlock& block, bool known_detail) {
  if (const std::string_view category = parser.category_text(); category.data() > text.data() && category.data() < text.data() + furthest_category)
    category_at_ = static_cast<std::size_t>(category.data() - text.data());
  if (!known_detail && layouts_.size() > most_of_new_details) return;
  if (layouts_.size() == most_layouts || texts_.size() > most_text) clear();
  Layout layout;
  Rest rest;
  if (!describe(text, parser, block, layout, rest)) return;
  const auto parts_of = [](const Layout& of) { return std::string_view(reinterpret_cast<const char*>(of.parts.data()), sizeof of.parts); };
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_bytes(parts_of(layout)) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask)
    if (layouts_[slots_[slot] - 1].fields == layout.fields && parts_of(layouts_[slots_[slot] - 1]) == parts_of(layout))
      return follow(replays_[category(text.data())], text.data(), slots_[slot] - 1);
  const auto number = static_cast<std::uint32_t>(layouts_.size());
  slots_[slot] = number + 1;
  // Who was the first to begin alike.
  rest.eldest = number;
  std::size_t place = (layout.parts[0].text * odd >> 40) & mask;
  for (; first_stretches_[place] != 0; place = (place + 1) & mask) {
    const std::uint32_t like = first_stretches_[place] - 1;
    if (layouts_[like].parts[0].text != layout.parts[0].text || layouts_[like].parts[0].length != layout.parts[0].length) continue;
    rest.eldest = like;
    break;
  }
  if (first_stretches_[place] == 0) first_stretches_[place] = number + 1;
  layouts_.push_back(layout);
  rests_.push_back(rest);
  follow(replays_[category(text.data())], text.data(), number);
}

}  // namespace stepscope
