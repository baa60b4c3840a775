#include "read/kineto_event.h"

#include <algorithm>
#include <iterator>

#include "base/names.h"
#include "read/key_table.h"
#include "read/kineto_number.h"

namespace stepscope {

namespace {

constexpr KeyTable categories({
    KeyMeaning<KinetoCategory>{"Kernel", KinetoCategory::kernel},
    {"Memcpy", KinetoCategory::copy},
    {"Memset", KinetoCategory::fill},
    {"Operator", KinetoCategory::operation},
    {"Runtime", KinetoCategory::runtime_call},
    {"Sync", KinetoCategory::device_sync},
    {"Trace", KinetoCategory::profiler},
    {"ac2g", KinetoCategory::launch_flow},
    {"async", KinetoCategory::launch_flow},
    {"async_cpu_to_gpu", KinetoCategory::launch_flow},
    {"cpu_op", KinetoCategory::operation},
    {"cuda_driver", KinetoCategory::driver_call},
    {"cuda_runtime", KinetoCategory::runtime_call},
    {"cuda_sync", KinetoCategory::device_sync},
    {"fwdbwd", KinetoCategory::forward_backward},
    {"stepscope_critical_path", KinetoCategory::derived},
    {"gpu_memcpy", KinetoCategory::copy},
    {"gpu_memset", KinetoCategory::fill},
    {"gpu_user_annotation", KinetoCategory::device_annotation},
    {"kernel", KinetoCategory::kernel},
    {"overhead", KinetoCategory::overhead},
    {"privateuse1_driver", KinetoCategory::driver_call},
    {"privateuse1_runtime", KinetoCategory::runtime_call},
    {"python_function", KinetoCategory::python_function},
    {"user_annotation", KinetoCategory::annotation},
    {"xpu_driver", KinetoCategory::driver_call},
    {"xpu_runtime", KinetoCategory::runtime_call},
});

enum class Member : std::uint8_t { unused, arguments, category, duration, id, name, phase, process, thread, time };
constexpr KeyTable members({
    KeyMeaning<Member>{"args", Member::arguments},
    {"cat", Member::category},
    {"dur", Member::duration},
    {"id", Member::id},
    {"name", Member::name},
    {"ph", Member::phase},
    {"pid", Member::process},
    {"tid", Member::thread},
    {"ts", Member::time},
});

enum class Argument : std::uint8_t {
  detail,
  left_out,          // the same in events that are alike
  left_out_varying,  // different in each
  left_out_if_empty,
  left_out_if_true,
  bytes,
  correlation,
  device,
  external,
  forward_thread,
  python_id,
  python_module,
  python_parent,
  sequence,
  stream,
  wait_on_record,
  wait_on_stream,
};
constexpr KeyTable slice_arguments({
    KeyMeaning<Argument>{"Call stack", Argument::left_out_if_empty},
    {"Ev Idx", Argument::left_out_varying},
    {"External Id", Argument::external},
    {"External id", Argument::external},
    {"Fwd thread id", Argument::forward_thread},
    {"Module Hierarchy", Argument::left_out_if_empty},
    {"Profiler Event Index", Argument::left_out_varying},
    {"Python id", Argument::python_id},
    {"Python module id", Argument::python_module},
    {"Python parent id", Argument::python_parent},
    {"Record function id", Argument::left_out_varying},
    {"Sequence number", Argument::sequence},
    {"Trace iteration", Argument::left_out_varying},
    {"Trace name", Argument::left_out},
    {"bytes", Argument::bytes},
    {"cbid", Argument::left_out},
    {"cid", Argument::left_out},
    {"context", Argument::left_out},
    {"correlation", Argument::correlation},
    {"device", Argument::device},
    {"dst", Argument::left_out_varying},
    {"external id", Argument::external},
    {"finished", Argument::left_out_if_true},
    {"k_work_ptr", Argument::left_out_varying},
    {"memory bandwidth (GB/s)", Argument::left_out_varying},
    {"packet_ptr", Argument::left_out_varying},
    {"ptr", Argument::left_out_varying},
    {"queued", Argument::left_out},
    {"sqid", Argument::left_out_varying},
    {"src", Argument::left_out_varying},
    {"stream", Argument::stream},
    {"wait_on_cuda_event_id", Argument::left_out_varying},
    {"wait_on_cuda_event_record_corr_id", Argument::wait_on_record},
    {"wait_on_stream", Argument::wait_on_stream},
});

enum class MemoryMember : std::uint8_t { unused, address, bytes, device_number, device_type, total_allocated, total_reserved };
constexpr KeyTable memory_members({
    KeyMeaning<MemoryMember>{"Addr", MemoryMember::address},
    {"Bytes", MemoryMember::bytes},
    {"Device Id", MemoryMember::device_number},
    {"Device Type", MemoryMember::device_type},
    {"Total Allocated", MemoryMember::total_allocated},
    {"Total Reserved", MemoryMember::total_reserved},
});

// The digits of a value that should be a number, also where they stand in a string; "" where there are none.
std::string_view digits(const JsonValue& value, bool& quoted) {
  quoted = value.type == JsonValue::Type::string;
  if (quoted) return value.escaped ? std::string_view{} : value.inside();
  return value.type == JsonValue::Type::number ? value.text : std::string_view{};
}

// Puts the number into target and says whether there was one. A quoted time is a repair; ids and sizes are strings in some producers' traces.
template <class T, class Parse>
bool take(const JsonValue& value, T& target, Parse parse, std::uint64_t offset, Repairs& repairs, bool may_be_quoted = true) {
  bool quoted = false;
  const auto number = parse(digits(value, quoted));
  if (!number) return false;
  if (number->saturated) repairs.add(Repair::number_out_of_range, offset);
  if (quoted && !may_be_quoted) repairs.add(Repair::quoted_number, offset);
  target = number->value;
  return true;
}

void take_uint32(const JsonValue& value, std::uint32_t& target, std::uint64_t offset, Repairs& repairs) {
  std::uint64_t number = 0;
  if (!take(value, number, parse_uint64, offset, repairs)) return;
  if (number < 0xFFFF'FFFFu) {
    target = static_cast<std::uint32_t>(number);
  } else {
    repairs.add(Repair::number_out_of_range, offset);
  }
}

void take_int32(const JsonValue& value, std::int32_t& target, std::uint64_t offset, Repairs& repairs) {
  std::int64_t number = 0;
  if (!take(value, number, parse_int64, offset, repairs)) return;
  const std::int64_t nearest = std::clamp<std::int64_t>(number, INT32_MIN, INT32_MAX);
  if (nearest != number) repairs.add(Repair::number_out_of_range, offset);
  target = static_cast<std::int32_t>(nearest);
}

// A stream's number. CUPTI writes "no stream" as 2^32 - 1; HIP writes pointers ("0x0").
bool take_stream(const JsonValue& value, std::int64_t& target, std::uint64_t offset, Repairs& repairs) {
  std::uint64_t unsigned_number = 0;
  if (!take(value, target, parse_int64, offset, repairs)) {
    if (!take(value, unsigned_number, parse_uint64, offset, repairs)) return false;
    target = static_cast<std::int64_t>(std::min<std::uint64_t>(unsigned_number, INT64_MAX));
  }
  if (target == 0xFFFF'FFFF) target = -1;
  return true;
}

}  // namespace

KinetoCategory kineto_category(std::string_view category) {
  return categories.find(category, KinetoCategory::other);
}

void KinetoEventParser::add_field(KinetoField field, const JsonValue& value) {
  if (value.type == JsonValue::Type::number) fields_.push_back({field, value.text});
}

std::string_view KinetoEventParser::decoded(const JsonValue& value, std::string& scratch) {
  if (value.type != JsonValue::Type::string) return value.text;
  if (!value.escaped) return value.inside();
  scratch.clear();
  decode_string(value.inside(), scratch);
  return scratch;
}

Lex KinetoEventParser::parse(const char*& at, const char* end, std::uint64_t offset, Repairs& repairs) {
  bool read_again = false;
  const char* const begin = at;
  const Lex found = read(at, end, false, offset, repairs, read_again);
  if (!read_again) return found;
  at = begin;
  repairs.clear();
  return read(at, end, true, offset, repairs, read_again);
}

// The arguments of slices, which are most of the text, are read as they come where ph and cat came before them, unless arguments_last. Where a key turns out to
// be there twice, that was rash: read_again says so.
Lex KinetoEventParser::read(const char*& at, const char* end, bool arguments_last, std::uint64_t offset, Repairs& repairs, bool& read_again) {
  event_.series.clear();
  auto series = std::move(event_.series);
  event_ = KinetoEvent{};
  event_.series = std::move(series);
  fields_.clear();

  JsonValue values[static_cast<std::size_t>(Member::time) + 1];
  bool present[std::size(values)] = {};
  bool duplicate = false, arguments_read = false;
  const auto value_of = [&](Member member) -> const JsonValue* {
    const auto i = static_cast<std::size_t>(member);
    return present[i] && !values[i].is_null() ? &values[i] : nullptr;
  };
  const auto take_category = [&](const JsonValue& value) {
    event_.category = kineto_category(decoded(value, category_));
    category_text_ = value.type == JsonValue::Type::string ? value.inside() : std::string_view{};
  };
  category_text_ = {};
  const Lex whole = lex_object(at, end, [&](std::string_view key, const char*, const char*& p, JsonValue& value) {
    const Member member = members.find(key, Member::unused);
    const auto i = static_cast<std::size_t>(member);
    if (member != Member::unused) {
      duplicate = duplicate || present[i];
      present[i] = true;
    }
    if (member == Member::arguments && !arguments_last && p != end && *p == '{') {
      const JsonValue* const phase = value_of(Member::phase);
      const JsonValue* const category = value_of(Member::category);
      if (phase != nullptr && category != nullptr && (phase->text == "\"X\"" || phase->text == "\"B\"")) {
        take_category(*category);
        arguments_read = true;
        begin_slice_arguments();
        const Lex found = lex_object(p, end, [&](std::string_view argument, const char* member_begin, const char*& q, JsonValue& inner) {
          const Lex inner_found = lex_value(q, end, inner);
          if (inner_found == Lex::ok) read_slice_argument(argument, member_begin, inner, offset, repairs);
          return inner_found;
        });
        end_slice_arguments();
        return found;
      }
    }
    return lex_value(p, end, member == Member::unused ? value : values[i]);  // in place: a copy would wait for what was just written
  });
  if (whole != Lex::ok) return whole;
  if (duplicate && arguments_read) {
    read_again = true;
    return whole;
  }
  if (duplicate) repairs.add(Repair::duplicate_key, offset);
  if (const JsonValue* value = value_of(Member::phase); value != nullptr) {
    const std::string_view phase = decoded(*value, name_);
    if (phase.size() == 1) event_.phase = phase[0];
  }
  if (const JsonValue* value = value_of(Member::category); value != nullptr && !arguments_read) take_category(*value);
  if (const JsonValue* value = value_of(Member::name)) event_.name = decoded(*value, name_);
  if (const JsonValue* value = value_of(Member::process)) event_.pid = decoded(*value, pid_);
  if (const JsonValue* value = value_of(Member::thread)) event_.tid = decoded(*value, tid_);
  if (const JsonValue* value = value_of(Member::time)) {
    // A time at the end of the range is no time that a clock showed: were it kept, it would stretch the capture by a century.
    event_.has_time = take(*value, event_.time, parse_microseconds, offset, repairs, false) && event_.time > -latest_time && event_.time < latest_time;
  }
  if (const JsonValue* value = value_of(Member::duration)) event_.has_duration = take(*value, event_.duration, parse_microseconds, offset, repairs, false);
  if (const JsonValue* value = value_of(Member::id); value != nullptr && !take(*value, event_.id, parse_uint64, offset, repairs))
    event_.id = hash_bytes(decoded(*value, label_));

  for (const auto& [member, field] : {std::pair{Member::time, KinetoField::time}, {Member::duration, KinetoField::duration}, {Member::id, KinetoField::id}})
    if (const JsonValue* value = value_of(member)) add_field(field, *value);
  const JsonValue* arguments = value_of(Member::arguments);
  if (arguments != nullptr && !arguments_read && arguments->type == JsonValue::Type::object) {
    switch (event_.phase) {
      case 'X':
      case 'B':
      case 'E':
        read_slice_arguments(arguments->text, offset, repairs);
        break;
      case 'i':
      case 'I':
      case 'R':
        read_instant_arguments(arguments->text, offset, repairs);
        break;
      case 'M':
        read_metadata_arguments(arguments->text);
        break;
      case 'C':
        read_series(arguments->text);
        break;
      default:
        break;
    }
  }
  std::ranges::sort(fields_, {}, [](const KinetoFieldText& field) { return field.text.data(); });
  return Lex::ok;
}

void KinetoEventParser::begin_slice_arguments() {
  kept_.clear();
  last_kept_ = false;
}

void KinetoEventParser::read_slice_argument(std::string_view key, const char* member_begin, const JsonValue& value, std::uint64_t offset, Repairs& repairs) {
  Argument argument = slice_arguments.find(key, Argument::detail);
  const bool null = value.is_null();
  switch (argument) {
    case Argument::left_out_if_empty:
      argument = value.text == "\"\"" ? Argument::left_out : Argument::detail;
      break;
    case Argument::left_out_if_true:
      argument = value.text == "true" ? Argument::left_out : Argument::detail;
      break;
    case Argument::left_out_varying:
      add_field(KinetoField::left_out_number, value);
      if (value.type == JsonValue::Type::string && !value.escaped) fields_.push_back({KinetoField::left_out_text, value.inside()});
      break;
    case Argument::bytes:
      // The size of a copy is a fact; what a launching call says of it (HIP) stays with the call.
      if (event_.category == KinetoCategory::copy || event_.category == KinetoCategory::fill) {
        event_.has_bytes = take(value, event_.bytes, parse_int64, offset, repairs);
        add_field(KinetoField::bytes, value);
      } else {
        argument = Argument::detail;
      }
      break;
    case Argument::correlation:
      take(value, event_.correlation, parse_uint64, offset, repairs);
      add_field(KinetoField::correlation, value);
      break;
    case Argument::device:
      if (!null) event_.device = decoded(value, device_);
      break;
    case Argument::external:
      take(value, event_.external, parse_uint64, offset, repairs);
      add_field(KinetoField::external, value);
      break;
    case Argument::forward_thread:
      take(value, event_.forward_thread, parse_uint64, offset, repairs);
      add_field(KinetoField::forward_thread, value);
      break;
    case Argument::python_id:
      take_uint32(value, event_.python_id, offset, repairs);
      event_.has_python_id = true;
      add_field(KinetoField::python_id, value);
      break;
    case Argument::python_module:
      take_uint32(value, event_.python_module, offset, repairs);
      add_field(KinetoField::python_module, value);
      break;
    case Argument::python_parent:
      take_uint32(value, event_.python_parent, offset, repairs);
      add_field(KinetoField::python_parent, value);
      break;
    case Argument::sequence:
      event_.has_sequence = take(value, event_.sequence, parse_int64, offset, repairs);
      add_field(KinetoField::sequence, value);
      break;
    case Argument::stream:
      event_.has_stream = take_stream(value, event_.stream, offset, repairs);
      break;
    case Argument::wait_on_record:
      take(value, event_.wait_on_record_correlation, parse_uint64, offset, repairs);
      add_field(KinetoField::wait_on_record, value);
      break;
    case Argument::wait_on_stream:
      take_stream(value, event_.wait_on_stream, offset, repairs);
      break;
    case Argument::detail:
    case Argument::left_out:
      break;
  }
  if (argument != Argument::detail) {
    last_kept_ = false;
    return;
  }
  const char* const member_end = value.text.data() + value.text.size();
  if (last_kept_)
    kept_.back().second = member_end;
  else
    kept_.emplace_back(member_begin, member_end);
  last_kept_ = true;
}

void KinetoEventParser::end_slice_arguments() {
  if (kept_.size() == 1) {
    event_.detail = {kept_[0].first, static_cast<std::size_t>(kept_[0].second - kept_[0].first)};
  } else if (!kept_.empty()) {
    detail_.clear();
    for (const auto& [begin, finish] : kept_) {
      if (!detail_.empty()) detail_ += ", ";
      detail_.append(begin, finish);
    }
    event_.detail = detail_;
  }
}

void KinetoEventParser::read_slice_arguments(std::string_view arguments, std::uint64_t offset, Repairs& repairs) {
  begin_slice_arguments();
  JsonMembers walk(arguments);
  std::string_view key;
  JsonValue value;
  while (walk.next(key, value)) read_slice_argument(key, walk.member_begin(), value, offset, repairs);
  end_slice_arguments();
}

void KinetoEventParser::read_instant_arguments(std::string_view arguments, std::uint64_t offset, Repairs& repairs) {
  if (event_.name != "[memory]") {
    event_.detail = arguments.substr(1, arguments.size() - 2);
    const auto first = event_.detail.find_first_not_of(" \n\r\t");
    if (first == std::string_view::npos) {
      event_.detail = {};
    } else {
      event_.detail = event_.detail.substr(first, event_.detail.find_last_not_of(" \n\r\t") + 1 - first);
    }
    return;
  }
  JsonMembers walk(arguments);
  std::string_view key;
  JsonValue value;
  while (walk.next(key, value)) {
    switch (memory_members.find(key, MemoryMember::unused)) {
      case MemoryMember::address:
        take(value, event_.address, parse_uint64, offset, repairs);
        add_field(KinetoField::address, value);
        break;
      case MemoryMember::bytes:
        event_.is_memory = take(value, event_.bytes, parse_int64, offset, repairs);
        add_field(KinetoField::bytes, value);
        break;
      case MemoryMember::device_number:
        take_int32(value, event_.device_number, offset, repairs);
        break;
      case MemoryMember::device_type:
        take_int32(value, event_.device_type, offset, repairs);
        break;
      case MemoryMember::total_allocated:
        take(value, event_.total_allocated, parse_int64, offset, repairs);
        add_field(KinetoField::total_allocated, value);
        break;
      case MemoryMember::total_reserved:
        take(value, event_.total_reserved, parse_int64, offset, repairs);
        add_field(KinetoField::total_reserved, value);
        break;
      case MemoryMember::unused:
        add_field(KinetoField::left_out_number, value);
        break;
    }
  }
}

void KinetoEventParser::read_metadata_arguments(std::string_view arguments) {
  JsonMembers walk(arguments);
  std::string_view key;
  JsonValue value;
  while (walk.next(key, value)) {
    if (value.is_null()) continue;
    if (key == "name" || key == "labels") event_.label = decoded(value, label_);
    if (key == "sort_index") {
      bool quoted = false;
      if (const auto number = parse_int64(digits(value, quoted))) {
        event_.has_sort_index = true;
        event_.sort_index = number->value;
      }
    }
  }
}

void KinetoEventParser::read_series(std::string_view arguments) {
  JsonMembers walk(arguments);
  std::string_view key;
  JsonValue value;
  while (walk.next(key, value)) {
    bool quoted = false;
    const std::string_view text = digits(value, quoted);
    if (const auto number = text.empty() ? std::nullopt : parse_real(text)) event_.series.emplace_back(key, *number);
  }
}

}  // namespace stepscope
