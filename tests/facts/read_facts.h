// Real traces with their facts, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "facts/facts.h"
#include "read/reader.h"

namespace stepscope {

struct Read {
  Timeline timeline;
  Facts facts;
};
inline Read read(const std::vector<std::string>& paths) {
  auto timeline = read_timeline(paths, {.threads = 1});
  EXPECT_TRUE(timeline.has_value());
  Read read{.timeline = *std::move(timeline), .facts = {}};
  read.facts = derive(read.timeline, {});
  return read;
}

}  // namespace stepscope
