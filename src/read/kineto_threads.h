// The list of events read by several threads. Its text is taken in blocks, cut where an event probably begins; blocks are read into rows; rows are numbered,
// and appended, in the order of the file. All of that goes on at the same time, each thread doing what others wait for most. One reader learns faster than
// several (kineto_layout.h): the first reads whenever there is text; further ones, which begin with what it has learned, only where a thread would else be
// idle.
//
// Whether a cut was right shows when the block before it has been read to its end: if it did not end there, or anything else than events was met, everything
// from there on is put back for one thread to go on with.
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
