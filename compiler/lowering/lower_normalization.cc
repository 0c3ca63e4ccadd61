// SPDX-License-Identifier: Apache-2.0
// BatchNormalization with constant statistics, InstanceNormalization, LRN.
#include <algorithm>
#include <memory>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/device_ops/lowering.h"
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

absl::Status LowerBatchNorm(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 3, 4}));
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
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2}));
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
  const auto scales = ToFloats(*l->ConstantInput(node, 1)),
             biases = ToFloats(*l->ConstantInput(node, 2));
  std::vector<float> scale, bias;
  for (int64_t i = 0; i < planes; ++i) {
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
// have the same length and place share a command.
class LrnOp : public ClonableOp<LrnOp> {
 public:
  LrnOp(const DeviceGraph& graph, const Node& node, Microprogram program,
        int from, int to)
      : channels_(graph.values[to].extent.h),
        size_(node.IntAttribute("size", 1)),
        arguments_(LrnArguments(node)),
        in_type_(VectorType(graph.StorageOf(from).type)),
        out_type_(VectorType(graph.StorageOf(to).type)),
        program_(std::move(program)) {
    engine = "vector";
    output = to;
    tileable = columns_tileable = true;
    const int64_t before = std::min((size_ - 1) / 2, channels_ - 1),
                  after = std::min(size_ / 2, channels_ - 1);
    OpInput in;
    in.value = from;
    in.rows = {AxisNeed::kWindow, 1, before, before + 1 + after};
    in.columns.kind = AxisNeed::kSame;
    inputs = {in};
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const int64_t end = tile.row0 + tile.rows;
    for (int64_t c = tile.row0; c < end;) {
      const LrnWindow w = LrnWindowOf(c, channels_, size_);
      int64_t alike = 1;
      while (c + alike < end && alike < kMaxCount) {
        const LrnWindow next = LrnWindowOf(c + alike, channels_, size_);
        if (next.count != w.count || next.first != w.first + alike) break;
        ++alike;
      }
      EmitChannels(emitter, tile, c, alike, w);
      c += alike;
    }
  }

 private:
  static constexpr int64_t kMaxCount = 65535;

  void EmitChannels(Emitter* emitter, const Tile& tile, int64_t first,
                    int64_t count, const LrnWindow& w) const {
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
      isa::Vrun run = emitter->Run(program_);
      run.arg0 = arguments_[0];
      run.arg1 = arguments_[1];
      run.arg2 = arguments_[2];
      run.enable_a = run.enable_b = true;
      run.store = isa::StoreMode::kEpilogue;
      run.lanes = std::min(kMaxCount, tile.columns - done);
      run.n_r1 = w.count;
      run.n_o1 = count;
      isa::Stream a = stream(tile.inputs[0], in_type_, w.first);
      a.r1_stride = tile.inputs[0].pitch;
      run.SetA(a);
      run.SetB(stream(tile.inputs[0], in_type_, first));
      run.SetD(stream(tile.output, out_type_, first));
      emitter->Append(run);
    }
  }

  int64_t channels_, size_;
  std::array<uint32_t, 4> arguments_;
  isa::ElementType in_type_, out_type_;
  Microprogram program_;
};

absl::Status LowerLrn(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  const Tensor& y = l->tensor(node.outputs[0]);
  RETURN_IF_ERROR(CheckVectorLimits(
      node, {std::min(x.shape[1], node.IntAttribute("size", 1))}));
  ProgramBuilder b;
  const Term sum = b.Variable();
  const Term v = b.Op(isa::MicroOp::kMov, b.A());
  b.Assign(sum, b.Fma(v, v, sum));
  b.In(ProgramBuilder::kEpilogue);
  b.Out(LrnTerm(&b, b.B(), sum));
  ASSIGN_OR_RETURN(auto program, b.Finish());
  const int64_t planes = x.shape[0] * x.shape[1];
  const Shape shape = {x.shape[0], 1, x.shape[1],
                       ElementCount(x.shape) / planes};
  const int from =
      l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node), shape);
  const int to = l->NewTemporary(y.name, y.type, shape, Layout::kDense);
  l->Add(
      std::make_unique<LrnOp>(l->device(), node, std::move(program), from, to),
      node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

const LoweringRegistration kBatchNorm("", "BatchNormalization", LowerBatchNorm);
const LoweringRegistration kInstanceNorm("", "InstanceNormalization",
                                         LowerInstanceNorm);
const LoweringRegistration kLrn("", "LRN", LowerLrn);

}  // namespace
}  // namespace heddle::compiler
