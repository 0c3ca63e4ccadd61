// SPDX-License-Identifier: Apache-2.0
// Det, up to 6 rows made of other operators in fp32, rounded once at the end:
// Laplace's expansion, row by row from the last one, where each set of columns
// has its minor once. Larger matrices, and those of doubles, are the host's:
// Gauss' elimination in binary64, each time with the largest pivot of the
// column, rounded once at the end.
#include <bitset>
#include <cmath>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/reduce.h"

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
bool IsExpandedDet(const Graph& graph, const Node& node) {
  const Tensor& x = InputOf(graph, node, 0);
  return x.type != DataType::kDouble && x.shape.back() >= 1 &&
         x.shape.back() <= kMostRows;
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  return SetOutput(graph, node, 0, x.type,
                   Shape(x.shape.begin(), x.shape.end() - 2));
}

// Of n rows at `a`, which it overwrites; of none 1.
double Determinant(double* a, int64_t n) {
  double result = 1;
  for (int64_t column = 0; column < n; ++column) {
    int64_t pivot = column;
    for (int64_t row = column + 1; row < n; ++row) {
      if (std::fabs(a[row * n + column]) > std::fabs(a[pivot * n + column])) {
        pivot = row;
      }
    }
    if (pivot != column) {
      for (int64_t i = 0; i < n; ++i) {
        std::swap(a[pivot * n + i], a[column * n + i]);
      }
      result = -result;
    }
    const double by = a[column * n + column];
    result *= by;
    if (by == 0) return result;
    for (int64_t row = column + 1; row < n; ++row) {
      Pace(n);
      const double factor = a[row * n + column] / by;
      for (int64_t i = column; i < n; ++i) {
        a[row * n + i] -= factor * a[column * n + i];
      }
    }
  }
  return result;
}

Results Evaluate(const Graph&, const Node&, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const int64_t n = x.shape.back();
  const Shape outer(x.shape.begin(), x.shape.end() - 2);
  std::vector<double> matrices = ToDoubles(x);
  std::vector<double> results(static_cast<size_t>(ElementCount(outer)));
  for (size_t i = 0; i < results.size(); ++i) {
    results[i] =
        Determinant(matrices.data() + static_cast<int64_t>(i) * n * n, n);
  }
  if (x.type == DataType::kDouble) return One(FromDoubles(outer, results));
  const std::vector<float> rounded(results.begin(), results.end());
  return One(FromFloats(x.type, outer, rounded));
}

const ExpandedOperator kDet(Define("Det", 11, kMaxOpset)
                                .Inputs(1, 1, kRealsAndDouble)
                                .Rule(Rejection::kInvalidModel,
                                      "the matrices are square", IsSquare),
                            Expand, IsExpandedDet, Infer, Evaluate);

}  // namespace
}  // namespace heddle::compiler
