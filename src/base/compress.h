// Streaming gzip, to write files that need not fit in memory.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace stepscope {

class GzipCompressor {
 public:
  GzipCompressor();
  ~GzipCompressor();
  // Appends to `into` what is compressed so far.
  void add(std::string_view content, std::string& into);
  // Ends the stream; nothing may be added afterwards.
  void finish(std::string& into);

 private:
  struct State;
  void run(std::string_view content, bool last, std::string& into);
  std::unique_ptr<State> state_;
};

}  // namespace stepscope
