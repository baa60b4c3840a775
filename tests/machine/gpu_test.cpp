#include "machine/gpu.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace stepscope {
namespace {

constexpr const char* small =
    "name: tiny\nsource: made up for this test\nmatrix_bf16_tflops: 2\nmemory_gb_per_s: 50\nmemory_gib: 4\nmultiprocessors: 3\nreported_names: [\"Tiny( "
    "VF)?\"]\n";

TEST(Gpu, UnitsOfTheKeysBecomeBaseUnits) {
  const Result<Gpu> gpu = parse_gpu(small, "tiny.yaml");
  ASSERT_TRUE(gpu) << gpu.error().message();
  EXPECT_EQ(gpu->matrix_bf16, 2e12);
  EXPECT_EQ(gpu->memory_bytes_per_second, 50e9);
  EXPECT_EQ(gpu->memory_bytes, 4.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(gpu->multiprocessors, 3);
  EXPECT_EQ(gpu->title, "tiny");
  EXPECT_EQ(gpu->confidence, "unverified");
  EXPECT_EQ(gpu->file, "tiny.yaml");
  EXPECT_FALSE(gpu->vector_fp32);
}

TEST(Gpu, MatrixRateFollowsTheInputType) {
  Gpu gpu;
  gpu.matrix_bf16 = 8e12;
  gpu.matrix_fp8 = 16e12;
  gpu.matrix_tf32 = 4e12;
  gpu.vector_fp32 = 1e12;
  EXPECT_EQ(gpu.matrix_rate(DataType::bf16), 8e12);
  EXPECT_EQ(gpu.matrix_rate(DataType::fp8_e5m2), 16e12);
  EXPECT_EQ(gpu.matrix_rate(DataType::tf32), 4e12);
  EXPECT_EQ(gpu.matrix_rate(DataType::fp32), 1e12) << "fp32 products run on the vector units";
  EXPECT_FALSE(gpu.matrix_rate(DataType::fp16));
  EXPECT_FALSE(gpu.matrix_rate(DataType::unknown));
  gpu.matrix_fp32 = 2e12;
  EXPECT_EQ(gpu.matrix_rate(DataType::fp32), 2e12);
}

TEST(Gpu, MistakesAreNamed) {
  struct Row {
    const char* yaml;
    const char* said;
  };
  constexpr Row rows[] = {
      {"", "key: value"},
      {"just words", "key: value"},
      {"- a\n- b", "key: value"},
      {"source: x", "'name' is missing"},
      {"name: x", "'source' is missing"},
      {"name: x\nsource: y\nmatrix_bf16_tflops: 0", "above 0"},
      {"name: x\nsource: y\nmatrix_bf16_tflops: -3", "above 0"},
      {"name: x\nsource: y\nmatrix_bf16_tflops: .nan", "above 0"},
      {"name: x\nsource: y\nmatrix_bf16_tflops: fast", "above 0"},
      {"name: x\nsource: y\nmatrix_bf16_tflops: [1]", "one value"},
      {"name: x\nsource: y\nmatrix_bf61_tflops: 1", "unknown key 'matrix_bf61_tflops'"},
      {"name: x\nsource: y\nmultiprocessors: 1.5", "whole number"},
      {"name: x\nsource: y\nreported_names: Tiny", "list"},
      {"name: x\nsource: y\nreported_names: [\"(\"]", "regular expression"},
      {"name: [", "not YAML"},
      {"{a: {b: c}: d", "not YAML"},
  };
  for (const Row& row : rows) {
    const Result<Gpu> gpu = parse_gpu(row.yaml, "bad.yaml");
    ASSERT_FALSE(gpu) << row.yaml;
    EXPECT_NE(gpu.error().problem.find(row.said), std::string::npos) << row.yaml << " -> " << gpu.error().problem;
    EXPECT_EQ(gpu.error().file, "bad.yaml");
    EXPECT_FALSE(gpu.error().remedy.empty());
  }
}

TEST(Gpu, DeepNestingIsRefusedNotFollowed) {
  EXPECT_FALSE(parse_gpu(std::string(200'000, '['), "deep.yaml"));
}

TEST(Gpu, FindReadsAFile) {
  const std::string path = testing::TempDir() + "stepscope_tiny_gpu.yaml";
  std::ofstream(path) << small;
  const Result<Gpu> gpu = find_gpu(path);
  ASSERT_TRUE(gpu) << gpu.error().message();
  EXPECT_EQ(gpu->name, "tiny");
  std::filesystem::remove(path);
}

TEST(Gpu, WhatIsNeitherNameNorFileListsTheKnownOnes) {
  const Result<Gpu> gpu = find_gpu("x1000");
  ASSERT_FALSE(gpu);
  EXPECT_EQ(gpu.error().problem, "neither a GPU that is known by this name nor a file");
  EXPECT_TRUE(gpu.error().remedy.starts_with("known: ")) << gpu.error().remedy;
  EXPECT_NE(gpu.error().remedy.find("h100-sxm"), std::string::npos);
  EXPECT_NE(find_gpu("/").error().problem.find("is a directory"), std::string::npos);
  EXPECT_EQ(find_gpu("nowhere.yaml").error().problem, "there is no such file");
}

TEST(Gpu, NamesAsPeopleWriteThem) {
  for (const char* written : {"h100-sxm", "H100-SXM", "H100 SXM", "h100_sxm", "NVIDIA H100 80GB HBM3"}) {
    const Result<Gpu> known = find_gpu(written);
    ASSERT_TRUE(known) << written << ": " << known.error().message();
    EXPECT_EQ(known->name, "h100-sxm") << written;
  }
  const std::pair<const char*, const char*> remedies[] = {{"H200", "did you mean h200-sxm? "},
                                                          {"v100", "did you mean v100-sxm2-16gb or v100-sxm2-32gb? "},
                                                          {"b2000", "did you mean b200-sxm? "},
                                                          {"AMD MI300", "did you mean mi300x? "}};
  for (const auto& [written, remedy] : remedies) {
    const Result<Gpu> gpu = find_gpu(written);
    ASSERT_FALSE(gpu) << written;
    EXPECT_TRUE(gpu.error().remedy.starts_with(remedy)) << written << ": " << gpu.error().remedy;
  }
}

}  // namespace
}  // namespace stepscope
