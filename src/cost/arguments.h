// Reading the arguments of a recorded call: tensors, what they weigh, and concrete values. Absent means that the record does not say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cost/operator_cost.h"

namespace stepscope {

// The argument if it is there and a tensor; null otherwise (also for an optional tensor that was not given).
const Argument* tensor_argument(const OperatorCall& call, std::size_t index);

// Values of the argument: 2 per recorded element of a packed type ("Float4_e2m1fn_x2"), else 1 per element.
std::optional<double> value_count(const Argument& tensor);
// Bytes of the tensor's distinct elements: dimensions with stride 0 (an expanded tensor) are read once. Absent for an unknown element type.
std::optional<double> tensor_bytes(const Argument& tensor);
// Bytes of count values of a type.
std::optional<double> bytes_of(double count, DataType type);

// Sums that stay absent once a part is absent.
class ByteSum {
 public:
  ByteSum& add(std::optional<double> bytes);
  ByteSum& add(const Argument* tensor);  // null adds nothing: an optional tensor that was not given
  ByteSum& add(double count, DataType type) { return add(bytes_of(count, type)); }
  std::optional<double> total() const { return total_; }

 private:
  std::optional<double> total_ = 0.0;
};

// Concrete values, as Kineto prints them: "True", "0.125", "[1, 1]". Absent where the argument is missing, not recorded or something else.
std::optional<bool> boolean_argument(const OperatorCall& call, std::size_t index);
std::optional<std::int64_t> integer_argument(const OperatorCall& call, std::size_t index);
std::optional<std::vector<std::int64_t>> integers_argument(const OperatorCall& call, std::size_t index);
std::optional<std::vector<bool>> booleans_argument(const OperatorCall& call, std::size_t index);
// A type given as a number of the c10::ScalarType enumeration ("15" = bf16). unknown where the argument is not given or no type that we know.
DataType type_argument(const OperatorCall& call, std::size_t index);

// Product of the sizes from first on; absent on overflow. sizes_product({2, 3, 4}, 1) = 12.
std::optional<double> sizes_product(const Shape& shape, std::size_t first = 0);
// The common shape of broadcasting; absent where sizes do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);
// The result type of arithmetic on two tensors of equal standing (both with dimensions, or both without).
DataType promoted_type(DataType a, DataType b);
bool is_floating(DataType type);

std::string shape_text(const Shape& shape);                  // "[4, 197, 768]"
std::string tensor_text(const Shape& shape, DataType type);  // "[4, 197, 768] bf16"

}  // namespace stepscope
