// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/fold_affine.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/passes/rewriter.h"

namespace heddle::compiler {
namespace {

// y[c] = x[c] * scale[c] + shift[c]
struct Affine {
  TensorId x = kNoTensor;
  std::vector<double> scale, shift;
  bool scales = false;
};

class Folder {
 public:
  explicit Folder(Rewriter* r) : r_(*r) {}

  void Run() {
    // Nodes that are added stand for convolutions; only old ones are folded.
    const int count = r_.size();
    for (int n = 0; n < count; ++n) {
      if (r_.alive(n)) Fold(n);
    }
  }

 private:
  const TensorData* Constant(TensorId id) const {
    if (id == kNoTensor || !r_.tensor(id).is_constant()) return nullptr;
    const TensorData* data = r_.tensor(id).constant.get();
    return data->type == DataType::kFloat ? data : nullptr;
  }

  // One value per channel (dimension 1) of a tensor of `shape`, if `data`
  // broadcasts to it and varies along channels at most.
  static std::optional<std::vector<double>> PerChannel(const TensorData& data,
                                                       const Shape& shape) {
    if (data.shape.size() > shape.size()) return std::nullopt;
    const size_t lead = shape.size() - data.shape.size();
    for (size_t i = 0; i < data.shape.size(); ++i) {
      const bool channel = lead + i == 1 && data.shape[i] == shape[1];
      if (data.shape[i] != 1 && !channel) return std::nullopt;
    }
    std::vector<double> values(static_cast<size_t>(shape[1]));
    for (size_t c = 0; c < values.size(); ++c) {
      values[c] = data.as<float>()[data.count() > 1 ? c : 0];
    }
    return values;
  }

  std::optional<Affine> BatchNormalization(const Node& node) const {
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoTensor) return std::nullopt;
    }
    if (node.inputs.size() != 5 || node.IntAttribute("training_mode", 0) != 0) {
      return std::nullopt;
    }
    Affine a;
    a.x = node.inputs[0];
    const int64_t channels = r_.tensor(a.x).shape[1];
    const TensorData* p[4];
    for (size_t i = 0; i < 4; ++i) {
      p[i] = Constant(node.inputs[i + 1]);
      if (p[i] == nullptr || p[i]->count() != channels) return std::nullopt;
    }
    const double epsilon = node.FloatAttribute("epsilon", 1e-5f);
    for (int64_t c = 0; c < channels; ++c) {
      const double s =
          p[0]->as<float>()[c] / std::sqrt(p[3]->as<float>()[c] + epsilon);
      a.scale.push_back(s);
      a.shift.push_back(p[1]->as<float>()[c] - p[2]->as<float>()[c] * s);
    }
    a.scales = true;
    return a;
  }

  std::optional<Affine> AffineOf(const Node& node) const {
    const bool normalizes = node.op == "BatchNormalization";
    if (!node.domain.empty() ||
        (!normalizes && node.op != "Mul" && node.op != "Add" &&
         node.op != "Sub") ||
        node.inputs.size() < 2 || node.input(0) == kNoTensor ||
        node.outputs.empty() || node.outputs[0] == kNoTensor ||
        r_.tensor(node.outputs[0]).type != DataType::kFloat) {
      return std::nullopt;
    }
    const Shape& shape = r_.tensor(node.outputs[0]).shape;
    if (shape.size() < 2) return std::nullopt;
    if (normalizes) return BatchNormalization(node);
    size_t c = 1;
    if (Constant(node.inputs[1]) == nullptr && node.op != "Sub") c = 0;
    const TensorData* data = Constant(node.inputs[c]);
    if (data == nullptr || r_.tensor(node.inputs[1 - c]).shape != shape) {
      return std::nullopt;
    }
    auto values = PerChannel(*data, shape);
    if (!values) return std::nullopt;
    Affine a;
    a.x = node.inputs[1 - c];
    a.scale.assign(values->size(), 1);
    a.shift.assign(values->size(), 0);
    if (node.op == "Mul") {
      a.scale = *values;
      a.scales = true;
    } else {
      a.shift = *values;
      if (node.op == "Sub") {
        for (double& t : a.shift) t = -t;
      }
    }
    return a;
  }

  // The channel of the result that element i of the weights belongs to.
  static int64_t ChannelOf(const Node& node, const Shape& w, int64_t i) {
    if (node.op == "Conv") return i / (ElementCount(w) / w[0]);
    if (node.op == "Gemm") {
      return node.IntAttribute("transB", 0) != 0 ? i / w[1] : i % w[1];
    }
    // ConvTranspose: [channels, maps of a group, ...].
    const int64_t group = node.IntAttribute("group", 1);
    const int64_t kernel = ElementCount(Shape(w.begin() + 2, w.end()));
    return i / kernel / w[1] / (w[0] / group) * w[1] + i / kernel % w[1];
  }

  // The bias of the node per channel; nothing if it is not a constant vector.
  std::optional<std::vector<double>> BiasOf(const Node& node,
                                            size_t channels) const {
    if (node.input(2) == kNoTensor) return std::vector<double>(channels, 0);
    const TensorData* data = Constant(node.inputs[2]);
    if (data == nullptr) return std::nullopt;
    Shape shape = data->shape;
    if (node.op == "Gemm") {
      if (shape.size() == 2 && shape[0] != 1) return std::nullopt;
    }
    std::vector<double> bias(channels);
    const double beta =
        node.op == "Gemm" ? node.FloatAttribute("beta", 1) : 1.0;
    for (size_t c = 0; c < channels; ++c) {
      bias[c] = beta * data->as<float>()[data->count() > 1 ? c : 0];
    }
    return bias;
  }

  static bool AllFinite(const TensorData& data) {
    const float* v = data.as<float>();
    return std::all_of(v, v + data.count(),
                       [](float f) { return std::isfinite(f); });
  }

  void Fold(int n) {
    const Node node = r_.node(n);
    const auto affine = AffineOf(node);
    if (!affine || !r_.OnlyUse(affine->x)) return;
    const int p = r_.Producer(affine->x);
    if (!r_.IsOp(p, "Conv") && !r_.IsOp(p, "ConvTranspose") &&
        !r_.IsOp(p, "Gemm")) {
      return;
    }
    Node folded = r_.node(p);
    const auto bias = BiasOf(folded, affine->scale.size());
    if (!bias) return;
    TensorData b = TensorData::Zeros(
        DataType::kFloat, {static_cast<int64_t>(affine->scale.size())});
    for (size_t c = 0; c < bias->size(); ++c) {
      b.as<float>()[c] =
          static_cast<float>((*bias)[c] * affine->scale[c] + affine->shift[c]);
    }
    if (!AllFinite(b)) return;
    if (affine->scales) {
      const TensorData* w = Constant(folded.inputs[1]);
      if (w == nullptr) return;
      TensorData scaled = *w;
      for (int64_t i = 0; i < scaled.count(); ++i) {
        scaled.as<float>()[i] = static_cast<float>(
            w->as<float>()[i] *
            affine->scale[static_cast<size_t>(ChannelOf(folded, w->shape, i))]);
      }
      if (!AllFinite(scaled)) return;
      folded.inputs[1] = r_.NewConstant(
          r_.tensor(folded.inputs[1]).name + "/scaled", std::move(scaled));
    }
    folded.inputs.resize(3, kNoTensor);
    folded.inputs[2] =
        r_.NewConstant(r_.tensor(node.outputs[0]).name + "/bias", std::move(b));
    folded.attributes.erase("beta");
    folded.outputs = {node.outputs[0]};
    folded.sources.insert(folded.sources.end(), node.sources.begin(),
                          node.sources.end());
    r_.Remove(n);
    r_.Remove(p);
    r_.Add(std::move(folded));
  }

  Rewriter& r_;
};

}  // namespace

absl::Status FoldAffine(Graph* graph) {
  Rewriter rewriter(graph);
  Folder(&rewriter).Run();
  return rewriter.Finish();
}

}  // namespace heddle::compiler
