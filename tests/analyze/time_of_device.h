// Questions about one device of a small timeline, for tests.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "analyze/question.h"
#include "facts/small_timeline.h"

namespace stepscope {

inline const Question* question_named(std::string_view name) {
  for (const Question* question : all_questions())
    if (question->name == name) return question;
  return nullptr;
}

// The question's first section about the timeline's first device (or its rank or the run), with the window narrowed where one is given.
inline std::optional<Section> ask(const SmallTimeline& t, std::string_view name, std::optional<Interval> window = std::nullopt) {
  const Question* question = question_named(name);
  if (question == nullptr) {
    ADD_FAILURE() << "no question is called " << name;
    return std::nullopt;
  }
  Scene scene{.timeline = t.timeline, .facts = t.facts, .rank = RankId{0}, .window = window.value_or(Interval{0, 1'000'000'000'000}), .whole_capture = !window};
  if (question->scope == Scope::device) scene.device = &t.facts.devices.at(0);
  std::vector<Section> sections = question->answer(scene);
  if (sections.empty()) return std::nullopt;
  return std::move(sections.front());
}

inline std::int64_t whole_figure(const std::optional<Section>& section, std::string_view key) {
  const Figure* figure = section ? section->figure(key) : nullptr;
  const std::int64_t* value = figure != nullptr ? std::get_if<std::int64_t>(&figure->value) : nullptr;
  if (value == nullptr) ADD_FAILURE() << "no whole figure " << key;
  return value != nullptr ? *value : -1;
}

inline const Value& cell(const Table& table, std::size_t row, std::string_view key) {
  static const Value none;
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    if (table.columns[column].key == key) return table.rows.at(row).at(column);
  ADD_FAILURE() << "no column " << key;
  return none;
}
inline std::int64_t whole_cell(const Table& table, std::size_t row, std::string_view key) {
  const std::int64_t* value = std::get_if<std::int64_t>(&cell(table, row, key));
  if (value == nullptr) ADD_FAILURE() << "no whole number in " << key;
  return value != nullptr ? *value : -1;
}
inline std::string text_cell(const Table& table, std::size_t row, std::string_view key) {
  const std::string* value = std::get_if<std::string>(&cell(table, row, key));
  return value != nullptr ? *value : std::string("(no text)");
}

}  // namespace stepscope
