// SPDX-License-Identifier: Apache-2.0
// A graph of a host segment as the package's metadata and section have it.
#ifndef HEDDLE_COMPILER_PACKAGE_HOST_GRAPH_H_
#define HEDDLE_COMPILER_PACKAGE_HOST_GRAPH_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package_generated.h"

namespace heddle::package {

// Largest tensor of a host segment, in bytes.
constexpr uint64_t kMaxHostTensorBytes = uint64_t{4} << 30;

// The metadata; the bytes of the constants are appended to `section`.
std::unique_ptr<fb::HostFunctionT> PackHostGraph(const compiler::Graph& graph,
                                                 std::string* section);

// The graph, with constants that are copies: ids are valid, values are single
// and in order, tensors have a size within the limit, and the constants are the
// section. Nothing is said of operators. InvalidArgument: the message is one
// clause.
absl::StatusOr<compiler::Graph> UnpackHostGraph(
    const fb::HostFunctionT& function, absl::string_view section);

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_HOST_GRAPH_H_
