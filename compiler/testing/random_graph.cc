// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/random_graph.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/ops/operator.h"
#include "compiler/testing/model_builder.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// Of generators by name, and of generators by operator.
struct Generators {
  std::map<std::string, NodeGenerator> by_name;
  std::map<std::string, std::vector<std::string>> by_op;
};

Generators& AllGenerators() {
  static auto* generators = new Generators();
  return *generators;
}

}  // namespace

NodeGeneratorRegistration::NodeGeneratorRegistration(
    const char* name, std::initializer_list<const char*> ops,
    NodeGenerator generator) {
  Generators& all = AllGenerators();
  all.by_name[name] = generator;
  for (const char* op : ops) {
    auto& names = all.by_op[op];
    // Registrations run in the order of linking: sorted, they do not show it.
    names.insert(std::upper_bound(names.begin(), names.end(), name), name);
  }
}

RandomGraphBuilder::RandomGraphBuilder(const RandomGraphOptions& options)
    : options_(options), random_(options.seed * 0x9e3779b97f4a7c15u + 1) {
  batch_ = OneIn(2) ? 1 : Between(2, 3);
  specials_ = OneIn(4);
  any_int64_ = options.reads_int64 == nullptr || OneIn(40);
  if (OneIn(2)) {
    opset_ = Pick({9,  9,  10, 11, 12, 14, 15, 15, 16, 17,
                   17, 18, 18, 19, 19, 20, 21, 22, 23, 23});
  }
}

const char* RandomGraphBuilder::PickOp(std::initializer_list<const char*> ops) {
  for (const char* op : ops) {
    if (wanted_ == op) return op;
  }
  return Pick(ops);
}

float RandomGraphBuilder::Scale(int64_t terms) {
  return (0.25f + Below(1000) / 500.0f) / (16.0f * std::sqrt(float(terms)));
}

RandomGraph RandomGraphBuilder::Run() {
  RandomGraph out;
  const int inputs = Between(1, 2);
  for (int i = 0; i < inputs; ++i) AddInput();
  const int nodes = Between(options_.min_nodes, options_.max_nodes);
  // Every operator comes first in one of as many seeds as there are operators.
  auto first = AllGenerators().by_op.begin();
  std::advance(first, options_.seed % AllGenerators().by_op.size());
  std::string op = first->first;
  if (op == "Upsample") opset_ = 9;
  if (op == "HardSwish") opset_ = 15;
  if (op == "LayerNormalization") opset_ = std::max(opset_, 17);
  if (op == "CastLike") opset_ = std::max(opset_, 15);
  if (op == "BitShift") opset_ = std::max(opset_, 11);
  if (op == "IsInf") opset_ = std::max(opset_, 10);
  if (options_.only != nullptr) op = options_.only;
  if (options_.opset != 0) opset_ = options_.opset;
  if (options_.plain) specials_ = false;
  for (int tries = 0; tries < 40 * nodes; ++tries) {
    if (static_cast<int>(graph_.nodes.size()) >= nodes) break;
    // An operator that nothing here fits gets an input of its own.
    if (!AddNode(op) && graph_.inputs.size() < 5 && OneIn(4)) {
      AddInput();
      if (!AddNode(op)) {
        graph_.inputs.pop_back();
        computed_.pop_back();
        graph_.tensors.pop_back();
      }
    }
    op = options_.only != nullptr ? options_.only : RandomOperator();
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
    out.other_inputs.push_back(Values(t.type, t.shape, 3.0f, specials_));
  }
  out.graph = std::move(graph_);
  return out;
}

TensorData RandomGraphBuilder::Values(DataType type, const Shape& shape,
                                      float range, bool specials) {
  TensorData data = TensorData::Zeros(type, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    switch (type) {
      case DataType::kFloat: {
        float v = Real() * range / 4;
        if (specials && OneIn(12)) {
          v = Pick<float>({std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(), -0.0f, 0.0f,
                           std::numeric_limits<float>::quiet_NaN(), 1e-40f,
                           3e38f});
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
      case DataType::kUint32:
        data.as<uint32_t>()[i] = specials && OneIn(2)
                                     ? static_cast<uint32_t>(random_())
                                     : static_cast<uint32_t>(Below(1000));
        break;
      case DataType::kUint16:
      case DataType::kInt16:
        data.as<int16_t>()[i] = static_cast<int16_t>(random_());
        break;
      case DataType::kInt64:
        data.as<int64_t>()[i] = Between(-1000, 1000);
        break;
      case DataType::kBool:
        data.bytes[i] = static_cast<uint8_t>(Below(2));
        break;
      default:
        data.bytes[i] = static_cast<uint8_t>(random_());
    }
  }
  return data;
}

TensorId RandomGraphBuilder::Constant(TensorData data) {
  return graph_.AddConstant(absl::StrCat("c", graph_.tensors.size()),
                            std::move(data));
}
TensorId RandomGraphBuilder::ScaleConstant(float value) {
  return Constant(Floats({}, {value}));
}
TensorId RandomGraphBuilder::ZeroConstant(DataType type) {
  TensorData data = TensorData::Zeros(type, {});
  data.bytes[0] = OneIn(3) ? 0 : static_cast<uint8_t>(random_());
  if (type == DataType::kUint8 && OneIn(3)) data.bytes[0] = 128;
  return Constant(std::move(data));
}

Shape RandomGraphBuilder::RandomShape(size_t rank) {
  Shape shape;
  if (options_.large) {
    // The logarithm of the number of elements, cut at random places.
    const double most = std::log2(options_.max_elements / batch_);
    const double all = most * (0.5 + Below(1001) / 2000.0);
    std::vector<double> cuts = {0, all};
    const size_t drawn = rank >= 3 ? rank - 1 : rank;
    while (cuts.size() <= drawn) cuts.push_back(all * Below(1001) / 1000.0);
    std::sort(cuts.begin(), cuts.end());
    if (rank >= 3) shape.push_back(batch_);
    for (size_t i = 0; i < drawn; ++i) {
      shape.push_back(static_cast<int64_t>(std::exp2(cuts[i + 1] - cuts[i])));
    }
    return shape;
  }
  for (size_t i = 0; i < rank; ++i) {
    const bool space = rank >= 3 && i >= 2;
    shape.push_back(
        i == 0 && rank >= 3 ? batch_
        : space             ? Between(1, 14)
                : Pick<int64_t>({1, 2, 3, 4, 8, 15, 16, 17, 24, 32, 33, 40}));
  }
  return shape;
}

void RandomGraphBuilder::AddInput() {
  Tensor t;
  t.name = absl::StrCat("x", graph_.tensors.size());
  t.type = Pick(
      {DataType::kFloat, DataType::kUint8, DataType::kUint8, DataType::kInt8});
  if (OneIn(6)) {
    t.type = Pick({DataType::kInt32, DataType::kFloat16, DataType::kInt16,
                   DataType::kUint16, DataType::kUint32});
  }
  t.shape = RandomShape(Pick<size_t>({2, 2, 3, 4, 4, 4, 4}));
  if (OneIn(12)) t.shape = RandomShape(Pick<size_t>({1, 5}));
  t.shape_known = true;
  const TensorId id = graph_.AddTensor(std::move(t));
  graph_.inputs.push_back(id);
  computed_.push_back(id);
}

// Appends the node if the registry accepts it; its result may then be used.
bool RandomGraphBuilder::Append(const std::string& domain,
                                const std::string& op,
                                std::vector<TensorId> inputs,
                                std::map<std::string, Attribute> attributes,
                                int outputs) {
  if (options_.allowed != nullptr && !options_.allowed(domain, op))
    return false;
  if (!wanted_.empty() && op != wanted_) return false;
  if (!any_int64_ && !options_.reads_int64(domain, op)) {
    for (TensorId id : inputs) {
      if (id != kNoTensor && !T(id).is_constant() &&
          T(id).type == DataType::kInt64) {
        return false;
      }
    }
  }
  Node node;
  node.op = op;
  node.domain = domain;
  node.opset = domain.empty() ? opset_ : 1;
  node.name = absl::StrCat(op, "_", graph_.nodes.size());
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const OperatorInfo* info = FindOperator(domain, op, node.opset);
  if (info == nullptr) return false;
  for (int i = 0; i < outputs; ++i) {
    node.outputs.push_back(
        graph_.AddTemporary(absl::StrCat("t_", op), DataType::kUndefined, {}));
  }
  bool good = CheckNode(graph_, node).ok() && info->infer(&graph_, node).ok() &&
              !TooManyProducts(node);
  for (TensorId id : node.outputs) {
    const int64_t elements = good ? ElementCount(T(id).shape) : 0;
    good = good && elements > 0 && elements <= options_.max_elements;
  }
  if (!good) {
    graph_.tensors.resize(graph_.tensors.size() - outputs);
    return false;
  }
  for (TensorId id : node.outputs) {
    graph_.tensors[id].shape_known = true;
    computed_.push_back(id);
  }
  graph_.nodes.push_back(std::move(node));
  return true;
}

// Of m x k by k x n these are the root of the product of the three sizes; of
// convolutions that is more or less so.
bool RandomGraphBuilder::TooManyProducts(const Node& node) const {
  if (node.op.find("Conv") == std::string::npos &&
      node.op.find("MatMul") == std::string::npos &&
      node.op.find("Gemm") == std::string::npos) {
    return false;
  }
  // Groups of some channels each are computed one after another, in several
  // commands: 500 of them take minutes to compile.
  constexpr int64_t kMostGroups = 200;
  if (node.op == "QLinearConv" || node.op == "ConvInteger") {
    const int64_t groups = node.IntAttribute("group", 1);
    if (groups > kMostGroups && groups < T(node.inputs[0]).shape[1]) {
      return true;
    }
  }
  double product = 1;
  for (TensorId id : node.outputs) product *= ElementCount(T(id).shape);
  // The two large ones of the inputs.
  double first = 1, second = 1;
  for (TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    const double size = ElementCount(T(id).shape);
    second = std::max(second, std::min(first, size));
    first = std::max(first, size);
  }
  const double most = static_cast<double>(options_.max_products);
  return product * first * second > most * most;
}

std::map<std::string, Attribute> RandomGraphBuilder::WindowAttributes(
    const Shape& k) {
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

Shape RandomGraphBuilder::Kernel(size_t rank) {
  Shape k;
  for (size_t i = 0; i < rank; ++i) k.push_back(Pick<int64_t>({1, 2, 3, 3, 5}));
  return k;
}

// A tensor of `type` that broadcasts with `shape`: computed or constant.
TensorId RandomGraphBuilder::Partner(DataType type, const Shape& shape,
                                     bool constant_too) {
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

bool RandomGraphBuilder::AppendWithLists(
    int since, const std::string& op, TensorId x,
    const std::vector<std::pair<const char*, std::vector<int64_t>>>& lists,
    std::map<std::string, Attribute> attributes, int outputs) {
  std::vector<TensorId> inputs = {x};
  for (const auto& [name, values] : lists) {
    if (opset_ < since) {
      attributes[name] = values;
    } else {
      inputs.push_back(
          Constant(Int64s({static_cast<int64_t>(values.size())}, values)));
    }
  }
  return Append("", op, inputs, attributes, outputs);
}

std::string RandomGraphBuilder::RandomOperator() {
  // What only graphs of some opsets have.
  if (opset_ < 10 && OneIn(8)) return "Upsample";
  if (opset_ >= 14 && OneIn(20)) return "HardSwish";
  // What few tensors fit.
  if (OneIn(14)) return Pick({"Gemm", "Gemm", "QGemm", "SpaceToDepth"});
  auto drawn = AllGenerators().by_op.begin();
  std::advance(drawn,
               Below(static_cast<int64_t>(AllGenerators().by_op.size())));
  return drawn->first;
}

// Appends a node of operator `op` to one of some tensors, if it fits one.
bool RandomGraphBuilder::AddNode(const std::string& op) {
  const auto& names = AllGenerators().by_op.at(op);
  wanted_ = op;
  bool done = false;
  for (int tries = 0; tries < 12 && !done; ++tries) {
    const auto count = static_cast<int64_t>(computed_.size());
    // Mostly chains, now and then a branch.
    const TensorId x =
        tries > 0 || OneIn(3) ? computed_[Below(count)] : computed_.back();
    const std::string& name = names[Below(static_cast<int64_t>(names.size()))];
    const size_t tensors = graph_.tensors.size();
    done = AllGenerators().by_name.at(name)(this, x);
    if (!done) graph_.tensors.resize(tensors);
  }
  wanted_.clear();
  return done;
}

RandomGraph MakeRandomGraph(const RandomGraphOptions& options) {
  return RandomGraphBuilder(options).Run();
}

bool HasGenerator(const std::string& op) {
  return AllGenerators().by_op.count(op) != 0;
}

}  // namespace heddle::compiler
