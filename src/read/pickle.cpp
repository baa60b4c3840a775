// The pickle machine (Python's Lib/pickletools.py describes its opcodes): a stack, a memo, and marks. Values are rows of a table, so that shared lists and
// dictionaries stay shared.
#include "read/pickle.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/progress.h"
#include "read/flight_recorder.h"
#include "read/head.h"
#include "read/reader.h"

namespace stepscope {

namespace {

constexpr std::size_t most_pickle_bytes = 32u << 20;
constexpr std::size_t most_json_bytes = 256u << 20;
constexpr std::size_t most_depth = 64;

enum class ValueKind : std::uint8_t { null, boolean, integer, real, text, list, dictionary };
struct Value {
  ValueKind kind = ValueKind::null;
  std::uint32_t part = 0;     // of a text: its length; of a list or dictionary: which of the machine's containers
  std::uint64_t payload = 0;  // an integer or a double, as bits; of a text: where it begins in the pickle
};

std::string_view opcode_name(unsigned char opcode) {
  switch (opcode) {
    case 'c':
      return "GLOBAL";
    case 0x93:
      return "STACK_GLOBAL";
    case 'R':
      return "REDUCE";
    case 'i':
      return "INST";
    case 'o':
      return "OBJ";
    case 0x81:
      return "NEWOBJ";
    case 0x92:
      return "NEWOBJ_EX";
    case 'b':
      return "BUILD";
    case 0x82:
    case 0x83:
    case 0x84:
      return "EXT";
    case 'P':
      return "PERSID";
    case 'Q':
      return "BINPERSID";
    default:
      return "";
  }
}

class Machine {
 public:
  explicit Machine(std::string_view pickle) : pickle_(pickle) {}

  Result<std::string> run() {
    values_.emplace_back();  // row 0: None
    while (problem_.empty()) {
      if (place_ >= pickle_.size()) {
        fail("pickle ends early");
        break;
      }
      opcode_place_ = place_;
      const auto opcode = static_cast<unsigned char>(pickle_[place_++]);
      if (opcode == '.') break;
      step(opcode);
    }
    if (problem_.empty() && stack_.size() != 1) fail("pickle does not end in one value");
    std::string json;
    if (problem_.empty()) write(stack_[0], 0, json);
    if (!problem_.empty()) return std::unexpected(Error{"", opcode_place_, problem_, remedy_});
    return json;
  }

 private:
  void fail(std::string problem, std::string remedy = "Copy the file again, or dump it anew.") {
    if (problem_.empty()) problem_ = std::move(problem), remedy_ = std::move(remedy);
  }

  std::uint64_t number(std::size_t width) {
    if (pickle_.size() - place_ < width) {
      fail("pickle ends early");
      place_ = pickle_.size();
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value |= static_cast<std::uint64_t>(static_cast<unsigned char>(pickle_[place_ + i])) << (8 * i);
    place_ += width;
    return value;
  }
  std::string_view bytes(std::uint64_t count) {
    if (pickle_.size() - place_ < count) {
      fail("pickle ends early");
      return {};
    }
    const std::string_view text = pickle_.substr(place_, count);
    place_ += count;
    return text;
  }

  void push(Value value) {
    values_.push_back(value);
    stack_.push_back(static_cast<std::uint32_t>(values_.size() - 1));
  }
  void push_integer(std::int64_t integer) { push({ValueKind::integer, 0, static_cast<std::uint64_t>(integer)}); }
  void push_text(std::uint64_t length) {
    const std::size_t begin = place_;
    push({ValueKind::text, static_cast<std::uint32_t>(bytes(length).size()), begin});
  }
  void push_container(ValueKind kind, std::vector<std::uint32_t> items) {
    containers_.push_back(std::move(items));
    push({kind, static_cast<std::uint32_t>(containers_.size() - 1), 0});
  }
  std::uint32_t pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
      fail("pickle takes a value that is not there");
      return 0;
    }
    const std::uint32_t row = stack_.back();
    stack_.pop_back();
    return row;
  }
  std::vector<std::uint32_t> pop_to_mark() {
    if (marks_.empty()) {
      fail("pickle has no mark where one is needed");
      return {};
    }
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    std::vector<std::uint32_t> rows(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark);
    return rows;
  }
  // The list or dictionary that items go into stays on the stack.
  void extend(ValueKind kind, std::span<const std::uint32_t> items) {
    const std::uint32_t row = pop();
    if (!problem_.empty()) return;
    if (values_[row].kind != kind || (kind == ValueKind::dictionary && items.size() % 2 != 0)) return fail("pickle adds items to what cannot hold them");
    std::vector<std::uint32_t>& target = containers_[values_[row].part];
    target.insert(target.end(), items.begin(), items.end());
    stack_.push_back(row);
  }
  void memoize(std::uint64_t slot) {
    if (slot > pickle_.size()) return fail("pickle's memo is out of proportion");
    const std::uint32_t row = pop();
    if (!problem_.empty()) return;
    stack_.push_back(row);
    if (memo_.size() <= slot) memo_.resize(slot + 1, unset);
    memo_[slot] = row;
    ++memoized_;
  }
  void recall(std::uint64_t slot) {
    if (slot >= memo_.size() || memo_[slot] == unset) return fail("pickle refers to a value that it has not memoized");
    stack_.push_back(memo_[slot]);
  }
  void push_long(std::uint64_t width) {
    const std::string_view digits = bytes(width);
    if (!problem_.empty()) return;
    if (digits.size() > 8) return fail("pickle holds an integer of more than 64 bits");
    std::uint64_t value = digits.empty() || static_cast<unsigned char>(digits.back()) < 0x80 ? 0 : ~std::uint64_t{0};
    for (std::size_t i = digits.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(digits[i]);
    push_integer(static_cast<std::int64_t>(value));
  }
  void push_tuple(std::size_t count) {
    std::vector<std::uint32_t> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push_container(ValueKind::list, std::move(items));
  }

  void step(unsigned char opcode) {
    switch (opcode) {
      case 0x80:
        (void)number(1);
        return;  // PROTO
      case 0x95:
        (void)number(8);
        return;  // FRAME
      case '(':
        marks_.push_back(stack_.size());
        return;  // MARK
      case 'N':
        push({});
        return;  // NONE
      case 0x88:
        push({ValueKind::boolean, 0, 1});
        return;  // NEWTRUE
      case 0x89:
        push({ValueKind::boolean, 0, 0});
        return;  // NEWFALSE
      case 'K':
        push_integer(static_cast<std::int64_t>(number(1)));
        return;  // BININT1
      case 'M':
        push_integer(static_cast<std::int64_t>(number(2)));
        return;  // BININT2
      case 'J':
        push_integer(static_cast<std::int32_t>(number(4)));
        return;  // BININT
      case 0x8a:
        push_long(number(1));
        return;  // LONG1
      case 'G':
        push({ValueKind::real, 0, std::byteswap(number(8))});
        return;  // BINFLOAT, big-endian
      case 0x8c:
        push_text(number(1));
        return;  // SHORT_BINUNICODE
      case 'X':
        push_text(number(4));
        return;  // BINUNICODE
      case 0x8d:
        push_text(number(8));
        return;  // BINUNICODE8
      case ']':
        push_container(ValueKind::list, {});
        return;  // EMPTY_LIST
      case ')':
        push_container(ValueKind::list, {});
        return;  // EMPTY_TUPLE
      case '}':
        push_container(ValueKind::dictionary, {});
        return;  // EMPTY_DICT
      case 't':
        push_container(ValueKind::list, pop_to_mark());
        return;  // TUPLE
      case 0x85:
      case 0x86:
      case 0x87:
        push_tuple(opcode - 0x84u);
        return;    // TUPLE1, TUPLE2, TUPLE3
      case 'a': {  // APPEND
        const std::uint32_t item[] = {pop()};
        return extend(ValueKind::list, item);
      }
      case 'e':
        return extend(ValueKind::list, pop_to_mark());  // APPENDS
      case 's': {                                       // SETITEM
        const std::uint32_t value = pop(), key = pop();
        const std::uint32_t items[] = {key, value};
        return extend(ValueKind::dictionary, items);
      }
      case 'u':
        return extend(ValueKind::dictionary, pop_to_mark());  // SETITEMS
      case 0x94:
        return memoize(memoized_);  // MEMOIZE
      case 'q':
        return memoize(number(1));  // BINPUT
      case 'r':
        return memoize(number(4));  // LONG_BINPUT
      case 'h':
        return recall(number(1));  // BINGET
      case 'j':
        return recall(number(4));  // LONG_BINGET
      default:
        break;
    }
    const std::string_view name = opcode_name(opcode);
    fail(
        fmt::format("pickle opcode {} is outside the allowed set: {}; nothing was executed", name.empty() ? fmt::format("0x{:02x}", opcode) : std::string(name),
                    name.empty() ? "it does not build plain data" : "it can call or load Python code"),
        "A memory snapshot or a flight recorder dump holds plain data only: do not open this file in Python unless you trust who wrote it.");
  }

  // Recursion is bounded by most_depth; shared values are written again each time they are met, up to the limit.
  void write(std::uint32_t row, std::size_t depth, std::string& json) {
    if (depth > most_depth) return fail("pickle nests values too deeply, or a value within itself");
    // Shared values are written out again (stack frames mostly: up to ten times the pickle's size).
    if (json.size() > std::min(32 * pickle_.size() + 4096, most_json_bytes)) return fail("pickle's value is out of proportion to its size");
    const Value value = values_[row];
    switch (value.kind) {
      case ValueKind::null:
        json += "null";
        return;
      case ValueKind::boolean:
        json += value.payload != 0 ? "true" : "false";
        return;
      case ValueKind::integer:
        json += std::to_string(static_cast<std::int64_t>(value.payload));
        return;
      case ValueKind::real: {
        const double real = std::bit_cast<double>(value.payload);
        json += std::isfinite(real) ? fmt::format("{}", real) : "null";
        return;
      }
      case ValueKind::text:
        write_text(text_of(value), json);
        return;
      case ValueKind::list: {
        const std::vector<std::uint32_t>& items = containers_[value.part];
        json += '[';
        for (std::size_t i = 0; i < items.size() && problem_.empty(); ++i) {
          if (i != 0) json += ',';
          write(items[i], depth + 1, json);
        }
        json += ']';
        return;
      }
      case ValueKind::dictionary: {
        const std::vector<std::uint32_t>& items = containers_[value.part];
        json += '{';
        for (std::size_t i = 0; i < items.size() && problem_.empty(); i += 2) {
          if (i != 0) json += ',';
          const Value key = values_[items[i]];
          if (key.kind == ValueKind::text)
            write_text(text_of(key), json);
          else if (key.kind == ValueKind::integer)
            write_text(std::to_string(static_cast<std::int64_t>(key.payload)), json);
          else
            return fail("pickle has a dictionary key that is no text");
          json += ':';
          write(items[i + 1], depth + 1, json);
        }
        json += '}';
        return;
      }
    }
  }
  std::string_view text_of(const Value& value) const { return pickle_.substr(value.payload, value.part); }
  static void write_text(std::string_view text, std::string& json) {
    json += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\')
        json += {'\\', c};
      else if (static_cast<unsigned char>(c) < 0x20)
        json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      else
        json += c;
    }
    json += '"';
  }

  static constexpr std::uint32_t unset = 0xFFFF'FFFFu;
  std::string_view pickle_;
  std::size_t place_ = 0, opcode_place_ = 0;
  std::vector<Value> values_;                           // 16 bytes each: a hostile pickle can make one per byte
  std::vector<std::vector<std::uint32_t>> containers_;  // rows of values_; of a dictionary: key, value, key, value, …
  std::vector<std::uint32_t> stack_, memo_;
  std::vector<std::size_t> marks_;
  std::size_t memoized_ = 0;
  std::string problem_, remedy_;
};

int recognises(std::string_view head, std::string_view) {
  // PROTO 2 to 5, then a frame or the outermost value, which of these dumps is a dictionary or a list.
  return head.size() >= 3 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5 && std::string_view("\x95}](c").contains(head[2]) ? 90 : 0;
}

Result<void> read(ByteSource& source, const ReadOptions& options, TimelineBuilder& builder) {
  const std::string path(source.path());
  const auto pickle = read_whole(source, most_pickle_bytes);
  if (!pickle) return std::unexpected(pickle.error());
  if (options.progress != nullptr) options.progress->add(source.raw_bytes_read());
  auto json = pickle_as_json(*pickle);
  if (!json) {
    json.error().file = path;
    return std::unexpected(std::move(json.error()));
  }
  const auto keys = top_level_keys(*json);
  if (has_key(keys, "segments") || has_key(keys, "device_traces"))
    return std::unexpected(Error{path, 0, "PyTorch memory snapshot: not read yet",
                                 "Analyse the trace of torch.profiler (export_chrome_trace), recorded with profile_memory=True: it holds the allocations."});
  if (!has_key(keys, "entries") && !has_key(keys, "pg_config"))
    return std::unexpected(
        Error{path, 0, "a pickle that is no flight recorder dump and no memory snapshot", "Give a file that PyTorch's flight recorder wrote."});
  Rank rank;
  rank.file = path;
  rank.bytes = pickle->size();
  return add_flight_recorder_dump(*json, std::move(rank), builder);
}

}  // namespace

Result<std::string> pickle_as_json(std::string_view pickle) {
  return Machine(pickle).run();
}

extern const Reader pickle_reader;
const Reader pickle_reader{"pickle", "pickles of PyTorch's flight recorder", "*.pickle", recognises, read};

}  // namespace stepscope
