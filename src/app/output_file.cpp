#include "app/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "read/reader.h"

namespace stepscope::app {

namespace {

std::unexpected<Error> refusal(const std::string& path, int reason, std::string remedy) {
  return std::unexpected(
      Error{.file = path, .byte = {}, .problem = std::string("cannot be written: ") + std::strerror(reason) + ".", .remedy = std::move(remedy)});
}

// 0, or the errno of the failure.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno == EPIPE ? 0 : errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string remedy_for(int reason) {
  return reason == ENOENT ? "Make its folder first, or name another place." : "Name a place that you may write to.";
}

mode_t permissions_of_new_files() {
  const mode_t mask = umask(0);
  umask(mask);
  return static_cast<mode_t>(0666 & ~mask);
}

// The input (file, or file in a directory of inputs) that would be replaced by what is written to `output`.
std::optional<std::string> input_replaced_by(const std::string& output, const std::vector<std::string>& inputs) {
  std::error_code failed;
  if (output == "-" || !std::filesystem::is_regular_file(output, failed)) return std::nullopt;
  for (const std::string& input : inputs) {
    const Result<FoundInputs> found = search_inputs(input);
    if (!found) continue;
    for (const std::string& file : found->files)
      if (std::filesystem::equivalent(output, file, failed) && !failed) return file;
  }
  return std::nullopt;
}

}  // namespace

Result<void> can_write_file(const std::string& path) {
  struct stat status{};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return refusal(path, EISDIR, "Name a file in it: -o " + path + (path.ends_with('/') ? "" : "/") + "report.json");
  if (exists && !S_ISREG(status.st_mode)) return {};
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) != 0) return refusal(path, errno, remedy_for(errno));
  return {};
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  return write_file(path, [bytes](const WritePiece& write) { return write(bytes); });
}

Result<void> write_file(const std::string& path, const std::function<Result<void>(const WritePiece&)>& produce) {
  struct stat status{};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return can_write_file(path);
  const auto pieces_to = [&](int descriptor) {
    return [&path, descriptor](std::string_view bytes) -> Result<void> {
      const int failure = write_all(descriptor, bytes);
      if (failure != 0) return refusal(path, failure, failure == ENOSPC ? "Free some space, or name another place." : "");
      return {};
    };
  };
  if (exists && !S_ISREG(status.st_mode)) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return refusal(path, errno, "");
    const Result<void> written = produce(pieces_to(descriptor));
    close(descriptor);
    return written;
  }
  std::string target = path;
  if (exists) {
    const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
    if (real) target = real.get();
  }
  std::string temporary = target + ".XXXXXX";
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return refusal(path, errno, remedy_for(errno));
  Result<void> written = produce(pieces_to(descriptor));
  int failure = 0;
  if (written && fchmod(descriptor, exists ? status.st_mode & 07777 : permissions_of_new_files()) != 0) failure = errno;
  if (close(descriptor) != 0 && failure == 0) failure = errno;
  if (written && failure == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) failure = errno;
  if (failure != 0 && written) written = refusal(path, failure, failure == ENOSPC ? "Free some space, or name another place." : "");
  if (!written) unlink(temporary.c_str());
  return written;
}

Result<void> check_output(const std::string& output, const std::vector<std::string>& inputs, std::string_view what) {
  if (output == "-") return {};
  if (const Result<void> possible = can_write_file(output); !possible) return possible;
  if (const auto input = input_replaced_by(output, inputs))
    return std::unexpected(Error{output, {}, "is the input " + *input + ", which " + std::string(what) + " would replace", "Name another file with -o."});
  return {};
}

}  // namespace stepscope::app
