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
// float16 is computed in fp32 and rounded once at the end, double in binary64,
// by the formula.
#include "compiler/ops/normalization.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/pace.h"
#include "compiler/base/spread.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/rank_rule.h"
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

constexpr char kHasChannelsText[] = "input has rank 2 or more";

template <size_t last>
absl::Status InferPerChannel(Graph* graph, const Node& node) {
  for (size_t i = 1; i <= last; ++i) {
    RETURN_IF_ERROR(CheckPerChannel(*graph, node, i));
  }
  return InferSame(graph, node);
}

bool IsDouble(const TensorData* data) {
  return data->type == DataType::kDouble;
}

// y = (x - mean) * scale / sqrt(var + epsilon) + bias, in binary64; the index
// of an element's mean and variance, and of its scale and bias.
template <typename Statistics, typename Factors>
TensorData NormalizeDoubles(const Node& node, const TensorData& x,
                            const std::vector<double>& mean,
                            const std::vector<double>& variance,
                            const TensorData& scale, const TensorData& bias,
                            Statistics statistics, Factors factors) {
  const std::vector<double> s = ToDoubles(scale), b = ToDoubles(bias);
  const double epsilon = node.FloatAttribute("epsilon", 1e-5f);
  std::vector<double> y = ToDoubles(x);
  for (size_t i = 0; i < y.size(); ++i) {
    PaceAt(i);
    const size_t k = statistics(i), c = factors(i);
    y[i] = (y[i] - mean[k]) * s[c] / std::sqrt(variance[k] + epsilon) + b[c];
  }
  return IsDouble(&x) ? FromDoubles(x.shape, y)
                      : FromFloats(x.type, x.shape, {y.begin(), y.end()});
}

// (Refers to the number.)
LaneStream NumberOf(const float& number) {
  return {reinterpret_cast<const uint32_t*>(&number), true};
}

// Every plane of `y` through the function that `choose` says for its number
// and channel, with other streams than the first.
template <typename Choose>
void ForEachPlane(int64_t pixels, int64_t channels, std::vector<float>* y,
                  Choose choose) {
  if (y->empty()) return;
  constexpr double kCost = 0.2;  // of an element
  const auto planes = static_cast<int64_t>(y->size()) / pixels;
  Spread(planes, kCost * static_cast<double>(pixels),
         [&](int64_t begin, int64_t end) {
           for (int64_t plane = begin; plane < end; ++plane) {
             auto* const at =
                 reinterpret_cast<uint32_t*>(y->data() + plane * pixels);
             LaneOperands o;
             o.streams[0] = {at, false};
             const LaneFunction function = choose(plane, plane % channels, &o);
             Compute(function, o, pixels, at);
           }
         });
}

Results EvaluateBatchNorm(const Graph&, const Node& node,
                          const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  if (std::any_of(inputs.begin(), inputs.end(), IsDouble)) {
    const size_t pixels =
        ElementCount(Shape(x.shape.begin() + 2, x.shape.end()));
    const auto channel = [&](size_t i) { return i / pixels % x.shape[1]; };
    return One(NormalizeDoubles(node, x, ToDoubles(*inputs[3]),
                                ToDoubles(*inputs[4]), *inputs[1], *inputs[2],
                                channel, channel));
  }
  const BatchNormFactors f =
      FactorsOf(*inputs[1], *inputs[2], *inputs[3], *inputs[4],
                node.FloatAttribute("epsilon", 1e-5f));
  std::vector<float> y = ToFloats(x);
  const int64_t pixels =
      ElementCount(Shape(x.shape.begin() + 2, x.shape.end()));
  ForEachPlane(pixels, static_cast<int64_t>(f.a.size()), &y,
               [&f](int64_t, int64_t c, LaneOperands* o) {
                 o->streams[1] = NumberOf(f.a[c]);
                 o->streams[2] = NumberOf(f.b[c]);
                 return LaneFunction::kFusedMultiplyAdd;
               });
  return One(FromFloats(x.type, x.shape, y));
}

// Mean and variance of each run of the stages, which reduce the last elements.
void Moments(const TensorData& x, const std::vector<ReduceStage>& stages,
             std::vector<double>* mean, std::vector<double>* variance) {
  std::vector<double> d = ToDoubles(x);
  *mean = Reduce(d, stages, {Fold::kSum, Premap::kNone, Finish::kMean});
  const size_t run = mean->empty() ? 1 : d.size() / mean->size();
  for (size_t i = 0; i < d.size(); ++i) d[i] -= (*mean)[i / run];
  *variance = Reduce(d, stages, {Fold::kSum, Premap::kSquare, Finish::kMean});
}

Results EvaluateInstanceNorm(const Graph&, const Node& node,
                             const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  if (IsDouble(&x)) {
    const size_t pixels =
        ElementCount(Shape(x.shape.begin() + 2, x.shape.end()));
    std::vector<double> mean, variance;
    Moments(x, PlaneStages(x.shape), &mean, &variance);
    const auto plane = [&](size_t i) { return i / pixels; };
    return One(
        NormalizeDoubles(node, x, mean, variance, *inputs[1], *inputs[2], plane,
                         [&](size_t i) { return plane(i) % x.shape[1]; }));
  }
  const std::vector<float> scale = ToFloats(*inputs[1]),
                           bias = ToFloats(*inputs[2]);
  const float epsilon = node.FloatAttribute("epsilon", 1e-5f);
  std::vector<float> y = ToFloats(x);
  const auto stages = PlaneStages(x.shape);
  const int64_t pixels =
      ElementCount(Shape(x.shape.begin() + 2, x.shape.end()));
  const std::vector<float> mean =
      Reduce(y, stages, {Fold::kSum, Premap::kNone, Finish::kMean});
  const auto channels = static_cast<int64_t>(scale.size());
  ForEachPlane(pixels, channels, &y,
               [&mean](int64_t plane, int64_t, LaneOperands* o) {
                 o->streams[1] = NumberOf(mean[plane]);
                 return LaneFunction::kDifference;
               });
  const std::vector<float> variance =
      Reduce(y, stages, {Fold::kSum, Premap::kSquare, Finish::kMean});
  std::vector<float> factors = variance;
  for (size_t plane = 0; plane < factors.size(); ++plane) {
    factors[plane] =
        model::FDiv(scale[plane % scale.size()],
                    model::FSqrt(model::FAdd(variance[plane], epsilon)));
  }
  ForEachPlane(pixels, channels, &y,
               [&](int64_t plane, int64_t c, LaneOperands* o) {
                 o->streams[1] = NumberOf(factors[plane]);
                 o->streams[2] = NumberOf(bias[c]);
                 return LaneFunction::kFusedMultiplyAdd;
               });
  return One(FromFloats(x.type, x.shape, y));
}

float SquarePlus(float v, float sum) { return model::Fma(v, v, sum); }
double SquarePlus(double v, double sum) { return v * v + sum; }

// Of each element, the sum of the squares in its window.
template <typename Real>
std::vector<Real> SumsOfWindows(const Node& node, const TensorData& data,
                                const std::vector<Real>& x) {
  std::vector<Real> sums(x.size());
  const int64_t channels = data.shape[1], size = node.IntAttribute("size", 1);
  const int64_t pixels =
      ElementCount(Shape(data.shape.begin() + 2, data.shape.end()));
  for (size_t i = 0; i < x.size(); ++i) {
    PaceAt(i);
    const int64_t c = static_cast<int64_t>(i) / pixels % channels;
    const LrnWindow w = LrnWindowOf(c, channels, size);
    const Real* first = &x[i - (c - w.first) * pixels];
    for (int64_t k = 0; k < w.count; ++k) {
      sums[i] = SquarePlus(first[k * pixels], sums[i]);
    }
  }
  return sums;
}

TensorData LrnOfDoubles(const Node& node, const TensorData& data) {
  std::vector<double> y = ToDoubles(data);
  const std::vector<double> sums = SumsOfWindows(node, data, y);
  const double alpha = node.FloatAttribute("alpha", 1e-4f),
               size = static_cast<double>(node.IntAttribute("size", 1)),
               bias = node.FloatAttribute("bias", 1),
               beta = node.FloatAttribute("beta", 0.75f);
  for (size_t i = 0; i < y.size(); ++i) {
    PaceAt(i);
    y[i] *= std::pow(bias + alpha / size * sums[i], -beta);
  }
  return FromDoubles(data.shape, y);
}

Results EvaluateLrn(const Graph&, const Node& node, const Inputs& inputs) {
  const TensorData& data = *inputs[0];
  if (IsDouble(&data)) return One(LrnOfDoubles(node, data));
  const std::vector<float> x = ToFloats(data);
  const std::vector<float> sums = SumsOfWindows(node, data, x);
  std::vector<float> y(x.size());
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
  const auto scalar = [&](double value) { return e->Number(value); };
  const auto factor = [&](size_t i) {
    return e->Reshape(e->Wide(e->In(i)), channels);
  };
  const TensorId mean = e->Add("ReduceMean", {x}, {{"axes", axes}});
  const TensorId d = e->Add("Sub", {x, mean});
  const TensorId variance =
      e->Add("Div", {e->Add("ReduceSumSquare", {d}, {{"axes", axes}}),
                     scalar(static_cast<double>(count))});
  const TensorId root =
      e->Add("Sqrt", {e->Add("Add", {variance, scalar(e->node().FloatAttribute(
                                                   "epsilon", 1e-5f))})});
  const TensorId scaled = e->Add("Mul", {d, e->Add("Div", {factor(1), root})});
  const float momentum = e->node().FloatAttribute("momentum", 0.9f);
  const auto running = [&](size_t i, TensorId computed) {
    const TensorId old = e->Add("Mul", {factor(i), scalar(momentum)});
    const TensorId fresh =
        e->Add("Mul", {computed, scalar(e->Real() == DataType::kDouble
                                            ? 1 - double{momentum}
                                            : model::FSub(1, momentum))});
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
  define.Inputs(5, 5, kRealsAndDouble)
      .Outputs(5)
      .Attr("epsilon", AttributeKind::kFloat)
      .Attr("momentum", AttributeKind::kFloat)
      .Rule(Rejection::kUnsupportedShape, kHasChannelsText, RankIs<2>)
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
        .Inputs(3, 3, kRealsAndDouble)
        .Attr("epsilon", AttributeKind::kFloat)
        .Rule(Rejection::kUnsupportedShape, kHasChannelsText, RankIs<2>)
        .Run(InferPerChannel<2>, EvaluateInstanceNorm));
const OperatorRegistration kLrn(
    Define("LRN", 1, kMaxOpset)
        .Inputs(1, 1, kRealsAndDouble)
        .Attr("alpha", AttributeKind::kFloat)
        .Attr("beta", AttributeKind::kFloat)
        .Attr("bias", AttributeKind::kFloat)
        .Attr("size", AttributeKind::kInt, true)
        .Rule(Rejection::kUnsupportedShape, kHasChannelsText, RankIs<2>)
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
