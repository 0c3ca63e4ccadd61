// SPDX-License-Identifier: Apache-2.0
// BatchNormalization with given statistics, InstanceNormalization, LRN.
#include <algorithm>
#include <memory>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/mac.h"
#include "compiler/device_ops/reduction.h"
#include "compiler/ops/define.h"
#include "compiler/ops/normalization.h"
#include "compiler/schedule/loops.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

std::shared_ptr<const TensorData> Data(const Shape& shape,
                                       const std::vector<float>& values) {
  return std::make_shared<TensorData>(
      FromFloats(DataType::kFloat, shape, values));
}

// out = fma(a, b, c)
absl::StatusOr<Microprogram> FmaProgram() {
  ProgramBuilder b;
  b.Out(b.Fma(b.A(), b.B(), b.C()));
  return b.Finish();
}

// Input i, of one value per channel, as a dense operand: constant or computed.
Operand ChannelsOf(Lowering* l, const Node& node, size_t i,
                   const Shape& shape) {
  if (const TensorData* data = l->ConstantInput(node, i)) {
    return Operand::Constant(Data(shape, ToFloats(*data)));
  }
  return Operand::Of(
      l->Reshaped(l->ValueIn(node.inputs[i], Layout::kDense, node), shape));
}

bool AreConstants(const Lowering& l, const Node& node, size_t last) {
  for (size_t i = 1; i <= last; ++i) {
    if (l.ConstantInput(node, i) == nullptr) return false;
  }
  return true;
}

// The factors of normalization.h are computed first, as a row.
absl::Status LowerComputedBatchNorm(Lowering* l, const Node& node) {
  const Shape& shape = l->tensor(node.inputs[0]).shape;
  const std::string& name = l->tensor(node.outputs[0]).name;
  const Shape row = {1, shape[1]};
  const auto factor = [&](const char* what) {
    return l->NewTemporary(absl::StrCat(name, what), DataType::kFloat, row,
                           Layout::kDense);
  };
  ProgramBuilder a, b;
  a.Out(a.Div(a.A(), a.Sqrt(a.Add(a.B(), a.Arg(0)))));
  b.Out(b.Fma(b.Mul(b.A(), b.Arg(0)), b.B(), b.C()));
  ASSIGN_OR_RETURN(const auto scale_program, a.Finish());
  ASSIGN_OR_RETURN(const auto shift_program, b.Finish());
  ASSIGN_OR_RETURN(const auto last, FmaProgram());
  const int scale = factor("/scale"), shift = factor("/shift");
  AddElementwise(l, node, scale_program,
                 {model::Bits(node.FloatAttribute("epsilon", 1e-5f)), 0, 0, 0},
                 {ChannelsOf(l, node, 1, row), ChannelsOf(l, node, 4, row)},
                 scale);
  AddElementwise(l, node, shift_program, {model::Bits(-1.0f), 0, 0, 0},
                 {ChannelsOf(l, node, 3, row), Operand::Of(scale),
                  ChannelsOf(l, node, 2, row)},
                 shift);
  Shape channels(shape.size(), 1);
  channels[1] = shape[1];
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  AddElementwise(l, node, last, {},
                 {Operand::Of(from), Operand::Of(l->Reshaped(scale, channels)),
                  Operand::Of(l->Reshaped(shift, channels))},
                 to);
  return absl::OkStatus();
}

absl::Status LowerBatchNorm(Lowering* l, const Node& node) {
  if (!AreConstants(*l, node, 4)) return LowerComputedBatchNorm(l, node);
  const BatchNormFactors f =
      FactorsOf(*l->ConstantInput(node, 1), *l->ConstantInput(node, 2),
                *l->ConstantInput(node, 3), *l->ConstantInput(node, 4),
                node.FloatAttribute("epsilon", 1e-5f));
  ASSIGN_OR_RETURN(auto program, FmaProgram());
  const Shape& shape = l->tensor(node.inputs[0]).shape;
  Shape channels(shape.size(), 1);
  channels[1] = shape[1];
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(MakeElementwise(
             &l->device(), program, {},
             {Operand::Of(from), Operand::Constant(Data(channels, f.a)),
              Operand::Constant(Data(channels, f.b))},
             to),
         node);
  return absl::OkStatus();
}

// Planes are rows, or images of as many rows as there are pieces where the
// reduction cuts them (see reduce.h): tiles are as small as the reduction's.
absl::Status LowerInstanceNorm(Lowering* l, const Node& node) {
  const bool computed = !AreConstants(*l, node, 2);
  const Tensor& x = l->tensor(node.inputs[0]);
  const Tensor& y = l->tensor(node.outputs[0]);
  const std::vector<ReduceStage> stages = PlaneStages(x.shape);
  const int64_t channels = x.shape[1], planes = x.shape[0] * channels;
  const int64_t length = stages[0].count,
                pieces = ElementCount(x.shape) / planes / length;
  const bool rows = pieces == 1;
  const Shape shape =
      rows ? Shape{planes, length} : Shape{planes, 1, pieces, length};
  const Shape per_plane = rows ? Shape{planes, 1} : Shape{planes, 1, 1, 1};
  // Constants of every plane.
  std::vector<float> scales, biases, scale, bias;
  if (!computed) {
    scales = ToFloats(*l->ConstantInput(node, 1));
    biases = ToFloats(*l->ConstantInput(node, 2));
  }
  for (int64_t i = 0; !computed && i < planes; ++i) {
    scale.push_back(scales[i % channels]);
    bias.push_back(biases[i % channels]);
  }
  ProgramBuilder b;
  b.Out(b.Div(b.B(), b.Sqrt(b.Add(b.A(), b.Arg(0)))));
  ASSIGN_OR_RETURN(auto factor, b.Finish());
  ASSIGN_OR_RETURN(auto last, FmaProgram());

  auto temporary = [&](const char* name, const Shape& s) {
    return l->NewTemporary(absl::StrCat(y.name, name), DataType::kFloat, s,
                           Layout::kDense);
  };
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  ASSIGN_OR_RETURN(auto mean,
                   AddReduction(l, node, from, stages,
                                {Fold::kSum, Premap::kNone, Finish::kMean},
                                DataType::kFloat));
  const int centred = temporary("/centred", shape);
  l->Add(MakeElementwise(&l->device(), BinaryProgram(isa::MicroOp::kFsub), {},
                         {Operand::Of(l->Reshaped(from, shape)),
                          Operand::Of(l->Reshaped(mean, per_plane))},
                         centred),
         node);
  ASSIGN_OR_RETURN(auto variance,
                   AddReduction(l, node, centred, stages,
                                {Fold::kSum, Premap::kSquare, Finish::kMean},
                                DataType::kFloat));
  if (computed) {
    // Images and channels are dimensions of their own.
    const Shape row = {1, channels}, images = {x.shape[0], channels};
    const int factors = temporary("/factor", images);
    AddElementwise(
        l, node, factor,
        {model::Bits(node.FloatAttribute("epsilon", 1e-5f)), 0, 0, 0},
        {Operand::Of(l->Reshaped(variance, images)),
         ChannelsOf(l, node, 1, row)},
        factors);
    const Shape all = {x.shape[0], channels, pieces, length};
    const int to = l->NewTemporary(y.name, y.type, all, Layout::kDense);
    AddElementwise(
        l, node, last, {},
        {Operand::Of(l->Reshaped(centred, all)),
         Operand::Of(l->Reshaped(factors, {x.shape[0], channels, 1, 1})),
         ChannelsOf(l, node, 2, {1, channels, 1, 1})},
        to);
    l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
    return absl::OkStatus();
  }
  const Shape column = {planes, 1};
  const int factors = temporary("/factor", column);
  l->Add(MakeElementwise(
             &l->device(), factor,
             {model::Bits(node.FloatAttribute("epsilon", 1e-5f)), 0, 0, 0},
             {Operand::Of(l->Reshaped(variance, column)),
              Operand::Constant(Data(column, scale))},
             factors),
         node);
  const int to = l->NewTemporary(y.name, y.type, shape, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), last, {},
                         {Operand::Of(centred),
                          Operand::Of(l->Reshaped(factors, per_plane)),
                          Operand::Constant(Data(per_plane, bias))},
                         to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

// On [n, 1, channels, pixels]: channels are rows, so that tiles are cut along
// them too. Lanes are pixels, the window lies in r1. Channels whose windows
// have the same length and place share a command. Of long windows a group reads
// a part, and the sums of squares go on in the result, which is fp32 then.
class LrnOp : public ClonableOp<LrnOp> {
 public:
  // Programs from (stream A) squares, (B) the element and (C) what the part
  // before has left to the sum so far, or the result: by [first][last] of the
  // window's parts.
  using PartPrograms = std::array<std::array<Microprogram, 2>, 2>;

  LrnOp(Lowering* l, const Node& node, PartPrograms programs, int from, int to)
      : channels_(l->device().values[to].extent.h),
        size_(node.IntAttribute("size", 1)),
        arguments_(LrnArguments(node)),
        in_type_(VectorType(l->device().StorageOf(from).type)),
        out_type_(VectorType(l->device().StorageOf(to).type)),
        programs_(std::move(programs)),
        before_(std::min((size_ - 1) / 2, channels_ - 1)),
        parts_(PartsOf(*l, node, channels_)) {
    engine = "vector";
    output = to;
    tileable = columns_tileable = true;
    const int64_t after = std::min(size_ / 2, channels_ - 1);
    OpInput in;
    in.value = from;
    in.rows = {AxisNeed::kWindow, 1, before_, before_ + 1 + after};
    in.columns.kind = AxisNeed::kSame;
    inputs = {in};
    if (parts_.size() == 1) return;
    inputs[0].row_slices = parts_;
    in.rows.kind = AxisNeed::kSame;
    inputs.push_back(in);
    groups.assign(parts_.size(), ConstantGroup());
  }

  // Parts of the window: the offset of the first channel, and how many.
  static std::vector<Slice> PartsOf(const Lowering& l, const Node& node,
                                    int64_t channels) {
    const int64_t size = node.IntAttribute("size", 1);
    const int64_t reach = std::min((size - 1) / 2, channels - 1) + 1 +
                          std::min(size / 2, channels - 1);
    const auto sram = static_cast<int64_t>(l.config().sram_bytes);
    constexpr int64_t kElement = sizeof(float);
    if (reach * kElement <= sram / 8 && reach <= kMaxCount) return {{0, reach}};
    const int64_t length = std::min(kMaxCount, sram / 16 / kElement);
    std::vector<Slice> parts;
    for (int64_t first = 0; first < reach; first += length) {
      parts.push_back({first, std::min(length, reach - first)});
    }
    return parts;
  }

  std::vector<Microprogram> Programs() const override {
    if (parts_.size() == 1) return {programs_[1][1]};
    return {programs_[0][0], programs_[0][1], programs_[1][0], programs_[1][1]};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const int64_t end = tile.row0 + tile.rows;
    for (int64_t c = tile.row0; c < end;) {
      const Run run = RunOf(c, parts_[tile.group]);
      int64_t alike = 1;
      while (c + alike < end && alike < kMaxCount) {
        const Run next = RunOf(c + alike, parts_[tile.group]);
        if (next.count != run.count || next.first != run.first + alike ||
            next.begins != run.begins || next.ends != run.ends) {
          break;
        }
        ++alike;
      }
      if (run.count > 0) EmitChannels(emitter, tile, c, alike, run);
      c += alike;
    }
  }

 private:
  static constexpr int64_t kMaxCount = 65535;

  // What a channel's window has in a part.
  struct Run {
    int64_t first = 0, count = 0;
    bool begins = false, ends = false;  // the window
  };
  Run RunOf(int64_t channel, const Slice& part) const {
    const LrnWindow w = LrnWindowOf(channel, channels_, size_);
    const int64_t from = channel - before_ + part.first;
    const int64_t first = std::max(w.first, from);
    const int64_t end = std::min(w.first + w.count, from + part.count);
    if (first >= end) return {channel, 0, false, false};
    return {first, end - first, first == w.first, end == w.first + w.count};
  }

  void EmitChannels(Emitter* emitter, const Tile& tile, int64_t first,
                    int64_t count, const Run& w) const {
    for (int64_t done = 0; done < tile.columns; done += kMaxCount) {
      const auto stream = [&](const TileView& v, isa::ElementType type,
                              int64_t channel) {
        isa::Stream s;
        s.type = type;
        s.base = AddressOf(v, 0, channel, tile.column0 + done);
        s.lane_stride = v.xstep;
        s.o1_stride = v.pitch;
        return s;
      };
      isa::Vrun run = emitter->Run(programs_[w.begins][w.ends]);
      run.arg0 = arguments_[0];
      run.arg1 = arguments_[1];
      run.arg2 = arguments_[2];
      run.enable_a = run.enable_b = true;
      run.enable_c = !w.begins;
      run.store = isa::StoreMode::kEpilogue;
      run.lanes = std::min(kMaxCount, tile.columns - done);
      run.n_r1 = w.count;
      run.n_o1 = count;
      isa::Stream a = stream(tile.inputs[0], in_type_, w.first);
      a.r1_stride = tile.inputs[0].pitch;
      run.SetA(a);
      run.SetB(stream(tile.inputs.back(), in_type_, first));
      const isa::Stream d = stream(tile.output, out_type_, first);
      if (run.enable_c) run.SetC(d);
      run.SetD(d);
      emitter->Append(run);
    }
  }

  int64_t channels_, size_;
  std::array<uint32_t, 4> arguments_;
  isa::ElementType in_type_, out_type_;
  PartPrograms programs_;
  int64_t before_;
  std::vector<Slice> parts_;
};

absl::StatusOr<Microprogram> LrnProgram(bool begins, bool ends) {
  ProgramBuilder b;
  const Term sum = b.Variable();
  if (!begins) {
    b.In(ProgramBuilder::kPrologue);
    b.Assign(sum, b.C());
    b.In(ProgramBuilder::kBody);
  }
  const Term v = b.Op(isa::MicroOp::kMov, b.A());
  b.Assign(sum, b.Fma(v, v, sum));
  b.In(ProgramBuilder::kEpilogue);
  b.Out(ends ? LrnTerm(&b, b.B(), sum) : sum);
  return b.Finish();
}

absl::Status LowerLrn(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  const Tensor& y = l->tensor(node.outputs[0]);
  LrnOp::PartPrograms programs;
  for (bool begins : {false, true}) {
    for (bool ends : {false, true}) {
      ASSIGN_OR_RETURN(programs[begins][ends], LrnProgram(begins, ends));
    }
  }
  const int64_t planes = x.shape[0] * x.shape[1];
  const Shape shape = {x.shape[0], 1, x.shape[1],
                       ElementCount(x.shape) / planes};
  const int from =
      l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node), shape);
  int to = l->NewTemporary(y.name, y.type, shape, Layout::kDense);
  int sums = to;
  if (y.type != DataType::kFloat &&
      LrnOp::PartsOf(*l, node, x.shape[1]).size() > 1) {
    sums = l->NewTemporary(y.name + "/fp32", DataType::kFloat, shape,
                           Layout::kDense);
  }
  l->Add(std::make_unique<LrnOp>(l, node, std::move(programs), from, sums),
         node);
  if (sums != to) l->Add(MakeRounding(l->device(), sums, to), node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

const LoweringRegistration kBatchNorm("", "BatchNormalization", LowerBatchNorm);
const LoweringRegistration kInstanceNorm("", "InstanceNormalization",
                                         LowerInstanceNorm);
const LoweringRegistration kLrn("", "LRN", LowerLrn);

}  // namespace
}  // namespace heddle::compiler
