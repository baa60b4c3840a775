// The list of events read by several threads: one at a time takes the next block of text, cut where an event probably begins; all read theirs; blocks are
// merged in the order of the file. Whether a cut was right shows when the block before it has been read to its end: if it did not end there, or anything else
// than events was met, everything from there on is put back for one thread to go on with.
#pragma once

#include "read/kineto.h"
#include "read/kineto_events.h"
#include "read/kineto_merge.h"
#include "read/text_window.h"

namespace stepscope {

// Reads events from the window's beginning as far as they follow one another undamaged, and leaves the window at the first byte that was not read. first: the
// reader of the calling thread, whose block was merged. separated: as in KinetoEventReader::read.
void read_events_by_threads(TextWindow& window, KinetoEventReader& first, KinetoMerger& merger, int threads, const KinetoTuning& tuning, bool& separated,
                            Repairs& repairs);

}  // namespace stepscope
