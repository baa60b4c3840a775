// Reads as much of a demangled signature as a short name needs: bracketed groups are skipped as wholes, so that commas, spaces and "::" count only
// outside of them. Names are hostile input: every scan is linear, and descent into template arguments is bounded.
#include "base/kernel_name.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace stepscope {

namespace {

constexpr std::string_view anonymous = "(anonymous namespace)";
constexpr int deepest_argument = 8;  // levels of template arguments that are looked into
constexpr std::size_t most_arguments = 64;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// The place after the group that opens at text[at] ('<', '(' or '{'); the text's end where it never closes. A '>' inside parentheses is an operator.
std::size_t after_group(std::string_view text, std::size_t at) {
  std::string open;  // the brackets that are open here
  std::size_t parentheses = 0, braces = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '(' || c == '{') {
      open.push_back(c);
      parentheses += c == '(';
      braces += c == '{';
    } else if (c == '>' && open.back() == '<' && text[at - 1] != '-') {
      open.pop_back();
    } else if ((c == ')' && parentheses > 0) || (c == '}' && braces > 0)) {
      for (char closed = 0; closed != (c == ')' ? '(' : '{');) {
        closed = open.back();
        open.pop_back();
        parentheses -= closed == '(';
        braces -= closed == '{';
      }
    }
    if (open.empty()) return at + 1;
  }
  return text.size();
}

// A name taken apart: the last component of its path, the component before it, and its template arguments.
struct Parsed {
  std::string_view scope;      // "gemvx"; "" = none
  std::string_view base;       // "kernel"
  std::string_view arguments;  // "int, float", without the brackets
  bool is_signature = false;   // it had a parameter list or template arguments
};

Parsed parse(std::string_view text) {
  Parsed result;
  std::size_t word_begin = 0;
  const auto take_word = [&](std::size_t end) {
    if (end > word_begin) {
      result.scope = result.base;
      result.base = text.substr(word_begin, end - word_begin);
      result.arguments = {};
    }
  };
  std::size_t at = 0;
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(anonymous)) {
      at += anonymous.size();
      word_begin = at;
    } else if (rest.starts_with("operator") && at == word_begin && (rest.size() == 8 || !is_word(rest[8]))) {
      // A call operator says nothing: the class or function it belongs to does.
      result.is_signature = true;
      return result;
    } else if (text[at] == '<') {
      take_word(at);
      const std::size_t end = after_group(text, at);
      const std::size_t close = end - (text[end - 1] == '>' && end - 1 > at ? 1 : 0);
      result.arguments = text.substr(at + 1, close - at - 1);
      result.is_signature = true;
      at = word_begin = end;
    } else if (text[at] == '(') {
      if (at > 0 && text[at - 1] == ' ') {  // "Memcpy HtoD (Pageable -> Device)": prose
        take_word(at);
        return result;
      }
      take_word(at);
      result.is_signature = true;
      return result;
    } else if (text[at] == '{') {
      return result;  // a lambda: the function that holds it has been seen
    } else if (rest.starts_with("::")) {
      take_word(at);
      at += 2;
      word_begin = at;
    } else if (text[at] == ' ') {
      // What came before was the return type (or a qualifier).
      at += 1;
      if (at < text.size() && text[at] != '(') {
        word_begin = at;
        if (result.base.size() != 0 || at > 1) result = Parsed{.scope = {}, .base = {}, .arguments = {}, .is_signature = result.is_signature};
      }
    } else {
      ++at;
    }
  }
  take_word(at);
  return result;
}

// The template arguments, split at their commas.
std::vector<std::string_view> split(std::string_view arguments) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0, at = 0;
  const auto take = [&](std::size_t end) {
    std::string_view part = arguments.substr(begin, end - begin);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
  };
  while (at < arguments.size() && parts.size() < most_arguments) {
    const char c = arguments[at];
    if (c == '<' || c == '(' || c == '{') {
      at = after_group(arguments, at);
    } else {
      if (c == ',') {
        take(at);
        begin = at + 1;
      }
      ++at;
    }
  }
  take(at);
  return parts;
}

// Element types as they stand in kernel names.
constexpr std::string_view element_types[] = {
    "float",   "double",     "int",      "long",          "bool",        "char",          "short",         "unsigned",       "signed",
    "void",    "half",       "__half",   "Half",          "BFloat16",    "bfloat16",      "__nv_bfloat16", "__hip_bfloat16", "hip_bfloat16",
    "complex", "OpaqueType", "_Float16", "Float8_e4m3fn", "Float8_e5m2", "__nv_fp8_e4m3", "__nv_fp8_e5m2", "uint8_t",        "int64_t"};
// Arguments that say how a kernel works, not what it computes.
constexpr std::string_view machinery[] = {"array",
                                          "Array",
                                          "TensorListMetadata",
                                          "TensorListScalarListMetadata",
                                          "FusedOptimizerTensorListMetadata",
                                          "OffsetCalculator",
                                          "TrivialOffsetCalculator",
                                          "LoadWithoutCast",
                                          "StoreWithoutCast",
                                          "LoadWithCast",
                                          "StoreWithCast",
                                          "integral_constant",
                                          "tuple",
                                          "Tuple",
                                          "sequence",
                                          "DefaultPtrTraits",
                                          "decltype"};
// Templates that only carry the one that matters.
constexpr std::string_view carriers[] = {"gpu_kernel_impl",
                                         "gpu_kernel_impl_nocast",
                                         "gpu_index_kernel",
                                         "BinaryFunctor",
                                         "AUnaryFunctor",
                                         "BUnaryFunctor",
                                         "ReduceOp",
                                         "func_wrapper_t",
                                         "enable_sm80_to_sm89",
                                         "enable_sm90_or_later",
                                         "enable_3x_kernel_for_sm9x",
                                         "enable_3x_kernel_for_sm10",
                                         "enable_2x_kernel_for_sm89",
                                         "GemmUniversalAdapter"};
// Functions whose name says nothing.
constexpr std::string_view wrappers[] = {"Kernel", "Kernel2", "device_kernel", "kentry", "universal_kernel", "DeviceKernel"};

bool is_noise(const Parsed& argument) {
  const std::string_view base = argument.base;
  if (base.empty() || is_digit(base.front()) || base.front() == '-' || base == "true" || base == "false") return true;
  if (!is_word(base.front())) return true;
  if (contains(machinery, base)) return true;
  for (const std::string_view part : {"traits", "Traits", "Policy", "Params"}) {
    if (base.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// "float*", "char const*" and "unsigned int" are element types by their first word.
std::optional<std::string_view> element_type(std::string_view argument) {
  argument = argument.substr(0, argument.find_first_of("<({"));
  std::size_t word = argument.rfind("::");
  word = word == std::string_view::npos ? 0 : word + 2;
  std::size_t end = word;
  while (end < argument.size() && is_word(argument[end])) ++end;
  const std::string_view first = argument.substr(word, end - word);
  if (!contains(element_types, first)) return std::nullopt;
  return first;
}

// What a list of template arguments says the kernel computes; "" = nothing.
std::string meaning(std::string_view arguments, int depth) {
  if (depth > deepest_argument) return {};
  for (const std::string_view argument : split(arguments)) {
    if (element_type(argument)) continue;
    const Parsed parsed = parse(argument);
    if (is_noise(parsed)) continue;
    if (contains(carriers, parsed.base)) {
      if (std::string inner = meaning(parsed.arguments, depth + 1); !inner.empty()) return inner;
      continue;
    }
    std::string text(parsed.base);
    const std::vector<std::string_view> inner = split(parsed.arguments);
    if (!inner.empty()) {
      if (const auto type = element_type(inner.front())) text.append("<").append(*type).append(">");
    }
    return text;
  }
  return {};
}

// Reads "12Rmsnorm2dFwd" at text[at] and moves at behind it; nullopt where no valid length stands there.
std::optional<std::string_view> mangled_word(std::string_view text, std::size_t& at) {
  std::size_t length = 0, digit = at;
  while (digit < text.size() && is_digit(text[digit]) && length < 10'000) length = length * 10 + static_cast<std::size_t>(text[digit++] - '0');
  if (length == 0 || length > text.size() - digit) return std::nullopt;
  const std::string_view word = text.substr(digit, length);
  if (is_digit(word.front()) || !std::all_of(word.begin(), word.end(), is_word)) return std::nullopt;
  at = digit + length;
  return word;
}

std::string short_mangled_name(std::string_view name) {
  std::size_t at = 2;  // after "_Z"
  std::string_view base;
  while (at < name.size()) {
    const char c = name[at];
    if (is_digit(c)) {
      const auto word = mangled_word(name, at);
      if (!word) break;
      if (*word != "_GLOBAL__N_1") base = *word;
    } else if (c == 'N' || c == 'K' || c == 'L' || c == 'V') {
      ++at;
    } else if (c == 'S' && at + 1 < name.size()) {  // std, or an earlier part again
      at = name[at + 1] == 't' ? at + 2 : std::min(name.find('_', at), name.size() - 1) + 1;
    } else {
      break;
    }
  }
  if (base.empty()) return std::string(name);
  if (contains(wrappers, base) && at < name.size() && name[at] == 'I') {
    for (++at; at < name.size();) {
      if (name[at] == 'L' && at + 1 < name.size() && name[at + 1] >= 'a' && name[at + 1] <= 'z') {  // a literal: Li1E
        at = std::min(name.find('E', at), name.size());
      } else if (is_digit(name[at])) {
        if (const auto word = mangled_word(name, at); word && word->size() > 2) return std::string(*word);
        ++at;
      } else {
        ++at;
      }
    }
  }
  return std::string(base);
}

// "Cijk_Alik_Bljk_BBS_BH_MT256x128x64_MI16x16x1_SN_…": the tile is the last part that a person can use.
std::string short_tensile_name(std::string_view name) {
  std::size_t tile = name.find("_MT");
  if (tile == std::string_view::npos) return std::string(name);
  tile += 3;
  while (tile < name.size() && (is_digit(name[tile]) || name[tile] == 'x')) ++tile;
  return std::string(name.substr(0, tile));
}

std::string_view without_suffix(std::string_view name) {
  if (const std::size_t clone = name.rfind(" [clone"); clone != std::string_view::npos && clone > 0) name = name.substr(0, clone);
  if (name.ends_with(".kd")) name.remove_suffix(3);
  return name;
}

struct ShortName {
  std::string text;
  std::string_view arguments;  // those that readable_kernel_name may quote from
};

ShortName shorten(std::string_view name) {
  name = without_suffix(name);
  if (name.starts_with("_Z")) return {short_mangled_name(name), {}};
  if (name.starts_with("Cijk_")) return {short_tensile_name(name), {}};
  const Parsed parsed = parse(name);
  if (!parsed.is_signature || parsed.base.empty()) return {std::string(name), {}};
  if (contains(wrappers, parsed.base)) {
    if (std::string inner = meaning(parsed.arguments, 0); !inner.empty()) return {inner.substr(0, inner.find('<')), {}};
  }
  if (parsed.base == "kernel" && !parsed.scope.empty()) return {std::string(parsed.scope) + "::kernel", {}};
  return {std::string(parsed.base), parsed.arguments};
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  return shorten(name).text;
}

std::string readable_kernel_name(std::string_view name) {
  ShortName result = shorten(name);
  if (const std::string inner = meaning(result.arguments, 0); !inner.empty()) result.text.append("<").append(inner).append(">");
  return std::move(result.text);
}

}  // namespace stepscope
