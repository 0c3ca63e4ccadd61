// SPDX-License-Identifier: Apache-2.0
#include "compiler/bench/operator_bound.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "compiler/ir/graph.h"

namespace heddle::compiler {
namespace {

double BytesOf(int32_t type, const Shape& shape) {
  return static_cast<double>(ElementCount(shape)) *
         static_cast<double>(ElementBytes(static_cast<DataType>(type)));
}

}  // namespace

double OperatorBound::cycles() const {
  return std::max({vector, memory, matrix, 1.0});
}

const char* OperatorBound::limit() const {
  if (vector >= memory && vector >= matrix) return "vector";
  return memory >= matrix ? "memory" : "matrix";
}

OperatorBound BoundOf(const OperatorCase& c, double output_bytes,
                      const isa::Config& config) {
  onnx::ModelProto model;
  model.ParseFromString(c.model);
  double bytes = output_bytes + c.again_bytes - c.unread_bytes;
  for (const auto& input : model.graph().input()) {
    const auto& type = input.type().tensor_type();
    Shape shape;
    for (const auto& d : type.shape().dim()) shape.push_back(d.dim_value());
    bytes += BytesOf(type.elem_type(), shape);
  }
  for (const auto& weights : model.graph().initializer()) {
    // Others are axes, numbers of elements and the like.
    if (weights.data_type() == onnx::TensorProto::INT64) continue;
    bytes += BytesOf(weights.data_type(),
                     Shape(weights.dims().begin(), weights.dims().end()));
  }
  OperatorBound bound;
  bound.vector = c.work;
  bound.memory = bytes / config.dram_bytes_per_cycle;
  bound.matrix = c.macs / (config.lanes_in * config.lanes_out);
  return bound;
}

}  // namespace heddle::compiler
