#include "app/progress_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

namespace stepscope::app {

using Clock = std::chrono::steady_clock;

std::string progress_text(const Progress& progress, double seconds) {
  std::string text = progress.stage();
  const double done = static_cast<double>(progress.done()), total = static_cast<double>(progress.total());
  // Only reading is counted in bytes; later stages are short and say their name alone.
  if (done <= 0 || (total > 0 && done >= total)) return text;
  if (total > 0) text += fmt::format("  {:.0f} %", std::min(100.0, 100 * done / total));
  if (seconds > 0) {
    const double rate = done / seconds;
    text += rate >= 1e9 ? fmt::format("  {:.2f} GB/s", rate / 1e9) : fmt::format("  {:.0f} MB/s", rate / 1e6);
  }
  return text;
}

namespace {

void draw(const std::string& text) {
  const std::string line = "\r\033[K" + text;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

ProgressLine::ProgressLine(const Progress& progress, bool shown) {
  if (!shown) return;
  thread_ = std::jthread([&progress](std::stop_token stop) {
    const Clock::time_point begin = Clock::now();
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    bool drawn = false;
    auto pause = std::chrono::milliseconds(1000);
    while (!wake.wait_for(lock, stop, pause, [&stop] { return stop.stop_requested(); })) {
      draw(progress_text(progress, std::chrono::duration<double>(Clock::now() - begin).count()));
      drawn = true;
      pause = std::chrono::milliseconds(100);
    }
    if (drawn) draw("");
  });
}

}  // namespace stepscope::app
