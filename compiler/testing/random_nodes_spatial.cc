// SPDX-License-Identifier: Apache-2.0
// Generators of nodes: volumes, the places of a MaxPool, Resize by filters.
#include <map>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16;
}

// x of [n,c,h,w] as a new volume of some planes; false if it cannot be.
bool AddVolume(RandomGraphBuilder* b, TensorId x, TensorId* volume) {
  Shape shape = b->T(x).shape;
  if (shape.size() == 5) {
    *volume = x;
    return true;
  }
  if (shape.size() != 4 || ElementCount(shape) > 3000 ||
      !b->AppendWithLists(13, "Unsqueeze", x, {{"axes", {2}}})) {
    return false;
  }
  *volume = b->computed().back();
  shape.insert(shape.begin() + 2, b->Between(1, 3));
  if (!b->Append("", "Expand", {*volume, b->Constant(Int64s({5}, shape))})) {
    return false;
  }
  *volume = b->computed().back();
  return true;
}

bool AddVolumeConv(RandomGraphBuilder* b, TensorId x) {
  const DataType type = b->T(x).type;
  TensorId volume = kNoTensor;
  if (!IsReal(type) || !AddVolume(b, x, &volume)) return false;
  const int64_t channels = b->T(volume).shape[1];
  const bool transposed = b->Takes("ConvTranspose", 2);
  const int64_t group = b->OneIn(3) ? channels : 1;
  const int64_t maps = group > 1 ? 1 : b->Between(1, 5);
  const Shape kernel = b->Kernel(3);
  Shape ws = transposed ? Shape{channels, maps}
                        : Shape{maps * group, channels / group};
  ws.insert(ws.end(), kernel.begin(), kernel.end());
  auto attributes = b->WindowAttributes(kernel);
  if (group != 1) attributes["group"] = group;
  std::vector<TensorId> in = {volume,
                              b->Constant(b->Values(type, ws, 1, false))};
  if (b->OneIn(2)) {
    in.push_back(
        b->Constant(b->Values(type, {maps * group}, 1, b->specials())));
  }
  return b->Append("", transposed ? "ConvTranspose" : "Conv", in, attributes);
}

bool AddVolumePool(RandomGraphBuilder* b, TensorId x) {
  const DataType type = b->T(x).type;
  TensorId volume = kNoTensor;
  if (!IsReal(type) || !AddVolume(b, x, &volume)) return false;
  const std::string op = b->PickOp({"MaxPool", "AveragePool", "LpPool"});
  const Shape kernel = b->Kernel(3);
  auto attributes = b->WindowAttributes(kernel);
  attributes["kernel_shape"] = kernel;
  if ((op == "AveragePool" && b->opset() < 19) ||
      (op == "LpPool" && b->opset() < 18) ||
      (op == "MaxPool" && b->opset() < 10)) {
    attributes.erase("dilations");
  }
  if (op == "AveragePool" && b->opset() >= 7 && b->OneIn(2)) {
    attributes["count_include_pad"] = int64_t{1};
  }
  return b->Append("", op, {volume}, attributes);
}

bool AddPlaces(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const DataType type = b->T(x).type;
  const bool codes = type == DataType::kInt8 || type == DataType::kUint8;
  if (s.size() < 3 || s.size() > 5 || b->opset() < 12 ||
      (!IsReal(type) && !codes)) {
    return false;
  }
  const Shape kernel = b->Kernel(s.size() - 2);
  auto attributes = b->WindowAttributes(kernel);
  attributes["kernel_shape"] = kernel;
  if (b->OneIn(3)) attributes["storage_order"] = int64_t{1};
  return b->Append("", "MaxPool", {x}, attributes, 2);
}

bool AddFilter(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (!IsReal(b->T(x).type) || s.empty() || b->opset() < 11) return false;
  Shape sizes = s;
  for (int64_t& d : sizes) {
    if (d <= 64 && b->OneIn(2)) d = b->Between(1, d + 5);
  }
  std::map<std::string, Attribute> attributes = {
      {"mode", std::string(b->OneIn(3) ? "linear" : "cubic")},
      {"coordinate_transformation_mode",
       std::string(b->Pick<const char*>({"half_pixel", "pytorch_half_pixel",
                                         "align_corners", "asymmetric"}))}};
  if (b->OneIn(3)) attributes["cubic_coeff_a"] = -0.5f;
  if (b->OneIn(3)) attributes["exclude_outside"] = int64_t{1};
  if (b->opset() >= 18 && b->OneIn(2)) attributes["antialias"] = int64_t{1};
  return b->Append(
      "", "Resize",
      {x, kNoTensor, kNoTensor,
       b->Constant(Int64s({static_cast<int64_t>(sizes.size())}, sizes))},
      attributes);
}

const NodeGeneratorRegistration kVolumeConv("volume_conv",
                                            {"Conv", "ConvTranspose"},
                                            AddVolumeConv);
const NodeGeneratorRegistration kVolumePool(
    "volume_pool", {"MaxPool", "AveragePool", "LpPool"}, AddVolumePool);
const NodeGeneratorRegistration kPlaces("max_pool_places", {"MaxPool"},
                                        AddPlaces);
const NodeGeneratorRegistration kFilter("resize_filter", {"Resize"}, AddFilter);

}  // namespace
}  // namespace heddle::compiler
