// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/int64_range.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"

namespace heddle::compiler {
namespace {

// An interval in a type in which products of two int32 cannot overflow.
struct Interval {
  int64_t low = INT32_MIN, high = INT32_MAX;
  bool FitsInt32() const { return low >= INT32_MIN && high <= INT32_MAX; }
};

Interval Hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval OfConstant(const TensorData& data) {
  if (data.type != DataType::kInt64 || data.count() == 0) return {};
  const int64_t* v = data.as<int64_t>();
  const auto [low, high] = std::minmax_element(v, v + data.count());
  return {*low, *high};
}

Interval Product(const Interval& a, const Interval& b) {
  const int64_t corners[] = {a.low * b.low, a.low * b.high, a.high * b.low,
                             a.high * b.high};
  const auto [low, high] = std::minmax_element(corners, corners + 4);
  return {*low, *high};
}

// Inputs whose values come out again; others say where, how many, how.
std::vector<TensorId> Operands(const Node& node) {
  if (node.op == "Concat" || node.op == "Max" || node.op == "Min") {
    return node.inputs;
  }
  if (node.op == "Where") return {node.input(1), node.input(2)};
  std::vector<TensorId> all = {node.input(0)};
  if (node.op == "Add" || node.op == "Sub" || node.op == "Mul" ||
      node.op == "Div" || node.op == "Mod") {
    all.push_back(node.input(1));
  } else if (node.op == "Pad") {
    all.push_back(node.input(2));  // the value
  }
  return all;
}

// Of a positive divisor the sign stays; by zero it is -1.
Interval Quotient(const Interval& a, const Interval& b) {
  if (b.low > 0) return Hull({0, 0}, a);
  const int64_t most = std::max(-a.low, a.high);
  return {std::min<int64_t>(-most, -1), std::max<int64_t>(most, 0)};
}

// Nearer to zero than the divisor, with its sign (`truncates`: that of the
// dividend); by zero it is the dividend.
Interval Remainder(const Interval& a, const Interval& b, bool truncates) {
  if (truncates) return Hull({0, 0}, a);
  const bool zero = b.low <= 0 && b.high >= 0;
  return Hull(zero ? Hull({0, 0}, a) : Interval{0, 0}, b);
}

// Values of a node's int64 outputs whose `operands` fit int32.
Interval OfNode(const Node& node, const std::vector<Interval>& operands) {
  if (node.op == "Add") {
    return {operands[0].low + operands[1].low,
            operands[0].high + operands[1].high};
  }
  if (node.op == "Sub") {
    return {operands[0].low - operands[1].high,
            operands[0].high - operands[1].low};
  }
  if (node.op == "Mul") return Product(operands[0], operands[1]);
  if (node.op == "Div") return Quotient(operands[0], operands[1]);
  if (node.op == "Mod") {
    return Remainder(operands[0], operands[1],
                     node.IntAttribute("fmod", 0) != 0);
  }
  Interval hull{0, 0};  // with the zeros of padding
  for (const Interval& operand : operands) hull = Hull(hull, operand);
  return hull;
}

// The first node whose int64 result may not fit, or null.
// Below 2^8 a bound would refuse most inputs that make sense.
constexpr int kFewestBits = 8;

// Beyond 32 bits one value is as good as another; so sums and products of two
// need no more than 64.
Interval Clamped(const Interval& a) {
  const int64_t low = int64_t{INT32_MIN} - 1, high = int64_t{INT32_MAX} + 1;
  return {std::clamp(a.low, low, high), std::clamp(a.high, low, high)};
}

const Node* FindOverflow(const Graph& graph, int64_t bound) {
  std::vector<Interval> values(graph.tensors.size());
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    const Tensor& t = graph.tensors[id];
    if (t.is_constant()) values[id] = OfConstant(*t.constant);
  }
  for (TensorId id : graph.inputs) values[id] = {-bound, bound - 1};
  for (const Node& node : graph.nodes) {
    const bool wide =
        std::any_of(node.outputs.begin(), node.outputs.end(), [&](TensorId id) {
          return id != kNoTensor && graph.tensors[id].type == DataType::kInt64;
        });
    if (!wide) continue;
    // What is made of other types (Cast, ArgMax) fits as it is.
    std::vector<Interval> operands;
    for (TensorId id : Operands(node)) {
      if (id == kNoTensor) continue;
      const bool same = graph.tensors[id].type == DataType::kInt64;
      operands.push_back(
          same && node.op != "ArgMax" && node.op != "ArgMin" ? values[id]
          : graph.tensors[id].type == DataType::kBool        ? Interval{0, 1}
                                                             : Interval());
      if (!operands.back().FitsInt32()) return &node;
    }
    const Interval result = OfNode(node, operands);
    if (!result.FitsInt32()) return &node;
    for (TensorId id : node.outputs) {
      if (id != kNoTensor) values[id] = result;
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<int64_t> Int64InputBound(const Graph& graph) {
  const Node* overflow = nullptr;
  for (int bits = 31; bits >= kFewestBits; --bits) {
    const int64_t bound = int64_t{1} << bits;
    overflow = FindOverflow(graph, bound);
    if (overflow == nullptr) return bound;
  }
  return Reject(
      Rejection::kUnsupportedDatatype,
      absl::StrCat(overflow->Describe(),
                   ": the card holds int64 values as int32, and the result "
                   "may need more; convert the operands to float"));
}

std::vector<bool> FindWideInt64(const Graph& graph,
                                const std::vector<bool>& wide_inputs) {
  constexpr int64_t kBound = int64_t{1} << kFewestBits;
  const Interval few{-kBound, kBound - 1};
  std::vector<Interval> values(graph.tensors.size(), few);
  std::vector<bool> wide(graph.tensors.size(), false);
  for (size_t id = 0; id < graph.tensors.size(); ++id) {
    const Tensor& t = graph.tensors[id];
    if (t.is_constant()) values[id] = Clamped(OfConstant(*t.constant));
  }
  for (size_t i = 0; i < graph.inputs.size() && i < wide_inputs.size(); ++i) {
    if (!wide_inputs[i]) continue;
    values[graph.inputs[i]] = Clamped({INT64_MIN, INT64_MAX});
    wide[graph.inputs[i]] = true;
  }
  for (const Node& node : graph.nodes) {
    if (!node.domain.empty() || node.op == "ArgMax" || node.op == "ArgMin") {
      continue;
    }
    std::vector<Interval> operands;
    for (TensorId id : Operands(node)) {
      if (id == kNoTensor) continue;
      const bool same = graph.tensors[id].type == DataType::kInt64;
      operands.push_back(same ? values[id] : few);
    }
    operands.resize(std::max<size_t>(operands.size(), 2), {0, 0});
    const Interval result = Clamped(OfNode(node, operands));
    // Further results are indices and counts, but for those of Split.
    const size_t results = node.op == "Split" ? node.outputs.size() : 1;
    for (size_t i = 0; i < std::min(results, node.outputs.size()); ++i) {
      const TensorId id = node.outputs[i];
      if (id == kNoTensor || graph.tensors[id].type != DataType::kInt64) {
        continue;
      }
      values[id] = result;
      wide[id] = !result.FitsInt32();
    }
  }
  return wide;
}

}  // namespace heddle::compiler
