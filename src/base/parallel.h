// The same work on several parts at once.
#pragma once

#include <cstddef>
#include <functional>

namespace stepscope {

// wanted, where it is above 0; else one thread per core.
int thread_count(int wanted);

// Runs work(0) … work(parts - 1), each on a thread of its own, work(0) on the calling one; where the system gives no more threads, one after the other.
// Returns when all have ended; then throws again what one of them threw.
void run_parts(std::size_t parts, const std::function<void(std::size_t)>& work);

// Where part `part` of `parts` begins in a sequence of `size`: the parts are of nearly one length, and part number `parts` is the end.
inline std::size_t part_begin(std::size_t size, std::size_t part, std::size_t parts) {
  return size / parts * part + size % parts * part / parts;
}

}  // namespace stepscope
