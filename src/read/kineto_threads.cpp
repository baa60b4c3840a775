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

constexpr std::uint64_t unknown_end = ~std::uint64_t{0};
constexpr std::size_t longest_block = 64u << 20;  // text without any event
// Blocks that one reader takes one behind the other, fewer near the end: layouts are guessed from what came before, and at each leap some guesses fail.
constexpr std::uint64_t longest_run = 8;
// How far behind a block the next event is looked for: first, and at most.
constexpr std::size_t first_look = 4u << 10, farthest_look = 1u << 20;
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
  TextWindow::Piece text;                         // where the window hands out text; else its reader has it
  std::uint64_t begin = 0, end = 0, read_to = 0;  // in the content
  KinetoBlock block;
  bool begins_with_brace = false;
  bool clean = false;      // read to its end, as events
  bool separated = false;  // a comma stands at its end
};
using StretchPointer = std::unique_ptr<Stretch>;

// A reader and what it has read that waits for its turn to be numbered: only who has the reader may number, because both use its vocabulary.
struct ReaderAtWork {
  KinetoEventReader* reader = nullptr;
  std::unique_ptr<KinetoEventReader> own;
  Column<char> text;                        // what it reads where it takes its text itself: stays in the cache of one core
  std::uint64_t run_next = 0, run_end = 0;  // the blocks of its run that it has not taken yet
  std::deque<StretchPointer> waiting;
  bool busy = false;
};

class Work {
 public:
  Work(TextWindow& window, KinetoEventReader& first, KinetoMerger& merger, int threads, const KinetoTuning& tuning, bool separated, Repairs& repairs)
      : window_(window),
        merger_(merger),
        tuning_(tuning),
        by_place_(tuning.by_place && window.source().can_read_at()),
        first_begin_(window.offset(window.begin())),
        first_separated_(separated),
        most_readers_(static_cast<std::size_t>(threads)),
        most_taken_((by_place_ ? 2 * longest_run : 2) * static_cast<std::size_t>(threads)),
        most_waiting_(by_place_ ? 2 * longest_run : 3),
        turn_begin_(first_begin_),
        separated_(separated),
        repairs_(repairs) {
    readers_.push_back(std::make_unique<ReaderAtWork>());
    readers_.front()->reader = &first;
    if (by_place_ && first_begin_ != 0) merger_.expect(window.source().raw_bytes_total().value_or(0) / first_begin_);
  }

  // Does whatever can be done, what others wait for first, until nothing is left. An exception of any thread ends all.
  void run_thread(std::size_t thread) {
    std::unique_lock lock(mutex_);
    int looks = 0;
    try {
      while (!done()) {
        ReaderAtWork& preferred = *readers_[by_place_ && thread < readers_.size() ? thread : 0];
        if (by_place_ && !appending_ && !numbered_.empty()) {
          append(lock);
        } else if (has_work(preferred)) {
          use(preferred, lock);
        } else if (!appending_ && !numbered_.empty()) {
          append(lock);
        } else if (!by_place_ && !taking_ && may_take()) {
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
    separated = separated_;
    if (by_place_) return window_.continue_at(turn_begin_);
    std::ranges::sort(unused_, {}, &Stretch::number);
    for (auto stretch = unused_.rbegin(); stretch != unused_.rend(); ++stretch)
      window_.put_back((*stretch)->text, (*stretch)->text.begin() + ((*stretch)->read_to - (*stretch)->begin));
  }

 private:
  bool done() const { return failure_ != nullptr || (turn_ >= end_ && !taking_ && finished_ == taken_); }
  bool may_take() const { return end_ == unknown_end && taken_ - finished_ < most_taken_; }
  bool has_text(const ReaderAtWork& at_work) const {
    if (!by_place_) return !texts_.empty();
    const std::uint64_t next = at_work.run_next < at_work.run_end ? at_work.run_next : next_run_;
    return next < end_ && next < turn_ + most_taken_;
  }

  bool has_work(const ReaderAtWork& at_work) const {
    return !at_work.busy && (is_turn_of(at_work) || (has_text(at_work) && at_work.waiting.size() < most_waiting_));
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
    if (has_text(at_work) && at_work.waiting.size() < most_waiting_) {
      StretchPointer stretch = next_text(at_work);
      const bool further_wanted = readers_.size() < most_readers_ && stretch->begin >= tuning_.alone_bytes && (by_place_ || (idle_ != 0 && !texts_.empty()));
      const bool nothing_waits = at_work.waiting.empty();
      lock.unlock();
      if (nothing_waits) at_work.reader->forget_if_large();
      std::unique_ptr<ReaderAtWork> further;
      if (further_wanted) {
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
      const bool at_end = by_place_ && read_at_place(*stretch, at_work);
      if (!by_place_) read(*stretch, stretch->text.begin(), stretch->text.end(), *at_work.reader);
      lock.lock();
      if (at_end) end_ = std::min(end_, stretch->number + 1);
      if (stopped_) {
        leave_unused(std::move(stretch));
      } else {
        at_work.waiting.push_back(std::move(stretch));
        number(at_work, lock);
      }
    }
    at_work.busy = false;
  }

  StretchPointer next_text(ReaderAtWork& at_work) {
    StretchPointer stretch;
    if (!by_place_) {
      stretch = std::move(texts_.front());
      texts_.pop_front();
      return stretch;
    }
    if (at_work.run_next == at_work.run_end) {
      const std::uint64_t begin = first_begin_ + next_run_ * tuning_.thread_block_bytes, all = window_.source().raw_bytes_total().value_or(begin);
      const std::uint64_t left = all > begin ? (all - begin) / tuning_.thread_block_bytes : 0;
      at_work.run_next = next_run_;
      next_run_ = at_work.run_end = next_run_ + std::clamp<std::uint64_t>(left / (2 * most_readers_), 1, longest_run);
    }
    ++taken_;
    stretch = spare();
    stretch->number = at_work.run_next++;
    stretch->begin = first_begin_ + stretch->number * tuning_.thread_block_bytes;
    return stretch;
  }

  // Reads the block that begins at the first event from stretch.begin on, and ends at the first event from a block later on: the next one begins there, because
  // it looks for that event in the same way. True where the content ends.
  bool read_at_place(Stretch& stretch, ReaderAtWork& at_work) const {
    Column<char>& text = at_work.text;
    const std::uint64_t from = stretch.begin;
    const std::size_t block = tuning_.thread_block_bytes;
    const char *begin = nullptr, *end = nullptr;
    bool at_end = false;
    std::size_t filled = 0;
    for (std::size_t look = first_look; look <= farthest_look && end == nullptr; look *= 4) {
      const std::size_t wanted = block + look;
      if (text.size() < wanted + TextWindow::readable_behind) text.append_uninitialised(wanted + TextWindow::readable_behind - text.size());
      filled += window_.source().read_at(from + filled, {text.data() + filled, wanted - filled});
      at_end = filled < wanted;
      const char* const read_to = text.data() + filled;
      const auto first_event_from = [&](std::size_t place) {
        if (place >= filled) return at_end ? read_to : nullptr;
        const char* at = text.data() + place;
        char before = 'x';
        const char* const found = find_event(at, read_to, before);
        return found == nullptr && at_end ? read_to : found;
      };
      begin = stretch.number == 0 ? text.data() : first_event_from(0);
      end = first_event_from(block);
    }
    if (begin == nullptr || end == nullptr) {  // no event far and wide
      stretch.block.clear();
      stretch.begin = stretch.end = stretch.read_to = from;
      stretch.clean = false;
      return false;
    }
    stretch.begin = from + static_cast<std::uint64_t>(begin - text.data());
    read(stretch, begin, end, *at_work.reader);
    return at_end && end == text.data() + filled;
  }

  void read(Stretch& stretch, const char* begin, const char* end, KinetoEventReader& reader) const {
    stretch.block.clear();
    reader.block().clear();
    stretch.separated = stretch.number != 0 || first_separated_;  // later ones begin behind a comma, or number() says what it is if not
    stretch.begins_with_brace = begin != end && *begin == '{';
    const char* at = begin;
    const auto stop = reader.read(at, end, stretch.begin, stretch.separated);
    std::swap(stretch.block, reader.block());
    stretch.read_to = stretch.begin + static_cast<std::uint64_t>(at - begin);
    stretch.end = stretch.begin + static_cast<std::uint64_t>(end - begin);
    stretch.clean = stop == KinetoEventReader::Stop::more && at == end;
  }

  void number(ReaderAtWork& at_work, std::unique_lock<std::mutex>& lock) {
    while (is_turn_of(at_work)) {
      StretchPointer stretch = std::move(at_work.waiting.front());
      at_work.waiting.pop_front();
      if (stopped_ || stretch->begin != turn_begin_) {
        // Where the block before it ended, nothing was found that this one could have begun with.
        if (!stopped_) stop();
        leave_unused(std::move(stretch));
        return;
      }
      if (stretch->number != 0 && !separated_ && stretch->begins_with_brace) repairs_.add(Repair::missing_comma, stretch->begin);
      if (stretch->begin != stretch->end) separated_ = stretch->separated;
      turn_begin_ = stretch->read_to;
      if (!stretch->clean) stop();
      lock.unlock();
      merger_.number(stretch->block, at_work.reader->vocabulary());
      lock.lock();
      if (++turn_ == end_) stop();  // what lies behind the end was taken in vain
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
    if (by_place_) window_.tell_progress(stretch->read_to);
    (stretch->clean || by_place_ ? spare_ : unused_).push_back(std::move(stretch));
  }

  StretchPointer spare() {
    if (spare_.empty()) return std::make_unique<Stretch>();
    StretchPointer stretch = std::move(spare_.back());
    spare_.pop_back();
    return stretch;
  }

  void take(std::unique_lock<std::mutex>& lock) {
    StretchPointer stretch = spare();
    taking_ = true;
    lock.unlock();
    const bool any = take_text(*stretch);
    lock.lock();
    taking_ = false;
    if (!any) {
      end_ = std::min(end_, taken_);  // which it is not where reading was stopped meanwhile
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
    stretch.begin = stretch.text.offset;
    return true;
  }

  // A stretch was not read to its end: what lies behind it is for one thread.
  void stop() {
    stopped_ = true;
    end_ = 0;
    for (StretchPointer& stretch : texts_) leave_unused(std::move(stretch));
    texts_.clear();
    for (const auto& at_work : readers_) {
      for (StretchPointer& stretch : at_work->waiting) leave_unused(std::move(stretch));
      at_work->waiting.clear();
    }
  }
  void leave_unused(StretchPointer stretch) {
    stretch->read_to = stretch->begin;
    unused_.push_back(std::move(stretch));
    ++finished_;
  }

  TextWindow& window_;  // of who is taking_; its source, and its progress under mutex_, of all where by_place_
  KinetoMerger& merger_;
  const KinetoTuning tuning_;
  const bool by_place_;  // readers take the text themselves, from its place in the source
  const std::uint64_t first_begin_;
  const bool first_separated_;
  const std::size_t most_readers_, most_taken_, most_waiting_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<ReaderAtWork>> readers_;  // what is in a busy one belongs to the thread that uses it, but for `waiting`
  std::deque<StretchPointer> texts_, numbered_;         // by number
  std::vector<StretchPointer> spare_;
  std::vector<StretchPointer> unused_;                 // the first one that was not read to its end, and all behind it
  std::uint64_t taken_ = 0, turn_ = 0, finished_ = 0;  // stretches taken; the next to be numbered; appended or unused
  std::uint64_t next_run_ = 0;                         // the first block that is in nobody's run
  std::uint64_t end_ = unknown_end;                    // behind the last block that is to be read
  std::uint64_t turn_begin_;                           // where the next to be numbered has to begin
  int idle_ = 0;                                       // threads that wait for something to do
  bool taking_ = false, appending_ = false, stopped_ = false;
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
      for (int i = 1; i < threads; ++i) others.emplace_back([&work, i] { work.run_thread(static_cast<std::size_t>(i)); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those that run do the work.
    }
    work.run_thread(0);
  }
  work.put_back(separated);
}

}  // namespace stepscope
