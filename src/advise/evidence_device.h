// What the rules about devices share: the device slices of the representative steps, the operator calls behind them with their work, what is exposed, and the
// making of edits and findings.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advise/words.h"
#include "cost/operator_cost.h"

// Its own namespace, because the rules about hosts have helpers of the same names.
namespace stepscope::on_device {

// A device slice that was lifted.
struct DeviceSlice {
  SliceId slice{};
  OpId op{};
  Interval time;
  ActivityClass activity{};
  std::uint32_t device = 0;        // row of Facts::devices
  std::uint32_t window = no_step;  // number of the representative step on its device, counted over all devices; no_step = none
  bool counted = false;            // it starts in a representative step (simulate/step_length.h): shares count these only, edits change all
  Nanoseconds duration() const { return time.length(); }
};

// An operator call whose work is known, and its compute kernels: those for which it is the innermost such call around the launch.
struct DeviceCall {
  SliceId operation{};
  const OperatorCost* cost = nullptr;
  const Work* work = nullptr;
  const OperatorCall* arguments = nullptr;
  DataType type = DataType::unknown;  // whose rate it is held against: tf32 where a kernel's name says so
  std::vector<std::uint32_t> rows;    // of DeviceEvidence::slices
  Nanoseconds time = 0, counted = 0;  // of its kernels
};

class DeviceEvidence {
 public:
  explicit DeviceEvidence(const AdviceScene& the_scene);

  const AdviceScene& scene;
  std::vector<DeviceSlice> slices;  // by device, then as DeviceFacts::slices
  double span = 0;                  // length of the representative windows of all devices, ns
  double windows = 0;               // how many

  double share(double ns) const { return span > 0 ? ns / span : 0; }  // of the step
  double per_step(double ns) const { return windows > 0 ? ns / windows : 0; }
  // "1.2 ms per step (3.4 %)"
  std::string amount(double ns) const;
  std::string_view name(SliceId slice) const { return scene.timeline.name_of(slice); }
  std::string_view name(const DeviceSlice& one) const { return name(one.slice); }
  // Of the operator that launched it; "" = none.
  std::string_view operator_name(const DeviceSlice& one) const;
  // Whether it or an operator around it satisfies the test; the innermost such operator, else no_id.
  template <class Test>
  SliceId around(const DeviceSlice& one, Test test) const {
    SliceId at = scene.facts.operation[one.slice];
    for (int level = 0; at != no_id<SliceId> && level < 200; at = scene.facts.operation[at], ++level)
      if (test(name(at))) return at;
    return no_id<SliceId>;
  }
  Phase phase(const DeviceSlice& one) const { return scene.facts.phase[one.slice]; }
  bool trains() const { return trains_; }  // whether anything ran in a backward pass
  bool one_rank() const { return scene.timeline.ranks.size() == 1; }
  double counted(ActivityClass activity) const;  // summed durations, ns
  // Blocks of a kernel's grid; absent where they were not recorded.
  std::optional<double> blocks(const DeviceSlice& one) const;
  std::optional<double> multiprocessors(const DeviceSlice& one) const;
  // Compute capability of its device times ten: 90 = Hopper; 0 = not said.
  int capability(const DeviceSlice& one) const;

  std::vector<DeviceCall> calls();  // by first kernel
  // The time of a slice, and of the union of slices on their devices in the representative steps, in which no compute kernel ran on its device.
  Nanoseconds exposed(const DeviceSlice& one) const;
  double exposed_union(const std::vector<std::uint32_t>& rows) const;

 private:
  struct Known {
    const OperatorCost* cost = nullptr;
    OperatorCall call;
    std::optional<Work> work;
  };
  std::vector<std::vector<Interval>> compute_;  // merged, per row of Facts::devices
  std::vector<std::vector<Interval>> counted_windows_;
  std::deque<Known> known_;
  std::map<std::pair<NameId, NameId>, const Known*> known_by_name_;
  bool trains_ = false;
};

// Roofline bound of a work, ns; absent where the GPU's figures are.
std::optional<double> bound_ns(const Gpu* gpu, const Work& work, DataType type);
// The share of their bound that matrix products of this trace reach (the median of those with 10 µs or more), between 0.3 and 0.9; 0.6 where there are none.
double usual_efficiency(const Gpu* gpu, const std::vector<DeviceCall>& calls);

struct Product {
  double batch = 1, m = 0, n = 0, k = 0;
};
// Of mm, addmm, bmm, baddbmm, linear, matmul and scaled products; absent for anything else.
std::optional<Product> product_of(const OperatorCall& call);
// The tile of a matrix kernel as its name tells: "…_128x256_…", "…tilesize128x128x64…", "…MT256x128x64…"; absent where it does not.
struct Tile {
  double rows = 0, columns = 0;
};
std::optional<Tile> tile_of(std::string_view kernel);

// Slices that a rule picked: their time in the representative steps, operations for edits, and the longest as evidence.
class Picked {
 public:
  explicit Picked(const DeviceEvidence& evidence) : evidence_(evidence) {}
  // weight: what makes it telling; its duration unless given.
  void add(std::uint32_t row, std::optional<double> weight = {});
  void add(const DeviceCall& call);
  bool empty() const { return rows_.empty(); }
  double time() const { return time_; }         // counted, ns
  std::size_t count() const { return count_; }  // counted
  double share() const { return evidence_.share(time_); }
  const std::vector<std::uint32_t>& rows() const { return rows_; }
  std::vector<OpId> operations() const;   // ascending
  std::vector<SliceId> evidence() const;  // at most 10

 private:
  const DeviceEvidence& evidence_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::pair<double, SliceId>> weights_;
  double time_ = 0;
  std::size_t count_ = 0;
};

// Edits that scale operations, those of one factor (to 0.001) together; only factors below 1 change anything.
class ScaleEdits {
 public:
  void add(OpId op, double factor);
  void add(const DeviceEvidence& evidence, const DeviceCall& call, double factor);
  bool empty() const { return operations_.empty(); }
  std::vector<Edit> edits() const;

 private:
  std::map<int, std::vector<OpId>> operations_;  // by factor in thousandths
};

std::string time_text(double ns);     // "1.2 ms"
std::string megabytes(double bytes);  // "25.2 MB"

}  // namespace stepscope::on_device
