// SPDX-License-Identifier: Apache-2.0
#include "compiler/shapes/independence.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/shapes/cut_rules.h"

namespace heddle::compiler {
namespace {

bool SameData(const TensorData& a, const TensorData& b) {
  return a.type == b.type && a.shape == b.shape && a.bytes == b.bytes;
}

bool SameAttribute(const Attribute& a, const Attribute& b) {
  using Data = std::shared_ptr<const TensorData>;
  if (const auto* data = std::get_if<Data>(&a)) {
    const auto* other = std::get_if<Data>(&b);
    return other != nullptr && SameData(**data, **other);
  }
  return a == b;
}

bool SameAttributes(const Node& a, const Node& b) {
  return a.attributes.size() == b.attributes.size() &&
         std::equal(a.attributes.begin(), a.attributes.end(),
                    b.attributes.begin(), [](const auto& x, const auto& y) {
                      return x.first == y.first &&
                             SameAttribute(x.second, y.second);
                    });
}

bool IsExpand(const Node& node) {
  return node.domain.empty() && node.op == "Expand";
}

// A shape that the front end has settled: what it says is in the output.
bool IsTargetShape(const Node& node, size_t input) {
  return input == 1 &&
         ((node.domain.empty() && node.op == "Reshape") || IsExpand(node));
}

class Prover {
 public:
  Prover(const Graph& first, const Graph& second, int64_t few, int64_t many)
      : first_(first),
        second_(second),
        few_(few),
        many_(many),
        cuts_(first.tensors.size()),
        partner_(first.tensors.size(), kNoTensor) {}

  absl::StatusOr<std::vector<CutAxis>> Prove() {
    if (first_.inputs.size() != second_.inputs.size() ||
        first_.nodes.size() != second_.nodes.size() ||
        first_.outputs.size() != second_.outputs.size()) {
      return Differs("the model has other nodes with other sizes");
    }
    for (size_t i = 0; i < first_.inputs.size(); ++i) {
      const TensorId a = first_.inputs[i], b = second_.inputs[i];
      const auto cut = CutOfShapes(a, b);
      // Of an input that a dimension is in twice, the rest would not be there.
      if (!cut.has_value()) return Differs(Describe("input", a));
      cuts_[a] = *cut;
      partner_[a] = b;
    }
    for (size_t n = 0; n < first_.nodes.size(); ++n) {
      RETURN_IF_ERROR(ProveNode(first_.nodes[n], second_.nodes[n]));
    }
    std::vector<CutAxis> outputs;
    for (size_t i = 0; i < first_.outputs.size(); ++i) {
      const auto cut = CutOf(first_.outputs[i], second_.outputs[i]);
      if (!cut.has_value()) {
        return Differs(Describe("output", first_.outputs[i]));
      }
      outputs.push_back(*cut);
    }
    return outputs;
  }

 private:
  static absl::Status Differs(const std::string& why) {
    return absl::FailedPreconditionError(why);
  }
  std::string Describe(const char* what, TensorId id) const {
    return absl::StrCat(what, " '", first_.tensors[id].name,
                        "' is not cut along one axis");
  }

  // Where the shapes differ, if only there.
  std::optional<CutAxis> CutOfShapes(TensorId a, TensorId b) const {
    const Tensor& x = first_.tensors[a];
    const Tensor& y = second_.tensors[b];
    if (x.type != y.type || x.shape.size() != y.shape.size()) {
      return std::nullopt;
    }
    CutAxis cut;
    for (size_t i = 0; i < x.shape.size(); ++i) {
      if (x.shape[i] == y.shape[i]) continue;
      const int64_t inner = x.shape[i] / few_;
      if (cut.axis >= 0 || inner < 1 || inner * few_ != x.shape[i] ||
          inner * many_ != y.shape[i]) {
        return std::nullopt;
      }
      cut.axis = static_cast<int>(i);
      cut.inner = inner;
    }
    return cut;
  }

  // Constants: whether the first is the second cut off.
  std::optional<CutAxis> CutOfConstants(TensorId a, TensorId b) const {
    const TensorData& x = *first_.tensors[a].constant;
    const TensorData& y = *second_.tensors[b].constant;
    const auto cut = CutOfShapes(a, b);
    if (!cut.has_value() || cut->axis < 0) {
      return cut.has_value() && SameData(x, y) ? cut : std::nullopt;
    }
    size_t outer = 1, inner = ElementBytes(x.type);
    for (int i = 0; i < cut->axis; ++i) outer *= x.shape[i];
    for (size_t i = cut->axis + 1; i < x.shape.size(); ++i) inner *= x.shape[i];
    const size_t few = inner * x.shape[cut->axis];
    const size_t many = inner * y.shape[cut->axis];
    for (size_t i = 0; i < outer; ++i) {
      if (few > 0 && std::memcmp(x.bytes.data() + i * few,
                                 y.bytes.data() + i * many, few) != 0) {
        return std::nullopt;
      }
    }
    return cut;
  }

  std::optional<CutAxis> CutOf(TensorId a, TensorId b) const {
    if (first_.tensors[a].is_constant() != second_.tensors[b].is_constant()) {
      return std::nullopt;
    }
    if (first_.tensors[a].is_constant()) return CutOfConstants(a, b);
    if (partner_[a] != b) return std::nullopt;
    return cuts_[a];
  }

  absl::Status ProveNode(const Node& a, const Node& b) {
    if (a.op != b.op || a.domain != b.domain || a.opset != b.opset ||
        !SameAttributes(a, b) || a.inputs.size() != b.inputs.size() ||
        a.outputs.size() != b.outputs.size()) {
      return Differs(
          absl::StrCat(a.Describe(), " is another node with other sizes"));
    }
    const auto wrong = [&](const char* why) {
      return Differs(absl::StrCat(a.Describe(), " ", why));
    };
    std::vector<CutAxis> inputs(a.inputs.size());
    bool any = false;
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      if ((a.inputs[i] == kNoTensor) != (b.inputs[i] == kNoTensor)) {
        return wrong("has other operands with other sizes");
      }
      if (a.inputs[i] == kNoTensor || IsTargetShape(a, i)) continue;
      const auto cut = CutOf(a.inputs[i], b.inputs[i]);
      if (!cut.has_value()) {
        return wrong("computes with a value that depends on the size");
      }
      inputs[i] = *cut;
      any |= cut->axis >= 0;
    }
    std::vector<CutAxis> outputs(a.outputs.size());
    bool grows = false;
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      if ((a.outputs[i] == kNoTensor) != (b.outputs[i] == kNoTensor)) {
        return wrong("has other results with other sizes");
      }
      if (a.outputs[i] == kNoTensor) {
        outputs[i] = i == 0 ? CutAxis() : outputs[0];
        continue;
      }
      const auto cut = CutOfShapes(a.outputs[i], b.outputs[i]);
      if (!cut.has_value()) {
        return wrong("mixes the dimension with others");
      }
      outputs[i] = *cut;
      grows |= cut->axis >= 0;
      cuts_[a.outputs[i]] = *cut;
      partner_[a.outputs[i]] = b.outputs[i];
    }
    if (!any && !grows) return absl::OkStatus();
    if ((!any && !IsExpand(a)) || !KeepsCut({first_, a, inputs, outputs})) {
      return wrong("is not known to work on each index by itself");
    }
    return absl::OkStatus();
  }

  const Graph& first_;
  const Graph& second_;
  const int64_t few_, many_;
  std::vector<CutAxis> cuts_;      // of tensors that have a partner
  std::vector<TensorId> partner_;  // in the second graph, of computed ones
};

}  // namespace

absl::StatusOr<std::vector<CutAxis>> ProveIndependent(const Graph& first,
                                                      const Graph& second,
                                                      int64_t few,
                                                      int64_t many) {
  return Prover(first, second, few, many).Prove();
}

}  // namespace heddle::compiler
