// read_speed TRACE.json TRACE.json.gz [RUNS]: how fast a trace becomes columns, beside what the same bytes cost others in the same run.
//
// Each contestant runs RUNS times (at least 5), in turn with the others, each time in a process of its own: so their memory is told apart, and what disturbs
// the machine disturbs all. Processor time (user + system) counts; on a machine that does nothing else the wall time of one thread is the same. Printed: GB/s
// of JSON text (1e9 bytes) and million events/s as median (smallest … largest), the ratios to memcpy and to simdjson On-Demand, and the peak memory per event.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/column.h"
#include "on_demand.h"
#include "read/kineto.h"

namespace {

using namespace stepscope;

struct Sample {
  double cpu_s = 0, wall_s = 0;
  double bytes = 0, events = 0;
  double memory = 0;  // peak resident bytes
};

double now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Stopwatch {
  double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
  void stop(Sample& sample) const {
    sample.cpu_s = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    sample.wall_s = now(CLOCK_MONOTONIC) - wall;
  }
};

std::string load(const std::string& path, std::size_t spare) {
  std::string text;
  const int file = ::open(path.c_str(), O_RDONLY);
  const off_t size = ::lseek(file, 0, SEEK_END);
  text.resize(static_cast<std::size_t>(size) + spare);
  for (off_t done = 0; done < size;) {
    const ssize_t count = ::pread(file, text.data() + done, static_cast<std::size_t>(size - done), done);
    if (count <= 0) std::exit(2);
    done += count;
  }
  ::close(file);
  return text;
}

Sample copy(const std::string& path) {
  const std::string text = load(path, 0);
  std::string target(text.size(), 'x');  // its pages are there already
  Sample sample{.bytes = static_cast<double>(text.size())};
  const Stopwatch watch;
  std::memcpy(target.data(), text.data(), text.size());
  watch.stop(sample);
  return target.back() == text.back() ? sample : Sample{};
}

Sample read_calls(const std::string& path) {
  Column<char> block;  // begins on a page, as Stepscope's own
  block.resize(256 << 10, 'x');
  Sample sample;
  const Stopwatch watch;
  const int file = ::open(path.c_str(), O_RDONLY);
  for (ssize_t count; (count = ::read(file, block.data(), block.size())) > 0;) sample.bytes += static_cast<double>(count);
  ::close(file);
  watch.stop(sample);
  return sample;
}

Sample on_demand(const std::string& path) {
  const std::string text = load(path, 64);
  Sample sample{.bytes = static_cast<double>(text.size() - 64)};
  const Stopwatch watch;
  sample.events = static_cast<double>(extract_by_on_demand(text, text.size() - 64));
  watch.stop(sample);
  return sample;
}

// From opening the file to the finished Timeline.
Sample stepscope_reader(const std::string& path, int threads, bool by_layout) {
  Sample sample;
  const Stopwatch watch;
  const auto source = open_bytes(path);
  TimelineBuilder builder;
  if (!source || !read_kineto(**source, ReadOptions{.threads = threads}, KinetoTuning{.by_layout = by_layout}, builder)) std::exit(2);
  const Timeline timeline = builder.finish(threads);
  watch.stop(sample);
  sample.bytes = static_cast<double>(timeline.ranks[0].bytes);
  sample.events = static_cast<double>(timeline.ranks[0].events);
  return sample;
}

// In a process of its own.
Sample measure(const std::function<Sample()>& contestant) {
  int ends[2];
  if (::pipe(ends) != 0) std::exit(2);
  const pid_t child = ::fork();
  if (child == 0) {
    const Sample sample = contestant();
    const bool written = ::write(ends[1], &sample, sizeof sample) == static_cast<ssize_t>(sizeof sample);
    ::_exit(written ? 0 : 2);
  }
  ::close(ends[1]);
  Sample sample;
  const bool got = ::read(ends[0], &sample, sizeof sample) == static_cast<ssize_t>(sizeof sample);
  ::close(ends[0]);
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  if (!got || status != 0) std::exit(2);
  sample.memory = static_cast<double>(usage.ru_maxrss) * 1024;
  return sample;
}

struct Contestant {
  std::string name;
  std::function<Sample()> run;
  std::vector<Sample> samples;

  std::vector<double> sorted(auto figure) const {
    std::vector<double> values;
    for (const Sample& sample : samples) values.push_back(figure(sample));
    std::ranges::sort(values);
    return values;
  }
  double median(auto figure) const { return sorted(figure)[samples.size() / 2]; }
};

// Two readers of one thread each at the same time, in processes of their own: how much the machine gets done by two cores of this very work is the limit of
// what two threads of one reader can gain. Seconds by the wall until both are done.
double seconds_side_by_side(const std::function<Sample()>& contestant) {
  const double begin = now(CLOCK_MONOTONIC);
  {
    const std::jthread other([&] { measure(contestant); });
    measure(contestant);
  }
  return now(CLOCK_MONOTONIC) - begin;
}

std::string spread(std::vector<double> values) {
  std::ranges::sort(values);
  return fmt::format("{:.2f}x ({:.2f} … {:.2f})", values[values.size() / 2], values.front(), values.back());
}

double gigabytes_per_cpu_second(const Sample& sample) {
  return sample.bytes / sample.cpu_s / 1e9;
}
double gigabytes_per_second(const Sample& sample) {
  return sample.bytes / sample.wall_s / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "read_speed TRACE.json TRACE.json.gz [RUNS]\n");
    return 2;
  }
  const std::string plain = argv[1], zipped = argv[2];
  const int runs = std::max(5, argc > 3 ? std::atoi(argv[3]) : 5);
  std::vector<Contestant> contestants = {
      {"memcpy", [&] { return copy(plain); }, {}},
      {"read() by 256 KiB", [&] { return read_calls(plain); }, {}},
      {"simdjson On-Demand, fields only", [&] { return on_demand(plain); }, {}},
      {"stepscope, every event in full", [&] { return stepscope_reader(plain, 1, false); }, {}},
      {"every event in full, 2 threads", [&] { return stepscope_reader(plain, 2, false); }, {}},
      {"stepscope", [&] { return stepscope_reader(plain, 1, true); }, {}},
      {"stepscope, 2 threads", [&] { return stepscope_reader(plain, 2, true); }, {}},
      {"stepscope, .gz", [&] { return stepscope_reader(zipped, 1, true); }, {}},
      {"stepscope, .gz, 2 threads", [&] { return stepscope_reader(zipped, 2, true); }, {}},
  };
  for (int run = 0; run < runs; ++run)
    for (Contestant& contestant : contestants) contestant.samples.push_back(measure(contestant.run));

  const double copying = contestants[0].median(gigabytes_per_cpu_second), extracting = contestants[2].median(gigabytes_per_cpu_second);
  fmt::print("{:32} {:>26} {:>9} {:>9} {:>9} {:>10} {:>22} {:>9} {:>8}\n", "", "GB/s of CPU time", "Mevent/s", "of memcpy", "of On-D.", "GB/s wall",
             "wall spread", "MB peak", "B/event");
  for (const Contestant& contestant : contestants) {
    const auto speed = contestant.sorted(gigabytes_per_cpu_second), wall = contestant.sorted(gigabytes_per_second);
    const double events = contestant.samples[0].events, memory = contestant.median([](const Sample& sample) { return sample.memory; });
    fmt::print("{:32} {:>26} {:>9} {:>9.2f} {:>9.2f} {:>10.2f} {:>22} {:>9.0f} {:>8}\n", contestant.name,
               fmt::format("{:.2f} ({:.2f} … {:.2f})", speed[speed.size() / 2], speed.front(), speed.back()),
               events == 0 ? "" : fmt::format("{:.1f}", contestant.median([](const Sample& sample) { return sample.events / sample.cpu_s / 1e6; })),
               speed[speed.size() / 2] / copying, speed[speed.size() / 2] / extracting, wall[wall.size() / 2],
               fmt::format("({:.2f} … {:.2f})", wall.front(), wall.back()), memory / 1e6, events == 0 ? "" : fmt::format("{:.0f}", memory / events));
  }
  std::vector<double> gained, gained_in_full, offered;
  const auto one_thread = [&] { return stepscope_reader(plain, 1, true); };
  for (int run = 0; run < runs; ++run) {
    const double begin = now(CLOCK_MONOTONIC);
    measure(one_thread);
    const double one = now(CLOCK_MONOTONIC) - begin, pair = seconds_side_by_side(one_thread);
    offered.push_back(2 * one / pair);
    for (const bool by_layout : {false, true}) {
      const auto by_threads = [&](int threads) { return measure([&] { return stepscope_reader(plain, threads, by_layout); }).wall_s; };
      const double alone = by_threads(1);
      (by_layout ? gained : gained_in_full).push_back(alone / by_threads(2));
    }
  }
  fmt::print("two threads: {} one by the wall, each pair of runs in turn; two readers of one thread side by side get {} the work of one done\n", spread(gained),
             spread(offered));
  fmt::print("             {} where every event is read in full (nothing is learnt that both have to learn)\n", spread(gained_in_full));
  fmt::print("limits: 1.5 GB/s and 5 Mevent/s plain, 1.1 GB/s .gz, 1.7x by two threads, 120 B/event + 64 MB\n");
  return 0;
}
