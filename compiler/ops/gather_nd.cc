// SPDX-License-Identifier: Apache-2.0
// heddle.Places: the last dimension of the operand holds indices into `sizes`;
// the result is the place in a tensor of that shape, int32. On the card an
// index outside gives -2^31, which whoever reads the place finds to be none.
//
// GatherND is made of it: a Gather of rows, of which those of a batch are
// behind those of the batches before.
#include <cstdint>
#include <limits>

#include "compiler/base/pace.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"
#include "compiler/ops/indices.h"

namespace heddle::compiler {
namespace {

absl::Status InferPlaces(Graph* graph, const Node& node) {
  const Tensor& x = InputOf(*graph, node, 0);
  const auto sizes = node.IntsAttribute("sizes", {});
  if (x.shape.empty() || sizes.empty() ||
      x.shape.back() != static_cast<int64_t>(sizes.size())) {
    return absl::InternalError(node.Describe() + ": sizes");
  }
  return SetOutput(graph, node, 0, DataType::kInt32,
                   Shape(x.shape.begin(), x.shape.end() - 1));
}

Results EvaluatePlaces(const Graph& graph, const Node& node,
                       const Inputs& inputs) {
  const auto indices = ToInts(*inputs[0]);
  const auto sizes = node.IntsAttribute("sizes", {});
  TensorData y =
      TensorData::Zeros(DataType::kInt32, graph.tensors[node.outputs[0]].shape);
  const int64_t* index = indices.data();
  for (int64_t i = 0; i < y.count(); ++i) {
    PaceAt(i);
    int64_t place = 0;
    for (int64_t size : sizes) {
      ASSIGN_OR_RETURN(const int64_t at, PlaceOf(node, *index++, size));
      place = place * size + at;
    }
    y.as<int32_t>()[i] = static_cast<int32_t>(place);
  }
  return One(std::move(y));
}

absl::Status ExpandGatherNd(Expansion* e) {
  const Tensor& x = e->T(e->In(0));
  const Tensor& indices = e->T(e->In(1));
  const Node& node = e->node();
  const auto batches = static_cast<size_t>(node.IntAttribute("batch_dims", 0));
  const size_t rank = x.shape.size(), index_rank = indices.shape.size();
  if (rank == 0 || index_rank == 0 || batches >= rank ||
      batches >= index_rank || indices.shape.back() < 1 ||
      indices.shape.back() > static_cast<int64_t>(rank - batches)) {
    return RejectNode(
        Rejection::kMismatchingShape, node, "indices of shape ",
        ShapeToString(indices.shape), " choose nothing of an input of shape ",
        ShapeToString(x.shape),
        " with batch_dims = ", node.IntAttribute("batch_dims", 0));
  }
  for (size_t i = 0; i < batches; ++i) {
    if (x.shape[i] != indices.shape[i]) {
      return RejectNode(Rejection::kMismatchingShape, node, "dimension ", i,
                        " is one of batch_dims, but differs between ",
                        ShapeToString(x.shape), " and ",
                        ShapeToString(indices.shape));
    }
  }
  const auto first = x.shape.begin() + static_cast<int64_t>(batches);
  const auto last = first + indices.shape.back();
  const Shape sizes(first, last), row(last, x.shape.end());
  RETURN_IF_ERROR(CheckIndices(node, indices, sizes));
  const int64_t batch = ElementCount(Shape(x.shape.begin(), first));
  const int64_t rows = ElementCount(sizes);
  if (batch * rows > kMostPlaces) {
    return RejectNode(Rejection::kUnsupportedShape, node, "indices choose of ",
                      batch * rows, " places, at most ", kMostPlaces,
                      " are supported");
  }
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  const int64_t count = ElementCount(shape);
  shape.insert(shape.end(), row.begin(), row.end());
  const DataType type = x.type;
  const TensorId table =
      e->Reshape(e->In(0), {batch * rows, ElementCount(row)});
  TensorId place = e->Add("heddle.Places", {e->In(1)}, {{"sizes", sizes}});
  if (batch > 1 && count > 0) {
    TensorData begins = TensorData::Zeros(DataType::kInt32, {batch, 1});
    for (int64_t i = 0; i < batch; ++i) {
      begins.as<int32_t>()[i] = static_cast<int32_t>(i * rows);
    }
    place = e->Add("Add", {e->Reshape(place, {batch, count / batch}),
                           e->Constant(std::move(begins))});
  }
  const TensorId y = e->Add("Gather", {table, e->Reshape(place, {count})},
                            {{"axis", int64_t{0}}});
  e->Return(0, e->Reshape(y, shape), type);
  return absl::OkStatus();
}

bool BatchIsNotNegative(const Graph&, const Node& node, std::string* detail) {
  const int64_t batches = node.IntAttribute("batch_dims", 0);
  *detail = absl::StrCat("it is ", batches);
  return batches >= 0;
}

const OperatorRegistration kPlaces(Define("Places", 1, kMaxOpset)
                                       .Domain(kInternalDomain)
                                       .Inputs(1, 1, kIndices)
                                       .Attr("sizes", AttributeKind::kInts,
                                             true)
                                       .Run(InferPlaces, EvaluatePlaces));
const ExpandedOperator kGatherNd11(
    Define("GatherND", 11, 11).Inputs(2, 2, kMovable, kInt64s), ExpandGatherNd);
const ExpandedOperator kGatherNd12(Define("GatherND", 12, kMaxOpset)
                                       .Inputs(2, 2, kMovable, kInt64s)
                                       .Attr("batch_dims", AttributeKind::kInt)
                                       .Rule(Rejection::kInvalidModel,
                                             "batch_dims is not negative",
                                             BatchIsNotNegative),
                                   ExpandGatherNd);

}  // namespace
}  // namespace heddle::compiler
