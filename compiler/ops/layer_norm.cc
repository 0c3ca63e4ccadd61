// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"

namespace heddle::compiler {
namespace {

using layer_norm::kBeta;
using layer_norm::kGamma;
using layer_norm::kX;
using layer_norm::kXScale;
using layer_norm::kXZero;
using layer_norm::kYScale;
using layer_norm::kYZero;

bool HasConstants(const Graph& graph, const Node& node, std::string* why) {
  for (size_t i = kXScale; i <= kYZero; ++i) {
    if (InputOf(graph, node, i).is_constant()) continue;
    *why = absl::StrCat("input ", i, " is computed");
    return false;
  }
  return true;
}

bool FitsRow(const Graph& graph, const Node& node, std::string* why) {
  const Shape& shape = InputOf(graph, node, kX).shape;
  const int64_t d = shape.empty() ? 0 : shape.back();
  *why = absl::StrCat("rows have ", d, " elements");
  if (d < 1 || d > kMaxNormalized) return false;
  for (size_t i : {kGamma, kBeta}) {
    const int64_t count = ElementCount(InputOf(graph, node, i).shape);
    if (count == 1 || count == d) continue;
    *why = absl::StrCat("input ", i, " has ", count, " elements");
    return false;
  }
  return true;
}

// Results before saturation fit 31 bits: normalised elements are at most
// sqrt(D).
bool IsBounded(const Graph& graph, const Node& node, std::string* why) {
  const TensorData* data[7];
  for (size_t i = kXScale; i <= kYZero; ++i) {
    data[i] = InputOf(graph, node, i).constant.get();
    if (data[i] == nullptr || data[i]->count() == 0) return true;
  }
  const float epsilon = EpsilonOfCodes(node.FloatAttribute("epsilon", 1e-5f),
                                       data[kXScale]->as<float>()[0]);
  const float ys = data[kYScale]->as<float>()[0];
  const auto largest = [&](size_t i) {
    double most = 0;
    for (int64_t k = 0; k < data[i]->count(); ++k) {
      const double v = std::abs(data[i]->as<float>()[k] / ys);
      most = std::isfinite(v) ? std::max(most, v)
                              : std::numeric_limits<double>::infinity();
    }
    return most;
  };
  *why = "scales or factors are out of range";
  return epsilon >= std::numeric_limits<float>::min() &&
         std::isfinite(epsilon) && ys > 0 &&
         largest(kGamma) * std::sqrt(double{kMaxNormalized}) + largest(kBeta) <
             double{1 << 30};
}

absl::Status InferLayerNorm(Graph* graph, const Node& node) {
  for (size_t i : {kXScale, kYScale}) {
    const DataType type =
        InputOf(*graph, node, i == kXScale ? kX : kYZero).type;
    RETURN_IF_ERROR(CheckScalarParameters(*graph, node, i, type));
  }
  return SetOutput(graph, node, 0, InputOf(*graph, node, kYZero).type,
                   InputOf(*graph, node, kX).shape);
}

uint32_t* BitsOf(std::vector<float>* v) {
  return reinterpret_cast<uint32_t*>(v->data());
}

// One result for each element of the streams, which are as long.
absl::Status Run(const absl::StatusOr<Microprogram>& program,
                 const std::array<uint32_t, 4>& arguments,
                 const std::vector<const uint32_t*>& streams,
                 std::vector<float>* out) {
  if (!program.ok()) return program.status();
  std::array<HostStream, 3> host;
  for (size_t i = 0; i < streams.size(); ++i) host[i].data = streams[i];
  return Evaluate(*program, arguments, host, static_cast<int64_t>(out->size()),
                  BitsOf(out));
}

Results EvaluateLayerNorm(const Graph&, const Node& node,
                          const Inputs& inputs) {
  const TensorData& x = *inputs[kX];
  const int64_t d = x.shape.back(), rows = x.count() / d;
  const float ys = ScalarF32(*inputs[kYScale]);
  const std::array<uint32_t, 4> row_arguments = {
      static_cast<uint32_t>(ZeroPoint(inputs[kXZero])),
      model::Bits(EpsilonOfCodes(node.FloatAttribute("epsilon", 1e-5f),
                                 ScalarF32(*inputs[kXScale]))),
      0, 0};
  std::vector<uint32_t> codes(x.count()), sums(rows), squares(rows);
  for (int64_t i = 0; i < x.count(); ++i) {
    PaceAt(i);
    const auto q = static_cast<uint32_t>(LoadQuantized(x, i));
    codes[i] = q;
    sums[i / d] += q;
    squares[i / d] += q * q;
  }
  std::vector<float> r(rows), m(rows), y(x.count());
  RETURN_IF_ERROR(Run(ReciprocalDeviationProgram(d), row_arguments,
                      {sums.data(), squares.data()}, &r));
  RETURN_IF_ERROR(Run(ShiftProgram(d), {}, {sums.data(), BitsOf(&r)}, &m));
  std::vector<float> rs(x.count()), ms(x.count()), g(x.count()), h(x.count());
  const std::vector<float> gamma = NormFactors(*inputs[kGamma], ys, d),
                           beta = NormFactors(*inputs[kBeta], ys, d);
  for (int64_t i = 0; i < x.count(); ++i) {
    PaceAt(i);
    rs[i] = r[i / d];
    ms[i] = m[i / d];
    g[i] = gamma[i % d];
    h[i] = beta[i % d];
  }
  std::vector<float> normalized(x.count());
  RETURN_IF_ERROR(Run(NormalizeProgram(), {},
                      {codes.data(), BitsOf(&rs), BitsOf(&ms)}, &normalized));
  RETURN_IF_ERROR(
      Run(ScaleCodesProgram(),
          {static_cast<uint32_t>(ZeroPoint(inputs[kYZero])), 0, 0, 0},
          {BitsOf(&normalized), BitsOf(&g), BitsOf(&h)}, &y));
  TensorData out = TensorData::Zeros(inputs[kYZero]->type, x.shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    PaceAt(i);
    const auto code = static_cast<int32_t>(BitsOf(&y)[i]);
    StoreQuantized(std::min(std::max(code, QuantizedMin(out.type)),
                            QuantizedMax(out.type)),
                   i, &out);
  }
  return One(std::move(out));
}

const OperatorRegistration kLayerNorm(
    Define("LayerNorm", 1, kMaxOpset)
        .Domain(kInternalDomain)
        .Inputs(7, 7, kQuantizedValues, kFloats, kQuantizedValues, kFloats,
                kFloats, kFloats, kQuantizedValues)
        .Attr("epsilon", AttributeKind::kFloat)
        .Rule(Rejection::kUnsupportedAttribute, "all but x is constant",
              HasConstants)
        .Rule(Rejection::kUnsupportedShape,
              "rows are short enough for their sums", FitsRow)
        .Rule(Rejection::kUnsupportedAttribute,
              "scales are positive, results in range", IsBounded)
        .Run(InferLayerNorm, EvaluateLayerNorm));

}  // namespace
}  // namespace heddle::compiler
