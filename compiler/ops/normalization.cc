// SPDX-License-Identifier: Apache-2.0
// BatchNormalization: see normalization.h. With training_mode it is made of
//   other operators: mean and var = f32(sum of fma(d, d, .) / pixels) of each
//   channel, d = f32(x - mean), y = f32(f32(d * f32(scale / sqrt(f32(var +
//   epsilon)))) + bias), and the given statistics times momentum plus the
//   computed ones times 1 - momentum.
// InstanceNormalization: per image and channel, sums in the order of reduce.h,
//   d = f32(x - mean), mean and var = f32(sum of fma(d, d, .) / pixels),
//   y = fma(d, f32(scale / sqrt(f32(var + epsilon))), bias).
// LRN: sum = fma(x, x, sum) over the channels of the window in increasing
//   order from +0, then LrnTerm of normalization.h.
// float16 is computed in fp32 and rounded once at the end.
#include "compiler/ops/normalization.h"

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/expanded.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// Rule of the input of one value per channel.
absl::Status CheckPerChannel(const Graph& graph, const Node& node,
                             size_t index) {
  const Shape& x = InputOf(graph, node, 0).shape;
  const Tensor& t = InputOf(graph, node, index);
  if (t.shape.size() == 1 && t.shape[0] == x[1]) return absl::OkStatus();
  return RejectNode(Rejection::kMismatchingShape, node, "input ", index, " '",
                    t.name, "' of shape ", ShapeToString(t.shape),
                    " must hold one value for each of the ", x[1],
                    " channels of ", ShapeToString(x));
}

bool HasChannels(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return shape.size() >= 2;
}
constexpr char kHasChannelsText[] = "input has rank 2 or more";

template <size_t last>
absl::Status InferPerChannel(Graph* graph, const Node& node) {
  for (size_t i = 1; i <= last; ++i) {
    RETURN_IF_ERROR(CheckPerChannel(*graph, node, i));
  }
  return InferSame(graph, node);
}

Results EvaluateBatchNorm(const Graph&, const Node& node,
                          const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const BatchNormFactors f =
      FactorsOf(*inputs[1], *inputs[2], *inputs[3], *inputs[4],
                node.FloatAttribute("epsilon", 1e-5f));
  std::vector<float> y = ToFloats(x);
  const int64_t pixels =
      ElementCount(Shape(x.shape.begin() + 2, x.shape.end()));
  for (size_t i = 0; i < y.size(); ++i) {
    PaceAt(i);
    const size_t c = i / pixels % f.a.size();
    y[i] = model::Fma(y[i], f.a[c], f.b[c]);
  }
  return One(FromFloats(x.type, x.shape, y));
}

Results EvaluateInstanceNorm(const Graph&, const Node& node,
                             const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  const std::vector<float> scale = ToFloats(*inputs[1]),
                           bias = ToFloats(*inputs[2]);
  const float epsilon = node.FloatAttribute("epsilon", 1e-5f);
  std::vector<float> y = ToFloats(x);
  const auto stages = PlaneStages(x.shape);
  const int64_t pixels =
      ElementCount(Shape(x.shape.begin() + 2, x.shape.end()));
  const std::vector<float> mean =
      Reduce(y, stages, {Fold::kSum, Premap::kNone, Finish::kMean});
  for (size_t i = 0; i < y.size(); ++i) {
    PaceAt(i);
    y[i] = model::FSub(y[i], mean[i / pixels]);
  }
  const std::vector<float> variance =
      Reduce(y, stages, {Fold::kSum, Premap::kSquare, Finish::kMean});
  for (size_t i = 0; i < y.size(); ++i) {
    PaceAt(i);
    const size_t plane = i / pixels, c = plane % scale.size();
    const float a = model::FDiv(
        scale[c], model::FSqrt(model::FAdd(variance[plane], epsilon)));
    y[i] = model::Fma(y[i], a, bias[c]);
  }
  return One(FromFloats(x.type, x.shape, y));
}

Results EvaluateLrn(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& data = *inputs[0];
  const std::vector<float> x = ToFloats(data);
  std::vector<float> sums(x.size()), y(x.size());
  const int64_t channels = data.shape[1], size = node.IntAttribute("size", 1);
  const int64_t pixels =
      ElementCount(Shape(data.shape.begin() + 2, data.shape.end()));
  for (size_t i = 0; i < x.size(); ++i) {
    PaceAt(i);
    const int64_t c = static_cast<int64_t>(i) / pixels % channels;
    const LrnWindow w = LrnWindowOf(c, channels, size);
    const float* first = &x[i - (c - w.first) * pixels];
    for (int64_t k = 0; k < w.count; ++k) {
      const float v = first[k * pixels];
      sums[i] = model::Fma(v, v, sums[i]);
    }
  }
  ProgramBuilder b;
  b.Out(LrnTerm(&b, b.A(), b.Op(isa::MicroOp::kMov, b.B())));
  ASSIGN_OR_RETURN(auto program, b.Finish());
  std::array<HostStream, 3> streams;
  streams[0].data = reinterpret_cast<const uint32_t*>(x.data());
  streams[1].data = reinterpret_cast<const uint32_t*>(sums.data());
  RETURN_IF_ERROR(Evaluate(program, LrnArguments(node), streams,
                           static_cast<int64_t>(y.size()),
                           reinterpret_cast<uint32_t*>(y.data())));
  return One(FromFloats(data.type, data.shape, y));
}

bool Trains(const Node& node) {
  return node.IntAttribute("training_mode", 0) != 0;
}

absl::Status ExpandTraining(Expansion* e) {
  for (size_t i = 1; i <= 4; ++i) {
    RETURN_IF_ERROR(CheckPerChannel(e->graph(), e->node(), i));
  }
  const TensorId x = e->Wide(e->In(0));
  const Shape shape = e->T(x).shape;
  Shape channels(shape.size(), 1);
  channels[1] = shape[1];
  std::vector<int64_t> axes;
  int64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == 1) continue;
    axes.push_back(static_cast<int64_t>(i));
    count *= shape[i];
  }
  const auto scalar = [&](float value) {
    return e->Scalar(DataType::kFloat, value);
  };
  const auto factor = [&](size_t i) {
    return e->Reshape(e->Wide(e->In(i)), channels);
  };
  const TensorId mean = e->Add("ReduceMean", {x}, {{"axes", axes}});
  const TensorId d = e->Add("Sub", {x, mean});
  const TensorId variance =
      e->Add("Div", {e->Add("ReduceSumSquare", {d}, {{"axes", axes}}),
                     scalar(static_cast<float>(count))});
  const TensorId root =
      e->Add("Sqrt", {e->Add("Add", {variance, scalar(e->node().FloatAttribute(
                                                   "epsilon", 1e-5f))})});
  const TensorId scaled = e->Add("Mul", {d, e->Add("Div", {factor(1), root})});
  const float momentum = e->node().FloatAttribute("momentum", 0.9f);
  const auto running = [&](size_t i, TensorId computed) {
    const TensorId old = e->Add("Mul", {factor(i), scalar(momentum)});
    const TensorId fresh =
        e->Add("Mul", {computed, scalar(model::FSub(1, momentum))});
    return e->Reshape(e->Add("Add", {old, fresh}), {shape[1]});
  };
  const DataType type = e->T(e->In(0)).type;
  e->Return(0, e->Add("Add", {scaled, factor(2)}), type);
  if (e->HasOut(1)) e->Return(1, running(3, mean), e->T(e->In(3)).type);
  if (e->HasOut(2)) e->Return(2, running(4, variance), e->T(e->In(4)).type);
  return absl::OkStatus();
}

// Of the outputs only the first exists in inference; opset 14 and later may
// name no other.
Define BatchNorm(int since, int until) {
  Define define("BatchNormalization", since, until);
  define.Inputs(5, 5, kReals)
      .Outputs(5)
      .Attr("epsilon", AttributeKind::kFloat)
      .Attr("momentum", AttributeKind::kFloat)
      .Rule(Rejection::kUnsupportedShape, kHasChannelsText, HasChannels)
      .Rule(Rejection::kUnsupportedAttribute,
            "without training_mode the first output is the only one",
            [](const Graph& graph, const Node& node, std::string* detail) {
              if (Trains(node)) return true;
              for (size_t i = 1; i < node.outputs.size(); ++i) {
                if (node.outputs[i] == kNoTensor) continue;
                *detail =
                    absl::StrCat("output ", i, " is '",
                                 graph.tensors[node.outputs[i]].name, "'");
                return false;
              }
              return true;
            });
  return define;
}

const OperatorRegistration kBatchNormalizationOld(
    BatchNorm(7, 8)
        .Attr("spatial", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedAttribute, "spatial is 1",
              [](const Graph&, const Node& node, std::string* detail) {
                const int64_t spatial = node.IntAttribute("spatial", 1);
                *detail = absl::StrCat("spatial = ", spatial);
                return spatial == 1;
              })
        .Run(InferPerChannel<4>, EvaluateBatchNorm));
const OperatorRegistration kBatchNormalization(
    BatchNorm(9, 13).Run(InferPerChannel<4>, EvaluateBatchNorm));
ExpandedOperator BatchNorm14(int since, int until) {
  return ExpandedOperator(
      BatchNorm(since, until)
          .Outputs(3)
          .Attr("training_mode", AttributeKind::kInt),
      ExpandTraining,
      [](const Graph&, const Node& node) { return Trains(node); },
      InferPerChannel<4>, EvaluateBatchNorm);
}
const ExpandedOperator kBatchNormalization14 = BatchNorm14(14, 14);
// Scale and bias, and the statistics, have types of their own.
const ExpandedOperator kBatchNormalization15 = BatchNorm14(15, kMaxOpset);
const OperatorRegistration kInstanceNormalization(
    Define("InstanceNormalization", 6, kMaxOpset)
        .Inputs(3, 3, kReals)
        .Attr("epsilon", AttributeKind::kFloat)
        .Rule(Rejection::kUnsupportedShape, kHasChannelsText, HasChannels)
        .Run(InferPerChannel<2>, EvaluateInstanceNorm));
const OperatorRegistration kLrn(
    Define("LRN", 1, kMaxOpset)
        .Inputs(1, 1, kReals)
        .Attr("alpha", AttributeKind::kFloat)
        .Attr("beta", AttributeKind::kFloat)
        .Attr("bias", AttributeKind::kFloat)
        .Attr("size", AttributeKind::kInt, true)
        .Rule(Rejection::kUnsupportedShape, kHasChannelsText, HasChannels)
        .Rule(Rejection::kInvalidModel, "size is positive",
              [](const Graph&, const Node& node, std::string* detail) {
                const int64_t size = node.IntAttribute("size", 1);
                *detail = absl::StrCat("size = ", size);
                return size >= 1;
              })
        .Rule(Rejection::kUnsupportedAttribute, "size is at most 65535",
              [](const Graph&, const Node& node, std::string* detail) {
                const int64_t size = node.IntAttribute("size", 1);
                *detail = absl::StrCat("size = ", size);
                return size <= 65535;
              })
        .Run(InferSame, EvaluateLrn));

}  // namespace
}  // namespace heddle::compiler
