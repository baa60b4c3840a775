// The module of the model (nn.Module) that a slice belongs to, from the Python frames around its launch; backward work belongs to the module of the forward
// operator with the same autograd sequence number, where one rank and thread alone carries that number.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "facts/facts.h"
#include "timeline/timeline.h"

namespace stepscope {

class ModulePaths {
 public:
  ModulePaths(const Timeline& timeline, const Facts& facts);
  // Names of the modules around the slice, outermost first ("GPT_0", "Block_3", "Linear_1"); empty = belongs to none. Cached by the innermost frame.
  const std::vector<std::string_view>& around(SliceId slice);

 private:
  SliceId innermost_frame(SliceId on_thread) const;
  SliceId forward_operator(SliceId on_thread) const;

  const Timeline& timeline_;
  const Facts& facts_;
  std::vector<bool> is_module_;                               // per slice
  std::unordered_map<std::uint64_t, SliceId> forward_;        // (rank, sequence) -> the last forward operator; no_id = several threads carry it
  std::unordered_map<std::uint32_t, std::int64_t> backward_;  // backward operator -> sequence
  std::unordered_map<std::uint32_t, std::vector<std::string_view>> paths_;
  std::vector<std::string_view> none_;
};

}  // namespace stepscope
