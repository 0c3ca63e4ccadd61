// SPDX-License-Identifier: Apache-2.0
#include "tests/mutations/rulings.h"

#include <iterator>

#include "absl/strings/match.h"

namespace heddle::tests {
namespace {

struct Ruling {
  const char* words;
  const char* reason;
};

constexpr char kTypes[] =
    "a type is taken that ONNX has in another opset, or beside a float of "
    "another width: it means one thing";
constexpr char kOneElement[] =
    "a list of one number is taken as the number, and the other way round";
constexpr char kFlag[] = "a flag other than 0 is taken as 1";
constexpr char kEmpty[] = "a tensor without elements, which the runtime lacks";
constexpr char kNarrow[] =
    "the definition allows it, the runtime does not compute it";
constexpr char kValues[] =
    "values are looked at when they are used, not when the model is read";
constexpr char kInferred[] =
    "what is left out follows from the other inputs and attributes";
constexpr char kExporters[] = "exporters write it; it means one thing";

constexpr Ruling kAccepted[] = {
    {"bound to different types", kTypes},
    {"of input parameter", kTypes},
    {"Integer division by zero", kValues},
    {"Integer modulo", kValues},
    {"out of data bounds", kValues},
    {"is out of range", kValues},
    {"input index out of range", kValues},
    {"Index value out of bounds", kValues},
    {"Invalid sequence length", kValues},
    {"exceeds cos/sin cache range", kValues},
    {"TensorScatter: write_indices", kValues},
    {"seqlens_k", kOneElement},
    {"GetEffectiveAxes", kOneElement},
    {"must be a one-dimensional", kOneElement},
    {"must be a scalar", kOneElement},
    {"must be scalar", kOneElement},
    {"should be scalars", kOneElement},
    {"'shape' input must be 1D", kOneElement},
    {"must be a 1-D array", kOneElement},
    {"Starts and axes shape mismatch", kOneElement},
    {"Starts and steps shape mismatch", kOneElement},
    {"zero point and scale of input", kOneElement},
    {"PrepareForQDQ", kOneElement},
    {"must be of one element", kOneElement},
    {"Reshape::Compute", kOneElement},
    {"QGemm : ", kOneElement},
    {"does not match attribute-derived shape", kOneElement},
    {"Invalid bias shape", kOneElement},
    {"Scale and (optional) bias", kOneElement},
    {"bias tensor's element count", kOneElement},
    {"can only be 0 or 1", kFlag},
    {"exclusive == 0 || exclusive == 1", kFlag},
    {"reverse == 0 || reverse == 1", kFlag},
    {"fmod must have value", kFlag},
    {"center_point_box", kFlag},
    {"qk_output attribute", kFlag},
    {"saturate is only used", kFlag},
    {"SetOutputSize", kEmpty},
    {"ReshapeHelper", kEmpty},
    {"Invalid position of 0", kEmpty},
    {"Invalid input shape", kEmpty},
    {"out of computation range", kEmpty},
    {"must contain a constructed tensor", kEmpty},
    {"checkParameters", kEmpty},
    {"must be a positive multiple", kEmpty},
    {"with B > 0", kEmpty},
    {"(oC) must be positive", kEmpty},
    {"operand cannot broadcast on dim", kEmpty},
    {"PoolAttributes::PoolAttributes", kNarrow},
    {"LRN<T>", kNarrow},
    {"Pad reflect", kNarrow},
    {"zero effective input extent", kNarrow},
    {"exclude_outside", kNarrow},
    {"UpsampleMode::CUBIC", kNarrow},
    {"Dilation not supported", kNarrow},
    {"No valid axes are specified", kNarrow},
    {"CreateMelWeightMatrix", kNarrow},
    {"num_heads_attr", kNarrow},
    {"num_heads > 0", kNarrow},
    {"RotaryEmbedding<T>::RotaryEmbedding", kNarrow},
    {"ComputeOutputShapeForAttention", kNarrow},
    {"is expected to have 1 or more dimensions", kNarrow},
    {"OutputMLValue", kNarrow},
    {"Training_mode = True", kNarrow},
    {"Invalid value(-1) for attribute 'axis'", kTypes},
    {"must be less than max(stride, dilation)", kNarrow},
    {"dimension cannot be less than 3", kNarrow},
    {"number of dimensions is less than 3", kNarrow},
    {"ParseData type mismatch", kTypes},
    {"Invalid num_outputs value", kEmpty},
    {"hidden_size", kInferred},
    {"activations_.size()", kInferred},
    {"number of splits", kInferred},
    {"Required attribute 'opset'", kInferred},
    {"marked single but has an empty string", kExporters},
    {"Input data type does not match the expected", kExporters},
};

constexpr char kLax[] = "the runtime does not look; the definition forbids it";

constexpr Ruling kRefused[] = {
    {"repeat or leave a tensor of rank", kLax},
    {"lies outside an input of rank 0", kLax},
    {"qk_matmul_output_mode is 0 to 3", kLax},
    {"auto_pad is NOTSET", kLax},
    {"the padded input has only", kLax},
    {"is negative", kLax},
    {"must not be negative", kLax},
    {"the condition has one dimension", kLax},
    {"must have exactly one value attribute", kLax},
    {"must have rank 1", kLax},
    {"choose nothing of an input", kLax},
    {"p is positive", kLax},
    {"must hold one value for each of the", kLax},
    {"is not an axis of a tensor of rank", kLax},
    {"all must be positive", kLax},
    {"reduction is mean, sum or none", kLax},
    {"are not one for each of the", kLax},
    {"limits are one number each", kLax},
    {"it must have rank 1", kLax},
    {"must be a list of integers", kLax},
    {"must be 0 and 1 or 1 and 0", kLax},
    {"coordinate_transformation_mode is", kLax},
    {"output_height and output_width are positive", kLax},
    {"do not fit", kLax},
    {"do not fit a signal", kLax},
    {"approximate is none or tanh", kLax},
    {"round_mode is up, down or nearest", kLax},
    {"must be float with", kLax},
    {"must have 1 or", kLax},
    {"must have 1 element", kLax},
    {"must have one element or", kLax},
    {"it must be 1 to 2^31", kLax},
    {"num_outputs is the number", kLax},
    {"lengths and weights agree, but", kLax},
    {"a row or a matrix of one token", kLax},
    {"must be at least 1 and not more", kLax},
    {"is not one number for each of the last dimension", kLax},
    {"without cos_cache and sin_cache", kLax},
    {"must be given together", kLax},
    {"are not for", kLax},
    {"ImageScaler 'subject': the input has rank 4, but", kLax},
};

template <size_t count>
const char* Find(const Ruling (&rulings)[count], const std::string& words) {
  for (const Ruling& ruling : rulings) {
    if (absl::StrContains(words, ruling.words)) return ruling.reason;
  }
  return nullptr;
}

}  // namespace

const char* WhyAccepted(const std::string& words) {
  return Find(kAccepted, words);
}

const char* WhyRefused(const std::string& words) {
  return Find(kRefused, words);
}

}  // namespace heddle::tests
