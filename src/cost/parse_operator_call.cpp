// Kineto's record of a call's arguments: the members "Input Dims", "Input type", "Input Strides" and "Concrete Inputs" of a slice's detail text, parallel
// lists with one entry per argument. A TensorList has a list of shapes (and, in newer producers, of types) in its place; long ones are recorded empty.

#include <charconv>

#include "cost/arguments.h"

namespace stepscope {

namespace {

// A cursor over JSON text. Every read either succeeds and moves on, or fails and leaves the text unusable.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  void blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
  }
  bool at_end() {
    blanks();
    return at_ == end_;
  }
  bool take(char c) {
    blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool next_is(char c) {
    blanks();
    return at_ != end_ && *at_ == c;
  }
  // The text between quotes, with its escapes as written.
  std::optional<std::string_view> string() {
    if (!take('"')) return std::nullopt;
    const char* first = at_;
    for (; at_ != end_; ++at_) {
      if (*at_ == '"') return std::string_view(first, static_cast<std::size_t>(at_++ - first));
      if (*at_ == '\\' && ++at_ == end_) break;
    }
    return std::nullopt;
  }
  std::optional<std::int64_t> integer() {
    blanks();
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at_, end_, value);
    if (error != std::errc()) return std::nullopt;
    at_ = next;
    return value;
  }
  // Skips one value of any kind, without recursion.
  bool skip_value() {
    int depth = 0;
    do {
      blanks();
      if (at_ == end_) return false;
      const char c = *at_;
      if (c == '"') {
        if (!string()) return false;
      } else if (c == '[' || c == '{') {
        ++depth;
        ++at_;
      } else if (c == ']' || c == '}') {
        if (--depth < 0) return false;
        ++at_;
      } else if ((c == ',' || c == ':') && depth > 0) {
        ++at_;
        continue;
      } else {
        const char* first = at_;
        while (at_ != end_ && *at_ != ',' && *at_ != ']' && *at_ != '}' && *at_ != ':' && *at_ != '"' && *at_ != '[' && *at_ != '{') ++at_;
        if (at_ == first) return false;
      }
    } while (depth > 0);
    return true;
  }

 private:
  const char* at_;
  const char* end_;
};

// Calls each(index) before every element of the list at the cursor; each must consume the element.
template <class Each>
bool each_element(Cursor& cursor, Each each) {
  if (!cursor.take('[')) return false;
  if (cursor.take(']')) return true;
  for (std::size_t index = 0;; ++index) {
    if (!each(index)) return false;
    if (cursor.take(']')) return true;
    if (!cursor.take(',')) return false;
  }
}

template <class Rows>
auto& row(Rows& rows, std::size_t index) {
  if (rows.size() <= index) rows.resize(index + 1);
  return rows[index];
}

// Sizes of one argument: "[2, 3]", or "[[2, 3], [4]]" for a TensorList, whose elements get them.
bool parse_sizes(Cursor& cursor, Argument& argument, Shape Argument::* member) {
  return each_element(cursor, [&](std::size_t index) {
    if (!cursor.next_is('[')) {
      const std::optional<std::int64_t> size = cursor.integer();
      if (size) (argument.*member).push_back(*size);
      return size.has_value();
    }
    Argument& element = row(argument.list, index);
    return each_element(cursor, [&](std::size_t) {
      if (cursor.next_is('[')) return cursor.skip_value();  // lists of lists of tensors: nothing asks for them
      const std::optional<std::int64_t> size = cursor.integer();
      if (size) (element.*member).push_back(*size);
      return size.has_value();
    });
  });
}

bool parse_types(Cursor& cursor, std::vector<Argument>& arguments) {
  return each_element(cursor, [&](std::size_t index) {
    Argument& argument = row(arguments, index);
    if (cursor.next_is('[')) {
      argument.type_name = "TensorList";
      return each_element(cursor, [&](std::size_t element) {
        const std::optional<std::string_view> name = cursor.string();
        if (!name) return false;
        row(argument.list, element).type_name = *name;
        return true;
      });
    }
    const std::optional<std::string_view> name = cursor.string();
    if (name) argument.type_name = *name;
    return name.has_value();
  });
}

bool parse_concrete(Cursor& cursor, std::vector<Argument>& arguments) {
  return each_element(cursor, [&](std::size_t index) {
    if (!cursor.next_is('"')) return cursor.skip_value();
    const std::optional<std::string_view> text = cursor.string();
    if (text) row(arguments, index).concrete = *text;
    return text.has_value();
  });
}

void settle(Argument& argument) {
  argument.type = parse_data_type(argument.type_name);
  for (Argument& element : argument.list) {
    element.type = parse_data_type(element.type_name);
    element.is_tensor = true;
  }
  argument.is_tensor = argument.list.empty() && (argument.type != DataType::unknown || !argument.shape.empty());
}

}  // namespace

std::optional<OperatorCall> parse_operator_call(std::string_view name, std::string_view detail) {
  if (detail.find("\"Input Dims\"") == std::string_view::npos) return std::nullopt;
  OperatorCall call;
  call.name = name;
  bool has_shapes = false;
  Cursor cursor(detail);
  while (!cursor.at_end()) {
    const std::optional<std::string_view> key = cursor.string();
    if (!key || !cursor.take(':')) return std::nullopt;
    bool good = false;
    if (*key == "Input Dims") {
      has_shapes = true;
      good = each_element(cursor, [&](std::size_t index) { return parse_sizes(cursor, row(call.arguments, index), &Argument::shape); });
    } else if (*key == "Input Strides") {
      good = each_element(cursor, [&](std::size_t index) { return parse_sizes(cursor, row(call.arguments, index), &Argument::strides); });
    } else if (*key == "Input type") {
      good = parse_types(cursor, call.arguments);
    } else if (*key == "Concrete Inputs") {
      good = parse_concrete(cursor, call.arguments);
    } else {
      good = cursor.skip_value();
    }
    if (!good) return std::nullopt;
    if (!cursor.at_end() && !cursor.take(',')) return std::nullopt;
  }
  if (!has_shapes) return std::nullopt;
  for (Argument& argument : call.arguments) settle(argument);
  return call;
}

}  // namespace stepscope
