// SPDX-License-Identifier: Apache-2.0
// com.microsoft's EmbedLayerNormalization, made of Gather and
// LayerNormalization, in fp32, rounded once at the end:
//
//   s            word_embedding[input_ids] + position_embedding[position_ids]
//                + segment_embedding[segment_ids], the last if given; positions
//                are those of the tokens unless given. Also result 2
//   y            LayerNormalization of s with gamma and beta
//   mask_index   result 1: how often the mask is 1; 0 without a mask
//
// Ids are int32 of [batch, tokens], those of positions also of [1, tokens].
// QEmbedLayerNormalization has codes of tables, gamma and beta, a scale and a
// zero point for each, no position_ids and no result 2.
#include <cstdint>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

enum Place {
  kIds,
  kSegmentIds,
  kWords,
  kPositions,
  kSegments,
  kGamma,
  kBeta,
  kMask,
  kPositionIds
};
// Of QEmbedLayerNormalization: of the table at kWords, and so on.
constexpr size_t kScales = 8, kZeroPoints = 13;

bool IsQuantized(const Node& node) {
  return node.op == "QEmbedLayerNormalization";
}

template <typename... Args>
absl::Status Wrong(const Expansion& e, const Args&... why) {
  return RejectNode(Rejection::kMismatchingShape, e.node(), why...);
}

absl::Status CheckShapes(const Expansion& e) {
  const Shape& ids = e.T(e.In(kIds)).shape;
  const Shape& words = e.T(e.In(kWords)).shape;
  if (ids.size() != 2 || words.size() != 2) {
    return Wrong(e, "input_ids and word_embedding of ", ShapeToString(ids),
                 " and ", ShapeToString(words), " must have rank 2");
  }
  if (e.HasIn(kSegmentIds) != e.HasIn(kSegments)) {
    return RejectNode(Rejection::kInvalidModel, e.node(),
                      "has one of segment_ids and segment_embedding, must have "
                      "both or none");
  }
  const bool places_given = !IsQuantized(e.node()) && e.HasIn(kPositionIds);
  for (size_t i : {kSegmentIds, kMask, kPositionIds}) {
    if (!e.HasIn(i) || (i == kPositionIds && !places_given)) continue;
    const Shape& own = e.T(e.In(i)).shape;
    if (own == ids || (i == kPositionIds && own == Shape{1, ids[1]})) continue;
    return Wrong(e, "input ", i, " of ", ShapeToString(own),
                 " does not fit input_ids of ", ShapeToString(ids));
  }
  for (size_t i : {kPositions, kSegments, kGamma, kBeta}) {
    if (!e.HasIn(i)) continue;
    const Shape& own = e.T(e.In(i)).shape;
    if (own.size() == (i < kGamma ? 2u : 1u) && own.back() == words[1]) {
      continue;
    }
    return Wrong(e, "input ", i, " of ", ShapeToString(own),
                 " does not fit word_embedding of ", ShapeToString(words));
  }
  const int64_t places = e.T(e.In(kPositions)).shape[0];
  if (!places_given && places < ids[1]) {
    return Wrong(e, "position_embedding has ", places, " rows for ", ids[1],
                 " tokens");
  }
  return absl::OkStatus();
}

absl::Status CheckParameters(const Expansion& e) {
  for (size_t i = kScales; i < kZeroPoints + 5; ++i) {
    // (Segments may have none.)
    const bool needed =
        (i - kScales) % 5 != kSegments - kWords || e.HasIn(kSegments);
    if (!e.HasIn(i) && needed) {
      return RejectNode(Rejection::kInvalidModel, e.node(), "input ", i,
                        " is missing");
    }
    if (!needed || ElementCount(e.T(e.In(i)).shape) == 1) continue;
    return Wrong(e, "input ", i, " of ", ShapeToString(e.T(e.In(i)).shape),
                 " must have one element");
  }
  return absl::OkStatus();
}

// What is chosen of input i, or all of it, as fp32.
TensorId Real(Expansion* e, size_t i, TensorId chosen) {
  if (!IsQuantized(e->node())) return e->Wide(chosen);
  const TensorId scale = e->In(kScales + i - kWords);
  const TensorId zero = e->In(kZeroPoints + i - kWords);
  const auto number = [&](TensorId x) {
    return e->Cast(e->Reshape(x, Shape{}), DataType::kFloat);
  };
  const TensorId code = e->Cast(chosen, DataType::kFloat);
  return e->Add("Mul", {e->Add("Sub", {code, number(zero)}), number(scale)});
}

TensorId Rows(Expansion* e, size_t table, TensorId ids) {
  return Real(e, table, e->Add("Gather", {e->In(table), ids}));
}

// int32 [batch].
TensorId Counts(Expansion* e, int64_t batch) {
  if (!e->HasIn(kMask)) {
    return e->Constant(TensorData::Zeros(DataType::kInt32, {batch}));
  }
  const TensorId one =
      e->Add("Equal", {e->In(kMask), e->Scalar(DataType::kInt32, 1)});
  return e->Add("ReduceSum", {e->Cast(one, DataType::kInt32), e->Ints({1})},
                {{"keepdims", int64_t{0}}});
}

absl::Status Expand(Expansion* e) {
  RETURN_IF_ERROR(CheckShapes(*e));
  const bool quantized = IsQuantized(e->node());
  if (quantized) RETURN_IF_ERROR(CheckParameters(*e));
  const Shape ids = e->T(e->In(kIds)).shape;
  const DataType type = quantized ? DataType::kFloat : e->T(e->In(kWords)).type;
  const TensorId places =
      !quantized && e->HasIn(kPositionIds)
          ? Rows(e, kPositions, e->In(kPositionIds))
          : Real(e, kPositions,
                 e->Add("Slice", {e->In(kPositions), e->Ints({0}),
                                  e->Ints({ids[1]}), e->Ints({0})}));
  TensorId sum = e->Add("Add", {Rows(e, kWords, e->In(kIds)), places});
  if (e->HasIn(kSegments)) {
    sum = e->Add("Add", {sum, Rows(e, kSegments, e->In(kSegmentIds))});
  }
  const TensorId y = e->Add(
      "LayerNormalization",
      {sum, Real(e, kGamma, e->In(kGamma)), Real(e, kBeta, e->In(kBeta))},
      {{"epsilon", e->node().FloatAttribute("epsilon", 1e-12f)}}, 17);
  e->Return(0, y, type);
  if (e->HasOut(1)) e->Return(1, Counts(e, ids[0]), DataType::kInt32);
  e->Return(2, sum, type);
  return absl::OkStatus();
}

const ExpandedOperator kEmbedLayerNormalization(
    Define("EmbedLayerNormalization", 1, 1)
        .Domain("com.microsoft")
        .Inputs(7, 9, kInt32s, kInt32s, kReals, kReals, kReals, kReals, kReals,
                kInt32s, kInt32s)
        .Optional(kSegmentIds, kSegments)
        .Outputs(3)
        .Attr("epsilon", AttributeKind::kFloat)
        .Attr("mask_index_type", AttributeKind::kInt),
    Expand);
const ExpandedOperator kQEmbedLayerNormalization(
    Define("QEmbedLayerNormalization", 1, 1)
        .Domain("com.microsoft")
        .Inputs(18, 18, kInt32s, kInt32s, kQuantizedValues, kQuantizedValues,
                kQuantizedValues, kQuantizedValues, kQuantizedValues, kInt32s,
                kFloats, kFloats, kFloats, kFloats, kFloats, kQuantizedValues)
        .Optional(kSegmentIds, kSegments, kMask, kScales + 2, kZeroPoints + 2)
        .Outputs(2)
        .Attr("epsilon", AttributeKind::kFloat),
    Expand);

}  // namespace
}  // namespace heddle::compiler
