// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/lowering.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/fuse.h"
#include "compiler/device_ops/heads.h"
#include "compiler/device_ops/lower_qmatmul.h"
#include "compiler/device_ops/move.h"
#include "compiler/device_ops/relayout.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/program_operator.h"

namespace heddle::compiler {
namespace {

constexpr uint64_t kIoAlign = 64;

struct Entry {
  LowerFunction lower = nullptr;
  bool narrows = false;
};

std::map<std::pair<std::string, std::string>, Entry>& Registry() {
  static auto* registry =
      new std::map<std::pair<std::string, std::string>, Entry>();
  return *registry;
}

LowerFunction& ProgramLowering() {
  static LowerFunction lowering = nullptr;
  return lowering;
}

// nullptr: the card has no implementation.
LowerFunction FindLowering(const std::string& domain, const std::string& op) {
  const auto found = Registry().find({domain, op});
  if (found != Registry().end()) return found->second.lower;
  return HasSteps(domain, op) ? ProgramLowering() : nullptr;
}

bool IsCode(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

absl::Status NoLowering(const Node& node) {
  return Reject(
      Rejection::kUnsupportedOperator,
      absl::StrCat(node.Describe(),
                   ": the card has no implementation of this operator for "
                   "tensors that are computed at run time; see heddle-compile "
                   "--supported-ops"));
}

}  // namespace

LoweringRegistration::LoweringRegistration(const char* domain, const char* op,
                                           LowerFunction lower, bool narrows) {
  Registry()[{domain, op}] = {lower, narrows};
}

ProgramLoweringRegistration::ProgramLoweringRegistration(LowerFunction lower) {
  ProgramLowering() = lower;
}

bool NarrowsInt64(const std::string& domain, const std::string& op) {
  const auto found = Registry().find({domain, op});
  return found != Registry().end() ? found->second.narrows
                                   : SelectsInt64(domain, op);
}

bool HasLowering(const std::string& domain, const std::string& op) {
  return FindLowering(domain, op) != nullptr || MayBeExpanded(domain, op);
}

absl::Status CheckLowering(const Node& node) {
  return HasLowering(node.domain, node.op) ? absl::OkStatus()
                                           : NoLowering(node);
}

MixedStrides StridesInBlocked(const Shape& shape, const TileView& dense) {
  if (shape.size() > 2) return {dense.xstep, dense.pitch, dense.plane};
  return {0, dense.pitch, dense.xstep};
}

int64_t CodeValue(uint8_t code, bool is_signed) {
  return is_signed ? static_cast<int8_t>(code) : code;
}

int64_t CodeZero(const TensorData* zero) {
  if (zero == nullptr) return 0;
  if (zero->type == DataType::kInt32) return *zero->as<int32_t>();
  return CodeValue(zero->bytes[0], zero->type == DataType::kInt8);
}

Lowering::Lowering(const Graph& graph, const isa::Config& config,
                   const Features& features, DeviceGraph* device)
    : graph_(graph),
      config_(config),
      features_(features),
      device_(device),
      values_(graph.tensors.size(), -1),
      consumers_(graph.Consumers()),
      producers_(graph.Producers()) {
  device->sram_bytes = config.sram_bytes;
}

const TensorData* Lowering::ConstantInput(const Node& node, size_t i) const {
  const TensorId id = node.input(i);
  return id == kNoTensor ? nullptr : graph_.tensors[id].constant.get();
}

SharedBytes Lowering::ConstantBytes(const Node& node, size_t i) const {
  const auto& constant = graph_.tensors[node.inputs[i]].constant;
  return SharedBytes(constant, &constant->bytes);
}

int Lowering::NewTemporary(const std::string& name, DataType type,
                           const Shape& shape, Layout layout) {
  Storage s;
  s.name = name;
  s.type = type == DataType::kInt64 ? DataType::kInt32 : type;
  s.layout = layout;
  s.extent = ExtentOf(shape, layout);
  device_->storages.push_back(s);
  Value v;
  v.storage = device_->storages.size() - 1;
  v.shape = shape;
  v.extent = s.extent;
  device_->values.push_back(v);
  return device_->values.size() - 1;
}

int Lowering::NewValue(TensorId id, Layout layout) {
  const Tensor& t = graph_.tensors[id];
  values_[id] = NewTemporary(t.name, t.type, t.shape, layout);
  return values_[id];
}

int Lowering::NewRows(TensorId id, int64_t matrices, int64_t rows,
                      int64_t columns) {
  const Tensor& t = graph_.tensors[id];
  const int value = NewTemporary(t.name, t.type, {matrices, columns, rows, 1},
                                 Layout::kBlocked);
  Extent& e = device_->values[value].extent;
  e.dense_c = 1;
  e.dense_w = e.dense_h = columns;
  e.dense_n = columns * rows;
  device_->StorageOf(value).extent = e;
  rows_[id] = {value, false, true};
  return value;
}

void Lowering::SetRowOrder(TensorId id, const Extent& matrix) {
  StackInRows& rows = rows_.at(id);
  Extent& e = device_->values[rows.value].extent;
  e.dense_c = matrix.dense_c;
  e.dense_w = e.dense_h = matrix.dense_h;
  e.dense_n = e.c;
  device_->StorageOf(rows.value).extent = e;
  rows.merged = true;
}

bool Lowering::Covers(int value) const {
  const Value& v = device_->values[value];
  const Storage& s = device_->storages[v.storage];
  return v.offset == 0 && ElementCount(v.shape) ==
                              s.extent.n * s.extent.c * s.extent.h * s.extent.w;
}

int Lowering::Part(int value, uint64_t offset, const Shape& shape) {
  const int part = Reshaped(value, shape);
  device_->values[part].offset += offset;
  return part;
}

bool Lowering::Adopt(int value, int whole, uint64_t offset) {
  const int from = device_->values[value].storage,
            to = device_->values[whole].storage;
  const Storage& s = device_->storages[from];
  const Storage& t = device_->storages[to];
  if (from == to || s.is_input || s.constant || s.layout != t.layout ||
      s.type != t.type || s.layout == Layout::kPacked || !Covers(value) ||
      (s.layout == Layout::kBlocked && s.extent.n != 1)) {
    return false;
  }
  device_->storages[to].shared = true;
  const uint64_t at = device_->values[whole].offset + offset;
  for (Value& v : device_->values) {
    if (v.storage != from) continue;
    v.storage = to;
    v.offset += at;
  }
  return true;
}

int Lowering::Reshaped(int value, const Shape& shape) {
  Storage& s = device_->StorageOf(value);
  s.shared = true;
  Value v;
  v.storage = device_->values[value].storage;
  v.shape = shape;
  v.extent = ExtentOf(shape, s.layout);
  v.offset = device_->values[value].offset;
  device_->values.push_back(v);
  return device_->values.size() - 1;
}

Layout Lowering::LayoutFor(TensorId id) const {
  const Tensor& t = graph_.tensors[id];
  if (!IsCode(t.type)) return Layout::kDense;
  bool packed = !consumers_[id].empty();
  for (int node : consumers_[id]) {
    packed = packed && AcceptsPacked(graph_, graph_.nodes[node], config_) &&
             graph_.nodes[node].inputs[0] == id;
  }
  return packed ? Layout::kPacked : Layout::kBlocked;
}

int Lowering::ValueOf(TensorId id, const Node& node) {
  if (values_[id] >= 0) return values_[id];
  if (const StackInRows* rows = FindRows(id)) {
    values_[id] = Reshaped(DenseOfRows(this, node, rows->value),
                           graph_.tensors[id].shape);
    return values_[id];
  }
  const std::shared_ptr<const TensorData> constant =
      graph_.tensors[id].constant;
  const TensorData& data = *constant;
  const int value = NewValue(id, Layout::kDense);
  Storage& s = device_->StorageOf(value);
  s.region = kWeightRegion;
  if (data.type != DataType::kInt64) {
    s.constant = {constant, &constant->bytes};
    return value;
  }
  std::vector<uint8_t> words;
  for (int64_t i = 0; i < data.count(); ++i) {
    const int64_t v = data.as<int64_t>()[i];
    if (v != static_cast<int32_t>(v) && narrowing_.ok()) {
      narrowing_ = Reject(
          Rejection::kUnsupportedDatatype,
          absl::StrCat(node.Describe(), ": element ", i, " of constant '",
                       graph_.tensors[id].name, "' is ", v,
                       "; the card holds int64 values that fit int32"));
    }
    words.insert(words.end(), data.bytes.begin() + 8 * i,
                 data.bytes.begin() + 8 * i + 4);
  }
  s.constant = std::make_shared<const TensorBytes>(std::move(words));
  return value;
}

int Lowering::FromWords(TensorId id) {
  const Tensor& t = graph_.tensors[id];
  Shape pairs = t.shape;
  pairs.push_back(2);
  const int words =
      NewTemporary(t.name, DataType::kInt32, pairs, Layout::kDense);
  if (consumers_[id].empty() && !graph_.IsOutput(id)) return words;
  const int value = NewValue(id, Layout::kDense);
  Node node;
  node.op = "Cast";
  node.name = t.name;
  std::vector<int64_t> strides = RowMajor(t.shape);
  for (int64_t& s : strides) s *= 2;
  AddMove(this, node, {words}, {WholeBox(0, t.shape, strides)}, value);
  return words;
}

int Lowering::ToWords(TensorId id, int value) {
  const Tensor& t = graph_.tensors[id];
  const Shape flat = FlatShape(t.shape, 4);
  const int64_t count = ElementCount(t.shape);
  Node node;
  node.op = "Cast";
  node.name = t.name;
  const int high =
      NewTemporary(t.name + "/sign", DataType::kInt32, flat, Layout::kDense);
  Add(MakeElementwise(device_, SignWordProgram(), {},
                      {Operand::Of(Reshaped(value, flat))}, high),
      node);
  // Rows of two words, so that they are cut as rows are, not image by image.
  const int words =
      NewTemporary(t.name, DataType::kInt32, {count, 2}, Layout::kDense);
  MoveBox low_words, high_words;
  low_words.input = 0;
  high_words.input = 1;
  high_words.result = 1;
  low_words.dims = high_words.dims = {{count, 1, 2}};
  AddMove(this, node, {value, high}, {low_words, high_words}, words);
  return words;
}

int Lowering::ValueIn(TensorId id, Layout layout, const Node& node) {
  const int value = ValueOf(id, node);
  if (device_->StorageOf(value).layout == layout) return value;
  auto [it, fresh] = relayouts_.try_emplace({value, layout}, -1);
  if (fresh) {
    const Storage s = device_->StorageOf(value);
    const Shape shape = device_->values[value].shape;
    const int copy =
        NewTemporary(absl::StrCat(s.name, "/relayout"), s.type, shape, layout);
    it->second = copy;
    Add(MakeRelayout(device_, value, copy), node);
  }
  return it->second;
}

void Lowering::Add(std::unique_ptr<DeviceOp> op, const Node& node) {
  op->op = node.op;
  op->name = node.name;
  op->sources = node.sources;
  device_->ops.push_back(std::move(op));
}

absl::Status Lowering::CheckNotEmpty() const {
  auto check = [&](TensorId id) -> absl::Status {
    const Tensor& t = graph_.tensors[id];
    if (ElementCount(t.shape) > 0) return absl::OkStatus();
    return Reject(
        Rejection::kUnsupportedShape,
        absl::StrCat("tensor '", t.name, "' of shape ", ShapeToString(t.shape),
                     " has no elements; give every dimension at "
                     "least 1"));
  };
  for (TensorId id : graph_.inputs) {
    RETURN_IF_ERROR(check(id));
  }
  for (TensorId id : graph_.outputs) {
    RETURN_IF_ERROR(check(id));
  }
  for (const Node& node : graph_.nodes) {
    for (TensorId id : node.outputs) {
      if (id == kNoTensor) continue;
      RETURN_IF_ERROR(check(id));
    }
  }
  return absl::OkStatus();
}

absl::Status Lowering::Run(TapSet taps) {
  RETURN_IF_ERROR(CheckNotEmpty());
  for (TensorId id : graph_.inputs) {
    const bool wide = graph_.tensors[id].type == DataType::kInt64;
    const int value = wide ? FromWords(id) : NewValue(id, LayoutFor(id));
    device_->StorageOf(value).is_input = true;
    device_->inputs.push_back({graph_.tensors[id].name, value});
  }
  for (const Node& node : graph_.nodes) {
    // Done together with a node before it.
    const TensorId first = node.outputs.empty() ? kNoTensor : node.outputs[0];
    if (first != kNoTensor && values_[first] >= 0) continue;
    if (FuseIntoMatrix(this, node) || LowerHeads(this, node)) continue;
    const LowerFunction lower = FindLowering(node.domain, node.op);
    // One that might have been made of others, and is not.
    if (lower == nullptr) return NoLowering(node);
    RETURN_IF_ERROR(lower(this, node));
    if (!narrowing_.ok()) return narrowing_;
  }
  // Outputs that are constants or inputs have no operation, and an output has
  // a place of its own: copy those, and parts of other storages.
  for (TensorId id : graph_.outputs) {
    Node copy;
    copy.op = "Identity";
    copy.name = graph_.tensors[id].name;
    if (graph_.tensors[id].type == DataType::kInt64) {
      values_[id] = ToWords(id, ValueIn(id, Layout::kDense, copy));
      if (!narrowing_.ok()) return narrowing_;
      continue;
    }
    const Storage& s = device_->StorageOf(ValueOf(id, copy));
    if (!s.is_input && !s.constant && Covers(values_[id])) continue;
    const int from = ValueIn(id, Layout::kDense, copy);
    const int to =
        NewTemporary(graph_.tensors[id].name, graph_.tensors[id].type,
                     graph_.tensors[id].shape, Layout::kDense);
    AddDenseCopy(this, copy, from, to);
    values_[id] = to;
  }
  PlaceIo(taps);
  AssignHalos();
  return absl::OkStatus();
}

void Lowering::AssignHalos() {
  // The first consumer that pads decides on the value of the padding; others
  // that want another value get a copy from the memory plan.
  for (const auto& op : device_->ops) {
    for (const OpInput& in : op->inputs) {
      Storage& s = device_->StorageOf(in.value);
      if (in.halo.empty() || s.shared || s.dram_dense()) continue;
      if (s.halo.empty()) s.halo_value = in.halo_value;
      if (s.halo_value != in.halo_value) continue;
      s.halo.top = std::max(s.halo.top, in.halo.top);
      s.halo.left = std::max(s.halo.left, in.halo.left);
      s.halo.bottom = std::max(s.halo.bottom, in.halo.bottom);
      s.halo.right = std::max(s.halo.right, in.halo.right);
    }
  }
}

void Lowering::PlaceIo(TapSet taps) {
  uint64_t at = 0;
  auto place = [&](int value) {
    Storage& s = device_->StorageOf(value);
    if (s.region == kIoRegion) return;
    s.region = kIoRegion;
    s.dram_offset = at;
    at += (s.DramBytes() + kIoAlign - 1) / kIoAlign * kIoAlign;
  };
  for (const auto& [name, value] : device_->inputs) place(value);
  for (TensorId id : graph_.outputs) {
    device_->StorageOf(values_[id]).is_output = true;
    place(values_[id]);
    device_->outputs.push_back({graph_.tensors[id].name, values_[id]});
  }
  if (taps != TapSet::kNone) {
    for (size_t id = 0; id < graph_.tensors.size(); ++id) {
      const Tensor& t = graph_.tensors[id];
      const StackInRows* rows = FindRows(static_cast<TensorId>(id));
      const int value = rows != nullptr && rows->own && !rows->merged
                            ? rows->value
                            : values_[id];
      if (t.is_constant() || value < 0) continue;
      if (taps == TapSet::kQuantized && !IsCode(t.type)) continue;
      // int64 tensors are int32 here: their bytes would not be the tensor's.
      if (t.type == DataType::kInt64) continue;
      Storage& s = device_->StorageOf(value);
      // A view of a constant is written by nobody.
      if (s.constant) continue;
      if (s.region != kIoRegion && s.tap_offset < 0) {
        s.tap_offset = at;
        const uint64_t bytes = s.extent.n * s.extent.c * s.extent.h *
                               s.extent.w * ElementBytes(s.type);
        at += (bytes + kIoAlign - 1) / kIoAlign * kIoAlign;
      }
      device_->taps.push_back({t.name, value});
    }
  }
  device_->io_bytes = at;
}

}  // namespace heddle::compiler
