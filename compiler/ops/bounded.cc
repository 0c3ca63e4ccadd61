// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/bounded.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

// A node with what is known of its operands.
struct Reader {
  const Graph& graph;
  const Node& node;
  const BoundedTensors& bounded;

  AxisSet input(size_t i) const { return bounded.of(node.input(i)); }
  const Shape& shape(size_t i) const {
    return graph.tensors[node.inputs[i]].shape;
  }
  size_t output_rank() const {
    return graph.tensors[node.outputs[0]].shape.size();
  }
  // None but this one.
  bool Only(size_t only) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i != only && input(i) != 0) return false;
    }
    return true;
  }
  bool Ints(size_t i, std::vector<int64_t>* values) const {
    const TensorId id = node.input(i);
    if (id == kNoTensor) return false;
    // (A list of sizes is given as a constant where shapes are inferred.)
    if (bounded.sizes(id) != nullptr || !graph.tensors[id].is_constant()) {
      return false;
    }
    const TensorData& data = *graph.tensors[id].constant;
    if (data.type != DataType::kInt64) return false;
    *values = ToInts(data);
    return true;
  }
  const OpenSizes* sizes(size_t i) const {
    return bounded.sizes(node.input(i));
  }
};

AxisSet Bit(size_t axis) { return AxisSet{1} << axis; }

// Elements of a list of sizes that vary.
AxisSet Varying(const OpenSizes& sizes) {
  AxisSet set = 0;
  for (size_t i = 0; i < sizes.varies.size() && i < 64; ++i) {
    if (sizes.varies[i]) set |= Bit(i);
  }
  return set;
}

// Sets the axes of output 0 (others: see BoundedTensors::Add); false: it cannot
// follow.
using Rule = bool (*)(const Reader& reader, AxisSet* output);

bool Same(const Reader& reader, AxisSet* output) {
  *output = reader.input(0);
  return reader.Only(0);
}

// Operands that are not bounded where the result is have one index there.
bool Broadcast(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.output_rank();
  const auto shifted = [&](size_t i) {
    return reader.input(i) << (rank - reader.shape(i).size());
  };
  for (size_t i = 0; i < reader.node.inputs.size(); ++i) *output |= shifted(i);
  for (size_t i = 0; i < reader.node.inputs.size(); ++i) {
    const Shape& shape = reader.shape(i);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const AxisSet bit = Bit(axis + rank - shape.size());
      if ((*output & bit) != 0 && (shifted(i) & bit) == 0 && shape[axis] != 1) {
        return false;
      }
    }
  }
  return true;
}

// Shape and Size: a result of a known size, of values that the run decides.
bool Measure(const Reader& reader, AxisSet* output) {
  *output = 0;
  return reader.Only(0);
}

bool Transpose(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.shape(0).size();
  std::vector<int64_t> perm;
  for (size_t i = rank; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  perm = reader.node.IntsAttribute("perm", perm);
  for (size_t i = 0; i < perm.size() && i < rank; ++i) {
    if ((reader.input(0) & Bit(perm[i])) != 0) *output |= Bit(i);
  }
  return true;
}

// Axes of a Squeeze or Unsqueeze, or of a reduction; of `rank` dimensions.
bool Axes(const Reader& reader, size_t rank, std::set<size_t>* axes) {
  std::vector<int64_t> list = reader.node.IntsAttribute("axes", {});
  if (list.empty() && !reader.Ints(1, &list)) return false;
  for (int64_t axis : list) {
    size_t normal = 0;
    if (!NormalizeAxis(axis, rank, &normal)) return false;
    axes->insert(normal);
  }
  return !axes->empty() && reader.Only(0);
}

// Of the input's axes, those that stay.
AxisSet Without(AxisSet input, size_t rank, const std::set<size_t>& axes) {
  AxisSet output = 0;
  size_t at = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (axes.count(i) > 0) continue;
    if ((input & Bit(i)) != 0) output |= Bit(at);
    ++at;
  }
  return output;
}

bool Squeeze(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.shape(0).size();
  std::set<size_t> axes;
  if (!Axes(reader, rank, &axes)) return false;
  for (size_t axis : axes) {
    if ((reader.input(0) & Bit(axis)) != 0) return false;
  }
  *output = Without(reader.input(0), rank, axes);
  return true;
}

bool Unsqueeze(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.output_rank();
  std::set<size_t> axes;
  if (!Axes(reader, rank, &axes)) return false;
  size_t from = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (axes.count(i) > 0) continue;
    if ((reader.input(0) & Bit(from++)) != 0) *output |= Bit(i);
  }
  return true;
}

// Of nothing a sum is 0, a product 1; what a maximum or mean of nothing is, the
// operator says when it runs.
bool Reduction(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.shape(0).size();
  std::set<size_t> axes;
  if (reader.node.attributes.count("axes") == 0 &&
      reader.node.input(1) == kNoTensor) {
    if (reader.node.IntAttribute("noop_with_empty_axes", 0) == 0) {
      for (size_t i = 0; i < rank; ++i) axes.insert(i);
    }
  } else if (!Axes(reader, rank, &axes)) {
    return false;
  }
  const bool keep = reader.node.IntAttribute("keepdims", 1) != 0;
  *output = reader.input(0);
  for (size_t axis : axes) *output &= ~Bit(axis);
  if (!keep) *output = Without(*output, rank, axes);
  return true;
}

// Of both, what is there: an index beyond that is the run's error.
bool Gather(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.shape(0).size();
  size_t axis = 0;
  if (!NormalizeAxis(reader.node.IntAttribute("axis", 0), rank, &axis)) {
    return false;
  }
  const AxisSet data = reader.input(0);
  const AxisSet behind = axis + 1 < 64 ? data >> (axis + 1) : 0;
  *output = (data & (Bit(axis) - 1)) | reader.input(1) << axis |
            behind << (axis + reader.shape(1).size());
  return true;
}

// What is written over stays as large as it is.
bool Scatter(const Reader& reader, AxisSet* output) {
  *output = reader.input(0);
  return true;
}

bool GatherNd(const Reader& reader, AxisSet* output) {
  const Shape& indices = reader.shape(1);
  const size_t rank = indices.size();
  if (rank == 0 || reader.node.IntAttribute("batch_dims", 0) != 0 ||
      (reader.input(1) & Bit(rank - 1)) != 0 || indices[rank - 1] < 0 ||
      indices[rank - 1] >= 64) {
    return false;
  }
  *output = reader.input(1) | (reader.input(0) >> indices[rank - 1])
                                  << (rank - 1);
  return true;
}

// On other axes than its own, all operands are as large as each other.
bool Concat(const Reader& reader, AxisSet* output) {
  size_t axis = 0;
  if (!NormalizeAxis(reader.node.IntAttribute("axis", 0), reader.output_rank(),
                     &axis)) {
    return false;
  }
  for (size_t i = 0; i < reader.node.inputs.size(); ++i) {
    *output |= reader.input(i);
  }
  for (size_t i = 0; i < reader.node.inputs.size(); ++i) {
    if (((reader.input(i) ^ *output) & ~Bit(axis)) != 0) return false;
  }
  return true;
}

// Parts of known sizes on its own axis.
bool Split(const Reader& reader, AxisSet* output) {
  size_t axis = 0;
  *output = reader.input(0);
  return reader.Only(0) &&
         NormalizeAxis(reader.node.IntAttribute("axis", 0),
                       reader.output_rank(), &axis) &&
         (*output & Bit(axis)) == 0;
}

// Where less is there, less is taken, but from a place before the end to one
// behind the start, of which that is not so. With bounds that are no list of
// int64 any of its axes may give less.
bool Slice(const Reader& reader, AxisSet* output) {
  const Node& node = reader.node;
  std::vector<int64_t> starts = node.IntsAttribute("starts", {}),
                       ends = node.IntsAttribute("ends", {}),
                       axes = node.IntsAttribute("axes", {});
  const bool known =
      !starts.empty() || (reader.Ints(1, &starts) && reader.Ints(2, &ends));
  if (node.input(3) != kNoTensor && !reader.Ints(3, &axes)) return false;
  const size_t rank = reader.shape(0).size();
  if (axes.empty()) {
    const size_t count = known ? starts.size() : rank;
    for (size_t i = 0; i < count; ++i) axes.push_back(static_cast<int64_t>(i));
  }
  *output = reader.input(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t axis = 0;
    if (!NormalizeAxis(axes[i], rank, &axis)) return false;
    if (!known) {
      *output |= Bit(axis);
    } else if ((reader.input(0) & Bit(axis)) != 0 &&
               (i >= starts.size() || i >= ends.size() ||
                (starts[i] < 0 && ends[i] >= 0 &&
                 ends[i] < reader.shape(0)[axis]))) {
      return false;
    }
  }
  return reader.Only(0);
}

// What is computed for each index of the first axis by itself, with parameters
// that the other operands are.
bool Rows(const Reader& reader, AxisSet* output) {
  *output = reader.input(0);
  return reader.Only(0) && (*output & ~Bit(0)) == 0;
}

// Along an axis that is as large as the graph says.
template <int kOldDefault>
bool AlongAxis(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.shape(0).size();
  size_t axis = 0;
  if (!NormalizeAxis(reader.node.IntAttribute(
                         "axis", reader.node.opset < 13 ? kOldDefault : -1),
                     rank, &axis)) {
    return false;
  }
  *output = reader.input(0);
  // Before opset 13 all axes behind were one.
  const AxisSet used = reader.node.opset < 13 ? ~(Bit(axis) - 1) : Bit(axis);
  return reader.Only(0) && (*output & used) == 0;
}

// ArgMax and ArgMin: along an axis that is as large as the graph says.
bool ArgReduction(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.shape(0).size();
  size_t axis = 0;
  if (!NormalizeAxis(reader.node.IntAttribute("axis", 0), rank, &axis) ||
      (reader.input(0) & Bit(axis)) != 0) {
    return false;
  }
  const bool keep = reader.node.IntAttribute("keepdims", 1) != 0;
  *output = keep ? reader.input(0) : Without(reader.input(0), rank, {axis});
  return true;
}

// Rows of the first matrix, and columns of the second.
bool MatMul(const Reader& reader, AxisSet* output) {
  const size_t a = reader.shape(0).size(), b = reader.shape(1).size();
  const size_t rank = std::max(a, b);
  if (a < 2 || b < 2 || rank != reader.output_rank() ||
      (reader.input(0) & Bit(a - 1)) != 0 ||
      (reader.input(1) & Bit(b - 2)) != 0) {
    return false;
  }
  // Operands of a batch have one matrix, or as many as the other.
  const AxisSet batch = Bit(rank - 2) - 1;
  const AxisSet of_a = (reader.input(0) << (rank - a)) & batch,
                of_b = (reader.input(1) << (rank - b)) & batch;
  const auto differs = [&](size_t i, size_t size, AxisSet own, AxisSet other) {
    for (size_t axis = 0; axis + 2 < size; ++axis) {
      const AxisSet bit = Bit(axis + rank - size);
      if ((other & bit) != 0 && (own & bit) == 0 &&
          reader.shape(i)[axis] != 1) {
        return true;
      }
    }
    return false;
  };
  if (differs(0, a, of_a, of_b) || differs(1, b, of_b, of_a)) return false;
  *output = of_a | of_b;
  if ((reader.input(0) & Bit(a - 2)) != 0) *output |= Bit(rank - 2);
  if ((reader.input(1) & Bit(b - 1)) != 0) *output |= Bit(rank - 1);
  return true;
}

bool Gemm(const Reader& reader, AxisSet* output) {
  const size_t row = reader.node.IntAttribute("transA", 0) != 0 ? 1 : 0;
  if (!reader.Only(0) || (reader.input(0) & ~Bit(row)) != 0) return false;
  if (reader.input(0) != 0) *output = Bit(0);
  if (reader.node.input(2) == kNoTensor) return true;
  const Shape& c = reader.shape(2);
  return *output == 0 || c.size() < 2 || c[0] == 1;
}

bool Flatten(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.shape(0).size();
  int64_t axis = reader.node.IntAttribute("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(rank);
  if (axis < 0 || axis > static_cast<int64_t>(rank)) return false;
  const AxisSet before = Bit(axis) - 1;
  *output = ((reader.input(0) & before) != 0 ? Bit(0) : 0) |
            ((reader.input(0) & ~before) != 0 ? Bit(1) : 0);
  return true;
}

// To a constant shape, of which the one -1 takes what there is, or that keeps
// the bounded axis by a 0; or to one that is computed of sizes. If one of these
// stands for the one axis that is bounded, a -1 beside it takes the same in
// every run: else the run ends with an error.
bool Reshape(const Reader& reader, AxisSet* output) {
  std::vector<int64_t> to = reader.node.IntsAttribute("shape", {});
  if (const OpenSizes* sizes = reader.sizes(1); sizes != nullptr) {
    *output = Varying(*sizes);
    to = ToInts(sizes->most);
    const bool open = std::count(to.begin(), to.end(), -1) != 0;
    const auto is_one = [](AxisSet set) {
      return set != 0 && (set & (set - 1)) == 0;
    };
    return reader.Only(0) && std::count(to.begin(), to.end(), 0) == 0 &&
           (!open || (is_one(*output) && is_one(reader.input(0))));
  }
  if (to.empty() && !reader.Ints(1, &to)) return false;
  if (!reader.Only(0) || reader.node.IntAttribute("allowzero", 0) != 0) {
    return false;
  }
  const Shape& from = reader.shape(0);
  int64_t rest = 1, known = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    if ((reader.input(0) & Bit(i)) == 0) rest *= from[i];
  }
  AxisSet kept = 0;
  size_t open = to.size();
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == -1) {
      open = i;
    } else if (to[i] != 0) {
      known *= to[i];
    } else if (i >= from.size()) {
      return false;
    } else if ((reader.input(0) & Bit(i)) != 0) {
      kept |= Bit(i);
    } else {
      known *= from[i];
    }
  }
  *output = kept;
  if (kept == reader.input(0)) {
    return known == rest || (known > 0 && open < to.size());
  }
  if (open == to.size() || known <= 0 || rest % known != 0) return false;
  *output |= Bit(open);
  return true;
}

// To sizes that are computed, or constants.
bool Expand(const Reader& reader, AxisSet* output) {
  const size_t rank = reader.output_rank(), own = reader.shape(0).size();
  *output = reader.input(0) << (rank - own);
  std::vector<int64_t> to;
  if (const OpenSizes* sizes = reader.sizes(1); sizes != nullptr) {
    *output |= Varying(*sizes) << (rank - sizes->varies.size());
    to = ToInts(sizes->most);
  } else if (!reader.Ints(1, &to)) {
    return false;
  }
  // As large as the other, or 1.
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t axis = i + rank - to.size();
    const bool varies =
        reader.sizes(1) != nullptr && reader.sizes(1)->varies[i];
    if ((*output & Bit(axis)) != 0 && !varies && to[i] != 1) return false;
  }
  for (size_t i = 0; i < own; ++i) {
    if ((*output & Bit(i + rank - own)) != 0 &&
        (reader.input(0) & Bit(i)) == 0 && reader.shape(0)[i] != 1) {
      return false;
    }
  }
  return reader.Only(0);
}

bool ConstantOfShape(const Reader& reader, AxisSet* output) {
  if (reader.sizes(0) == nullptr) return false;
  *output = Varying(*reader.sizes(0));
  return true;
}

bool Tile(const Reader& reader, AxisSet* output) {
  *output = reader.input(0);
  if (reader.sizes(1) != nullptr) *output |= Varying(*reader.sizes(1));
  return reader.Only(0);
}

// From a constant in steps of a constant that is not negative.
bool Range(const Reader& reader, AxisSet* output) {
  std::vector<int64_t> start, step;
  *output = Bit(0);
  return reader.sizes(1) != nullptr && reader.Ints(0, &start) &&
         reader.Ints(2, &step) && step.size() == 1 && step[0] > 0;
}

// As many as there are boxes.
bool RoiAlign(const Reader& reader, AxisSet* output) {
  *output = reader.input(1) & Bit(0);
  return reader.input(0) == 0 && reader.input(1) == reader.input(2) &&
         (reader.input(1) & ~Bit(0)) == 0;
}

bool NonZero(const Reader&, AxisSet* output) {
  *output = Bit(1);
  return true;
}

bool Compress(const Reader& reader, AxisSet* output) {
  size_t axis = 0;
  const bool along = reader.node.attributes.count("axis") > 0;
  if (along && !NormalizeAxis(reader.node.IntAttribute("axis", 0),
                              reader.shape(0).size(), &axis)) {
    return false;
  }
  // Without an axis all elements are in a row, of which there may be fewer.
  if (along) *output = reader.input(0);
  const bool constant =
      reader.graph.tensors[reader.node.inputs[1]].is_constant();
  if (!constant || (!along && reader.input(0) != 0)) *output |= Bit(axis);
  return true;
}

bool Unique(const Reader& reader, AxisSet* output) {
  size_t axis = 0;
  const bool along = reader.node.attributes.count("axis") > 0;
  if (along && !NormalizeAxis(reader.node.IntAttribute("axis", 0),
                              reader.shape(0).size(), &axis)) {
    return false;
  }
  *output = Bit(axis);
  return reader.input(0) == 0;
}

// Of fewer boxes no more are left.
bool NonMaxSuppression(const Reader&, AxisSet* output) {
  *output = Bit(0);
  return true;
}

// Of a k that a run decides; values and indices alike.
bool TopK(const Reader& reader, AxisSet* output) {
  size_t axis = 0;
  if (!reader.Only(0) || !NormalizeAxis(reader.node.IntAttribute("axis", -1),
                                        reader.shape(0).size(), &axis)) {
    return false;
  }
  // (Of an axis with fewer elements than a constant k the run is an error.)
  *output = reader.input(0) & ~Bit(axis);
  const TensorId k = reader.node.input(1);
  if (k != kNoTensor && !reader.graph.tensors[k].is_constant()) {
    *output |= Bit(axis);
  }
  return true;
}

const std::map<std::string, Rule>& Sources() {
  static const auto* const rules =
      new std::map<std::string, Rule>{{"Compress", Compress},
                                      {"NonMaxSuppression", NonMaxSuppression},
                                      {"NonZero", NonZero},
                                      {"TopK", TopK},
                                      {"Unique", Unique}};
  return *rules;
}

const std::map<std::string, Rule>& Followers() {
  static const auto* const rules = [] {
    auto* made =
        new std::map<std::string, Rule>{{"ArgMax", ArgReduction},
                                        {"ArgMin", ArgReduction},
                                        {"AveragePool", Rows},
                                        {"BatchNormalization", Rows},
                                        {"Concat", Concat},
                                        {"ConstantOfShape", ConstantOfShape},
                                        {"Conv", Rows},
                                        {"ConvTranspose", Rows},
                                        {"Expand", Expand},
                                        {"Flatten", Flatten},
                                        {"Gather", Gather},
                                        {"GatherND", GatherNd},
                                        {"Gemm", Gemm},
                                        {"GlobalAveragePool", Rows},
                                        {"GlobalMaxPool", Rows},
                                        {"InstanceNormalization", Rows},
                                        {"LogSoftmax", AlongAxis<1>},
                                        {"MatMul", MatMul},
                                        {"MaxPool", Rows},
                                        {"Range", Range},
                                        {"Reshape", Reshape},
                                        {"RoiAlign", RoiAlign},
                                        {"ScatterElements", Scatter},
                                        {"ScatterND", Scatter},
                                        {"Shape", Measure},
                                        {"Size", Measure},
                                        {"Slice", Slice},
                                        {"Softmax", AlongAxis<1>},
                                        {"Split", Split},
                                        {"Squeeze", Squeeze},
                                        {"Tile", Tile},
                                        {"Transpose", Transpose},
                                        {"Unsqueeze", Unsqueeze}};
    for (const char* op :
         {"Abs",       "Cast",     "Ceil",       "Clip",      "Elu",
          "Erf",       "Exp",      "Floor",      "Gelu",      "HardSigmoid",
          "HardSwish", "Identity", "IsNaN",      "LeakyRelu", "Log",
          "Neg",       "Not",      "Reciprocal", "Relu",      "Round",
          "Selu",      "Sigmoid",  "Sign",       "Softplus",  "Sqrt",
          "Tanh"}) {
      made->emplace(op, Same);
    }
    for (const char* op :
         {"Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less",
          "LessOrEqual", "Max", "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum",
          "Where", "Xor"}) {
      made->emplace(op, Broadcast);
    }
    for (const char* op : {"ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean",
                           "ReduceMin", "ReduceProd", "ReduceSum"}) {
      made->emplace(op, Reduction);
    }
    return made;
  }();
  return *rules;
}

// More than a set holds.
bool HasManyAxes(const Graph& graph, const Node& node) {
  const auto many = [&](TensorId id) {
    return id != kNoTensor && graph.tensors[id].shape.size() >= 64;
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), many) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), many);
}

}  // namespace

void BoundedTensors::Set(TensorId id, AxisSet axes) {
  if (id < 0 || (axes == 0 && static_cast<size_t>(id) >= axes_.size())) return;
  if (static_cast<size_t>(id) >= axes_.size()) axes_.resize(id + 1, 0);
  axes_[id] = axes;
  any_ |= axes != 0;
}

void BoundedTensors::SetSizes(TensorId id,
                              std::shared_ptr<const OpenSizes> sizes) {
  if (sizes == nullptr) {
    sizes_.erase(id);
    return;
  }
  sizes_[id] = std::move(sizes);
  any_ = true;
}

void BoundedTensors::Copy(const BoundedTensors& from, TensorId id,
                          TensorId to) {
  Set(to, from.of(id));
  const auto it = from.sizes_.find(id);
  SetSizes(to, it == from.sizes_.end() ? nullptr : it->second);
}

bool BoundedTensors::Touches(const Node& node) const {
  const auto is_bounded = [this](TensorId id) {
    return of(id) != 0 || sizes(id) != nullptr;
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_bounded) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), is_bounded);
}

absl::Status BoundedTensors::Add(const Graph& graph, const Node& node) {
  const bool source = node.domain.empty() && Sources().count(node.op) > 0;
  const auto reads = std::find_if(node.inputs.begin(), node.inputs.end(),
                                  [this](TensorId id) { return of(id) != 0; });
  if (!sizes_.empty() || reads != node.inputs.end()) {
    auto followed = FollowSizes(graph, node, find_sizes(), [&](size_t axis) {
      return axis < 64 && (of(node.inputs[0]) & Bit(axis)) != 0;
    });
    // (Of what no list of sizes and no bounded tensor goes into, nothing.)
    if (followed.has_value() && (reads != node.inputs.end() ||
                                 (node.op != "Shape" && node.op != "Size"))) {
      SetSizes(node.outputs[0],
               std::make_shared<const OpenSizes>(*std::move(followed)));
    }
  }
  // What is made of sizes that it is given.
  const TensorId given = SizesOperand(node);
  const bool makes = given != kNoTensor && sizes(given) != nullptr &&
                     sizes(node.outputs[0]) == nullptr;
  if (!source && !makes && reads == node.inputs.end()) return absl::OkStatus();
  AxisSet output = 0;
  const auto& rules = source ? Sources() : Followers();
  const auto rule = rules.find(node.op);
  if (!node.domain.empty() || rule == rules.end() || HasManyAxes(graph, node) ||
      !rule->second({graph, node, *this}, &output)) {
    return RejectNode(
        Rejection::kUnsupportedOperator, node, "it reads '",
        graph
            .tensors[reads != node.inputs.end() ? *reads
                     : makes                    ? given
                                                : node.inputs[0]]
            .name,
        "', of which only the run's values say how large it is; the host "
        "follows such a size through operators for which fewer rows are a "
        "smaller result (elementwise ones, Conv, MatMul, Gather, Concat, "
        "Reshape with one -1 and the like), but not here; make the size known "
        "before, by TopK or a declared shape");
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    // Unique: indices and counts are lists, and of what is at each place there
    // is as much as there are places.
    const bool list = node.op == "Unique" && i > 0;
    Set(node.outputs[i], !list ? output : i == 2 ? 0 : Bit(0));
  }
  return absl::OkStatus();
}

absl::StatusOr<BoundedTensors> FindBounded(const Graph& graph,
                                           BoundedTensors inputs) {
  for (const Node& node : graph.nodes) {
    RETURN_IF_ERROR(inputs.Add(graph, node));
  }
  return inputs;
}

bool IsWithin(const Shape& shape, const Shape& stated, AxisSet bounded) {
  if (shape.size() != stated.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == stated[i]) continue;
    if (i >= 64 || (bounded & Bit(i)) == 0 || shape[i] > stated[i]) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<std::vector<TensorData>> EvaluateActual(
    const Graph& graph, const Node& node,
    const std::vector<const TensorData*>& inputs) {
  Graph actual;
  Node copy = node;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoTensor) continue;
    Tensor tensor = graph.tensors[node.inputs[i]];
    tensor.shape = inputs[i]->shape;
    // Sizes that it is given are what they are now.
    if (node.inputs[i] == SizesOperand(node)) {
      tensor.constant = std::make_shared<const TensorData>(*inputs[i]);
    }
    copy.inputs[i] = actual.AddTensor(std::move(tensor));
  }
  for (TensorId& id : copy.outputs) {
    if (id != kNoTensor) id = actual.AddTensor(graph.tensors[id]);
  }
  absl::Status status = CheckNode(actual, copy);
  if (status.ok()) {
    status =
        FindOperator(node.domain, node.op, node.opset)->infer(&actual, copy);
  }
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "with the sizes that the run's values give: ", status.message()));
  }
  return EvaluateNode(actual, copy, inputs);
}

}  // namespace heddle::compiler
