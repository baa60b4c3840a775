// FLOPs, bytes and kernel times of TraceLens's sheets GEMM, SDPA_fwd, CONV_fwd, CONV_bwd and Normalization, row by row, to 1e-6. Where TraceLens counts
// something else than METRICS.md, the difference is named, computed and must explain the row exactly; docs/differences.md says why we count as we do.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "cost/arguments.h"
#include "cost/tracelens_report.h"

namespace stepscope {
namespace {

using namespace tracelens;

// What TraceLens's figure has more than ours.
struct Difference {
  double flops = 0, bytes = 0;
};

// A way in which TraceLens counts otherwise: its name, and what it makes in a call (nothing = it does not apply).
struct Exception {
  const char* name;
  std::optional<Difference> (*of)(const OperatorCall& call, const Work& ours);
};

double count_of(const OperatorCall& call, std::size_t i) {
  return *value_count(call.arguments[i]);
}
double bytes_of(const OperatorCall& call, std::size_t i) {
  return *tensor_bytes(call.arguments[i]);
}
double input_bytes(const OperatorCall& call) {
  return *element_bytes(call.arguments[0].type);
}

const Exception exceptions[] = {
    {"a causal square has half of all pairs, not n(n+1)/2",
     [](const OperatorCall& call, const Work& ours) -> std::optional<Difference> {
       if (call.name != "aten::_scaled_dot_product_flash_attention" || !boolean_argument(call, 4).value_or(false)) return std::nullopt;
       const double n = static_cast<double>(call.arguments[0].shape[2]);
       return Difference{ours.flops * (n * n / 2) / (n * (n + 1) / 2) - ours.flops, 0};
     }},
    {"attention's log-sum-exp is not written",
     [](const OperatorCall& call, const Work&) -> std::optional<Difference> {
       if (call.name != "aten::_scaled_dot_product_flash_attention") return std::nullopt;
       const Shape& q = call.arguments[0].shape;
       return Difference{0, -4.0 * static_cast<double>(q[0] * q[1] * q[2])};
     }},
    {"a convolution's bias is not seen",
     [](const OperatorCall& call, const Work& ours) -> std::optional<Difference> {
       if (call.name != "aten::convolution" || !call.arguments[2].is_tensor) return std::nullopt;
       // FLOPs = 2·|output|·|weight[1:]| + |output|
       const double outputs = ours.flops / (2 * *sizes_product(call.arguments[1].shape, 1) + 1);
       return Difference{-outputs, -bytes_of(call, 2)};
     }},
    {"a convolution's output gradient is read once for each gradient made from it",
     [](const OperatorCall& call, const Work&) -> std::optional<Difference> {
       if (call.name != "aten::convolution_backward") return std::nullopt;
       return Difference{0, bytes_of(call, 0)};
     }},
    {"a convolution's output mask is not looked at",
     [](const OperatorCall& call, const Work& ours) -> std::optional<Difference> {
       if (call.name != "aten::convolution_backward" || booleans_argument(call, 10)->at(0)) return std::nullopt;
       return Difference{ours.flops, bytes_of(call, 1) + bytes_of(call, 2)};  // as much again for the input's gradient; weight read, gradient written
     }},
    {"layer norm's statistics are kept per channel, in the input's type",
     [](const OperatorCall& call, const Work&) -> std::optional<Difference> {
       if (call.name != "aten::layer_norm" && call.name != "aten::native_layer_norm") return std::nullopt;
       const double channels = count_of(call, 2), rows = count_of(call, 0) / channels;
       return Difference{6 * channels - 6 * rows, 4 * channels * input_bytes(call) - 8 * rows};
     }},
    {"batch norm's saved mean and deviation are not written",
     [](const OperatorCall& call, const Work&) -> std::optional<Difference> {
       if (call.name != "aten::batch_norm" && call.name != "aten::native_batch_norm") return std::nullopt;
       return Difference{0, -8.0 * static_cast<double>(call.arguments[0].shape[1])};
     }},
    {"batch norm backward reads one saved statistic, in the input's type",
     [](const OperatorCall& call, const Work&) -> std::optional<Difference> {
       if (call.name != "aten::native_batch_norm_backward") return std::nullopt;
       const double channels = static_cast<double>(call.arguments[0].shape[1]);
       return Difference{0, channels * input_bytes(call) - bytes_of(call, 5) - bytes_of(call, 6)};
     }},
};

struct Family {
  const char* sheet;
  std::size_t rows;                  // in all reports together
  std::set<std::string> exceptions;  // those that its rows need
};
const Family families[] = {
    {"GEMM", 49, {}},
    {"SDPA_fwd", 4, {exceptions[0].name, exceptions[1].name}},
    {"CONV_fwd", 25, {exceptions[2].name}},
    {"CONV_bwd", 11, {exceptions[3].name, exceptions[4].name}},
    {"Normalization", 43, {exceptions[5].name, exceptions[6].name, exceptions[7].name}},
};

class TraceLensOperators : public testing::TestWithParam<Family> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder())) GTEST_SKIP() << folder() << " is absent";
  }
};

void expect_near(double ours, double theirs, const std::string& what) {
  EXPECT_NEAR(ours, theirs, 1e-6 * std::abs(theirs)) << what;
}

TEST_P(TraceLensOperators, FlopsAndBytes) {
  std::size_t rows = 0;
  std::set<std::string> needed;
  for (const char* report : reports)
    for (const Row& row : read_csv(folder() / report / (std::string(GetParam().sheet) + ".csv"))) {
      ++rows;
      const std::string& name = row.at("name");
      const std::string what = std::string(report) + " " + name + " " + row.at("Input Dims_first");
      const OperatorCost* cost = find_operator_cost(name);
      ASSERT_NE(cost, nullptr) << what;
      const std::optional<OperatorCall> call = parse_operator_call(name, detail_of(row));
      ASSERT_TRUE(call) << what;
      const std::optional<Work> ours = cost->work(*call);
      ASSERT_TRUE(ours) << what;
      double flops = ours->flops, bytes = ours->bytes;
      for (const Exception& exception : exceptions)
        if (const std::optional<Difference> difference = exception.of(*call, *ours)) {
          flops += difference->flops;
          bytes += difference->bytes;
          needed.insert(exception.name);
        }
      expect_near(flops, std::stod(row.at("GFLOPS_first")) * 1e9, what);
      expect_near(bytes, std::stod(row.at("Data Moved (MB)_first")) * 1048576.0, what);  // its MB are MiB
      expect_near(flops / bytes, std::stod(row.at("FLOPS/Byte_first")), what);
    }
  EXPECT_EQ(rows, GetParam().rows);
  EXPECT_EQ(needed, GetParam().exceptions);
}

// The operators that hold a slice, innermost first.
template <class Visit>
void for_each_operation_around(const Trace& trace, SliceId id, Visit visit) {
  for (SliceId operation = trace.facts.operation[id]; operation != no_id<SliceId>; operation = trace.facts.operation[operation]) visit(operation);
}

struct OperationTime {
  std::vector<Microseconds> kernels;  // launched in it or in operators inside it
  Nanoseconds exact = 0;
};

// Length of the union, in TraceLens's arithmetic.
double busy_time(std::vector<Microseconds> kernels) {
  std::ranges::sort(kernels, {}, &Microseconds::begin);
  double busy = 0, begin = 0, end = 0;
  bool any = false;
  for (const Microseconds& kernel : kernels) {
    if (!any || kernel.begin > end) {
      busy += end - begin;
      begin = kernel.begin;
      end = kernel.end;
      any = true;
    } else {
      end = std::max(end, kernel.end);
    }
  }
  return busy + (end - begin);
}

TEST_P(TraceLensOperators, KernelTimes) {
  std::size_t rows = 0;
  for (const char* report : reports) {
    const std::vector<Row> sheet = read_csv(folder() / report / (std::string(GetParam().sheet) + ".csv"));
    if (sheet.empty()) continue;
    const Result<Trace> trace = read_trace(report);
    ASSERT_TRUE(trace) << trace.error().message();
    const SliceColumns& s = trace->timeline.slices;
    // Memory sets (cuBLAS clears what split products add to) belong to an operator's time, but not where repeated work is told apart.
    const bool with_sets = !sheet.front().contains("is_recompute");
    std::map<SliceId, OperationTime> operations;
    for (std::uint32_t i = 0; i < s.size(); ++i) {
      const SliceId id{i};
      if (s.kind[id] != SliceKind::kernel && !(s.kind[id] == SliceKind::fill && with_sets)) continue;
      for_each_operation_around(*trace, id, [&](SliceId operation) {
        OperationTime& time = operations[operation];
        time.kernels.push_back(as_written(*trace, id));
        time.exact += s.duration[id];
      });
    }
    // Operators that launched kernels, by name, arguments and whether they ran again.
    struct Group {
      std::vector<double> busy;
      std::size_t kernels = 0;
      Nanoseconds exact = 0;
    };
    std::map<std::tuple<std::string, std::string, bool>, Group> groups;
    const auto key_of = [](std::string_view name, std::string_view detail, bool again) {
      const std::optional<OperatorCall> call = parse_operator_call(name, detail);
      std::string arguments;
      if (call)
        for (const Argument& argument : call->arguments) arguments += shape_text(argument.shape) + shape_text(argument.strides) + argument.type_name + ";";
      return std::tuple(std::string(name), arguments, again);
    };
    for (const auto& [operation, time] : operations) {
      Group& group = groups[key_of(trace->timeline.name_of(operation), trace->timeline.detail_of(operation), trace->facts.recomputed[operation] != 0)];
      group.busy.push_back(busy_time(time.kernels));
      group.kernels += time.kernels.size();
      group.exact += time.exact;
    }
    for (const Row& row : sheet) {
      ++rows;
      const std::string what = std::string(report) + " " + row.at("name") + " " + row.at("Input Dims_first");
      const bool again = row.contains("is_recompute") && row.at("is_recompute") == "True";
      const auto found = groups.find(key_of(row.at("name"), detail_of(row), again));
      ASSERT_NE(found, groups.end()) << what;
      Group group = found->second;
      ASSERT_EQ(group.busy.size(), std::stoul(row.at("name_count"))) << what;
      std::ranges::sort(group.busy);
      double sum = 0;
      for (const double one : group.busy) sum += one;
      expect_near(sum, std::stod(row.at("Kernel Time (µs)_sum")), what);
      expect_near(group.busy.front(), std::stod(row.at("Kernel Time (µs)_min")), what);
      expect_near(group.busy.back(), std::stod(row.at("Kernel Time (µs)_max")), what);
      const std::size_t n = group.busy.size();
      expect_near(n % 2 == 1 ? group.busy[n / 2] : (group.busy[n / 2 - 1] + group.busy[n / 2]) / 2, std::stod(row.at("Kernel Time (µs)_median")), what);
      // Our exact time differs by no more than the rounding of the starts and ends to doubles: 2^-11 µs at most for each.
      EXPECT_NEAR(static_cast<double>(group.exact) / 1000, sum, static_cast<double>(group.kernels) / 1024) << what;
    }
  }
  EXPECT_EQ(rows, GetParam().rows);
}

INSTANTIATE_TEST_SUITE_P(Sheets, TraceLensOperators, testing::ValuesIn(families), [](const auto& instance) {
  std::string name = instance.param.sheet;
  std::erase(name, '_');
  return name;
});

// The elementwise and reduction rows of unified_perf_summary, whose lists are printed as Python tuples.
std::string json_of_tuples(const std::string& python) {
  std::string json;
  for (std::size_t i = 0; i < python.size(); ++i) {
    const char c = python[i];
    if (c == ',' && i + 1 < python.size() && python[i + 1] == ')') continue;
    json += c == '(' ? '[' : c == ')' ? ']' : c == '\'' ? '"' : c;
  }
  return json;
}

TEST(TraceLensOperators, ElementwiseAndReductions) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << folder() << " is absent";
  std::size_t same = 0, copies = 0, expanded = 0, to_several = 0, wider = 0, numbers = 0;
  for (const char* report : reports)
    for (const Row& row : read_csv(folder() / report / "unified_perf_summary.csv")) {
      const std::string &category = row.at("op category"), &name = row.at("name");
      if (row.at("has_perf_model") != "True" || (category != "elementwise" && category != "reduce")) continue;
      // linalg_norm wraps linalg_vector_norm, which has our formula; there is none for upsampling.
      if (name == "aten::linalg_norm" || name.starts_with("aten::upsample")) continue;
      if (row.at("Data Moved (MB)").empty()) continue;  // a type that it does not know
      const std::string detail = "\"Input Dims\": " + json_of_tuples(row.at("Input Dims")) + ", \"Input type\": " + json_of_tuples(row.at("Input type")) +
                                 ", \"Input Strides\": " + json_of_tuples(row.at("Input Strides")) +
                                 ", \"Concrete Inputs\": " + json_of_tuples(row.at("Concrete Inputs"));
      const std::string what = std::string(report) + " " + name + " " + detail;
      const std::optional<OperatorCall> call = parse_operator_call(name, detail);
      ASSERT_TRUE(call) << what;
      const std::optional<Work> ours = find_operator_cost(name)->work(*call);
      ASSERT_TRUE(ours) << what;
      Difference difference;
      // Expanded tensors are read in full.
      for (const Argument& argument : call->arguments) {
        if (!argument.is_tensor) continue;
        const double more = *value_count(argument) * *element_bytes(argument.type) - *tensor_bytes(argument);
        difference.bytes += more;
        expanded += more != 0;
      }
      if (name == "aten::add_" && call->arguments[1].type == DataType::fp32 && call->arguments[0].type == DataType::bf16)  // the result has the wider type
        difference.bytes += 2 * count_of(*call, 0), ++wider;
      if (name == "aten::div" && call->arguments[1].type_name == "Scalar") difference.bytes += 4, ++numbers;  // a Python number is read, 4 bytes of it
      if (name == "aten::copy_") {                                                                            // an element copied is an operation
        difference.flops = count_of(*call, 0);
        ++copies;
      } else if (category == "reduce") {  // one result, whatever the dimensions; a mean's divisions are none
        const double results = (ours->bytes - *tensor_bytes(call->arguments[0])) / input_bytes(*call);
        difference.flops = name == "aten::mean" ? -results : 0;
        difference.bytes += (1 - results) * input_bytes(*call);
        to_several += results != 1;
      } else {
        same += difference.bytes == 0;
      }
      expect_near(ours->flops + difference.flops, std::stod(row.at("GFLOPS")) * 1e9, what);
      expect_near(ours->bytes + difference.bytes, std::stod(row.at("Data Moved (MB)")) * 1048576.0, what);
    }
  EXPECT_EQ(same, 92u);
  EXPECT_EQ(copies, 62u);
  EXPECT_EQ(expanded, 4u);
  EXPECT_EQ(to_several, 4u);
  EXPECT_EQ(wider, 1u);
  EXPECT_EQ(numbers, 1u);
}

TEST(TraceLensOperators, ItsMegabytesAreMebibytes) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << folder() << " is absent";
  const Row row = read_csv(folder() / "tl_h100_bertsmall" / "GEMM.csv").at(0);
  // (512 + 141·512 + 512·512 + 141·512)·2 bytes
  EXPECT_DOUBLE_EQ(std::stod(row.at("Data Moved (MB)_first")), 814080.0 / 1048576);
}

}  // namespace
}  // namespace stepscope
