// SPDX-License-Identifier: Apache-2.0
// The transport to heddle-hosted: an open file of one of its cards.
#ifndef HEDDLE_RUNTIME_HAL_HOSTED_TRANSPORT_H_
#define HEDDLE_RUNTIME_HAL_HOSTED_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/hal/transport.h"

namespace heddle::hal {

// Cards that the heddle-hosted at `socket` has now, as indices. Unavailable:
// nobody listens there.
absl::StatusOr<std::vector<uint32_t>> ListHosted(const std::string& socket);

// Unavailable: nobody listens at `socket`, or the card is not there now.
absl::StatusOr<std::unique_ptr<Transport>> OpenHosted(const std::string& socket,
                                                      uint32_t card);

}  // namespace heddle::hal

#endif  // HEDDLE_RUNTIME_HAL_HOSTED_TRANSPORT_H_
