// SPDX-License-Identifier: Apache-2.0
// Operators that choose and place elements: what only moves has no work, what
// an index of the run chooses inside a row goes through `pick` or one lane at a
// time.
#include <algorithm>

#include "compiler/bench/operator_case_builder.h"

namespace heddle::compiler {
namespace {

constexpr DataType kF32 = DataType::kFloat, kI64 = DataType::kInt64;
// An index may count from the end: comparison, sum, selection.
constexpr double kIndex = 3;

double Elements(const Shape& s) { return static_cast<double>(ElementCount(s)); }

CaseTable::Make Transpose(const std::vector<int64_t>& perm) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(13)};
    m.model.Input("x", kF32, s);
    SetInts(m.model.Node("Transpose", {"x"}, {"y"}), "perm", perm);
    m.model.Output("y");
    return m;
  };
}

CaseTable::Made Concat(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, s).Input("z", kF32, s);
  SetInt(m.model.Node("Concat", {"x", "z"}, {"y"}), "axis", 1);
  m.model.Output("y");
  return m;
}

CaseTable::Make Pad(const std::string& mode) {
  return [=](const Shape& s) {
    CaseTable::Made m{ModelBuilder(13)};
    m.model.Input("x", kF32, s);
    m.model.Constant("pads", Int64s({8}, {0, 0, 1, 2, 0, 0, 2, 1}));
    SetString(m.model.Node("Pad", {"x", "pads"}, {"y"}), "mode", mode);
    m.model.Output("y");
    return m;
  };
}

CaseTable::Made Tile(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, s).Constant("r", Int64s({2}, {1, 3}));
  m.model.Node("Tile", {"x", "r"}, {"y"});
  m.model.Output("y");
  return m;
}

CaseTable::Made DepthToSpace(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, s);
  SetInt(m.model.Node("DepthToSpace", {"x"}, {"y"}), "blocksize", 2);
  m.model.Output("y");
  return m;
}

CaseTable::Made Trilu(const Shape& s) {
  CaseTable::Made m{ModelBuilder(14)};
  m.model.Input("x", kF32, s);
  m.model.Node("Trilu", {"x"}, {"y"});
  m.model.Output("y");
  // The other half is not read.
  m.unread_bytes = 2 * Elements(s);
  return m;
}

// shape: rows and columns of the table, rows that are gathered.
CaseTable::Made GatherRows(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, {s[0], s[1]}).Input("i", kI64, {s[2]});
  m.model.Node("Gather", {"x", "i"}, {"y"});
  m.model.Output("y");
  m.lane_operations = kIndex * static_cast<double>(s[2]);
  m.unread_bytes =
      4 * static_cast<double>(std::max<int64_t>(0, s[0] - s[2]) * s[1]);
  return m;
}

// shape: rows, columns, columns that are gathered.
CaseTable::Made GatherColumns(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, {s[0], s[1]}).Input("i", kI64, {s[2]});
  SetInt(m.model.Node("Gather", {"x", "i"}, {"y"}), "axis", 1);
  m.model.Output("y");
  m.lane_operations = kPick * static_cast<double>(s[0] * s[2]) +
                      kIndex * static_cast<double>(s[2]);
  return m;
}

CaseTable::Made GatherElements(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, s).Input("i", kI64, s);
  SetInt(m.model.Node("GatherElements", {"x", "i"}, {"y"}), "axis", 1);
  m.model.Output("y");
  m.lane_operations = (kPick + kIndex) * Elements(s);
  return m;
}

// shape: rows and columns of the table, rows that are replaced.
CaseTable::Made ScatterRows(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, {s[0], s[1]}).Input("i", kI64, {s[2], 1});
  m.model.Input("u", kF32, {s[2], s[1]});
  m.model.Node("ScatterND", {"x", "i", "u"}, {"y"});
  m.model.Output("y");
  m.lane_operations = kIndex * static_cast<double>(s[2]);
  return m;
}

CaseTable::Made ScatterElements(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("x", kF32, s).Input("i", kI64, s).Input("u", kF32, s);
  SetInt(m.model.Node("ScatterElements", {"x", "i", "u"}, {"y"}), "axis", 1);
  m.model.Output("y");
  m.lane_operations = (16 + kIndex) * Elements(s);
  return m;
}

// shape: indices, depth.
CaseTable::Made OneHot(const Shape& s) {
  CaseTable::Made m{ModelBuilder(13)};
  m.model.Input("i", kI64, {s[0]}).Constant("depth", Int64s({}, {s[1]}));
  m.model.Constant("values", Floats({2}, {0, 1}));
  m.model.Node("OneHot", {"i", "depth", "values"}, {"y"});
  m.model.Output("y");
  m.lane_operations = 2 * Elements(s) + kIndex * static_cast<double>(s[0]);
  return m;
}

}  // namespace

void AddMoveCases(CaseTable* t) {
  const std::vector<Shape> matrices = {{64, 128}, {256, 512}, {1024, 1024}};
  const std::vector<Shape> images = {
      {1, 16, 16, 16}, {1, 32, 32, 64}, {1, 64, 128, 128}};
  t->Sized("Transpose", "", matrices, Transpose({1, 0}));
  t->Sized("Transpose to channels last", "", images, Transpose({0, 2, 3, 1}));
  t->Sized("Concat", "", images, Concat);
  t->Sized("Pad constant", "", images, Pad("constant"));
  t->Sized("Pad reflect", "", images, Pad("reflect"));
  t->Sized("Tile", "", matrices, Tile);
  t->Sized("DepthToSpace", "", images, DepthToSpace);
  t->Sized("Trilu", "", matrices, Trilu);
  t->Sized("Gather rows (rows, columns, taken)", "the index 3",
           {{128, 64, 64}, {1024, 256, 256}, {30000, 768, 512}}, GatherRows);
  t->Sized("Gather columns (rows, columns, taken)", "pick 2, the index 3",
           {{16, 128, 64}, {64, 512, 256}, {512, 1024, 512}}, GatherColumns);
  t->Sized("GatherElements", "pick 2, the index 3", matrices, GatherElements);
  t->Sized("ScatterND rows (rows, columns, put)", "the index 3",
           {{128, 64, 32}, {1024, 128, 256}, {8192, 256, 1024}}, ScatterRows);
  t->Sized("ScatterElements", "a lane a cycle, the index 3", matrices,
           ScatterElements);
  t->Sized("OneHot (indices, depth)", "comparison, selection, the index 3",
           {{64, 128}, {256, 512}, {1024, 1024}}, OneHot);
}

}  // namespace heddle::compiler
