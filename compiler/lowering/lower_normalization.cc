// SPDX-License-Identifier: Apache-2.0
// BatchNormalization with constant statistics, InstanceNormalization, LRN.
#include <algorithm>
#include <memory>

#include "compiler/lowering/elementwise.h"
#include "compiler/lowering/lower_codes.h"
#include "compiler/lowering/lowering.h"
#include "compiler/lowering/reduction.h"
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
  if (auto s = NeedConstants(*l, node, {1, 2, 3, 4}); !s.ok()) return s;
  const BatchNormFactors f =
      FactorsOf(*l->ConstantInput(node, 1), *l->ConstantInput(node, 2),
                *l->ConstantInput(node, 3), *l->ConstantInput(node, 4),
                node.FloatAttribute("epsilon", 1e-5f));
  auto program = FmaProgram();
  if (!program.ok()) return program.status();
  const Shape& shape = l->tensor(node.inputs[0]).shape;
  Shape channels(shape.size(), 1);
  channels[1] = shape[1];
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(MakeElementwise(
             &l->device(), *program, {},
             {Operand::Of(from), Operand::Constant(Data(channels, f.a)),
              Operand::Constant(Data(channels, f.b))},
             to),
         node);
  return absl::OkStatus();
}

// Planes are rows, or images of as many rows as there are pieces where the
// reduction cuts them (see reduce.h): tiles are as small as the reduction's.
absl::Status LowerInstanceNorm(Lowering* l, const Node& node) {
  if (auto s = NeedConstants(*l, node, {1, 2}); !s.ok()) return s;
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
  auto factor = b.Finish();
  if (!factor.ok()) return factor.status();
  auto last = FmaProgram();
  if (!last.ok()) return last.status();

  auto temporary = [&](const char* name, const Shape& s) {
    return l->NewTemporary(absl::StrCat(y.name, name), DataType::kFloat, s,
                           Layout::kDense);
  };
  const int from = l->ValueIn(node.inputs[0], Layout::kDense, node);
  auto mean = AddReduction(l, node, from, stages,
                           {Fold::kSum, Premap::kNone, Finish::kMean},
                           DataType::kFloat);
  if (!mean.ok()) return mean.status();
  const int centred = temporary("/centred", shape);
  l->Add(MakeElementwise(&l->device(), BinaryProgram(isa::MicroOp::kFsub), {},
                         {Operand::Of(l->Reshaped(from, shape)),
                          Operand::Of(l->Reshaped(*mean, per_plane))},
                         centred),
         node);
  auto variance = AddReduction(l, node, centred, stages,
                               {Fold::kSum, Premap::kSquare, Finish::kMean},
                               DataType::kFloat);
  if (!variance.ok()) return variance.status();
  const Shape column = {planes, 1};
  const int factors = temporary("/factor", column);
  l->Add(MakeElementwise(
             &l->device(), *factor,
             {model::Bits(node.FloatAttribute("epsilon", 1e-5f)), 0, 0, 0},
             {Operand::Of(l->Reshaped(*variance, column)),
              Operand::Constant(Data(column, scale))},
             factors),
         node);
  const int to = l->NewTemporary(y.name, y.type, shape, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), *last, {},
                         {Operand::Of(centred),
                          Operand::Of(l->Reshaped(factors, per_plane)),
                          Operand::Constant(Data(per_plane, bias))},
                         to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

// Lanes are pixels, the window lies in r1. Channels whose windows have the same
// length and place share a command.
class LrnOp : public DeviceOp {
 public:
  LrnOp(const DeviceGraph& graph, const Node& node, Microprogram program,
        int64_t channels, int from, int to)
      : channels_(channels),
        size_(node.IntAttribute("size", 1)),
        arguments_(LrnArguments(node)),
        in_type_(VectorType(graph.StorageOf(from).type)),
        out_type_(VectorType(graph.StorageOf(to).type)),
        program_(std::move(program)) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
  }
  std::vector<Microprogram> Programs() const override { return {program_}; }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    for (int64_t c = 0; c < channels_;) {
      const LrnWindow w = LrnWindowOf(c, channels_, size_);
      int64_t alike = 1;
      while (c + alike < channels_) {
        const LrnWindow next = LrnWindowOf(c + alike, channels_, size_);
        if (next.count != w.count || next.first != w.first + alike) break;
        ++alike;
      }
      EmitChannels(emitter, tile, c, alike, w);
      c += alike;
    }
  }

 private:
  void EmitChannels(Emitter* emitter, const Tile& tile, int64_t first,
                    int64_t count, const LrnWindow& w) const {
    constexpr int64_t kMaxCount = 65535;
    auto stream = [&](const TileView& v, isa::ElementType type, int64_t channel,
                      int64_t row) {
      isa::Stream s;
      s.type = type;
      s.base = RowBase(v, row) + channel * v.plane;
      s.lane_stride = v.pitch;
      s.o1_stride = v.plane;
      return s;
    };
    for (int64_t done = 0; done < tile.rows; done += kMaxCount) {
      const int64_t row = tile.row0 + done;
      isa::Vrun run = emitter->Run(program_);
      run.arg0 = arguments_[0];
      run.arg1 = arguments_[1];
      run.arg2 = arguments_[2];
      run.enable_a = run.enable_b = true;
      run.store = isa::StoreMode::kEpilogue;
      run.lanes = std::min(kMaxCount, tile.rows - done);
      run.n_r1 = w.count;
      run.n_o1 = count;
      isa::Stream a = stream(tile.inputs[0], in_type_, w.first, row);
      a.r1_stride = tile.inputs[0].plane;
      run.SetA(a);
      run.SetB(stream(tile.inputs[0], in_type_, first, row));
      run.SetD(stream(tile.output, out_type_, first, row));
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
  if (auto s = CheckVectorLimits(node, {x.shape[1]}); !s.ok()) return s;
  ProgramBuilder b;
  const Term sum = b.Variable();
  const Term v = b.Op(isa::MicroOp::kMov, b.A());
  b.Assign(sum, b.Fma(v, v, sum));
  b.In(ProgramBuilder::kEpilogue);
  b.Out(LrnTerm(&b, b.B(), sum));
  auto program = b.Finish();
  if (!program.ok()) return program.status();
  const int64_t planes = x.shape[0] * x.shape[1];
  const Shape shape = {x.shape[0], x.shape[1], ElementCount(x.shape) / planes,
                       1};
  const int from =
      l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node), shape);
  const int to = l->NewTemporary(y.name, y.type, shape, Layout::kDense);
  l->Add(std::make_unique<LrnOp>(l->device(), node, *std::move(program),
                                 x.shape[1], from, to),
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
