// The work of the operator call behind a device operation, from recorded shapes (cost/).
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "cost/operator_cost.h"
#include "cost/roofline.h"
#include "edit/edit.h"

namespace stepscope {

class WorkOf {
 public:
  WorkOf(const EditScene& scene, const Graph& graph) : scene_(scene), graph_(graph) {}

  struct Found {
    SliceId call = no_id<SliceId>;  // the innermost operator around the launch whose work is known
    const Work* work = nullptr;
    DataType type = DataType::unknown;  // whose rate it is held against: TF32 where the kernel's name says so
  };
  // work == null: not known. The same call stands behind all its kernels: its work counts once.
  Found of(OpId op);
  // The recorded arguments of a call; absent where shapes were not recorded.
  std::optional<OperatorCall> arguments(SliceId call) const;

 private:
  const Work* work_of_call(SliceId call);
  const EditScene& scene_;
  const Graph& graph_;
  std::unordered_map<std::uint64_t, std::optional<Work>> known_;  // by (name, detail)
};

}  // namespace stepscope
