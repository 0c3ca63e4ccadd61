// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/half.h"

#include "compiler/base/pace.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

Widened::Widened(const Inputs& inputs) {
  for (const TensorData* input : inputs) {
    if (input == nullptr || input->type != DataType::kFloat16) {
      views_.push_back(input);
      continue;
    }
    TensorData copy = TensorData::Zeros(DataType::kFloat, input->shape);
    for (int64_t i = 0; i < copy.count(); ++i) {
      PaceAt(i);
      copy.as<float>()[i] = model::F16ToF32(input->as<uint16_t>()[i]);
    }
    copies_.push_back(std::move(copy));
    views_.push_back(&copies_.back());
  }
}

TensorData Narrowed(TensorData data, DataType type) {
  if (type != DataType::kFloat16) return data;
  TensorData half = TensorData::Zeros(type, data.shape);
  for (int64_t i = 0; i < half.count(); ++i) {
    PaceAt(i);
    half.as<uint16_t>()[i] = model::F32ToF16(data.as<float>()[i]);
  }
  return half;
}

}  // namespace heddle::compiler
