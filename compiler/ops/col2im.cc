// SPDX-License-Identifier: Apache-2.0
// Col2Im, made of ScatterND that adds, in fp32 or double, rounded once at the
// end: each column is a block of the image, whose elements go back to their
// places. Those of the padding are left out.
//
//   x            [images, channels * block, columns]
//   image_shape  sizes of the image, block_shape those of a block: constant
//   y            [images, channels, sizes...]
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/ops/doubles.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/layout.h"

namespace heddle::compiler {
namespace {

struct Blocks {
  Shape image, block, strides, dilations, pads, columns;
};

absl::StatusOr<Blocks> BlocksOf(const Expansion& e) {
  const Node& node = e.node();
  Blocks b;
  ASSIGN_OR_RETURN(b.image, IntsOf(e.graph(), node, "image_shape", 1, {}));
  ASSIGN_OR_RETURN(b.block, IntsOf(e.graph(), node, "block_shape", 2, {}));
  const size_t rank = b.image.size();
  const Shape ones(rank, 1);
  b.strides = node.IntsAttribute("strides", ones);
  b.dilations = node.IntsAttribute("dilations", ones);
  b.pads = node.IntsAttribute("pads", Shape(2 * rank, 0));
  const auto refuse = [&](const auto&... why) {
    return RejectNode(Rejection::kInvalidModel, node, "image ",
                      ShapeToString(b.image), " and block ",
                      ShapeToString(b.block), why...);
  };
  if (rank == 0 || b.block.size() != rank || b.strides.size() != rank ||
      b.dilations.size() != rank || b.pads.size() != 2 * rank) {
    return refuse(" do not fit one another, strides, dilations and pads");
  }
  for (size_t i = 0; i < rank; ++i) {
    for (int64_t v : {b.image[i], b.block[i], b.strides[i], b.dilations[i]}) {
      if (v < 1 || v > kMostTableElements) {
        return refuse(", strides or dilations: ", v, " is out of range");
      }
    }
    for (int64_t v : {b.pads[i], b.pads[i + rank]}) {
      if (v < 0 || v > kMostTableElements) {
        return refuse(": pad ", v, " is out of range");
      }
    }
    // (at most 2^26 each: no overflow)
    const int64_t room = b.image[i] + b.pads[i] + b.pads[i + rank] -
                         (b.block[i] - 1) * b.dilations[i] - 1;
    if (room < 0) return refuse(": a block is larger than the image");
    b.columns.push_back(room / b.strides[i] + 1);
  }
  return b;
}

// The next of all places below `limits`, the last axis first.
void Next(const Shape& limits, Shape* place) {
  for (size_t i = limits.size(); i-- > 0;) {
    if (++(*place)[i] < limits[i]) return;
    (*place)[i] = 0;
  }
}

absl::Status Expand(Expansion* e) {
  const Node& node = e->node();
  const Shape x = e->T(e->In(0)).shape;
  ASSIGN_OR_RETURN(const Blocks b, BlocksOf(*e));
  int64_t size = 1, block = 1, columns = 1;
  for (size_t i = 0; i < b.image.size(); ++i) {
    RETURN_IF_ERROR(CheckTable(node, size, b.image[i]));
    RETURN_IF_ERROR(CheckTable(node, block, b.block[i]));
    RETURN_IF_ERROR(CheckTable(node, columns, b.columns[i]));
    size *= b.image[i];
    block *= b.block[i];
    columns *= b.columns[i];
  }
  RETURN_IF_ERROR(CheckTable(node, block, columns));
  if (x.size() != 3 || x[1] % block != 0 || x[2] != columns) {
    return RejectNode(Rejection::kMismatchingShape, node, "input ",
                      ShapeToString(x), " must have rank 3, a multiple of ",
                      block, " rows and ", columns, " columns");
  }
  const int64_t channels = x[1] / block;
  // Elements of the columns that are in the image, and where there.
  std::vector<int64_t> from, to;
  Shape k(b.image.size(), 0);
  for (int64_t i = 0; i < block; ++i, Next(b.block, &k)) {
    Shape at(b.image.size(), 0);
    for (int64_t j = 0; j < columns; ++j, Next(b.columns, &at)) {
      int64_t place = 0;
      bool inside = true;
      for (size_t d = 0; d < k.size(); ++d) {
        const int64_t p =
            at[d] * b.strides[d] + k[d] * b.dilations[d] - b.pads[d];
        inside = inside && p >= 0 && p < b.image[d];
        place = place * b.image[d] + p;
      }
      if (!inside) continue;
      from.push_back(i * columns + j);
      to.push_back(place);
    }
  }
  const int64_t planes = x[0] * channels;
  TensorId rows = e->Reshape(e->Wide(e->In(0)), {planes, block * columns});
  const std::vector<int64_t> turn = {1, 0};
  rows = e->Add("Transpose", {rows}, {{"perm", turn}});
  rows = e->Add("Gather", {rows, e->Ints(from)}, {{"axis", int64_t{0}}});
  const auto count = static_cast<int64_t>(to.size());
  const TensorId where = e->Reshape(e->Ints(to), {count, 1});
  TensorId y = e->Add(
      "ScatterND",
      {e->Constant(TensorData::Zeros(e->Real(), {size, planes})), where, rows},
      {{"reduction", std::string("add")}}, 16);
  y = e->Add("Transpose", {y}, {{"perm", turn}});
  Shape result = {x[0], channels};
  result.insert(result.end(), b.image.begin(), b.image.end());
  e->Return(0, e->Reshape(y, result), e->T(e->In(0)).type);
  return absl::OkStatus();
}

const ExpandedOperator kCol2Im(Define("Col2Im", 18, kMaxOpset)
                                   .Inputs(3, 3, kRealsAndDouble, kInt64s,
                                           kInt64s)
                                   .Attr("dilations", AttributeKind::kInts)
                                   .Attr("pads", AttributeKind::kInts)
                                   .Attr("strides", AttributeKind::kInts),
                               Expand);

}  // namespace
}  // namespace heddle::compiler
