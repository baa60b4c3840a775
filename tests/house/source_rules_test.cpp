// Rules of the house that a text search can hold: heavy headers in few files, libraries that neither print nor exit, files that stay readable.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct SourceLine {
  std::string file;  // relative to src/
  std::size_t number;
  std::string text;  // without the comment that ends it
};

std::vector<SourceLine> all_lines() {
  std::vector<SourceLine> lines;
  const fs::path src = fs::path(STEPSCOPE_SOURCE_DIR) / "src";
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".h" && extension != ".cpp") continue;
    std::ifstream stream(entry.path());
    std::size_t number = 0;
    for (std::string line; std::getline(stream, line);) lines.push_back({fs::relative(entry.path(), src).string(), ++number, line.substr(0, line.find("//"))});
  }
  return lines;
}

std::vector<std::string> files_with(const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> files;
  for (const SourceLine& line : all_lines())
    if (std::regex_search(line.text, expression)) files.push_back(line.file);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::vector<std::string> places_of(const std::string& pattern, const std::string& except_room) {
  const std::regex expression(pattern);
  std::vector<std::string> places;
  for (const SourceLine& line : all_lines())
    if (line.file.rfind(except_room, 0) != 0 && std::regex_search(line.text, expression))
      places.push_back(line.file + ":" + std::to_string(line.number) + ": " + line.text);
  return places;
}

// CLI11 takes 3.5 s to compile, simdjson 1.1 s, yaml-cpp 0.4 s: a file more is a decision, made here.
TEST(HeavyHeaders, StayInFewFiles) {
  struct Budget {
    const char* include;
    std::size_t files;
  };
  for (const Budget& budget : {Budget{"#include .CLI/", 1}, Budget{"#include .simdjson", 3}, Budget{"#include .yaml-cpp", 3}, Budget{"#include <regex>", 2}}) {
    const std::vector<std::string> files = files_with(budget.include);
    EXPECT_LE(files.size(), budget.files) << budget.include << " in: " << testing::PrintToString(files);
    for (const std::string& file : files) EXPECT_TRUE(file.ends_with(".cpp")) << file << ": a heavy header in a header reaches everybody who includes it";
  }
}

TEST(Libraries, NeitherPrintNorExit) {
  EXPECT_EQ(places_of(R"(std::c(out|err)\b|\bf?printf\(|\bfmt::print|\bputs\(|\bperror\(|\b_?exit\(|std::abort|std::terminate)", "app/"),
            std::vector<std::string>{});
}

TEST(Libraries, HaveNoSharedOwnershipAndNoBareNew) {
  EXPECT_EQ(places_of(R"(shared_ptr|[=(,{]\s*new\s+[A-Za-z]|\breturn\s+new\b|\bdelete\s+[a-z]|using namespace std)", "none/"), std::vector<std::string>{});
}

// A file answers one question. Past 400 lines ask which second one moved in; past this it has.
TEST(Files, StayReadable) {
  std::vector<std::string> long_files;
  for (const SourceLine& line : all_lines())
    if (line.number == 501) long_files.push_back(line.file);
  EXPECT_EQ(long_files, std::vector<std::string>{});
}

TEST(Files, BeginBySayingWhatTheyAre) {
  std::vector<std::string> silent;
  const fs::path src = fs::path(STEPSCOPE_SOURCE_DIR) / "src";
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream stream(entry.path());
    std::string first;
    std::getline(stream, first);
    if (first.rfind("// ", 0) != 0) silent.push_back(fs::relative(entry.path(), src).string());
  }
  EXPECT_EQ(silent, std::vector<std::string>{});
}

}  // namespace
