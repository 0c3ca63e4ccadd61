// SPDX-License-Identifier: Apache-2.0
// Convolutions and poolings of three spatial dimensions, made of those of two.
//
// Conv            planes that a window's depth reaches become channels, so that
//                 the chain of a result goes over input channel, kz, ky, kx
//                 (innermost); QLinearConv and ConvInteger too
// ConvTranspose   likewise, for each residue of the depth modulo its stride:
//                 input channel, plane, row, column
// poolings        along rows and columns, then along the depth; an average is
//                 one of averages
#ifndef HEDDLE_COMPILER_OPS_VOLUME_H_
#define HEDDLE_COMPILER_OPS_VOLUME_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {

// Whether input 0 is [N,C,D,H,W].
bool IsVolume(const Graph& graph, const Node& node);

// WindowRules() of operators that have volumes too.
std::vector<Constraint> VolumeRules();

// `node` with the windows of `count` of its spatial dimensions only, from
// `first` on, of `rank`; a list of another length is a rejection.
absl::StatusOr<Node> DimensionsOf(const Node& node, size_t rank, size_t first,
                                  size_t count);

absl::Status ExpandVolumeConv(Expansion* e);
// Of quantized operators: which inputs are the weights and the zero point of
// input 0, which padding counts as.
absl::Status ExpandVolumeOfCodes(Expansion* e, size_t weights, size_t zero);
absl::Status ExpandVolumeConvTranspose(Expansion* e);
// The pooling of `x`, of the node's operator and opset.
absl::StatusOr<TensorId> AddVolumePool(Expansion* e, TensorId x);
absl::Status ExpandVolumePool(Expansion* e);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_VOLUME_H_
