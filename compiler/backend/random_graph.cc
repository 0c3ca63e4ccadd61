// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/random_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

constexpr int kOpset = 13;

bool IsCode(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

class Generator {
 public:
  explicit Generator(const RandomGraphOptions& options)
      : options_(options), random_(options.seed * 0x9e3779b97f4a7c15u + 1) {
    batch_ = OneIn(2) ? 1 : Between(2, 3);
    specials_ = OneIn(4);
  }

  RandomGraph Run() {
    RandomGraph out;
    const int inputs = Between(1, 2);
    for (int i = 0; i < inputs; ++i) AddInput(i);
    const int nodes = Between(options_.min_nodes, options_.max_nodes);
    for (int tries = 0; tries < 40 * nodes; ++tries) {
      if (static_cast<int>(graph_.nodes.size()) >= nodes) break;
      AddRandomNode();
    }
    // Results that nobody reads, and now and then one that somebody reads.
    const auto consumers = graph_.Consumers();
    for (TensorId id : computed_) {
      const bool input =
          std::count(graph_.inputs.begin(), graph_.inputs.end(), id);
      if (consumers[id].empty() ? !input || OneIn(4) : OneIn(8)) {
        graph_.outputs.push_back(id);
      }
    }
    if (graph_.outputs.empty()) graph_.outputs.push_back(computed_.back());
    graph_.name = absl::StrCat("random", options_.seed);
    for (TensorId id : graph_.inputs) {
      const Tensor& t = graph_.tensors[id];
      out.inputs.push_back(Values(t.type, t.shape, 3.0f, specials_));
    }
    out.graph = std::move(graph_);
    return out;
  }

 private:
  int64_t Below(int64_t n) {
    return static_cast<int64_t>((random_() >> 11) % n);
  }
  int64_t Between(int64_t low, int64_t high) {
    return low + Below(high - low + 1);
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[Below(values.size())];
  }
  float Real() { return static_cast<float>(Between(-4096, 4096)) / 1024.0f; }
  // Scales of the size that keeps codes of a reduction of `terms` in range.
  float Scale(int64_t terms = 1) {
    return (0.25f + Below(1000) / 500.0f) / (16.0f * std::sqrt(float(terms)));
  }

  TensorData Values(DataType type, const Shape& shape, float range,
                    bool specials) {
    TensorData data = TensorData::Zeros(type, shape);
    for (int64_t i = 0; i < data.count(); ++i) {
      switch (type) {
        case DataType::kFloat: {
          float v = Real() * range / 4;
          if (specials && OneIn(12)) {
            v = Pick<float>({std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(), -0.0f,
                             0.0f, std::numeric_limits<float>::quiet_NaN(),
                             1e-40f, 3e38f});
          }
          data.as<float>()[i] = v;
          break;
        }
        case DataType::kInt32:
          data.as<int32_t>()[i] = specials && OneIn(8)
                                      ? static_cast<int32_t>(random_())
                                      : Between(-1000, 1000);
          break;
        case DataType::kFloat16:
          data.as<uint16_t>()[i] = specials && OneIn(8)
                                       ? static_cast<uint16_t>(random_())
                                       : model::F32ToF16(Real());
          break;
        case DataType::kInt16:
          data.as<int16_t>()[i] = static_cast<int16_t>(random_());
          break;
        default:
          data.bytes[i] = static_cast<uint8_t>(random_());
      }
    }
    return data;
  }

  TensorId Constant(TensorData data) {
    return graph_.AddConstant(absl::StrCat("c", graph_.tensors.size()),
                              std::move(data));
  }
  TensorId ScaleConstant(float value) { return Constant(Floats({}, {value})); }
  TensorId ZeroConstant(DataType type) {
    TensorData data = TensorData::Zeros(type, {});
    data.bytes[0] = OneIn(3) ? 0 : static_cast<uint8_t>(random_());
    if (type == DataType::kUint8 && OneIn(3)) data.bytes[0] = 128;
    return Constant(std::move(data));
  }

  Shape RandomShape(size_t rank) {
    Shape shape;
    for (size_t i = 0; i < rank; ++i) {
      const bool space = rank >= 3 && i >= 2;
      shape.push_back(
          i == 0 && rank >= 3 ? batch_
          : space             ? Between(1, 14)
                  : Pick<int64_t>({1, 2, 3, 4, 8, 15, 16, 17, 24, 32, 33, 40}));
    }
    return shape;
  }

  void AddInput(int index) {
    Tensor t;
    t.name = absl::StrCat("x", index);
    t.type = Pick({DataType::kFloat, DataType::kUint8, DataType::kUint8,
                   DataType::kInt8});
    if (OneIn(6)) {
      t.type = Pick({DataType::kInt32, DataType::kFloat16, DataType::kInt16});
    }
    t.shape = RandomShape(Pick<size_t>({2, 3, 4, 4, 4, 4}));
    if (OneIn(12)) t.shape = RandomShape(Pick<size_t>({1, 5}));
    t.shape_known = true;
    const TensorId id = graph_.AddTensor(std::move(t));
    graph_.inputs.push_back(id);
    computed_.push_back(id);
  }

  const Tensor& T(TensorId id) const { return graph_.tensors[id]; }

  // Appends the node if the registry accepts it; its result may then be used.
  bool Append(const std::string& domain, const std::string& op,
              std::vector<TensorId> inputs,
              std::map<std::string, Attribute> attributes = {}) {
    if (options_.allowed != nullptr && !options_.allowed(domain, op))
      return false;
    Node node;
    node.op = op;
    node.domain = domain;
    node.opset = domain.empty() ? kOpset : 1;
    node.name = absl::StrCat(op, "_", graph_.nodes.size());
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    const OperatorInfo* info = FindOperator(domain, op, node.opset);
    if (info == nullptr) return false;
    const TensorId out =
        graph_.AddTemporary(absl::StrCat("t_", op), DataType::kUndefined, {});
    node.outputs = {out};
    if (!CheckNode(graph_, node).ok() || !info->infer(&graph_, node).ok() ||
        ElementCount(T(out).shape) > options_.max_elements ||
        ElementCount(T(out).shape) == 0) {
      graph_.tensors.pop_back();
      return false;
    }
    graph_.tensors[out].shape_known = true;
    graph_.nodes.push_back(std::move(node));
    computed_.push_back(out);
    return true;
  }

  std::map<std::string, Attribute> WindowAttributes(const Shape& k) {
    std::map<std::string, Attribute> a;
    Shape strides, dilations, pads(2 * k.size(), 0);
    const bool same = OneIn(4);
    for (size_t i = 0; i < k.size(); ++i) {
      strides.push_back(OneIn(2) ? 1 : Between(1, 3));
      dilations.push_back(OneIn(4) ? Between(1, 3) : 1);
      for (size_t side : {i, i + k.size()}) {
        if (OneIn(2)) pads[side] = Below((k[i] - 1) * dilations[i] + 1);
        if (OneIn(10)) pads[side] = Below(6);  // a window inside the padding
      }
    }
    if (!OneIn(5)) a["strides"] = strides;
    if (!OneIn(5)) a["dilations"] = dilations;
    if (same) {
      a["auto_pad"] = std::string(OneIn(2) ? "SAME_UPPER" : "SAME_LOWER");
    } else {
      a["pads"] = pads;
    }
    return a;
  }

  Shape Kernel(size_t rank) {
    Shape k;
    for (size_t i = 0; i < rank; ++i)
      k.push_back(Pick<int64_t>({1, 2, 3, 3, 5}));
    return k;
  }

  bool AddConv(TensorId x) {
    const Shape xs = T(x).shape;
    if (xs.size() != 3 && xs.size() != 4) return false;
    const bool code = IsCode(T(x).type);
    int64_t group = 1, maps = Pick<int64_t>({1, 3, 8, 16, 17, 20, 32, 40});
    if (OneIn(3)) {  // depthwise
      group = xs[1];
      maps = OneIn(4) ? 2 * group : group;
    } else if (OneIn(4)) {
      std::vector<int64_t> divisors;
      for (int64_t g = 1; g <= xs[1]; ++g) {
        if (xs[1] % g == 0) divisors.push_back(g);
      }
      group = divisors[Below(divisors.size())];
      maps = group * Between(1, 3);
    }
    const Shape kernel = Kernel(xs.size() - 2);
    Shape ws = {maps, xs[1] / group};
    ws.insert(ws.end(), kernel.begin(), kernel.end());
    auto attributes = WindowAttributes(kernel);
    if (group != 1) attributes["group"] = group;
    const int64_t terms = ElementCount(ws) / maps;
    if (!code) {
      std::vector<TensorId> in = {
          x, Constant(Values(DataType::kFloat, ws, 1, specials_ && OneIn(3)))};
      if (OneIn(2))
        in.push_back(Constant(Values(DataType::kFloat, {maps}, 1, specials_)));
      return Append("", "Conv", in, attributes);
    }
    const DataType wt = Pick({DataType::kInt8, DataType::kUint8});
    const bool per_channel = OneIn(2) && maps > 1;
    TensorId w_scale = ScaleConstant(Scale(terms)), w_zero = ZeroConstant(wt);
    if (per_channel) {
      TensorData scales = TensorData::Zeros(DataType::kFloat, {maps});
      for (int64_t i = 0; i < maps; ++i) scales.as<float>()[i] = Scale(terms);
      w_scale = Constant(scales);
      TensorData zeros = TensorData::Zeros(wt, {maps});
      if (OneIn(2)) zeros = Values(wt, {maps}, 1, false);
      w_zero = Constant(zeros);
    }
    std::vector<TensorId> in = {x,
                                ScaleConstant(Scale()),
                                ZeroConstant(T(x).type),
                                Constant(Values(wt, ws, 1, false)),
                                w_scale,
                                w_zero,
                                ScaleConstant(Scale() * 4),
                                ZeroConstant(T(x).type)};
    if (OneIn(2))
      in.push_back(Constant(Values(DataType::kInt32, {maps}, 1, specials_)));
    return Append("", "QLinearConv", in, attributes);
  }

  bool AddProduct(TensorId a) {
    Shape as = T(a).shape;
    if (as.empty()) return false;
    const int64_t n = Pick<int64_t>({1, 3, 10, 16, 17, 33});
    const int64_t k = as.back();
    if (!IsCode(T(a).type)) {
      if (T(a).type != DataType::kFloat) return false;
      if (as.size() != 2 || OneIn(2)) {
        return Append("", "MatMul",
                      {a, Constant(Values(DataType::kFloat, {k, n}, 1,
                                          specials_ && OneIn(3)))});
      }
      const int64_t trans_a = OneIn(3), trans_b = OneIn(2);
      const int64_t m = trans_a ? as[1] : as[0],
                    depth = trans_a ? as[0] : as[1];
      std::vector<TensorId> in = {
          a, Constant(Values(DataType::kFloat,
                             trans_b ? Shape{n, depth} : Shape{depth, n}, 1,
                             false))};
      if (OneIn(2)) {
        in.push_back(Constant(Values(
            DataType::kFloat,
            Pick<Shape>({{n}, {1}, {}, {m, 1}, {1, n}, {m, n}}), 1, false)));
      }
      return Append("", "Gemm", in,
                    {{"transA", trans_a},
                     {"transB", trans_b},
                     {"alpha", Pick<float>({1, 0.5f, 0})},
                     {"beta", Pick<float>({1, 0.25f})}});
    }
    const DataType wt = Pick({DataType::kInt8, DataType::kUint8});
    const DataType type = T(a).type;
    TensorId b_scale = ScaleConstant(Scale(k)), b_zero = ZeroConstant(wt);
    if (OneIn(2) && n > 1) {
      TensorData scales = TensorData::Zeros(DataType::kFloat, {n});
      for (int64_t i = 0; i < n; ++i) scales.as<float>()[i] = Scale(k);
      b_scale = Constant(scales);
      b_zero = Constant(OneIn(2) ? Values(wt, {n}, 1, false)
                                 : TensorData::Zeros(wt, {n}));
    }
    // Stacks of matrices may be refused: a few are enough.
    if (as.size() != 2 && !OneIn(20)) return false;
    if (as.size() != 2 || OneIn(2)) {
      return Append("", "QLinearMatMul",
                    {a, ScaleConstant(Scale()), ZeroConstant(type),
                     Constant(Values(wt, {k, n}, 1, false)), b_scale, b_zero,
                     ScaleConstant(Scale() * 4), ZeroConstant(type)});
    }
    const int64_t trans_b = OneIn(2);
    std::vector<TensorId> in = {
        a,
        ScaleConstant(Scale()),
        ZeroConstant(type),
        Constant(Values(wt, trans_b ? Shape{n, k} : Shape{k, n}, 1, false)),
        b_scale,
        b_zero};
    const int64_t m = as[0];
    in.push_back(
        OneIn(2)
            ? kNoTensor
            : Constant(Values(
                  DataType::kInt32,
                  Pick<Shape>({{n}, {1}, {1, n}, {n}, {OneIn(5) ? m : 1, 1}}),
                  1, specials_)));
    if (!OneIn(4)) {
      in.push_back(ScaleConstant(Scale() * 4));
      in.push_back(ZeroConstant(type));
    }
    return Append("com.microsoft", "QGemm", in,
                  {{"transB", trans_b}, {"alpha", Pick<float>({1, 0.5f})}});
  }

  // A tensor of `type` that broadcasts with `shape`: computed or constant.
  TensorId Partner(DataType type, const Shape& shape, bool constant_too) {
    std::vector<TensorId> fitting;
    for (TensorId id : computed_) {
      const Shape& s = T(id).shape;
      if (T(id).type != type || s.size() > shape.size()) continue;
      bool fits = true;
      for (size_t i = 1; i <= s.size(); ++i) {
        const int64_t a = s[s.size() - i], b = shape[shape.size() - i];
        fits = fits && (a == b || a == 1 || b == 1);
      }
      if (fits) fitting.push_back(id);
    }
    if (!fitting.empty() && (!constant_too || !OneIn(2))) {
      return fitting[Below(fitting.size())];
    }
    Shape s = shape;
    for (int64_t& d : s) {
      if (OneIn(3)) d = 1;
    }
    s.erase(s.begin(), s.begin() + Below(s.size() + 1));
    return Constant(Values(type, s, 2, specials_));
  }

  bool AddBinary(TensorId x) {
    const DataType type = T(x).type;
    TensorId y = Partner(type, T(x).shape, true);
    const bool swap = OneIn(2);
    const TensorId a = swap ? y : x, b = swap ? x : y;
    if (IsCode(type) && !OneIn(5)) {
      std::vector<TensorId> in = {a,
                                  ScaleConstant(Scale()),
                                  ZeroConstant(type),
                                  b,
                                  ScaleConstant(Scale()),
                                  ZeroConstant(type),
                                  ScaleConstant(Scale())};
      if (!OneIn(4)) in.push_back(ZeroConstant(type));
      return Append("com.microsoft", OneIn(3) ? "QLinearMul" : "QLinearAdd",
                    in);
    }
    const char* op = Pick<const char*>({"Add", "Sub", "Mul", "Div"});
    // An integer division by zero is an error of the model.
    const bool floats = type == DataType::kFloat || type == DataType::kFloat16;
    if (!floats && std::string(op) == "Div") return false;
    return Append("", op, {a, b});
  }

  bool AddQuantize(TensorId x) {
    const Tensor t = T(x);
    const DataType to = Pick({DataType::kUint8, DataType::kInt8});
    const bool down =
        !IsCode(t.type) && (t.type == DataType::kFloat || OneIn(2));
    const DataType zero_type = down ? to : t.type;
    TensorId scale = ScaleConstant(Scale());
    TensorId zero = t.type == DataType::kInt32 && !down
                        ? Constant(TensorData::Zeros(DataType::kInt32, {}))
                        : ZeroConstant(zero_type);
    std::map<std::string, Attribute> attributes;
    if (OneIn(3) && !t.shape.empty() &&
        !(t.type == DataType::kInt32 && !down)) {
      const int64_t axis =
          OneIn(3) || t.shape.size() < 2 ? Below(t.shape.size()) : 1;
      const int64_t n = t.shape[axis];
      TensorData scales = TensorData::Zeros(DataType::kFloat, {n});
      for (int64_t i = 0; i < n; ++i) scales.as<float>()[i] = Scale();
      scale = Constant(scales);
      zero = Constant(Values(zero_type, {n}, 1, false));
      attributes["axis"] = axis;
    }
    std::vector<TensorId> in = {x, scale, zero};
    if (OneIn(6)) in.pop_back();
    return Append("", down ? "QuantizeLinear" : "DequantizeLinear", in,
                  attributes);
  }

  bool AddShape(TensorId x) {
    const Shape s = T(x).shape;
    switch (Below(5)) {
      case 0:
        return Append("", "Flatten", {x},
                      {{"axis", OneIn(2) ? int64_t{1} : Below(s.size() + 1)}});
      case 1: {
        Shape perm(s.size());
        for (size_t i = 0; i < perm.size(); ++i) perm[i] = i;
        std::shuffle(perm.begin(), perm.end(), random_);
        return Append("", "Transpose", {x}, {{"perm", perm}});
      }
      case 2:
        return Append("", "Identity", {x});
      case 3: {
        Shape axes = {Below(s.size() + 1)};
        return Append("", "Unsqueeze", {x, Constant(Int64s({1}, axes))});
      }
      default: {
        // Splits the elements among another number of dimensions.
        Shape to;
        int64_t left = ElementCount(s);
        const int rank = Between(1, 5);
        if (OneIn(2) && !s.empty() && rank > 1) {
          to.push_back(s[0]);
          left /= s[0];
        }
        while (static_cast<int>(to.size()) + 1 < rank) {
          std::vector<int64_t> divisors;
          for (int64_t d = 1; d <= left && d <= 64; ++d) {
            if (left % d == 0) divisors.push_back(d);
          }
          to.push_back(divisors[Below(divisors.size())]);
          left /= to.back();
        }
        to.push_back(left);
        const Shape dims = {static_cast<int64_t>(to.size())};
        return Append("", "Reshape", {x, Constant(Int64s(dims, to))});
      }
    }
  }

  bool AddUnary(TensorId x) {
    const Tensor t = T(x);
    const char* op =
        Pick<const char*>({"Relu", "Clip", "Sigmoid", "LeakyRelu"});
    std::vector<TensorId> in = {x};
    if (std::string(op) == "Clip") {
      for (float bound : {-1.0f, 2.0f}) {
        if (OneIn(4)) {
          in.push_back(kNoTensor);
          continue;
        }
        TensorData data = TensorData::Zeros(t.type, {});
        if (t.type == DataType::kFloat) {
          *data.as<float>() = bound;
        } else if (t.type == DataType::kInt32) {
          *data.as<int32_t>() = static_cast<int32_t>(100 * bound);
        } else if (t.type == DataType::kFloat16) {
          *data.as<uint16_t>() = model::F32ToF16(bound);
        } else if (t.type == DataType::kInt16) {
          *data.as<int16_t>() = static_cast<int16_t>(5000 * bound);
        } else {
          data.bytes[0] = static_cast<uint8_t>(60 + 30 * bound);
        }
        in.push_back(Constant(data));
      }
      if (in.back() == kNoTensor) in.pop_back();
    }
    return Append("", op, in);
  }

  bool AddPool(TensorId x) {
    const Shape s = T(x).shape;
    if (s.size() != 3 && s.size() != 4) return false;
    const Shape kernel = Kernel(s.size() - 2);
    auto attributes = WindowAttributes(kernel);
    attributes["kernel_shape"] = kernel;
    if (OneIn(4)) attributes["ceil_mode"] = int64_t{1};
    return Append("", OneIn(5) ? "AveragePool" : "MaxPool", {x}, attributes);
  }

  void AddRandomNode() {
    // Mostly chains, now and then a branch.
    const TensorId x =
        OneIn(3) ? computed_[Below(computed_.size())] : computed_.back();
    switch (Below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        AddConv(x);
        break;
      case 4:
      case 5:
        AddProduct(x);
        break;
      case 6:
        AddPool(x);
        break;
      case 7:
      case 8:
        AddBinary(x);
        break;
      case 9:
        AddQuantize(x);
        break;
      case 10:
        AddShape(x);
        break;
      default:
        AddUnary(x);
        break;
    }
  }

  const RandomGraphOptions options_;
  std::mt19937_64 random_;
  int64_t batch_ = 1;
  bool specials_ = false;
  Graph graph_;
  std::vector<TensorId> computed_;
};

}  // namespace

RandomGraph MakeRandomGraph(const RandomGraphOptions& options) {
  return Generator(options).Run();
}

}  // namespace heddle::compiler
