// SPDX-License-Identifier: Apache-2.0
// Einsum, made of other operators in fp32, rounded once at the end. Operands
// are taken from left to right: the diagonal of a label that one has twice; a
// sum over labels that neither another operand nor the result has; then the
// product with what is there so far: a MatMul whose stacks are the labels that
// both have and that are needed later, or a Mul if no label is summed over.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

// A letter, or a number of a dimension of "...", counted from the last: 256 on.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = 256;

bool Has(const Labels& labels, Label label) {
  return std::count(labels.begin(), labels.end(), label) != 0;
}

struct Equation {
  std::vector<Labels> operands;
  Labels result;
  std::map<Label, int64_t> sizes;
};

// "ab...c" of a tensor of `rank`; false if that is no term, or not of it. Rank
// -1: the result's, whose ellipsis has `dots` dimensions.
bool ParseTerm(const std::string& text, int64_t rank, int64_t* dots,
               Labels* labels) {
  const size_t at = text.find('.');
  const bool ellipsis = at != std::string::npos;
  if (ellipsis && text.compare(at, 3, "...") != 0) return false;
  const auto letters = static_cast<int64_t>(text.size()) - (ellipsis ? 3 : 0);
  if (rank >= 0) {
    *dots = rank - letters;
    if (*dots < 0 || (*dots > 0 && !ellipsis)) return false;
  }
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == at) {
      for (int64_t d = *dots; d-- > 0;) {
        labels->push_back(kEllipsis + static_cast<Label>(d));
      }
      i += 2;
      continue;
    }
    const char c = text[i];
    if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z')) return false;
    labels->push_back(c);
  }
  return true;
}

absl::StatusOr<Equation> Parse(const Graph& graph, const Node& node) {
  std::string text = node.StringAttribute("equation", "");
  const auto wrong = [&](const auto&... why) {
    return RejectNode(Rejection::kInvalidModel, node, "equation '",
                      node.StringAttribute("equation", ""), "' ", why...);
  };
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation equation;
  int64_t most_dots = 0;
  left += ',';
  for (size_t from = 0, i = 0; from < left.size(); ++i) {
    const size_t to = left.find(',', from);
    if (i == node.inputs.size()) {
      return wrong("has more than ", i, " operands");
    }
    if (!HasInput(node, i)) return wrong("has no input ", i);
    const Shape& shape = InputOf(graph, node, i).shape;
    Labels labels;
    int64_t dots = 0;
    if (!ParseTerm(left.substr(from, to - from),
                   static_cast<int64_t>(shape.size()), &dots, &labels)) {
      return wrong("does not fit input ", i, " of ", ShapeToString(shape));
    }
    most_dots = std::max(most_dots, dots);
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t& size = equation.sizes.emplace(labels[d], 1).first->second;
      if (size == 1) size = shape[d];
      if (shape[d] != size && shape[d] != 1) {
        return RejectNode(Rejection::kMismatchingShape, node,
                          "a label has sizes ", size, " and ", shape[d]);
      }
    }
    equation.operands.push_back(std::move(labels));
    from = to + 1;
  }
  if (equation.operands.size() != node.inputs.size()) {
    return wrong("has ", equation.operands.size(), " operands, the node ",
                 node.inputs.size());
  }
  if (arrow != std::string::npos) {
    if (!ParseTerm(text.substr(arrow + 2), -1, &most_dots, &equation.result)) {
      return wrong("has no result that is one");
    }
  } else {
    // The ellipsis, then the labels that occur once, in order.
    for (int64_t d = most_dots; d-- > 0;) {
      equation.result.push_back(kEllipsis + static_cast<Label>(d));
    }
    for (const auto& [label, size] : equation.sizes) {
      int64_t times = 0;
      for (const Labels& o : equation.operands) {
        times += std::count(o.begin(), o.end(), label);
      }
      if (times == 1 && label < kEllipsis) equation.result.push_back(label);
    }
  }
  for (Label label : equation.result) {
    if (equation.sizes.count(label) == 0) {
      return wrong("has a label in its result that no operand has");
    }
    if (std::count(equation.result.begin(), equation.result.end(), label) > 1) {
      return wrong("repeats a label in its result");
    }
  }
  return equation;
}

// A tensor with the labels of its dimensions, none twice.
struct Labelled {
  TensorId id;
  Labels labels;
};

class Writer {
 public:
  Writer(Expansion* e, const Equation& equation) : e_(e), q_(equation) {}

  TensorId Write() {
    Labelled all = Operand(0);
    for (size_t i = 1; i < q_.operands.size() && e_->status().ok(); ++i) {
      all = Product(all, Operand(i), i + 1);
    }
    return Ordered(all, q_.result).id;
  }

 private:
  int64_t Size(Label label) const { return q_.sizes.at(label); }
  int64_t Count(const Labels& labels) const {
    return ElementCount(ShapeOf(labels));
  }
  Shape ShapeOf(const Labels& labels) const {
    Shape shape;
    for (Label label : labels) shape.push_back(Size(label));
    return shape;
  }

  // Whether the result or an operand from `next` on has the label.
  bool IsNeeded(Label label, size_t next) const {
    bool needed = Has(q_.result, label);
    for (size_t i = next; i < q_.operands.size(); ++i) {
      needed = needed || Has(q_.operands[i], label);
    }
    return needed;
  }

  // Dimensions of 1 are made as large as the label.
  Labelled Operand(size_t i) {
    Labelled x{e_->Wide(e_->In(i)), q_.operands[i]};
    const Shape full = ShapeOf(x.labels);
    if (e_->T(e_->In(i)).shape != full) {
      x.id = e_->Add("Expand", {x.id, e_->Ints(full)});
    }
    Diagonal(&x);
    std::vector<int64_t> axes;
    Labels kept;
    for (size_t d = 0; d < x.labels.size(); ++d) {
      bool alone = !Has(q_.result, x.labels[d]);
      for (size_t o = 0; o < q_.operands.size(); ++o) {
        alone = alone && (o == i || !Has(q_.operands[o], x.labels[d]));
      }
      if (alone) {
        axes.push_back(static_cast<int64_t>(d));
      } else {
        kept.push_back(x.labels[d]);
      }
    }
    if (!axes.empty()) {
      x.id = e_->Add("ReduceSum", {x.id, e_->Ints(axes)},
                     {{"keepdims", int64_t{0}}});
      x.labels = std::move(kept);
    }
    return x;
  }

  // Where a label occurs more than once, its elements of equal places.
  void Diagonal(Labelled* x) {
    Labels kept;
    for (Label label : x->labels) {
      if (!Has(kept, label)) kept.push_back(label);
    }
    if (kept.size() == x->labels.size()) return;
    const Shape full = ShapeOf(x->labels), shape = ShapeOf(kept);
    std::vector<int64_t> steps(kept.size(), 0);
    int64_t step = 1;
    for (size_t d = x->labels.size(); d-- > 0;) {
      steps[std::find(kept.begin(), kept.end(), x->labels[d]) - kept.begin()] +=
          step;
      step *= full[d];
    }
    std::vector<int64_t> places(static_cast<size_t>(ElementCount(shape)));
    for (size_t i = 0; i < places.size(); ++i) {
      auto rest = static_cast<int64_t>(i);
      for (size_t d = kept.size(); d-- > 0;) {
        places[i] += rest % shape[d] * steps[d];
        rest /= shape[d];
      }
    }
    const TensorId flat = e_->Reshape(x->id, {ElementCount(full)});
    x->id = e_->Reshape(
        e_->Add("Gather", {flat, e_->Ints(places)}, {{"axis", int64_t{0}}}),
        shape);
    x->labels = std::move(kept);
  }

  // The same labels in another order.
  Labelled Ordered(const Labelled& x, const Labels& labels) {
    std::vector<int64_t> perm;
    for (Label label : labels) {
      perm.push_back(std::find(x.labels.begin(), x.labels.end(), label) -
                     x.labels.begin());
    }
    if (x.labels == labels) return x;
    return {e_->Add("Transpose", {x.id}, {{"perm", perm}}), labels};
  }

  Labelled Product(const Labelled& a, const Labelled& b, size_t next) {
    Labels stack, summed, own_a, own_b;
    for (Label label : a.labels) {
      (!Has(b.labels, label)   ? own_a
       : IsNeeded(label, next) ? stack
                               : summed)
          .push_back(label);
    }
    for (Label label : b.labels) {
      if (!Has(a.labels, label)) own_b.push_back(label);
    }
    const auto join = [](std::initializer_list<const Labels*> parts) {
      Labels all;
      for (const Labels* part : parts) {
        all.insert(all.end(), part->begin(), part->end());
      }
      return all;
    };
    const int64_t m = Count(own_a), n = Count(own_b), k = Count(summed);
    const TensorId left = e_->Reshape(
        Ordered(a, join({&stack, &own_a, &summed})).id, {Count(stack), m, k});
    const TensorId right = e_->Reshape(
        Ordered(b, join({&stack, &summed, &own_b})).id, {Count(stack), k, n});
    const Labels labels = join({&stack, &own_a, &own_b});
    const TensorId product =
        e_->Add(summed.empty() ? "Mul" : "MatMul", {left, right});
    return {e_->Reshape(product, ShapeOf(labels)), labels};
  }

  Expansion* const e_;
  const Equation& q_;
};

absl::Status Expand(Expansion* e) {
  ASSIGN_OR_RETURN(const Equation equation, Parse(e->graph(), e->node()));
  // A diagonal is gathered by a list of its places.
  for (const Labels& labels : equation.operands) {
    const std::set<Label> once(labels.begin(), labels.end());
    if (once.size() == labels.size()) continue;
    int64_t places = 1;
    for (Label label : once) {
      const int64_t size = equation.sizes.at(label);
      RETURN_IF_ERROR(CheckTable(e->node(), places, size));
      places *= size;
    }
  }
  const DataType type = e->T(e->In(0)).type;
  e->Return(0, Writer(e, equation).Write(), type);
  return absl::OkStatus();
}

// Of double there is no expansion: the host computes, element by element.
bool IsExpandedEinsum(const Graph& graph, const Node& node) {
  return InputOf(graph, node, 0).type != DataType::kDouble;
}

bool HaveOneType(const Graph& graph, const Node& node, std::string* detail) {
  const DataType type = InputOf(graph, node, 0).type;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!HasInput(node, i) || InputOf(graph, node, i).type == type) continue;
    *detail = absl::StrCat("input ", i, " is ",
                           DataTypeName(InputOf(graph, node, i).type),
                           ", the first one ", DataTypeName(type));
    return false;
  }
  return true;
}

// Sums of one element: what a node of double may cost is products of these.
constexpr int64_t kMostProducts = int64_t{1} << 32;

absl::StatusOr<Equation> ParseDouble(const Graph& graph, const Node& node) {
  ASSIGN_OR_RETURN(Equation equation, Parse(graph, node));
  int64_t products = 1;
  for (const auto& [label, size] : equation.sizes) {
    if (size != 0 && products > kMostProducts / size) {
      return RejectNode(Rejection::kUnsupportedShape, node,
                        "it takes more than ", kMostProducts, " products");
    }
    products *= size;
  }
  return equation;
}

absl::Status InferDouble(Graph* graph, const Node& node) {
  ASSIGN_OR_RETURN(const Equation equation, ParseDouble(*graph, node));
  Shape shape;
  for (Label label : equation.result) {
    shape.push_back(equation.sizes.at(label));
  }
  return SetOutput(graph, node, 0, InputOf(*graph, node, 0).type, shape);
}

Results EvaluateDouble(const Graph& graph, const Node& node,
                       const Inputs& inputs) {
  ASSIGN_OR_RETURN(const Equation equation, ParseDouble(graph, node));
  // Labels of the result first: the rest are summed.
  Labels labels = equation.result;
  for (const auto& [label, size] : equation.sizes) {
    if (!Has(labels, label)) labels.push_back(label);
  }
  Shape sizes, shape;
  for (Label label : labels) sizes.push_back(equation.sizes.at(label));
  shape.assign(sizes.begin(),
               sizes.begin() + static_cast<int64_t>(equation.result.size()));
  const int64_t rest = ElementCount(
      Shape(sizes.begin() + static_cast<int64_t>(shape.size()), sizes.end()));
  // Of each operand along each label; along one that repeats all of them, and
  // along a dimension of 1 that is broadcast none.
  std::vector<std::vector<int64_t>> strides;
  for (size_t k = 0; k < inputs.size(); ++k) {
    strides.emplace_back(labels.size(), 0);
    int64_t stride = 1;
    for (size_t d = inputs[k]->shape.size(); d-- > 0;) {
      const auto at = static_cast<size_t>(
          std::find(labels.begin(), labels.end(), equation.operands[k][d]) -
          labels.begin());
      if (inputs[k]->shape[d] != 1) strides[k][at] += stride;
      stride *= inputs[k]->shape[d];
    }
  }
  TensorData y = TensorData::Zeros(DataType::kDouble, shape);
  const int64_t count = ElementCount(sizes);
  Shape place(labels.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    PaceAt(i);
    double product = 1;
    for (size_t k = 0; k < inputs.size(); ++k) {
      int64_t at = 0;
      for (size_t d = 0; d < place.size(); ++d) at += place[d] * strides[k][d];
      product *= inputs[k]->as<double>()[at];
    }
    y.as<double>()[i / rest] += product;
    for (size_t d = place.size(); d-- > 0;) {
      if (++place[d] < sizes[d]) break;
      place[d] = 0;
    }
  }
  return One(std::move(y));
}

constexpr int kMostOperands = 16;

const ExpandedOperator kEinsum(
    Define("Einsum", 12, kMaxOpset)
        .Inputs(1, kMostOperands,
                kReals | Types(DataType::kDouble, DataType::kInt32,
                               DataType::kUint32, DataType::kInt64))
        .Attr("equation", AttributeKind::kString, true)
        .Rule(Rejection::kInvalidModel, "operands have one type", HaveOneType),
    Expand, IsExpandedEinsum, InferDouble, EvaluateDouble);

}  // namespace
}  // namespace heddle::compiler
