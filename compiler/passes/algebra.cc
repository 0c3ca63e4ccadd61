// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/algebra.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

bool IsFloat(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16 ||
         type == DataType::kBfloat16 || type == DataType::kDouble;
}

// An operand that changes nothing, by the bits of its elements.
enum class Neutral { kOne, kZero, kMinusZero, kOnes };

bool Holds(const TensorData& data, Neutral neutral) {
  const size_t bytes = ElementBytes(data.type);
  if (bytes == 0 || data.count() == 0) return false;
  uint64_t bits = 0;
  switch (neutral) {
    case Neutral::kZero:
      break;
    case Neutral::kMinusZero:
      if (!IsFloat(data.type)) return false;
      bits = uint64_t{1} << (8 * bytes - 1);
      break;
    case Neutral::kOnes:
      bits = ~uint64_t{0};
      break;
    case Neutral::kOne:
      switch (data.type) {
        case DataType::kFloat:
          bits = 0x3f800000;
          break;
        case DataType::kFloat16:
          bits = 0x3c00;
          break;
        case DataType::kBfloat16:
          bits = 0x3f80;
          break;
        case DataType::kDouble:
          bits = 0x3ff0000000000000;
          break;
        default:
          bits = 1;
      }
  }
  for (size_t i = 0; i < data.bytes.size(); i += bytes) {
    if (std::memcmp(data.bytes.data() + i, &bits, bytes) != 0) return false;
  }
  return true;
}

// Of an operator of two operands, what the second may be, and whether the first
// may, too.
struct NeutralOperand {
  const char* op;
  bool floats, integers, bools;
  Neutral neutral;
  bool either;
};
constexpr NeutralOperand kNeutralOperands[] = {
    {"Mul", true, true, false, Neutral::kOne, true},
    {"Div", true, true, false, Neutral::kOne, false},
    {"Sub", true, true, false, Neutral::kZero, false},
    {"Add", true, false, false, Neutral::kMinusZero, true},
    {"Add", false, true, false, Neutral::kZero, true},
    {"And", false, false, true, Neutral::kOne, true},
    {"Or", false, false, true, Neutral::kZero, true},
    {"Xor", false, false, true, Neutral::kZero, true},
    {"BitwiseAnd", false, true, false, Neutral::kOnes, true},
    {"BitwiseOr", false, true, false, Neutral::kZero, true},
    {"BitwiseXor", false, true, false, Neutral::kZero, true},
    {"BitShift", false, true, false, Neutral::kZero, false},
};

// What a Cast to `to` keeps exactly. (Not of double: it is the host's, and what
// is cast to it is so for an operator there.)
bool KeepsAll(DataType from, DataType to) {
  if (from == to) return true;
  static const auto* wider = new std::map<DataType, std::set<DataType>>{
      {DataType::kBool,
       {DataType::kUint8, DataType::kInt8, DataType::kUint16, DataType::kInt16,
        DataType::kInt32, DataType::kUint32, DataType::kInt64,
        DataType::kUint64, DataType::kFloat16, DataType::kBfloat16,
        DataType::kFloat}},
      {DataType::kUint8,
       {DataType::kUint16, DataType::kInt16, DataType::kInt32,
        DataType::kUint32, DataType::kInt64, DataType::kUint64,
        DataType::kFloat16, DataType::kFloat}},
      {DataType::kInt8,
       {DataType::kInt16, DataType::kInt32, DataType::kInt64,
        DataType::kFloat16, DataType::kFloat}},
      {DataType::kUint16,
       {DataType::kInt32, DataType::kUint32, DataType::kInt64,
        DataType::kUint64, DataType::kFloat}},
      {DataType::kInt16,
       {DataType::kInt32, DataType::kInt64, DataType::kFloat}},
      {DataType::kInt32, {DataType::kInt64}},
      {DataType::kUint32, {DataType::kInt64, DataType::kUint64}},
      {DataType::kFloat16, {DataType::kFloat}},
      {DataType::kBfloat16, {DataType::kFloat}},
  };
  const auto it = wider->find(from);
  return it != wider->end() && it->second.count(to) != 0;
}

class Algebra {
 public:
  Algebra(Graph* graph, const Supposed* supposed)
      : rewriter_(graph), supposed_(supposed) {}

  absl::Status Apply() {
    for (int n = 0; n < rewriter_.size(); ++n) {
      if (!rewriter_.alive(n) || !rewriter_.node(n).domain.empty() ||
          rewriter_.node(n).outputs.size() != 1 ||
          rewriter_.node(n).input(0) == kNoTensor) {
        continue;
      }
      if (SkipsBefore(n) || LeavesOutEmpty(n)) continue;
      const TensorId same = Same(n);
      if (same == kNoTensor) continue;
      const Tensor &from = rewriter_.tensor(same),
                   &to = rewriter_.tensor(rewriter_.node(n).outputs[0]);
      if (from.type != to.type || from.shape != to.shape) continue;
      GiveBack(n, same);
    }
    return rewriter_.Finish();
  }

 private:
  const TensorData* Values(TensorId id) const {
    if (id == kNoTensor ||
        (supposed_ != nullptr && supposed_->constants.count(id) != 0)) {
      return nullptr;
    }
    return rewriter_.tensor(id).constant.get();
  }
  bool IsOne(TensorId id, Neutral neutral) const {
    const TensorData* values = Values(id);
    return values != nullptr && Holds(*values, neutral);
  }
  // The node before n is `op` of the default domain.
  bool Behind(int n, const char* op) const {
    return rewriter_.IsOp(rewriter_.Producer(rewriter_.node(n).inputs[0]), op);
  }
  TensorId BeforeThat(int n) const {
    return rewriter_.node(rewriter_.Producer(rewriter_.node(n).inputs[0]))
        .inputs[0];
  }

  // The tensor that node n's result equals if it has its type and shape.
  TensorId Same(int n) const {
    const Node& node = rewriter_.node(n);
    const TensorId x = node.inputs[0];
    const DataType type = rewriter_.tensor(x).type;
    const bool real = IsFloat(type), boolean = type == DataType::kBool;
    for (const NeutralOperand& rule : kNeutralOperands) {
      if (node.op != rule.op || node.inputs.size() != 2 ||
          !(real      ? rule.floats
            : boolean ? rule.bools
                      : rule.integers)) {
        continue;
      }
      if (IsOne(node.inputs[1], rule.neutral)) return x;
      if (rule.either && IsOne(x, rule.neutral)) return node.inputs[1];
    }
    const std::string& op = node.op;
    if (op == "Neg" || op == "Not" || op == "BitwiseNot") {
      return Behind(n, op.c_str()) ? BeforeThat(n) : kNoTensor;
    }
    if (op == "Abs" || op == "Relu" || op == "Floor" || op == "Ceil" ||
        op == "Round" || op == "Sign") {
      return Behind(n, op.c_str()) ? x : kNoTensor;
    }
    if (op == "And" || op == "Or" || op == "BitwiseAnd" || op == "BitwiseOr") {
      return node.input(1) == x ? x : kNoTensor;
    }
    if (op == "Where") {
      return node.input(1) == node.input(2) ? node.input(1) : kNoTensor;
    }
    if (op == "Cast") {
      return Behind(n, "Cast") &&
                     KeepsAll(rewriter_.tensor(BeforeThat(n)).type, type)
                 ? BeforeThat(n)
                 : kNoTensor;
    }
    if (op == "Sum" || op == "Min" || op == "Max") {
      return node.inputs.size() == 1 ? x : kNoTensor;
    }
    if (op == "Expand" || op == "Tile") return x;
    if (op == "Pad")
      return IsOne(node.input(1), Neutral::kZero) ? x : kNoTensor;
    if (op == "Slice") {
      // Of the whole shape, so only the direction matters.
      return node.input(4) == kNoTensor || IsOne(node.input(4), Neutral::kOne)
                 ? x
                 : kNoTensor;
    }
    return kNoTensor;
  }

  // Abs(Neg(x)), and a Cast behind one that loses nothing, read what is before.
  bool SkipsBefore(int n) {
    const std::string& op = rewriter_.node(n).op;
    const bool skips =
        (op == "Abs" && Behind(n, "Neg")) ||
        (op == "Cast" && Behind(n, "Cast") &&
         KeepsAll(rewriter_.tensor(BeforeThat(n)).type,
                  rewriter_.tensor(rewriter_.node(n).inputs[0]).type) &&
         rewriter_.tensor(BeforeThat(n)).type !=
             rewriter_.tensor(rewriter_.node(n).outputs[0]).type);
    if (!skips) return false;
    rewriter_.SetInput(n, 0, BeforeThat(n));
    return true;
  }

  // A Concat has no operands that have nothing on its axis, such as a cache of
  // keys before the first token: only the host has tensors without elements.
  bool LeavesOutEmpty(int n) {
    Node concat = rewriter_.node(n);
    const Tensor& to = rewriter_.tensor(concat.outputs[0]);
    if (concat.op != "Concat" || !to.shape_known || ElementCount(to.shape) == 0)
      return false;
    int64_t axis = concat.IntAttribute("axis", 1);
    if (axis < 0) axis += static_cast<int64_t>(to.shape.size());
    const size_t before = concat.inputs.size();
    concat.inputs.erase(
        std::remove_if(
            concat.inputs.begin(), concat.inputs.end(),
            [&](TensorId id) { return rewriter_.tensor(id).shape[axis] == 0; }),
        concat.inputs.end());
    if (concat.inputs.size() == before) return false;
    rewriter_.Remove(n);
    rewriter_.Add(std::move(concat));
    return true;
  }

  // Node n's readers read `same`. An output of the graph keeps its writer,
  // which becomes an Identity.
  void GiveBack(int n, TensorId same) {
    const Node node = rewriter_.node(n);
    const TensorId out = node.outputs[0];
    if (rewriter_.graph().IsOutput(out)) {
      Node identity = node;
      identity.op = "Identity";
      identity.attributes.clear();
      identity.inputs = {same};
      rewriter_.Remove(n);
      rewriter_.Add(std::move(identity));
      return;
    }
    const std::set<int> readers = rewriter_.Consumers(out);
    rewriter_.Remove(n);
    for (int reader : readers) {
      for (size_t i = 0; i < rewriter_.node(reader).inputs.size(); ++i) {
        if (rewriter_.node(reader).inputs[i] == out) {
          rewriter_.SetInput(reader, i, same);
        }
      }
    }
  }

  Rewriter rewriter_;
  const Supposed* supposed_;
};

}  // namespace

absl::Status ApplyAlgebra(Graph* graph, const Supposed* supposed) {
  RETURN_IF_ERROR(Algebra(graph, supposed).Apply());
  graph->RemoveDeadNodes();
  return absl::OkStatus();
}

}  // namespace heddle::compiler
