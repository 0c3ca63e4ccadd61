// SPDX-License-Identifier: Apache-2.0
// com.microsoft's QAttention, made of MatMulInteger and Attention: queries,
// keys and values are one product of codes, f32(f32(acc) * f32(as * bs[n])) +
// bias[n], and the rest is fp32.
//
//   input         uint8 or int8 [batch, tokens, input size]
//   weight        uint8 or int8 [input size, 3 * size]: q, k, v
//   bias          [3 * size]
//   input_scale   one; weight_scale one, or [3 * size]
//   mask_index    int32, or absent: [batch], the number of keys that count;
//                 [batch, keys] or [batch, tokens, keys], 0 for those that do
//                 not. To these mask_filter_value is added
//   zero points   of input and weight, or absent: 0
//   past          [2, batch, heads, past, size / heads], or absent: keys and
//                 values before the tokens'
//   y             [batch, tokens, size]
//   present       past and the tokens' keys and values, as past
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;

enum Place {
  kInput,
  kWeight,
  kBias,
  kInputScale,
  kWeightScale,
  kMask,
  kInputZero,
  kWeightZero,
  kPast
};

struct Form {
  int64_t batch, tokens, size, heads, past = 0;
  int64_t keys() const { return past + tokens; }
  Shape part() const { return {batch, heads, past, size / heads}; }
};

absl::StatusOr<Form> FormOf(const Expansion& e) {
  const Node& node = e.node();
  const Shape &x = e.T(e.In(kInput)).shape, &w = e.T(e.In(kWeight)).shape;
  const int64_t heads = node.IntAttribute("num_heads", 0);
  if (x.size() != 3 || w.size() != 2 || w[0] != x[2] || w[1] % 3 != 0 ||
      heads < 1 || w[1] / 3 % heads != 0) {
    return RejectNode(Rejection::kMismatchingShape, node, "input ",
                      ShapeToString(x), " and weight ", ShapeToString(w),
                      " do not fit num_heads = ", heads);
  }
  const auto has = [&](size_t i, int64_t count) {
    return !e.HasIn(i) || ElementCount(e.T(e.In(i)).shape) == count;
  };
  const bool each = e.HasIn(kWeightZero) && !has(kWeightZero, 1);
  if (!has(kBias, w[1]) || !has(kInputScale, 1) || !has(kInputZero, 1) ||
      !(has(kWeightScale, 1) || has(kWeightScale, w[1])) ||
      (each && !has(kWeightZero, w[1]))) {
    return RejectNode(Rejection::kMismatchingShape, node, "bias must be of [",
                      w[1],
                      "], scales and zero points of "
                      "one element, those of weights also of [",
                      w[1], "]");
  }
  Form f{x[0], x[1], w[1] / 3, heads};
  if (!e.HasIn(kPast)) return f;
  const Shape& past = e.T(e.In(kPast)).shape;
  if (past.size() == 5) f.past = past[3];
  Shape expected = f.part();
  expected.insert(expected.begin(), 2);
  if (past == expected) return f;
  return RejectNode(Rejection::kMismatchingShape, node, "past of ",
                    ShapeToString(past), " must be of [2,", f.batch, ",",
                    f.heads, ",past,", f.size / f.heads, "]");
}

// fp32 [batch, tokens, 3 * size].
TensorId Projected(Expansion* e, const Form& f) {
  std::vector<TensorId> codes = {e->In(kInput), e->In(kWeight)};
  if (e->HasIn(kInputZero) || e->HasIn(kWeightZero)) {
    codes.push_back(e->HasIn(kInputZero) ? e->In(kInputZero) : kNoTensor);
  }
  if (e->HasIn(kWeightZero)) codes.push_back(e->In(kWeightZero));
  const TensorId sum = e->Cast(e->Add("MatMulInteger", codes), kFloat);
  const TensorId weights = ElementCount(e->T(e->In(kWeightScale)).shape) == 1
                               ? e->Reshape(e->In(kWeightScale), Shape{})
                               : e->Reshape(e->In(kWeightScale), {3 * f.size});
  const TensorId scale =
      e->Add("Mul", {e->Reshape(e->In(kInputScale), Shape{}), weights});
  return e->Add("Add", {e->Add("Mul", {sum, scale}), e->In(kBias)});
}

// What is added to the scores, of a shape that broadcasts to [batch, heads,
// tokens, keys].
absl::StatusOr<TensorId> MaskOf(Expansion* e, const Form& f) {
  const Shape given = e->T(e->In(kMask)).shape;
  TensorId counts = kNoTensor;
  const TensorId mask = e->In(kMask);
  if (given == Shape{f.batch}) {
    TensorData places = TensorData::Zeros(DataType::kInt32, {1, f.keys()});
    for (int64_t i = 0; i < f.keys(); ++i) {
      places.as<int32_t>()[i] = static_cast<int32_t>(i);
    }
    counts = e->Add("Less", {e->Constant(std::move(places)),
                             e->Reshape(mask, {f.batch, 1})});
    counts = e->Reshape(counts, {f.batch, 1, 1, f.keys()});
  } else if (given == Shape{f.batch, f.keys()} ||
             given == Shape{f.batch, f.tokens, f.keys()}) {
    TensorData zero = TensorData::Zeros(DataType::kInt32, {});
    counts = e->Add("Not", {e->Add("Equal", {mask, e->Constant(zero)})});
    counts = e->Reshape(
        counts, {f.batch, 1, given.size() == 2 ? 1 : f.tokens, f.keys()});
  } else {
    return RejectNode(Rejection::kUnsupportedShape, e->node(), "mask_index of ",
                      ShapeToString(given),
                      "; supported are [batch], [batch, keys] and [batch, "
                      "tokens, keys]");
  }
  const float value = e->node().FloatAttribute("mask_filter_value", -10000);
  return e->Add("Where",
                {counts, e->Scalar(kFloat, 0), e->Scalar(kFloat, value)});
}

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  ASSIGN_OR_RETURN(const Form f, FormOf(*e));
  const TensorId all = Projected(e, f);
  std::vector<TensorId> operands;
  for (int64_t i = 0; i < 3; ++i) {
    operands.push_back(
        e->Add("Slice", {all, e->Ints({i * f.size}),
                         e->Ints({(i + 1) * f.size}), e->Ints({2})}));
  }
  if (e->HasIn(kMask)) {
    ASSIGN_OR_RETURN(const TensorId mask, MaskOf(e, f));
    operands.push_back(mask);
  }
  std::map<std::string, Attribute> attributes = {
      {"q_num_heads", f.heads},
      {"kv_num_heads", f.heads},
      {"is_causal", int64_t{node.IntAttribute("unidirectional", 0) != 0}}};
  const float scale = node.FloatAttribute("scale", 0);
  if (scale != 0) attributes["scale"] = scale;
  if (e->HasIn(kPast)) {
    operands.resize(4, kNoTensor);
    for (int64_t i = 0; i < 2; ++i) {
      operands.push_back(e->Reshape(
          e->Add("Slice",
                 {e->In(kPast), e->Ints({i}), e->Ints({i + 1}), e->Ints({0})}),
          f.part()));
    }
  }
  const auto results = e->AddAll(3, "Attention", operands, attributes, 23);
  if (e->HasOut(1)) {
    const Shape whole = {1, f.batch, f.heads, f.keys(), f.size / f.heads};
    e->Return(
        1,
        e->Add("Concat",
               {e->Reshape(results[1], whole), e->Reshape(results[2], whole)},
               {{"axis", int64_t{0}}}),
        kFloat);
  }
  e->Return(0, results[0], kFloat);
  return absl::OkStatus();
}

bool SharesNothing(const Graph&, const Node& node, std::string* detail) {
  *detail = "it is not";
  return node.IntAttribute("past_present_share_buffer", 0) == 0;
}
bool HasNoRotary(const Graph&, const Node& node, std::string* detail) {
  *detail = "it is not";
  return node.IntAttribute("do_rotary", 0) == 0;
}

const ExpandedOperator kQAttention(
    Define("QAttention", 1, 1)
        .Domain("com.microsoft")
        .Inputs(5, 9, kQuantizedValues, kQuantizedValues, kFloats, kFloats,
                kFloats, kInt32s, kQuantizedValues, kQuantizedValues, kFloats)
        .Outputs(2)
        .Attr("do_rotary", AttributeKind::kInt)
        .Attr("mask_filter_value", AttributeKind::kFloat)
        .Attr("num_heads", AttributeKind::kInt, true)
        .Attr("past_present_share_buffer", AttributeKind::kInt)
        .Attr("scale", AttributeKind::kFloat)
        .Attr("unidirectional", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedAttribute,
              "past_present_share_buffer is 0", SharesNothing)
        .Rule(Rejection::kUnsupportedAttribute, "do_rotary is 0", HasNoRotary),
    Expand);

}  // namespace
}  // namespace heddle::compiler
