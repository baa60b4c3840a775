#include "read/kineto_threads.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "read/kineto_events.h"
#include "read/kineto_mend.h"

namespace stepscope {

namespace {

constexpr std::size_t most_waiting = 3;           // blocks that a thread may have read before their turn to be merged
constexpr std::size_t longest_block = 64u << 20;  // text without any event

// A block of text and what was read of it.
struct Stretch {
  std::uint64_t number = 0;
  TextWindow::Piece text;
  KinetoBlock block;
  const char* read_to = nullptr;
  bool clean = false;      // read to its end, as events
  bool separated = false;  // a comma stands at its end
};

class Work {
 public:
  Work(TextWindow& window, KinetoMerger& merger, const KinetoTuning& tuning, bool separated, Repairs& repairs)
      : window_(window), merger_(merger), tuning_(tuning), separated_(separated), repairs_(repairs) {}

  void run_thread(KinetoEventReader& reader) {
    std::deque<std::unique_ptr<Stretch>> waiting;
    std::vector<std::unique_ptr<Stretch>> spare;
    for (;;) {
      while (!waiting.empty() && merge(waiting.front(), reader, waiting.size() == most_waiting)) {
        spare.push_back(std::move(waiting.front()));
        waiting.pop_front();
      }
      if (waiting.empty()) reader.forget_if_large();
      if (spare.empty()) spare.push_back(std::make_unique<Stretch>());
      if (!take(*spare.back())) break;
      read(*spare.back(), reader);
      waiting.push_back(std::move(spare.back()));
      spare.pop_back();
    }
    for (auto& stretch : waiting) merge(stretch, reader, true);
  }

  // After all threads have ended: what was not used goes back in front of what the window has.
  void put_back(bool& separated) {
    for (auto stretch = unused_.rbegin(); stretch != unused_.rend(); ++stretch) window_.put_back((*stretch)->text, (*stretch)->read_to);
    separated = separated_;
  }

 private:
  // False where no text is left, or what was read shows that the rest is for one thread.
  bool take(Stretch& stretch) {
    const std::lock_guard lock(reading_);
    if (stopped()) return false;
    const char* cut = nullptr;
    for (std::size_t wanted = tuning_.thread_block_bytes; cut == nullptr; wanted *= 2) {
      while (window_.size() < wanted && window_.extend()) {
      }
      if (window_.size() == 0) return false;
      cut = find_last_event(window_.begin(), window_.end());
      if (window_.at_end_of_source() || window_.size() > longest_block) cut = window_.end();
    }
    stretch.number = taken_++;
    window_.hand_out(stretch.text, cut);
    return true;
  }

  void read(Stretch& stretch, KinetoEventReader& reader) {
    stretch.block.clear();
    reader.block().clear();
    stretch.separated = true;  // a block begins behind a comma, or merge() says what it is if not
    const char* at = stretch.text.begin();
    const auto stop = reader.read(at, stretch.text.end(), stretch.text.offset, stretch.separated);
    std::swap(stretch.block, reader.block());
    stretch.read_to = at;
    stretch.clean = stop == KinetoEventReader::Stop::more && at == stretch.text.end();
  }

  // In the order of the file. False where it is not the stretch's turn yet and it may wait.
  bool merge(std::unique_ptr<Stretch>& stretch, KinetoEventReader& reader, bool now) {
    std::unique_lock lock(merging_);
    if (stretch->number != merged_) {
      if (!now) return false;
      turn_.wait(lock, [&] { return stretch->number == merged_; });
    }
    if (unused_.empty()) {
      if (!separated_ && stretch->text.begin() != stretch->text.end() && *stretch->text.begin() == '{')
        repairs_.add(Repair::missing_comma, stretch->text.offset);
      merger_.merge(stretch->block, reader.vocabulary());
      separated_ = stretch->separated;
    } else {
      stretch->read_to = stretch->text.begin();
    }
    ++merged_;
    if (!stretch->clean || !unused_.empty()) {
      unused_.push_back(std::move(stretch));
      stretch = std::make_unique<Stretch>();
    }
    lock.unlock();
    turn_.notify_all();
    return true;
  }

  bool stopped() {
    const std::lock_guard lock(merging_);
    return !unused_.empty();
  }

  TextWindow& window_;
  KinetoMerger& merger_;
  const KinetoTuning tuning_;
  std::mutex reading_;  // guards the window and taken_
  std::uint64_t taken_ = 0;
  std::mutex merging_;  // guards what follows
  std::condition_variable turn_;
  std::uint64_t merged_ = 0;
  std::vector<std::unique_ptr<Stretch>> unused_;  // the first one that was not read to its end, and all behind it
  bool separated_;
  Repairs& repairs_;
};

}  // namespace

void read_events_by_threads(TextWindow& window, KinetoEventReader& first, KinetoMerger& merger, int threads, const KinetoTuning& tuning, bool& separated,
                            Repairs& repairs) {
  Work work(window, merger, tuning, separated, repairs);
  {
    std::vector<std::unique_ptr<KinetoEventReader>> readers;  // filled before any thread runs: the first reader changes when it does
    for (int i = 1; i < threads; ++i) {
      readers.push_back(std::make_unique<KinetoEventReader>(tuning.by_layout));
      readers.back()->know_what(first);
    }
    std::vector<std::jthread> others;
    try {
      for (const auto& reader : readers) others.emplace_back([&work, &reader] { work.run_thread(*reader); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that run do the work.
    }
    work.run_thread(first);
  }
  work.put_back(separated);
}

}  // namespace stepscope
