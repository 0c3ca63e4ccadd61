// SPDX-License-Identifier: Apache-2.0
// DepthToSpace, SpaceToDepth.
#include "compiler/ops/define.h"
#include "compiler/ops/strided.h"

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
  const int64_t depth = deep / (b * b), plane = h * w;
  // A channel of the smaller image is that of the larger one, and a row and a
  // column of its block.
  const int64_t channel = crd ? b * b * plane : plane;
  const int64_t in_block = crd ? plane : depth * plane;
  if (to_space) {
    CopyStrided({n, depth, h, b, w, b},
                {deep * plane, channel, w, b * in_block, 1, in_block},
                ElementBytes(x.type), x.bytes.data(), y.bytes.data());
    return One(std::move(y));
  }
  const int64_t wide = w * b, image = depth * plane * b * b;
  const std::vector<int64_t> block = {image, plane * b * b, wide,
                                      1,     b * wide,      b};
  if (crd) {
    CopyStrided({n, depth, b, b, h, w}, block, ElementBytes(x.type),
                x.bytes.data(), y.bytes.data());
  } else {
    CopyStrided({n, b, b, depth, h, w},
                {block[0], block[2], block[3], block[1], block[4], block[5]},
                ElementBytes(x.type), x.bytes.data(), y.bytes.data());
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
