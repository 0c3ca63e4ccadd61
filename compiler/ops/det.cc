// SPDX-License-Identifier: Apache-2.0
// Det, made of other operators in fp32, rounded once at the end: Laplace's
// expansion, row by row from the last one, where each set of columns has its
// minor once.
#include <bitset>
#include <vector>

#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

// n * 2^(n - 1) products.
constexpr int64_t kMostRows = 6;

absl::Status Expand(Expansion* e) {
  const Shape shape = e->T(e->In(0)).shape;
  const int64_t n = shape.back();
  const Shape outer(shape.begin(), shape.end() - 2);
  const int64_t count = ElementCount(outer);
  const TensorId x = e->Reshape(e->Wide(e->In(0)), {count, n * n});
  // Minors of the last rows, by their columns: those of no row are 1.
  std::vector<TensorId> minors(size_t{1} << n, kNoTensor);
  for (size_t columns = 1; columns < minors.size(); ++columns) {
    const std::bitset<kMostRows> set(columns);
    const int64_t row = n - static_cast<int64_t>(set.count());
    bool plus = true;
    for (int64_t c = 0; c < n; ++c) {
      if (!set[static_cast<size_t>(c)]) continue;
      const int64_t at = row * n + c;
      TensorId term =
          e->Add("Slice", {x, e->Ints({at}), e->Ints({at + 1}), e->Ints({1})});
      const TensorId minor = minors[columns & ~(size_t{1} << c)];
      if (minor != kNoTensor) term = e->Add("Mul", {term, minor});
      TensorId* sum = &minors[columns];
      *sum =
          *sum == kNoTensor ? term : e->Add(plus ? "Add" : "Sub", {*sum, term});
      plus = !plus;
    }
  }
  e->Return(0, e->Reshape(minors.back(), outer), e->T(e->In(0)).type);
  return absl::OkStatus();
}

bool IsSquare(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() >= 2 && shape.back() == shape[shape.size() - 2];
}
bool IsSmall(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.back() >= 1 && shape.back() <= kMostRows;
}

const ExpandedOperator kDet(Define("Det", 11, kMaxOpset)
                                .Inputs(1, 1, kReals)
                                .Rule(Rejection::kInvalidModel,
                                      "the matrices are square", IsSquare)
                                .Rule(Rejection::kUnsupportedShape,
                                      "the matrices have 1 to 6 rows", IsSmall),
                            Expand);

}  // namespace
}  // namespace heddle::compiler
