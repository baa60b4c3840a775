// The list of events read by several threads. Its text is cut into blocks where an event probably begins; blocks are read into rows; rows are numbered, and
// appended, in the order of the file. All of that goes on at the same time, each thread doing what others wait for most.
//
// Where the content can be read at any place, each thread takes its text itself, so that text stays in the cache of the core that reads it, and every thread is
// a reader. Else text comes from one place, and one reader reads whenever there is some, because one learns faster than several (kineto_layout.h); further ones
// read only where a thread would else be idle. All begin with what the first has learned alone.
//
// Whether a cut was right shows when the block before it has been read to its end: if it did not end there, or anything else than events was met, one thread
// goes on from there.
#pragma once

#include "read/kineto.h"
#include "read/kineto_events.h"
#include "read/kineto_merge.h"
#include "read/text_window.h"

namespace stepscope {

// Reads events from the window's beginning as far as they follow one another undamaged, and leaves the window at the first byte that was not read. first: the
// reader that read what lies before, whose block was merged. separated: as in KinetoEventReader::read.
void read_events_by_threads(TextWindow& window, KinetoEventReader& first, KinetoMerger& merger, int threads, const KinetoTuning& tuning, bool& separated,
                            Repairs& repairs);

}  // namespace stepscope
