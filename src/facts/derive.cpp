#include "facts/derive.h"

namespace stepscope {

Facts derive(const Timeline& timeline, const FactOptions& options) {
  Facts facts;
  find_activity(timeline, options, facts);
  find_call_tree(timeline, facts);
  find_launches(timeline, facts);
  find_operations(timeline, facts);
  find_phases(timeline, facts);
  find_recomputed(timeline, facts);
  find_devices(timeline, facts);
  find_unrecorded_launches(timeline, facts);
  find_start_transients(timeline, facts);
  find_steps(timeline, facts);
  find_step_windows(timeline, facts);
  match_collectives(timeline, facts);
  find_clocks(timeline, facts);
  drop_collectives_apart(timeline, facts);
  return facts;
}

}  // namespace stepscope
