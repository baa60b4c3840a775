// The seam of edit/: one file per kind of edit, each defining `extern const EditKind NAME_edit`. CMake collects them into all_edit_kinds().
//
// An edit changes a lifted Graph as the program or the machine would change: durations, lags, and what depends on what (graph/rewire.h). Operations keep their
// numbers. What disappears keeps a row of no duration, so that windows and evidence stay true.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "facts/facts.h"
#include "graph/graph.h"
#include "lift/lift.h"
#include "machine/gpu.h"
#include "timeline/timeline.h"

namespace stepscope {

// What an edit may look at. The lifted Graph is the unedited one; edits change a copy.
struct EditScene {
  const Timeline& timeline;
  const Facts& facts;
  const Lifted& lifted;
  const Gpu* gpu = nullptr;  // that the trace ran on; null = unknown
};

// An edit as a value: "scale name=gemm* by=0.5" on the command line, a mapping in YAML.
struct Edit {
  std::string kind;                                            // name of an EditKind
  std::map<std::string, std::string, std::less<>> parameters;  // its own and those of its selector (selector.h)
  // Instead of a selector: exactly these operations (rules of advise/ know what they mean).
  std::optional<std::vector<OpId>> operations;
};
// "scale name=gemm* by=0.5": the kind, then parameters, separated by spaces or commas; a value may stand in double quotes.
Result<Edit> parse_edit(std::string_view text);
// A YAML file: `edits:` with a list of mappings, each with `edit: KIND` and its parameters.
Result<std::vector<Edit>> read_edits(const std::string& path);

// What an edit did, for people; and how far its result can be trusted.
struct EditEffect {
  std::uint64_t operations = 0;  // that it changed
  std::string summary;           // "scaled 96 kernels named gemm* (38.2 ms) by 0.5"
  // The gain would lie between that of `pessimistic` × and `optimistic` × the change (1 = exact arithmetic on the graph).
  double optimistic = 1, pessimistic = 1;
  std::vector<std::string> caveats;
};

struct EditParameter {
  std::string_view name;  // "by"
  std::string_view help;  // "factor on the duration"
  bool required = false;
};

struct EditKind {
  std::string_view name;  // "scale"
  std::string_view help;  // one line
  std::string_view example;
  bool selects = true;  // whether it takes a selector's parameters
  // The classes that it is about where class= is not given; then a selector may be left out, and means all of them. Empty = what runs on a device or on the
  // links, and a selector must say which.
  std::span<const OperationClass> classes;
  std::span<const EditParameter> parameters;
  // operations: what the selector chose (Edit::operations or selector.h), ascending. An Error where the edit makes no sense for this graph.
  Result<EditEffect> (*apply)(const EditScene& scene, const Edit& edit, std::span<const OpId> operations, Graph& graph);
};
std::span<const EditKind* const> all_edit_kinds();  // generated; in order of name

// Whether the kind is known and takes these parameters, and has those that it needs: all that can be told without a graph.
Result<void> check_edit(const Edit& edit);
// As parse_edit reads it: "scale by=0.5 name=gemm*".
std::string edit_text(const Edit& edit);

// Applies edits in order. An Error names the edit, what was wrong, and what could be said instead.
Result<std::vector<EditEffect>> apply_edits(const EditScene& scene, std::span<const Edit> edits, Graph& graph);

}  // namespace stepscope
