// SPDX-License-Identifier: Apache-2.0
#include "compiler/partition/host_work.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>

#include "compiler/direct/direct.h"
#include "compiler/ops/control_flow.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/program_operator.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

// An expansion that has no end would be a mistake of an operator; it is counted
// no further.
constexpr int kMostDepth = 16;

double Product(Shape::const_iterator begin, Shape::const_iterator end) {
  double product = 1;
  for (; begin != end; ++begin) product *= static_cast<double>(*begin);
  return product;
}
double Count(const Shape& shape) { return Product(shape.begin(), shape.end()); }

// Of the tensors of a node, absent ones being empty.
class Operands {
 public:
  Operands(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  const Shape& in(size_t i) const { return ShapeOf(node_.input(i)); }
  const Shape& out() const {
    return ShapeOf(node_.outputs.empty() ? kNoTensor : node_.outputs[0]);
  }
  double Inputs() const { return Sum(node_.inputs); }
  double Outputs() const { return Sum(node_.outputs); }
  double OutputBytes() const {
    double bytes = 0;
    for (TensorId id : node_.outputs) {
      if (id == kNoTensor) continue;
      bytes += Count(graph_.tensors[id].shape) *
               static_cast<double>(ElementBytes(graph_.tensors[id].type));
    }
    return bytes;
  }
  bool IsFloat() const {
    return !node_.outputs.empty() && node_.outputs[0] != kNoTensor &&
           graph_.tensors[node_.outputs[0]].type == DataType::kFloat;
  }
  bool IsHalf() const {
    return !node_.outputs.empty() && node_.outputs[0] != kNoTensor &&
           graph_.tensors[node_.outputs[0]].type == DataType::kFloat16;
  }
  double Largest() const {
    double most = 0;
    for (const auto* ids : {&node_.inputs, &node_.outputs}) {
      for (TensorId id : *ids) {
        if (id != kNoTensor) most = std::max(most, Count(ShapeOf(id)));
      }
    }
    return most;
  }

 private:
  const Shape& ShapeOf(TensorId id) const {
    static const Shape* const none = new Shape({0});
    return id == kNoTensor ? *none : graph_.tensors[id].shape;
  }
  double Sum(const std::vector<TensorId>& ids) const {
    double sum = 0;
    for (TensorId id : ids) {
      if (id != kNoTensor) sum += Count(ShapeOf(id));
    }
    return sum;
  }

  const Graph& graph_;
  const Node& node_;
};

// Products and convolutions: where the weights are, and how.
enum class ProductKind { kMatMul, kGemm, kConv, kConvTranspose };
struct ProductForm {
  ProductKind kind;
  bool integer;
  size_t weights;  // input
};

const ProductForm* FindProduct(const std::string& op) {
  static const auto* const forms = new std::map<std::string, ProductForm>{
      {"MatMul", {ProductKind::kMatMul, false, 1}},
      {"MatMulInteger", {ProductKind::kMatMul, true, 1}},
      {"MatMulIntegerToFloat", {ProductKind::kMatMul, true, 1}},
      {"QLinearMatMul", {ProductKind::kMatMul, true, 3}},
      {"Gemm", {ProductKind::kGemm, false, 1}},
      {"QGemm", {ProductKind::kGemm, true, 3}},
      {"Conv", {ProductKind::kConv, false, 1}},
      {"ConvInteger", {ProductKind::kConv, true, 1}},
      {"QLinearConv", {ProductKind::kConv, true, 3}},
      {"DeformConv", {ProductKind::kConv, false, 1}},
      {"ConvTranspose", {ProductKind::kConvTranspose, false, 1}},
  };
  const auto found = forms->find(op);
  return found == forms->end() ? nullptr : &found->second;
}

// Of what an element takes by itself: one of a matrix that is transposed, of
// weights that are put into panels, of an image that is laid beside its
// neighbours, one that goes from float16 to float or back.
constexpr double kTransposed = 0.25, kPacked = 0.15, kLaid = 0.25,
                 kConverted = 0.2;

// With so many rows of results (maps of a group) floats are multiplied in
// panels of registers: a product takes this part of one in a row.
constexpr double kLeastRows = 4, kPanelled = 0.3;

// The multiplications, in inner loops along the last axis of the result (of
// the operand, for ConvTranspose).
void CountProduct(const ProductForm& form, const Node& node, const Operands& o,
                  HostWork* work) {
  const Shape& x = o.in(0);
  const Shape& w = o.in(form.weights);
  const Shape& y = o.out();
  double macs = 0, row = 1, together = 0;
  switch (form.kind) {
    case ProductKind::kMatMul:
      macs = Count(y) * (x.empty() ? 1 : static_cast<double>(x.back()));
      row = w.size() < 2 ? 1 : static_cast<double>(w.back());
      if (x.size() > 1) together = static_cast<double>(x[x.size() - 2]);
      break;
    case ProductKind::kGemm:
      if (x.size() == 2 && y.size() == 2) {
        const bool transposed = node.IntAttribute("transA", 0) != 0;
        macs = Count(y) * static_cast<double>(x[transposed ? 0 : 1]);
        row = static_cast<double>(y[1]);
        together = static_cast<double>(y[0]);
      }
      break;
    case ProductKind::kConv:
      if (!w.empty() && w[0] > 0 && !y.empty()) {
        macs = Count(y) * Count(w) / static_cast<double>(w[0]);
        row = static_cast<double>(y.back());
        together =
            static_cast<double>(w[0]) / static_cast<double>(std::max<int64_t>(
                                            1, node.IntAttribute("group", 1)));
      }
      break;
    case ProductKind::kConvTranspose:
      if (!w.empty() && w[0] > 0 && !x.empty()) {
        macs = Count(x) * Count(w) / static_cast<double>(w[0]);
        row = static_cast<double>(x.back());
      }
      break;
  }
  // (An image that is deformed is multiplied row by row.)
  if (together >= kLeastRows && !form.integer && node.op != "DeformConv" &&
      (o.IsFloat() || o.IsHalf())) {
    work->macs_float += kPanelled * macs;
  } else {
    (form.integer ? work->macs_int : work->macs_float) += macs;
    if (row > 0) work->rows += macs / row;
  }
  // Results are rounded; operands are centered or padded, or as a Gemm says
  // transposed or copied.
  work->elements += o.Outputs();
  if (form.kind == ProductKind::kGemm && !form.integer) {
    for (size_t i : {0, 1}) {
      if (node.IntAttribute(i == 0 ? "transA" : "transB", 0) != 0) {
        work->elements += kTransposed * Count(o.in(i));
      } else {
        work->bytes += Count(o.in(i)) * sizeof(float);
      }
    }
  } else if (form.integer) {
    work->elements += o.Inputs();
  } else if (form.kind != ProductKind::kMatMul) {
    const double weights = Count(w);
    work->elements += kPacked * weights + kLaid * (o.Inputs() - weights);
  }
  // float16 is computed as fp32.
  if (o.IsHalf()) work->elements += kConverted * (o.Inputs() + o.Outputs());
}

// Copied as they lie.
bool IsCopy(const std::string& op) {
  for (const char* copy : {"Reshape", "Identity", "Flatten", "Squeeze",
                           "Unsqueeze", "Concat", "Dropout", "Compress"}) {
    if (op == copy) return true;
  }
  return false;
}

// What an element of the largest tensor takes, if not that of one that is
// computed by itself: loops that follow memory move and compute several at
// once.
double Passes(const std::string& op) {
  static const auto* const passes = new std::map<std::string, double>{
      {"Add", 0.2},
      {"Sub", 0.2},
      {"Mul", 0.2},
      {"Max", 0.3},
      {"Min", 0.3},
      {"Relu", 0.2},
      {"Clip", 0.2},
      {"Equal", 0.3},
      {"Less", 0.3},
      {"LessOrEqual", 0.3},
      {"Greater", 0.3},
      {"GreaterOrEqual", 0.3},
      {"Where", 1.5},
      {"Cast", 0.7},
      {"Transpose", 0.4},
      {"DepthToSpace", 0.3},
      {"SpaceToDepth", 0.3},
      {"GatherElements", 1.5},
      {"NonZero", 2},
      {"LayerNormalization", 0.17},
      {"InstanceNormalization", 0.5},
      {"BatchNormalization", 0.3},
      {"ReduceSum", 0.2},
      {"ReduceMax", 0.2},
      {"ReduceMin", 0.2},
      {"ReduceProd", 0.2},
      {"TopK", 8},
      {"Unique", 40},
  };
  const auto found = passes->find(op);
  return found == passes->end() ? 1 : found->second;
}

// Operators that pick elements axis by axis: of each element of the result, and
// where it lies beside its neighbour in the operand, too, hardly that.
constexpr double kPicked = 0.35;
bool IsPick(const Node& node) {
  for (const char* pick : {"Slice", "Split", "Pad", "Tile", "Expand"}) {
    if (node.op == pick) return true;
  }
  return node.op == "Resize" &&
         node.StringAttribute("mode", "nearest") == "nearest";
}
// Other modes of Resize: a few neighbours and their weights.
constexpr double kInterpolated = 0.85;

// Of folds of floats several go on at once.
bool IsFloatReduction(const Operands& o, const Node& node) {
  return o.IsFloat() && node.op != "ReduceProd" &&
         (node.op.rfind("Reduce", 0) == 0 || node.op == "GlobalAveragePool" ||
          node.op == "GlobalMaxPool");
}
constexpr double kFolded = 0.03;
// An element of a window; windows that do not lie side by side are not computed
// several at once.
constexpr double kTap = 0.1, kTapApart = 0.35;

// The products of an Einsum that is not made of other operators: one for each
// combination of its labels. An ellipsis counts as a label for each dimension.
double EinsumProducts(const Node& node, const Operands& o) {
  const std::string equation = node.StringAttribute("equation", "");
  std::map<int, double> sizes;
  size_t operand = 0;
  std::string term;
  const auto take = [&] {
    const Shape& shape = o.in(operand++);
    size_t letters = 0;
    for (const char c : term) letters += std::isalpha(c) != 0;
    // Dots are negative, counted from the last.
    auto dots =
        static_cast<int>(shape.size() > letters ? shape.size() - letters : 0);
    size_t d = 0;
    const auto add = [&](int label) {
      if (d >= shape.size()) return;
      double& size = sizes.try_emplace(label, 1).first->second;
      size = std::max(size, static_cast<double>(shape[d++]));
    };
    bool dotted = false;
    for (const char c : term) {
      if (std::isalpha(c) != 0) {
        add(c);
      } else if (c == '.' && !dotted) {
        dotted = true;
        for (; dots > 0; --dots) add(-dots);
      }
    }
    term.clear();
  };
  for (size_t i = 0; i < equation.size(); ++i) {
    const char c = equation[i];
    if (c == '-') break;
    if (c == ',') {
      if (operand >= node.inputs.size()) return 0;
      take();
    } else {
      term += c;
    }
  }
  if (operand < node.inputs.size()) take();
  double products = 1;
  for (const auto& [label, size] : sizes) products *= size;
  return products;
}

bool IsPool(const std::string& op) {
  return op == "MaxPool" || op == "AveragePool" || op == "LpPool" ||
         op == "QLinearAveragePool";
}

// What making a program takes for each instruction, in runs of it.
constexpr double kProgramLanes = 1500;
// Operands and result go through memory once.
constexpr double kInstructionsAround = 4;
// Of functions that are computed in registers.
constexpr double kFused = 0.12, kFusedAround = 2;

// Exponent, product and what is around them.
constexpr double kSoftmaxInstructions = 5;
constexpr double kSoftmaxPasses = 0.1;

// Functions of floats, as microprograms; false: it is none, or of a type that
// lanes do not have.
bool CountProgram(const Graph& graph, const Node& node, const Operands& o,
                  HostWork* work) {
  const TensorId out = node.outputs.empty() ? kNoTensor : node.outputs[0];
  // The card has int64 values in lanes of 32 bits; the host does not.
  if (!HasSteps(node.domain, node.op) || out == kNoTensor ||
      ElementBytes(graph.tensors[out].type) > 4) {
    return false;
  }
  const auto steps = StepsOf(graph, node);
  if (!steps.ok()) return false;
  const double elements = Count(o.out());
  for (const ElementwiseStep& step : *steps) {
    const double instructions = static_cast<double>(
        step.program.prologue.size() + step.program.body.size() +
        step.program.epilogue.size());
    // Lanes are filled, and the program is made each time.
    const double lanes =
        std::ceil(elements / isa::kVectorLanes) * isa::kVectorLanes;
    work->instructions += kProgramLanes * (instructions + kInstructionsAround);
    work->instructions += FunctionOf(step.program) == LaneFunction::kCount
                              ? lanes * (instructions + kInstructionsAround)
                              : lanes * (kFused * instructions + kFusedAround);
    // Operands that are spread over the result, and results that are no words.
    for (int operand : step.operands) {
      if (operand < 0) continue;
      const Shape& shape = o.in(operand);
      const Tensor& tensor = graph.tensors[node.inputs[operand]];
      const bool as_it_lies =
          ElementBytes(tensor.type) == 4 && shape == o.out();
      if (Count(shape) != 1 && !as_it_lies) work->elements += elements;
    }
  }
  if (ElementBytes(graph.tensors[out].type) != 4) {
    work->elements += elements;
  }
  return true;
}

void Add(const HostWork& from, HostWork* to) {
  for (double HostWork::*count :
       {&HostWork::nodes, &HostWork::bytes, &HostWork::elements,
        &HostWork::instructions, &HostWork::macs_float, &HostWork::macs_int,
        &HostWork::rows}) {
    to->*count += from.*count;
  }
}

HostWork Work(const Graph& graph, const Node& node, int depth);

// What a step of a sequence takes besides its elements, in nodes.
constexpr double kStepNodes = 2;
// A product in one long row at a time, of weights that stay in the cache, takes
// this part of one in any row.
constexpr double kNearRow = 0.5;
// Instructions of an activation.
constexpr double kActivation = 25;

// As compiler/direct/recurrent.cc computes it.
void CountRecurrent(const Graph& graph, const Node& node, const Operands& o,
                    HostWork* work) {
  const double gates = node.op == "LSTM" ? 4 : node.op == "GRU" ? 3 : 1;
  const Shape &x = o.in(0), &r = o.in(2);
  if (x.size() != 3 || r.size() != 3) return;
  const bool batch_first = node.IntAttribute("layout", 0) == 1;
  const auto steps = static_cast<double>(x[batch_first ? 1 : 0]);
  const auto batch = static_cast<double>(x[batch_first ? 0 : 1]);
  const auto directions = static_cast<double>(r[0]);
  const auto hidden = static_cast<double>(r[2]);
  const double rows = steps * directions, states = rows * batch * hidden;
  const auto product = [&](double at_once, double inner) {
    const double macs = states * gates * inner;
    if (at_once >= static_cast<double>(kLeastRows)) {
      work->macs_float += kPanelled * macs;
      return;
    }
    work->macs_float += kNearRow * macs;
    // Of a batch of one the gates of a state lie in one row.
    const double in_row = batch > 1 ? 1 : node.op == "LSTM" ? 4 : 1.5;
    work->rows += macs / (hidden * in_row);
  };
  product(steps * batch, static_cast<double>(x[2]));
  product(batch, hidden);
  for (size_t i : {1, 2}) {
    if (!graph.tensors[node.inputs[i]].is_constant()) {
      work->elements += kTransposed * Count(o.in(i));
    }
  }
  if (o.IsHalf()) work->elements += kConverted * (o.Inputs() + o.Outputs());
  // Lanes of small states are filled; others than the usual are interpreted.
  const bool usual = node.attributes.count("activations") == 0;
  const double lanes =
      std::ceil(states / rows / isa::kVectorLanes) * isa::kVectorLanes * rows;
  work->instructions +=
      lanes * (gates + 1) *
      (usual ? kFused * kActivation + kFusedAround : kActivation);
  if (!usual) work->instructions += rows * (gates + 1) * kProgramLanes;
  work->nodes += kStepNodes * rows;
}

// As compiler/direct/grid_sample.cc computes it: coordinates, and samples.
void CountGridSample(const Node& node, const Operands& o, HostWork* work) {
  constexpr double kPlaced = 3, kSampled = 0.7, kTapped = 1;
  const std::string mode = node.StringAttribute("mode", "linear");
  const bool nearest = mode == "nearest";
  const bool cubic = mode == "cubic" || mode == "bicubic";
  const size_t rank = o.in(0).size() - 2;
  const double along = nearest ? 1 : cubic ? 4 : 2;
  const double taps = std::pow(along, static_cast<double>(rank));
  work->elements += kPlaced * along / 2 * Count(o.in(1));
  work->elements +=
      o.Outputs() *
      (!nearest && !cubic && rank == 2 ? kSampled : kTapped * (taps + 1));
  if (o.IsHalf()) work->elements += kConverted * (o.Inputs() + o.Outputs());
}

// Of nodes that the host computes as they are; false: it is none.
bool CountDirect(const Graph& graph, const Node& node, const Operands& o,
                 HostWork* work) {
  if (!IsDirect(graph, node)) return false;
  if (node.op == "GridSample") {
    CountGridSample(node, o, work);
  } else {
    CountRecurrent(graph, node, o, work);
  }
  return true;
}

// False: it has no expansion.
bool CountExpansion(const Graph& graph, const Node& node, int depth,
                    HostWork* work) {
  if (depth >= kMostDepth || !MayBeExpanded(node.domain, node.op) ||
      !IsExpanded(graph, node)) {
    return false;
  }
  Graph alone = Isolated(graph, node);
  const Node copy = alone.nodes[0];
  const auto nodes = ExpandNode(&alone, copy);
  if (!nodes.ok()) return false;
  for (const Node& part : *nodes) Add(Work(alone, part, depth + 1), work);
  return true;
}

HostWork Work(const Graph& graph, const Node& node, int depth) {
  HostWork work;
  work.nodes = 1;
  if (IsControl(node)) return work;
  const Operands o(graph, node);
  if (CountDirect(graph, node, o, &work)) return work;
  if (CountExpansion(graph, node, depth, &work)) return work;
  if (CountProgram(graph, node, o, &work)) return work;
  if (const ProductForm* product = FindProduct(node.op)) {
    CountProduct(*product, node, o, &work);
  } else if (IsCopy(node.op)) {
    work.bytes = o.OutputBytes();
  } else if (node.op == "Gather") {
    work.bytes = o.OutputBytes();
    // One by one where a pick is of one element.
    const double picks = Count(o.in(1));
    const Shape& x = o.in(0);
    int64_t axis = node.IntAttribute("axis", 0);
    if (axis < 0) axis += static_cast<int64_t>(x.size());
    axis = std::clamp<int64_t>(axis, 0, static_cast<int64_t>(x.size()));
    work.elements = picks * (1 + Product(x.begin(), x.begin() + axis));
  } else if (node.op == "Einsum") {
    work.elements =
        EinsumProducts(node, o) * (1 + static_cast<double>(node.inputs.size()));
  } else if (IsPool(node.op)) {
    double taps = 1;
    for (int64_t k : node.IntsAttribute("kernel_shape", {})) {
      taps *= static_cast<double>(k);
    }
    const std::vector<int64_t> strides = node.IntsAttribute("strides", {});
    const bool apart = !strides.empty() && strides.back() > 1;
    work.elements = (apart ? kTapApart : kTap) * o.Outputs() * (taps + 1);
    if (o.IsHalf()) work.elements += kConverted * (o.Inputs() + o.Outputs());
  } else if (node.op == "Softmax" || node.op == "LogSoftmax") {
    work.instructions = kSoftmaxInstructions * o.Outputs();
    work.elements = kSoftmaxPasses * o.Outputs();
  } else if (IsPick(node)) {
    work.elements = kPicked * o.Outputs();
  } else if (node.op == "Resize") {
    work.elements = kInterpolated * o.Outputs();
  } else if (IsFloatReduction(o, node)) {
    work.elements = kFolded * o.Largest();
  } else {
    work.elements = Passes(node.op) * std::max(o.Largest(), o.Outputs());
    if (o.IsHalf()) work.elements += kConverted * (o.Inputs() + o.Outputs());
  }
  return work;
}

}  // namespace

HostWork HostWorkOf(const Graph& graph, const Node& node) {
  return Work(graph, node, 0);
}

double HostTime(const HostWork& work, const HostProfile& p) {
  const double computed =
      work.bytes * p.byte_ns + work.elements * p.element_ns +
      work.instructions * p.instruction_ns + work.macs_float * p.mac_float_ns +
      work.macs_int * p.mac_int_ns + work.rows * p.row_ns;
  return work.nodes * p.node_ns + computed / p.threads;
}

double HostTime(const Graph& graph, const HostProfile& profile) {
  double sum = 0;
  for (const Node& node : graph.nodes) {
    sum += HostTime(HostWorkOf(graph, node), profile);
  }
  return sum;
}

}  // namespace heddle::compiler
