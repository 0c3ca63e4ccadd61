// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/bounded_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

constexpr auto Bit = AxisBit;

// Elements of a list of sizes that vary.
AxisSet Varying(const OpenSizes& sizes) {
  AxisSet set = 0;
  for (size_t i = 0; i < sizes.varies.size() && i < 64; ++i) {
    if (sizes.varies[i]) set |= Bit(i);
  }
  return set;
}

bool Same(const BoundedReader& reader, AxisSet* output) {
  *output = reader.input(0);
  return reader.Only(0);
}

// Operands that are not bounded where the result is have one index there.
bool Broadcast(const BoundedReader& reader, AxisSet* output) {
  const size_t rank = reader.output_rank();
  const auto shifted = [&](size_t i) {
    return reader.input(i) << (rank - reader.shape(i).size());
  };
  for (size_t i = 0; i < reader.node.inputs.size(); ++i) {
    if (HasInput(reader.node, i)) *output |= shifted(i);
  }
  for (size_t i = 0; i < reader.node.inputs.size(); ++i) {
    if (!HasInput(reader.node, i)) continue;
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
bool Measure(const BoundedReader& reader, AxisSet* output) {
  *output = 0;
  return reader.Only(0);
}

bool Transpose(const BoundedReader& reader, AxisSet* output) {
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
bool Axes(const BoundedReader& reader, size_t rank, std::set<size_t>* axes) {
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

bool Squeeze(const BoundedReader& reader, AxisSet* output) {
  const size_t rank = reader.shape(0).size();
  std::set<size_t> axes;
  if (!Axes(reader, rank, &axes)) return false;
  for (size_t axis : axes) {
    if ((reader.input(0) & Bit(axis)) != 0) return false;
  }
  *output = Without(reader.input(0), rank, axes);
  return true;
}

bool Unsqueeze(const BoundedReader& reader, AxisSet* output) {
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
bool Reduction(const BoundedReader& reader, AxisSet* output) {
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
bool Gather(const BoundedReader& reader, AxisSet* output) {
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
bool Scatter(const BoundedReader& reader, AxisSet* output) {
  *output = reader.input(0);
  return true;
}

bool GatherNd(const BoundedReader& reader, AxisSet* output) {
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
bool Concat(const BoundedReader& reader, AxisSet* output) {
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
bool Split(const BoundedReader& reader, AxisSet* output) {
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
bool Slice(const BoundedReader& reader, AxisSet* output) {
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

// What is computed of images, sequences or volumes with channels, whatever
// their size; kernels and scales are what the graph says.
bool Images(const BoundedReader& reader, AxisSet* output) {
  *output = reader.input(0);
  return reader.Only(0) && (*output & Bit(1)) == 0 &&
         reader.node.attributes.count("output_shape") == 0;
}

// One value of each channel.
bool OfPictures(const BoundedReader& reader, AxisSet* output) {
  *output = reader.input(0) & Bit(0);
  return reader.Only(0) && (reader.input(0) & Bit(1)) == 0;
}

// By scales that are constants, or to sizes that are computed.
bool Resize(const BoundedReader& reader, AxisSet* output) {
  const Node& node = reader.node;
  if (const OpenSizes* sizes = reader.sizes(3); sizes != nullptr) {
    *output = Varying(*sizes);
    return reader.Only(0) && reader.input(0) == 0 &&
           node.attributes.count("axes") == 0 &&
           node.attributes.count("keep_aspect_ratio_policy") == 0;
  }
  const TensorId scales = node.input(node.op == "Upsample" ? 1
                                     : node.opset < 11     ? 1
                                                           : 2);
  *output = reader.input(0);
  return reader.Only(0) && node.input(3) == kNoTensor &&
         (scales == kNoTensor ? node.op == "Upsample"
                              : reader.graph.tensors[scales].is_constant());
}

// ArgMax and ArgMin; of an axis without elements the run is an error.
bool ArgReduction(const BoundedReader& reader, AxisSet* output) {
  const size_t rank = reader.shape(0).size();
  size_t axis = 0;
  if (!NormalizeAxis(reader.node.IntAttribute("axis", 0), rank, &axis)) {
    return false;
  }
  const bool keep = reader.node.IntAttribute("keepdims", 1) != 0;
  *output = keep ? reader.input(0) & ~Bit(axis)
                 : Without(reader.input(0), rank, {axis});
  return true;
}

// Rows of the first matrix, and columns of the second. Sums are over as many
// products as both have: if they do not agree, the run is an error.
bool MatMul(const BoundedReader& reader, AxisSet* output) {
  const size_t a = reader.shape(0).size(), b = reader.shape(1).size();
  const size_t rank = std::max(a, b);
  if (a < 2 || b < 2 || rank != reader.output_rank() ||
      ((reader.input(0) & Bit(a - 1)) != 0) !=
          ((reader.input(1) & Bit(b - 2)) != 0)) {
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

bool Gemm(const BoundedReader& reader, AxisSet* output) {
  const size_t row = reader.node.IntAttribute("transA", 0) != 0 ? 1 : 0;
  if (!reader.Only(0) || (reader.input(0) & ~Bit(row)) != 0) return false;
  if (reader.input(0) != 0) *output = Bit(0);
  if (reader.node.input(2) == kNoTensor) return true;
  const Shape& c = reader.shape(2);
  return *output == 0 || c.size() < 2 || c[0] == 1;
}

bool Flatten(const BoundedReader& reader, AxisSet* output) {
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
bool Reshape(const BoundedReader& reader, AxisSet* output) {
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
bool Expand(const BoundedReader& reader, AxisSet* output) {
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

bool ConstantOfShape(const BoundedReader& reader, AxisSet* output) {
  if (reader.sizes(0) == nullptr) return false;
  *output = Varying(*reader.sizes(0));
  return true;
}

bool Tile(const BoundedReader& reader, AxisSet* output) {
  *output = reader.input(0);
  if (reader.sizes(1) != nullptr) *output |= Varying(*reader.sizes(1));
  return reader.Only(0);
}

// From a constant in steps of a constant that is not negative.
bool Range(const BoundedReader& reader, AxisSet* output) {
  std::vector<int64_t> start, step;
  *output = Bit(0);
  return reader.sizes(1) != nullptr && reader.Ints(0, &start) &&
         reader.Ints(2, &step) && step.size() == 1 && step[0] > 0;
}

// In front of the axes that it normalises, which have parameters.
bool LayerNormalization(const BoundedReader& reader, AxisSet* output) {
  size_t axis = 0;
  *output = reader.input(0);
  return reader.Only(0) &&
         NormalizeAxis(reader.node.IntAttribute("axis", -1),
                       reader.shape(0).size(), &axis) &&
         (*output & ~(Bit(axis) - 1)) == 0;
}

// At as many places as there are.
bool GridSample(const BoundedReader& reader, AxisSet* output) {
  const size_t rank = reader.shape(1).size();
  const AxisSet grid = reader.input(1);
  *output = (grid & ~Bit(0)) << 1;
  return reader.input(0) == 0 && (grid & (Bit(0) | Bit(rank - 1))) == 0;
}

// By constants, or by sizes that are computed.
bool Pad(const BoundedReader& reader, AxisSet* output) {
  std::vector<int64_t> pads = reader.node.IntsAttribute("pads", {});
  *output = reader.input(0);
  if (const OpenSizes* sizes = reader.sizes(1); sizes != nullptr) {
    const size_t rank = reader.shape(0).size(),
                 count = sizes->varies.size() / 2;
    std::vector<int64_t> axes;
    if (reader.node.input(3) == kNoTensor) {
      for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
    } else if (!reader.Ints(3, &axes)) {
      return false;
    }
    for (size_t i = 0; i < axes.size() && i < count; ++i) {
      size_t axis = 0;
      if (!NormalizeAxis(axes[i], rank, &axis)) return false;
      if (sizes->varies[i] || sizes->varies[i + count]) *output |= Bit(axis);
    }
    return reader.Only(0);
  }
  return reader.Only(0) && (!pads.empty() || reader.Ints(1, &pads));
}

// One of the data for each index: one beyond what is there is the run's error.
bool GatherElements(const BoundedReader& reader, AxisSet* output) {
  *output = reader.input(1);
  return true;
}

bool OneHot(const BoundedReader& reader, AxisSet* output) {
  size_t axis = 0;
  if (!reader.Only(0) || !NormalizeAxis(reader.node.IntAttribute("axis", -1),
                                        reader.output_rank(), &axis)) {
    return false;
  }
  const AxisSet before = Bit(axis) - 1;
  *output = (reader.input(0) & before) | (reader.input(0) & ~before) << 1;
  if (reader.sizes(1) != nullptr) *output |= Bit(axis);
  return true;
}

// As large as the first; of the other, only the type or one value counts.
bool First(const BoundedReader& reader, AxisSet* output) {
  *output = reader.input(0);
  return true;
}

// An index's size is that of each operand that has it; without an ellipsis.
bool Einsum(const BoundedReader& reader, AxisSet* output) {
  std::string equation = reader.node.StringAttribute("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '),
                 equation.end());
  const size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos) {
    return false;
  }
  std::map<char, std::set<bool>> varies;
  std::istringstream terms(equation.substr(0, arrow));
  std::string term;
  for (size_t i = 0; std::getline(terms, term, ','); ++i) {
    if (i >= reader.node.inputs.size()) return false;
    for (size_t axis = 0; axis < term.size(); ++axis) {
      varies[term[axis]].insert((reader.input(i) & Bit(axis)) != 0);
    }
  }
  for (const auto& [index, either] : varies) {
    if (either.size() > 1) return false;
  }
  const std::string to = equation.substr(arrow + 2);
  for (size_t axis = 0; axis < to.size(); ++axis) {
    if (*varies[to[axis]].begin()) *output |= Bit(axis);
  }
  return true;
}

// As many as there are boxes.
bool RoiAlign(const BoundedReader& reader, AxisSet* output) {
  *output = reader.input(1) & Bit(0);
  return reader.input(0) == 0 && reader.input(1) == reader.input(2) &&
         (reader.input(1) & ~Bit(0)) == 0;
}

bool NonZero(const BoundedReader&, AxisSet* output) {
  *output = Bit(1);
  return true;
}

bool Compress(const BoundedReader& reader, AxisSet* output) {
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

bool Unique(const BoundedReader& reader, AxisSet* output) {
  size_t axis = 0;
  const bool along = reader.node.attributes.count("axis") > 0;
  if (along && !NormalizeAxis(reader.node.IntAttribute("axis", 0),
                              reader.shape(0).size(), &axis)) {
    return false;
  }
  *output = Bit(axis) | (along ? reader.input(0) : 0);
  return true;
}

// Of fewer boxes no more are left.
bool NonMaxSuppression(const BoundedReader&, AxisSet* output) {
  *output = Bit(0);
  return true;
}

// Of a k that a run decides; values and indices alike.
bool TopK(const BoundedReader& reader, AxisSet* output) {
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

// The rule for the node as one with `operands` alone. The others are parameters
// of codes, with one element where the last axis is open.
bool Among(const BoundedReader& reader, const std::vector<size_t>& operands,
           BoundedRule rule, AxisSet* output) {
  Node node = reader.node;
  node.inputs.clear();
  for (size_t i : operands) node.inputs.push_back(reader.node.input(i));
  if (!rule({reader.graph, node, reader.bounded}, output)) return false;
  const size_t rank = reader.output_rank();
  const bool open = rank > 0 && (*output & Bit(rank - 1)) != 0;
  for (size_t i = 0; i < reader.node.inputs.size(); ++i) {
    if (!HasInput(reader.node, i) ||
        std::count(operands.begin(), operands.end(), i) != 0) {
      continue;
    }
    if (reader.input(i) != 0 || (open && ElementCount(reader.shape(i)) != 1)) {
      return false;
    }
  }
  return true;
}
template <BoundedRule rule, size_t... operands>
bool Of(const BoundedReader& reader, AxisSet* output) {
  return Among(reader, {operands...}, rule, output);
}

// Scale and zero point of all, or for each index of an axis that is as large as
// the graph says.
bool Codes(const BoundedReader& reader, AxisSet* output) {
  const Shape& scale = reader.shape(1);
  size_t axis = 0;
  *output = reader.input(0);
  if (scale.size() > 1 || !reader.Only(0)) return false;
  if (ElementCount(scale) == 1) return true;
  return NormalizeAxis(reader.node.IntAttribute("axis", 1),
                       reader.shape(0).size(), &axis) &&
         (*output & Bit(axis)) == 0;
}

// Behind scale and zero point of the result, three inputs of each operand.
bool ConcatOfCodes(const BoundedReader& reader, AxisSet* output) {
  std::vector<size_t> operands;
  for (size_t i = 2; i < reader.node.inputs.size(); i += 3) {
    operands.push_back(i);
  }
  return Among(reader, operands, Concat, output);
}

const std::map<std::string, BoundedRule>& Sources() {
  static const auto* const rules = new std::map<std::string, BoundedRule>{
      {"Compress", Compress},
      {"NonMaxSuppression", NonMaxSuppression},
      {"NonZero", NonZero},
      {"TopK", TopK},
      {"Unique", Unique}};
  return *rules;
}

const std::map<std::string, BoundedRule>& Followers() {
  static const auto* const rules = [] {
    auto* made = new std::map<std::string, BoundedRule>{
        {"ArgMax", ArgReduction},
        {"Trilu", Same},
        {"SpaceToDepth", Images},
        {"Softmax", Same},
        {"RMSNormalization", LayerNormalization},
        {"Pad", Pad},
        {"OneHot", OneHot},
        {"LpPool", Images},
        {"LpNormalization", Same},
        {"LogSoftmax", Same},
        {"LayerNormalization", LayerNormalization},
        {"LRN", Images},
        {"Hardmax", Same},
        {"GroupNormalization", Images},
        {"GridSample", GridSample},
        {"GlobalLpPool", OfPictures},
        {"GatherElements", GatherElements},
        {"Einsum", Einsum},
        {"Dropout", Same},
        {"DepthToSpace", Images},
        {"BitCast", Same},
        {"CumProd", Same},
        {"CumSum", Same},
        {"CastLike", First},
        {"ArgMin", ArgReduction},
        {"AveragePool", Images},
        {"BatchNormalization", Images},
        {"Concat", Concat},
        {"ConstantOfShape", ConstantOfShape},
        {"Conv", Images},
        {"ConvTranspose", Images},
        {"DequantizeLinear", Codes},
        {"DynamicQuantizeLinear", Same},
        {"ConvInteger", Images},
        {"MatMulInteger", Of<MatMul, 0, 1>},
        {"QLinearConv", Images},
        {"QLinearMatMul", Of<MatMul, 0, 3>},
        {"QuantizeLinear", Codes},
        {"Expand", Expand},
        {"Flatten", Flatten},
        {"Gather", Gather},
        {"GatherND", GatherNd},
        {"Gemm", Gemm},
        {"GlobalAveragePool", OfPictures},
        {"GlobalMaxPool", OfPictures},
        {"InstanceNormalization", Images},

        {"MatMul", MatMul},
        {"MaxPool", Images},
        {"Range", Range},
        {"Reshape", Reshape},
        {"Resize", Resize},
        {"RoiAlign", RoiAlign},
        {"ScatterElements", Scatter},
        {"ScatterND", Scatter},
        {"Shape", Measure},
        {"Size", Measure},
        {"Slice", Slice},

        {"Split", Split},
        {"Squeeze", Squeeze},
        {"Tile", Tile},
        {"Transpose", Transpose},
        {"Unsqueeze", Unsqueeze},
        {"Upsample", Resize}};
    for (const char* op : {"Abs",       "Acos",        "Acosh",
                           "Asin",      "Asinh",       "Atan",
                           "Atanh",     "BitwiseNot",  "Cast",
                           "Ceil",      "Celu",        "Clip",
                           "Cos",       "Cosh",        "Elu",
                           "Erf",       "Exp",         "Floor",
                           "Gelu",      "HardSigmoid", "HardSwish",
                           "Identity",  "IsInf",       "IsNaN",
                           "LeakyRelu", "Log",         "Mish",
                           "Neg",       "Not",         "Reciprocal",
                           "Relu",      "Round",       "Selu",
                           "Shrink",    "Sigmoid",     "Sign",
                           "Sin",       "Sinh",        "Softplus",
                           "Softsign",  "Sqrt",        "Swish",
                           "Tan",       "Tanh",        "ThresholdedRelu"}) {
      made->emplace(op, Same);
    }
    for (const char* op : {"Add",       "And",
                           "BitShift",  "BitwiseAnd",
                           "BitwiseOr", "BitwiseXor",
                           "Div",       "Equal",
                           "Greater",   "GreaterOrEqual",
                           "Less",      "LessOrEqual",
                           "Max",       "Min",
                           "Mod",       "Mean",
                           "Mul",       "Or",
                           "PRelu",     "Pow",
                           "Sub",       "Sum",
                           "Where",     "Xor"}) {
      made->emplace(op, Broadcast);
    }
    for (const char* op :
         {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
          "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
          "ReduceSumSquare"}) {
      made->emplace(op, Reduction);
    }
    return made;
  }();
  return *rules;
}

// Of com.microsoft.
const std::map<std::string, BoundedRule>& MicrosoftFollowers() {
  static const auto* const rules = new std::map<std::string, BoundedRule>{
      {"DequantizeLinear", Codes},
      {"DynamicQuantizeMatMul", Of<MatMul, 0, 1>},
      {"MatMulIntegerToFloat", Of<MatMul, 0, 1>},
      {"QGemm", Of<Gemm, 0, 3, 6>},
      {"QLinearAdd", Of<Broadcast, 0, 3>},
      {"QLinearAveragePool", Images},
      {"QLinearConcat", ConcatOfCodes},
      {"QLinearGlobalAveragePool", OfPictures},
      {"QLinearLeakyRelu", Same},
      {"QLinearMul", Of<Broadcast, 0, 3>},
      {"QLinearSigmoid", Same},
      {"QLinearSoftmax", Same},
      {"QLinearWhere", Of<Broadcast, 0, 1, 4>},
      {"QuantizeLinear", Codes}};
  return *rules;
}

}  // namespace

bool DecidesSizes(const Node& node) {
  return node.domain.empty() && Sources().count(node.op) != 0;
}

BoundedRule FindBoundedRule(const Node& node) {
  if (!node.domain.empty() && node.domain != "com.microsoft") return nullptr;
  const auto& rules = DecidesSizes(node)    ? Sources()
                      : node.domain.empty() ? Followers()
                                            : MicrosoftFollowers();
  const auto rule = rules.find(node.op);
  return rule == rules.end() ? nullptr : rule->second;
}

}  // namespace heddle::compiler
