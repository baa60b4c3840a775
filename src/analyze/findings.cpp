#include "analyze/findings.h"

#include <algorithm>

namespace stepscope {

namespace {

template <class Entry>
const Entry* find_by_key(const std::vector<Entry>& entries, std::string_view key) {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

const Figure* Section::figure(std::string_view figure_key) const {
  return find_by_key(figures, figure_key);
}

const Table* Section::table(std::string_view table_key) const {
  return find_by_key(tables, table_key);
}

const Section* find_section(const std::vector<Section>& sections, std::string_view key) {
  return find_by_key(sections, key);
}

}  // namespace stepscope
