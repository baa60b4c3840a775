// What edits of a program have in common: walks over its works and actions, with the operators around them.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine.h"
#include "program.h"

namespace stepscope {

// What an edit of the program may look at.
struct Drawn {
  std::string_view kernel;          // one of the program's kernel names, chosen by its seed
  const std::vector<RankRun>& run;  // of the unedited program
};

namespace paired {

inline void scale(Nanoseconds& duration, int percent) {
  duration = static_cast<Nanoseconds>(std::llround(static_cast<double>(duration) * percent / 100.0));
}

inline bool is_loading(const Action& action) {
  return action.annotation && action.name.starts_with("enumerate(DataLoader)");
}

inline void for_works(Program& program, const std::function<void(DeviceWork&)>& change) {
  for (RankProgram& rank : program.ranks)
    for (DeviceWork& work : rank.works) change(work);
}
inline void for_actions(Program& program, const std::function<void(RankProgram&, Action&)>& change) {
  for (RankProgram& rank : program.ranks)
    for (auto& thread : rank.threads)
      for (Action& action : thread) change(rank, action);
}
// Work of a thread with the operator that it belongs to ("" = Python). The loading of data is neither, and other ranges of the user's are Python.
inline void for_busy(Program& program, const std::function<void(std::string_view, Action&)>& change) {
  for (RankProgram& rank : program.ranks)
    for (auto& thread : rank.threads) {
      std::vector<std::string_view> open;
      bool loading = false;
      for (Action& action : thread) {
        if (action.what == Do::enter) {
          open.push_back(!action.annotation ? std::string_view(action.name) : open.empty() ? std::string_view() : open.back());
          if (is_loading(action)) loading = true, open = {""};
        }
        if (action.what == Do::leave) {
          open.pop_back();
          if (open.empty()) loading = false;
        }
        if (action.what == Do::work && !loading) change(open.empty() ? "" : open.back(), action);
      }
    }
}
inline bool is_communication(const DeviceWork& work) {
  return work.name.starts_with("nccl");
}

// Every launch with the operators around it, outermost first.
using Around = std::vector<const Action*>;
inline void for_launches(RankProgram& rank, const std::function<void(const Around&, Action&)>& change) {
  for (auto& thread : rank.threads) {
    Around open;
    for (Action& action : thread) {
      if (action.what == Do::enter) open.push_back(&action);
      if (action.what == Do::leave) open.pop_back();
      if (action.what == Do::launch || action.what == Do::blocking_copy) change(open, action);
    }
  }
}

}  // namespace paired
}  // namespace stepscope
