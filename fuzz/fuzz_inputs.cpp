// Recognisers, refusals and the small readers: any bytes are read into a sound Timeline or refused with a problem; names of any bytes give a rank or none.
#include <cstdint>

#include "base/bytes.h"
#include "expect.h"
#include "read/file_rank.h"
#include "read/head.h"
#include "read/pickle.h"
#include "read/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepscope;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = open_memory(bytes, "fuzz");
  const auto reader = choose_reader(*source);
  if (!reader) {
    expect(!reader.error().problem.empty(), "an error without a problem");
  } else if ((*reader)->name != "kineto") {  // it has a target of its own
    TimelineBuilder builder;
    const auto done = (*reader)->read(*source, {}, builder);
    if (done)
      expect_sound(builder.finish());
    else
      expect(!done.error().problem.empty() && !done.error().message().empty(), "an error without a problem");
  }
  // Formats behind a first byte or two that mutations seldom keep.
  if (const auto json = pickle_as_json(bytes); json && !json->empty()) expect(json->size() <= 64 * size + 8192, "a pickle out of proportion");
  const std::string_view start = bytes.substr(0, 256);
  const auto rank = rank_in_path(start);
  expect(!rank || *rank >= 0, "a negative rank");
  for (const std::string_view key : top_level_keys(start))
    expect(key.data() >= start.data() && key.data() + key.size() <= start.data() + start.size(), "a key outside the text");
  std::string_view message = start;
  while (const auto field = next_field(message)) expect(field->bytes.size() <= field->value || field->type != 2, "a field longer than it says");
  return 0;
}
