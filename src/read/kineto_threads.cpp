#include "read/kineto_threads.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "read/kineto_events.h"
#include "read/kineto_mend.h"

namespace stepscope {

namespace {

constexpr std::size_t most_waiting = 3;           // stretches that a reader may have read before their turn to be numbered
constexpr std::size_t longest_block = 64u << 20;  // text without any event
// Who finds nothing to do looks again so often before it sleeps: others are soon done with a block, and waking a core costs time.
constexpr int looks_before_sleep = 50;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// A block of text and what was read of it.
struct Stretch {
  std::uint64_t number = 0;
  TextWindow::Piece text;
  KinetoBlock block;
  const char* read_to = nullptr;
  bool clean = false;      // read to its end, as events
  bool separated = false;  // a comma stands at its end
};
using StretchPointer = std::unique_ptr<Stretch>;

// A reader and what it has read that waits for its turn to be numbered: only who has the reader may number, because both use its vocabulary.
struct ReaderAtWork {
  KinetoEventReader* reader = nullptr;
  std::unique_ptr<KinetoEventReader> own;
  std::deque<StretchPointer> waiting;
  bool busy = false;
};

class Work {
 public:
  Work(TextWindow& window, KinetoEventReader& first, KinetoMerger& merger, int threads, const KinetoTuning& tuning, bool separated, Repairs& repairs)
      : window_(window),
        merger_(merger),
        tuning_(tuning),
        most_readers_(static_cast<std::size_t>(threads)),
        most_taken_(2 * static_cast<std::size_t>(threads)),
        separated_(separated),
        repairs_(repairs) {
    readers_.push_back(std::make_unique<ReaderAtWork>());
    readers_.front()->reader = &first;
  }

  // Does whatever can be done, what others wait for first, until nothing is left. An exception of any thread ends all.
  void run_thread() {
    std::unique_lock lock(mutex_);
    int looks = 0;
    try {
      while (!done()) {
        if (has_work(*readers_.front())) {
          use(*readers_.front(), lock);
        } else if (!appending_ && !numbered_.empty()) {
          append(lock);
        } else if (!taking_ && !no_more_text_ && taken_ - finished_ < most_taken_) {
          take(lock);
        } else if (ReaderAtWork* const further = further_reader_with_work()) {
          use(*further, lock);
        } else {
          ++idle_;
          if (++looks < looks_before_sleep) {
            lock.unlock();
            for (int i = 0; i < 64; ++i) pause();
            lock.lock();
          } else {
            changed_.wait(lock);
          }
          --idle_;
          continue;
        }
        looks = 0;
        changed_.notify_all();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!failure_) failure_ = std::current_exception();
    }
    changed_.notify_all();
  }

  // After all threads have ended: what was not used goes back in front of what the window has.
  void put_back(bool& separated) {
    if (failure_) std::rethrow_exception(failure_);
    std::ranges::sort(unused_, {}, &Stretch::number);
    for (auto stretch = unused_.rbegin(); stretch != unused_.rend(); ++stretch) window_.put_back((*stretch)->text, (*stretch)->read_to);
    separated = separated_;
  }

 private:
  bool done() const { return failure_ != nullptr || (no_more_text_ && !taking_ && finished_ == taken_); }

  bool has_work(const ReaderAtWork& at_work) const {
    return !at_work.busy && (is_turn_of(at_work) || (!texts_.empty() && at_work.waiting.size() < most_waiting));
  }
  ReaderAtWork* further_reader_with_work() const {
    const auto found = std::ranges::find_if(readers_, [&](const auto& at_work) { return has_work(*at_work); });
    return found == readers_.end() ? nullptr : found->get();
  }
  bool is_turn_of(const ReaderAtWork& at_work) const { return !at_work.waiting.empty() && at_work.waiting.front()->number == turn_; }

  // Reads the next stretch, and numbers what the reader has read as far as its turn goes.
  void use(ReaderAtWork& at_work, std::unique_lock<std::mutex>& lock) {
    at_work.busy = true;
    number(at_work, lock);
    if (!texts_.empty() && at_work.waiting.size() < most_waiting) {
      StretchPointer stretch = std::move(texts_.front());
      texts_.pop_front();
      const bool learned_enough = readers_.size() < most_readers_ && idle_ != 0 && !texts_.empty() && stretch->text.offset >= tuning_.alone_bytes;
      const bool nothing_waits = at_work.waiting.empty();
      lock.unlock();
      if (nothing_waits) at_work.reader->forget_if_large();
      std::unique_ptr<ReaderAtWork> further;
      if (learned_enough) {
        further = std::make_unique<ReaderAtWork>();
        further->own = std::make_unique<KinetoEventReader>(tuning_.by_layout);
        further->own->know_what(*at_work.reader);
        further->reader = further->own.get();
      }
      lock.lock();
      if (further && readers_.size() < most_readers_) {
        readers_.push_back(std::move(further));
        changed_.notify_all();
      }
      lock.unlock();
      read(*stretch, *at_work.reader);
      lock.lock();
      if (stopped_) {
        leave_unused(std::move(stretch));
      } else {
        at_work.waiting.push_back(std::move(stretch));
        number(at_work, lock);
      }
    }
    at_work.busy = false;
  }

  static void read(Stretch& stretch, KinetoEventReader& reader) {
    stretch.block.clear();
    reader.block().clear();
    stretch.separated = true;  // a block begins behind a comma, or number() says what it is if not
    const char* at = stretch.text.begin();
    const auto stop = reader.read(at, stretch.text.end(), stretch.text.offset, stretch.separated);
    std::swap(stretch.block, reader.block());
    stretch.read_to = at;
    stretch.clean = stop == KinetoEventReader::Stop::more && at == stretch.text.end();
  }

  void number(ReaderAtWork& at_work, std::unique_lock<std::mutex>& lock) {
    while (is_turn_of(at_work)) {
      StretchPointer stretch = std::move(at_work.waiting.front());
      at_work.waiting.pop_front();
      if (!separated_ && stretch->text.begin() != stretch->text.end() && *stretch->text.begin() == '{')
        repairs_.add(Repair::missing_comma, stretch->text.offset);
      separated_ = stretch->separated;
      if (!stretch->clean) stop();
      lock.unlock();
      merger_.number(stretch->block, at_work.reader->vocabulary());
      lock.lock();
      ++turn_;
      numbered_.push_back(std::move(stretch));
    }
  }

  void append(std::unique_lock<std::mutex>& lock) {
    StretchPointer stretch = std::move(numbered_.front());
    numbered_.pop_front();
    appending_ = true;
    lock.unlock();
    merger_.append(stretch->block);
    lock.lock();
    appending_ = false;
    ++finished_;
    (stretch->clean ? spare_ : unused_).push_back(std::move(stretch));
  }

  void take(std::unique_lock<std::mutex>& lock) {
    if (spare_.empty()) spare_.push_back(std::make_unique<Stretch>());
    StretchPointer stretch = std::move(spare_.back());
    spare_.pop_back();
    taking_ = true;
    lock.unlock();
    const bool any = take_text(*stretch);
    lock.lock();
    taking_ = false;
    if (!any) {
      no_more_text_ = true;
      return;
    }
    stretch->number = taken_++;
    if (stopped_)
      leave_unused(std::move(stretch));
    else
      texts_.push_back(std::move(stretch));
  }

  // The next block of text, cut where an event probably begins. False where no text is left.
  bool take_text(Stretch& stretch) {
    const char* cut = nullptr;
    for (std::size_t wanted = tuning_.thread_block_bytes; cut == nullptr; wanted *= 2) {
      while (window_.size() < wanted && window_.extend()) {
      }
      if (window_.size() == 0) return false;
      cut = find_last_event(window_.begin(), window_.end());
      if (window_.at_end_of_source() || window_.size() > longest_block) cut = window_.end();
    }
    window_.hand_out(stretch.text, cut);
    return true;
  }

  // A stretch was not read to its end: what lies behind it is for one thread.
  void stop() {
    stopped_ = no_more_text_ = true;
    for (StretchPointer& stretch : texts_) leave_unused(std::move(stretch));
    texts_.clear();
    for (const auto& at_work : readers_) {
      for (StretchPointer& stretch : at_work->waiting) leave_unused(std::move(stretch));
      at_work->waiting.clear();
    }
  }
  void leave_unused(StretchPointer stretch) {
    stretch->read_to = stretch->text.begin();
    unused_.push_back(std::move(stretch));
    ++finished_;
  }

  TextWindow& window_;  // of who is taking_
  KinetoMerger& merger_;
  const KinetoTuning tuning_;
  const std::size_t most_readers_, most_taken_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<ReaderAtWork>> readers_;  // what is in a busy one belongs to the thread that uses it, but for `waiting`
  std::deque<StretchPointer> texts_, numbered_;         // by number
  std::vector<StretchPointer> spare_;
  std::vector<StretchPointer> unused_;                 // the first one that was not read to its end, and all behind it
  std::uint64_t taken_ = 0, turn_ = 0, finished_ = 0;  // stretches taken; the next to be numbered; appended or unused
  int idle_ = 0;                                       // threads that wait for something to do
  bool taking_ = false, appending_ = false, no_more_text_ = false, stopped_ = false;
  bool separated_;
  Repairs& repairs_;
  std::exception_ptr failure_;
};

}  // namespace

void read_events_by_threads(TextWindow& window, KinetoEventReader& first, KinetoMerger& merger, int threads, const KinetoTuning& tuning, bool& separated,
                            Repairs& repairs) {
  Work work(window, first, merger, threads, tuning, separated, repairs);
  {
    std::vector<std::jthread> others;
    try {
      for (int i = 1; i < threads; ++i) others.emplace_back([&work] { work.run_thread(); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that run do the work.
    }
    work.run_thread();
  }
  work.put_back(separated);
}

}  // namespace stepscope
