// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/device_graph_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/schedule/matrix_op.h"

namespace heddle::compiler {
namespace {

// "1 box", "2 boxes".
std::string Count(int64_t count, const char* thing, const char* plural = "s") {
  return absl::StrCat(count, " ", thing, count == 1 ? "" : plural);
}

const char* LayoutName(Layout layout) {
  switch (layout) {
    case Layout::kDense:
      return "dense";
    case Layout::kBlocked:
      return "blocked";
    case Layout::kPacked:
      return "packed";
  }
  return "?";
}

const char* RegionName(int region) {
  switch (region) {
    case kWeightRegion:
      return "weights";
    case kScratchRegion:
      return "scratch";
    case kIoRegion:
      return "io";
  }
  return "?";
}

std::string ValueText(const DeviceGraph& graph, int value) {
  return absl::StrCat("v", value, " '", graph.StorageOf(value).name, "' ",
                      ShapeToString(graph.values[value].shape));
}

std::string HaloText(const Halo& halo) {
  return absl::StrCat("halo ", halo.top, ",", halo.left, ",", halo.bottom, ",",
                      halo.right, " (top, left, bottom, right)");
}

std::string SliceText(const Slice& slice) {
  return absl::StrCat(slice.first, "..", slice.first + slice.count - 1);
}

// "channels of the groups 0..31, 32..63, ..."; "" where there are none.
std::string SlicesText(const char* what, const std::vector<Slice>& slices) {
  constexpr size_t kShown = 4;
  if (slices.empty()) return "";
  const std::vector<Slice> shown(
      slices.begin(), slices.begin() + std::min(kShown, slices.size()));
  return absl::StrCat(", ", what, " by group ",
                      absl::StrJoin(shown, ", ",
                                    [](std::string* out, const Slice& s) {
                                      *out += SliceText(s);
                                    }),
                      slices.size() > kShown ? ", ..." : "");
}

std::string WindowText(const Window& w) {
  return absl::StrCat(w.kernel[0], "x", w.kernel[1], " stride ", w.stride[0],
                      ",", w.stride[1], " pad ", w.pad_begin[0], ",",
                      w.pad_begin[1], ",", w.pad_end[0], ",", w.pad_end[1]);
}

std::string StageText(const DeviceGraph& graph, const OutputStage& stage) {
  switch (stage.kind) {
    case OutputStage::kTable:
      return "table";
    case OutputStage::kResidual:
      return absl::StrCat(
          stage.op == isa::ResidualOp::kMul ? "times " : "plus ",
          ValueText(graph, stage.residual));
    case OutputStage::kMaxPool:
      return absl::StrCat("max pooling ", stage.kernel, "x", stage.kernel,
                          " stride ", stage.stride, " pad ", stage.pad);
    case OutputStage::kAverage:
      return "average";
  }
  return "?";
}

std::string CutText(const DeviceOp& op) {
  std::vector<std::string> axes;
  const auto add = [&](const char* axis, int64_t step) {
    axes.push_back(step > 1 ? absl::StrCat(axis, " (by ", step, ")") : axis);
  };
  if (op.tileable) add("rows", 1);
  if (op.columns_tileable) add("columns", op.column_step);
  if (op.channels_tileable) add("channels", op.channel_step);
  return axes.empty() ? "no axis" : absl::StrJoin(axes, ", ");
}

std::string Header(const DeviceGraph& graph, size_t index) {
  const DeviceOp& op = *graph.ops[index];
  return absl::StrCat("op ", index, ": ", op.op, " '", op.name, "' on ",
                      op.engine, " -> ", ValueText(graph, op.output));
}

std::string OrderText(const Box& box) {
  return absl::StrCat(box.by_group ? ", stored by group" : "",
                      box.group_outer ? ", groups outside" : "",
                      box.keep ? ", constants of all groups kept" : "",
                      box.single ? ", one buffer of each kind" : "");
}

void AppendOp(const DeviceGraph& graph, size_t index, std::string* text) {
  const DeviceOp& op = *graph.ops[index];
  absl::StrAppend(text, Header(graph, index), "\n");
  if (const MatrixOp* matrix = op.AsMatrix()) {
    const MatrixSpec& spec = matrix->spec();
    absl::StrAppend(text, "  ", isa::ToString(spec.mode), " ",
                    WindowText(spec.window), ", ", spec.weights.ci, " to ",
                    spec.weights.co, " channels");
    if (spec.conv_groups > 1) {
      absl::StrAppend(text, " in ", spec.conv_groups, " groups");
    }
    for (const OutputStage& stage : matrix->stages()) {
      absl::StrAppend(text, ", then ", StageText(graph, stage));
    }
    absl::StrAppend(text, "\n");
  }
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const OpInput& in = op.inputs[i];
    const char* columns = in.swapped  ? "columns (channels of the result) "
                          : in.turned ? "columns (rows of the result) "
                                      : "columns ";
    const char* channels =
        in.swapped ? "channels (columns of the result) " : "channels ";
    absl::StrAppend(text, "  needs ", ValueText(graph, in.value), ": rows ",
                    ToText(in.rows), ", ", columns, ToText(in.columns), ", ",
                    channels, ToText(in.channels));
    if (!in.halo.empty()) absl::StrAppend(text, ", ", HaloText(in.halo));
    absl::StrAppend(text, SlicesText("rows", in.row_slices),
                    SlicesText("columns", in.column_slices),
                    SlicesText("channels", in.channel_slices), "\n");
  }
  absl::StrAppend(text, "  may be cut along ", CutText(op));
  if (op.box) {
    const TileShape& t = op.box->tile;
    absl::StrAppend(text, ", boxes of ", t.rows, " x ", t.columns, " x ",
                    t.channels, OrderText(*op.box), " preferred");
  }
  if (op.max_rows > 0) {
    absl::StrAppend(text, ", at most ", op.max_rows, " rows");
  }
  if (op.max_pixels > 0) {
    absl::StrAppend(text, ", at most ", op.max_pixels, " pixels");
  }
  uint64_t constants = 0;
  for (const ConstantGroup& g : op.groups) constants += g.bytes;
  absl::StrAppend(text, "; ", op.macs, " MACs, ", constants,
                  " bytes of constants in ", Count(op.groups.size(), "group"),
                  SlicesText("columns", op.group_columns),
                  SlicesText("channels", op.group_channels), ", ",
                  op.temporary_bytes, " temporary bytes\n");
}

std::string Hex(uint64_t value) { return absl::StrFormat("%#x", value); }

std::string Sides(const std::array<uint32_t, 2>& address) {
  return address[0] == address[1]
             ? Hex(address[0])
             : absl::StrCat(Hex(address[0]), " and ", Hex(address[1]));
}

std::string PlaceText(const Storage& s) {
  std::vector<std::string> places;
  if (s.resident) {
    places.push_back(absl::StrCat("SRAM ", Hex(s.sram), "..",
                                  Hex(s.sram + s.SramBytes()), " during ops ",
                                  s.first_op, "..", s.last_op));
  }
  if (s.region >= 0) {
    places.push_back(
        absl::StrCat(RegionName(s.region), "+", Hex(s.dram_offset)));
  }
  if (s.tap_offset >= 0) {
    places.push_back(absl::StrCat("tap io+", Hex(s.tap_offset)));
  }
  return places.empty() ? "nowhere" : absl::StrJoin(places, ", ");
}

// Of an operation that reloads its constants again and again, the first loads.
void AppendConstants(const MemoryPlan& plan, const OpPlan& p,
                     std::vector<std::string>* places) {
  constexpr size_t kMost = 16;
  size_t loads = 0, last = SIZE_MAX;
  for (uint32_t number : p.uses) {
    if (number == last || (last != SIZE_MAX && number < last)) continue;
    last = number;
    if (++loads > kMost) continue;
    const ConstantUse& use = plan.constants[number];
    const size_t op = std::upper_bound(plan.first_step.begin(),
                                       plan.first_step.end(), use.when) -
                      plan.first_step.begin() - 1;
    places->push_back(absl::StrCat(
        "constants of group ", use.group, " at ", Hex(use.address),
        use.loaded ? ", loaded in front of box " : ", left there before box ",
        use.when - plan.first_step[op], " of op ", op));
  }
  if (loads > kMost) {
    places->push_back(absl::StrCat(loads - kMost, " more loads of constants"));
  }
}

void AppendPlan(const DeviceGraph& graph, const MemoryPlan& plan, size_t index,
                std::string* text) {
  const DeviceOp& op = *graph.ops[index];
  const OpPlan& p = plan.ops[index];
  const Extent& e = graph.values[op.output].extent;
  absl::StrAppend(
      text, Header(graph, index), "\n  box ", p.tile.rows,
      p.tile.lead > 0
          ? absl::StrCat(" (the first ", p.tile.rows - p.tile.lead, ")")
          : "",
      " x ", p.tile.columns, " x ", p.tile.channels, " of ", e.h, " x ", e.w,
      " x ", e.c, ", ", Count(p.tile.Count(e), "box", "es"), " of ",
      Count(e.n, "image"), ", ", Count(op.groups.size(), "group"),
      OrderText({p.tile, p.keep, p.group_outer, p.cut_groups, p.single}),
      "\n  SRAM: ");
  std::vector<std::string> places;
  AppendConstants(plan, p, &places);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const OpInput& in = op.inputs[i];
    if (graph.StorageOf(in.value).resident && !p.copy[i]) continue;
    if (in.rows.kind == AxisNeed::kDirect) continue;
    const Geometry g = InputTile(graph, op, i, StoredTile(op, p));
    places.push_back(absl::StrCat("v", in.value, p.copy[i] ? " copied" : "",
                                  " in ", g.bytes, " bytes at ",
                                  Sides(p.inputs[i])));
  }
  if (!graph.StorageOf(op.output).resident) {
    places.push_back(absl::StrCat(
        "v", op.output, " in ", OutputTile(graph, op, StoredTile(op, p)).bytes,
        " bytes at ", Sides(p.output)));
  }
  if (op.temporary_bytes > 0) {
    places.push_back(absl::StrCat("temporary at ", Hex(p.temporary)));
  }
  absl::StrAppend(
      text, places.empty() ? "nothing of its own" : absl::StrJoin(places, "; "),
      "\n");
}

}  // namespace

std::string ToText(const AxisNeed& need) {
  switch (need.kind) {
    case AxisNeed::kWhole:
      return "all";
    case AxisNeed::kSame:
      return "same";
    case AxisNeed::kDirect:
      return "read in place";
    case AxisNeed::kWindow:
      break;
  }
  std::string first = "i";
  if (need.stride != 1) absl::StrAppend(&first, "*", need.stride);
  if (need.pad > 0) absl::StrAppend(&first, "-", need.pad);
  if (need.pad < 0) absl::StrAppend(&first, "+", -need.pad);
  if (need.divide > 1) {
    return absl::StrCat("(", first, ")/", need.divide, "..(", first, "+",
                        need.extent - 1, ")/", need.divide);
  }
  return absl::StrCat(need.extent, " from ", first);
}

std::string ToText(const DeviceGraph& graph) {
  std::string text = absl::StrCat(
      "device graph: ", Count(graph.ops.size(), "operation"), ", ",
      Count(graph.storages.size(), "storage"), ", ", graph.io_bytes,
      " bytes of inputs and outputs; images x rows x columns x channels\n");
  for (size_t i = 0; i < graph.storages.size(); ++i) {
    const Storage& s = graph.storages[i];
    const Extent& e = s.extent;
    absl::StrAppend(&text, "storage s", i, " '", s.name, "' ",
                    DataTypeName(s.type), " ", LayoutName(s.layout), ", ", e.n,
                    " x ", e.h, " x ", e.w, " x ", e.c,
                    s.is_input    ? ", input"
                    : s.is_output ? ", output"
                    : s.constant  ? ", constant"
                                  : "",
                    s.spill ? ", spilled" : "");
    if (!s.halo.empty()) absl::StrAppend(&text, ", ", HaloText(s.halo));
    absl::StrAppend(&text, "\n");
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& v = graph.values[i];
    absl::StrAppend(&text, "value v", i, " ", ShapeToString(v.shape), " of s",
                    v.storage);
    if (v.offset > 0) absl::StrAppend(&text, " from byte ", v.offset);
    absl::StrAppend(&text, "\n");
  }
  for (size_t i = 0; i < graph.ops.size(); ++i) AppendOp(graph, i, &text);
  return text;
}

std::string ToText(const DeviceGraph& graph, const MemoryPlan& plan) {
  std::string text = absl::StrCat(
      "memory plan: ", plan.sram_peak, " bytes of SRAM, microprograms ",
      plan.keep_programs ? absl::StrCat("from ", Hex(plan.programs), " on, ")
                         : "of each operation, ",
      plan.scratch_bytes,
      " bytes of scratch memory; boxes are rows x columns x channels\n");
  for (size_t i = 0; i < graph.storages.size(); ++i) {
    const Storage& s = graph.storages[i];
    absl::StrAppend(&text, "storage s", i, " '", s.name, "': ", PlaceText(s),
                    "\n");
  }
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    AppendPlan(graph, plan, i, &text);
  }
  return text;
}

}  // namespace heddle::compiler
