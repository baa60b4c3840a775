#include "read/kineto_events.h"

#include "read/kineto_mend.h"

namespace stepscope {

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
      const char* const known = layouts_.read(at, end, block_);
      if (known != at) {
        separated = *known == '{' && known != end;
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
      found = parser_.parse(mended_at, mended_.data() + mended_.size(), offset, repairs_) == Lex::ok ? Lex::ok : Lex::bad;
    }
  }
  if (found != Lex::ok) {
    at = begin;
    return found;
  }
  const std::size_t details_before = vocabulary_.details.size();
  add_event(parser_.event(), offset, vocabulary_, block_);
  block_.repairs.add(repairs_);
  if (whole && !repairs_.any()) layouts_.learn({begin, static_cast<std::size_t>(at - begin)}, parser_, block_, vocabulary_.details.size() == details_before);
  return Lex::ok;
}

}  // namespace stepscope
