// How a Kineto file is read, with what does not change the result: for tests and benchmarks; everyone else reads through kineto_reader (reader.h).
#pragma once

#include <cstddef>

#include "read/reader.h"

namespace stepscope {

struct KinetoTuning {
  std::size_t block_bytes = 256u << 10;         // how much text is read at a time
  std::size_t thread_block_bytes = 512u << 10;  // the same where several threads read
  std::size_t threads_from_bytes = 256u << 10;  // how far one thread reads before others join
  std::size_t alone_bytes = 2u << 20;           // how far one reader reads and learns before others begin with what it knows
  bool by_place = true;                         // false: several threads take their text from one place, as that of compressed files (kineto_threads.h)
  bool by_layout = true;                        // false: every event is read in full (kineto_layout.h)
};

Result<void> read_kineto(ByteSource& source, const ReadOptions& options, const KinetoTuning& tuning, TimelineBuilder& builder);

}  // namespace stepscope
