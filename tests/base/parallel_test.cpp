#include "base/parallel.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

namespace stepscope {
namespace {

TEST(Parallel, EveryPartRunsOnceOnAThreadOfItsOwn) {
  std::mutex mutex;
  std::multiset<std::size_t> parts;
  std::set<std::thread::id> threads;
  run_parts(4, [&](std::size_t part) {
    const std::lock_guard lock(mutex);
    parts.insert(part);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(parts, (std::multiset<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
}

TEST(Parallel, OnePartRunsHere) {
  std::thread::id thread;
  run_parts(1, [&](std::size_t) { thread = std::this_thread::get_id(); });
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST(Parallel, WhatAPartThrowsComesOutAfterAllHaveEnded) {
  std::atomic<int> ended = 0;
  EXPECT_THROW(run_parts(3,
                         [&](std::size_t part) {
                           if (part == 1) throw std::runtime_error("part 1");
                           ++ended;
                         }),
               std::runtime_error);
  EXPECT_EQ(ended, 2);
}

// Law: the parts follow one another from 0 to size, and their lengths differ by one at most.
TEST(Parallel, PartsCoverTheWhole) {
  rc::check([](std::uint32_t size) {
    const std::size_t parts = *rc::gen::inRange<std::size_t>(1, 40);
    RC_ASSERT(part_begin(size, 0, parts) == 0);
    RC_ASSERT(part_begin(size, parts, parts) == size);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t length = part_begin(size, part + 1, parts) - part_begin(size, part, parts);
      RC_ASSERT(length == size / parts || length == size / parts + 1);
    }
  });
}

}  // namespace
}  // namespace stepscope
