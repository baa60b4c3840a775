// Analyses the trace that it is given with the installed library, builds a Timeline of its own with it, and prints one line.
#include <cstdio>
#include <string>

#include "report/report.h"
#include "timeline/builder.h"
#include "timeline/check.h"
#include "timeline/timeline.h"
#include "verbs/stepscope.h"

int main(int count, char** words) {
  using namespace stepscope;
  if (count != 2) return 2;
  AnalyzeOptions options;
  options.paths = {words[1]};
  const Result<Analysis> analysis = analyze(options);
  if (!analysis) {
    std::fprintf(stderr, "%s\n", analysis.error().message().c_str());
    return 1;
  }
  TimelineBuilder builder;
  const RankId rank = builder.add_rank(Rank{});
  const TrackId track = builder.track(rank, TrackKind::stream, "0", "7", builder.device(rank, "0"), 7);
  builder.add_slice(SliceKind::kernel, track, 1000, 250, builder.names().intern("gemm"));
  const Timeline own = builder.finish();
  if (!check(own).empty() || own.slices.size() != 1) return 1;
  std::printf("stepscope %s: %zu slices, %zu ranks\n", std::string(version()).c_str(), analysis->timeline.slices.size(), analysis->findings.ranks.size());
  return 0;
}
