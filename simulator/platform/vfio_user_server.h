// SPDX-License-Identifier: Apache-2.0
//
// The vfio-user front end (host_server.h).
//
// MSI-X and MSI: the host's SET_IRQS eventfds are signalled; the host's side
// keeps the MSI-X table, as VFIO has it. MSI is used when no MSI-X eventfd is
// set. A mapping without a descriptor is accepted and cannot be reached.
#ifndef HEDDLE_SIMULATOR_PLATFORM_VFIO_USER_SERVER_H_
#define HEDDLE_SIMULATOR_PLATFORM_VFIO_USER_SERVER_H_

#include <cstdint>
#include <string>

#include "rtl/spec/generated/registers.h"
#include "simulator/platform/host_server.h"

namespace heddle::platform {

class VfioUserServer : public HostServer {
 public:
  // `card` and `reactor` must outlive the server.
  VfioUserServer(Card* card, Reactor* reactor, std::string path);
  ~VfioUserServer() override;

  void RaiseInterrupt(uint32_t vector) override;

 private:
  bool Handle() override;
  void Attached() override;
  void Detached() override;
  bool Reply(const void* payload, size_t bytes, uint32_t error = 0);
  uint32_t Version();
  uint32_t DmaMap();
  uint32_t DmaUnmap();
  uint32_t SetIrqs();
  bool DeviceInfo();
  bool RegionInfo();
  bool IrqInfo();
  bool RegionRead();
  bool RegionWrite();
  void ClearIrqs(int* fds, size_t count);

  bool negotiated_ = false;
  int msix_[reg::kPciMsixVectors];
  int msi_[reg::kPciMsiVectors];
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_VFIO_USER_SERVER_H_
