// SPDX-License-Identifier: Apache-2.0
// Propagation of a status that is not OK.
//
//   RETURN_IF_ERROR(Check(node));
//   ASSIGN_OR_RETURN(Graph graph, Import(bytes));
//   ASSIGN_OR_RETURN(known[id], Import(bytes));
//
// In functions that return absl::Status or absl::StatusOr<T>. ASSIGN_OR_RETURN
// expands to several statements, so an `if` or a loop around it needs braces.
// Use `auto` if the type on its left side contains a comma.
#ifndef HEDDLE_COMPILER_BASE_STATUS_MACROS_H_
#define HEDDLE_COMPILER_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define RETURN_IF_ERROR(...)                             \
  do {                                                   \
    absl::Status status_to_return = (__VA_ARGS__);       \
    if (!status_to_return.ok()) return status_to_return; \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, ...) \
  HEDDLE_ASSIGN_OR_RETURN(HEDDLE_UNIQUE_NAME(__LINE__), lhs, __VA_ARGS__)

// (two steps, so that the line's number is in the name)
#define HEDDLE_UNIQUE_NAME(line) HEDDLE_JOIN(status_or_of_line_, line)
#define HEDDLE_JOIN(a, b) a##b
#define HEDDLE_ASSIGN_OR_RETURN(result, lhs, ...)      \
  auto result = (__VA_ARGS__);                         \
  if (!result.ok()) return std::move(result).status(); \
  lhs = *std::move(result)

#endif  // HEDDLE_COMPILER_BASE_STATUS_MACROS_H_
