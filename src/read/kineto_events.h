// Reads a stretch of the list of events into a block: by layout where that goes, else in full, else mended.
#pragma once

#include <cstdint>
#include <string>

#include "read/kineto_event.h"
#include "read/kineto_layout.h"
#include "read/kineto_rows.h"

namespace stepscope {

class KinetoEventReader {
 public:
  enum class Stop : std::uint8_t {
    more,     // the text ends inside an event or between two
    damaged,  // an event stands here that cannot be made out
    other,    // something else than an event stands here: the end of the list, mostly
  };
  explicit KinetoEventReader(bool by_layout) : by_layout_(by_layout) {}
  // Moves `at` to where it stopped. offset: of `at` in the content. separated: whether a comma (or the list's bracket) stands before `at`; kept up.
  // 128 bytes behind `end` must be readable.
  Stop read(const char*& at, const char* end, std::uint64_t offset, bool& separated);

  KinetoBlock& block() { return block_; }
  KinetoVocabulary& vocabulary() { return vocabulary_; }
  // Starts with what another reader has learned, so that it is not learned twice.
  void know_what(const KinetoEventReader& other);
  // Where the vocabulary has grown large (names that never come again), starts a new one. Only when all blocks were merged.
  void forget_if_large();

 private:
  Lex read_in_full(const char*& at, const char* end, std::uint64_t offset);

  const bool by_layout_;
  KinetoVocabulary vocabulary_;
  KinetoBlock block_;
  KinetoLayouts layouts_;
  KinetoEventParser parser_;
  Repairs repairs_;  // of the event being read
  std::string mended_;
};

}  // namespace stepscope
