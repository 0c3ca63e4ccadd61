// SPDX-License-Identifier: Apache-2.0
// com.microsoft's GatherBlockQuantized, made of Gather: of codes, scales and
// zero points that have rows in common those that the indices choose, then
// f32(f32(q - z) * s), one scale and zero point for each block of codes.
//
//   data          uint8 [rows, ..., K * bits / 8] of 2, 4 or 8 bits, the first
//                 code in the low ones, or int4 or uint4 [..., K, ...]
//   indices       negative ones count from the end
//   scales        as the codes, with a block in place of block_size of them;
//                 they say what type the result has
//   zero_points   as the scales, packed as the codes; absent: 2^(bits - 1), of
//                 int4 and uint4 0
//
// Packed codes and zero points are constant.
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/narrow.h"

namespace heddle::compiler {
namespace {

enum Place { kData, kPlaces, kScales, kZeroPoints };

struct Form {
  size_t gather = 0, quantize = 0;  // axes
  int64_t bits = 4, block = 0;
  bool packed = true;
  Shape codes;

  Shape blocks() const {
    Shape shape = codes;
    shape[quantize] = (codes[quantize] + block - 1) / block;
    return shape;
  }
};

absl::StatusOr<Form> FormOf(const Expansion& e) {
  const Node& node = e.node();
  const Tensor& data = e.T(e.In(kData));
  const size_t rank = data.shape.size();
  Form f;
  f.bits = node.IntAttribute("bits", 4);
  f.block = node.IntAttribute("block_size", 128);
  const int64_t gather = node.IntAttribute("gather_axis", 0);
  const int64_t quantize = node.IntAttribute("quantize_axis", 1);
  if (!NormalizeAxis(gather, rank, &f.gather) ||
      !NormalizeAxis(quantize, rank, &f.quantize)) {
    return RejectNode(Rejection::kInvalidModel, node, "gather_axis = ", gather,
                      " and quantize_axis = ", quantize, " of rank ", rank);
  }
  if (f.block < 16 || (f.block & (f.block - 1)) != 0) {
    return RejectNode(Rejection::kInvalidModel, node, "block_size = ", f.block,
                      " is not a power of two from 16 on");
  }
  if (f.bits != 2 && f.bits != 4 && f.bits != 8) {
    return RejectNode(Rejection::kUnsupportedAttribute, node, "bits = ", f.bits,
                      ", supported are 2, 4 and 8");
  }
  f.codes = data.shape;
  f.packed = data.type == DataType::kUint8;
  const bool apart = f.gather != f.quantize;
  if (f.packed ? !apart || f.gather != 0 || f.quantize + 1 != rank
               : !apart || f.bits != 4) {
    return RejectNode(Rejection::kUnsupportedAttribute, node,
                      "gather_axis = ", gather, ", quantize_axis = ", quantize,
                      " and bits = ", f.bits, " of rank ", rank,
                      f.packed
                          ? "; of uint8 the first and the last axis of two "
                            "or more are supported"
                          : "; of int4 and uint4 two axes and 4 bits are "
                            "supported");
  }
  if (!f.packed) f.bits = 8;  // a code in each element
  RETURN_IF_ERROR(CheckTable(node, ElementCount(data.shape), 8 / f.bits));
  f.codes.back() *= 8 / f.bits;
  if (e.T(e.In(kScales)).shape != f.blocks()) {
    return RejectNode(Rejection::kMismatchingShape, node, "scales of ",
                      ShapeToString(e.T(e.In(kScales)).shape), " must be of ",
                      ShapeToString(f.blocks()));
  }
  return f;
}

// Input i with a code in each element, of which `shape` has so many.
absl::StatusOr<TensorId> Unpacked(Expansion* e, size_t i, const Form& f,
                                  const Shape& shape) {
  const Tensor t = e->T(e->In(i));
  const int64_t per_byte = 8 / f.bits;
  Shape packed = shape;
  packed.back() = (shape.back() + per_byte - 1) / per_byte;
  if (t.shape != packed) {
    return RejectNode(Rejection::kMismatchingShape, e->node(), "input ", i,
                      " of ", ShapeToString(t.shape), " must be of ",
                      ShapeToString(packed));
  }
  if (!f.packed) {
    if (!t.is_constant()) return e->Cast(e->In(i), DataType::kFloat);
    // The values of 8 bits that the narrow ones are.
    TensorData codes = *t.constant;
    codes.type = t.type == DataType::kInt4 ? DataType::kInt8 : DataType::kUint8;
    return e->Constant(std::move(codes));
  }
  if (per_byte == 1) return e->In(i);
  if (!t.is_constant()) {
    return RejectNode(Rejection::kUnsupportedAttribute, e->node(), "'", t.name,
                      "' has several codes in a byte and is computed at run "
                      "time; make it an initializer");
  }
  TensorData codes = TensorData::Zeros(DataType::kUint8, shape);
  for (int64_t k = 0; k < codes.count(); ++k) {
    PaceAt(k);
    const int64_t row = k / shape.back(), column = k % shape.back();
    const uint8_t byte =
        t.constant->bytes[row * packed.back() + column / per_byte];
    codes.bytes[k] = static_cast<uint8_t>(byte >> (column % per_byte * f.bits) &
                                          ((1 << f.bits) - 1));
  }
  return e->Constant(std::move(codes));
}

absl::Status Expand(Expansion* e) {
  ASSIGN_OR_RETURN(const Form f, FormOf(*e));
  const DataType type = e->T(e->In(kScales)).type;
  ASSIGN_OR_RETURN(const TensorId codes, Unpacked(e, kData, f, f.codes));
  TensorId zeros = kNoTensor;
  if (e->HasIn(kZeroPoints)) {
    ASSIGN_OR_RETURN(zeros, Unpacked(e, kZeroPoints, f, f.blocks()));
  }
  const auto rank = static_cast<int64_t>(e->T(e->In(kPlaces)).shape.size());
  // Where the indices' dimensions have put it.
  const int64_t axis =
      static_cast<int64_t>(f.quantize) + (f.quantize > f.gather ? rank - 1 : 0);
  const auto chosen = [&](TensorId x) {
    return e->Add("Gather", {x, e->In(kPlaces)},
                  {{"axis", static_cast<int64_t>(f.gather)}});
  };
  std::vector<int64_t> block(static_cast<size_t>(f.codes[f.quantize]));
  for (size_t i = 0; i < block.size(); ++i) {
    block[i] = static_cast<int64_t>(i) / f.block;
  }
  const TensorId blocks = e->Ints(block);
  const auto spread = [&](TensorId x) {
    return e->Add("Gather", {chosen(x), blocks}, {{"axis", axis}});
  };
  const TensorId zero =
      zeros != kNoTensor
          ? e->Cast(spread(zeros), DataType::kFloat)
          : e->Number(f.packed ? static_cast<double>(int64_t{1} << (f.bits - 1))
                               : 0);
  const TensorId difference =
      e->Add("Sub", {e->Cast(chosen(codes), DataType::kFloat), zero});
  e->Return(0, e->Add("Mul", {difference, spread(e->Wide(e->In(kScales)))}),
            type);
  return absl::OkStatus();
}

constexpr TypeSet kQuantizedTypes = Types(DataType::kUint8) | kFourBitIntegers;

const ExpandedOperator kGatherBlockQuantized(
    Define("GatherBlockQuantized", 1, 1)
        .Domain("com.microsoft")
        .Inputs(3, 4, kQuantizedTypes, kIndices, kReals, kQuantizedTypes)
        .Attr("bits", AttributeKind::kInt)
        .Attr("block_size", AttributeKind::kInt)
        .Attr("gather_axis", AttributeKind::kInt)
        .Attr("quantize_axis", AttributeKind::kInt),
    Expand);

}  // namespace
}  // namespace heddle::compiler
