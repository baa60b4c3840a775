// GPUs as described in data/machines/*.yaml: rates by data type, memory, links; every figure with its source. Unknown figures are absent, never 0.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"

namespace stepscope {

struct Gpu {
  std::string name;   // "h100-sxm"
  std::string title;  // "NVIDIA H100 SXM5 80 GB"
  std::string vendor, architecture;
  std::vector<std::string> reported_names;  // regular expressions on the name a trace reports: "NVIDIA H100 80GB HBM3"
  std::optional<int> multiprocessors;
  std::optional<double> boost_mhz;
  // Dense rates, operations per second. matrix: tensor or matrix units by input type. vector: ordinary units.
  std::optional<double> matrix_tf32, matrix_bf16, matrix_fp16, matrix_fp8, matrix_fp4, matrix_int8, vector_fp32, vector_fp64;
  std::optional<double> matrix_fp32, matrix_fp64;  // full-precision products on matrix units, where the GPU has them
  std::optional<double> memory_bytes_per_second, memory_bytes, cache_bytes;
  std::optional<double> link_bytes_per_second_each_way;  // scale-up links, per direction, all links of one GPU
  std::optional<double> host_link_bytes_per_second_each_way, network_bytes_per_second_each_way;
  std::optional<int> scale_up_gpus;
  std::optional<double> power_watts;
  std::string link_kind;
  std::string source;      // document, its date
  std::string confidence;  // "verified", "partly verified" or "unverified": whether the figures were checked against the source
  std::string note;
  std::vector<std::string> unverified;  // keys of figures that were not found in the source
  std::string file;                     // where this description came from

  // The rate that a matrix product of this input type can reach; absent where the description lacks it. fp32 means fp32: products that a framework runs in
  // TF32 have the type tf32. Where the matrix units know no fp32 or fp64, it is the rate of the vector units.
  std::optional<double> matrix_rate(DataType type) const;
};

// The built-in descriptions (compiled in from data/machines/, so that the program needs no files), by name.
std::span<const Gpu> all_gpus();
// --gpu: a built-in name (case, spaces and dashes do not matter), a name that a trace reports, or a path to a YAML file of the same schema (docs/machines.md).
Result<Gpu> find_gpu(const std::string& name_or_file);
Result<Gpu> parse_gpu(std::string_view yaml, const std::string& file);
// The built-in description whose reported_names match what a trace says; null when none does. memory_bytes (0 = unknown) decides between variants.
const Gpu* match_gpu(std::string_view reported_name, double memory_bytes);

}  // namespace stepscope
