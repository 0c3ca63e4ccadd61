// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/recurrent.h"

#include <algorithm>
#include <utility>

#include "compiler/base/status_macros.h"
#include "compiler/ops/activations.h"

namespace heddle::compiler {
namespace {

// Inputs by their place; the last two are LSTM's.
enum Place { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP };

bool IsTwofold(const Node& node) {
  return node.StringAttribute("direction", "forward") == "bidirectional";
}

bool DirectionIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string name = node.StringAttribute("direction", "forward");
  *detail = absl::StrCat("direction = '", name, "'");
  return name == "forward" || name == "reverse" || name == "bidirectional";
}

bool LayoutIsKnown(const Graph&, const Node& node, std::string* detail) {
  const int64_t layout = node.IntAttribute("layout", 0);
  *detail = absl::StrCat("layout = ", layout);
  return layout == 0 || layout == 1;
}

bool StepsAreFew(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& x = InputOf(graph, node, kX).shape;
  if (x.size() != 3) return true;  // (another rejection)
  const int64_t steps = x[node.IntAttribute("layout", 0) == 1 ? 1 : 0];
  *detail = absl::StrCat("the sequence has ", steps, " steps",
                         IsTwofold(node) ? " in two directions" : "");
  return steps <= kMaxUnrolled / (IsTwofold(node) ? 2 : 1);
}

}  // namespace

// Shapes and constants of the whole node.
class Recurrence {
 public:
  Recurrence(Expansion* e, const RecurrentKind& kind) : e_(e), kind_(kind) {}

  absl::Status Check() {
    const Node& node = e_->node();
    batch_first_ = node.IntAttribute("layout", 0) == 1;
    directions_ = IsTwofold(node) ? 2 : 1;
    reverse_ = node.StringAttribute("direction", "forward") == "reverse";
    const Shape& x = Of(kX).shape;
    const Shape& r = Of(kR).shape;
    if (x.size() != 3 || r.size() != 3) {
      return RejectNode(Rejection::kMismatchingShape, node,
                        "X and R must have rank 3, their shapes are ",
                        ShapeToString(x), " and ", ShapeToString(r));
    }
    steps_ = x[batch_first_ ? 1 : 0];
    batch_ = x[batch_first_ ? 0 : 1];
    features_ = x[2];
    hidden_ = node.IntAttribute("hidden_size", r[2]);
    if (hidden_ < 1 || hidden_ > INT32_MAX) {
      return RejectNode(Rejection::kInvalidModel, node, "hidden_size is ",
                        hidden_);
    }
    const int64_t rows = kind_.gates * hidden_;
    RETURN_IF_ERROR(Expect(kW, {directions_, rows, features_}));
    RETURN_IF_ERROR(Expect(kR, {directions_, rows, hidden_}));
    RETURN_IF_ERROR(Expect(kB, {directions_, 2 * rows}));
    RETURN_IF_ERROR(Expect(kLengths, {batch_}));
    const Shape state = batch_first_ ? Shape{batch_, directions_, hidden_}
                                     : Shape{directions_, batch_, hidden_};
    RETURN_IF_ERROR(Expect(kInitialH, state));
    if (kind_.cell) {
      RETURN_IF_ERROR(Expect(kInitialC, state));
      RETURN_IF_ERROR(Expect(kP, {directions_, 3 * hidden_}));
    }
    ASSIGN_OR_RETURN(
        activations_,
        ActivationsOf(node, kind_.defaults, static_cast<size_t>(directions_)));
    clip_ = node.FloatAttribute("clip", 0);
    clips_ = node.attributes.count("clip") > 0 && clip_ != 0;
    if (clip_ < 0) {
      return RejectNode(Rejection::kInvalidModel, node, "clip is ", clip_);
    }
    return Lengths();
  }

  void Run(const RecurrentStep& step) {
    const DataType type = Of(kX).type;
    std::vector<std::vector<TensorId>> y;
    std::vector<TensorId> h, c;
    PrepareInput();
    for (int64_t d = 0; d < directions_; ++d) {
      RecurrentDirection direction;
      Prepare(d, &direction);
      RecurrentState state{Initial(kInitialH, d), Initial(kInitialC, d)};
      y.emplace_back(steps_, kNoTensor);
      for (int64_t i = 0; i < steps_; ++i) {
        const int64_t at = reverse_ || d == 1 ? steps_ - 1 - i : i;
        if (!IsActive(at)) continue;
        const RecurrentState next = step(&direction, at, state);
        y.back()[at] = Masked(at, next.h, kNoTensor);
        state.h = Masked(at, next.h, state.h);
        if (kind_.cell) state.c = Masked(at, next.c, state.c);
        if (!e_->status().ok()) return;
      }
      h.push_back(state.h);
      c.push_back(state.c);
    }
    if (e_->HasOut(0)) e_->Return(0, Sequence(y), type);
    if (e_->HasOut(1)) e_->Return(1, Last(h), type);
    if (kind_.cell && e_->HasOut(2)) e_->Return(2, Last(c), type);
  }

  bool IsJoined(int gate) const {
    return batch_ == 1 && kind_.alike > 1 && gate < kind_.alike;
  }
  // Of the gates that are one Gemm, [gates, hidden].
  TensorId JoinedRows(TensorId x) const {
    return e_->Reshape(x, {kind_.alike, hidden_});
  }
  TensorId Row(TensorId x, int64_t row) const { return Slice(x, 0, row, 1); }

  TensorId InputOfStep(TensorId all, int64_t step) const {
    return steps_ == 1 ? all : Slice(all, 0, step * batch_, batch_);
  }
  TensorId Activated(size_t which, TensorId x, bool clipped) const {
    if (clipped && clips_) {
      x = e_->Add("Clip", {x, e_->Number(-clip_), e_->Number(clip_)});
    }
    return Activate(e_, activations_[which], x);
  }

 private:
  const Tensor& Of(size_t i) const { return e_->T(e_->In(i)); }

  absl::Status Expect(size_t i, const Shape& shape) const {
    if (!e_->HasIn(i) || Of(i).shape == shape) return absl::OkStatus();
    return RejectNode(Rejection::kMismatchingShape, e_->node(), "input ", i,
                      " '", Of(i).name, "' has shape ",
                      ShapeToString(Of(i).shape), ", must have ",
                      ShapeToString(shape));
  }

  // Constant lengths; computed ones become masks when they are asked for.
  absl::Status Lengths() {
    if (!e_->HasIn(kLengths)) return absl::OkStatus();
    masks_.assign(steps_, kNoTensor);
    const Tensor& given = Of(kLengths);
    if (!given.is_constant()) return absl::OkStatus();
    lengths_ = ToInts(*given.constant);
    for (int64_t length : lengths_) {
      if (length >= 0 && length <= steps_) continue;
      return RejectNode(Rejection::kInvalidModel, e_->node(),
                        "sequence_lens has ", length, ", the sequence ", steps_,
                        " steps");
    }
    return absl::OkStatus();
  }

  // Whether any entry of the batch has the step.
  bool IsActive(int64_t step) const {
    return lengths_.empty() ||
           std::any_of(lengths_.begin(), lengths_.end(),
                       [step](int64_t n) { return n > step; });
  }

  // [batch, 1], whether the step is one of the entry's; kNoTensor: of all.
  TensorId Mask(int64_t step) {
    if (masks_.empty()) return kNoTensor;
    if (std::all_of(lengths_.begin(), lengths_.end(),
                    [step](int64_t n) { return n > step; }) &&
        !lengths_.empty()) {
      return kNoTensor;
    }
    TensorId& mask = masks_[step];
    if (mask != kNoTensor) return mask;
    if (!lengths_.empty()) {
      TensorData data = TensorData::Zeros(DataType::kBool, {batch_, 1});
      for (int64_t b = 0; b < batch_; ++b) data.bytes[b] = lengths_[b] > step;
      return mask = e_->Constant(std::move(data));
    }
    if (column_ == kNoTensor) {
      column_ = e_->Reshape(e_->In(kLengths), {batch_, 1});
    }
    return mask = e_->Add("Greater",
                          {column_, e_->Scalar(DataType::kInt32,
                                               static_cast<float>(step))});
  }

  TensorId Masked(int64_t step, TensorId now, TensorId before) {
    const TensorId mask = Mask(step);
    if (mask == kNoTensor) return now;
    if (before == kNoTensor) before = e_->Number(0);
    return e_->Add("Where", {mask, now, before});
  }

  TensorId Slice(TensorId x, int64_t axis, int64_t from, int64_t count) const {
    if (e_->status().ok() && from == 0 && e_->T(x).shape[axis] == count) {
      return x;
    }
    return e_->Add("Slice", {x, e_->Ints({from}), e_->Ints({from + count}),
                             e_->Ints({axis})});
  }

  // The first two dimensions in the other order; of [a, b, ...].
  TensorId Swapped(TensorId x) const {
    if (!e_->status().ok()) return x;
    Shape shape = e_->T(x).shape;
    const bool moves = shape[0] != 1 && shape[1] != 1;
    std::swap(shape[0], shape[1]);
    if (!moves) return e_->Reshape(x, shape);
    return e_->Add("Transpose", {x}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
  }

  void PrepareInput() {
    TensorId x = e_->Wide(e_->In(kX));
    if (batch_first_) x = Swapped(x);
    x_ = e_->Reshape(x, {steps_ * batch_, features_});
  }

  // Parts [part, part + count) of a direction's row of a parameter; rank 1.
  TensorId Part(Place place, int64_t d, int64_t part, int64_t count = 1) const {
    const TensorId row = Slice(e_->Wide(e_->In(place)), 0, d, 1);
    return e_->Reshape(Slice(row, 1, part * hidden_, count * hidden_),
                       {count * hidden_});
  }
  TensorId Matrix(Place place, int64_t d, int64_t gate, int64_t columns,
                  int64_t count = 1) const {
    const TensorId row = Slice(e_->Wide(e_->In(place)), 0, d, 1);
    return e_->Reshape(Slice(row, 1, gate * hidden_, count * hidden_),
                       {count * hidden_, columns});
  }

  // Of `count` gates the inputs of all steps; `recurrent`: R's bias, if it is
  // not among them.
  TensorId Inputs(int64_t d, int64_t gate, int64_t count,
                  TensorId* recurrent) const {
    std::vector<TensorId> in = {x_, Matrix(kW, d, gate, features_, count)};
    *recurrent = kNoTensor;
    if (e_->HasIn(kB)) {
      in.push_back(Part(kB, d, gate, count));
      *recurrent = Part(kB, d, kind_.gates + gate, count);
      if (!kind_.separate || gate + 1 < kind_.gates) {
        in.back() = e_->Add("Add", {in.back(), *recurrent});
        *recurrent = kNoTensor;
      }
    }
    return e_->Add("Gemm", in, {{"transB", int64_t{1}}});
  }

  void Prepare(int64_t d, RecurrentDirection* direction) const {
    direction->e_ = e_;
    direction->node_ = this;
    direction->first_activation_ =
        static_cast<size_t>(d) * kind_.defaults.size();
    TensorId recurrent = kNoTensor;
    if (IsJoined(0)) {
      direction->joined_inputs_ = Inputs(d, 0, kind_.alike, &recurrent);
      direction->joined_r_ = Matrix(kR, d, 0, hidden_, kind_.alike);
    }
    for (int g = 0; g < kind_.gates; ++g) {
      const bool joined = IsJoined(g);
      direction->inputs_.push_back(joined ? kNoTensor
                                          : Inputs(d, g, 1, &recurrent));
      direction->recurrent_bias_.push_back(joined ? kNoTensor : recurrent);
      direction->r_.push_back(joined ? kNoTensor : Matrix(kR, d, g, hidden_));
    }
    if (!kind_.cell || !e_->HasIn(kP)) return;
    for (int64_t g = 0; g < 3; ++g) {
      direction->peepholes_.push_back(Part(kP, d, g));
    }
  }

  TensorId Initial(Place place, int64_t d) const {
    if (!e_->HasIn(place) || (place == kInitialC && !kind_.cell)) {
      return kNoTensor;
    }
    const TensorId part =
        Slice(e_->Wide(e_->In(place)), batch_first_ ? 1 : 0, d, 1);
    return e_->Reshape(part, {batch_, hidden_});
  }

  TensorId Zeros(Shape shape) const {
    return e_->Constant(TensorData::Zeros(e_->Real(), std::move(shape)));
  }
  TensorId Joined(std::vector<TensorId> parts, int64_t axis) const {
    for (TensorId& part : parts) {
      if (part == kNoTensor) part = Zeros({batch_, hidden_});
    }
    return parts.size() == 1 ? parts[0]
                             : e_->Add("Concat", parts, {{"axis", axis}});
  }

  // [steps, directions, batch, hidden], or batch first.
  TensorId Sequence(const std::vector<std::vector<TensorId>>& y) const {
    const Shape shape = {steps_, directions_, batch_, hidden_};
    const Shape other = {batch_, steps_, directions_, hidden_};
    if (steps_ == 0) return Zeros(batch_first_ ? other : shape);
    std::vector<TensorId> parts;
    for (int64_t i = 0; i < steps_; ++i) {
      for (int64_t d = 0; d < directions_; ++d) parts.push_back(y[d][i]);
    }
    TensorId all = Joined(std::move(parts), 0);
    if (batch_first_) {
      all = Swapped(e_->Reshape(all, {steps_ * directions_, batch_, hidden_}));
    }
    return e_->Reshape(all, batch_first_ ? other : shape);
  }

  // [directions, batch, hidden], or batch first.
  TensorId Last(const std::vector<TensorId>& states) const {
    return e_->Reshape(Joined(states, batch_first_ ? 1 : 0),
                       batch_first_ ? Shape{batch_, directions_, hidden_}
                                    : Shape{directions_, batch_, hidden_});
  }

  Expansion* const e_;
  const RecurrentKind& kind_;
  bool batch_first_ = false, reverse_ = false, clips_ = false;
  int64_t directions_ = 1, steps_ = 0, batch_ = 0, features_ = 0, hidden_ = 0;
  float clip_ = 0;
  std::vector<Activation> activations_;
  TensorId x_ = kNoTensor, column_ = kNoTensor;
  std::vector<int64_t> lengths_;  // constant ones
  std::vector<TensorId> masks_;   // of steps; empty: no lengths are given
};

TensorId RecurrentDirection::Input(int gate, int64_t step) {
  return node_->InputOfStep(inputs_[gate], step);
}

TensorId RecurrentDirection::Gate(int gate, int64_t step, TensorId state) {
  if (!node_->IsJoined(gate)) return Product(gate, state, Input(gate, step));
  if (joined_step_ != step) {
    TensorId all = node_->InputOfStep(joined_inputs_, step);
    if (state != kNoTensor) {
      all = e_->Add("Gemm", {state, joined_r_, all}, {{"transB", int64_t{1}}});
    }
    joined_ = node_->JoinedRows(all);
    joined_step_ = step;
  }
  return node_->Row(joined_, gate);
}

TensorId RecurrentDirection::Product(int gate, TensorId state, TensorId start) {
  if (state == kNoTensor) return start;
  std::vector<TensorId> in = {state, r_[gate]};
  if (start != kNoTensor) in.push_back(start);
  return e_->Add("Gemm", in, {{"transB", int64_t{1}}});
}

TensorId RecurrentDirection::Peephole(int which, TensorId x, TensorId cell) {
  if (peepholes_.empty() || cell == kNoTensor) return x;
  return e_->Add("Add", {x, e_->Add("Mul", {cell, peepholes_[which]})});
}

TensorId RecurrentDirection::Activate(int which, TensorId x, bool clipped) {
  return node_->Activated(first_activation_ + which, x, clipped);
}

absl::Status ExpandRecurrent(Expansion* e, const RecurrentKind& kind,
                             const RecurrentStep& step) {
  Recurrence recurrence(e, kind);
  RETURN_IF_ERROR(recurrence.Check());
  recurrence.Run(step);
  return absl::OkStatus();
}

Define DefineRecurrent(const char* op, int since, int until) {
  Define define(op, since, until);
  define.Attr("activation_alpha", AttributeKind::kFloats)
      .Attr("activation_beta", AttributeKind::kFloats)
      .Attr("activations", AttributeKind::kStrings)
      .Attr("clip", AttributeKind::kFloat)
      .Attr("direction", AttributeKind::kString)
      .Attr("hidden_size", AttributeKind::kInt)
      .Rule(Rejection::kInvalidModel,
            "direction is forward, reverse or bidirectional", DirectionIsKnown)
      .Rule(Rejection::kInvalidModel, "layout is 0 or 1", LayoutIsKnown)
      .Rule(Rejection::kUnsupportedShape,
            "at most 8192 steps are unrolled, over both directions",
            StepsAreFew);
  return define;
}

}  // namespace heddle::compiler
