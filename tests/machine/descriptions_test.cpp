// Every file of data/machines/ is complete, plausible and has a source; every device name of the shared traces leads to one of them or, knowingly, to none.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/bytes.h"
#include "base/embedded.h"
#include "machine/gpu.h"

namespace stepscope {
namespace {

TEST(MachineDescriptions, EveryFileParses) {
  ASSERT_FALSE(embedded_machines().empty());
  for (const EmbeddedFile& file : embedded_machines()) {
    const Result<Gpu> gpu = parse_gpu(file.bytes, std::string(file.name));
    ASSERT_TRUE(gpu) << gpu.error().message();
    EXPECT_EQ(gpu->name + ".yaml", file.name);
  }
  EXPECT_EQ(all_gpus().size(), embedded_machines().size());
}

TEST(MachineDescriptions, FiguresArePlausible) {
  for (const Gpu& gpu : all_gpus()) {
    SCOPED_TRACE(gpu.name);
    EXPECT_FALSE(gpu.title.empty());
    EXPECT_FALSE(gpu.vendor.empty());
    EXPECT_FALSE(gpu.architecture.empty());
    EXPECT_FALSE(gpu.source.empty());
    EXPECT_TRUE(gpu.confidence == "verified" || gpu.confidence == "partly verified" || gpu.confidence == "unverified") << gpu.confidence;
    EXPECT_EQ(gpu.confidence == "partly verified", !gpu.unverified.empty());
    EXPECT_FALSE(gpu.reported_names.empty());
    ASSERT_TRUE(gpu.memory_bytes_per_second && gpu.memory_bytes && gpu.matrix_fp16 && gpu.vector_fp32);
    EXPECT_GE(*gpu.memory_bytes_per_second, 250e9);
    EXPECT_LE(*gpu.memory_bytes_per_second, 25e12);
    EXPECT_GE(*gpu.memory_bytes, 8.0 * (1 << 30));
    EXPECT_LE(*gpu.memory_bytes, 1024.0 * (1 << 30));
    EXPECT_GE(*gpu.vector_fp32, 5e12);
    EXPECT_LE(*gpu.vector_fp32, 500e12);
    EXPECT_GE(*gpu.matrix_fp16, 2 * *gpu.vector_fp32);
    EXPECT_LE(*gpu.matrix_fp16, 20e15);
    if (gpu.matrix_bf16) {
      EXPECT_EQ(*gpu.matrix_bf16, *gpu.matrix_fp16);
    }
    if (gpu.matrix_fp8) {
      EXPECT_GE(*gpu.matrix_fp8, 1.9 * *gpu.matrix_fp16);
    }
    if (gpu.matrix_fp4) {
      EXPECT_GE(*gpu.matrix_fp4, 1.9 * gpu.matrix_fp8.value_or(1e30));
    }
    if (gpu.matrix_tf32) {
      EXPECT_NEAR(*gpu.matrix_tf32 / *gpu.matrix_fp16, 0.5, 0.01);
    }
    // Operations per memory byte at which a product becomes bound by the units: 40 (old) to 600.
    EXPECT_GT(*gpu.matrix_fp16 / *gpu.memory_bytes_per_second, 35);
    EXPECT_LT(*gpu.matrix_fp16 / *gpu.memory_bytes_per_second, 600);
    // Rate = multiprocessors × clock × operations per cycle, which is a power of two: 512 … 16384, at a clock not above the highest one.
    ASSERT_TRUE(gpu.multiprocessors && gpu.boost_mhz);
    const double per_cycle = *gpu.matrix_fp16 / (*gpu.multiprocessors * *gpu.boost_mhz * 1e6);
    double power_of_two = 256;
    while (power_of_two < 0.98 * per_cycle) power_of_two *= 2;
    EXPECT_LE(power_of_two, 16384);
    EXPECT_LE(power_of_two / per_cycle, 1.8) << per_cycle;
  }
}

TEST(MachineDescriptions, NameIsUniqueAndFound) {
  std::set<std::string> names;
  for (const Gpu& gpu : all_gpus()) {
    EXPECT_TRUE(names.insert(gpu.name).second);
    const Result<Gpu> found = find_gpu(gpu.name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->title, gpu.title);
  }
}

struct Match {
  const char* reported;
  double memory_bytes;
  const char* name;
};

TEST(MachineDescriptions, ReportedNamesMatchOne) {
  constexpr Match matches[] = {
      {"NVIDIA H100 80GB HBM3", 85018279936, "h100-sxm"},
      {"NVIDIA A100-PG509-200", 42297524224, "a100-sxm-40gb"},
      {"NVIDIA A100-SXM4-80GB", 84990623744, "a100-sxm-80gb"},
      {"NVIDIA A100-SXM4-40GB", 0, "a100-sxm-40gb"},
      {"NVIDIA A100 80GB PCIe", 0, "a100-pcie-80gb"},
      {"Tesla V100-SXM2-32GB", 34079899648, "v100-sxm2-32gb"},
      {"Tesla V100-SXM2-16GB", 16945512448, "v100-sxm2-16gb"},
      {"NVIDIA GeForce RTX 2080 Ti", 11554586624, "rtx-2080-ti"},
      {"NVIDIA B200", 191503138816, "b200-sxm"},
      {"NVIDIA H200", 150109880320, "h200-sxm"},
      {"AMD Instinct MI300X", 206141652992, "mi300x"},
      {"AMD Instinct MI300X VF", 205571227648, "mi300x"},
      {"AMD Instinct MI210", 68702699520, "mi210"},
  };
  for (const Match& match : matches) {
    const Gpu* gpu = match_gpu(match.reported, match.memory_bytes);
    ASSERT_NE(gpu, nullptr) << match.reported;
    EXPECT_EQ(gpu->name, match.name) << match.reported;
  }
}

TEST(MachineDescriptions, SlicesOfAGpuAndUnknownNamesMatchNone) {
  EXPECT_EQ(match_gpu("", 85e9), nullptr);
  EXPECT_EQ(match_gpu("NVIDIA A100-SXM4-80GB MIG 1g.10gb", 10e9), nullptr);
  EXPECT_EQ(match_gpu("NVIDIA H100 80GB HBM3", 10e9), nullptr) << "a tenth of the memory is not the whole GPU";
  // Used by several boards with 64 GiB (MI210, one die of MI250): it does not tell which.
  EXPECT_EQ(match_gpu("AMD Radeon Graphics", 68702699520), nullptr);
}

TEST(MachineDescriptions, DeviceNamesOfTheSharedTracesLeadToOneDescription) {
  const std::filesystem::path traces = std::filesystem::path(STEPSCOPE_SHARED_DIR) / "traces";
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << traces << " is absent";
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(traces)) {
    if (!entry.path().filename().string().starts_with("rank")) continue;
    Result<std::unique_ptr<ByteSource>> source = open_bytes(entry.path().string());
    ASSERT_TRUE(source) << source.error().message();
    const Result<std::string_view> head = (*source)->peek();
    ASSERT_TRUE(head) << head.error().message();
    // deviceProperties stands among the first members; the array ends at the first "]".
    const std::size_t at = head->find("\"deviceProperties\"");
    if (at == std::string_view::npos) continue;
    const std::size_t open = head->find('[', at);
    std::size_t close = open;
    for (int depth = 0; close < head->size(); ++close) {
      depth += (*head)[close] == '[' ? 1 : (*head)[close] == ']' ? -1 : 0;
      if (depth == 0) break;
    }
    simdjson::dom::parser parser;
    simdjson::dom::array devices;
    ASSERT_EQ(parser.parse(std::string(head->substr(open, close - open + 1))).get(devices), simdjson::SUCCESS) << entry.path();
    for (const simdjson::dom::element device : devices) {
      std::string_view name;
      double memory = 0;
      if (device["name"].get(name) != simdjson::SUCCESS || device["totalGlobalMem"].get(memory) != simdjson::SUCCESS) continue;
      ++seen;
      const bool names_no_board = name.empty() || name == "AMD Radeon Graphics";
      EXPECT_EQ(match_gpu(name, memory) == nullptr, names_no_board) << name << " in " << entry.path();
    }
  }
  EXPECT_GT(seen, 20u);
}

}  // namespace
}  // namespace stepscope
