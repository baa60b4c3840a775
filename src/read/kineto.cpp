// Kineto and other Chrome trace event files: the object form and the array form, read as one stream, and never all-or-nothing.
//
// The list of events is read event by event: strictly (kineto_event.h), and where that fails mended (kineto_mend.h), and where that fails too the event is left
// out and reading goes on at the next one. All of it is counted (kineto_repairs.h).
#include <fmt/core.h>

#include <string>

#include "base/parallel.h"
#include "read/kineto.h"
#include "read/kineto_events.h"
#include "read/kineto_header.h"
#include "read/kineto_mend.h"
#include "read/kineto_merge.h"
#include "read/kineto_threads.h"
#include "read/reader.h"
#include "read/text_window.h"

namespace stepscope {

namespace {

constexpr std::size_t longest_value = 64u << 20;  // a longer event or header value counts as damaged

class KinetoFile {
 public:
  KinetoFile(ByteSource& source, const ReadOptions& options, const KinetoTuning& tuning, TimelineBuilder& builder)
      : source_(source),
        tuning_(tuning),
        threads_(thread_count(options.threads)),
        threads_from_(tuning.threads_from_bytes),
        window_(source, tuning.block_bytes, options.progress),
        builder_(builder),
        rank_(builder.add_rank(Rank{})),
        events_(tuning.by_layout),
        merger_(builder, rank_) {}

  Result<void> read() {
    if (at_space_end()) return std::unexpected(nothing("is empty"));
    if (window_.size() >= 3 && std::string_view(window_.begin(), 3) == "\xEF\xBB\xBF") window_.leave(window_.begin() + 3);
    if (at_space_end()) return std::unexpected(nothing("is empty"));
    if (*window_.begin() == '[') {
      step();
      read_events(Form::array);
    } else if (*window_.begin() == '{') {
      step();
      read_object();
    } else {
      return std::unexpected(nothing("is no trace: a trace begins with '{' or '['"));
    }
    if (!ended_ && !at_space_end()) {
      const char next = *window_.begin();
      repairs_.add(next == '{' || next == '[' ? Repair::second_document : Repair::trailing_bytes, window_.offset(window_.begin()));
    }
    if (!events_seen_) return std::unexpected(nothing("has no \"traceEvents\""));
    finish();
    return {};
  }

 private:
  enum class Form { object, array };

  Error nothing(std::string problem) const {
    if (!window_.failure().empty()) problem = window_.failure();
    return Error{std::string(source_.path()), std::nullopt, std::move(problem), "Export it again, e.g. with torch.profiler's export_chrome_trace().",
                 Error::Kind::unusable};
  }

  void step() { window_.leave(window_.begin() + 1); }
  std::uint64_t here() const { return window_.offset(window_.begin()); }

  // Moves to the next byte that is no space; true where there is none.
  bool at_space_end() {
    for (;;) {
      window_.leave(skip_space(window_.begin(), window_.end()));
      if (window_.size() != 0) return false;
      if (!extend()) return true;
    }
  }

  // A block is merged whenever the window moves on, so that neither grows with the file.
  bool extend() {
    merge();
    return window_.extend();
  }

  void merge() {
    merger_.merge(events_.block(), events_.vocabulary());
    events_.block().clear();
    events_.forget_if_large();
  }

  void ends_early() {
    repairs_.add(Repair::truncated, here());
    window_.leave(window_.end());
    ended_ = true;
  }

  void read_object() {
    for (;;) {
      if (at_space_end()) return ends_early();
      const char c = *window_.begin();
      if (c == '}') return step();
      if (c == ',') {
        step();
        continue;
      }
      if (!read_member()) return;
    }
  }

  // Finds a value with the window extended as far as it takes.
  Lex value_here(const char*& at, JsonValue& value) {
    for (;;) {
      at = window_.begin();
      const Lex found = lex_value(at, window_.end(), value);
      if (found != Lex::more) return found;
      if (window_.size() > longest_value) return Lex::bad;
      if (!extend()) return Lex::more;
    }
  }

  // One member of the document's object. False at the end of the file.
  bool read_member() {
    const char* at;
    JsonValue value;
    if (*window_.begin() != '"') return pass_over_damage();
    Lex found = value_here(at, value);
    if (found == Lex::more) return ends_early(), false;
    if (found == Lex::bad) return pass_over_damage();
    const std::string key(value.inside());
    window_.leave(at);
    if (at_space_end()) return ends_early(), false;
    if (*window_.begin() != ':') return pass_over_damage();
    step();
    if (at_space_end()) return ends_early(), false;
    if (key == "traceEvents") {
      events_seen_ = true;
      if (*window_.begin() == '[') {
        step();
        read_events(Form::object);
        return !ended_;
      }
    }
    found = value_here(at, value);
    if (found == Lex::more) return ends_early(), false;
    if (found == Lex::bad) return pass_over_damage();
    if (KinetoHeader::wants(key)) header_.take(key, value);
    window_.leave(at);
    return true;
  }

  // Goes on at the next member whose key this reader knows. False where there is none.
  bool pass_over_damage() {
    repairs_.add(Repair::damaged_header, here());
    step();
    for (;;) {
      const char* const end = window_.end();
      for (const char* at = window_.begin(); at != end; ++at) {
        if (*at != '"') continue;
        const char* close = at + 1;
        while (close != end && *close != '"' && close - at < 32) ++close;
        if (close == end) {
          window_.leave(at);
          break;
        }
        const std::string_view key(at + 1, static_cast<std::size_t>(close - at - 1));
        if (*close != '"' || (key != "traceEvents" && !KinetoHeader::wants(key))) continue;
        window_.leave(at);
        return true;
      }
      if (window_.size() > 64) window_.leave(window_.end() - 64);
      if (!extend()) return ended_ = true, false;
    }
  }

  void read_events(Form form) {
    events_seen_ = true;
    bool separated = true;
    for (;;) {
      const char* at = window_.begin();
      const KinetoEventReader::Stop stop = events_.read(at, window_.end(), here(), separated);
      window_.leave(at);
      switch (stop) {
        case KinetoEventReader::Stop::more:
          if (window_.size() > longest_value) {
            if (!pass_over_event()) return;
            separated = true;
          } else if (!extend()) {
            return end_of_text(form);
          } else if (threads_ > 1 && here() >= threads_from_) {
            read_events_by_threads(window_, events_, merger_, threads_, tuning_, separated, repairs_);
            threads_from_ = here() + tuning_.threads_from_bytes;
          }
          break;
        case KinetoEventReader::Stop::damaged:
          if (!pass_over_event()) return;
          separated = true;
          break;
        case KinetoEventReader::Stop::other:
          if (*at == ']') return step();
          if (!read_other_element()) return;
          separated = true;
          break;
      }
    }
  }

  // The text ends between two events, or inside one.
  void end_of_text(Form form) {
    if (form == Form::object || window_.size() != 0) return ends_early();
    builder_.health().notes.add("array_without_end", 1, fmt::format("byte {}", here()), "The list of events has no closing bracket, which the format allows.");
    ended_ = true;
  }

  bool read_other_element() {
    const char* at;
    JsonValue value;
    const Lex found = value_here(at, value);
    if (found == Lex::more) return ends_early(), false;
    if (found == Lex::bad) return pass_over_event();
    repairs_.add(Repair::not_an_event, here());
    window_.leave(at);
    return true;
  }

  // Goes on at the next event. False where there is none.
  bool pass_over_event() {
    repairs_.add(Repair::damaged_event, here());
    char before = 'x';
    step();
    for (;;) {
      const char* at = window_.begin();
      if (const char* event = find_event(at, window_.end(), before)) {
        window_.leave(event);
        return true;
      }
      window_.leave(at);
      if (!extend()) return ended_ = true, false;
    }
  }

  void finish() {
    merge();
    HealthList& notes = builder_.health().notes;
    if (!window_.failure().empty()) notes.add("read_failure", 1, fmt::format("byte {}", window_.offset(window_.end())), window_.failure());
    if (const std::string damage = source_.damage(); !damage.empty())
      builder_.health().repairs.add("damaged_compression", 1, fmt::format("byte {}", window_.offset(window_.end())), damage);
    Rank& rank = builder_.rank(rank_);
    rank.file = source_.path();
    rank.bytes = here();
    rank.events = merger_.events();
    header_.apply(rank_, builder_);
    merger_.finish(repairs_);
  }

  ByteSource& source_;
  const KinetoTuning tuning_;
  const int threads_;
  std::uint64_t threads_from_;  // the place from which several threads read
  TextWindow window_;
  TimelineBuilder& builder_;
  const RankId rank_;
  KinetoHeader header_;
  KinetoEventReader events_;
  KinetoMerger merger_;
  Repairs repairs_;
  bool events_seen_ = false;
  bool ended_ = false;  // nothing of the document is left to read
};

Result<void> read(ByteSource& source, const ReadOptions& options, TimelineBuilder& builder) {
  return read_kineto(source, options, KinetoTuning{}, builder);
}

int recognises(std::string_view head, std::string_view) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return 0;
  head.remove_prefix(first);
  const auto has = [&](std::string_view text) { return head.find(text) != std::string_view::npos; };
  if (head[0] == '{') {
    if (has("\"traceEvents\"")) return 95;
    if (has("\"schemaVersion\"") && has("\"deviceProperties\"")) return 80;
    return has("\"distributedInfo\"") && has("\"rank\"") ? 60 : 0;
  }
  if (head[0] == '[') {
    if (has("\"ph\"")) return 90;
    return head.find_first_not_of(" \t\r\n", 1) == std::string_view::npos || has("\"ts\"") ? 30 : 0;
  }
  return 0;
}

}  // namespace

Result<void> read_kineto(ByteSource& source, const ReadOptions& options, const KinetoTuning& tuning, TimelineBuilder& builder) {
  return KinetoFile(source, options, tuning, builder).read();
}

extern const Reader kineto_reader = {"kineto", "PyTorch profiler (Kineto) and other Chrome trace event files", "*.json, *.json.gz, *.json.zst", recognises,
                                     read};

}  // namespace stepscope
