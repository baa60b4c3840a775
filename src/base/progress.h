// How far a long job is, told by libraries and drawn (or not) by app/. Thread-safe; cheap enough to call every few megabytes.
#pragma once

#include <atomic>
#include <cstdint>

namespace stepscope {

class Progress {
 public:
  void expect(std::uint64_t total) { total_.fetch_add(total, std::memory_order_relaxed); }
  void add(std::uint64_t done) { done_.fetch_add(done, std::memory_order_relaxed); }
  void stage(const char* name) { stage_.store(name, std::memory_order_relaxed); }  // a string literal: "reading", "analysing"
  std::uint64_t total() const { return total_.load(std::memory_order_relaxed); }
  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  const char* stage() const { return stage_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> total_{0}, done_{0};
  std::atomic<const char*> stage_{"reading"};
};

}  // namespace stepscope
