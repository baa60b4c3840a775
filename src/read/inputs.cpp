// Which files of a directory are inputs: by their content, in natural order (rank2 before rank10), not deeper than the directory itself.
#include <algorithm>
#include <filesystem>

#include "base/bytes.h"
#include "read/reader.h"

namespace stepscope {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Runs of digits compare as numbers; names that differ only in leading zeros compare as text.
bool natural_before(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      while (i < a.size() && a[i] == '0') ++i;
      while (j < b.size() && b[j] == '0') ++j;
      const std::size_t first_i = i, first_j = j;
      while (i < a.size() && is_digit(a[i])) ++i;
      while (j < b.size() && is_digit(b[j])) ++j;
      const std::string_view number_a = a.substr(first_i, i - first_i), number_b = b.substr(first_j, j - first_j);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
    }
  }
  if (i < a.size() || j < b.size()) return i == a.size();
  return a < b;
}

// Why the file is no input; "" = it is one.
std::string reason_to_skip(const std::string& path) {
  const auto source = open_bytes(path);
  if (!source) return source.error().problem;
  const auto reader = choose_reader(**source);
  return reader ? "" : reader.error().problem;
}

}  // namespace

Result<FoundInputs> search_inputs(std::string_view path) {
  const std::string folder(path);
  std::error_code failed;
  FoundInputs found;
  if (path == "-" || !std::filesystem::is_directory(folder, failed)) {
    found.files.push_back(folder);  // whether it can be opened is said when it is
    return found;
  }
  std::vector<std::string> names;
  std::size_t folders = 0;
  std::filesystem::directory_iterator entry(folder, failed), end;
  if (failed)
    return std::unexpected(Error{folder, {}, "the directory cannot be listed: " + failed.message(), "Check its permissions, or give the files themselves."});
  for (; entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    std::error_code unknown;
    const auto type = entry->status(unknown).type();
    if (type == std::filesystem::file_type::regular)
      names.push_back(name);
    else if (type == std::filesystem::file_type::directory)
      ++folders;
    else if (type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::none)
      found.skipped.push_back({name, "a link to nothing"});
    else
      found.skipped.push_back({name, "a pipe, socket or device"});  // opening one could wait for ever
    if (failed) break;
  }
  std::ranges::sort(names, natural_before);
  const std::string prefix = folder.ends_with('/') ? folder : folder + "/";
  for (const std::string& name : names) {
    std::string reason = reason_to_skip(prefix + name);
    if (reason.empty())
      found.files.push_back(prefix + name);
    else
      found.skipped.push_back({name, std::move(reason)});
  }
  std::ranges::sort(found.skipped, natural_before, &FoundInputs::Skipped::name);
  if (!found.files.empty()) return found;
  Error error{folder, {}, "no file of this directory is a trace", "Give the directory that holds the trace files themselves, one per rank."};
  if (!found.skipped.empty())
    error.problem += " (" + std::to_string(found.skipped.size()) + " looked at; " + found.skipped[0].name + ": " + found.skipped[0].reason + ")";
  if (found.skipped.empty() && folders == 0) error.problem = "the directory is empty";
  if (folders != 0)
    error.remedy = "It has " + std::to_string(folders) + (folders == 1 ? " sub-directory" : " sub-directories") +
                   ", which are not searched: give the one that holds the trace files themselves.";
  return std::unexpected(std::move(error));
}

Result<std::vector<std::string>> find_inputs(std::string_view path) {
  Result<FoundInputs> found = search_inputs(path);
  if (!found) return std::unexpected(std::move(found.error()));
  return std::move(found->files);
}

}  // namespace stepscope
