// SPDX-License-Identifier: Apache-2.0
// The suite on `null`, and on simulated cards of 64 MiB through `hosted` and
// through `drm` with heddle-hosted as the driver behind the node.
#include "runtime/hal/cts/cts.h"

#include "rtl/spec/generated/isa.h"
#include "runtime/hal/drm_transport.h"
#include "runtime/hal/fake_drm.h"
#include "runtime/hal/hosted_transport.h"
#include "runtime/hal/null_transport.h"
#include "runtime/session/device_spec.h"
#include "runtime/session/private_card.h"

namespace heddle::hal::cts {
namespace {

std::unique_ptr<Transport> MakeNull() {
  NullOptions options;
  options.memory_bytes = isa::kDramBytesMin;
  return MakeNullTransport(options);
}

const std::string& Socket() {
  static const auto cards =
      session::StartPrivateCards(*session::ParseDeviceSpec("sim:memory=64M"));
  static const auto* const socket =
      new std::string(cards.ok() ? cards->socket : "");
  return *socket;
}

std::unique_ptr<Transport> MakeHosted() {
  auto transport = OpenHosted(Socket(), 0);
  return transport.ok() ? *std::move(transport) : nullptr;
}

std::unique_ptr<Transport> MakeFakeDrm() {
  static auto* const system = new FakeDrm(Socket());
  const auto nodes = ListDrm(*system);
  if (!nodes.ok() || nodes->empty()) return nullptr;
  auto transport = OpenDrm(nodes->front(), *system);
  return transport.ok() ? *std::move(transport) : nullptr;
}

INSTANTIATE_TEST_SUITE_P(Transports, Cts,
                         testing::Values(Kind{"null", MakeNull, false, "h256",
                                              isa::kDramBytesMin},
                                         Kind{"hosted", MakeHosted, true,
                                              "h256", isa::kDramBytesMin},
                                         Kind{"fake_drm", MakeFakeDrm, true,
                                              "h256", isa::kDramBytesMin}),
                         KindName);

}  // namespace
}  // namespace heddle::hal::cts
