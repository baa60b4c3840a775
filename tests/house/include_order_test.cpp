// The order of the house: a room of src/ includes only itself and rooms that stand above it in src/ROOMS.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// "machine/gpu.h" of `#include "machine/gpu.h"`; empty for any other line.
std::string quoted_include(const std::string& line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line.compare(hash, 8, "#include") != 0) return {};
  const std::size_t open = line.find('"', hash);
  const std::size_t close = open == std::string::npos ? open : line.find('"', open + 1);
  return close == std::string::npos ? std::string{} : line.substr(open + 1, close - open - 1);
}

// Every breach of the order in the tree, one line each: "base/x.h:3 includes timeline/y.h, which is below base".
std::vector<std::string> breaches(const fs::path& src) {
  std::vector<std::string> found;
  const std::vector<std::string> rooms = lines_of(src / "ROOMS");
  const auto place = [&](const std::string& room) { return std::find(rooms.begin(), rooms.end(), room) - rooms.begin(); };
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    const std::string extension = entry.path().extension().string();
    if (!entry.is_regular_file() || (extension != ".h" && extension != ".cpp")) continue;
    const fs::path relative = fs::relative(entry.path(), src);
    const std::string room = relative.begin()->string();
    if (std::find(rooms.begin(), rooms.end(), room) == rooms.end()) {
      found.push_back(relative.string() + " is in no room of ROOMS");
      continue;
    }
    std::size_t number = 0;
    for (const std::string& line : lines_of(entry.path())) {
      ++number;
      const std::string include = quoted_include(line);
      if (include.empty()) continue;
      const std::string where = relative.string() + ":" + std::to_string(number) + " includes " + include;
      const std::string other = include.substr(0, include.find('/'));
      if (include.find('/') == std::string::npos || std::find(rooms.begin(), rooms.end(), other) == rooms.end())
        found.push_back(where + ", which is in no room of ROOMS");
      else if (place(other) > place(room))
        found.push_back(where + ", which is below " + room);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

class ConstructedTree : public testing::Test {
 protected:
  void SetUp() override {
    src_ = fs::path(testing::TempDir()) / ("house_" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(src_);
    write("ROOMS", "base\ntimeline\nread\n");
  }
  void TearDown() override { fs::remove_all(src_); }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((src_ / name).parent_path());
    std::ofstream(src_ / name) << text;
  }
  fs::path src_;
};

TEST_F(ConstructedTree, DownwardIncludesAreFine) {
  write("base/time.h", "#pragma once\n#include <vector>\n");
  write("read/x.cpp", "#include \"read/x.h\"\n\n#include \"base/time.h\"\n#include \"timeline/timeline.h\"\n");
  EXPECT_EQ(breaches(src_), std::vector<std::string>{});
}

TEST_F(ConstructedTree, AnUpwardIncludeIsFound) {
  write("base/time.h", "#pragma once\n\n  #include \"timeline/timeline.h\"\n");
  EXPECT_EQ(breaches(src_), std::vector<std::string>{"base/time.h:3 includes timeline/timeline.h, which is below base"});
}

TEST_F(ConstructedTree, UnlistedRoomsAreFound) {
  write("attic/x.h", "#pragma once\n");
  write("base/a.cpp", "#include \"cellar/y.h\"\n#include \"local.h\"\n");
  EXPECT_EQ(breaches(src_), (std::vector<std::string>{"attic/x.h is in no room of ROOMS", "base/a.cpp:1 includes cellar/y.h, which is in no room of ROOMS",
                                                      "base/a.cpp:2 includes local.h, which is in no room of ROOMS"}));
}

TEST(IncludeOrder, OfThisSource) {
  const fs::path src = fs::path(STEPSCOPE_SOURCE_DIR) / "src";
  ASSERT_GT(lines_of(src / "ROOMS").size(), 5u);
  EXPECT_EQ(breaches(src), std::vector<std::string>{});
}

}  // namespace
