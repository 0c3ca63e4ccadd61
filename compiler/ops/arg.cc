// SPDX-License-Identifier: Apache-2.0
// ArgMax, ArgMin: the index of the first (or last) largest or smallest element.
// A NaN is never the element found; 0 if there is nothing but NaNs, or nothing
// beyond the infinity that any element beats.
#include "compiler/ops/arg.h"

#include <limits>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"

namespace heddle::compiler {
namespace {

absl::Status Infer(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(auto search,
                   ResolveArg(node, InputOf(*graph, node, 0).shape));
  return SetOutput(graph, node, 0, DataType::kInt64, search.shape);
}

template <typename T>
void Search(const ArgSearch& s, const T* x, T worst, int64_t* y) {
  const auto& [outer, count, inner] = s.stage;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      T best = worst;
      int64_t index = 0;
      for (int64_t k = 0; k < count; ++k) {
        PaceAt(k);
        const T v = x[(o * count + k) * inner + i];
        const bool better = s.largest ? (s.last ? v >= best : v > best)
                                      : (s.last ? v <= best : v < best);
        if (!better) continue;
        best = v;
        index = k;
      }
      y[o * inner + i] = index;
    }
  }
}

template <typename T>
void SearchIntegers(const ArgSearch& s, const TensorData& x, int64_t* y) {
  Search<T>(s, x.as<T>(),
            s.largest ? std::numeric_limits<T>::lowest()
                      : std::numeric_limits<T>::max(),
            y);
}

Results Evaluate(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  ASSIGN_OR_RETURN(auto search, ResolveArg(node, x.shape));
  TensorData y = TensorData::Zeros(DataType::kInt64, search.shape);
  int64_t* out = y.as<int64_t>();
  switch (x.type) {
    case DataType::kUint8:
      SearchIntegers<uint8_t>(search, x, out);
      break;
    case DataType::kInt8:
      SearchIntegers<int8_t>(search, x, out);
      break;
    case DataType::kInt32:
      SearchIntegers<int32_t>(search, x, out);
      break;
    case DataType::kInt64:
      SearchIntegers<int64_t>(search, x, out);
      break;
    case DataType::kUint16:
      SearchIntegers<uint16_t>(search, x, out);
      break;
    case DataType::kInt16:
      SearchIntegers<int16_t>(search, x, out);
      break;
    case DataType::kUint32:
      SearchIntegers<uint32_t>(search, x, out);
      break;
    case DataType::kUint64:
      SearchIntegers<uint64_t>(search, x, out);
      break;
    case DataType::kDouble: {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      Search<double>(search, x.as<double>(),
                     search.largest ? -kInfinity : kInfinity, out);
      break;
    }
    default: {
      constexpr float kInfinity = std::numeric_limits<float>::infinity();
      Search<float>(search, ToFloats(x).data(),
                    search.largest ? -kInfinity : kInfinity, out);
    }
  }
  return One(std::move(y));
}

Define Arg(const char* op, int since, int until) {
  Define define(op, since, until);
  define.Inputs(1, 1, kNumbers | kDoubles)
      .Attr("axis", AttributeKind::kInt)
      .Attr("keepdims", AttributeKind::kInt);
  return define;
}

Define Arg12(const char* op) {
  Define define = Arg(op, 12, kMaxOpset);
  define.Attr("select_last_index", AttributeKind::kInt);
  return define;
}

const OperatorRegistration kArgMax1(Arg("ArgMax", 1, 11).Run(Infer, Evaluate));
const OperatorRegistration kArgMin1(Arg("ArgMin", 1, 11).Run(Infer, Evaluate));
const OperatorRegistration kArgMax12(Arg12("ArgMax").Run(Infer, Evaluate));
const OperatorRegistration kArgMin12(Arg12("ArgMin").Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
