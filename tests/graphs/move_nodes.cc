// SPDX-License-Identifier: Apache-2.0
// Values of any type are moved: their elements stay as they are.
#include <algorithm>
#include <numeric>

#include "tests/graphs/graph_writer.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Int64s;
using compiler::SetInt;
using compiler::SetInts;

const Value* DrawOfRank(size_t least, GraphWriter* w) {
  return w->Draw(
      [&](const Value& v) { return IsFixed(v) && v.dims.size() >= least; });
}

// Of an axis whose size is no symbol; -1: there is none.
int64_t PlainAxis(const Value& x, GraphWriter* w) {
  const int64_t axis = w->Below(static_cast<int64_t>(x.dims.size()));
  return x.dims[axis].symbol < 0 ? axis : -1;
}

bool AddTranspose(GraphWriter* w) {
  const Value* x = DrawOfRank(2, w);
  if (x == nullptr) return false;
  std::vector<int64_t> perm(x->dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i > 1; --i) {
    std::swap(perm[i - 1], perm[w->Below(static_cast<int64_t>(i))]);
  }
  Value y = *x;
  for (size_t i = 0; i < perm.size(); ++i) y.dims[i] = x->dims[perm[i]];
  return w->Append("Transpose", {x->name}, y, [&](onnx::NodeProto* node) {
    SetInts(node, "perm", perm);
  }) != nullptr;
}

// Two neighbours become one dimension; the shape is a constant, or computed of
// that of the value.
bool AddMerge(GraphWriter* w) {
  const Value* x = DrawOfRank(2, w);
  if (x == nullptr) return false;
  const auto rank = static_cast<int64_t>(x->dims.size());
  const int64_t axis = w->Below(rank - 1);
  const Dim a = x->dims[axis], b = x->dims[axis + 1];
  if (a.symbol >= 0 && b.symbol >= 0) return false;
  Value y = *x;
  y.dims.erase(y.dims.begin() + axis);
  y.dims[axis] = {a.size * b.size, std::max(a.symbol, b.symbol)};
  if (axis == 0 && rank == 2 && w->OneIn(2)) {
    y.dims.insert(y.dims.begin(), Dim());
    return w->Append("Flatten", {x->name}, y, [](onnx::NodeProto* node) {
      SetInt(node, "axis", 0);
    }) != nullptr;
  }
  std::vector<int64_t> shape;
  for (int64_t i = 0; i < rank - 1; ++i) {
    shape.push_back(i < axis ? 0 : i == axis ? -1 : x->dims[i + 1].size);
    if (i > axis && x->dims[i + 1].symbol >= 0) return false;
  }
  if (!w->OneIn(3)) {
    return w->Append("Reshape", {x->name, w->Numbers(shape)}, y) != nullptr;
  }
  const std::string all = w->NewName(), head = w->NewName(),
                    whole = w->NewName();
  w->AddNode("Shape", {x->name}, {all});
  w->AddNode("Slice", {all, w->Numbers({0}), w->Numbers({axis})}, {head});
  shape.erase(shape.begin(), shape.begin() + axis);
  SetInt(w->AddNode("Concat", {head, w->Numbers(shape)}, {whole}), "axis", 0);
  return w->Append("Reshape", {x->name, whole}, y) != nullptr;
}

bool AddUnsqueeze(GraphWriter* w) {
  const Value* x = DrawOfRank(0, w);
  if (x == nullptr || x->dims.size() > 3) return false;
  const int64_t axis = w->Below(static_cast<int64_t>(x->dims.size()) + 1);
  Value y = *x;
  y.dims.insert(y.dims.begin() + axis, Dim());
  return w->AppendWithAxes("Unsqueeze", 13, *x, {axis}, y) != nullptr;
}

bool AddSqueeze(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsFixed(v) && std::count(v.dims.begin(), v.dims.end(), Dim()) > 0;
  });
  if (x == nullptr) return false;
  const auto at = std::find(x->dims.begin(), x->dims.end(), Dim());
  const int64_t axis = at - x->dims.begin();
  Value y = *x;
  y.dims.erase(y.dims.begin() + axis);
  return w->AppendWithAxes("Squeeze", 13, *x, {axis}, y) != nullptr;
}

bool AddSlice(GraphWriter* w) {
  const Value* x = DrawOfRank(1, w);
  if (x == nullptr) return false;
  const int64_t axis = w->Below(static_cast<int64_t>(x->dims.size()));
  Value y = *x;
  int64_t begin = -1, end = INT64_MIN, step = -1;  // all of it, turned
  if (x->dims[axis].symbol < 0 && !w->OneIn(4)) {
    const int64_t size = x->dims[axis].size;
    begin = w->Below(size);
    end = w->random().Between(begin + 1, size);
    step = w->Pick<int64_t>({1, 1, 2});
    y.dims[axis].size = (end - begin + step - 1) / step;
    if (w->OneIn(3)) begin -= size;
    if (w->OneIn(3) && end == size) end = INT64_MAX;
  }
  return w->Append("Slice",
                   {x->name, w->Numbers({begin}), w->Numbers({end}),
                    w->Numbers({axis}), w->Numbers({step})},
                   y) != nullptr;
}

bool AddConcat(GraphWriter* w) {
  const Value* x = DrawOfRank(1, w);
  if (x == nullptr) return false;
  const int64_t axis = w->Below(static_cast<int64_t>(x->dims.size()));
  const auto fits = [&](const Value& v) {
    Dims dims = v.dims;
    if (!IsFixed(v) || v.type != x->type || dims.size() != x->dims.size() ||
        dims[axis].symbol != x->dims[axis].symbol) {
      return false;
    }
    dims[axis] = x->dims[axis];
    return dims == x->dims;
  };
  const Value* other = w->Draw(fits);  // maybe itself
  Value y = *x;
  y.dims[axis].size += other->dims[axis].size;
  y.magnitude = std::max(x->magnitude, other->magnitude);
  y.error = std::max(x->error, other->error);
  y.fraction = std::max(x->fraction, other->fraction);
  return w->Append("Concat", {x->name, other->name}, y,
                   [&](onnx::NodeProto* node) {
                     SetInt(node, "axis", axis);
                   }) != nullptr;
}

bool AddSplit(GraphWriter* w) {
  const Value* x = DrawOfRank(1, w);
  if (x == nullptr) return false;
  const int64_t axis = PlainAxis(*x, w);
  if (axis < 0 || x->dims[axis].size < 2) return false;
  const int64_t first = w->random().Between(1, x->dims[axis].size - 1);
  const std::vector<int64_t> sizes = {first, x->dims[axis].size - first};
  Value y = *x;
  std::vector<std::string> outputs;
  for (int i = 0; i < 2; ++i) outputs.push_back(w->NewName());
  SetInt(w->AddNode("Split", {x->name, w->Numbers(sizes)}, outputs), "axis",
         axis);
  for (int i = 0; i < 2; ++i) {
    y.name = outputs[i];
    y.dims[axis].size = sizes[i];
    w->AddValue(y);
  }
  return true;
}

bool AddPad(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsFixed(v) && !v.dims.empty() && v.type != DataType::kBool;
  });
  if (x == nullptr) return false;
  const int64_t axis = PlainAxis(*x, w);
  if (axis < 0) return false;
  const auto rank = static_cast<int64_t>(x->dims.size());
  std::vector<int64_t> pads(2 * rank, 0);
  const std::string mode = x->dims[axis].size > 1
                               ? w->Pick({"constant", "edge", "reflect"})
                               : "constant";
  pads[axis] = w->Below(2);
  pads[axis + rank] = 1;
  Value y = *x;
  y.dims[axis].size += pads[axis] + 1;
  return w->Append("Pad", {x->name, w->Numbers(pads)}, y,
                   [&](onnx::NodeProto* node) {
                     compiler::SetString(node, "mode", mode);
                   }) != nullptr;
}

bool AddGather(GraphWriter* w) {
  const Value* x = DrawOfRank(1, w);
  if (x == nullptr) return false;
  const int64_t axis = PlainAxis(*x, w);
  if (axis < 0) return false;
  const int64_t size = x->dims[axis].size;
  Value y = *x;
  // Computed indices that are surely inside, or constants.
  const Value* computed = w->Draw([&](const Value& v) {
    return IsInt64(v) && v.dims.size() <= 1 &&
           v.magnitude < static_cast<double>(size);
  });
  std::string indices;
  Dims dims;
  if (computed != nullptr && w->OneIn(2)) {
    indices = computed->name;
    dims = computed->dims;
  } else {
    std::vector<int64_t> list(w->random().Between(1, 3));
    for (int64_t& index : list) index = w->random().Between(-size, size - 1);
    indices = w->Numbers(list);
    dims = {{static_cast<int64_t>(list.size())}};
  }
  y.dims.erase(y.dims.begin() + axis);
  y.dims.insert(y.dims.begin() + axis, dims.begin(), dims.end());
  return w->Append("Gather", {x->name, indices}, y, [&](onnx::NodeProto* node) {
    SetInt(node, "axis", axis);
  }) != nullptr;
}

bool AddExpand(GraphWriter* w) {
  const Value* x = DrawOfRank(1, w);
  if (x == nullptr) return false;
  const auto rank = static_cast<int64_t>(x->dims.size());
  const int64_t axis = w->Below(rank);
  const int64_t times = w->random().Between(2, 3);
  std::vector<int64_t> list(rank, 1);
  list[axis] = times;
  Value y = *x;
  y.dims[axis].size *= times;
  const bool one = x->dims[axis] == Dim();
  return w->Append(one && w->OneIn(2) ? "Expand" : "Tile",
                   {x->name, w->Numbers(list)}, y) != nullptr;
}

// To the shape of another value, which may be symbolic.
bool AddExpandTo(GraphWriter* w) {
  const Value* x = DrawOfRank(0, w);
  if (x == nullptr) return false;
  const Value* other = w->Draw([&](const Value& v) {
    const auto dims = Broadcast(v.dims, x->dims);
    return IsFixed(v) && dims.has_value() && *dims == v.dims;
  });
  if (other == nullptr) return false;
  const std::string shape = w->NewName();
  w->AddNode("Shape", {other->name}, {shape});
  Value y = *x;
  y.dims = other->dims;
  return w->Append("Expand", {x->name, shape}, y) != nullptr;
}

const NodeFamily kTransposeFamily("transpose", Side::kCard, AddTranspose);
const NodeFamily kMergeFamily("merge", Side::kCard, AddMerge);
const NodeFamily kUnsqueezeFamily("unsqueeze", Side::kCard, AddUnsqueeze);
const NodeFamily kSqueezeFamily("squeeze", Side::kCard, AddSqueeze);
const NodeFamily kSliceFamily("slice", Side::kCard, AddSlice);
const NodeFamily kConcatFamily("concat", Side::kCard, AddConcat);
const NodeFamily kSplitFamily("split", Side::kCard, AddSplit);
const NodeFamily kPadFamily("pad", Side::kCard, AddPad);
const NodeFamily kGatherFamily("gather", Side::kCard, AddGather);
const NodeFamily kExpandFamily("expand", Side::kCard, AddExpand);
const NodeFamily kExpandToFamily("expand to", Side::kCard, AddExpandTo);

}  // namespace
}  // namespace heddle::tests
