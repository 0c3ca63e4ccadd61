// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/half.h"

#include "compiler/ops/map_elements.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

Widened::Widened(const Inputs& inputs) {
  for (const TensorData* input : inputs) {
    if (input == nullptr || input->type != DataType::kFloat16) {
      views_.push_back(input);
      continue;
    }
    TensorData copy = TensorData::Zeros(DataType::kFloat, input->shape);
    MapElements(input->as<uint16_t>(), copy.count(), copy.as<float>(),
                model::F16ToF32);
    copies_.push_back(std::move(copy));
    views_.push_back(&copies_.back());
  }
}

TensorData Narrowed(TensorData data, DataType type) {
  if (type != DataType::kFloat16) return data;
  TensorData half = TensorData::Zeros(type, data.shape);
  const TensorData& from = data;
  MapElements(from.as<float>(), half.count(), half.as<uint16_t>(),
              model::F32ToF16);
  return half;
}

}  // namespace heddle::compiler
