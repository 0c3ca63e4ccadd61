// SPDX-License-Identifier: Apache-2.0
// com.microsoft's GroupQueryAttention, made of RotaryEmbedding and Attention:
// new keys and values go behind the past ones of their batch, of which there
// are as many as seqlens_k says when it runs; a query sees those up to its own
// place, or the last local_window_size of them.
//
//   query        [batch, tokens, heads * size], or of q, k and v beside each
//                other, with key and value absent
//   key, value   [batch, tokens, kv heads * size]
//   past         [batch, kv heads, past tokens, size], or absent
//   seqlens_k    int32 [batch]: keys that there are then, less one
//   total        int32, one: the most of these
//   cos, sin     [places, size / 2], with do_rotary
//   y            [batch, tokens, heads * size]; 1 and 2: all keys and values,
//                [batch, kv heads, all tokens, size]. All tokens are those that
//                the model declares, else the larger of past and a constant
//                total, else past and new ones together
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

constexpr DataType kInt = DataType::kInt32;

enum Place {
  kQuery,
  kKey,
  kValue,
  kPastKey,
  kPastValue,
  kSeqlens,
  kTotal,
  kCos,
  kSin
};

struct Form {
  int64_t batch = 0, tokens = 0, heads = 0, kv_heads = 0, size = 0;
  int64_t past = 0, all = 0;
  bool packed = false;
};

int64_t AllTokens(const Expansion& e, const Form& f) {
  for (size_t i : {1, 2}) {
    const Shape* declared = e.HasOut(i) ? e.DeclaredShape(i) : nullptr;
    if (declared != nullptr && declared->size() == 4) return (*declared)[2];
  }
  const Tensor& total = e.T(e.In(kTotal));
  if (total.is_constant() && total.constant->count() == 1) {
    return std::max<int64_t>(f.past, *total.constant->as<int32_t>());
  }
  return f.past + f.tokens;
}

absl::StatusOr<Form> FormOf(const Expansion& e) {
  const Node& node = e.node();
  const Shape& q = e.T(e.In(kQuery)).shape;
  Form f;
  f.heads = node.IntAttribute("num_heads", 0);
  f.kv_heads = node.IntAttribute("kv_num_heads", 0);
  const auto wrong = [&](const auto&... why) {
    return RejectNode(Rejection::kMismatchingShape, node, "query ",
                      ShapeToString(q), " of ", f.heads, " heads, ", f.kv_heads,
                      " of keys: ", why...);
  };
  f.packed = !e.HasIn(kKey);
  if (e.HasIn(kKey) != e.HasIn(kValue) ||
      e.HasIn(kPastKey) != e.HasIn(kPastValue)) {
    return RejectNode(Rejection::kInvalidModel, node,
                      "has one of keys and values, must have both");
  }
  constexpr int64_t kMostHeads = 1 << 16;
  if (f.heads < 1 || f.kv_heads < 1 || f.heads > kMostHeads ||
      f.heads % f.kv_heads != 0) {
    return wrong("must be a multiple of those");
  }
  const int64_t parts = f.heads + (f.packed ? 2 * f.kv_heads : 0);
  if (q.size() != 3 || ElementCount(q) == 0 || q[2] % parts != 0) {
    return wrong("must have rank 3 and ", parts, " parts");
  }
  f.batch = q[0];
  f.tokens = q[1];
  f.size = q[2] / parts;
  const Shape kv = {f.batch, f.tokens, f.kv_heads * f.size};
  for (size_t i : {kKey, kValue}) {
    if (!f.packed && e.T(e.In(i)).shape != kv) {
      return wrong("keys and values must be of ", ShapeToString(kv));
    }
  }
  if (e.HasIn(kPastKey)) {
    const Shape& past = e.T(e.In(kPastKey)).shape;
    if (past.size() == 4) f.past = past[2];
    const Shape wanted = {f.batch, f.kv_heads, f.past, f.size};
    if (past != wanted || e.T(e.In(kPastValue)).shape != wanted) {
      return wrong("past keys and values must be of ", ShapeToString(wanted));
    }
  }
  if (ElementCount(e.T(e.In(kSeqlens)).shape) != f.batch ||
      ElementCount(e.T(e.In(kTotal)).shape) != 1) {
    return wrong("seqlens_k must have ", f.batch,
                 " elements, "
                 "total_sequence_length one");
  }
  f.all = AllTokens(e, f);
  if (f.all < f.past || f.all < f.tokens || f.all > kMostTableElements) {
    return wrong(f.all, " tokens in all, ", f.past, " of them past and ",
                 f.tokens, " new");
  }
  return f;
}

class Writer {
 public:
  Writer(Expansion* e, const Form& f) : e_(e), f_(f) {}

  absl::Status Write() {
    TensorId q = e_->In(kQuery), k, v;
    if (f_.packed) {
      const int64_t kv = f_.kv_heads * f_.size, from = f_.heads * f_.size;
      k = Columns(q, from, from + kv);
      v = Columns(q, from + kv, from + 2 * kv);
      q = Columns(q, 0, from);
    } else {
      k = e_->In(kKey);
      v = e_->In(kValue);
    }
    // [batch, 1]: tokens that are past.
    const TensorId length = e_->Reshape(e_->In(kSeqlens), {f_.batch, 1});
    past_ = e_->Add(
        "Max", {e_->Add("Add", {length, Number(1 - f_.tokens)}), Number(0)});
    place_ = e_->Add("Add", {past_, Count(f_.tokens)});
    if (e_->node().IntAttribute("do_rotary", 0) != 0) {
      RETURN_IF_ERROR(CheckTables());
      q = Rotated(q, f_.heads);
      k = Rotated(k, f_.kv_heads);
    }
    const TensorId keys = All(k, kPastKey), values = All(v, kPastValue);
    TensorId y =
        e_->Add("Attention", {HeadsFirst(q, f_.heads), keys, values, Mask()},
                Attributes(), 23);
    y = e_->Add("Transpose", {y}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
    const DataType type = e_->T(e_->In(kQuery)).type;
    e_->Return(0, e_->Reshape(y, {f_.batch, f_.tokens, f_.heads * f_.size}),
               type);
    if (e_->HasOut(1)) e_->Return(1, keys, type);
    if (e_->HasOut(2)) e_->Return(2, values, type);
    return absl::OkStatus();
  }

 private:
  std::map<std::string, Attribute> Attributes() const {
    std::map<std::string, Attribute> attributes;
    const float scale = e_->node().FloatAttribute("scale", 0);
    if (scale != 0) attributes["scale"] = scale;
    const float cap = e_->node().FloatAttribute("softcap", 0);
    if (cap > 0) attributes["softcap"] = cap;
    return attributes;
  }

  absl::Status CheckTables() const {
    if (!e_->HasIn(kCos) || !e_->HasIn(kSin)) {
      return RejectNode(Rejection::kInvalidModel, e_->node(),
                        "do_rotary = 1 without cos_cache and sin_cache");
    }
    return absl::OkStatus();
  }

  TensorId Number(int64_t value) {
    TensorData data = TensorData::Zeros(kInt, {});
    *data.as<int32_t>() = static_cast<int32_t>(value);
    return e_->Constant(std::move(data));
  }
  // [1, n]: 0, 1, ...
  TensorId Count(int64_t n) {
    TensorData data = TensorData::Zeros(kInt, {1, n});
    std::iota(data.as<int32_t>(), data.as<int32_t>() + n, 0);
    return e_->Constant(std::move(data));
  }
  TensorId Columns(TensorId x, int64_t from, int64_t to) {
    return e_->Add("Slice",
                   {x, e_->Ints({from}), e_->Ints({to}), e_->Ints({2})});
  }
  TensorId Rotated(TensorId x, int64_t heads) {
    const int64_t places = e_->T(e_->In(kCos)).shape[0];
    const TensorId place = e_->Cast(
        e_->Add("Min", {place_, Number(places - 1)}), DataType::kInt64);
    return e_->Add(
        "RotaryEmbedding", {x, e_->In(kCos), e_->In(kSin), place},
        {{"num_heads", heads},
         {"interleaved", e_->node().IntAttribute("rotary_interleaved", 0)},
         {"rotary_embedding_dim",
          int64_t{e_->T(e_->In(kCos)).shape.back() * 2 == f_.size
                      ? 0
                      : e_->T(e_->In(kCos)).shape.back() * 2}}},
        23);
  }
  TensorId HeadsFirst(TensorId x, int64_t heads) {
    const int64_t tokens = e_->T(x).shape[1];
    return e_->Add("Transpose",
                   {e_->Reshape(x, {f_.batch, tokens, heads, f_.size})},
                   {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  }

  // [batch, kv heads, all, size]: past ones, then those of `x`.
  TensorId All(TensorId x, size_t past) {
    if (f_.past == 0 && f_.all == f_.tokens) return HeadsFirst(x, f_.kv_heads);
    const TensorId back = e_->Add("Sub", {Count(f_.all), past_});
    const TensorId is_new =
        e_->Add("And", {e_->Add("GreaterOrEqual", {back, Number(0)}, {}, 16),
                        e_->Add("Less", {back, Number(f_.tokens)})});
    TensorData first = TensorData::Zeros(kInt, {f_.batch, 1});
    for (int64_t b = 0; b < f_.batch; ++b) {
      first.as<int32_t>()[b] = static_cast<int32_t>(b * f_.tokens);
    }
    const TensorId row = e_->Add(
        "Add", {e_->Constant(std::move(first)),
                e_->Add("Max", {e_->Add("Min", {back, Number(f_.tokens - 1)}),
                                Number(0)})});
    const TensorId rows = e_->Add(
        "Gather",
        {e_->Reshape(x, {f_.batch * f_.tokens, f_.kv_heads * f_.size}), row});
    const TensorId added =
        HeadsFirst(e_->Reshape(rows, {f_.batch, f_.all, f_.kv_heads * f_.size}),
                   f_.kv_heads);
    TensorId before;
    if (f_.past == 0) {
      before = e_->Scalar(e_->T(x).type, 0);
    } else {
      before = e_->In(past);
      if (f_.past < f_.all) {
        before = e_->Add(
            "Pad", {before, e_->Ints({0, 0, 0, 0, 0, 0, f_.all - f_.past, 0})});
      }
    }
    return e_->Add("Where", {e_->Reshape(is_new, {f_.batch, 1, f_.all, 1}),
                             added, before});
  }

  // Bool [batch, 1, tokens, all].
  TensorId Mask() {
    const TensorId key = e_->Reshape(Count(f_.all), {1, 1, 1, f_.all});
    const TensorId own = e_->Reshape(place_, {f_.batch, 1, f_.tokens, 1});
    TensorId mask = e_->Add("LessOrEqual", {key, own}, {}, 16);
    const int64_t window = e_->node().IntAttribute("local_window_size", -1);
    if (window <= 0 || window >= f_.all) return mask;
    const TensorId oldest = e_->Add("Sub", {own, Number(window)});
    return e_->Add("And", {mask, e_->Add("Greater", {key, oldest})});
  }

  Expansion* e_;
  const Form& f_;
  TensorId past_ = kNoTensor;   // [batch, 1]
  TensorId place_ = kNoTensor;  // [batch, tokens]
};

absl::Status Expand(Expansion* e) {
  ASSIGN_OR_RETURN(const Form f, FormOf(*e));
  return Writer(e, f).Write();
}

template <const char* name>
bool IsOff(const Graph&, const Node& node, std::string* detail) {
  const int64_t value = node.IntAttribute(name, 0);
  *detail = absl::StrCat("it is ", value);
  return value <= 0;
}
constexpr char kSmooth[] = "smooth_softmax";
constexpr char kQkOutput[] = "qk_output";

bool TablesHaveRows(const Graph& graph, const Node& node, std::string* detail) {
  for (size_t i : {kCos, kSin}) {
    if (!HasInput(node, i)) continue;
    const Shape& shape = InputOf(graph, node, i).shape;
    *detail = absl::StrCat("one is ", ShapeToString(shape));
    if (shape.size() != 2 || shape[0] < 1) return false;
  }
  return true;
}

const ExpandedOperator kGroupQueryAttention(
    Define("GroupQueryAttention", 1, 1)
        .Domain("com.microsoft")
        .Inputs(7, 9, kReals, kReals, kReals, kReals, kReals, kInt32s, kInt32s,
                kReals, kReals)
        .Optional(1, 2, 3, 4)
        .Outputs(3)
        .Attr("do_rotary", AttributeKind::kInt)
        .Attr("kv_num_heads", AttributeKind::kInt, true)
        .Attr("local_window_size", AttributeKind::kInt)
        .Attr("num_heads", AttributeKind::kInt, true)
        .Attr("qk_output", AttributeKind::kInt)
        .Attr("rotary_interleaved", AttributeKind::kInt)
        .Attr("scale", AttributeKind::kFloat)
        .Attr("smooth_softmax", AttributeKind::kInt)
        .Attr("softcap", AttributeKind::kFloat)
        .Rule(Rejection::kUnsupportedAttribute, "smooth_softmax is off",
              IsOff<kSmooth>)
        .Rule(Rejection::kUnsupportedAttribute, "qk_output is 0",
              IsOff<kQkOutput>)
        .Rule(Rejection::kInvalidModel, "cos_cache and sin_cache have rank 2",
              TablesHaveRows),
    Expand);

}  // namespace
}  // namespace heddle::compiler
