#include "report/text_page.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace stepscope {

namespace {

// The terminal's own colours, so that its theme decides how they look.
std::string_view escape_of(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return "";
    case Ink::strong:
      return "\033[1m";
    case Ink::faint:
      return "\033[2m";
    case Ink::warning:
      return "\033[1;33m";
    case Ink::compute:
      return "\033[32m";
    case Ink::communication:
      return "\033[35m";
    case Ink::memory:
      return "\033[36m";
    case Ink::host:
      return "\033[31m";
    case Ink::launch:
      return "\033[33m";
    case Ink::other:
      return "\033[2m";
  }
  return "";
}

std::string_view glyph_of(Ink ink) {
  switch (ink) {
    case Ink::compute:
      return "█";
    case Ink::communication:
      return "▓";
    case Ink::memory:
      return "▒";
    case Ink::host:
      return "░";
    case Ink::launch:
      return "·";
    default:
      return " ";
  }
}

struct Replacement {
  std::string_view from;
  char to;
};
constexpr Replacement replacements[] = {{"█", '#'}, {"▓", '='}, {"▒", '+'}, {"░", '-'}, {"·", '.'}, {"─", '-'}, {"│", '|'}, {"…", '~'}, {"µ", 'u'},
                                        {"–", '-'}, {"×", 'x'}, {"±", '+'}, {"▁", '_'}, {"▂", '.'}, {"▃", '-'}, {"▄", '='}, {"▅", '+'}, {"▆", '*'},
                                        {"▇", '#'}, {"→", '>'}, {"≥", '>'}, {"≤", '<'}, {"“", '"'}, {"”", '"'}, {"’", '\''}};

// A line must not end between a number and its unit: such blanks are kept from being broken at while the text is wrapped.
constexpr char kept_blank = '\x01';

std::string with_kept_blanks(std::string_view text) {
  static constexpr std::string_view units[] = {"s",   "ms",  "µs",  "ns",   "%",       "B",     "kB",    "MB",    "GB",    "TB",    "KiB",
                                               "MiB", "GiB", "TiB", "GB/s", "TFLOP/s", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "FLOP/B"};
  std::string result(text);
  for (std::size_t at = result.find(' '); at != std::string::npos; at = result.find(' ', at + 1)) {
    if (at == 0 || result[at - 1] < '0' || result[at - 1] > '9') continue;
    const std::size_t end = std::min(result.find_first_of(" ,;:.)", at + 1), result.size());
    if (std::ranges::find(units, std::string_view(result).substr(at + 1, end - at - 1)) != std::end(units)) result[at] = kept_blank;
  }
  return result;
}

std::string to_ascii(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) {
      result += text.front();
      text.remove_prefix(1);
      continue;
    }
    std::size_t length = 1;
    while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) ++length;
    const std::string_view character = text.substr(0, length);
    const auto* known = std::find_if(std::begin(replacements), std::end(replacements), [&](const Replacement& r) { return r.from == character; });
    if (known != std::end(replacements)) {
      result += known->to;
    } else if (display_width(character) > 0) {
      result += '?';
    }
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace

std::string TextPage::paint(Ink ink, std::string_view text) const {
  const std::string_view escape = escape_of(ink);
  if (!colour_ || escape.empty() || text.find_first_not_of(' ') == std::string_view::npos) return std::string(text);
  return std::string(escape).append(text).append("\033[0m");
}

void TextPage::line(std::string_view painted) {
  const std::size_t end = painted.find_last_not_of(' ');
  text_ += painted.substr(0, end == std::string_view::npos ? 0 : end + 1);
  text_ += '\n';
}

void TextPage::paragraph(std::string_view text, int indent, Ink ink, int hanging) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string wrapped = wrap_text(with_kept_blanks(text), columns_ - indent, hanging);
  std::ranges::replace(wrapped, kept_blank, ' ');
  std::size_t begin = 0;
  while (begin <= wrapped.size()) {
    const std::size_t end = std::min(wrapped.find('\n', begin), wrapped.size());
    line(margin + paint(ink, std::string_view(wrapped).substr(begin, end - begin)));
    begin = end + 1;
  }
}

void TextPage::note(std::string_view text, int indent) {
  const std::size_t colon = text.find(": ");
  if (!noted_.emplace(colon == std::string_view::npos ? text : text.substr(colon + 2)).second) return;
  paragraph("Note: " + printable(text), indent, Ink::faint, 6);
}

void TextPage::heading(std::string_view title) {
  const std::string shown = shorten_end(title, columns_ - 4);
  std::string rule;
  for (int used = display_width(shown) + 1; used < columns_; ++used) rule += "─";
  line();
  line(paint(Ink::strong, shown) + " " + paint(Ink::faint, rule));
}

std::string TextPage::finish() && {
  return ascii_ ? to_ascii(text_) : std::move(text_);
}

std::string bar(const TextPage& page, const std::vector<BarPart>& parts, double total, int columns) {
  std::vector<int> cells(parts.size());
  std::vector<std::pair<double, std::size_t>> remainders;
  int used = 0;
  double sum = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double exact = total > 0 ? std::max(0.0, parts[i].length) / total * columns : 0;
    cells[i] = std::clamp(static_cast<int>(exact), 0, columns - used);
    used += cells[i];
    sum += exact;
    remainders.emplace_back(static_cast<double>(cells[i]) - exact, i);  // most negative first
  }
  std::stable_sort(remainders.begin(), remainders.end());
  const int wanted = std::min(columns, static_cast<int>(std::lround(sum)));
  for (const auto& [remainder, part] : remainders) {
    if (used >= wanted) break;
    ++cells[part];
    ++used;
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string run;
    for (int cell = 0; cell < cells[i]; ++cell) run += glyph_of(parts[i].ink);
    text += page.paint(parts[i].ink, run);
  }
  text.append(static_cast<std::size_t>(columns - used), ' ');
  return text;
}

std::string bar_glyph(const TextPage& page, Ink ink) {
  return page.paint(ink, glyph_of(ink));
}

std::string sparkline(const std::vector<double>& values) {
  static constexpr std::string_view heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double largest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string text;
  for (const double value : values) {
    const int height = largest > 0 ? static_cast<int>(std::ceil(8 * value / largest)) - 1 : 0;
    text += heights[std::clamp(height, 0, 7)];
  }
  return text;
}

}  // namespace stepscope
