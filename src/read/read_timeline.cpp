// Many files into one Timeline: read by threads, joined in order, their ranks numbered and their clocks compared.
#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "base/bytes.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "read/file_rank.h"
#include "read/reader.h"

namespace stepscope {

namespace {

constexpr Nanoseconds year_ns = 365LL * 24 * 3600 * 1'000'000'000;
// Beyond ±146 years a time is no clock's; differences of times within it cannot overflow.
constexpr Nanoseconds furthest_ns = (Nanoseconds{1} << 62) - 1;

// "3 things: a (why), b (why) and 1 more" for a health item's explanation.
class Listing {
 public:
  void add(std::string_view name, std::string_view reason) {
    if (count_ < most) text_ += (text_.empty() ? "" : "; ") + std::string(name) + ": " + std::string(reason);
    if (count_ == 0) first_ = name;
    ++count_;
  }
  void note(HealthList& list, std::string_view kind, std::string_view meaning) const {
    list.add(kind, count_, first_, std::string(meaning) + " " + text_ + (count_ > most ? "; and " + std::to_string(count_ - most) + " more" : "") + ".");
  }

 private:
  static constexpr std::size_t most = 8;
  std::size_t count_ = 0;
  std::string first_, text_;
};

Result<TimelineBuilder> read_file(const std::string& path, const ReadOptions& options) {
  // The one place where memory can run out for reasons of the input's size: it must end this file, not the program.
  try {
    auto source = open_bytes(path);
    if (!source) return std::unexpected(std::move(source.error()));
    const auto reader = choose_reader(**source);
    if (!reader) return std::unexpected(reader.error());
    TimelineBuilder builder;
    if (auto done = (*reader)->read(**source, options, builder); !done) return std::unexpected(std::move(done.error()));
    for (Rank& rank : builder.unfinished().ranks)
      if (rank.file.empty()) rank.file = path;
    return builder;
  } catch (const std::bad_alloc&) {
    return std::unexpected(Error{path, {}, "does not fit into memory", "Read fewer ranks at a time, or record fewer steps."});
  }
}

// Reads files in any order by threads and hands them over in order. No thread begins a file before all but the last `threads` before it were taken.
class InOrder {
 public:
  InOrder(const std::vector<std::string>& paths, const ReadOptions& options) : paths_(paths), results_(paths.size()) {
    const auto cores = static_cast<std::size_t>(thread_count(options.threads));
    const std::size_t workers = std::min(cores, paths.size());
    each_ = options;
    each_.threads = static_cast<int>(std::max<std::size_t>(1, cores / std::max<std::size_t>(1, workers)));
    ahead_ = workers;
    if (workers > 1)
      for (std::size_t i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~InOrder() {
    {
      const std::lock_guard lock(mutex_);
      next_ = paths_.size();
      taken_ = paths_.size();
    }
    changed_.notify_all();
  }

  Result<TimelineBuilder> take(std::size_t i) {
    if (threads_.empty()) return read_file(paths_[i], each_);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return results_[i] != nullptr; });
    Result<TimelineBuilder> result = std::move(*results_[i]);
    results_[i].reset();
    taken_ = i + 1;
    changed_.notify_all();
    return result;
  }

 private:
  void work() {
    for (;;) {
      std::size_t i = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return next_ < taken_ + ahead_ || next_ >= paths_.size(); });
        if (next_ >= paths_.size()) return;
        i = next_++;
      }
      auto result = std::make_unique<Result<TimelineBuilder>>(read_file(paths_[i], each_));
      {
        const std::lock_guard lock(mutex_);
        results_[i] = std::move(result);
      }
      changed_.notify_all();
    }
  }

  const std::vector<std::string>& paths_;
  ReadOptions each_;
  std::size_t ahead_ = 1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0, taken_ = 0;
  std::vector<std::unique_ptr<Result<TimelineBuilder>>> results_;
  std::vector<std::jthread> threads_;  // last: joined before what they use is gone
};

// Clocks that are within a year of each other are taken as they are. A file further away begins a clock of its own, which is moved to begin with the first
// file; later files within a year of that one move with it.
class Clocks {
 public:
  // How far the file must be moved; absent where that cannot be expressed.
  std::optional<Nanoseconds> offset(const Interval& range) {
    if (range.begin < -furthest_ns || range.end > furthest_ns) return {};
    for (const Clock& clock : clocks_)
      if (std::abs(range.begin - clock.begin) <= year_ns) return fits(range, clock.offset);
    const Nanoseconds moved = clocks_.empty() ? 0 : clocks_[0].begin - range.begin;
    clocks_.push_back({range.begin, moved});
    return fits(range, moved);
  }

 private:
  struct Clock {
    Nanoseconds begin;  // of its first file, before it was moved
    Nanoseconds offset;
  };
  static std::optional<Nanoseconds> fits(const Interval& range, Nanoseconds offset) {
    const Nanoseconds begin = range.begin + offset;  // within a year of the first file's
    if (begin < -furthest_ns || begin > furthest_ns || range.end - range.begin > furthest_ns - begin) return {};
    return offset;
  }
  std::vector<Clock> clocks_;
};

std::string source_name(RankSource source) {
  return source == RankSource::file_name ? "its file's name" : source == RankSource::position ? "its position" : "its file";
}

void number_ranks(TimelineBuilder& builder) {
  std::vector<Rank>& ranks = builder.unfinished().ranks;
  HealthList& notes = builder.health().notes;
  std::set<std::int64_t> used;
  std::uint64_t by_name = 0, by_position = 0;
  Listing contradicted;
  for (Rank& rank : ranks) {
    const auto named = rank_in_path(rank.file);
    if (rank.number_from == RankSource::position && named) rank.number = *named, rank.number_from = RankSource::file_name;
    if (rank.number_from == RankSource::file_name) ++by_name;
    if (rank.number_from == RankSource::distributed_info && named && *named != rank.number)
      contradicted.add(rank.file, "it says rank " + std::to_string(rank.number) + ", its name says " + std::to_string(*named));
    if (rank.number_from != RankSource::position) used.insert(rank.number);
  }
  std::int64_t lowest = 0;
  for (Rank& rank : ranks) {
    if (rank.number_from != RankSource::position) continue;
    while (!used.insert(lowest).second) ++lowest;
    rank.number = lowest;
    ++by_position;
  }
  notes.add("rank_from_file_name", by_name, "", "The file does not say its rank (no distributedInfo): it was taken from the file's name.");
  if (ranks.size() > 1) notes.add("rank_from_position", by_position, "", "Neither the file nor its name says its rank: the lowest free number was taken.");
  contradicted.note(notes, "rank_contradicts_file_name", "The rank inside the file was believed.");

  std::vector<const Rank*> by_number;
  for (const Rank& rank : ranks) by_number.push_back(&rank);
  std::ranges::stable_sort(by_number, {}, &Rank::number);
  Listing duplicates;
  for (std::size_t i = 1; i < by_number.size(); ++i) {
    const Rank &rank = *by_number[i], &before = *by_number[i - 1];
    if (rank.number == before.number)
      duplicates.add(rank.file, "rank " + std::to_string(rank.number) + " by " + source_name(rank.number_from) + ", as " + before.file + " by " +
                                    source_name(before.number_from));
  }
  duplicates.note(notes, "duplicate_rank", "Several files are of one rank; each is analysed by itself:");

  std::int64_t world = 0;
  for (const Rank& rank : ranks) world = std::max(world, rank.world_size);
  std::set<std::int64_t> distinct;
  for (const Rank& rank : ranks) distinct.insert(rank.number);
  const auto given = static_cast<std::int64_t>(distinct.size());
  if (ranks.size() > 1 && given < world)
    notes.add("ranks_not_given", static_cast<std::uint64_t>(world - given), "",
              "The job had " + std::to_string(world) + " ranks; files of " + std::to_string(given) + " were given.");
}

// How the files are called in notes: without the folders that they share.
std::vector<std::string> short_names(const std::vector<std::string>& paths) {
  std::string_view shared = std::string_view(paths[0]).substr(0, paths[0].find_last_of('/') + 1);
  for (const std::string& path : paths)
    while (!path.starts_with(shared)) shared = shared.size() < 2 ? "" : shared.substr(0, shared.find_last_of('/', shared.size() - 2) + 1);
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(path.substr(shared.size()));
  return names;
}

}  // namespace

Result<Timeline> read_timeline(std::span<const std::string> paths, const ReadOptions& options) {
  std::vector<std::string> files;
  Listing skipped, unusable, moved, repeated;
  std::map<std::string, std::string> given;  // each file, by where it lies, and how it was called first
  std::optional<Error> first_error;
  std::size_t failures = 0;
  const auto refuse = [&](std::string_view name, Error error) {
    unusable.add(name, error.problem);
    if (!first_error) first_error = std::move(error);
    ++failures;
  };
  for (const std::string& path : paths) {
    Result<FoundInputs> found = search_inputs(path);
    if (!found) {
      refuse(path, std::move(found.error()));
      continue;
    }
    for (const auto& [name, reason] : found->skipped) skipped.add(name, reason);
    for (std::string& file : found->files) {
      std::error_code unknown;
      const std::filesystem::path real = std::filesystem::canonical(file, unknown);
      const auto [first, is_new] = given.try_emplace(unknown ? file : real.string(), file);
      if (is_new)
        files.push_back(std::move(file));
      else
        repeated.add(file, "is " + first->second);
    }
  }
  if (files.empty() && first_error) return std::unexpected(std::move(*first_error));
  if (files.empty()) return std::unexpected(Error{"", {}, "no input was given", "Give a trace file, a directory of them, or \"-\" for standard input."});
  if (options.progress != nullptr)
    for (const std::string& file : files) {
      std::error_code unknown;
      const std::uintmax_t bytes = std::filesystem::file_size(file, unknown);
      if (!unknown) options.progress->expect(bytes);
    }

  const std::vector<std::string> names = short_names(files);
  TimelineBuilder whole;
  Clocks clocks;
  InOrder readings(files, options);
  for (std::size_t i = 0; i < files.size(); ++i) {
    Result<TimelineBuilder> builder = readings.take(i);
    if (!builder) {
      refuse(names[i], std::move(builder.error()));
      continue;
    }
    if (whole.slice_count() + builder->slice_count() >= index(no_id<SliceId>)) {
      refuse(names[i], Error{files[i], {}, "would make more than 4.29 billion slices", "Analyse fewer ranks at a time."});
      continue;
    }
    if (const auto range = builder->time_range()) {
      const auto offset = clocks.offset(*range);
      if (!offset) {
        refuse(names[i], Error{files[i],
                               {},
                               "its times are more than 146 years away from 1970 or from each other",
                               "Its clock was not set, or the file is damaged: record it anew."});
        continue;
      }
      if (*offset != 0) {
        builder->move_in_time(*offset);
        moved.add(names[i], std::to_string(std::abs(*offset) / year_ns) + (*offset > 0 ? " years earlier" : " years later"));
      }
    }
    whole.append(std::move(*builder), files.size() > 1 ? names[i] + ": " : "");
  }
  if (whole.unfinished().ranks.empty()) {
    if (first_error && failures > 1) first_error->problem += " (and none of the other " + std::to_string(failures - 1) + " files could be used either)";
    return std::unexpected(first_error ? std::move(*first_error) : Error{files[0], {}, "holds no rank", ""});
  }
  number_ranks(whole);
  moved.note(whole.health().notes, "clock_years_away",
             "The clock differs from the first file's; its times were moved so that both begin together, and no skew between them is known:");
  unusable.note(whole.health().notes, "unusable_file", "Files that could not be used and are missing from every figure:");
  repeated.note(whole.health().notes, "repeated_file", "Files that were given more than once (or are links to each other) were read once:");
  skipped.note(whole.health().notes, "skipped_file", "Files of the directory that are no traces:");
  return whole.finish(thread_count(options.threads));
}

}  // namespace stepscope
