// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/random_model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::TensorData;

constexpr int kMostOutputs = 10;

// Sizes that a package holds, and those of runs: of one, of one between them
// and of one above.
void ChooseSizes(ModelState* state, RandomModel* made) {
  RandomSource& random = state->random;
  const int64_t low = random.Between(1, 2), high = low + random.Between(2, 3);
  made->symbols = {"n"};
  made->shape_set = absl::StrCat("n=", low, ",", high);
  made->runs = {{random.OneIn(2) ? low : high},
                {random.Between(low + 1, high - 1)}};
  if (random.OneIn(2)) made->runs.push_back({high + 1});
  if (random.OneIn(5)) {
    made->symbols.push_back("m");
    absl::StrAppend(&made->shape_set, ";m=3");
    for (Sizes& run : made->runs) run.push_back(random.OneIn(4) ? 2 : 3);
  }
  state->symbols = made->symbols;
  state->largest = {high + 1, 3};
}

// Of an input: the outputs may leave none that is read.
bool HasOpenDimension(const RandomModel& made) {
  const auto is_open = [](const Dim& dim) { return dim.symbol >= 0; };
  return std::any_of(made.inputs.begin(), made.inputs.end(),
                     [&](const RandomInput& input) {
                       const Dims& dims = input.value.dims;
                       return std::any_of(dims.begin(), dims.end(), is_open);
                     });
}

Dims AnyDims(ModelState* state) {
  RandomSource& random = state->random;
  Dims dims(random.Between(2, 4));
  for (Dim& dim : dims) dim.size = random.Between(1, 5);
  if (!state->symbols.empty()) {
    const auto rank = static_cast<int64_t>(dims.size());
    const int64_t axis = random.OneIn(4) ? random.Below(rank) : 0;
    dims[axis] = {1, 0};
    if (state->symbols.size() > 1) dims[(axis + 1) % rank] = {1, 1};
  }
  // As large as what nodes may compute.
  while (CountOf(dims, state->largest) > GraphWriter::kMostElements) {
    --std::max_element(
          dims.begin(), dims.end(),
          [](const Dim& a, const Dim& b) { return a.size < b.size; })
          ->size;
  }
  return dims;
}

void AddInputs(ModelState* state, GraphWriter* w) {
  RandomSource& random = state->random;
  const Dims dims = AnyDims(state);
  w->AddInput(DataType::kFloat, dims, -4, 4, static_cast<int>(random.Below(4)));
  if (random.OneIn(2)) {
    Dims other = random.OneIn(2) ? dims : AnyDims(state);
    w->AddInput(DataType::kFloat, other, -2, 2, 1);
  }
  if (random.OneIn(2)) {
    Dims other = random.OneIn(2) ? Dims() : Dims{dims.back()};
    w->AddInput(random.OneIn(4) ? DataType::kInt32 : DataType::kInt64, other,
                -9, 9, 0);
  }
  if (random.OneIn(4)) w->AddInput(DataType::kBool, dims, 0, 1, 0);
  if (random.OneIn(6)) w->AddInput(DataType::kUint8, dims, 0, 255, 0);
}

using Names = std::set<std::string>;

// What a node reads, and the graphs inside of it.
void CollectReads(const onnx::NodeProto& node, Names* reads) {
  reads->insert(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const auto& inner : attribute.g().node()) CollectReads(inner, reads);
    for (const auto& output : attribute.g().output()) {
      reads->insert(output.name());
    }
  }
}

// Removes those elements of a repeated field; whether there were any.
template <typename List, typename Is>
void RemoveWhere(List* list, const Is& is) {
  for (int i = list->size() - 1; i >= 0; --i) {
    if (is(list->Get(i))) list->DeleteSubrange(i, 1);
  }
}

void ChooseOutputs(ModelState* state, const GraphWriter& w, RandomModel* made) {
  Names reads;
  onnx::GraphProto* graph = state->model.mutable_graph();
  for (const auto& node : graph->node()) CollectReads(node, &reads);
  std::vector<const Value*> chosen;
  for (auto v = w.own().rbegin(); v != w.own().rend(); ++v) {
    const bool input = std::any_of(
        state->inputs.begin(), state->inputs.end(),
        [&](const RandomInput& i) { return i.value.name == v->name; });
    if (input || chosen.size() >= kMostOutputs) continue;
    if (reads.count(v->name) == 0 || state->random.OneIn(10)) {
      chosen.push_back(&*v);
    }
  }
  for (const Value* value : chosen) {
    auto* info = graph->add_output();
    compiler::Declare(info, value->name, value->type);
    made->outputs.push_back(*value);
    if (value->bounded || state->random.OneIn(2)) continue;
    auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const Dim& dim : value->dims) {
      auto* proto = shape->add_dim();
      if (dim.symbol < 0) proto->set_dim_value(dim.size);
    }
  }
}

}  // namespace

void Prune(RandomModel* model) {
  onnx::GraphProto* graph = model->model.mutable_graph();
  Names live;
  for (const auto& output : graph->output()) live.insert(output.name());
  for (int i = graph->node_size() - 1; i >= 0; --i) {
    const auto& outputs = graph->node(i).output();
    if (std::any_of(outputs.begin(), outputs.end(),
                    [&](const auto& name) { return live.count(name) > 0; })) {
      CollectReads(graph->node(i), &live);
    } else {
      graph->mutable_node()->DeleteSubrange(i, 1);
    }
  }
  const auto dead = [&](const auto& named) {
    return live.count(named.name()) == 0;
  };
  RemoveWhere(model->model.mutable_metadata_props(), [&](const auto& entry) {
    // (A bound is of an input.)
    return live.count(entry.key().substr(entry.key().rfind('.') + 1)) == 0;
  });
  RemoveWhere(graph->mutable_input(), dead);
  RemoveWhere(graph->mutable_initializer(), dead);
  RemoveWhere(graph->mutable_value_info(), dead);
  model->inputs.erase(std::remove_if(model->inputs.begin(), model->inputs.end(),
                                     [&](const RandomInput& input) {
                                       return live.count(input.value.name) == 0;
                                     }),
                      model->inputs.end());
}

RandomModel MakeRandomModel(uint64_t seed) {
  ModelState state(seed * 0x9e3779b97f4a7c15u + 14);
  RandomModel made;
  made.seed = seed;
  made.runs = {Sizes()};
  state.opset = static_cast<int>(13 + state.random.Below(11));
  state.model.set_ir_version(8);
  state.model.add_opset_import()->set_version(state.opset);
  auto* graph = state.model.mutable_graph();
  graph->set_name(absl::StrCat("seed_", seed));
  if (seed % 4 == 0) ChooseSizes(&state, &made);
  GraphWriter w(&state, graph);
  AddInputs(&state, &w);
  // Every symbol stays, and of some models little else: in large ones there is
  // hardly ever no node at all that mixes what would have to be cut off.
  bool small = false;
  if (!made.symbols.empty()) {
    const Value& x = w.own().front();
    w.Append("Neg", {x.name}, x);
    small = state.random.OneIn(2);
  }
  // The control flow and what the host must do lie somewhere between.
  const auto some = [&](int64_t low, int64_t high) {
    const int64_t count = state.random.Between(low, high);
    for (int64_t i = small ? count / 2 : count; i > 0; --i) {
      AddNodes(Side::kCard, &w);
    }
  };
  some(1, 4);
  if (seed % 5 < 3) AddNodes(Side::kControl, &w);
  some(0, 2);
  for (int64_t i = small ? 1 : state.random.Between(1, 2); i > 0; --i) {
    AddNodes(Side::kHost, &w);
    some(0, 2);
  }
  if (seed % 5 == 0) AddNodes(Side::kControl, &w);
  some(0, 1);
  made.long_scan = seed % 400 == 399;
  if (made.long_scan) AddLongScan(&w);
  ChooseOutputs(&state, w, &made);
  made.values.assign(w.own().begin(), w.own().end());
  made.model = std::move(state.model);
  made.inputs = std::move(state.inputs);
  Prune(&made);
  if (!made.symbols.empty() && !HasOpenDimension(made)) {
    made.symbols.clear();
    made.shape_set.clear();
    made.runs = {Sizes()};
  }
  return made;
}

TensorData Draw(const RandomInput& input, const Sizes& sizes, uint64_t seed) {
  RandomSource random(seed);
  const Value& value = input.value;
  TensorData data = TensorData::Zeros(value.type, ShapeOf(value.dims, sizes));
  for (int64_t i = 0; i < data.count(); ++i) {
    const int64_t drawn =
        random.Between(input.low * (int64_t{1} << value.fraction),
                       input.high * (int64_t{1} << value.fraction));
    switch (value.type) {
      case DataType::kFloat:
        data.as<float>()[i] =
            std::ldexp(static_cast<float>(drawn), -value.fraction);
        break;
      case DataType::kDouble:
        data.as<double>()[i] =
            std::ldexp(static_cast<double>(drawn), -value.fraction);
        break;
      case DataType::kInt32:
        data.as<int32_t>()[i] = static_cast<int32_t>(drawn);
        break;
      case DataType::kInt64:
      case DataType::kUint64:
        data.as<int64_t>()[i] = drawn;
        break;
      default:
        data.bytes[i] = static_cast<uint8_t>(drawn);
    }
  }
  return data;
}

}  // namespace heddle::tests
