#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace stepscope {
namespace {

TEST(Text, WidthCountsWhatATerminalShows) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("kernel"), 6);
  EXPECT_EQ(display_width("3 µs"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);             // e and a combining acute
  EXPECT_EQ(display_width("\u6838\u51FD"), 4);        // two CJK characters
  EXPECT_EQ(display_width("\U0001F680"), 2);          // a rocket
  EXPECT_EQ(display_width("\u2588\u2591\u2026"), 3);  // blocks and an ellipsis
  EXPECT_EQ(display_width("\xFF\xC3"), 2);            // invalid bytes, one replacement each
}

TEST(Text, PrintableObeysNothing) {
  EXPECT_EQ(printable("plain µ"), "plain µ");
  EXPECT_EQ(printable("a\x1b[31mb\n\tc\x7f"), "a\uFFFD[31mb\uFFFD\uFFFDc\uFFFD");
  EXPECT_EQ(printable("a\u202Eb"), "a\uFFFDb");                                    // right-to-left override
  EXPECT_EQ(printable("\u0085"), "\uFFFD");                                        // C1 control
  EXPECT_EQ(printable("\xC0\xAF\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");  // overlong '/', a surrogate
}

TEST(Text, ShortensInTheMiddle) {
  EXPECT_EQ(shorten_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten_middle("abcdefghijk", 10), "abcdef…ijk");
  EXPECT_EQ(shorten_middle("abc", 1), "…");
  EXPECT_EQ(shorten_middle("abc", 0), "");
  EXPECT_EQ(shorten_end("abcdefghijk", 10), "abcdefghi…");
}

TEST(Text, Wraps) {
  EXPECT_EQ(wrap_text("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrap_text("abcdefgh ij", 4, 0), "abcd\nefgh\nij");
  EXPECT_EQ(wrap_text("  a   b ", 10, 0), "a b");
}

TEST(Text, WhateverTheBytesItFits) {
  rc::check("shortened text is at most as wide as asked", [](const std::string& bytes) {
    const int columns = *rc::gen::inRange(0, 40);
    const std::string text = printable(bytes);
    RC_ASSERT(display_width(shorten_middle(text, columns)) <= columns);
    RC_ASSERT(display_width(shorten_end(text, columns)) <= columns);
    RC_ASSERT(printable(text) == text);
    RC_ASSERT(display_width(pad_left(shorten_middle(text, columns), columns)) == columns);
    std::string wrapped = wrap_text(text, columns + 6, 3);
    while (!wrapped.empty()) {
      const std::size_t end = std::min(wrapped.find('\n'), wrapped.size());
      RC_ASSERT(display_width(wrapped.substr(0, end)) <= columns + 6);
      wrapped.erase(0, std::min(end + 1, wrapped.size()));
    }
  });
}

}  // namespace
}  // namespace stepscope
