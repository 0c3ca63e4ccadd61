// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/doubles.h"

#include <algorithm>

#include "compiler/base/pace.h"
#include "compiler/ops/broadcast.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

template <typename T>
void Convert(const TensorData& data, std::vector<double>* values) {
  for (size_t i = 0; i < values->size(); ++i) {
    PaceAt(static_cast<int64_t>(i));
    (*values)[i] = static_cast<double>(data.as<T>()[i]);
  }
}

template <float (*widen)(uint16_t)>
void Widen(const TensorData& data, std::vector<double>* values) {
  for (size_t i = 0; i < values->size(); ++i) {
    PaceAt(static_cast<int64_t>(i));
    (*values)[i] = widen(data.as<uint16_t>()[i]);
  }
}

}  // namespace

std::vector<double> ToDoubles(const TensorData& data) {
  std::vector<double> values(static_cast<size_t>(data.count()));
  switch (data.type) {
    case DataType::kDouble:
      Convert<double>(data, &values);
      break;
    case DataType::kFloat:
      Convert<float>(data, &values);
      break;
    case DataType::kFloat16:
      Widen<model::F16ToF32>(data, &values);
      break;
    case DataType::kBfloat16:
      Widen<model::Bf16ToF32>(data, &values);
      break;
    case DataType::kUint64:
      Convert<uint64_t>(data, &values);
      break;
    case DataType::kInt64:
      Convert<int64_t>(data, &values);
      break;
    case DataType::kUint32:
      Convert<uint32_t>(data, &values);
      break;
    case DataType::kInt32:
      Convert<int32_t>(data, &values);
      break;
    case DataType::kUint16:
      Convert<uint16_t>(data, &values);
      break;
    case DataType::kInt16:
      Convert<int16_t>(data, &values);
      break;
    case DataType::kInt8:
      Convert<int8_t>(data, &values);
      break;
    default:
      Convert<uint8_t>(data, &values);
  }
  return values;
}

TensorData FromDoubles(const Shape& shape, const std::vector<double>& values) {
  TensorData data = TensorData::Zeros(DataType::kDouble, shape);
  std::copy(values.begin(), values.end(), data.as<double>());
  return data;
}

Results MapDoubles(const Graph& graph, const Node& node, const Inputs& inputs,
                   DoubleFunction function) {
  std::vector<TensorData> converted;
  for (const TensorData* input : inputs) {
    converted.push_back(FromDoubles(input->shape, ToDoubles(*input)));
  }
  const TensorData& a = converted.front();
  const TensorData& b = converted.back();
  Shape shape;
  if (converted.size() > 2 || !BroadcastShapes(a.shape, b.shape, &shape)) {
    return absl::InternalError(node.Describe() + ": operands do not fit");
  }
  const bool truth = graph.tensors[node.outputs[0]].type == DataType::kBool;
  TensorData y =
      TensorData::Zeros(truth ? DataType::kBool : DataType::kDouble, shape);
  ForEachBroadcast(
      shape, BroadcastStrides(a.shape, shape), BroadcastStrides(b.shape, shape),
      [&](int64_t i, int64_t ia, int64_t ib) {
        const double x[] = {a.as<double>()[ia], b.as<double>()[ib]};
        const double v = function(node, x);
        if (truth) {
          y.bytes[i] = v != 0;
        } else {
          y.as<double>()[i] = v;
        }
      });
  return One(std::move(y));
}

Results FoldDoubles(const Node& node, const Inputs& inputs,
                    double (*combine)(double acc, double x)) {
  TensorData y = *inputs[0];
  for (size_t i = 1; i < inputs.size(); ++i) {
    const TensorData& x = *inputs[i];
    Shape shape;
    if (!BroadcastShapes(y.shape, x.shape, &shape)) {
      return absl::InternalError(node.Describe() + ": operands do not fit");
    }
    TensorData z = TensorData::Zeros(DataType::kDouble, shape);
    ForEachBroadcast(
        shape, BroadcastStrides(y.shape, shape),
        BroadcastStrides(x.shape, shape), [&](int64_t k, int64_t a, int64_t b) {
          z.as<double>()[k] = combine(y.as<double>()[a], x.as<double>()[b]);
        });
    y = std::move(z);
  }
  return One(std::move(y));
}

}  // namespace heddle::compiler
