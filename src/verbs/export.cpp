// export: read the traces, find the critical path, and write both in another tool's format.
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/compress.h"
#include "base/progress.h"
#include "facts/facts.h"
#include "lift/lift.h"
#include "read/reader.h"
#include "simulate/replay.h"
#include "verbs/stepscope.h"
#include "write/writer.h"

namespace stepscope {

namespace {

Result<const Writer*> find_writer(const std::string& name) {
  std::string known;
  for (const Writer* writer : all_writers()) {
    if (writer->name == name) return writer;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", writer->name);
  }
  return std::unexpected(Error{"", std::nullopt, fmt::format("there is no format '{}' to export to", name), "Formats: " + known, Error::Kind::unusable});
}

bool holds_work(const Timeline& timeline) {
  return std::ranges::any_of(timeline.slices.kind,
                             [](SliceKind kind) { return is_device_activity(kind) || is_api_call(kind) || kind == SliceKind::operation; });
}

}  // namespace

Result<void> export_timeline(const ExportOptions& options, const std::function<Result<void>(std::string_view)>& sink) {
  const Result<const Writer*> writer = find_writer(options.format);
  if (!writer) return std::unexpected(writer.error());
  const Result<Timeline> timeline = read_timeline(options.paths, {.threads = options.threads, .progress = options.progress});
  if (!timeline) return std::unexpected(timeline.error());
  if (options.progress != nullptr) options.progress->stage("analysing");
  const Facts facts = derive(*timeline, {});
  Lifted lifted;
  ReplayTimes times;
  const bool with_path = options.critical_path && holds_work(*timeline);
  if (with_path) {
    lifted = lift(*timeline, facts);
    replay(lifted.graph, times);
  }
  if (options.progress != nullptr) options.progress->stage("writing");
  const WriteInput input{*timeline, facts, with_path ? &lifted : nullptr, with_path ? &times : nullptr};
  if (!options.compress) return (*writer)->write(input, sink);

  GzipCompressor gzip;
  std::string compressed;
  const ByteSink compressing = [&](std::string_view text) {
    compressed.clear();
    gzip.add(text, compressed);
    return sink(compressed);
  };
  if (Result<void> written = (*writer)->write(input, compressing); !written) return written;
  compressed.clear();
  gzip.finish(compressed);
  return sink(compressed);
}

}  // namespace stepscope
