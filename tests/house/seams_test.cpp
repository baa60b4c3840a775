// Every entry of every seam: named once, described, complete. A new format, question or operator cost is held to this without editing it.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include "analyze/question.h"
#include "cost/operator_cost.h"
#include "edit/edit.h"
#include "graph/builder.h"
#include "read/reader.h"

namespace stepscope {
namespace {

// What all seams share: a name in plain lower case, unique; one line of help; the list in order of name.
template <class Entry>
void check_names(std::span<const Entry* const> entries, const std::string& seam) {
  std::set<std::string_view> names;
  std::string_view previous;
  for (const Entry* entry : entries) {
    ASSERT_NE(entry, nullptr) << seam;
    EXPECT_TRUE(std::regex_match(std::string(entry->name), std::regex("[a-z][a-z0-9_]*"))) << seam << ": name '" << entry->name << "'";
    EXPECT_TRUE(names.insert(entry->name).second) << seam << ": two entries are named '" << entry->name << "'";
    EXPECT_LT(previous, entry->name) << seam << ": not in order of name";
    EXPECT_FALSE(entry->help.empty()) << seam << " " << entry->name << " has no help";
    EXPECT_EQ(entry->help.find('\n'), std::string_view::npos) << seam << " " << entry->name << ": help is one line";
    previous = entry->name;
  }
  EXPECT_FALSE(entries.empty()) << seam << " has no entries: their names did not reach the generated list";
}

TEST(Seams, ReadersAreComplete) {
  check_names(all_readers(), "reader");
  for (const Reader* reader : all_readers()) {
    SCOPED_TRACE(std::string(reader->name));
    EXPECT_FALSE(reader->inputs.empty());
    ASSERT_NE(reader->recognises, nullptr);
    ASSERT_NE(reader->read, nullptr);
    // Content that is nothing is nobody's, whatever it is called.
    for (const std::string_view head : {std::string_view{}, std::string_view{"\0\0\0\0\0\0\0\0", 8}, std::string_view{"plain words, no format at all\n"}}) {
      const int certainty = reader->recognises(head, "name.txt");
      EXPECT_GE(certainty, 0);
      EXPECT_LT(certainty, 50) << "claims content that is no format";
    }
  }
}

TEST(Seams, QuestionsAreComplete) {
  check_names(all_questions(), "question");
  for (const Question* question : all_questions()) {
    SCOPED_TRACE(std::string(question->name));
    ASSERT_NE(question->answer, nullptr);
  }
}

TEST(Seams, OperatorCostsAreComplete) {
  check_names(all_operator_costs(), "operator cost");
  std::set<std::string_view> answered;
  for (const OperatorCost* cost : all_operator_costs()) {
    SCOPED_TRACE(std::string(cost->name));
    ASSERT_NE(cost->work, nullptr);
    EXPECT_FALSE(cost->operators.empty());
    for (const std::string_view name : cost->operators) {
      EXPECT_TRUE(answered.insert(name).second) << name << " is answered for by two entries";
      EXPECT_EQ(find_operator_cost(name), cost) << name;
      // Without arguments there is nothing to tell from: never a guess.
      EXPECT_FALSE(cost->work(OperatorCall{name, {}}).has_value()) << name << " makes up work from no arguments";
    }
  }
}

TEST(Seams, EditsAreComplete) {
  check_names(all_edit_kinds(), "edit");
  for (const EditKind* kind : all_edit_kinds()) {
    SCOPED_TRACE(std::string(kind->name));
    ASSERT_NE(kind->apply, nullptr);
    for (const EditParameter& parameter : kind->parameters) EXPECT_FALSE(parameter.help.empty()) << parameter.name;
    const Result<Edit> example = parse_edit(kind->example);
    ASSERT_TRUE(example) << example.error().message();
    EXPECT_EQ(example->kind, kind->name);
    // Of a graph of nothing no edit makes anything: it says so.
    const Timeline timeline;
    const Facts facts;
    Lifted lifted;
    lifted.graph = GraphBuilder().finish().graph;
    Graph graph = lifted.graph.copy();
    const auto effects = apply_edits({timeline, facts, lifted}, std::span(&*example, 1), graph);
    EXPECT_FALSE(effects);
  }
}

}  // namespace
}  // namespace stepscope
