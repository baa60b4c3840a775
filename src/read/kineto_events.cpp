#include "read/kineto_events.h"

#include "read/kineto_mend.h"

namespace stepscope {

namespace {

// Whether the text before `at`, spaces aside, ends in a comma. Something else than a space stands there.
bool follows_comma(const char* at) {
  do {
    --at;
  } while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t');
  return *at == ',';
}

}  // namespace

KinetoEventReader::Stop KinetoEventReader::read(const char*& at, const char* end, std::uint64_t offset, bool& separated) {
  const char* const begin = at;
  const auto offset_of = [&](const char* place) { return offset + static_cast<std::uint64_t>(place - begin); };
  for (;;) {
    at = skip_space(at, end);
    if (at == end) return Stop::more;
    if (*at == ',') {
      ++at;
      separated = true;
      continue;
    }
    if (*at != '{') return Stop::other;
    if (separated) {
      const char* const known = by_layout_ ? layouts_.read(at, end, block_) : at;
      if (known != at) {
        // At an event it stopped before it; or behind one that the next follows without a comma.
        separated = known != end && *known == '{' && follows_comma(known);
        at = known;
        if (!separated) continue;
      }
    } else {
      block_.repairs.add(Repair::missing_comma, offset_of(at));
      separated = true;
    }
    const Lex found = read_in_full(at, end, offset_of(at));
    if (found == Lex::more) return Stop::more;
    if (found == Lex::bad) return Stop::damaged;
    separated = false;
  }
}

void KinetoEventReader::know_what(const KinetoEventReader& other) {
  vocabulary_ = KinetoVocabulary{};
  // In the same order: so layouts mean the same numbers.
  for (std::uint32_t i = 0; i < other.vocabulary_.names.size(); ++i) vocabulary_.names.intern(other.vocabulary_.names[NameId{i}]);
  for (std::uint32_t i = 0; i < other.vocabulary_.details.size(); ++i) vocabulary_.details.intern(other.vocabulary_.details[NameId{i}]);
  vocabulary_.tracks = other.vocabulary_.tracks;
  layouts_ = other.layouts_;
}

void KinetoEventReader::forget_if_large() {
  constexpr std::size_t large = 8u << 20;
  if (vocabulary_.names.text_bytes() + vocabulary_.details.text_bytes() < large) return;
  vocabulary_ = KinetoVocabulary{};
  layouts_.clear();
}

Lex KinetoEventReader::read_in_full(const char*& at, const char* end, std::uint64_t offset) {
  const char* const begin = at;
  repairs_.clear();
  Lex found = parser_.parse(at, end, offset, repairs_);
  const bool whole = found == Lex::ok;
  if (found == Lex::bad) {
    repairs_.clear();
    at = begin;
    found = mend_event(at, end, offset, mended_, repairs_);
    if (found == Lex::ok) {
      const char* mended_at = mended_.data();
      Repairs further;
      // What has no phase was not made out: a key or two were taken for text.
      const bool made_out = parser_.parse(mended_at, mended_.data() + mended_.size(), offset, further) == Lex::ok && parser_.event().phase != 0;
      found = made_out ? Lex::ok : Lex::bad;
      repairs_.add(further);
    }
  }
  if (found != Lex::ok) {
    at = begin;
    return found;
  }
  const std::size_t details_before = vocabulary_.details.size();
  add_event(parser_.event(), offset, vocabulary_, block_);
  block_.repairs.add(repairs_);
  if (by_layout_ && whole && !repairs_.any())
    layouts_.learn({begin, static_cast<std::size_t>(at - begin)}, parser_, block_, vocabulary_.details.size() == details_before);
  return Lex::ok;
}

}  // namespace stepscope
