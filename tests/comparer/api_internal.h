// SPDX-License-Identifier: Apache-2.0
// One loader per ABI.
#ifndef TESTS_COMPARER_API_INTERNAL_H_
#define TESTS_COMPARER_API_INTERNAL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tests/comparer/api.h"

namespace heddle::comparer {

absl::StatusOr<std::unique_ptr<Api>> LoadExtended(const std::string& path);
absl::StatusOr<std::unique_ptr<Api>> LoadOnnx1(const std::string& path);

}  // namespace heddle::comparer

#endif  // TESTS_COMPARER_API_INTERNAL_H_
