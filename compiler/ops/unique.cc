// SPDX-License-Identifier: Apache-2.0
// Unique: the different elements of x (or slices along an axis), sorted or in
// the order in which they come first, where each comes first, which of them is
// at each place, and how often each occurs. All but the third have a shape with
// room for every element (bounded.h). NaN equal each other and come last; -0
// equals 0.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/half.h"
#include "compiler/ops/indices.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

bool HasAxis(const Graph& graph, const Node& node, std::string* detail) {
  if (node.attributes.count("axis") == 0) return true;
  *detail = absl::StrCat("axis = ", node.IntAttribute("axis", 0));
  size_t axis = 0;
  return NormalizeAxis(node.IntAttribute("axis", 0),
                       InputOf(graph, node, 0).shape.size(), &axis);
}

// [before, size, after] about the axis; of all elements without one.
Shape About(const Node& node, const Shape& shape, size_t* axis) {
  *axis = 0;
  if (node.attributes.count("axis") == 0 ||
      !NormalizeAxis(node.IntAttribute("axis", 0), shape.size(), axis)) {
    return {1, ElementCount(shape), 1};
  }
  return AboutAxis(shape, *axis);
}

Shape SlicesShape(const Node& node, const Shape& shape, size_t axis,
                  int64_t count) {
  if (node.attributes.count("axis") == 0) return {count};
  Shape result = shape;
  result[axis] = count;
  return result;
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor x = InputOf(*graph, node, 0);
  size_t axis = 0;
  const int64_t size = About(node, x.shape, &axis)[1];
  RETURN_IF_ERROR(SetOutput(graph, node, 0, x.type,
                            SlicesShape(node, x.shape, axis, size)));
  for (size_t i = 1; i < 4; ++i) {
    RETURN_IF_ERROR(SetOutput(graph, node, i, DataType::kInt64, {size}));
  }
  return absl::OkStatus();
}

template <typename T>
int Order(const T& a, const T& b) {
  const bool a_nan = a != a, b_nan = b != b;
  if (a_nan || b_nan) return static_cast<int>(a_nan) - static_cast<int>(b_nan);
  return a < b ? -1 : b < a ? 1 : 0;
}

template <typename T>
int OrderAt(const uint8_t* a, const uint8_t* b) {
  T x, y;
  std::memcpy(&x, a, sizeof(x));
  std::memcpy(&y, b, sizeof(y));
  return Order(x, y);
}

int OrderHalves(const uint8_t* a, const uint8_t* b) {
  uint16_t x, y;
  std::memcpy(&x, a, sizeof(x));
  std::memcpy(&y, b, sizeof(y));
  return Order(model::F16ToF32(x), model::F16ToF32(y));
}

using Compare = int (*)(const uint8_t*, const uint8_t*);

Compare CompareOf(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return OrderAt<float>;
    case DataType::kDouble:
      return OrderAt<double>;
    case DataType::kFloat16:
      return OrderHalves;
    case DataType::kInt8:
      return OrderAt<int8_t>;
    case DataType::kInt16:
      return OrderAt<int16_t>;
    case DataType::kInt32:
      return OrderAt<int32_t>;
    case DataType::kInt64:
      return OrderAt<int64_t>;
    case DataType::kUint16:
      return OrderAt<uint16_t>;
    case DataType::kUint32:
      return OrderAt<uint32_t>;
    case DataType::kUint64:
      return OrderAt<uint64_t>;
    default:
      return OrderAt<uint8_t>;  // uint8, bool
  }
}

// Slices of x by their place along the axis.
class Slices {
 public:
  Slices(const TensorData& x, const Shape& about)
      : x_(x),
        about_(about),
        element_(ElementBytes(x.type)),
        compare_(CompareOf(x.type)) {}

  int operator()(int64_t a, int64_t b) const {
    for (int64_t before = 0; before < about_[0]; ++before) {
      for (int64_t after = 0; after < about_[2]; ++after) {
        Pace(1);
        const int order = compare_(At(before, a, after), At(before, b, after));
        if (order != 0) return order;
      }
    }
    return 0;
  }
  void Copy(int64_t before, int64_t from, uint8_t* to) const {
    if (about_[2] > 0) {
      std::memcpy(to, At(before, from, 0), about_[2] * element_);
    }
  }

 private:
  const uint8_t* At(int64_t before, int64_t i, int64_t after) const {
    return x_.bytes.data() +
           ((before * about_[1] + i) * about_[2] + after) * element_;
  }

  const TensorData& x_;
  const Shape& about_;
  const size_t element_;
  const Compare compare_;
};

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  size_t axis = 0;
  const Shape about = About(node, x.shape, &axis);
  const int64_t size = about[1];
  const Slices slices(x, about);
  std::vector<int64_t> sorted(size);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](int64_t a, int64_t b) { return slices(a, b) < 0; });
  // The first of each run of equals, which is the first in x.
  std::vector<int64_t> first, counts, group(size);
  for (int64_t i = 0; i < size; ++i) {
    if (i == 0 || slices(sorted[i - 1], sorted[i]) != 0) {
      first.push_back(sorted[i]);
      counts.push_back(0);
    }
    ++counts.back();
    group[sorted[i]] = static_cast<int64_t>(first.size()) - 1;
  }
  const auto count = static_cast<int64_t>(first.size());
  // Groups in the order of the result.
  std::vector<int64_t> order(count), place(count);
  std::iota(order.begin(), order.end(), 0);
  if (node.IntAttribute("sorted", 1) == 0) {
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return first[a] < first[b]; });
  }
  for (int64_t i = 0; i < count; ++i) place[order[i]] = i;

  std::vector<TensorData> results;
  results.push_back(
      TensorData::Zeros(x.type, SlicesShape(node, x.shape, axis, count)));
  const size_t bytes = about[2] * ElementBytes(x.type);
  for (int64_t before = 0; before < about[0]; ++before) {
    for (int64_t i = 0; i < count; ++i) {
      Pace(about[2]);
      slices.Copy(before, first[order[i]],
                  results[0].bytes.data() + (before * count + i) * bytes);
    }
  }
  for (const int64_t length : {count, size, count}) {
    results.push_back(TensorData::Zeros(DataType::kInt64, {length}));
  }
  for (int64_t i = 0; i < count; ++i) {
    results[1].as<int64_t>()[i] = first[order[i]];
    results[3].as<int64_t>()[i] = counts[order[i]];
  }
  for (int64_t i = 0; i < size; ++i) {
    PaceAt(i);
    results[2].as<int64_t>()[i] = place[group[i]];
  }
  return results;
}

constexpr TypeSet kOrdered =
    kNumbers | Types(DataType::kBool, DataType::kDouble);

const OperatorRegistration kUnique(Define("Unique", 11, kMaxOpset)
                                       .Inputs(1, 1, kOrdered)
                                       .Outputs(4)
                                       .Attr("axis", AttributeKind::kInt)
                                       .Attr("sorted", AttributeKind::kInt)
                                       .Rule(Rejection::kInvalidModel,
                                             "axis is one of x", HasAxis)
                                       .Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
