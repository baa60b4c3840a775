#include "machine/gpu.h"

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "base/embedded.h"
#include "base/text.h"

namespace stepscope {

namespace {

// Where a key's number goes, and what one unit of the key is in the unit of the field.
struct NumberKey {
  std::string_view key;
  std::optional<double> Gpu::* field;
  double unit;
};
constexpr double tera = 1e12, giga = 1e9, gibi = 1024.0 * 1024.0 * 1024.0, mebi = 1024.0 * 1024.0;
constexpr NumberKey number_keys[] = {
    {"boost_mhz", &Gpu::boost_mhz, 1},
    {"matrix_tf32_tflops", &Gpu::matrix_tf32, tera},
    {"matrix_bf16_tflops", &Gpu::matrix_bf16, tera},
    {"matrix_fp16_tflops", &Gpu::matrix_fp16, tera},
    {"matrix_fp8_tflops", &Gpu::matrix_fp8, tera},
    {"matrix_fp4_tflops", &Gpu::matrix_fp4, tera},
    {"matrix_int8_tops", &Gpu::matrix_int8, tera},
    {"matrix_fp32_tflops", &Gpu::matrix_fp32, tera},
    {"matrix_fp64_tflops", &Gpu::matrix_fp64, tera},
    {"vector_fp32_tflops", &Gpu::vector_fp32, tera},
    {"vector_fp64_tflops", &Gpu::vector_fp64, tera},
    {"memory_gb_per_s", &Gpu::memory_bytes_per_second, giga},
    {"memory_gib", &Gpu::memory_bytes, gibi},
    {"cache_mib", &Gpu::cache_bytes, mebi},
    {"link_gb_per_s_each_way", &Gpu::link_bytes_per_second_each_way, giga},
    {"host_link_gb_per_s_each_way", &Gpu::host_link_bytes_per_second_each_way, giga},
    {"network_gb_per_s_each_way", &Gpu::network_bytes_per_second_each_way, giga},
    {"power_watts", &Gpu::power_watts, 1},
};

struct TextKey {
  std::string_view key;
  std::string Gpu::* field;
};
constexpr TextKey text_keys[] = {
    {"name", &Gpu::name},           {"title", &Gpu::title},   {"vendor", &Gpu::vendor},         {"architecture", &Gpu::architecture},
    {"link_kind", &Gpu::link_kind}, {"source", &Gpu::source}, {"confidence", &Gpu::confidence}, {"note", &Gpu::note},
};

struct CountKey {
  std::string_view key;
  std::optional<int> Gpu::* field;
};
constexpr CountKey count_keys[] = {{"multiprocessors", &Gpu::multiprocessors}, {"scale_up_gpus", &Gpu::scale_up_gpus}};

// A mistake in the description, found while it is read: becomes an Error at the file's border.
struct Mistake {
  std::string text;
};

std::vector<std::string> text_list(const YAML::Node& node, const std::string& key) {
  if (!node.IsSequence()) throw Mistake{fmt::format("'{}' must be a list of texts", key)};
  std::vector<std::string> list;
  for (const YAML::Node& entry : node) {
    if (!entry.IsScalar()) throw Mistake{fmt::format("'{}' must be a list of texts", key)};
    list.push_back(entry.Scalar());
  }
  return list;
}

void set_key(Gpu& gpu, const std::string& key, const YAML::Node& value) {
  if (key == "reported_names") {
    gpu.reported_names = text_list(value, key);
    for (const std::string& expression : gpu.reported_names) try {
        std::regex compiled(expression);
      } catch (const std::regex_error& error) {
        throw Mistake{fmt::format("reported name '{}' is not a regular expression: {}", expression, error.what())};
      }
    return;
  }
  if (key == "unverified") {
    gpu.unverified = text_list(value, key);
    return;
  }
  if (!value.IsScalar()) throw Mistake{fmt::format("'{}' must be one value", key)};
  if (const auto* text = std::ranges::find(text_keys, key, &TextKey::key); text != std::end(text_keys)) {
    gpu.*text->field = value.Scalar();
    return;
  }
  double number = 0;
  const bool is_number = YAML::convert<double>::decode(value, number) && std::isfinite(number);
  if (const auto* row = std::ranges::find(number_keys, key, &NumberKey::key); row != std::end(number_keys)) {
    if (!is_number || number <= 0) throw Mistake{fmt::format("'{}' must be a number above 0, not '{}'; leave out what is not known", key, value.Scalar())};
    gpu.*row->field = number * row->unit;
    return;
  }
  if (const auto* row = std::ranges::find(count_keys, key, &CountKey::key); row != std::end(count_keys)) {
    if (!is_number || number < 1 || number > 1e6 || number != std::floor(number))
      throw Mistake{fmt::format("'{}' must be a whole number from 1, not '{}'", key, value.Scalar())};
    gpu.*row->field = static_cast<int>(number);
    return;
  }
  throw Mistake{fmt::format("unknown key '{}'", key)};
}

Gpu read_gpu(std::string_view yaml) {
  const YAML::Node root = YAML::Load(std::string(yaml));
  if (!root.IsMap()) throw Mistake{"expected 'key: value' lines that describe one GPU"};
  Gpu gpu;
  for (const auto& entry : root) {
    if (!entry.first.IsScalar()) throw Mistake{"keys must be words"};
    set_key(gpu, entry.first.Scalar(), entry.second);
  }
  if (gpu.name.empty()) throw Mistake{"'name' is missing"};
  if (gpu.source.empty()) throw Mistake{"'source' is missing: say where the figures come from"};
  if (gpu.title.empty()) gpu.title = gpu.name;
  if (gpu.confidence.empty()) gpu.confidence = "unverified";
  return gpu;
}

// "H100 SXM" and "h100_sxm" -> "h100sxm".
std::string letters_and_digits(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') plain += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
  }
  return plain;
}

// "did you mean h200-sxm?": the known names that begin as the word does, for as long as any does and at least three letters; "" = none.
std::string likely_names(std::string plain) {
  for (const std::string_view vendor : {"nvidia", "amd"})
    if (plain.starts_with(vendor)) plain.erase(0, vendor.size());
  for (; plain.size() >= 2; plain.pop_back()) {
    std::string names;
    for (const Gpu& gpu : all_gpus())
      if (letters_and_digits(gpu.name).starts_with(plain)) names += (names.empty() ? "" : " or ") + gpu.name;
    if (!names.empty()) return "did you mean " + names + "? ";
    if (plain.size() <= 3) break;
  }
  return {};
}

// What stands in place of a description at a path.
std::string problem_with(const std::string& path, std::size_t bytes, std::size_t most) {
  std::error_code unknown;
  if (bytes > most) return fmt::format("is larger than {} bytes: no description of a GPU", most);
  if (std::filesystem::is_directory(path, unknown)) return "is a directory, not the description of a GPU";
  if (std::filesystem::exists(path, unknown)) return "is empty or cannot be read";
  return path.find('/') != std::string::npos || path.ends_with(".yaml") || path.ends_with(".yml") ? "there is no such file"
                                                                                                  : "neither a GPU that is known by this name nor a file";
}

std::string known_names() {
  std::string names;
  for (const Gpu& gpu : all_gpus()) names += (names.empty() ? "" : ", ") + gpu.name;
  return names;
}

}  // namespace

std::optional<double> Gpu::matrix_rate(DataType type) const {
  switch (type) {
    case DataType::tf32:
      return matrix_tf32;
    case DataType::bf16:
      return matrix_bf16;
    case DataType::fp16:
      return matrix_fp16;
    case DataType::fp8_e4m3:
    case DataType::fp8_e5m2:
      return matrix_fp8;
    case DataType::fp4:
      return matrix_fp4;
    case DataType::int8:
    case DataType::uint8:
      return matrix_int8;
    case DataType::fp32:
      return matrix_fp32 ? matrix_fp32 : vector_fp32;
    case DataType::fp64:
      return matrix_fp64 ? matrix_fp64 : vector_fp64;
    default:
      return std::nullopt;
  }
}

Result<Gpu> parse_gpu(std::string_view yaml, const std::string& file) {
  constexpr std::string_view remedy = "docs/machines.md describes the keys; `name` and `source` are required";
  const auto failed = [&](std::optional<std::uint64_t> byte, std::string problem) {
    return std::unexpected(Error{.file = file, .byte = byte, .problem = std::move(problem), .remedy = std::string(remedy)});
  };
  try {
    Gpu gpu = read_gpu(yaml);
    gpu.file = file;
    return gpu;
  } catch (const Mistake& mistake) {
    return failed(std::nullopt, mistake.text);
  } catch (const YAML::Exception& error) {
    const std::optional<std::uint64_t> byte = error.mark.is_null() ? std::nullopt : std::optional<std::uint64_t>(static_cast<std::uint64_t>(error.mark.pos));
    return failed(byte, "not YAML: " + printable(error.msg));
  }
}

std::span<const Gpu> all_gpus() {
  static const std::vector<Gpu> gpus = [] {
    std::vector<Gpu> list;
    for (const EmbeddedFile& file : embedded_machines())
      if (Result<Gpu> gpu = parse_gpu(file.bytes, "data/machines/" + std::string(file.name))) list.push_back(*std::move(gpu));
    std::ranges::sort(list, {}, &Gpu::name);
    return list;
  }();
  return gpus;
}

Result<Gpu> find_gpu(const std::string& name_or_file) {
  const std::string name = letters_and_digits(name_or_file);
  for (const Gpu& gpu : all_gpus())
    if (letters_and_digits(gpu.name) == name) return gpu;
  if (const Gpu* reported = match_gpu(name_or_file, 0)) return *reported;
  std::ifstream stream(name_or_file, std::ios::binary);
  std::string text;
  constexpr std::streamsize largest = 1 << 20;
  if (stream) {
    text.resize(static_cast<std::size_t>(largest) + 1);
    stream.read(text.data(), largest + 1);
    text.resize(static_cast<std::size_t>(stream.gcount()));
  }
  if (text.empty() || text.size() > static_cast<std::size_t>(largest))
    return std::unexpected(Error{.file = name_or_file,
                                 .byte = std::nullopt,
                                 .problem = problem_with(name_or_file, text.size(), static_cast<std::size_t>(largest)),
                                 .remedy = likely_names(name) + "known: " + known_names() + "; or write a YAML file (docs/machines.md)"});
  return parse_gpu(text, name_or_file);
}

const Gpu* match_gpu(std::string_view reported_name, double memory_bytes) {
  if (reported_name.empty()) return nullptr;
  // What a driver reports lies up to 10 % under the memory of the data sheet (firmware, ECC); variants of one name differ by far more.
  constexpr double tolerance = 0.12;
  const Gpu* best = nullptr;
  double best_distance = tolerance;
  bool ambiguous = false;
  for (const Gpu& gpu : all_gpus()) {
    const bool named = std::ranges::any_of(gpu.reported_names, [&](const std::string& expression) {
      return std::regex_match(reported_name.begin(), reported_name.end(), std::regex(expression));
    });
    if (!named) continue;
    const double distance = memory_bytes > 0 && gpu.memory_bytes ? std::fabs(memory_bytes / *gpu.memory_bytes - 1) : 0;
    if (distance > best_distance) continue;
    ambiguous = best != nullptr && distance == best_distance;
    best = &gpu;
    best_distance = distance;
  }
  return ambiguous ? nullptr : best;
}

}  // namespace stepscope
