#include "base/parallel.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace stepscope {

int thread_count(int wanted) {
  return wanted > 0 ? wanted : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

void run_parts(std::size_t parts, const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&](std::size_t part) {
    try {
      work(part);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    std::size_t begun = 1;
    try {
      for (; begun < parts; ++begun) threads.emplace_back(run, begun);
    } catch (const std::system_error&) {
      // No more threads: the rest runs here.
    }
    run(0);
    for (; begun < parts; ++begun) run(begun);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace stepscope
