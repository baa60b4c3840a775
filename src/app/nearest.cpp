#include "app/nearest.h"

#include <algorithm>
#include <array>
#include <vector>

namespace stepscope::app {

namespace {

constexpr std::size_t longest = 64;

// Optimal string alignment distance.
int distance(std::string_view a, std::string_view b) {
  std::vector<std::array<int, longest + 1>> rows(a.size() + 1);
  for (std::size_t i = 0; i <= a.size(); ++i) rows[i][0] = static_cast<int>(i);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  int best_distance = static_cast<int>(longest);
  if (word.empty() || word.size() > longest) return best;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > longest) continue;
    const bool begins = word.size() >= 3 && candidate.starts_with(word);
    const int d = begins ? 1 : distance(word, candidate);
    if (d < best_distance && d <= std::max(1, static_cast<int>(candidate.size()) / 3)) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace stepscope::app
