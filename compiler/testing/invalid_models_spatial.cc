// SPDX-License-Identifier: Apache-2.0
// Volumes and the places of a MaxPool.
#include <string>
#include <vector>

#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

ModelBuilder Volume(const char* op, const Shape& weights) {
  ModelBuilder b(12);
  b.Input("x", DataType::kFloat, {1, 4, 5, 6, 7});
  std::vector<std::string> inputs = {"x"};
  if (!weights.empty()) {
    b.Constant("w", Floats(weights, std::vector<float>(ElementCount(weights))));
    inputs.push_back("w");
  }
  auto* node = b.Node(op, inputs, {"y"});
  SetInts(node, "kernel_shape", {3, 2, 2});
  SetInts(node, "pads", {1, 1, 1, 1, 0, 0});
  SetInts(node, "strides", {2, 1, 2});
  b.Output("y");
  return b;
}
ModelBuilder Conv() { return Volume("Conv", {6, 4, 3, 2, 2}); }
ModelBuilder ConvTranspose() {
  return Volume("ConvTranspose", {4, 6, 3, 2, 2});
}
ModelBuilder AveragePool() { return Volume("AveragePool", {}); }
ModelBuilder MaxPool() {
  ModelBuilder b = Volume("MaxPool", {});
  b.proto().mutable_graph()->mutable_node(0)->add_output("i");
  b.Output("i", DataType::kInt64, {1, 4, 3, 6, 4});
  return b;
}

std::vector<Mutation> Windows(std::vector<Mutation> own) {
  const std::vector<Mutation> all = {
      {"pads of two dimensions", wrong::kValue, Ints("pads", {1, 1, 1, 1})},
      {"negative pads", wrong::kValue, Ints("pads", {-1, 0, 0, 0, 0, 0})},
      {"strides of two dimensions", wrong::kValue, Ints("strides", {1, 1})},
      {"a stride of 0", wrong::kValue, Ints("strides", {0, 1, 1})},
      {"a kernel of two dimensions", wrong::kShapes,
       Ints("kernel_shape", {2, 2})},
      {"four spatial dimensions", wrong::kRank,
       InputShape("x", {1, 4, 5, 6, 7, 2})},
      {"integers of 32 bits", wrong::kType, InputType("x", DataType::kInt32)}};
  own.insert(own.end(), all.begin(), all.end());
  return own;
}

std::vector<OperatorCases> SpatialCases() {
  return {
      {"ConvOfVolumes", Conv,
       Windows(
           {{"a group that does not divide", wrong::kShapes, Int("group", 3)},
            {"weights of four dimensions", wrong::kShapes,
             Value("w",
                   Floats({6, 4, 3, 2}, std::vector<float>(6 * 4 * 3 * 2)))},
            {"a kernel beyond the volume", wrong::kShapes,
             Ints("dilations", {9, 1, 1})}})},
      {"ConvTransposeOfVolumes", ConvTranspose,
       Windows(
           {{"a group that does not divide", wrong::kShapes, Int("group", 3)},
            {"output_padding of two dimensions", wrong::kValue,
             Ints("output_padding", {1, 1})}})},
      {"AveragePoolOfVolumes", AveragePool,
       Windows({{"no kernel", wrong::kValue, Drop("kernel_shape")}})},
      {"MaxPoolWithIndices", MaxPool,
       Windows({{"no kernel", wrong::kValue, Drop("kernel_shape")}})},
  };
}

const InvalidModels kSpatial(SpatialCases);

}  // namespace
}  // namespace heddle::compiler
