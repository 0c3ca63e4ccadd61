// SPDX-License-Identifier: Apache-2.0
// Attention of ONNX, made of other operators in fp32, or double where an input
// is, rounded once at the end:
//
//   k, v   past ones and the given, one after the other: also results 1 and 2
//   s      (q * scale) k^T, scale 1 / sqrt(size of a head) unless given
//   t      softcap * tanh(s / softcap), unless that is 0
//   t + b  b: the mask, or 0 and -inf of one of bools; what it is shorter by is
//          -inf, and so is, if `is_causal`, what comes after the query's place,
//          and of opset 24 keys beyond nonpad_kv_seqlen, which without past
//          ones also says the queries' places: the last before that many
//   y      softmax(t + b) v
//
// Result 3 is s, t, t + b or the softmax, as qk_matmul_output_mode says. (The
// first text of opset 23 had softcap behind the mask, where it undoes it, and
// modes 1 and 2 the other way round; ONNX has corrected both.) Heads of k and v
// serve as many of q as there are more of these: their queries are rows of one
// product.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum Place { kQ, kK, kV, kMask, kPastK, kPastV, kLengths };

struct Sizes {
  bool heads_first = true;
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1;
  int64_t size = 1, v_size = 1, past = 0;
  int64_t all_keys() const { return past + keys; }
  int64_t group() const { return heads / kv_heads; }
};

// The dimensions of an operand, of [batch, heads, tokens, size] or [batch,
// tokens, heads * size].
absl::Status Take(const Expansion& e, size_t i, int64_t heads, Shape* four) {
  const Tensor& t = e.T(e.In(i));
  *four = t.shape;
  if (t.shape.size() == 4) return absl::OkStatus();
  if (t.shape.size() != 3 || heads < 1 || t.shape[2] % heads != 0) {
    return RejectNode(Rejection::kMismatchingShape, e.node(), "input ", i, " '",
                      t.name, "' of ", ShapeToString(t.shape),
                      " has neither rank 4, nor rank 3 and ", heads, " heads");
  }
  *four = {t.shape[0], heads, t.shape[1], t.shape[2] / heads};
  return absl::OkStatus();
}

absl::StatusOr<Sizes> Resolve(const Expansion& e) {
  const Node& node = e.node();
  const auto wrong = [&](const auto&... why) {
    return RejectNode(Rejection::kMismatchingShape, node, why...);
  };
  Shape q, k, v;
  RETURN_IF_ERROR(Take(e, kQ, node.IntAttribute("q_num_heads", 0), &q));
  RETURN_IF_ERROR(Take(e, kK, node.IntAttribute("kv_num_heads", 0), &k));
  RETURN_IF_ERROR(Take(e, kV, node.IntAttribute("kv_num_heads", 0), &v));
  Sizes s;
  s.heads_first = e.T(e.In(kQ)).shape.size() == 4;
  s.batch = q[0];
  s.heads = q[1];
  s.queries = q[2];
  s.size = q[3];
  s.kv_heads = k[1];
  s.keys = k[2];
  s.v_size = v[3];
  if (k[0] != q[0] || k[3] != q[3] || v[0] != q[0] || v[1] != k[1] ||
      v[2] != k[2] || s.kv_heads < 1 || s.heads % s.kv_heads != 0) {
    return wrong("Q, K and V of ", ShapeToString(q), ", ", ShapeToString(k),
                 " and ", ShapeToString(v), " do not fit together");
  }
  if (e.HasIn(kPastK) != e.HasIn(kPastV)) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "has one of past_key and past_value, must have both");
  }
  if (e.HasIn(kPastK)) {
    Shape past_k = e.T(e.In(kPastK)).shape, past_v = e.T(e.In(kPastV)).shape;
    if (past_k.size() == 4) s.past = past_k[2];
    if (past_k != Shape{s.batch, s.kv_heads, s.past, s.size} ||
        past_v != Shape{s.batch, s.kv_heads, s.past, s.v_size}) {
      return wrong("past_key and past_value of ", ShapeToString(past_k),
                   " and ", ShapeToString(past_v), " do not fit K and V of ",
                   ShapeToString(k), " and ", ShapeToString(v));
    }
  }
  if (e.HasIn(kLengths) && e.T(e.In(kLengths)).shape != Shape{s.batch}) {
    return wrong("nonpad_kv_seqlen of ",
                 ShapeToString(e.T(e.In(kLengths)).shape),
                 " must have one number for each of ", s.batch, " batches");
  }
  if (!e.HasIn(kMask)) return s;
  const Shape& mask = e.T(e.In(kMask)).shape;
  const Shape full = {s.batch, s.heads, s.queries, s.all_keys()};
  bool fits = !mask.empty() && mask.size() <= 4;
  for (size_t i = 0; fits && i < mask.size(); ++i) {
    const int64_t n = mask[mask.size() - 1 - i], m = full[3 - i];
    fits = n == m || n == 1 || (i == 0 && n < m);
  }
  if (!fits) {
    return wrong("attn_mask of ", ShapeToString(mask),
                 " cannot be broadcast to ", ShapeToString(full));
  }
  return s;
}

class Writer {
 public:
  Writer(Expansion* e, const Sizes& s) : e_(e), s_(s) {}

  void Write() {
    const Node& node = e_->node();
    const DataType type = e_->T(e_->In(kQ)).type;
    const double scale = node.attributes.count("scale") > 0
                             ? node.FloatAttribute("scale", 0)
                             : 1 / std::sqrt(static_cast<double>(s_.size));
    const float cap = node.FloatAttribute("softcap", 0);
    const TensorId q = e_->Add("Mul", {Heads(kQ, s_.heads), Number(scale)});
    const TensorId k = WithPast(kPastK, Heads(kK, s_.kv_heads));
    const TensorId v = WithPast(kPastV, Heads(kV, s_.kv_heads));
    const TensorId turned =
        e_->Add("Transpose", {k}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
    std::vector<TensorId> stages;
    TensorId t = Grouped(q, turned, s_.size, s_.all_keys());
    stages.push_back(t);
    if (cap != 0) {
      const TensorId bound =
          e_->Add("Tanh", {e_->Add("Div", {t, Number(cap)})});
      t = e_->Add("Mul", {bound, Number(cap)});
    }
    stages.push_back(t);
    if (const TensorId bias = Bias(); bias != kNoTensor) {
      t = e_->Add("Add", {t, bias});
    }
    stages.push_back(t);
    t = e_->Add("Softmax", {t}, {{"axis", int64_t{-1}}});
    stages.push_back(t);
    TensorId y = Grouped(t, v, s_.all_keys(), s_.v_size);
    if (!s_.heads_first) {
      y = e_->Add("Transpose", {y},
                  {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
      y = e_->Reshape(y, {s_.batch, s_.queries, s_.heads * s_.v_size});
    }
    e_->Return(0, y, type);
    e_->Return(1, k, e_->T(e_->In(kK)).type);
    e_->Return(2, v, e_->T(e_->In(kV)).type);
    e_->Return(3, stages[node.IntAttribute("qk_matmul_output_mode", 0)], type);
  }

 private:
  TensorId Number(double value) { return e_->Number(value); }

  // [batch, heads, tokens, size].
  TensorId Heads(size_t i, int64_t heads) {
    const TensorId x = e_->Wide(e_->In(i));
    const Shape shape = e_->T(e_->In(i)).shape;
    if (shape.size() == 4) return x;
    return e_->Add(
        "Transpose",
        {e_->Reshape(x, {shape[0], shape[1], heads, shape[2] / heads})},
        {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  }

  TensorId WithPast(size_t i, TensorId x) {
    if (!e_->HasIn(i)) return x;
    return e_->Add("Concat", {e_->Wide(e_->In(i)), x}, {{"axis", int64_t{2}}});
  }

  // a b for each head of b, whose group of heads of a are rows of one matrix.
  TensorId Grouped(TensorId a, TensorId b, int64_t inner, int64_t columns) {
    const int64_t rows = s_.group() * s_.queries;
    const TensorId product = e_->Add(
        "MatMul", {e_->Reshape(a, {s_.batch, s_.kv_heads, rows, inner}), b});
    return e_->Reshape(product, {s_.batch, s_.heads, s_.queries, columns});
  }

  // What is added to the scores; kNoTensor: nothing.
  TensorId Bias() {
    TensorId bias = kNoTensor;
    if (e_->HasIn(kMask)) {
      const Tensor mask = e_->T(e_->In(kMask));
      bias = e_->Wide(e_->In(kMask));
      if (mask.type == DataType::kBool) {
        bias = e_->Add("Where", {bias, Number(0), Number(-kInfinity)});
      }
      const int64_t missing = s_.all_keys() - mask.shape.back();
      if (mask.shape.back() > 1 && missing > 0) {
        Shape none = mask.shape;
        none.back() = missing;
        bias = e_->Add("Concat",
                       {bias, e_->Numbers(none, Filled(none, -kInfinity))},
                       {{"axis", int64_t{-1}}});
      }
    }
    if (e_->HasIn(kLengths)) bias = Sum(bias, Padding());
    if (e_->node().IntAttribute("is_causal", 0) == 0) return bias;
    if (e_->HasIn(kLengths) && !e_->HasIn(kPastK)) return Sum(bias, Later());
    const Shape scores = {s_.queries, s_.all_keys()};
    std::vector<double> later = Filled(scores, 0);
    for (int64_t i = 0; i < s_.queries; ++i) {
      Pace(s_.all_keys());
      for (int64_t j = s_.past + i + 1; j < s_.all_keys(); ++j) {
        later[i * s_.all_keys() + j] = -kInfinity;
      }
    }
    return Sum(bias, e_->Numbers(scores, later));
  }

  TensorId Sum(TensorId bias, TensorId more) {
    return bias == kNoTensor ? more : e_->Add("Add", {bias, more});
  }

  // 0 where it is true, else -inf.
  TensorId Unless(TensorId condition) {
    return e_->Add("Where", {condition, Number(0), Number(-kInfinity)});
  }

  TensorId Int32s(const Shape& shape, const std::vector<int32_t>& values) {
    TensorData data = TensorData::Zeros(DataType::kInt32, shape);
    std::copy(values.begin(), values.end(), data.as<int32_t>());
    return e_->Constant(std::move(data));
  }

  // nonpad_kv_seqlen, [batch, 1, 1, 1].
  TensorId Lengths() {
    return e_->Cast(e_->Reshape(e_->In(kLengths), {s_.batch, 1, 1, 1}),
                    DataType::kInt32);
  }

  // Of keys that are none.
  TensorId Padding() {
    std::vector<int32_t> keys(static_cast<size_t>(s_.all_keys()));
    std::iota(keys.begin(), keys.end(), 0);
    return Unless(
        e_->Add("Less", {Int32s({1, 1, 1, s_.all_keys()}, keys), Lengths()}));
  }

  // Of keys after a query, the last of which is at the end of its keys.
  TensorId Later() {
    std::vector<int32_t> ahead;
    for (int64_t i = 0; i < s_.queries; ++i) {
      Pace(s_.all_keys());
      for (int64_t j = 0; j < s_.all_keys(); ++j) {
        ahead.push_back(static_cast<int32_t>(j - i + s_.queries));
      }
    }
    return Unless(e_->Add(
        "LessOrEqual",
        {Int32s({1, 1, s_.queries, s_.all_keys()}, ahead), Lengths()}, {}, 16));
  }

  static std::vector<double> Filled(const Shape& shape, double value) {
    Pace(ElementCount(shape));
    return std::vector<double>(static_cast<size_t>(ElementCount(shape)), value);
  }

  Expansion* const e_;
  const Sizes& s_;
};

absl::Status Expand(Expansion* e) {
  ASSIGN_OR_RETURN(const Sizes sizes, Resolve(*e));
  if (e->node().IntAttribute("is_causal", 0) != 0) {
    RETURN_IF_ERROR(CheckTable(e->node(), sizes.queries, sizes.all_keys()));
  }
  if (e->HasIn(kMask)) {
    // What the mask is shorter by.
    const Shape& mask = e->T(e->In(kMask)).shape;
    const int64_t missing = sizes.all_keys() - mask.back();
    RETURN_IF_ERROR(
        CheckTable(e->node(), ElementCount(Shape(mask.begin(), mask.end() - 1)),
                   mask.back() > 1 ? missing : 0));
  }
  Writer(e, sizes).Write();
  return absl::OkStatus();
}

bool ModeIsKnown(const Graph&, const Node& node, std::string* detail) {
  const int64_t mode = node.IntAttribute("qk_matmul_output_mode", 0);
  *detail = absl::StrCat("qk_matmul_output_mode = ", mode);
  return mode >= 0 && mode <= 3;
}
bool SoftmaxIsReal(const Graph&, const Node& node, std::string* detail) {
  const auto type =
      static_cast<DataType>(node.IntAttribute("softmax_precision", 1));
  *detail = absl::StrCat("softmax_precision = ", DataTypeName(type));
  return Contains(kRealsAndDouble, type) || type == DataType::kBfloat16;
}

Define Attention(int since, int until, int inputs) {
  Define define("Attention", since, until);
  define
      .Inputs(3, inputs, kRealsAndDouble, kRealsAndDouble, kRealsAndDouble,
              kRealsAndDouble | Types(DataType::kBool), kRealsAndDouble,
              kRealsAndDouble, kInt64s)
      .Outputs(4)
      .Attr("is_causal", AttributeKind::kInt)
      .Attr("kv_num_heads", AttributeKind::kInt)
      .Attr("q_num_heads", AttributeKind::kInt)
      .Attr("qk_matmul_output_mode", AttributeKind::kInt)
      .Attr("scale", AttributeKind::kFloat)
      .Attr("softcap", AttributeKind::kFloat)
      .Attr("softmax_precision", AttributeKind::kInt)
      .Rule(Rejection::kInvalidModel, "qk_matmul_output_mode is 0 to 3",
            ModeIsKnown)
      .Rule(Rejection::kUnsupportedAttribute,
            "softmax_precision is a type of real numbers", SoftmaxIsReal);
  return define;
}

const ExpandedOperator kAttention(Attention(23, 23, 6), Expand);
const ExpandedOperator kAttention24(Attention(24, kMaxOpset, 7), Expand);

}  // namespace
}  // namespace heddle::compiler
