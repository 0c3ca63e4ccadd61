// SPDX-License-Identifier: Apache-2.0
// Ifs, Loops and Scans: decided by a run (an input, a comparison of computed
// values), or by constants and shapes, so that they fold; with values from
// outside, one inside of another. What a Loop hands on keeps the bounds that it
// has at the beginning, whatever the body computes.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/graphs/graph_writer.h"

namespace heddle::tests {
namespace {

using compiler::AddGraph;
using compiler::DataType;
using compiler::Declare;
using compiler::Floats;
using compiler::Int64s;
using compiler::SetInt;
using compiler::SetInts;

constexpr int64_t kMostTrips = 4;
// Of what is carried.
constexpr double kMagnitude = 8, kError = 2e-5;
constexpr double kExactMagnitude = 4;

bool IsScalar(const Value& v) { return v.dims.empty(); }

void AddSomeNodes(GraphWriter* w) {
  for (int64_t i = w->random().Between(1, 3); i > 0; --i) {
    AddNodes(w->OneIn(4) ? Side::kHost : Side::kCard, w);
  }
  if (w->depth() < GraphWriter::kMostDepth && w->OneIn(4)) {
    AddNodes(Side::kControl, w);
  }
}

// The constant, as an input of the model where `by_run` says so.
std::string Flag(bool by_run, GraphWriter* w) {
  if (by_run) {
    const Value* drawn = w->Draw([](const Value& v) {
      return v.type == DataType::kBool && IsScalar(v);
    });
    if (drawn != nullptr) return drawn->name;
    const Value* input = w->AddInput(DataType::kBool, {}, 0, 1, 0);
    if (input != nullptr) return input->name;
    // Inside of a graph: whether an exact value is above 0 anywhere.
    const Value* x = w->Draw(
        [](const Value& v) { return IsExactFloat(v) && !v.dims.empty(); });
    if (x != nullptr) {
      std::vector<int64_t> axes;
      for (size_t i = 0; i < x->dims.size(); ++i) {
        axes.push_back(static_cast<int64_t>(i));
      }
      Value most = *x;
      most.dims.clear();
      const Value* largest = w->AppendWithAxes(
          "ReduceMax", 18, *x, axes, most,
          [](onnx::NodeProto* node) { SetInt(node, "keepdims", 0); });
      most.type = DataType::kBool;
      return w
          ->Append("Greater", {largest->name, w->Constant(Floats({}, {0.5f}))},
                   most)
          ->name;
    }
  }
  const Value* sized = w->Draw(IsFixed);
  if (sized == nullptr || w->OneIn(2)) {
    return w->Constant(compiler::Bool(!w->OneIn(3)));
  }
  // A shape decides, which may be another for each size of a symbol.
  Value flag;
  flag.type = DataType::kBool;
  const std::string size = w->NewName();
  w->AddNode("Size", {sized->name}, {size});
  return w
      ->Append("Less",
               {size, w->Constant(Int64s(
                          {}, {1 + w->Count(sized->dims) * w->Below(3) / 2}))},
               flag)
      ->name;
}

// One that `like` broadcasts to, made of what the graph has computed and of
// `base`: of the dimensions of `base`.
const Value* Combine(const Value& base, bool exact, GraphWriter* w) {
  const Value* found = nullptr;
  for (auto v = w->own().rbegin(); v != w->own().rend(); ++v) {
    const auto dims = Broadcast(v->dims, base.dims);
    if (IsFloat(*v) && (!exact || v->exact()) && dims.has_value() &&
        *dims == base.dims && !w->OneIn(4)) {
      found = &*v;
      break;
    }
  }
  if (found != nullptr) {
    Value sum = base;
    sum.magnitude = base.magnitude + found->magnitude;
    sum.error = base.error + found->error;
    sum.fraction = std::max(base.fraction, found->fraction);
    sum = Rounded(sum);
    const Value* made =
        !exact || sum.exact()
            ? w->Append(w->Pick({"Add", "Sub"}), {base.name, found->name}, sum)
            : nullptr;
    if (made != nullptr) return made;
  }
  return w->Append("Neg", {base.name}, base);
}

bool AddIf(GraphWriter* w) {
  std::vector<const Value*> bases = {w->Draw(IsFloat)};
  if (bases[0] == nullptr) return false;
  if (w->OneIn(3)) bases.push_back(w->Draw(IsFloat));
  const std::string condition = Flag(!w->OneIn(3), w);
  std::vector<std::string> outputs;
  for (size_t i = 0; i < bases.size(); ++i) outputs.push_back(w->NewName());
  onnx::NodeProto* node = w->AddNode("If", {condition}, outputs);
  std::vector<Value> results;
  for (const char* name : {"then_branch", "else_branch"}) {
    GraphWriter branch(w->state(), AddGraph(node, name), w);
    AddSomeNodes(&branch);
    for (size_t i = 0; i < bases.size(); ++i) {
      const Value made = *Combine(*bases[i], false, &branch);
      Declare(branch.graph()->add_output(), made.name, made.type);
      if (results.size() < bases.size()) {
        results.push_back(made);
        continue;
      }
      Value& both = results[i];
      both.magnitude = std::max(both.magnitude, made.magnitude);
      both.error = std::max(both.error, made.error);
      both.fraction = std::max(both.fraction, made.fraction);
    }
  }
  for (size_t i = 0; i < bases.size(); ++i) {
    results[i].name = outputs[i];
    w->AddValue(results[i]);
  }
  return true;
}

// What is carried: floats with an error, or small whole numbers.
struct Carried {
  Value value;  // before the first iteration, with the bounds of all
  bool exact = false;
};

bool StartCarried(GraphWriter* w, Carried* carried) {
  carried->exact = w->OneIn(2);
  if (!carried->exact) {
    const Value* x = w->Draw([](const Value& v) {
      return IsFloat(v) && v.magnitude <= kMagnitude && v.error <= kError;
    });
    if (x == nullptr) return false;
    carried->value = *x;
    carried->value.magnitude = kMagnitude;
    carried->value.error = kError;
    return true;
  }
  const Value* x = w->Draw(IsExactFloat);
  if (x == nullptr) return false;
  Value whole = *x;
  whole.fraction = 0;
  whole.magnitude = std::ceil(x->magnitude);
  const Value* floor = w->Append("Floor", {x->name}, whole);
  whole.magnitude = kExactMagnitude;
  carried->value = *w->Append("Clip",
                              {floor->name, w->Constant(Floats({}, {-4})),
                               w->Constant(Floats({}, {4}))},
                              whole);
  return true;
}

// What the next iteration gets, within the same bounds.
const Value* HandOn(const Carried& carried, const Value& now, GraphWriter* w) {
  const Value* sum = Combine(now, carried.exact, w);
  Value next = now;
  if (carried.exact) {
    Value whole = *sum;
    whole.fraction = 0;
    whole.magnitude = std::ceil(whole.magnitude);
    const Value* floor = w->Append("Floor", {sum->name}, whole);
    return w->Append("Clip",
                     {floor->name, w->Constant(Floats({}, {-4})),
                      w->Constant(Floats({}, {4}))},
                     next);
  }
  float factor = 0.5f;
  while (sum->magnitude * factor > kMagnitude ||
         sum->error * factor > kError / 2) {
    factor /= 2;
  }
  return w->Append("Mul", {sum->name, w->Constant(Floats({}, {factor}))}, next);
}

// Whether a Loop goes on: until iteration `last` at most, or as often as the
// outside says.
std::string GoesOn(const std::string& i, const std::string& c,
                   const Value& carried, bool exact, bool ends, int64_t last,
                   GraphWriter* w) {
  Value on;
  on.type = DataType::kBool;
  if (!ends && w->OneIn(2)) return w->Append("Identity", {c}, on)->name;
  const Value* less =
      w->Append("Less", {i, w->Constant(Int64s({}, {last - 1}))}, on);
  const Value* other = nullptr;
  if (exact && !carried.dims.empty() && w->OneIn(2)) {
    std::vector<int64_t> axes;
    for (size_t d = 0; d < carried.dims.size(); ++d) {
      axes.push_back(static_cast<int64_t>(d));
    }
    Value sum = carried;
    sum.dims.clear();
    const Value* least = w->AppendWithAxes(
        "ReduceMin", 18, carried, axes, sum,
        [](onnx::NodeProto* node) { SetInt(node, "keepdims", 0); });
    other =
        w->Append("Less",
                  {least->name,
                   w->Constant(Floats(
                       {}, {static_cast<float>(w->random().Between(-3, 4))}))},
                  on);
  }
  if (other == nullptr) return less->name;
  return w->Append("And", {less->name, other->name}, on)->name;
}

// The number of iterations; "" is none.
struct Trips {
  std::string name;
  int64_t known = -1;  // each run makes that many, if no condition ends it
};

Trips TripsOf(bool by_run, bool rows, GraphWriter* w) {
  Trips trips;
  if (by_run) {
    const int64_t low = rows ? w->random().Between(1, 3) : 0;
    const Value* input =
        w->AddInput(DataType::kInt64, {}, low, rows ? low : kMostTrips, 0);
    if (input != nullptr) {
      trips.name = input->name;
      trips.known = rows ? low : -1;
      return trips;
    }
    const Value* drawn = w->Draw([](const Value& v) {
      return IsInt64(v) && IsScalar(v) && v.magnitude <= 8;
    });
    if (drawn != nullptr) {
      trips.name = drawn->name;
      return trips;
    }
  }
  trips.known = w->random().Between(1, 3);
  trips.name = w->Constant(Int64s({}, {trips.known}));
  return trips;
}

bool AddLoop(GraphWriter* w) {
  Carried carried;
  if (!StartCarried(w, &carried)) return false;
  const bool by_run = !w->OneIn(3);
  // (Their shape is declared, so it is no symbol's.)
  const bool rows =
      w->depth() == 0 && w->OneIn(4) &&
      3 * w->Count(carried.value.dims) <= GraphWriter::kMostElements &&
      std::all_of(carried.value.dims.begin(), carried.value.dims.end(),
                  [](const Dim& dim) { return dim.symbol < 0; });
  const int64_t last = w->random().Between(1, kMostTrips);
  Trips trips = TripsOf(by_run, rows, w);
  std::string condition;
  // A Loop that its body alone ends.
  const bool ends = !rows && w->OneIn(4);
  if (ends) trips = Trips();
  if (!rows && w->OneIn(3)) condition = Flag(by_run, w);
  const bool counts = w->OneIn(3);
  std::vector<std::string> inputs = {trips.name, condition, carried.value.name};
  std::vector<std::string> outputs = {w->NewName()};
  if (counts) {
    inputs.push_back(w->Constant(Int64s({}, {0})));
    outputs.push_back(w->NewName());
  }
  if (rows) outputs.push_back(w->NewName());
  onnx::NodeProto* node = w->AddNode("Loop", inputs, outputs);
  GraphWriter body(w->state(), AddGraph(node, "body"), w);
  Value i, c, now = carried.value;
  i.name = w->NewName();
  i.type = DataType::kInt64;
  i.magnitude = 8;
  c.name = w->NewName();
  c.type = DataType::kBool;
  now.name = w->NewName();
  for (const Value* v : {&i, &c, &now}) {
    Declare(body.graph()->add_input(), v->name, v->type, v != &now);
    if (v != &c) body.AddValue(*v);
  }
  Value count = i;
  if (counts) {
    count.name = w->NewName();
    Declare(body.graph()->add_input(), count.name, count.type, true);
    body.AddValue(count);
  }
  AddSomeNodes(&body);
  const Value* next = HandOn(carried, now, &body);
  const std::string on =
      rows ? body.Append("Identity", {c.name}, c)->name
           : GoesOn(i.name, c.name, *next, carried.exact, ends, last, &body);
  Declare(body.graph()->add_output(), on, DataType::kBool, true);
  Declare(body.graph()->add_output(), next->name, next->type);
  if (counts) {
    const Value* counted =
        body.Append("Add", {count.name, body.Constant(Int64s({}, {1}))}, count);
    Declare(body.graph()->add_output(), counted->name, count.type, true);
  }
  Value result = carried.value;
  result.name = outputs[0];
  w->AddValue(result);
  if (counts) {
    count.name = outputs[1];
    count.dims.clear();
    w->AddValue(count);
  }
  if (rows) {
    const Value* row = body.Append("Neg", {next->name}, *next);
    Declare(body.graph()->add_output(), row->name, row->type);
    Value all = *row;
    all.dims.insert(all.dims.begin(), Dim{trips.known});
    all.name = outputs.back();
    // The number of rows is what the model says.
    DeclareValue(all, {}, w->graph()->add_value_info());
    w->AddValue(all);
  }
  return true;
}

bool AddScan(GraphWriter* w) {
  Carried carried;
  const Value* x = w->Draw([&](const Value& v) {
    return IsFloat(v) && !v.dims.empty() && w->Extent(v.dims[0]) <= 8;
  });
  if (x == nullptr || !StartCarried(w, &carried)) return false;
  const int64_t axis = w->Extent(x->dims.back()) <= 8 && w->OneIn(2)
                           ? static_cast<int64_t>(x->dims.size()) - 1
                           : 0;
  const std::vector<std::string> outputs = {w->NewName(), w->NewName()};
  onnx::NodeProto* node =
      w->AddNode("Scan", {carried.value.name, x->name}, outputs);
  SetInt(node, "num_scan_inputs", 1);
  if (axis != 0) SetInts(node, "scan_input_axes", {axis});
  if (w->OneIn(3)) SetInts(node, "scan_input_directions", {1});
  if (w->OneIn(3)) SetInts(node, "scan_output_directions", {1});
  GraphWriter body(w->state(), AddGraph(node, "body"), w);
  Value now = carried.value, row = *x;
  now.name = w->NewName();
  row.name = w->NewName();
  row.dims.erase(row.dims.begin() + axis);
  for (const Value* v : {&now, &row}) {
    Declare(body.graph()->add_input(), v->name, v->type);
    body.AddValue(*v);
  }
  AddSomeNodes(&body);
  // (ONNX Runtime wants to know the shapes.)
  const Value* next = HandOn(carried, now, &body);
  DeclareValue(*next, w->state()->symbols, body.graph()->add_output());
  const Value* seen = Combine(row, false, &body);
  DeclareValue(*seen, w->state()->symbols, body.graph()->add_output());
  Value result = carried.value;
  result.name = outputs[0];
  w->AddValue(result);
  Value all = *seen;
  all.dims.insert(all.dims.begin(), x->dims[axis]);
  all.name = outputs[1];
  w->AddValue(all);
  return true;
}

}  // namespace

void AddLongScan(GraphWriter* w) {
  // 2^18 nodes are unrolled (compiler/passes/unroll.h).
  constexpr int64_t kNodes = 24, kRows = 11'000, kWidth = 2;
  constexpr int64_t kHigh = 8;  // of all values, which are multiples of a half
  const Value rows =
      *w->AddInput(DataType::kDouble, {{kRows}, {kWidth}}, -kHigh, kHigh, 1);
  const Value start =
      *w->AddInput(DataType::kDouble, {{kWidth}}, -kHigh, kHigh, 1);
  const std::vector<std::string> outputs = {w->NewName(), w->NewName()};
  onnx::NodeProto* node = w->AddNode("Scan", {start.name, rows.name}, outputs);
  SetInt(node, "num_scan_inputs", 1);
  if (w->OneIn(2)) SetInts(node, "scan_input_directions", {1});
  if (w->OneIn(2)) SetInts(node, "scan_output_directions", {1});
  GraphWriter body(w->state(), AddGraph(node, "body"), w);
  Value now = start, row = start;
  for (Value* v : {&now, &row}) {
    v->name = w->NewName();
    Declare(body.graph()->add_input(), v->name, v->type);
    body.AddValue(*v);
  }
  const auto constant = [&](double value) {
    return body.Constant(
        compiler::MakeData<double>(DataType::kDouble, {}, {value}));
  };
  const Value* x = &now;
  for (int64_t i = 0; i < kNodes; ++i) {
    if (w->OneIn(3)) {
      const double divisor = 2.5 + static_cast<double>(w->Below(8));
      x = body.Append("Mod", {x->name, constant(divisor)}, start,
                      [](onnx::NodeProto* mod) { SetInt(mod, "fmod", 1); });
      continue;
    }
    const std::string other =
        w->OneIn(2) ? row.name
                    : constant(static_cast<double>(w->random().Between(-6, 6)));
    x = body.Append(w->Pick({"Max", "Min"}), {x->name, other}, start);
  }
  const Value* seen = body.Append("Max", {x->name, row.name}, start);
  DeclareValue(*x, w->state()->symbols, body.graph()->add_output());
  DeclareValue(*seen, w->state()->symbols, body.graph()->add_output());
  Value last = start, all = rows;
  last.name = outputs[0];
  all.name = outputs[1];
  w->AddValue(last);
  w->AddValue(all);
}

namespace {

const NodeFamily kIfFamily("if", Side::kControl, AddIf);
const NodeFamily kLoopFamily("loop", Side::kControl, AddLoop);
const NodeFamily kMoreIfsFamily("if 2", Side::kControl, AddIf);
const NodeFamily kMoreLoopsFamily("loop 2", Side::kControl, AddLoop);
const NodeFamily kScanFamily("scan", Side::kControl, AddScan);

}  // namespace
}  // namespace heddle::tests
