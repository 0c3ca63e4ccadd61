// SPDX-License-Identifier: Apache-2.0
// DepthToSpace, SpaceToDepth.
#include <cstring>

#include "compiler/base/pace.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kMostBlock = 65535;

bool BlockFits(const Graph&, const Node& node, std::string* detail) {
  const int64_t b = node.IntAttribute("blocksize", 0);
  *detail = absl::StrCat("blocksize = ", b);
  return b <= kMostBlock;
}

bool BlockIsPositive(const Graph&, const Node& node, std::string* detail) {
  const int64_t b = node.IntAttribute("blocksize", 0);
  *detail = absl::StrCat("blocksize = ", b);
  return b >= 1;
}

bool ModeIsKnown(const Graph&, const Node& node, std::string* detail) {
  const std::string mode = node.StringAttribute("mode", "DCR");
  *detail = absl::StrCat("mode = ", mode);
  return mode == "DCR" || mode == "CRD";
}

absl::Status Infer(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const int64_t b = node.IntAttribute("blocksize", 0);
  const bool to_space = node.op == "DepthToSpace";
  if (x.shape.size() != 4 ||
      (to_space ? x.shape[1] % (b * b) != 0
                : x.shape[2] % b != 0 || x.shape[3] % b != 0)) {
    return RejectNode(Rejection::kMismatchingShape, node, "an input of shape ",
                      ShapeToString(x.shape), " does not split into blocks of ",
                      b);
  }
  Shape shape = x.shape;
  if (to_space) {
    shape[1] /= b * b;
    if (__builtin_mul_overflow(shape[2], b, &shape[2]) ||
        __builtin_mul_overflow(shape[3], b, &shape[3])) {
      return RejectNode(Rejection::kUnsupportedShape, node, "blocksize ", b,
                        " overflows");
    }
  } else {
    if (__builtin_mul_overflow(shape[1], b * b, &shape[1])) {
      return RejectNode(Rejection::kUnsupportedShape, node, "blocksize ", b,
                        " overflows");
    }
    shape[2] /= b;
    shape[3] /= b;
  }
  return SetOutput(graph, node, 0, x.type, shape);
}

Results Evaluate(const Graph& graph, const Node& node, const Inputs& inputs) {
  const TensorData& x = *inputs[0];
  TensorData y =
      TensorData::Zeros(x.type, graph.tensors[node.outputs[0]].shape);
  const bool to_space = node.op == "DepthToSpace";
  const bool crd = node.StringAttribute("mode", "DCR") == "CRD";
  const int64_t b = node.IntAttribute("blocksize", 0);
  // Of the side with the smaller image: `depth` = that of the other side.
  const Shape& small = to_space ? x.shape : y.shape;
  const int64_t n = small[0], deep = small[1], h = small[2], w = small[3];
  const int64_t depth = deep / (b * b);
  const size_t element = ElementBytes(x.type);
  for (int64_t i = 0; i < n * deep * h * w; ++i) {
    PaceAt(i);
    const int64_t column = i % w, row = i / w % h, k = i / (w * h) % deep,
                  image = i / (w * h * deep);
    const int64_t c = crd ? k / (b * b) : k % depth;
    const int64_t offset = crd ? k % (b * b) : k / depth;
    const int64_t j =
        ((image * depth + c) * h * b + row * b + offset / b) * (w * b) +
        column * b + offset % b;
    std::memcpy(&y.bytes[(to_space ? j : i) * element],
                &x.bytes[(to_space ? i : j) * element], element);
  }
  return One(std::move(y));
}

Define Blocks(const char* op, int since, int until) {
  Define define(op, since, until);
  define.Inputs(1, 1, kMovable)
      .Attr("blocksize", AttributeKind::kInt, true)
      .Rule(Rejection::kInvalidModel, "blocksize is positive", BlockIsPositive)
      .Rule(Rejection::kUnsupportedAttribute, "blocksize is at most 65535",
            BlockFits);
  return define;
}

const OperatorRegistration kDepth1(
    Blocks("DepthToSpace", 1, 10).Run(Infer, Evaluate));
const OperatorRegistration kDepth11(Blocks("DepthToSpace", 11, kMaxOpset)
                                        .Attr("mode", AttributeKind::kString)
                                        .Rule(Rejection::kUnsupportedAttribute,
                                              "mode is DCR or CRD", ModeIsKnown)
                                        .Run(Infer, Evaluate));
const OperatorRegistration kSpace(
    Blocks("SpaceToDepth", 1, kMaxOpset).Run(Infer, Evaluate));

}  // namespace
}  // namespace heddle::compiler
