// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding of ONNX and of com.microsoft, made of other operators in
// fp32, rounded once at the end. Of a head's first elements, as many as the
// caches have twice, pairs (a, b) become (a cos - b sin, a sin + b cos); pairs
// are neighbours if `interleaved`, else of both halves. The others stay.
//
//   x           [batch, heads, tokens, size], or [batch, tokens, heads * size]
//   cos, sin    [positions, half], of which position_ids choose rows, or
//               [batch, tokens, half]
//   positions   [batch, tokens]; of com.microsoft also [1], the first token's
#include <algorithm>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

struct Rotary {
  size_t cosine, sine, positions;  // inputs
  int64_t batch = 1, tokens = 1, heads = 1, size = 1, half = 1;
  bool heads_first = true;
};

absl::Status Resolve(const Expansion& e, Rotary* r) {
  const Shape& x = e.T(e.In(0)).shape;
  const Shape& cache = e.T(e.In(r->cosine)).shape;
  const Node& node = e.node();
  const auto wrong = [&](const auto&... why) {
    return RejectNode(Rejection::kMismatchingShape, node, why...);
  };
  if (x.size() != 3 && x.size() != 4) {
    return wrong("input of ", ShapeToString(x), " must have rank 3 or 4");
  }
  if (cache != e.T(e.In(r->sine)).shape ||
      cache.size() != (e.HasIn(r->positions) ? 2u : 3u)) {
    return wrong("caches have shapes ", ShapeToString(cache), " and ",
                 ShapeToString(e.T(e.In(r->sine)).shape), ", must be alike of ",
                 e.HasIn(r->positions) ? "rank 2" : "rank 3");
  }
  const int64_t dims = node.IntAttribute("rotary_embedding_dim", 0);
  const int64_t heads = node.IntAttribute("num_heads", 0);
  r->half = cache.back();
  r->heads_first = x.size() == 4;
  r->batch = x[0];
  r->tokens = x[r->heads_first ? 2 : 1];
  if (r->heads_first) {
    r->heads = x[1];
    r->size = x[3];
  } else {
    // Without a number of heads the cache tells how large they are.
    r->size = heads > 0 ? x[2] / heads : 2 * r->half;
    r->heads = r->size > 0 ? x[2] / r->size : 0;
    if (r->heads * r->size != x[2] || heads < 0) {
      return wrong("rows of ", x[2], " elements are not ",
                   heads > 0 ? heads : r->heads, " heads");
    }
  }
  if (dims < 0 || (dims > 0 && dims != 2 * r->half) || 2 * r->half > r->size ||
      (dims == 0 && 2 * r->half != r->size)) {
    return wrong("caches of ", r->half, " columns do not fit ",
                 dims > 0 ? dims : r->size, " elements of a head of ", r->size);
  }
  if (!e.HasIn(r->positions)) {
    if (cache[0] == r->batch && cache[1] == r->tokens) return absl::OkStatus();
    return wrong("caches of ", ShapeToString(cache), " are not for ", r->batch,
                 " times ", r->tokens, " tokens");
  }
  const Shape& ids = e.T(e.In(r->positions)).shape;
  const bool offset = node.domain == "com.microsoft" && ids == Shape{1};
  if (!offset && ids != Shape{r->batch, r->tokens}) {
    return wrong("position_ids of ", ShapeToString(ids), " are not for ",
                 r->batch, " times ", r->tokens, " tokens");
  }
  return absl::OkStatus();
}

// Rows of a cache, broadcasting to the input's heads.
TensorId Rows(Expansion* e, const Rotary& r, TensorId cache, TensorId ids) {
  TensorId rows = e->Wide(cache);
  int64_t batch = r.batch;
  if (ids != kNoTensor) {
    if (e->T(ids).shape.size() == 1) batch = 1;
    rows = e->Add("Gather", {rows, ids}, {{"axis", int64_t{0}}});
  }
  return e->Reshape(rows, r.heads_first ? Shape{batch, 1, r.tokens, r.half}
                                        : Shape{batch, r.tokens, 1, r.half});
}

// The tokens' positions; from the first one's where only that is given.
TensorId Positions(Expansion* e, const Rotary& r) {
  if (!e->HasIn(r.positions)) return kNoTensor;
  const TensorId ids = e->In(r.positions);
  if (e->T(ids).shape.size() == 2) return ids;
  std::vector<int64_t> places(r.tokens);
  for (int64_t i = 0; i < r.tokens; ++i) places[i] = i;
  return e->Add("Add", {ids, e->Ints(places)});
}

absl::Status ExpandRotary(Expansion* e, Rotary r) {
  RETURN_IF_ERROR(Resolve(*e, &r));
  const DataType type = e->T(e->In(0)).type;
  const Shape shape = e->T(e->In(0)).shape;
  const Shape wide =
      r.heads_first ? shape : Shape{r.batch, r.tokens, r.heads, r.size};
  const TensorId x = e->Reshape(e->Wide(e->In(0)), wide);
  const TensorId ids = Positions(e, r);
  const TensorId cosine = Rows(e, r, e->In(r.cosine), ids);
  const TensorId sine = Rows(e, r, e->In(r.sine), ids);
  const auto slice = [&](int64_t from, int64_t to, int64_t step) {
    return e->Add("Slice", {x, e->Ints({from}), e->Ints({to}), e->Ints({3}),
                            e->Ints({step})});
  };
  const bool interleaved = e->node().IntAttribute("interleaved", 0) != 0;
  const TensorId a =
      interleaved ? slice(0, 2 * r.half, 2) : slice(0, r.half, 1);
  const TensorId b =
      interleaved ? slice(1, 2 * r.half, 2) : slice(r.half, 2 * r.half, 1);
  const auto product = [&](TensorId v, TensorId by) {
    return e->Add("Mul", {v, by});
  };
  TensorId first = e->Add("Sub", {product(a, cosine), product(b, sine)});
  TensorId second = e->Add("Add", {product(a, sine), product(b, cosine)});
  std::vector<TensorId> parts = {first, second};
  const std::map<std::string, Attribute> last = {{"axis", int64_t{-1}}};
  if (interleaved) {
    Shape half = wide;
    half.back() = 2 * r.half;
    const Shape pairs = {r.batch * r.tokens * r.heads, r.half, 1};
    parts = {e->Reshape(
        e->Add("Concat", {e->Reshape(first, pairs), e->Reshape(second, pairs)},
               last),
        half)};
  }
  if (2 * r.half < r.size) parts.push_back(slice(2 * r.half, r.size, 1));
  const TensorId y =
      parts.size() == 1 ? parts[0] : e->Add("Concat", parts, last);
  e->Return(0, e->Reshape(y, shape), type);
  return absl::OkStatus();
}

absl::Status Expand23(Expansion* e) { return ExpandRotary(e, {1, 2, 3}); }
absl::Status ExpandMicrosoft(Expansion* e) {
  return ExpandRotary(e, {2, 3, 1});
}

bool IsNotPacked(const Graph&, const Node& node, std::string* detail) {
  const int64_t packed = node.IntAttribute("is_packed_batching", 0);
  *detail = absl::StrCat("is_packed_batching = ", packed);
  return packed == 0;
}
bool IsNotScaled(const Graph&, const Node& node, std::string* detail) {
  const float scale = node.FloatAttribute("scale", 1);
  *detail = absl::StrCat("scale = ", scale);
  return scale == 1;
}

const ExpandedOperator kRotary23(Define("RotaryEmbedding", 23, kMaxOpset)
                                     .Inputs(3, 4, kReals, kReals, kReals,
                                             kInt64s)
                                     .Attr("interleaved", AttributeKind::kInt)
                                     .Attr("num_heads", AttributeKind::kInt)
                                     .Attr("rotary_embedding_dim",
                                           AttributeKind::kInt),
                                 Expand23);
const ExpandedOperator kMicrosoft(
    Define("RotaryEmbedding", 1, 1)
        .Domain("com.microsoft")
        .Inputs(4, 4, kReals, kInt64s, kReals)
        .Attr("interleaved", AttributeKind::kInt)
        .Attr("is_packed_batching", AttributeKind::kInt)
        .Attr("num_heads", AttributeKind::kInt)
        .Attr("rotary_embedding_dim", AttributeKind::kInt)
        .Attr("scale", AttributeKind::kFloat)
        .Rule(Rejection::kUnsupportedAttribute, "is_packed_batching is 0",
              IsNotPacked)
        .Rule(Rejection::kUnsupportedAttribute, "scale is 1", IsNotScaled),
    ExpandMicrosoft);

}  // namespace
}  // namespace heddle::compiler
