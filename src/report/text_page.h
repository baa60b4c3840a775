// The terminal page under construction: lines of at most `columns`, with or without colour, in UTF-8 or ASCII.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

enum class Ink { plain, strong, faint, warning, compute, communication, memory, host, launch, other };

class TextPage {
 public:
  TextPage(int columns, bool colour, bool ascii) : columns_(columns), colour_(colour), ascii_(ascii) {}

  int columns() const { return columns_; }
  bool colour() const { return colour_; }

  // The text in the ink's colour. Measure and pad before painting: painted text has escape sequences in it.
  std::string paint(Ink ink, std::string_view text) const;

  void line(std::string_view painted = {});
  // Wrapped at the page's width; every line is indented, those after the first by `hanging` more.
  void paragraph(std::string_view text, int indent = 0, Ink ink = Ink::plain, int hanging = 0);
  // "Note: …", faint; a note whose reason (what follows its first colon) stands on the page already is left out.
  void note(std::string_view text, int indent = 2);
  // A blank line, the title, and a rule to the page's edge.
  void heading(std::string_view title);

  // In ASCII every character of more than one byte is replaced by its nearest single one ('?' where there is none), so that widths stay.
  std::string finish() &&;

 private:
  int columns_;
  bool colour_, ascii_;
  std::string text_;
  std::set<std::string, std::less<>> noted_;
};

// One part of a bar. Glyphs differ so that the bar is read without colours too.
struct BarPart {
  double length;  // in the unit of all parts; negative counts as 0
  Ink ink;
};
// A bar of exactly `columns` cells, shared out by largest remainders; parts longer than nothing but shorter than half a cell may vanish.
std::string bar(const TextPage& page, const std::vector<BarPart>& parts, double total, int columns);
// The glyph of a part, painted, for legends.
std::string bar_glyph(const TextPage& page, Ink ink);

// One character per value, its height by value / largest, from "▁" to "█".
std::string sparkline(const std::vector<double>& values);

}  // namespace stepscope
