// SPDX-License-Identifier: Apache-2.0
// Cases of the operators that random graphs do not have or hardly ever draw.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"
#include "tests/opsets/cases.h"
#include "tests/opsets/random.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Int64s;
using compiler::ModelBuilder;
using compiler::SetFloat;
using compiler::SetInt;
using compiler::SetInts;
using compiler::SetString;
using compiler::Shape;
using compiler::TensorData;
using Ints = std::vector<int64_t>;

// A case under construction: inputs in order, then the node.
class Builder {
 public:
  Builder(std::string op, int opset)
      : opset(opset), op_(std::move(op)), model_(opset) {}

  void Input(const TensorData& data) {
    const std::string name = "x" + std::to_string(names_.size());
    model_.Input(name, data.type, data.shape);
    names_.push_back(name);
    result_.inputs.push_back(name);
    result_.values.push_back(data);
  }
  void Constant(const TensorData& data) {
    const std::string name = "c" + std::to_string(names_.size());
    model_.Constant(name, data);
    names_.push_back(name);
  }
  void Leave() { names_.push_back(""); }  // an optional one
  void List(const Ints& values) {
    Constant(Int64s({static_cast<int64_t>(values.size())}, values));
  }
  onnx::NodeProto* Node() { return model_.Node(op_, names_, {"y"}); }
  OpsetCase Finish() {
    model_.Output("y");
    result_.model = model_.Bytes();
    result_.outputs = {"y"};
    return result_;
  }

  const int opset;

 private:
  const std::string op_;
  ModelBuilder model_;
  std::vector<std::string> names_;
  OpsetCase result_;
};

TensorData Reals(Random* r, const Shape& shape) {
  return r->Values(DataType::kFloat, shape);
}

void AffineGrid(Random* r, Builder* b) {
  const int64_t rank = r->Between(2, 3), images = r->Between(1, 3);
  // (Where the one place of an axis is, if corners are aligned, ONNX leaves
  // open.)
  Ints size = {images, r->Between(1, 3)};
  for (int64_t i = 0; i < rank; ++i) size.push_back(r->Between(2, 5));
  b->Input(Reals(r, {images, rank, rank + 1}));
  b->List(size);
  SetInt(b->Node(), "align_corners", r->Below(2));
}

void CenterCropPad(Random* r, Builder* b) {
  const TensorData x =
      r->Values(r->Pick({DataType::kFloat, DataType::kInt32, DataType::kInt64,
                         DataType::kUint8, DataType::kBool}),
                [&] {
                  Shape shape = r->AnyShape(1);
                  return shape;
                }());
  Ints axes, sizes;
  const auto rank = static_cast<int64_t>(x.shape.size());
  for (int64_t i = 0; i < rank; ++i) {
    if (r->OneIn(3)) continue;
    axes.push_back(r->OneIn(2) ? i - rank : i);
    sizes.push_back(r->Between(1, 9));
  }
  const bool all = axes.empty();
  for (int64_t i = 0; all && i < rank; ++i) sizes.push_back(r->Between(1, 9));
  b->Input(x);
  b->List(sizes);
  auto* node = b->Node();
  if (!all) SetInts(node, "axes", axes);
}

void Col2Im(Random* r, Builder* b) {
  const int64_t rank = r->Between(1, 2);
  Ints image, block, strides, dilations, pads(static_cast<size_t>(2 * rank));
  int64_t elements = 1, count = 1;
  for (int64_t i = 0; i < rank; ++i) {
    block.push_back(r->Between(1, 3));
    // (The runtime mixes up the channels of dilated rows.)
    dilations.push_back(rank == 1 ? 1 : r->Between(1, 2));
    strides.push_back(r->Between(1, 3));
    pads[static_cast<size_t>(i)] = r->Below(3);
    pads[static_cast<size_t>(i + rank)] = r->Below(3);
    const int64_t both =
        pads[static_cast<size_t>(i)] + pads[static_cast<size_t>(i + rank)];
    const int64_t reach = (block.back() - 1) * dilations.back() + 1;
    const int64_t least = std::max<int64_t>(1, reach - both);
    image.push_back(r->Between(least, least + 5));
    count *= (image.back() + both - reach) / strides.back() + 1;
    elements *= block.back();
  }
  b->Input(Reals(r, {r->Between(1, 2), r->Between(1, 3) * elements, count}));
  b->List(image);
  b->List(block);
  auto* node = b->Node();
  SetInts(node, "strides", strides);
  SetInts(node, "dilations", dilations);
  SetInts(node, "pads", pads);
}

void DeformConv(Random* r, Builder* b) {
  const int64_t group = r->Between(1, 2), offsets = r->Between(1, 2);
  const Shape x = {r->Between(1, 2), group * offsets * r->Between(1, 2),
                   r->Between(3, 6), r->Between(3, 6)};
  const Shape w = {group * r->Between(1, 3), x[1] / group, r->Between(1, 3),
                   r->Between(1, 3)};
  const Ints strides = {r->Between(1, 2), r->Between(1, 2)};
  const Ints pads = {r->Between(0, 2), r->Between(0, 2), r->Between(0, 2),
                     r->Between(0, 2)};
  Shape out = {x[0], offsets * w[2] * w[3]};
  for (size_t i : {0, 1}) {
    out.push_back((x[i + 2] + pads[i] + pads[i + 2] - w[i + 2]) / strides[i] +
                  1);
  }
  Shape offset = out;
  offset[1] *= 2;
  b->Input(Reals(r, x));
  b->Constant(Reals(r, w));
  TensorData places = Reals(r, offset);
  for (int64_t i = 0; i < places.count(); ++i) places.as<float>()[i] /= 4;
  b->Input(places);
  const bool mask = r->OneIn(2);
  if (mask || r->OneIn(2)) b->Constant(Reals(r, {w[0]}));
  if (mask) b->Constant(Reals(r, out));
  auto* node = b->Node();
  SetInt(node, "group", group);
  SetInt(node, "offset_group", offsets);
  SetInts(node, "strides", strides);
  SetInts(node, "pads", pads);
}

void EyeLike(Random* r, Builder* b) {
  const DataType type = r->Pick({DataType::kFloat, DataType::kInt32});
  b->Input(r->Values(type, {r->Between(1, 6), r->Between(1, 6)}));
  auto* node = b->Node();
  if (r->OneIn(2)) SetInt(node, "k", r->Between(-6, 6));
  if (r->OneIn(2)) SetInt(node, "dtype", r->Pick({1, 6, 7, 11}));
}

void GlobalLpPool(Random* r, Builder* b) {
  Shape shape = r->AnyShape(3);
  b->Input(Reals(r, shape));
  auto* node = b->Node();
  if (r->OneIn(2)) SetInt(node, "p", r->Between(1, 3));
}

void MaxRoiPool(Random* r, Builder* b) {
  const Shape x = {r->Between(1, 3), r->Between(1, 3), r->Between(2, 8),
                   r->Between(2, 8)};
  const int64_t regions = r->Between(1, 4);
  TensorData rois = TensorData::Zeros(DataType::kFloat, {regions, 5});
  for (int64_t i = 0; i < regions; ++i) {
    float* box = rois.as<float>() + 5 * i;
    box[0] = static_cast<float>(r->Below(x[0]));
    for (int64_t side : {1, 2}) {
      box[side] = static_cast<float>(r->Between(-4, 18)) / 2;
      box[side + 2] = box[side] + static_cast<float>(r->Below(16)) / 2;
    }
  }
  b->Input(Reals(r, x));
  b->Input(rois);
  auto* node = b->Node();
  SetInts(node, "pooled_shape", {r->Between(1, 4), r->Between(1, 4)});
  SetFloat(node, "spatial_scale", r->OneIn(2) ? 1 : 0.5f);
}

void Likelihood(Random* r, Builder* b) {
  Shape shape = r->AnyShape(2), targets = shape;
  targets.erase(targets.begin() + 1);
  const int64_t classes = shape[1];
  TensorData target = TensorData::Zeros(DataType::kInt64, targets);
  for (int64_t i = 0; i < target.count(); ++i) {
    target.as<int64_t>()[i] = r->Below(classes);
  }
  // Some target counts, or the mean is 0 by 0.
  const bool ignores = classes > 1 && r->OneIn(2);
  if (ignores) target.as<int64_t>()[0] = 1;
  b->Input(Reals(r, shape));
  b->Input(target);
  if (r->OneIn(2)) {
    TensorData weights = Reals(r, {classes});
    for (int64_t i = 0; i < classes; ++i) weights.as<float>()[i] += 9;
    b->Constant(weights);
  }
  auto* node = b->Node();
  SetString(node, "reduction", r->Pick({"mean", "sum", "none"}));
  if (ignores) SetInt(node, "ignore_index", 0);
}

void RoiAlign(Random* r, Builder* b) {
  const Shape x = {r->Between(1, 3), r->Between(1, 3), r->Between(2, 8),
                   r->Between(2, 8)};
  const int64_t regions = r->Between(1, 4);
  TensorData rois = TensorData::Zeros(DataType::kFloat, {regions, 4});
  TensorData images = TensorData::Zeros(DataType::kInt64, {regions});
  for (int64_t i = 0; i < regions; ++i) {
    float* box = rois.as<float>() + 4 * i;
    for (int64_t side : {0, 1}) {
      box[side] = static_cast<float>(r->Between(-2, 12)) / 2;
      box[side + 2] = box[side] + static_cast<float>(r->Between(1, 12)) / 2;
    }
    images.as<int64_t>()[i] = r->Below(x[0]);
  }
  b->Input(Reals(r, x));
  b->Input(rois);
  b->Input(images);
  auto* node = b->Node();
  SetString(node, "mode", r->Pick({"avg", "max"}));
  SetInt(node, "output_height", r->Between(1, 4));
  SetInt(node, "output_width", r->Between(1, 4));
  SetInt(node, "sampling_ratio", r->Between(0, 3));
  SetFloat(node, "spatial_scale", r->OneIn(2) ? 1 : 0.5f);
  SetString(node, "coordinate_transformation_mode",
            r->Pick({"half_pixel", "output_half_pixel"}));
}

// With a length of the keys for each batch, as caches of fixed size have.
void Attention(Random* r, Builder* b) {
  const int64_t batch = r->Between(1, 3), size = r->Between(1, 4),
                kv_heads = r->Between(1, 2),
                heads = kv_heads * r->Between(1, 2), queries = r->Between(1, 3),
                keys = r->Between(3, 7);
  const bool by_heads = r->OneIn(2);
  const auto operand = [&](int64_t count, int64_t tokens) {
    return Reals(r, by_heads ? Shape{batch, count, tokens, size}
                             : Shape{batch, tokens, count * size});
  };
  b->Input(operand(heads, queries));
  b->Input(operand(kv_heads, keys));
  b->Input(operand(kv_heads, keys));
  if (r->OneIn(2)) {
    b->Input(Reals(r, {queries, keys}));
  } else {
    b->Leave();
  }
  b->Leave();
  b->Leave();
  TensorData lengths = TensorData::Zeros(DataType::kInt64, {batch});
  for (int64_t i = 0; i < batch; ++i) {
    lengths.as<int64_t>()[i] = r->Between(queries, keys);
  }
  b->Input(lengths);
  auto* node = b->Node();
  if (r->OneIn(2)) SetInt(node, "is_causal", 1);
  if (by_heads) return;
  SetInt(node, "q_num_heads", heads);
  SetInt(node, "kv_num_heads", kv_heads);
}

// Integers of floats: the other way round there are NaNs.
void BitCast(Random* r, Builder* b) {
  const bool wide = r->OneIn(2);
  const DataType from =
      wide ? r->Pick({DataType::kDouble, DataType::kInt64, DataType::kUint64})
           : r->Pick({DataType::kFloat, DataType::kInt32, DataType::kUint32});
  const DataType to = wide ? r->Pick({DataType::kInt64, DataType::kUint64})
                           : r->Pick({DataType::kInt32, DataType::kUint32});
  b->Input(r->Values(from, r->AnyShape(1)));
  SetInt(b->Node(), "to", static_cast<int64_t>(to));
}

void CumProd(Random* r, Builder* b) {
  const Shape shape = r->AnyShape(1);
  b->Input(r->Values(r->Pick({DataType::kFloat, DataType::kInt32,
                              DataType::kInt64, DataType::kDouble}),
                     shape));
  const auto rank = static_cast<int64_t>(shape.size());
  b->Constant(Int64s({}, {r->Between(-rank, rank - 1)}));
  auto* node = b->Node();
  SetInt(node, "exclusive", r->Below(2));
  SetInt(node, "reverse", r->Below(2));
}

void Swish(Random* r, Builder* b) {
  b->Input(Reals(r, r->AnyShape(1)));
  auto* node = b->Node();
  if (r->OneIn(2)) SetFloat(node, "alpha", 0.75f);
}

void TensorScatter(Random* r, Builder* b) {
  Shape cache = {r->Between(1, 3), r->Between(1, 2), r->Between(2, 6),
                 r->Between(1, 3)};
  const int64_t axis = r->Between(1, 3);
  Shape update = cache;
  update[axis] = r->Between(1, cache[axis]);
  const DataType type =
      r->Pick({DataType::kFloat, DataType::kInt32, DataType::kUint8});
  b->Input(r->Values(type, cache));
  b->Input(r->Values(type, update));
  const bool circular = r->OneIn(2);
  if (circular || r->OneIn(2)) {
    TensorData first = TensorData::Zeros(DataType::kInt64, {cache[0]});
    for (int64_t i = 0; i < cache[0]; ++i) {
      first.as<int64_t>()[i] = r->Between(
          0, circular ? cache[axis] - 1 : cache[axis] - update[axis]);
    }
    b->Input(first);
  }
  auto* node = b->Node();
  if (circular) SetString(node, "mode", "circular");
  SetInt(node, "axis", r->OneIn(2) ? axis : axis - 4);
}

}  // namespace

OpsetCase RareCase(const std::string& op, int opset, uint64_t seed) {
  static const auto* generators =
      new std::map<std::string, void (*)(Random*, Builder*)>{
          {"AffineGrid", AffineGrid},
          {"BitCast", BitCast},
          {"CenterCropPad", CenterCropPad},
          {"CumProd", CumProd},
          {"Swish", Swish},
          {"TensorScatter", TensorScatter},
          {"Col2Im", Col2Im},
          {"DeformConv", DeformConv},
          {"EyeLike", EyeLike},
          {"GlobalLpPool", GlobalLpPool},
          {"MaxRoiPool", MaxRoiPool},
          {"NegativeLogLikelihoodLoss", Likelihood},
          {"RoiAlign", RoiAlign}};
  const auto generator = generators->find(op);
  const bool cached = op == "Attention" && opset >= 24 && seed % 2 == 0;
  if (generator == generators->end() && !cached) return {};
  Random random(seed);
  Builder builder(op, opset);
  (cached ? Attention : generator->second)(&random, &builder);
  return builder.Finish();
}

}  // namespace heddle::tests
