// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/quantize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/bounded.h"
#include "compiler/ops/clamp.h"
#include "compiler/ops/gemm.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/passes/quantize_bias.h"
#include "compiler/passes/quantize_pairs.h"
#include "compiler/passes/quantize_products.h"
#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

constexpr const char* kMicrosoft = "com.microsoft";

// Codes with their parameters: what a DequantizeLinear reads or a
// QuantizeLinear writes. `axis` is the channel axis of a vector scale.
struct Quantized {
  TensorId codes = kNoTensor;
  TensorId scale = kNoTensor;
  TensorId zero = kNoTensor;
  DataType type = DataType::kUndefined;
  int64_t axis = 1;
  std::vector<std::string> sources;
};

bool IsCode(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

bool IsAnyOf(const std::string& op, std::initializer_list<const char*> list) {
  return std::any_of(list.begin(), list.end(),
                     [&op](const char* name) { return op == name; });
}

class Fuser {
 public:
  explicit Fuser(Rewriter* rewriter) : r_(*rewriter) {}

  // Nodes that `bounded` touches stay as they are.
  void Run(const BoundedTensors& bounded) {
    const int count = r_.size();
    const auto is = [&](int n, const char* op) {
      return r_.alive(n) && r_.IsOp(n, op) && !bounded.Touches(r_.node(n));
    };
    for (int n = 0; n < count; ++n) {
      if (is(n, "QuantizeLinear")) FuseQuantize(n);
    }
    for (int n = 0; n < count; ++n) {
      if (is(n, "Split")) FuseSplit(n);
      if (is(n, "ArgMax")) FuseArgMax(n);
    }
    for (int n = 0; n < count; ++n) {
      if (is(n, "MatMul") || is(n, "Gemm")) FuseToFloat(n);
    }
    for (const auto& [n, reason] : reasons_) {
      if (!r_.alive(n)) continue;
      r_.graph().float_groups.push_back(
          {r_.node(n).name, r_.node(n).op, reason});
    }
  }

 private:
  // Remembers why the group at hand stays float; false.
  template <typename... Args>
  bool No(const Args&... why) {
    why_ = absl::StrCat(why...);
    return false;
  }
  std::string Name(TensorId id) const {
    return id == kNoTensor ? "(absent)" : "'" + r_.tensor(id).name + "'";
  }

  // Node t computes with quantized values, of which one changes from run to
  // run, and it stays as it is.
  void StaysFloat(int t, const std::string& reason) {
    for (TensorId id : r_.node(t).inputs) {
      const int d = r_.Producer(id);
      if (r_.IsOp(d, "DequantizeLinear") &&
          !r_.tensor(r_.node(d).inputs[0]).is_constant()) {
        reasons_.emplace(t, reason);
        return;
      }
    }
  }

  bool IsScalar(TensorId id) const {
    return id != kNoTensor && ElementCount(r_.tensor(id).shape) == 1;
  }
  // The one element of a constant float scale.
  std::optional<float> ScalarScale(TensorId id) const {
    if (!IsScalar(id) || !r_.tensor(id).is_constant()) return std::nullopt;
    return r_.tensor(id).constant->as<float>()[0];
  }
  std::optional<int32_t> ScalarZero(TensorId id) const {
    if (!IsScalar(id) || !r_.tensor(id).is_constant()) return std::nullopt;
    return LoadQuantized(*r_.tensor(id).constant, 0);
  }
  TensorId ZeroOfType(DataType type, const std::string& hint) {
    return r_.NewConstant(hint + "/zero_point", TensorData::Zeros(type, {}));
  }

  // The codes behind a value that a DequantizeLinear computes.
  std::optional<Quantized> Dequantized(TensorId id) {
    const int d = r_.Producer(id);
    if (!r_.IsOp(d, "DequantizeLinear")) return std::nullopt;
    const Node node = r_.node(d);
    Quantized q;
    q.codes = node.inputs[0];
    q.scale = node.inputs[1];
    q.zero = node.input(2);
    q.type = r_.tensor(q.codes).type;
    q.axis = node.IntAttribute("axis", 1);
    q.sources = node.sources;
    if (q.zero == kNoTensor) {
      q.zero = ZeroOfType(q.type, r_.tensor(q.codes).name);
    }
    return q;
  }

  // What the QuantizeLinear writes; nothing, and why, if it cannot end a fused
  // group.
  std::optional<Quantized> Target(int n) {
    const Node node = r_.node(n);
    Quantized q;
    q.codes = node.outputs[0];
    q.scale = node.inputs[1];
    q.zero = node.input(2);
    q.type = r_.tensor(q.codes).type;
    if (!IsCode(q.type)) {
      No("its result is quantized to ", DataTypeName(q.type));
      return std::nullopt;
    }
    if (!IsScalar(q.scale) || (q.zero != kNoTensor && !IsScalar(q.zero))) {
      No("its result is quantized with several scales");
      return std::nullopt;
    }
    if (q.zero == kNoTensor) {
      q.zero = ZeroOfType(q.type, r_.tensor(q.codes).name);
    }
    return q;
  }

  // True if the clamp of the QuantizeLinear implies the Relu or Clip.
  bool IsImplied(const Node& clamp, const Quantized& out) const {
    const auto scale = ScalarScale(out.scale);
    const auto zero = ScalarZero(out.zero);
    if (!scale || !zero || !(*scale > 0)) return false;
    if (clamp.op == "Relu") return *zero == QuantizedMin(out.type);
    float low = 0, high = 0;
    if (!ConstantClampBounds(r_.graph(), clamp, &low, &high)) return false;
    const auto code = [&](float bound) {
      return std::nearbyint(model::FDiv(bound, *scale)) +
             static_cast<float>(*zero);
    };
    return code(low) <= static_cast<float>(QuantizedMin(out.type)) &&
           code(high) >= static_cast<float>(QuantizedMax(out.type));
  }

  void FuseQuantize(int q) {
    const TensorId id = r_.node(q).inputs[0];
    int t = r_.Producer(id);
    if (t < 0 || r_.IsOp(t, "DequantizeLinear")) return;
    if (!FuseInto(q, &t)) StaysFloat(t, why_);
  }

  // *t is the node whose result is quantized; in the end the one that would
  // have been replaced.
  bool FuseInto(int q, int* t) {
    std::vector<std::string> sources;
    TensorId id = r_.node(q).inputs[0];
    const auto out = Target(q);
    if (!out) return false;
    while (r_.IsOp(*t, "Relu") || r_.IsOp(*t, "Clip")) {
      if (!r_.OnlyUse(id)) break;
      const int before = r_.Producer(r_.node(*t).inputs[0]);
      if (before < 0 || r_.IsOp(before, "DequantizeLinear")) break;
      const Node clamp = r_.node(*t);
      id = clamp.inputs[0];
      *t = before;
      if (!IsImplied(clamp, *out)) {
        return No("the ", clamp.op, " '", clamp.name,
                  "' after it clips values that ", Name(out->codes),
                  " can hold");
      }
      Append(clamp.sources, &sources);
    }
    if (!r_.OnlyUse(id)) {
      return No(Name(id), " is read by others too, not only quantized");
    }
    const Node target = r_.node(*t);
    if (!target.domain.empty()) return NoIntegerForm(target);
    Node fused;
    fused.name = target.name;
    fused.outputs = {out->codes};
    fused.sources = target.sources;
    Append(sources, &fused.sources);
    Append(r_.node(q).sources, &fused.sources);
    return BuildFused(target, *out, &fused) && Replace(q, std::move(fused));
  }

  bool NoIntegerForm(const Node& target) {
    return No("the card has no integer form of ", target.op);
  }

  static void Append(const std::vector<std::string>& from,
                     std::vector<std::string>* to) {
    for (const std::string& name : from) {
      if (std::find(to->begin(), to->end(), name) == to->end()) {
        to->push_back(name);
      }
    }
  }

  // Puts `fused` in the place of node n if its own rules accept it; the node
  // that is replaced stays otherwise.
  bool Replace(int n, Node fused) {
    const Node old = r_.node(n);
    Graph& graph = r_.graph();
    if (const absl::Status s = CheckNode(graph, fused); !s.ok()) {
      return No(s.message());
    }
    const Tensor before = graph.tensors[fused.outputs[0]];
    const OperatorInfo* info =
        FindOperator(fused.domain, fused.op, fused.opset);
    const absl::Status inferred = info->infer(&graph, fused);
    Tensor& after = graph.tensors[fused.outputs[0]];
    if (!inferred.ok() || after.type != before.type ||
        after.shape != before.shape) {
      after = before;
      return No(inferred.ok() ? "its integer form has a different type or shape"
                              : inferred.message());
    }
    r_.Remove(n);
    r_.Add(std::move(fused));
    return true;
  }

  bool BuildFused(const Node& target, const Quantized& out, Node* fused) {
    fused->opset = target.opset;
    const std::string& op = target.op;
    if (op == "Conv") return BuildConv(target, out, fused);
    if (op == "MatMul") return BuildMatMul(target, out, fused);
    if (op == "Gemm") return BuildGemm(target, &out, fused);
    if (op == "Concat") return BuildConcat(target, out, fused);
    if (op == "Where") return BuildWhere(target, out, fused);
    if (op == "Add" || op == "Mul") {
      const auto a = Operand(target, 0);
      const auto b = Operand(target, 1);
      if (!a || !b) return false;
      SetOp(kMicrosoft, op == "Add" ? "QLinearAdd" : "QLinearMul", fused);
      AppendOperand(*a, fused);
      AppendOperand(*b, fused);
      AppendParameters(out, fused);
      return SameType(*a, *b) && SameType(*a, out);
    }
    if (IsAnyOf(op, {"AveragePool", "GlobalAveragePool", "Sigmoid", "LeakyRelu",
                     "Softmax"})) {
      const auto x = Operand(target, 0);
      if (!x || !SameType(*x, out)) return false;
      SetOp(kMicrosoft, ("QLinear" + op).c_str(), fused);
      fused->attributes = target.attributes;
      if (op == "Softmax") {
        fused->attributes["axis"] =
            target.IntAttribute("axis", target.opset < 13 ? 1 : -1);
        fused->attributes["opset"] = static_cast<int64_t>(target.opset);
      }
      AppendOperand(*x, fused);
      AppendParameters(out, fused);
      return IsActivation(*x);
    }
    if (IsAnyOf(op, {"MaxPool", "Reshape", "Transpose", "Flatten", "Squeeze",
                     "Unsqueeze", "Slice", "Gather", "GatherElements", "Expand",
                     "Tile", "DepthToSpace"}) ||
        (op == "Resize" && CopiesElements(target))) {
      return BuildLayout(target, out, fused);
    }
    return NoIntegerForm(target);
  }

  // The codes behind an operand that must be quantized.
  std::optional<Quantized> Operand(const Node& target, size_t i) {
    auto operand = Dequantized(target.inputs[i]);
    if (!operand) {
      No("its input ", Name(target.inputs[i]), " is not quantized");
    }
    return operand;
  }
  bool SameType(const Quantized& a, const Quantized& b) {
    return a.type == b.type ||
           No(Name(a.codes), " is ", DataTypeName(a.type), ", ", Name(b.codes),
              " is ", DataTypeName(b.type));
  }
  bool IsActivation(const Quantized& x) {
    return HasScalarParameters(x) ||
           No(Name(x.codes), " is ", DataTypeName(x.type), " with ",
              ElementCount(r_.tensor(x.scale).shape),
              " scales; it must be int8 or uint8 with one");
  }
  bool FitsWeights(const Quantized& x, const Quantized& w, int64_t axis) {
    if (!HasChannelParameters(w, axis)) {
      return No("its weights ", Name(w.codes), " are ", DataTypeName(w.type),
                " with scales along axis ", w.axis,
                "; they must be int8 or uint8 with one scale, or with scales "
                "along axis ",
                axis);
    }
    return x.type != DataType::kInt8 || w.type == DataType::kInt8 ||
           No("its input ", Name(x.codes), " is int8, its weights ",
              Name(w.codes), " are uint8");
  }

  static void SetOp(const char* domain, const char* op, Node* fused) {
    fused->domain = domain;
    fused->op = op;
    if (domain[0] != '\0') fused->opset = 1;
  }
  static void AppendOperand(const Quantized& x, Node* fused) {
    fused->inputs.insert(fused->inputs.end(), {x.codes, x.scale, x.zero});
    Append(x.sources, &fused->sources);
  }
  static void AppendParameters(const Quantized& out, Node* fused) {
    fused->inputs.insert(fused->inputs.end(), {out.scale, out.zero});
  }

  // Activations have one scale; weights one, or one per channel of `axis`.
  bool HasScalarParameters(const Quantized& x) const {
    return IsCode(x.type) && IsScalar(x.scale) && IsScalar(x.zero);
  }
  bool HasChannelParameters(const Quantized& w, int64_t axis) const {
    if (!IsCode(w.type)) return false;
    if (IsScalar(w.scale) && IsScalar(w.zero)) return true;
    const auto rank = static_cast<int64_t>(r_.tensor(w.codes).shape.size());
    return (w.axis < 0 ? w.axis + rank : w.axis) == axis;
  }

  // Weights of a Conv or Gemm: quantized ones, or float constants that are
  // quantized here, per tensor, int8, asymmetric.
  std::optional<Quantized> Weights(TensorId id) {
    if (auto w = Dequantized(id)) return w;
    const Tensor& tensor = r_.tensor(id);
    if (!tensor.is_constant() || tensor.type != DataType::kFloat ||
        tensor.constant->count() == 0) {
      No("its weights ", Name(id), " are neither quantized nor constants");
      return std::nullopt;
    }
    const std::string name = tensor.name;
    QuantizedWeights weights = QuantizeWeights(*tensor.constant);
    Quantized w;
    w.type = DataType::kInt8;
    w.codes = r_.NewConstant(name + "/quantized", std::move(weights.codes));
    w.scale = r_.NewConstant(name + "/scale", std::move(weights.scale));
    w.zero = r_.NewConstant(name + "/zero_point", std::move(weights.zero));
    return w;
  }

  // The int32 bias of a fused Conv or Gemm; kNoTensor in `bias` when there is
  // none. False if the bias does not fit, and the group stays float.
  bool Bias(const Node& target, const Quantized& x, const Quantized& w,
            std::vector<std::string>* sources, TensorId* bias) {
    *bias = kNoTensor;
    const TensorId id = target.input(2);
    if (id == kNoTensor) return true;
    const Tensor& xs = r_.tensor(x.scale);
    const Tensor& ws = r_.tensor(w.scale);
    if (auto b = Dequantized(id)) {
      const Tensor& zero = r_.tensor(b->zero);
      if (b->type != DataType::kInt32 || !zero.is_constant() ||
          std::any_of(zero.constant->bytes.begin(), zero.constant->bytes.end(),
                      [](uint8_t byte) { return byte != 0; })) {
        return No("its bias ", Name(b->codes), " is ", DataTypeName(b->type),
                  "; it must be int32 with zero point 0");
      }
      if (target.op == "Conv") {
        const Tensor& bs = r_.tensor(b->scale);
        if (!xs.is_constant() || !ws.is_constant() || !bs.is_constant()) {
          return No(
              "scales of its input, weights or bias are computed at run "
              "time");
        }
        const std::string mismatch =
            BiasScaleMismatch(*bs.constant, *xs.constant, *ws.constant);
        if (!mismatch.empty()) {
          return No("its bias ", Name(b->codes), " has ", mismatch);
        }
      }
      Append(b->sources, sources);
      *bias = b->codes;
      return true;
    }
    const Tensor& floats = r_.tensor(id);
    if (!floats.is_constant() || floats.type != DataType::kFloat ||
        !xs.is_constant() || !ws.is_constant()) {
      return No("its bias ", Name(id), " is neither quantized nor a constant");
    }
    auto codes = QuantizeBias(*floats.constant, *xs.constant, *ws.constant);
    if (!codes) {
      return No("its bias ", Name(id), " has shape ",
                ShapeToString(floats.shape), ", which does not fit ",
                ws.constant->count(), " scales of weights");
    }
    const std::string name = floats.name + "/quantized";
    *bias = r_.NewConstant(name, *std::move(codes));
    return true;
  }

  bool BuildConv(const Node& target, const Quantized& out, Node* fused) {
    const auto x = Operand(target, 0);
    if (!x || !SameType(*x, out) || !IsActivation(*x)) return false;
    const auto w = Weights(target.inputs[1]);
    if (!w || !FitsWeights(*x, *w, 0)) return false;
    SetOp("", "QLinearConv", fused);
    fused->attributes = target.attributes;
    AppendOperand(*x, fused);
    AppendOperand(*w, fused);
    AppendParameters(out, fused);
    TensorId bias = kNoTensor;
    if (!Bias(target, *x, *w, &fused->sources, &bias)) return false;
    if (bias != kNoTensor) fused->inputs.push_back(bias);
    return true;
  }

  bool BuildMatMul(const Node& target, const Quantized& out, Node* fused) {
    const auto a = Operand(target, 0);
    const auto b = Operand(target, 1);
    if (!a || !b || !SameType(*a, out) || !IsActivation(*a) ||
        !FitsWeights(*a, *b, LastAxis(*b))) {
      return false;
    }
    SetOp("", "QLinearMatMul", fused);
    AppendOperand(*a, fused);
    AppendOperand(*b, fused);
    AppendParameters(out, fused);
    return true;
  }

  // With `out` null: float result.
  bool BuildGemm(const Node& target, const Quantized* out, Node* fused) {
    const auto a = Operand(target, 0);
    if (!a || !IsActivation(*a) || (out != nullptr && !SameType(*a, *out))) {
      return false;
    }
    const auto b =
        out != nullptr ? Weights(target.inputs[1]) : Operand(target, 1);
    const bool trans_b = target.IntAttribute("transB", 0) != 0;
    if (!b || !FitsWeights(*a, *b, trans_b ? 0 : 1)) return false;
    SetOp(kMicrosoft, "QGemm", fused);
    AppendOperand(*a, fused);
    AppendOperand(*b, fused);
    TensorId bias = kNoTensor;
    if (target.input(2) != kNoTensor) {
      if (target.FloatAttribute("alpha", 1) != 1 ||
          target.FloatAttribute("beta", 1) != 1) {
        return No("alpha and beta must be 1 beside a bias");
      }
      if (out == nullptr && !Operand(target, 2)) return false;
      if (!Bias(target, *a, *b, &fused->sources, &bias)) return false;
    }
    fused->inputs.push_back(bias);
    if (out != nullptr) AppendParameters(*out, fused);
    fused->attributes = target.attributes;
    fused->attributes.erase("beta");
    while (fused->inputs.back() == kNoTensor) fused->inputs.pop_back();
    return true;
  }

  bool BuildConcat(const Node& target, const Quantized& out, Node* fused) {
    SetOp(kMicrosoft, "QLinearConcat", fused);
    fused->attributes = target.attributes;
    AppendParameters(out, fused);
    for (size_t i = 0; i < target.inputs.size(); ++i) {
      const auto part = Operand(target, i);
      if (!part || !SameType(*part, out) || !IsActivation(*part)) return false;
      AppendOperand(*part, fused);
    }
    return true;
  }

  bool BuildWhere(const Node& target, const Quantized& out, Node* fused) {
    const auto x = Operand(target, 1);
    const auto y = Operand(target, 2);
    if (!x || !y || !SameType(*x, out) || !SameType(*y, out) ||
        !IsActivation(*x) || !IsActivation(*y)) {
      return false;
    }
    SetOp(kMicrosoft, "QLinearWhere", fused);
    fused->inputs = {target.inputs[0]};
    AppendOperand(*x, fused);
    AppendOperand(*y, fused);
    AppendParameters(out, fused);
    return true;
  }

  // A Resize whose results are elements of its input.
  static bool CopiesElements(const Node& node) {
    return node.StringAttribute("mode", "nearest") == "nearest" &&
           node.StringAttribute("coordinate_transformation_mode",
                                "half_pixel") != "tf_crop_and_resize";
  }

  // Type, scale and zero point of both sides are one, constant, and positive.
  bool SameParameters(const Quantized& x, const Quantized& y) {
    if (!SameType(x, y) || !IsActivation(x)) return false;
    const auto xs = ScalarScale(x.scale), ys = ScalarScale(y.scale);
    const auto xz = ScalarZero(x.zero), yz = ScalarZero(y.zero);
    if (!xs || !ys || !xz || !yz) {
      return No("scales or zero points are computed at run time");
    }
    if (*xs == *ys && *xz == *yz && *xs > 0) return true;
    return No("it only moves values, but ", Name(x.codes), " has scale ", *xs,
              " and zero point ", *xz, ", ", Name(y.codes), " has ", *ys,
              " and ", *yz);
  }

  // Split on codes, if every result goes to a QuantizeLinear of the input's
  // parameters and nowhere else.
  void FuseSplit(int n) {
    const auto quantized = [this](TensorId id) {
      return id != kNoTensor && r_.OnlyUse(id) &&
             r_.IsOp(*r_.Consumers(id).begin(), "QuantizeLinear");
    };
    const Node target = r_.node(n);
    if (SplitCodes(n, target) ||
        !std::any_of(target.outputs.begin(), target.outputs.end(), quantized)) {
      return;
    }
    StaysFloat(n, why_);
  }

  bool SplitCodes(int n, const Node& target) {
    const auto x = Operand(target, 0);
    if (!x) return false;
    Node fused = target;
    fused.inputs[0] = x->codes;
    Append(x->sources, &fused.sources);
    std::vector<int> quantizers;
    for (TensorId& out : fused.outputs) {
      if (out == kNoTensor) return No("one of its results is not used");
      const int q = r_.OnlyUse(out) ? *r_.Consumers(out).begin() : -1;
      if (!r_.IsOp(q, "QuantizeLinear") || r_.node(q).inputs[0] != out) {
        return No(Name(out), " is read by others too, not only quantized");
      }
      const auto to = Target(q);
      if (!to || !SameParameters(*x, *to)) return false;
      quantizers.push_back(q);
      Append(r_.node(q).sources, &fused.sources);
      out = to->codes;
    }
    if (const absl::Status s = CheckNode(r_.graph(), fused); !s.ok()) {
      return No(s.message());
    }
    for (int q : quantizers) r_.Remove(q);
    r_.Remove(n);
    r_.Add(std::move(fused));
    return true;
  }

  // The place of the largest value is that of the largest code.
  void FuseArgMax(int n) {
    const Node target = r_.node(n);
    const auto x = Dequantized(target.inputs[0]);
    if (!x || !HasScalarParameters(*x)) return;
    const auto scale = ScalarScale(x->scale);
    // So small a scale, or so large a one, makes different codes equal.
    if (!scale || !(*scale > 1e-30f && *scale < 1e30f)) return;
    Node fused = target;
    fused.inputs[0] = x->codes;
    Append(x->sources, &fused.sources);
    Replace(n, std::move(fused));
  }

  // Operators that move codes: only with equal parameters on both sides.
  bool BuildLayout(const Node& target, const Quantized& out, Node* fused) {
    const auto x = Operand(target, 0);
    if (!x || !SameParameters(*x, out)) return false;
    fused->op = target.op;
    fused->attributes = target.attributes;
    fused->inputs = target.inputs;
    fused->inputs[0] = x->codes;
    Append(x->sources, &fused->sources);
    return true;
  }

  // A product of dequantized operands whose result stays float.
  void FuseToFloat(int n) {
    const Node target = r_.node(n);
    const TensorId out = target.outputs[0];
    const auto& readers = r_.Consumers(out);
    // Replaced: its codes are what is read.
    if (readers.empty() && !r_.graph().IsOutput(out)) return;
    for (int reader : readers) {
      if (r_.IsOp(reader, "QuantizeLinear")) return;
    }
    if (readers.size() == 1 && (r_.IsOp(*readers.begin(), "Relu") ||
                                r_.IsOp(*readers.begin(), "Clip"))) {
      const auto& after = r_.Consumers(r_.node(*readers.begin()).outputs[0]);
      if (after.size() == 1 && r_.IsOp(*after.begin(), "QuantizeLinear")) {
        return;
      }
    }
    Node fused;
    fused.name = target.name;
    fused.outputs = {out};
    fused.sources = target.sources;
    const bool both = Dequantized(target.inputs[0]).has_value() &&
                      Dequantized(target.inputs[1]).has_value();
    const bool good = target.op == "Gemm" ? BuildGemm(target, nullptr, &fused)
                                          : BuildToFloat(target, &fused);
    if ((!good || !Replace(n, std::move(fused))) && both) StaysFloat(n, why_);
  }

  bool BuildToFloat(const Node& target, Node* fused) {
    const auto a = Operand(target, 0);
    const auto b = Operand(target, 1);
    if (!a || !b || !IsActivation(*a) || !FitsWeights(*a, *b, LastAxis(*b))) {
      return false;
    }
    SetOp(kMicrosoft, "MatMulIntegerToFloat", fused);
    fused->inputs = {a->codes, b->codes, a->scale, b->scale, a->zero, b->zero};
    Append(a->sources, &fused->sources);
    Append(b->sources, &fused->sources);
    return true;
  }

  int64_t LastAxis(const Quantized& x) const {
    return static_cast<int64_t>(r_.tensor(x.codes).shape.size()) - 1;
  }

  Rewriter& r_;
  std::string why_;                     // see No()
  std::map<int, std::string> reasons_;  // of nodes that stay float
};

// DequantizeLinear directly followed by QuantizeLinear of equal parameters:
// the codes pass unchanged.
void RemoveInversePairs(Rewriter* rewriter) {
  Rewriter& r = *rewriter;
  const int count = r.size();
  for (int q = 0; q < count; ++q) {
    if (!r.alive(q) || !r.IsOp(q, "QuantizeLinear")) continue;
    const int d = r.Producer(r.node(q).inputs[0]);
    if (!r.IsOp(d, "DequantizeLinear")) continue;
    const TensorId codes = r.node(d).inputs[0];
    const TensorId out = r.node(q).outputs[0];
    if (r.tensor(codes).type != r.tensor(out).type) continue;
    bool equal = true;
    for (size_t i = 1; i <= 2; ++i) {
      const TensorId a = r.node(d).input(i), b = r.node(q).input(i);
      if (a == b && i == 1) continue;
      if (a == kNoTensor || b == kNoTensor || !r.tensor(a).is_constant() ||
          !r.tensor(b).is_constant() || r.tensor(a).constant->count() != 1 ||
          r.tensor(b).constant->count() != 1 ||
          r.tensor(a).constant->bytes != r.tensor(b).constant->bytes) {
        equal = false;
      }
    }
    if (!equal || !r.tensor(r.node(d).inputs[1]).is_constant()) continue;
    // Equal only while scale * code neither overflows nor becomes denormal.
    const float scale = r.tensor(r.node(d).inputs[1]).constant->as<float>()[0];
    if (!(scale > 1e-30f && scale < 1e30f)) continue;
    Node identity;
    identity.op = "Identity";
    identity.name = r.node(q).name;
    identity.opset = r.node(q).opset;
    identity.sources = r.node(d).sources;
    identity.sources.insert(identity.sources.end(), r.node(q).sources.begin(),
                            r.node(q).sources.end());
    identity.inputs = {codes};
    identity.outputs = {out};
    r.Remove(q);
    r.Add(std::move(identity));
  }
}

}  // namespace

absl::Status FuseQuantization(Graph* graph) {
  // What only a run's values size is the host's, as the model has it; pairs
  // that would move across it stay where they are, everywhere.
  ASSIGN_OR_RETURN(const BoundedTensors bounded, FindBounded(*graph));
  const bool open = std::any_of(
      graph->nodes.begin(), graph->nodes.end(), [&](const Node& node) {
        return IsAnyOf(node.op, {"QuantizeLinear", "DequantizeLinear"}) &&
               bounded.Touches(node);
      });
  Rewriter rewriter(graph);
  if (!open) {
    MergeDoublePairs(&rewriter);
    MovePairs(&rewriter);
    FoldIntoProducts(&rewriter);
  }
  Fuser(&rewriter).Run(bounded);
  if (!open) RemoveInversePairs(&rewriter);
  return rewriter.Finish();
}

}  // namespace heddle::compiler
