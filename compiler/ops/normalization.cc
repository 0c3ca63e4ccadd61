// SPDX-License-Identifier: Apache-2.0
// BatchNormalization (inference): see normalization.h.
// InstanceNormalization: per image and channel, sums in the order of reduce.h,
//   d = f32(x - mean), mean and var = f32(sum of fma(d, d, .) / pixels),
//   y = fma(d, f32(scale / sqrt(f32(var + epsilon))), bias).
// LRN: sum = fma(x, x, sum) over the channels of the window in increasing
//   order from +0, then LrnTerm of normalization.h.
// float16 is computed in fp32 and rounded once at the end.
#include "compiler/ops/normalization.h"

#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
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
    y[i] = model::FSub(y[i], mean[i / pixels]);
  }
  const std::vector<float> variance =
      Reduce(y, stages, {Fold::kSum, Premap::kSquare, Finish::kMean});
  for (size_t i = 0; i < y.size(); ++i) {
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
            "statistics are not computed: the first output is the only one",
            [](const Graph& graph, const Node& node, std::string* detail) {
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
    BatchNorm(9, kMaxOpset)
        .Attr("training_mode", AttributeKind::kInt)
        .Rule(Rejection::kUnsupportedAttribute, "training_mode is 0",
              [](const Graph&, const Node& node, std::string* detail) {
                const int64_t mode = node.IntAttribute("training_mode", 0);
                *detail = absl::StrCat("training_mode = ", mode);
                return mode == 0;
              })
        .Run(InferPerChannel<4>, EvaluateBatchNorm));
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
