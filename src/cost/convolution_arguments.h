// Where the operators of the convolution family keep their arguments, and the sizes that follow from them. Used by convolution.cpp and
// convolution_backward.cpp.
#pragma once

#include <optional>
#include <string>

#include "cost/arguments.h"

namespace stepscope {

struct Convolution {
  double input_count = 0, weight_count = 0, output_count = 0;  // elements
  double multiply_adds = 0;                                    // of the forward pass
  std::string description;
};

struct ConvolutionParameters {
  std::vector<std::int64_t> stride, padding, dilation, output_padding;  // one value for all dimensions, or one each; output_padding may be empty = 0
  bool transposed = false;
};

// weight: [out, in / groups, kernel…], transposed [in, out / groups, kernel…]. output: empty = computed from the input's sizes.
// Absent where the sizes do not fit each other.
std::optional<Convolution> convolution_sizes(const Shape& input, const Shape& weight, const ConvolutionParameters& parameters, std::int64_t groups,
                                             const Shape& output);

}  // namespace stepscope
