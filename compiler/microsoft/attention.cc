// SPDX-License-Identifier: Apache-2.0
// com.microsoft's Attention and MultiHeadAttention, made of MatMul and
// Attention of opset 23, in fp32, rounded once at the end. A key that does not
// count gets a low score, it is not left out.
//
// Attention (self), whose queries, keys and values are one product:
//
//   input           [batch, tokens, input size]
//   weights, bias   [input size, sizes], [sizes]: of q, k, v, of one size each
//                   or of qkv_hidden_sizes; no bias: 0
//   past, present   [2, batch, heads, tokens, size of a head]
//
// MultiHeadAttention (cross):
//
//   query, key, value   [batch, tokens, heads * size] each; or keys and values
//                       of [batch, heads, tokens, size]; or key [batch, tokens,
//                       heads, 2, size], of keys and values; or query [batch,
//                       tokens, heads, 3, size], of all
//   bias                of queries, keys and values, one after the other
//   past, present       [batch, heads, tokens, size]
//   qk                  result 3: what softmax is taken of
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

constexpr DataType kFloat = DataType::kFloat;

struct AttentionForm {
  // The attributes unidirectional, mask_filter_value and scale of the node.
  explicit AttentionForm(const Node& node)
      : causal(node.IntAttribute("unidirectional", 0) != 0),
        masked(node.FloatAttribute("mask_filter_value", -10000)),
        scale(node.FloatAttribute("scale", 0)) {}

  int64_t batch = 0, heads = 0, queries = 0;
  int64_t keys = 0, past = 0;  // `keys`: those that are no past ones
  bool causal = false;
  float masked = -10000, scale = 0;

  int64_t all() const { return past + keys; }
};

// Bool, broadcasting to [batch, 1, queries, all]: the keys that count.
absl::StatusOr<TensorId> KeysThatCount(Expansion* e, const AttentionForm& f,
                                       TensorId mask) {
  const Shape given = e->T(mask).shape;
  const bool ends = given == Shape{f.batch};
  const bool limits = given.size() == 1 && given[0] == 2 * f.batch;
  if (ends || limits) {
    RETURN_IF_ERROR(CheckTable(e->node(), 1, f.all()));
    TensorData places = TensorData::Zeros(DataType::kInt32, {1, f.all()});
    for (int64_t i = 0; i < f.all(); ++i) {
      places.as<int32_t>()[i] = static_cast<int32_t>(i);
    }
    const TensorId key = e->Constant(std::move(places));
    const auto limit = [&](int64_t first) {
      const TensorId part =
          ends ? mask
               : e->Add("Slice", {mask, e->Ints({first}),
                                  e->Ints({first + f.batch}), e->Ints({0})});
      return e->Reshape(part, {f.batch, 1});
    };
    TensorId counts = e->Add("Less", {key, limit(0)});
    if (!ends) {
      const TensorId before = e->Add("Less", {key, limit(f.batch)});
      counts = e->Add("And", {counts, e->Add("Not", {before})});
    }
    return e->Reshape(counts, {f.batch, 1, 1, f.all()});
  }
  const bool each = given == Shape{f.batch, f.queries, f.all()};
  if (!each && given != Shape{f.batch, f.all()}) {
    return RejectNode(
        Rejection::kUnsupportedShape, e->node(), "a mask of ",
        ShapeToString(given), " for ", f.batch, " batches, ", f.queries,
        " queries and ", f.all(),
        " keys; supported are [batch], [2 * batch], [batch, keys] and [batch, "
        "queries, keys]");
  }
  const TensorId counts =
      e->Add("Greater", {mask, e->Scalar(DataType::kInt32, 0)});
  return e->Reshape(counts, {f.batch, 1, each ? f.queries : 1, f.all()});
}

// Bool [queries, all]: keys up to the query's place.
absl::StatusOr<TensorId> KeysBefore(Expansion* e, const AttentionForm& f) {
  if (f.keys != f.queries) {
    return RejectNode(Rejection::kUnsupportedAttribute, e->node(),
                      "unidirectional = 1 needs as many keys as queries; ",
                      f.keys, " and ", f.queries, " are given");
  }
  RETURN_IF_ERROR(CheckTable(e->node(), f.queries, f.all()));
  TensorData seen = TensorData::Zeros(DataType::kBool, {f.queries, f.all()});
  for (int64_t i = 0; i < f.queries; ++i) {
    Pace(f.all());
    for (int64_t j = 0; j <= f.past + i; ++j) seen.bytes[i * f.all() + j] = 1;
  }
  return e->Constant(std::move(seen));
}

// What is added to the scores, broadcasting to [batch, heads, queries, all];
// kNoTensor: nothing. `mask` is int32, or absent:
//
//   [batch]                  the number of keys that count
//   [2 * batch]              the ends, then the beginnings of those that do
//   [batch, all],
//   [batch, queries, all]    not above 0 for a key that does not
//
// and `bias`, or kNoTensor, is of [batch or 1, heads or 1, queries, all].
absl::StatusOr<TensorId> ScoreMask(Expansion* e, const AttentionForm& f,
                                   TensorId mask, TensorId bias) {
  TensorId added = kNoTensor;
  if (mask != kNoTensor) {
    ASSIGN_OR_RETURN(const TensorId counts, KeysThatCount(e, f, mask));
    added = e->Add("Where",
                   {counts, e->Scalar(kFloat, 0), e->Scalar(kFloat, f.masked)});
  }
  if (f.causal) {
    ASSIGN_OR_RETURN(const TensorId seen, KeysBefore(e, f));
    added = e->Add("Where",
                   {seen, added == kNoTensor ? e->Scalar(kFloat, 0) : added,
                    e->Scalar(kFloat, std::numeric_limits<float>::lowest())});
  }
  if (bias == kNoTensor) return added;
  const Shape& given = e->T(bias).shape;
  if (given.size() != 4 || (given[0] != 1 && given[0] != f.batch) ||
      (given[1] != 1 && given[1] != f.heads) || given[2] != f.queries ||
      given[3] != f.all()) {
    return RejectNode(Rejection::kMismatchingShape, e->node(),
                      "attention_bias of ", ShapeToString(given),
                      " must be of ",
                      ShapeToString({f.batch, f.heads, f.queries, f.all()}),
                      ", where the first two may be 1");
  }
  const TensorId wide = e->Wide(bias);
  return added == kNoTensor ? wide : e->Add("Add", {wide, added});
}

// The first `results` of y, past and given k, v one after the other, scores.
// k and v with a past are of [batch, heads, past, size].
std::vector<TensorId> Attend(Expansion* e, const AttentionForm& f,
                             const std::array<TensorId, 3>& qkv,
                             TensorId score_mask,
                             const std::array<TensorId, 2>& past,
                             size_t results) {
  std::vector<TensorId> in = {qkv[0], qkv[1], qkv[2]};
  if (score_mask != kNoTensor || past[0] != kNoTensor) in.push_back(score_mask);
  if (past[0] != kNoTensor) in.insert(in.end(), past.begin(), past.end());
  // (The last of the results: scores with what has been added to them.)
  std::map<std::string, Attribute> attributes = {
      {"q_num_heads", f.heads},
      {"kv_num_heads", f.heads},
      {"qk_matmul_output_mode", int64_t{2}}};
  if (f.scale != 0) attributes["scale"] = f.scale;
  return e->AddAll(results, "Attention", in, attributes, 23);
}

// Outputs 0 and 1 of a node: y, and what is past for the next one, of [2,
// batch, heads, all, size]. `projected` is fp32 [batch, tokens, sum of
// `sizes`]; `past`, of [2, batch, heads, past, size], kNoTensor: there is none.
absl::Status ReturnSelfAttention(Expansion* e, AttentionForm f,
                                 TensorId projected,
                                 const std::array<int64_t, 3>& sizes,
                                 TensorId mask, TensorId past, TensorId bias,
                                 DataType type) {
  const int64_t size = sizes[1] / f.heads;
  std::array<TensorId, 2> before = {kNoTensor, kNoTensor};
  const bool states = past != kNoTensor || e->HasOut(1);
  if (states && sizes[1] != sizes[2]) {
    return RejectNode(Rejection::kMismatchingShape, e->node(),
                      "past keys and values are one tensor, but rows of them "
                      "have ",
                      sizes[1], " and ", sizes[2], " elements");
  }
  if (past != kNoTensor) {
    const Shape given = e->T(past).shape;
    if (given.size() == 5) f.past = given[3];
    if (given != Shape{2, f.batch, f.heads, f.past, size}) {
      return RejectNode(Rejection::kMismatchingShape, e->node(), "past of ",
                        ShapeToString(given), " must be of [2,", f.batch, ",",
                        f.heads, ",past,", size, "]");
    }
    for (int64_t i = 0; i < 2; ++i) {
      const TensorId one = e->Add("Slice", {e->Wide(past), e->Ints({i}),
                                            e->Ints({i + 1}), e->Ints({0})});
      before[i] = e->Reshape(one, {f.batch, f.heads, f.past, size});
    }
  }
  std::array<TensorId, 3> qkv;
  int64_t first = 0;
  for (size_t i = 0; i < 3; ++i) {
    qkv[i] = e->Add("Slice", {projected, e->Ints({first}),
                              e->Ints({first + sizes[i]}), e->Ints({2})});
    first += sizes[i];
  }
  ASSIGN_OR_RETURN(const TensorId added, ScoreMask(e, f, mask, bias));
  const std::vector<TensorId> y =
      Attend(e, f, qkv, added, before, e->HasOut(1) ? 3 : 1);
  e->Return(0, y[0], type);
  if (!e->HasOut(1)) return absl::OkStatus();
  const Shape one = {1, f.batch, f.heads, f.all(), size};
  e->Return(1,
            e->Add("Concat", {e->Reshape(y[1], one), e->Reshape(y[2], one)},
                   {{"axis", int64_t{0}}}),
            type);
  return absl::OkStatus();
}

namespace self {

enum Place { kInput, kWeights, kBias, kMask, kPast, kAttentionBias, kLength };

absl::StatusOr<std::array<int64_t, 3>> SizesOf(const Expansion& e,
                                               int64_t heads) {
  const Shape &x = e.T(e.In(kInput)).shape, &w = e.T(e.In(kWeights)).shape;
  const int64_t columns = w.size() == 2 ? w[1] : 0;
  const std::vector<int64_t> sizes = e.node().IntsAttribute(
      "qkv_hidden_sizes", {columns / 3, columns / 3, columns / 3});
  const bool fits = x.size() == 3 && w.size() == 2 && w[0] == x[2] &&
                    heads >= 1 && sizes.size() == 3 && sizes[0] == sizes[1] &&
                    std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) {
                      return size >= 1 && size <= columns && size % heads == 0;
                    });
  if (!fits || sizes[0] + sizes[1] + sizes[2] != columns) {
    return RejectNode(Rejection::kMismatchingShape, e.node(), "input ",
                      ShapeToString(x), " and weights ", ShapeToString(w),
                      " do not fit num_heads = ", heads,
                      " and qkv_hidden_sizes = ", ShapeToString(sizes));
  }
  if (e.HasIn(kBias) && e.T(e.In(kBias)).shape != Shape{columns}) {
    return RejectNode(Rejection::kMismatchingShape, e.node(), "bias of ",
                      ShapeToString(e.T(e.In(kBias)).shape), " must be of [",
                      columns, "]");
  }
  return std::array<int64_t, 3>{sizes[0], sizes[1], sizes[2]};
}

absl::Status Expand(Expansion* e) {
  AttentionForm f(e->node());
  f.heads = e->node().IntAttribute("num_heads", 0);
  ASSIGN_OR_RETURN(const auto sizes, SizesOf(*e, f.heads));
  const Tensor x = e->T(e->In(kInput));
  f.batch = x.shape[0];
  f.queries = f.keys = x.shape[1];
  TensorId projected =
      e->Add("MatMul", {e->Wide(e->In(kInput)), e->Wide(e->In(kWeights))});
  if (e->HasIn(kBias)) {
    projected = e->Add("Add", {projected, e->Wide(e->In(kBias))});
  }
  const auto given = [&](size_t i) {
    return e->HasIn(i) ? e->In(i) : kNoTensor;
  };
  return ReturnSelfAttention(e, f, projected, sizes, given(kMask), given(kPast),
                             given(kAttentionBias), x.type);
}

template <const char* name>
bool IsZero(const Graph&, const Node& node, std::string* detail) {
  const int64_t value = node.IntAttribute(name, 0);
  *detail = absl::StrCat("it is ", value);
  return value == 0;
}
constexpr char kRotary[] = "do_rotary";
constexpr char kShared[] = "past_present_share_buffer";

bool HasNoLength(const Graph&, const Node& node, std::string* detail) {
  *detail = "it is given";
  return !HasInput(node, kLength);
}

const ExpandedOperator kAttention(
    Define("Attention", 1, 1)
        .Domain("com.microsoft")
        .Inputs(2, 7, kReals, kReals, kReals, kInt32s, kReals, kReals, kInt32s)
        .Outputs(2)
        .Attr("do_rotary", AttributeKind::kInt)
        .Attr("mask_filter_value", AttributeKind::kFloat)
        .Attr("num_heads", AttributeKind::kInt, true)
        .Attr("past_present_share_buffer", AttributeKind::kInt)
        .Attr("qkv_hidden_sizes", AttributeKind::kInts)
        .Attr("rotary_embedding_dim", AttributeKind::kInt)
        .Attr("scale", AttributeKind::kFloat)
        .Attr("unidirectional", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedAttribute, "do_rotary is 0",
              IsZero<kRotary>)
        .Rule(Rejection::kUnsupportedAttribute,
              "past_present_share_buffer is 0", IsZero<kShared>)
        .Rule(Rejection::kUnsupportedAttribute,
              "past_sequence_length is absent", HasNoLength),
    Expand);

}  // namespace self

namespace cross {

enum Place {
  kQuery,
  kKey,
  kValue,
  kBias,
  kMask,
  kAttentionBias,
  kPastKey,
  kPastValue,
  kPastLength,
  kIndirection
};

template <typename... Args>
absl::Status Wrong(const Expansion& e, const Args&... why) {
  return RejectNode(Rejection::kMismatchingShape, e.node(), why...);
}

// Queries, keys and values of [batch, tokens, heads * size], or the latter of
// [batch, heads, tokens, size].
class Operands {
 public:
  Operands(Expansion* e, AttentionForm* f) : e_(e), f_(f) {}

  absl::StatusOr<std::array<TensorId, 3>> Take() {
    RETURN_IF_ERROR(TakeQuery());
    const bool packed = !e_->HasIn(kKey);
    if (packed != (e_->T(e_->In(kQuery)).shape.size() == 5)) {
      return Wrong(*e_, "query of ", ShapeToString(ShapeOf(kQuery)),
                   packed ? " must be of [batch, tokens, heads, 3, size], as "
                            "there is no key"
                          : " must have rank 3, as there is a key");
    }
    if (packed) {
      f_->keys = f_->queries;
      v_size_ = size_;
      for (int64_t i = 0; i < 3; ++i) qkv_[i] = Part(kQuery, i);
    } else {
      RETURN_IF_ERROR(TakeKeys());
    }
    if (e_->HasIn(kBias)) RETURN_IF_ERROR(AddBias());
    return qkv_;
  }
  int64_t size() const { return size_; }
  int64_t v_size() const { return v_size_; }

 private:
  const Shape& ShapeOf(size_t i) const { return e_->T(e_->In(i)).shape; }

  absl::Status TakeQuery() {
    const Shape& q = ShapeOf(kQuery);
    f_->heads = e_->node().IntAttribute("num_heads", 0);
    const bool fits =
        f_->heads >= 1 &&
        (q.size() == 3 ? q[2] % f_->heads == 0
                       : q.size() == 5 && q[2] == f_->heads && q[3] == 3);
    if (!fits) {
      return Wrong(*e_, "query of ", ShapeToString(q),
                   " does not fit num_heads = ", f_->heads);
    }
    f_->batch = q[0];
    f_->queries = q[1];
    size_ = q.size() == 3 ? q[2] / f_->heads : q[4];
    if (q.size() == 3) qkv_[0] = e_->Wide(e_->In(kQuery));
    return absl::OkStatus();
  }

  absl::Status TakeKeys() {
    const Shape k = ShapeOf(kKey);
    const Shape v = e_->HasIn(kValue) ? ShapeOf(kValue) : Shape{};
    const int64_t heads = f_->heads;
    const bool first = k.size() == 4;  // heads before tokens
    if (k.size() < 3) return Wrong(*e_, "key of ", ShapeToString(k));
    f_->keys = k[first ? 2 : 1];
    bool fits;
    if (k.size() == 5) {
      fits = v.empty() && k == Shape{f_->batch, f_->keys, heads, 2, size_};
      v_size_ = size_;
    } else if (first) {
      fits = v.size() == 4 && k == Shape{f_->batch, heads, f_->keys, size_} &&
             v == Shape{f_->batch, heads, f_->keys, v[3]};
      v_size_ = fits ? v[3] : 0;
    } else {
      fits = k == Shape{f_->batch, f_->keys, heads * size_} && v.size() == 3 &&
             v == Shape{f_->batch, f_->keys, v[2]} && v[2] % heads == 0;
      v_size_ = fits ? v[2] / heads : 0;
    }
    if (!fits) {
      return Wrong(*e_, "key and value of ", ShapeToString(k), " and ",
                   v.empty() ? "none" : ShapeToString(v),
                   " do not fit the query of ", ShapeToString(ShapeOf(kQuery)));
    }
    if (k.size() != 3 && e_->HasIn(kBias)) {
      return Wrong(*e_, "there is a bias, but keys are of ", ShapeToString(k));
    }
    if (first && e_->HasIn(kPastKey)) {
      return Wrong(*e_, "there are past keys, but keys are of ",
                   ShapeToString(k));
    }
    const bool packed = k.size() == 5;
    qkv_[1] = packed ? Part(kKey, 0) : e_->Wide(e_->In(kKey));
    qkv_[2] = packed ? Part(kKey, 1) : e_->Wide(e_->In(kValue));
    return absl::OkStatus();
  }

  // One of what is packed, [batch, tokens, heads, n, size].
  TensorId Part(size_t place, int64_t i) {
    const Shape shape = ShapeOf(place);
    const TensorId part =
        e_->Add("Slice", {e_->Wide(e_->In(place)), e_->Ints({i}),
                          e_->Ints({i + 1}), e_->Ints({3})});
    return e_->Reshape(part, {shape[0], shape[1], shape[2] * shape[4]});
  }

  absl::Status AddBias() {
    const int64_t sizes[] = {f_->heads * size_, f_->heads * size_,
                             f_->heads * v_size_};
    if (ShapeOf(kBias) != Shape{sizes[0] + sizes[1] + sizes[2]}) {
      return Wrong(*e_, "bias of ", ShapeToString(ShapeOf(kBias)),
                   " must be of [", sizes[0] + sizes[1] + sizes[2], "]");
    }
    const TensorId bias = e_->Wide(e_->In(kBias));
    int64_t first = 0;
    for (int i = 0; i < 3; ++i) {
      const TensorId part =
          e_->Add("Slice", {bias, e_->Ints({first}),
                            e_->Ints({first + sizes[i]}), e_->Ints({0})});
      qkv_[i] = e_->Add("Add", {qkv_[i], part});
      first += sizes[i];
    }
    return absl::OkStatus();
  }

  Expansion* const e_;
  AttentionForm* const f_;
  int64_t size_ = 0, v_size_ = 0;
  std::array<TensorId, 3> qkv_ = {kNoTensor, kNoTensor, kNoTensor};
};

absl::Status Expand(Expansion* e) {
  AttentionForm f(e->node());
  Operands operands(e, &f);
  ASSIGN_OR_RETURN(const auto qkv, operands.Take());
  if (e->HasIn(kPastKey) != e->HasIn(kPastValue)) {
    return RejectNode(Rejection::kInvalidModel, e->node(),
                      "has one of past_key and past_value, must have both");
  }
  std::array<TensorId, 2> past = {kNoTensor, kNoTensor};
  if (e->HasIn(kPastKey)) {
    const Shape k = e->T(e->In(kPastKey)).shape;
    const Shape v = e->T(e->In(kPastValue)).shape;
    if (k.size() == 4) f.past = k[2];
    if (k != Shape{f.batch, f.heads, f.past, operands.size()} ||
        v != Shape{f.batch, f.heads, f.past, operands.v_size()}) {
      return Wrong(*e, "past_key and past_value of ", ShapeToString(k), " and ",
                   ShapeToString(v), " do not fit ", f.batch, " batches and ",
                   f.heads, " heads of ", operands.size(), " and ",
                   operands.v_size());
    }
    past = {e->Wide(e->In(kPastKey)), e->Wide(e->In(kPastValue))};
  }
  TensorId mask = kNoTensor;
  if (e->HasIn(kMask)) {
    mask = e->In(kMask);
    const Shape& given = e->T(mask).shape;
    if (given.size() == 1 && given[0] != f.batch) {
      return RejectNode(Rejection::kUnsupportedShape, e->node(),
                        "key_padding_mask of ", ShapeToString(given), " for ",
                        f.batch, " batches; one of rank 1 is of [batch]");
    }
  }
  ASSIGN_OR_RETURN(
      const TensorId added,
      ScoreMask(e, f, mask,
                e->HasIn(kAttentionBias) ? e->In(kAttentionBias) : kNoTensor));
  const DataType type = e->T(e->In(kQuery)).type;
  const size_t results = e->HasOut(3)                   ? 4
                         : e->HasOut(1) || e->HasOut(2) ? 3
                                                        : 1;
  const std::vector<TensorId> y = Attend(e, f, qkv, added, past, results);
  for (size_t i = 0; i < results; ++i) e->Return(i, y[i], type);
  return absl::OkStatus();
}

bool HasNoCache(const Graph&, const Node& node, std::string* detail) {
  *detail = "one is given";
  return !HasInput(node, kPastLength) && !HasInput(node, kIndirection);
}

const ExpandedOperator kMultiHeadAttention(
    Define("MultiHeadAttention", 1, 1)
        .Domain("com.microsoft")
        .Inputs(1, 10, kReals, kReals, kReals, kReals, kInt32s, kReals, kReals,
                kReals, kInt32s)
        .Outputs(4)
        .Attr("mask_filter_value", AttributeKind::kFloat)
        .Attr("num_heads", AttributeKind::kInt, true)
        .Attr("scale", AttributeKind::kFloat)
        .Attr("unidirectional", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedAttribute,
              "past_sequence_length and cache_indirection are absent",
              HasNoCache),
    Expand);

}  // namespace cross

}  // namespace
}  // namespace heddle::compiler
