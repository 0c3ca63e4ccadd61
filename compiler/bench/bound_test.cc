// SPDX-License-Identifier: Apache-2.0
#include "compiler/bench/bound.h"

#include <gtest/gtest.h>

namespace heddle::compiler {
namespace {

package::TensorInfo Tensor(const char* name, uint64_t bytes) {
  package::TensorInfo t;
  t.name = name;
  t.size = bytes;
  return t;
}

LayerReport Layer(const char* engine, uint64_t macs, uint64_t constants,
                  Shape shape, const char* input, const char* output) {
  LayerReport layer;
  layer.engine = engine;
  layer.macs = macs;
  layer.constant_bytes = constants;
  layer.output_shape = std::move(shape);
  layer.inputs.resize(1);
  layer.inputs[0].tensor = input;
  layer.output.tensor = output;
  return layer;
}

TEST(LayerBound, LargestOfEachLayer) {
  const isa::Config config = isa::kH256;
  package::Package package;
  package.inputs = {Tensor("x", 64000)};
  package.outputs = {Tensor("y", 3200)};
  CompileReport report;
  // 4000 cycles of bytes, 2560 of elements.
  report.layers.push_back(Layer("vector", 0, 0, {160, 256}, "x", "a"));
  // The input is there already: 1000 cycles of MACs, 100 of weights.
  report.layers.push_back(
      Layer("matrix", 256 * 1000, 1600, {160, 256}, "x", "b"));
  // 2560 cycles of elements.
  report.layers.push_back(Layer("vector", 0, 0, {160, 256}, "b", "c"));
  // 50 cycles of weights and 200 of the result; elements do not count.
  report.layers.push_back(Layer("matrix", 256, 800, {160, 256}, "c", "y"));
  EXPECT_EQ(LayerBound(report, package, config), 4000 + 1000 + 2560 + 250);
}

}  // namespace
}  // namespace heddle::compiler
