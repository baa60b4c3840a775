// The facts, one function and one file each. Every one fills its own parts of Facts and may read those of the ones above it.
#pragma once

#include "facts/facts.h"
#include "timeline/timeline.h"

namespace stepscope {

void find_activity(const Timeline& timeline, const FactOptions& options, Facts& facts);  // activity.cpp
void find_call_tree(const Timeline& timeline, Facts& facts);                             // call_tree.cpp
void find_launches(const Timeline& timeline, Facts& facts);                              // launches.cpp
void find_operations(const Timeline& timeline, Facts& facts);                            // operators.cpp
void find_phases(const Timeline& timeline, Facts& facts);                                // phases.cpp
void find_recomputed(const Timeline& timeline, Facts& facts);                            // recompute.cpp
void find_devices(const Timeline& timeline, Facts& facts);                               // devices.cpp
void find_unrecorded_launches(const Timeline& timeline, Facts& facts);                   // unrecorded.cpp
void find_start_transients(const Timeline& timeline, Facts& facts);                      // transients.cpp
void find_steps(const Timeline& timeline, Facts& facts);                                 // steps.cpp
void find_step_windows(const Timeline& timeline, Facts& facts);                          // devices.cpp
void match_collectives(const Timeline& timeline, Facts& facts);                          // collectives.cpp
void find_clocks(const Timeline& timeline, Facts& facts);                                // clock.cpp
void drop_collectives_apart(const Timeline& timeline, Facts& facts);                     // collectives.cpp: what clocks contradict

// Ways to find steps, tried in this order by find_steps(); without steps where that way finds none.
std::vector<RankSteps> steps_from_profiler(const Timeline& timeline);                           // steps.cpp; of every rank
RankSteps steps_from_user_ranges(const Timeline& timeline, RankId rank);                        // steps_user_range.cpp
RankSteps steps_from_launch_period(const Timeline& timeline, const Facts& facts, RankId rank);  // steps_launch_period.cpp

}  // namespace stepscope
