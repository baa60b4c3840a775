// One line on standard error that tells how far a long job is; it appears after a second and is gone when the job is done.
#pragma once

#include <thread>

#include "base/progress.h"

namespace stepscope::app {

class ProgressLine {
 public:
  // Draws nothing at all unless shown (a terminal, and not --quiet). The progress must outlive the line.
  ProgressLine(const Progress& progress, bool shown);
  ~ProgressLine() = default;  // ends and joins the thread, which erases the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  std::jthread thread_;
};

// "reading  43 %  1.21 GB/s": what the line says. Seconds since the job began.
std::string progress_text(const Progress& progress, double seconds);

}  // namespace stepscope::app
