#include "analyze/operator_work.h"

#include <algorithm>
#include <unordered_map>

#include "analyze/rank_rows.h"

namespace stepscope {

namespace {

constexpr std::uint32_t none = 0xFFFF'FFFFu;

// (name, detail) → index of its KnownWork, or none: open addressing, because it is asked for every kernel.
class PairTable {
 public:
  // The value's place; inserted says whether it is new.
  std::uint32_t& at(NameId name, NameId detail, bool& inserted) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    const std::uint64_t key = (static_cast<std::uint64_t>(name) << 32 | static_cast<std::uint64_t>(detail)) + 1;  // 0 = free
    Slot& slot = find(key);
    inserted = slot.key == 0;
    if (inserted) {
      slot = {key, none};
      ++used_;
    }
    return slot.value;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = none;
  };
  Slot& find(std::uint64_t key) {
    std::size_t at = (key * 0x9E37'79B9'7F4A'7C15u) >> 32 & (slots_.size() - 1);
    while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(std::max<std::size_t>(1024, old.size() * 2), {});
    for (const Slot& slot : old)
      if (slot.key != 0) find(slot.key) = slot;
  }
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

// What an operator's name says, found once per name.
struct NameFact {
  bool known = false;
  const OperatorCost* cost = nullptr;
};

class Search {
 public:
  explicit Search(const Scene& scene)
      : scene_(scene), marks_(scene, 0), call_of_(scene, none), names_(scene.timeline.names.size()), tf32_(scene.timeline.names.size(), 2) {}

  OperatorWork run() {
    for (const SliceId id : scene_.device_slices())
      if (scene_.timeline.slices.kind[id] == SliceKind::kernel && scene_.facts.activity[id] == ActivityClass::compute) kernels_.push_back({id});
    result_.kernels.reserve(kernels_.size());
    for (Kernel& kernel : kernels_) find_nearest(kernel);
    for (const Kernel& kernel : kernels_) count(kernel);
    for (const auto& [key, uncovered] : uncovered_) result_.uncovered.push_back(uncovered);
    std::ranges::sort(result_.uncovered,
                      [](const Uncovered& a, const Uncovered& b) { return a.device_time != b.device_time ? a.device_time > b.device_time : a.name < b.name; });
    return std::move(result_);
  }

 private:
  static constexpr std::uint8_t matrix_inside = 1, work_inside = 2;
  struct Kernel {
    SliceId id;
    SliceId nearest = no_id<SliceId>;  // the innermost operator around its launch whose work is known
    std::uint32_t known = none;        // that work
  };

  std::uint32_t known_work(SliceId operation) {
    const SliceColumns& s = scene_.timeline.slices;
    NameFact& fact = names_[index(s.name[operation])];
    if (!fact.known) fact = {true, find_operator_cost(scene_.timeline.names[s.name[operation]])};
    if (fact.cost == nullptr) return none;
    bool inserted = false;
    std::uint32_t& known = pairs_.at(s.name[operation], s.detail[operation], inserted);
    if (!inserted) return known;
    const std::optional<OperatorCall> call = parse_operator_call(scene_.timeline.names[s.name[operation]], scene_.timeline.details[s.detail[operation]]);
    result_.shapes_recorded |= call.has_value();
    if (const std::optional<Work> work = call ? fact.cost->work(*call) : std::nullopt) {
      known = static_cast<std::uint32_t>(result_.known.size());
      result_.known.push_back({s.name[operation], fact.cost, *work});
    }
    return known;
  }
  SliceId around(SliceId operation) const { return scene_.facts.operation[operation]; }
  bool of_this_rank(SliceId operation) const { return operation != no_id<SliceId> && marks_.contains(operation); }

  // Also tells the operators around it what ran inside them. Kernels of one operator follow each other, mostly.
  void find_nearest(Kernel& kernel) {
    const SliceId direct = scene_.facts.operation[kernel.id];
    if (direct == last_direct_) {
      kernel.nearest = last_.nearest;
      kernel.known = last_.known;
      return;
    }
    SliceId operation = direct;
    while (of_this_rank(operation) && (kernel.known = known_work(operation)) == none) operation = around(operation);
    if (of_this_rank(operation)) {
      kernel.nearest = operation;
      const std::uint8_t mark = result_.known[kernel.known].work.matrix_units ? matrix_inside | work_inside : work_inside;
      for (SliceId outer = around(operation); of_this_rank(outer) && (marks_[outer] & mark) != mark; outer = around(outer)) marks_[outer] |= mark;
    }
    last_direct_ = direct;
    last_ = kernel;
  }

  void count(const Kernel& kernel) {
    const SliceColumns& s = scene_.timeline.slices;
    const Nanoseconds duration = s.duration[kernel.id];
    const SliceId direct = scene_.facts.operation[kernel.id];
    result_.compute_time += duration;
    for (SliceId operation = kernel.nearest; of_this_rank(operation); operation = around(operation)) {
      const std::uint32_t known = operation == kernel.nearest ? kernel.known : known_work(operation);
      if (known == none) continue;
      const bool matrix = result_.known[known].work.matrix_units;
      if (matrix ? (marks_[operation] & matrix_inside) != 0 : operation != direct && (marks_[operation] & work_inside) != 0) continue;
      std::uint32_t& place = call_of_[operation];
      if (place == none) {
        place = static_cast<std::uint32_t>(result_.calls.size());
        result_.calls.push_back(
            {.operation = operation, .known = known, .first_start = s.start[kernel.id], .recomputed = scene_.facts.recomputed[operation] != 0});
      }
      CallWork& call = result_.calls[place];
      call.device_time += duration;
      ++call.kernels;
      call.in_tf32 |= in_tf32(s.name[kernel.id]);
      result_.covered_time += duration;
      result_.kernels.push_back({s.start[kernel.id], duration, true});
      return;
    }
    result_.kernels.push_back({s.start[kernel.id], duration, false});
    count_uncovered(direct, duration);
  }

  void count_uncovered(SliceId operation, Nanoseconds duration) {
    Uncovered one;
    if (of_this_rank(operation)) {
      one.name = scene_.timeline.slices.name[operation];
      one.reason = NoWork::no_formula;
      for (SliceId outer = operation; of_this_rank(outer); outer = around(outer)) {
        if (names_[index(scene_.timeline.slices.name[outer])].cost == nullptr) continue;
        if (known_work(outer) == none) one.reason = NoWork::no_arguments;
        break;
      }
    }
    Uncovered& sum = uncovered_.try_emplace(static_cast<std::uint64_t>(one.name) << 2 | static_cast<std::uint64_t>(one.reason), one).first->second;
    sum.device_time += duration;
    ++sum.kernels;
  }

  // NVIDIA's libraries say it in the kernel's name: "…_s1688gemm_…" and "…tf32…". (With fp16 inputs s1688 means something else: only fp32 work asks.)
  bool in_tf32(NameId kernel_name) {
    std::uint8_t& known = tf32_[index(kernel_name)];
    if (known == 2) {
      const std::string_view name = scene_.timeline.names[kernel_name];
      known = name.find("tf32") != std::string_view::npos || name.find("s1688") != std::string_view::npos ? 1 : 0;
    }
    return known == 1;
  }

  const Scene& scene_;
  OperatorWork result_;
  RankColumn<std::uint8_t> marks_;
  RankColumn<std::uint32_t> call_of_;
  std::vector<NameFact> names_;
  std::vector<std::uint8_t> tf32_;  // by NameId: 0 no, 1 yes, 2 not looked at
  PairTable pairs_;
  std::vector<Kernel> kernels_;
  SliceId last_direct_{0xFFFF'FFFEu};  // of no kernel
  Kernel last_{};
  std::unordered_map<std::uint64_t, Uncovered> uncovered_;
};

}  // namespace

OperatorWork find_operator_work(const Scene& scene) {
  return Search(scene).run();
}

DataType rate_type(const KnownWork& known, const CallWork& call) {
  return known.work.matrix_units && known.work.type == DataType::fp32 && call.in_tf32 ? DataType::tf32 : known.work.type;
}

}  // namespace stepscope
