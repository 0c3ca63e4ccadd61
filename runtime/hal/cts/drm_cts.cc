// SPDX-License-Identifier: Apache-2.0
// The suite on a node of heddle.ko: the one of HEDDLE_DRM_NODE, or the
// first there is. Without a node the tests are skipped with the reason.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/hal/cts/cts.h"
#include "runtime/hal/drm_transport.h"

namespace heddle::hal::cts {
namespace {

// Empty: none; `why` says why.
std::string Node(std::string* why) {
  if (const char* node = std::getenv("HEDDLE_DRM_NODE")) return node;
  const auto nodes = ListDrm();
  if (!nodes.ok()) {
    *why = std::string(nodes.status().message());
    return "";
  }
  if (nodes->empty()) {
    *why = "there is no node of the driver heddle";
    return "";
  }
  return nodes->front();
}

std::unique_ptr<Transport> MakeDrm() {
  std::string why;
  auto transport = OpenDrm(Node(&why));
  if (transport.ok()) return *std::move(transport);
  std::fprintf(stderr, "%s\n",
               std::string(transport.status().message()).c_str());
  return nullptr;
}

std::string WhyNot() {
  std::string why;
  Node(&why);
  return why;
}

INSTANTIATE_TEST_SUITE_P(Transports, Cts,
                         testing::Values(Kind{"drm", MakeDrm, true, nullptr, 0,
                                              WhyNot}),
                         KindName);

}  // namespace
}  // namespace heddle::hal::cts
