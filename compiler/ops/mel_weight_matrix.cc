// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix: triangles over the bins of a spectrum, whose corners are
// equally far apart on the mel scale. Computed in double, as ONNX's reference
// does; a table, made when compiling, or by the host where its parameters are
// computed and the model declares the shape.
//
//   num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz
//   y  [dft_length / 2 + 1, num_mel_bins]
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/expanded.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr TypeSet kTableTypes = kReals | Types(DataType::kDouble);

DataType TypeOf(const Node& node) {
  return static_cast<DataType>(node.IntAttribute(
      "output_datatype", static_cast<int64_t>(DataType::kFloat)));
}

struct Parameters {
  int64_t bins = 0, length = 0, rate = 0;
  double low = 0, high = 0;
  Shape shape() const { return {length / 2 + 1, bins}; }
};

double Real(const TensorData& data) {
  switch (data.type) {
    case DataType::kFloat16:
      return model::F16ToF32(*data.as<uint16_t>());
    case DataType::kDouble:
      return *data.as<double>();
    default:
      return *data.as<float>();
  }
}

absl::StatusOr<Parameters> ParametersOf(const Node& node,
                                        const Inputs& inputs) {
  for (size_t i = 0; i < 5; ++i) {
    if (inputs[i]->count() != 1) {
      return RejectNode(Rejection::kInvalidModel, node, "input ", i,
                        " has shape ", ShapeToString(inputs[i]->shape),
                        ", must be a scalar");
    }
  }
  Parameters p;
  p.bins = ToInts(*inputs[0])[0];
  p.length = ToInts(*inputs[1])[0];
  p.rate = ToInts(*inputs[2])[0];
  p.low = Real(*inputs[3]);
  p.high = Real(*inputs[4]);
  if (p.bins < 1 || p.length < 1 || p.rate < 1) {
    return RejectNode(Rejection::kInvalidModel, node, p.bins, " bins of ",
                      p.length, " samples at ", p.rate,
                      " a second: all must be positive");
  }
  RETURN_IF_ERROR(CheckTable(node, p.length / 2 + 1, p.bins));
  if (!(p.low >= 0) || !(p.high >= p.low) || !std::isfinite(p.high) ||
      p.high > static_cast<double>(p.rate)) {
    return RejectNode(Rejection::kInvalidModel, node, "edges ", p.low, " and ",
                      p.high, " Hz of ", p.rate,
                      " samples a second: must ascend from 0 to these");
  }
  return p;
}

absl::Status Infer(Graph* graph, const Node& node) {
  Inputs inputs;
  for (TensorId id : node.inputs) {
    inputs.push_back(graph->tensors[id].constant.get());
  }
  bool known = true;
  for (const TensorData* input : inputs) known = known && input != nullptr;
  if (known) {
    ASSIGN_OR_RETURN(const Parameters p, ParametersOf(node, inputs));
    return SetOutput(graph, node, 0, TypeOf(node), p.shape());
  }
  const Tensor& y = graph->tensors[node.outputs[0]];
  if (!y.shape_known || y.shape.size() != 2) {
    return RejectNode(Rejection::kUnsupportedShape, node,
                      "parameters are computed at run time, and the model does "
                      "not declare the shape of the result; declare it, or "
                      "make them initializers");
  }
  return SetOutput(graph, node, 0, TypeOf(node), y.shape);
}

void Set(TensorData* y, int64_t i, double value) {
  switch (y->type) {
    case DataType::kFloat16:
      y->as<uint16_t>()[i] = model::F32ToF16(static_cast<float>(value));
      break;
    case DataType::kDouble:
      y->as<double>()[i] = value;
      break;
    default:
      y->as<float>()[i] = static_cast<float>(value);
  }
}

Results Evaluate(const Graph& graph, const Node& node, const Inputs& inputs) {
  ASSIGN_OR_RETURN(const Parameters p, ParametersOf(node, inputs));
  const Shape& declared = graph.tensors[node.outputs[0]].shape;
  if (declared != p.shape()) {
    return RejectNode(Rejection::kMismatchingShape, node, "the result is ",
                      ShapeToString(p.shape()), ", the model declares ",
                      ShapeToString(declared));
  }
  const auto mel = [](double hertz) {
    return 2595 * std::log10(1 + hertz / 700);
  };
  const double first = mel(p.low);
  const double step = (mel(p.high) - first) / static_cast<double>(p.bins + 2);
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < p.bins + 2; ++i) {
    const double hertz =
        700 *
        (std::pow(10.0, (static_cast<double>(i) * step + first) / 2595) - 1);
    corners.push_back(
        static_cast<int64_t>(std::floor(static_cast<double>(p.length + 1) *
                                        hertz / static_cast<double>(p.rate))));
  }
  TensorData y = TensorData::Zeros(TypeOf(node), p.shape());
  const int64_t rows = p.shape()[0];
  for (int64_t i = 0; i < p.bins; ++i) {
    const int64_t low = corners[i], middle = corners[i + 1],
                  high = corners[i + 2];
    Pace(rows);
    const auto set = [&](int64_t row, double value) {
      if (row >= 0 && row < rows) Set(&y, row * p.bins + i, value);
    };
    if (low == middle) {
      set(middle, 1);
    } else {
      for (int64_t j = low; j <= std::min(middle, rows); ++j) {
        set(j,
            static_cast<double>(j - low) / static_cast<double>(middle - low));
      }
    }
    for (int64_t j = middle; j < std::min(high, rows); ++j) {
      set(j,
          static_cast<double>(high - j) / static_cast<double>(high - middle));
    }
  }
  return One(std::move(y));
}

bool TypeIsKnown(const Graph&, const Node& node, std::string* detail) {
  *detail = absl::StrCat("output_datatype = ", TypeOf(node));
  return Contains(kTableTypes, TypeOf(node));
}

const OperatorRegistration kMelWeightMatrix(
    Define("MelWeightMatrix", 17, kMaxOpset)
        .Inputs(5, 5, kIndices, kIndices, kIndices, kTableTypes, kTableTypes)
        .Attr("output_datatype", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedDatatype,
              "output_datatype is float, float16 or double", TypeIsKnown)
        .Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
