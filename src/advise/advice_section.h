// What advice looks like in a report: a section of figures and tables like any question's.
#pragma once

#include "advise/advise.h"
#include "analyze/findings.h"

namespace stepscope {

// Key "advice". Without any advice the section says so.
Section advice_section(const AdviceList& list);

// "18234, 18240": rows of the Timeline's slices, as evidence is named everywhere.
std::string slice_list(std::span<const SliceId> slices);

}  // namespace stepscope
