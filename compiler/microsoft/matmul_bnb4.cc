// SPDX-License-Identifier: Apache-2.0
// com.microsoft's MatMulBnb4, made of MatMul: codes of 4 bits stand for the 16
// values of a table, times the largest magnitude of their block.
//
//   A        [..., K]
//   B        uint8 [(N * K + 1) / 2], constant: codes of N rows of K, the first
//            in the high bits
//   absmax   [blocks], of block_size codes each, over the ends of rows
//   y        [..., N], in fp32, rounded once at the end
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

// By quant_type: floats of 4 bits, and quantiles of a normal distribution.
constexpr std::array<std::array<float, 16>, 2> kValues = {{
    {0.0f, 5.208333333e-03f, 0.66666667f, 1.0f, 0.33333333f, 0.5f, 0.16666667f,
     0.25f, -0.0f, -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f,
     -0.16666667f, -0.25f},
    {-1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f,
     -0.28444138169288635f, -0.18477343022823334f, -0.09105003625154495f, 0.0f,
     0.07958029955625534f, 0.16093020141124725f, 0.24611230194568634f,
     0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f,
     0.7229568362236023f, 1.0f},
}};

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Tensor a = e->T(e->In(0)), b = e->T(e->In(1)), most = e->T(e->In(2));
  const int64_t n = node.IntAttribute("N", 0), k = node.IntAttribute("K", 0);
  const int64_t block = node.IntAttribute("block_size", 0);
  if (n < 1 || k < 1 || block < 16 || (block & (block - 1)) != 0) {
    return RejectNode(Rejection::kInvalidModel, node, "N = ", n, ", K = ", k,
                      ", block_size = ", block,
                      ": sizes must be positive, the block's a power of two "
                      "from 16 on");
  }
  RETURN_IF_ERROR(CheckTable(node, n, k));
  const int64_t blocks = (n * k - 1) / block + 1;
  if (a.shape.empty() || a.shape.back() != k ||
      ElementCount(b.shape) != (n * k + 1) / 2 ||
      ElementCount(most.shape) != blocks) {
    return RejectNode(Rejection::kMismatchingShape, node, "A, B and absmax of ",
                      ShapeToString(a.shape), ", ", ShapeToString(b.shape),
                      " and ", ShapeToString(most.shape), " do not fit N = ", n,
                      ", K = ", k, " and ", blocks, " blocks");
  }
  if (!b.is_constant()) {
    return RejectNode(Rejection::kUnsupportedAttribute, node, "'", b.name,
                      "' is computed at run time; make it an initializer");
  }
  const auto& table =
      kValues[static_cast<size_t>(node.IntAttribute("quant_type", 0))];
  TensorData values = TensorData::Zeros(DataType::kFloat, {n * k});
  std::vector<int64_t> own(static_cast<size_t>(n * k));
  for (int64_t i = 0; i < n * k; ++i) {
    PaceAt(i);
    const uint8_t byte = b.constant->bytes[i / 2];
    values.as<float>()[i] = table[i % 2 == 0 ? byte >> 4 : byte & 15];
    own[static_cast<size_t>(i)] = i / block;
  }
  const TensorId factors =
      e->Add("Gather", {e->Reshape(e->Wide(e->In(2)), {blocks}), e->Ints(own)});
  const TensorId w = e->Add("Mul", {e->Constant(std::move(values)), factors});
  const TensorId turned = e->Add("Transpose", {e->Reshape(w, {n, k})},
                                 {{"perm", std::vector<int64_t>{1, 0}}});
  e->Return(0, e->Add("MatMul", {e->Wide(e->In(0)), turned}), a.type);
  return absl::OkStatus();
}

bool TypeIsKnown(const Graph&, const Node& node, std::string* detail) {
  const int64_t type = node.IntAttribute("quant_type", 0);
  *detail = absl::StrCat("it is ", type);
  return type == 0 || type == 1;
}
bool IsTurned(const Graph&, const Node& node, std::string* detail) {
  const int64_t turned = node.IntAttribute("transB", 1);
  *detail = absl::StrCat("it is ", turned);
  return turned != 0;
}

const ExpandedOperator kMatMulBnb4(
    Define("MatMulBnb4", 1, 1)
        .Domain("com.microsoft")
        .Inputs(3, 3, kReals, Types(DataType::kUint8), kReals)
        .Attr("K", AttributeKind::kInt, true)
        .Attr("N", AttributeKind::kInt, true)
        .Attr("block_size", AttributeKind::kInt, true)
        .Attr("quant_type", AttributeKind::kInt, true)
        .Attr("training_mode", AttributeKind::kInt)
        .Attr("transB", AttributeKind::kInt)
        .Rule(Rejection::kInvalidModel, "quant_type is 0 or 1", TypeIsKnown)
        .Rule(Rejection::kUnsupportedAttribute, "transB is 1", IsTurned),
    Expand);

}  // namespace
}  // namespace heddle::compiler
