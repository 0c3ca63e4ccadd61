// SPDX-License-Identifier: Apache-2.0
// The nodes of heddle.ko: accel nodes where the kernel has them, else render
// nodes.
#ifndef TESTS_UAPI_DRM_NODES_H_
#define TESTS_UAPI_DRM_NODES_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/uapi/client.h"

namespace heddle::uapi {

// Of every card there is now.
std::vector<std::string> DrmNodes();

// A new file of a node. Null: *error says why, a negative errno.
std::unique_ptr<Client> OpenDrmNode(const std::string& node, int* error);

}  // namespace heddle::uapi

#endif  // TESTS_UAPI_DRM_NODES_H_
