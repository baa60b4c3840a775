// Program order: every part of a thread follows the one before it.
#include "lift/draft.h"

namespace stepscope {

void order_threads(Draft& draft) {
  for (const std::vector<ThreadPart>& parts : draft.parts) {
    OpId before = no_id<OpId>;
    for (const ThreadPart& part : parts) {
      if (before != no_id<OpId>)
        draft.builder.depend(part.op, Moment::end(before), DependencyKind::program_order);
      else if (!part.handed_over)  // else nothing is known of the thread before
        draft.builder.depend(part.op, Moment::start(OpId{0}), DependencyKind::origin, part.begin, LagKind::root);
      before = part.op;
      if (part.completion == no_id<OpId>) continue;
      draft.builder.depend(part.completion, Moment::end(before), DependencyKind::program_order);
      before = part.completion;
    }
  }
}

}  // namespace stepscope
