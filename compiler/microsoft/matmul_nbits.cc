// SPDX-License-Identifier: Apache-2.0
// com.microsoft's MatMulNBits, made of MatMul: weights of 2, 4 or 8 bits in
// blocks along their rows, each of which has a scale and a zero point. They are
// unpacked when compiling: the model has the bytes, 16 times as many at most
// and no more than 4 GiB come of them.
//
//   a            [..., K]
//   b            uint8 [N, blocks, block_size * bits / 8], constant; the lowest
//                bits are the first code
//   scales       [N, blocks]; its shape does not count
//   zero_points  uint8 [N, blocks * bits / 8 rounded up], packed like b and
//                constant, or of the scales' type [N, blocks], or absent:
//                2^(bits - 1)
//   g_idx        int32 [K]: the block of each column, in place of its own;
//                constant
//   bias         [N]
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

struct Form {
  int64_t rows = 0, columns = 0;  // N, K
  int64_t bits = 4, block = 0, blocks = 0;
};

absl::StatusOr<Form> FormOf(const Expansion& e) {
  const Node& node = e.node();
  Form f;
  f.rows = node.IntAttribute("N", 0);
  f.columns = node.IntAttribute("K", 0);
  f.bits = node.IntAttribute("bits", 4);
  f.block = node.IntAttribute("block_size", 0);
  const Shape& a = e.T(e.In(0)).shape;
  if (f.rows < 1 || f.columns < 1 || f.rows > kMostTableElements ||
      f.columns > kMostTableElements || f.block < 16 || f.block > 65536 ||
      (f.block & (f.block - 1)) != 0) {
    return RejectNode(Rejection::kInvalidModel, node, "N = ", f.rows,
                      ", K = ", f.columns, ", block_size = ", f.block,
                      ": sizes must be positive, the block's a power of two "
                      "from 16 on");
  }
  if (f.bits != 2 && f.bits != 4 && f.bits != 8) {
    return RejectNode(Rejection::kUnsupportedAttribute, node, "bits = ", f.bits,
                      ", supported are 2, 4 and 8");
  }
  f.blocks = (f.columns + f.block - 1) / f.block;
  if (a.empty() || a.back() != f.columns) {
    return RejectNode(Rejection::kMismatchingShape, node, "input ",
                      ShapeToString(a), " must end with K = ", f.columns);
  }
  return f;
}

// Input i as a constant of `count` elements; null: absent.
absl::StatusOr<const TensorData*> Packed(const Expansion& e, size_t i,
                                         const char* name, int64_t count) {
  if (!e.HasIn(i)) return nullptr;
  const Tensor& t = e.T(e.In(i));
  if (!t.is_constant()) {
    return RejectNode(Rejection::kUnsupportedAttribute, e.node(), name, " '",
                      t.name,
                      "' is computed at run time; make it an initializer");
  }
  if (t.constant->count() != count) {
    return RejectNode(Rejection::kMismatchingShape, e.node(), name, " of ",
                      ShapeToString(t.shape), " must have ", count,
                      " elements");
  }
  return t.constant.get();
}

// Rows of `count` codes, each beginning with a byte of its own.
TensorData Unpack(const TensorData& packed, int64_t rows, int64_t count,
                  int64_t bits, Shape shape) {
  TensorData codes = TensorData::Zeros(DataType::kUint8, std::move(shape));
  const int64_t per_byte = 8 / bits;
  const int64_t bytes = (count + per_byte - 1) / per_byte;
  for (int64_t r = 0; r < rows; ++r) {
    Pace(count);
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t byte = packed.bytes[r * bytes + i / per_byte];
      codes.bytes[r * count + i] = static_cast<uint8_t>(
          byte >> (i % per_byte * bits) & ((1 << bits) - 1));
    }
  }
  return codes;
}

// fp32 [N, blocks, 1], or a scalar.
absl::StatusOr<TensorId> ZeroPoints(Expansion* e, const Form& f) {
  const Shape shape = {f.rows, f.blocks, 1};
  if (!e->HasIn(3)) {
    return e->Scalar(DataType::kFloat,
                     static_cast<float>(int64_t{1} << (f.bits - 1)));
  }
  if (e->T(e->In(3)).type != DataType::kUint8) {
    if (ElementCount(e->T(e->In(3)).shape) != f.rows * f.blocks) {
      return RejectNode(Rejection::kMismatchingShape, e->node(),
                        "zero_points of ", ShapeToString(e->T(e->In(3)).shape),
                        " must have ", f.rows * f.blocks, " elements");
    }
    return e->Reshape(e->Wide(e->In(3)), shape);
  }
  const int64_t per_byte = 8 / f.bits;
  ASSIGN_OR_RETURN(const TensorData* packed,
                   Packed(*e, 3, "zero_points",
                          f.rows * ((f.blocks + per_byte - 1) / per_byte)));
  return e->Cast(e->Constant(Unpack(*packed, f.rows, f.blocks, f.bits, shape)),
                 DataType::kFloat);
}

// fp32 [N, K] of one value for each block.
absl::StatusOr<TensorId> OfColumns(Expansion* e, const Form& f, TensorId x) {
  ASSIGN_OR_RETURN(const TensorData* groups, Packed(*e, 4, "g_idx", f.columns));
  std::vector<int64_t> block(static_cast<size_t>(f.columns));
  for (int64_t i = 0; i < f.columns; ++i) {
    block[static_cast<size_t>(i)] =
        groups == nullptr ? i / f.block : groups->as<int32_t>()[i];
    if (block[static_cast<size_t>(i)] < 0 ||
        block[static_cast<size_t>(i)] >= f.blocks) {
      return RejectNode(Rejection::kInvalidModel, e->node(), "g_idx ", i,
                        " is ", block[static_cast<size_t>(i)], " of ", f.blocks,
                        " blocks");
    }
  }
  return e->Add("Gather", {e->Reshape(x, {f.rows, f.blocks}), e->Ints(block)},
                {{"axis", int64_t{1}}});
}

absl::Status Expand(Expansion* e) {
  ASSIGN_OR_RETURN(const Form f, FormOf(*e));
  const DataType type = e->T(e->In(0)).type;
  if (ElementCount(e->T(e->In(2)).shape) != f.rows * f.blocks) {
    return RejectNode(Rejection::kMismatchingShape, e->node(), "scales of ",
                      ShapeToString(e->T(e->In(2)).shape), " must have ",
                      f.rows * f.blocks, " elements");
  }
  const int64_t count = f.blocks * f.block;
  ASSIGN_OR_RETURN(const TensorData* packed,
                   Packed(*e, 1, "b", f.rows * count * f.bits / 8));
  ASSIGN_OR_RETURN(TensorId zeros, ZeroPoints(e, f));
  TensorId scales = e->Reshape(e->Wide(e->In(2)), {f.rows, f.blocks, 1});
  TensorId w = e->Cast(e->Constant(Unpack(*packed, f.rows, count, f.bits,
                                          {f.rows, f.blocks, f.block})),
                       DataType::kFloat);
  if (e->HasIn(4)) {
    // Blocks say where a code is stored, g_idx what it means.
    w = e->Add("Slice", {e->Reshape(w, {f.rows, count}), e->Ints({0}),
                         e->Ints({f.columns}), e->Ints({1})});
    ASSIGN_OR_RETURN(scales, OfColumns(e, f, scales));
    if (!e->T(zeros).shape.empty()) {
      ASSIGN_OR_RETURN(zeros, OfColumns(e, f, zeros));
    }
    w = e->Add("Mul", {e->Add("Sub", {w, zeros}), scales});
  } else {
    w = e->Add("Mul", {e->Add("Sub", {w, zeros}), scales});
    w = e->Add("Slice", {e->Reshape(w, {f.rows, count}), e->Ints({0}),
                         e->Ints({f.columns}), e->Ints({1})});
  }
  w = e->Add("Transpose", {w}, {{"perm", std::vector<int64_t>{1, 0}}});
  TensorId y = e->Add("MatMul", {e->Wide(e->In(0)), w});
  if (e->HasIn(5)) {
    if (e->T(e->In(5)).shape != Shape{f.rows}) {
      return RejectNode(Rejection::kMismatchingShape, e->node(), "bias of ",
                        ShapeToString(e->T(e->In(5)).shape), " must be of [",
                        f.rows, "]");
    }
    y = e->Add("Add", {y, e->Wide(e->In(5))});
  }
  e->Return(0, y, type);
  return absl::OkStatus();
}

constexpr TypeSet kZeroPoints = kReals | Types(DataType::kUint8);

const ExpandedOperator kMatMulNBits(
    Define("MatMulNBits", 1, 1)
        .Domain("com.microsoft")
        .Inputs(3, 6, kReals, Types(DataType::kUint8), kReals, kZeroPoints,
                kInt32s, kReals)
        .Optional(3, 4)
        .Attr("K", AttributeKind::kInt, true)
        .Attr("N", AttributeKind::kInt, true)
        .Attr("accuracy_level", AttributeKind::kInt)
        .Attr("bits", AttributeKind::kInt)
        .Attr("block_size", AttributeKind::kInt, true),
    Expand);

}  // namespace
}  // namespace heddle::compiler
