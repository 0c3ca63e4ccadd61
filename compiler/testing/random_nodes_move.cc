// SPDX-License-Identifier: Apache-2.0
// Generators of nodes that move or convert elements: Concat, Split, Slice, Pad,
// Tile, Expand, Gather, DepthToSpace, SpaceToDepth, Resize, Upsample, Cast,
// Dropout.
#include <algorithm>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

TensorId Integers(RandomGraphBuilder* b, const std::vector<int64_t>& values) {
  return b->Constant(Int64s({static_cast<int64_t>(values.size())}, values));
}

bool AddConcat(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (t.shape.empty()) return false;
  const auto rank = static_cast<int64_t>(t.shape.size());
  const int64_t axis = b->OneIn(2) && rank > 1 ? 1 : b->Below(rank);
  std::vector<TensorId> inputs = {x};
  // Tensors that fit, computed before; or the same again, or a constant.
  for (TensorId id : b->computed()) {
    const Tensor& other = b->T(id);
    if (other.type != t.type || other.shape.size() != t.shape.size()) continue;
    Shape same = other.shape;
    same[axis] = t.shape[axis];
    if (same == t.shape && inputs.size() < 4 && b->OneIn(2)) {
      inputs.push_back(id);
    }
  }
  if (inputs.size() < 2 || b->OneIn(4)) {
    Shape shape = t.shape;
    shape[axis] = b->Between(1, 5);
    inputs.push_back(b->Constant(b->Values(t.type, shape, 3, b->specials())));
  }
  std::shuffle(inputs.begin(), inputs.end(), b->random());
  return b->Append("", "Concat", inputs,
                   {{"axis", b->OneIn(2) ? axis : axis - rank}});
}

bool AddSplit(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.empty()) return false;
  const auto rank = static_cast<int64_t>(s.size());
  const int64_t axis = b->OneIn(2) && rank > 1 ? 1 : b->Below(rank);
  const int parts = b->Between(2, 3);
  if (s[axis] < parts) return false;
  if (b->opset() >= 18 && b->OneIn(2)) {
    return b->Append("", "Split", {x},
                     {{"axis", axis}, {"num_outputs", int64_t{parts}}}, parts);
  }
  if (b->opset() < 18 && s[axis] % parts == 0 && b->OneIn(2)) {
    return b->Append("", "Split", {x}, {{"axis", axis}}, parts);
  }
  std::vector<int64_t> sizes;
  int64_t left = s[axis];
  for (int i = 1; i < parts; ++i) {
    sizes.push_back(b->Between(1, left - (parts - i)));
    left -= sizes.back();
  }
  sizes.push_back(left);
  return b->AppendWithLists(13, "Split", x, {{"split", sizes}},
                            {{"axis", axis}}, parts);
}

bool AddSlice(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.empty()) return false;
  std::vector<int64_t> starts, ends, axes, steps;
  for (size_t i = 0; i < s.size(); ++i) {
    if (b->OneIn(2)) continue;
    const int64_t a = b->Below(s[i]), z = b->Below(s[i]);
    // No steps before opset 10.
    const bool back = b->opset() >= 10 && b->OneIn(3);
    axes.push_back(static_cast<int64_t>(i));
    starts.push_back(back ? std::max(a, z) : std::min(a, z));
    ends.push_back(back ? std::min(a, z) - 1 - s[i] : std::max(a, z) + 1);
    steps.push_back(b->Between(1, 3) * (back ? -1 : 1));
  }
  if (axes.empty()) return false;
  if (b->opset() < 10) {
    return b->Append("", "Slice", {x},
                     {{"starts", starts}, {"ends", ends}, {"axes", axes}});
  }
  return b->Append("", "Slice",
                   {x, Integers(b, starts), Integers(b, ends),
                    Integers(b, axes), Integers(b, steps)});
}

bool AddPad(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  if (t.shape.empty()) return false;
  // Some axes only, in any order.
  std::vector<int64_t> axes;
  const auto rank = static_cast<int64_t>(t.shape.size());
  const bool some = b->opset() >= 18 && b->OneIn(2);
  for (int64_t i = 0; i < rank; ++i) {
    if (!some || b->OneIn(2)) axes.push_back(b->OneIn(3) ? i - rank : i);
  }
  if (axes.empty()) return false;
  if (some) std::shuffle(axes.begin(), axes.end(), b->random());
  const char* mode = b->Pick({"constant", "reflect", "edge"});
  if (b->opset() >= 19 && b->OneIn(4)) mode = "wrap";
  std::vector<int64_t> pads;
  for (size_t i = 0; i < 2 * axes.size(); ++i) {
    pads.push_back(b->OneIn(2) ? 0 : b->Between(*mode == 'w' ? 0 : -1, 3));
  }
  if (b->opset() < 11) {
    return b->Append(
        "", "Pad", {x},
        {{"pads", pads}, {"mode", std::string(mode)}, {"value", b->Real()}});
  }
  std::vector<TensorId> inputs = {x, Integers(b, pads)};
  if (*mode == 'c' && b->OneIn(2)) {
    inputs.push_back(b->Constant(b->Values(t.type, {}, 3, b->specials())));
  }
  if (some) {
    inputs.resize(3, kNoTensor);
    inputs.push_back(Integers(b, axes));
  }
  return b->Append("", "Pad", inputs, {{"mode", std::string(mode)}});
}

bool AddTile(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.empty()) return false;
  std::vector<int64_t> repeats;
  for (size_t i = 0; i < s.size(); ++i) {
    repeats.push_back(b->OneIn(2) ? 1 : b->Between(1, 3));
  }
  return b->Append("", "Tile", {x, Integers(b, repeats)});
}

bool AddExpand(RandomGraphBuilder* b, TensorId x) {
  Shape s = b->T(x).shape;
  for (int64_t& n : s) {
    if (n == 1) n = b->Between(1, 6);
  }
  if (b->OneIn(3)) s.insert(s.begin(), b->Between(1, 3));
  if (s.empty()) return false;
  return b->Append("", "Expand", {x, Integers(b, s)});
}

bool AddGather(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.empty()) return false;
  const int64_t axis = b->Below(static_cast<int64_t>(s.size()));
  std::vector<int64_t> indices;
  for (int64_t i = b->Between(1, 90); i > 0; --i) {
    indices.push_back(b->Between(-s[axis], s[axis] - 1));
  }
  return b->Append("", "Gather", {x, Integers(b, indices)}, {{"axis", axis}});
}

bool AddSpace(RandomGraphBuilder* b, TensorId x) {
  const int64_t block = b->Between(2, 3);
  if (b->Takes("SpaceToDepth", 2)) {
    return b->Append("", "SpaceToDepth", {x}, {{"blocksize", block}});
  }
  std::map<std::string, Attribute> attributes = {{"blocksize", block}};
  if (b->opset() >= 11) {
    attributes["mode"] = std::string(b->Pick({"DCR", "CRD"}));
  }
  return b->Append("", "DepthToSpace", {x}, attributes);
}

// Upsample, and Resize as it was in opset 10.
bool AddUpsample(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.empty()) return false;
  std::vector<float> scales(s.size(), 1);
  const std::string op = b->PickOp({"Resize", "Upsample"});
  for (size_t i = s.size() > 2 ? 2 : 0; i < s.size(); ++i) {
    scales[i] = op == "Resize" && s[i] > 2 && b->OneIn(3)
                    ? b->Pick<float>({0.4f, 0.6f, 0.75f})
                    : b->Pick<float>({1, 1.5f, 2, 2, 3});
  }
  const bool linear = b->T(x).type == DataType::kFloat && b->OneIn(2);
  return b->Append(
      "", op,
      {x, b->Constant(Floats({static_cast<int64_t>(s.size())}, scales))},
      {{"mode", std::string(linear ? "linear" : "nearest")}});
}

bool AddDropout(RandomGraphBuilder* b, TensorId x) {
  const int outputs = b->OneIn(3) ? 2 : 1;
  if (b->opset() < 12) {
    return b->Append("", "Dropout", {x}, {{"ratio", 0.25f}}, outputs);
  }
  std::vector<TensorId> in = {x};
  if (b->OneIn(2)) in.push_back(b->Constant(Floats({}, {0.25f})));
  return b->Append("", "Dropout", in, {}, outputs);
}

bool AddResize(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.empty()) return false;
  std::vector<int64_t> sizes, axes;
  const bool some = b->opset() >= 18 && b->OneIn(2);
  for (size_t i = 0; i < s.size(); ++i) {
    const bool space = s.size() <= 2 || i >= 2;
    if (some && (!space || b->OneIn(3))) continue;
    axes.push_back(static_cast<int64_t>(i));
    sizes.push_back(!space        ? s[i]
                    : b->OneIn(2) ? s[i] * 2
                                  : b->Between(1, 3 * s[i]));
  }
  if (axes.empty()) return false;
  std::map<std::string, Attribute> attributes;
  if (some) {
    attributes["axes"] = axes;
    if (b->OneIn(2)) {
      attributes["keep_aspect_ratio_policy"] =
          std::string(b->Pick({"stretch", "not_larger", "not_smaller"}));
    }
  }
  const bool linear = b->T(x).type == DataType::kFloat && b->OneIn(2);
  const char* coordinates = b->Pick(
      {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"});
  if (b->opset() >= 19 && b->OneIn(5)) coordinates = "half_pixel_symmetric";
  attributes["mode"] = std::string(linear ? "linear" : "nearest");
  attributes["coordinate_transformation_mode"] = std::string(coordinates);
  attributes["nearest_mode"] = std::string(
      b->Pick({"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}));
  return b->Append("", "Resize", {x, kNoTensor, kNoTensor, Integers(b, sizes)},
                   attributes);
}

bool AddCast(RandomGraphBuilder* b, TensorId x) {
  const DataType to = b->Pick(
      {DataType::kFloat, DataType::kFloat16, DataType::kUint8, DataType::kInt8,
       DataType::kInt16, DataType::kInt32, DataType::kBool, DataType::kInt64,
       DataType::kUint16, DataType::kUint32});
  if (to == b->T(x).type) return false;
  const DataType from = b->T(x).type;
  // The card holds int64 as int32, which these need not fit.
  if (to == DataType::kInt64 && !b->any_int64() &&
      (from == DataType::kFloat || from == DataType::kFloat16 ||
       from == DataType::kUint32)) {
    return false;
  }
  return b->Append("", "Cast", {x}, {{"to", static_cast<int64_t>(to)}});
}

const NodeGeneratorRegistration kConcat("concat", {"Concat"}, AddConcat);
const NodeGeneratorRegistration kSplit("split", {"Split"}, AddSplit);
const NodeGeneratorRegistration kSlice("slice", {"Slice"}, AddSlice);
const NodeGeneratorRegistration kPad("pad", {"Pad"}, AddPad);
const NodeGeneratorRegistration kTile("tile", {"Tile"}, AddTile);
const NodeGeneratorRegistration kExpand("expand", {"Expand"}, AddExpand);
const NodeGeneratorRegistration kGather("gather", {"Gather"}, AddGather);
const NodeGeneratorRegistration kSpace("space",
                                       {"SpaceToDepth", "DepthToSpace"},
                                       AddSpace);
const NodeGeneratorRegistration kResize("resize", {"Resize"}, AddResize);
const NodeGeneratorRegistration kCast("cast", {"Cast"}, AddCast);
const NodeGeneratorRegistration kUpsample("upsample", {"Upsample", "Resize"},
                                          AddUpsample);
const NodeGeneratorRegistration kDropout("dropout", {"Dropout"}, AddDropout);

}  // namespace
}  // namespace heddle::compiler
