// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/take.h"

#include <algorithm>
#include <numeric>

#include "compiler/device_ops/move.h"
#include "compiler/device_ops/move_layout.h"
#include "compiler/ops/define.h"
#include "compiler/schedule/axis_runs.h"

namespace heddle::compiler {
namespace {

// More boxes than this are made in several passes, one axis each.
constexpr size_t kMaxBoxes = 256;

// The channels of a blocked tensor in blocks; false if blocks do not stay
// whole.
bool ToBlocks(std::vector<int64_t>* axis) {
  std::vector<int64_t> blocks;
  for (size_t i = 0; i < axis->size(); i += 16) {
    const int64_t first = (*axis)[i];
    if (first >= 0 && first % 16 != 0) return false;
    for (size_t k = 0; k < 16; ++k) {
      const int64_t wanted = first < 0 ? -1 : first + static_cast<int64_t>(k);
      if ((*axis)[i + k] != wanted) return false;
    }
    blocks.push_back(first < 0 ? -1 : first / 16);
  }
  *axis = blocks;
  return true;
}

// The element that fills, as bits; in the blocked layout a code four times.
uint32_t FillBits(const IndexMap& map, Layout layout) {
  uint32_t bits = 0;
  for (size_t i = 0; i < map.constant.size() && i < 4; ++i) {
    bits |= uint32_t{map.constant[i]} << (8 * i);
  }
  return layout == Layout::kBlocked ? bits * 0x01010101u : bits;
}

// If the elements are contiguous in the operand, the first of them; else -1.
// Along channels only in the blocked layout (see LowerConcat).
int64_t ContiguousStart(const IndexMap& map, const Shape& from, Layout layout) {
  const std::vector<int64_t> strides = RowMajor(from);
  int64_t start = 0;
  bool cut = false;
  for (size_t i = 0; i < from.size(); ++i) {
    const std::vector<int64_t>& axis = map.axes[i];
    if (axis.empty() || axis[0] < 0) return -1;
    for (size_t k = 1; k < axis.size(); ++k) {
      if (axis[k] != axis[0] + static_cast<int64_t>(k)) return -1;
    }
    if (static_cast<int64_t>(axis.size()) == from[i]) continue;
    // All axes before must have one element here, and one cut is allowed.
    if (cut || (layout == Layout::kBlocked && i != 1)) return -1;
    for (size_t k = 0; k < i; ++k) {
      if (from[k] != 1) return -1;
    }
    cut = true;
    start = axis[0] * strides[i];
  }
  return start;
}

std::vector<MoveBox> BoxesOf(const IndexMap& map, Layout layout) {
  const std::vector<int64_t> source = RowMajor(map.from),
                             result = RowMajor(map.to());
  MoveBox start;
  start.input = 0;
  std::vector<MoveBox> boxes = {start};
  for (size_t i = 0; i < map.axes.size(); ++i) {
    std::vector<MoveBox> next;
    for (const AxisRun& run : RunsOf(map.axes[i])) {
      for (MoveBox box : boxes) {
        if (run.from < 0) {
          box.input = -1;
          box.value = FillBits(map, layout);
        }
        box.source += std::max<int64_t>(run.from, 0) * source[i];
        box.result += run.start * result[i];
        box.dims.push_back(
            {run.count, run.step * source[i], run.stride * result[i]});
        box.dims.push_back({run.repeat, 0, result[i]});
        next.push_back(std::move(box));
      }
    }
    boxes = std::move(next);
  }
  return boxes;
}

// Moves axes of their own until the rest takes few boxes; returns the value to
// which the rest of `map` applies.
int InPasses(Lowering* l, const Node& node, int value, Layout layout,
             IndexMap* map) {
  const DataType type = l->device().StorageOf(value).type;
  while (layout == Layout::kDense) {
    size_t boxes = 1, longest = 0, most = 0;
    int several = 0;
    for (size_t i = 0; i < map->axes.size(); ++i) {
      const size_t runs = RunsOf(map->axes[i]).size();
      boxes *= std::min(runs, kMaxBoxes);
      several += runs > 1;
      if (runs > most) {
        most = runs;
        longest = i;
      }
    }
    if (boxes <= kMaxBoxes || several < 2) break;
    IndexMap pass = IdentityMap(map->from);
    pass.constant = map->constant;
    std::swap(pass.axes[longest], map->axes[longest]);
    const int next =
        l->NewTemporary(node.name + "/pass", type, pass.to(), Layout::kDense);
    AddMove(l, node, {value}, BoxesOf(pass, layout), next);
    value = next;
    map->from = pass.to();
    std::vector<int64_t>& axis = map->axes[longest];
    axis.resize(map->from[longest]);
    std::iota(axis.begin(), axis.end(), 0);
  }
  return value;
}

}  // namespace

void LowerIndexMap(Lowering* l, const Node& node, IndexMap map, TensorId out) {
  const TensorId in = node.inputs[0];
  Layout layout = MoveLayout(l, {in}, {in, out});
  if (layout == Layout::kBlocked) {
    std::vector<int64_t> blocks =
        map.axes.size() > 1 ? map.axes[1] : std::vector<int64_t>();
    if (map.axes.size() == l->tensor(in).shape.size() && ToBlocks(&blocks)) {
      map.axes[1] = blocks;
      map.from[1] /= 16;
    } else {
      layout = Layout::kDense;
    }
  }
  int value = l->ValueIn(in, layout, node);
  const Shape& shape = l->tensor(out).shape;
  const int64_t start = ContiguousStart(map, map.from, layout);
  if (start >= 0) {
    const uint64_t element =
        layout == Layout::kBlocked
            ? 16
            : ElementBytes(l->device().StorageOf(value).type);
    l->Bind(out, l->Part(value, start * element, shape));
    return;
  }
  value = InPasses(l, node, value, layout, &map);
  const int result = l->NewValue(out, layout);
  AddMove(l, node, {value}, BoxesOf(map, layout), result);
}

int TakeValue(Lowering* l, const Node& node, int value, IndexMap map) {
  const int64_t start = ContiguousStart(map, map.from, Layout::kDense);
  const DataType type = l->device().StorageOf(value).type;
  if (start >= 0) return l->Part(value, start * ElementBytes(type), map.to());
  value = InPasses(l, node, value, Layout::kDense, &map);
  const int result =
      l->NewTemporary(node.name + "/taken", type, map.to(), Layout::kDense);
  AddMove(l, node, {value}, BoxesOf(map, Layout::kDense), result);
  return result;
}

}  // namespace heddle::compiler
