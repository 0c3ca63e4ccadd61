// SPDX-License-Identifier: Apache-2.0
//
// The vfio-user front end: serves one host at a time on a Unix socket. A host
// that connects finds the card as after power-up; when it disconnects, its
// mappings are gone and device memory is cleared, so the next host (a re-plug
// of the host's side) starts from nothing. While a host is connected, others
// are accepted and closed at once.
//
// MSI-X and MSI: the host's SET_IRQS eventfds are signalled; the host's side
// keeps the MSI-X table, as VFIO has it. MSI is used when no MSI-X eventfd is
// set. A mapping without a descriptor is accepted and cannot be reached.
#ifndef HEDDLE_SIMULATOR_PLATFORM_VFIO_USER_SERVER_H_
#define HEDDLE_SIMULATOR_PLATFORM_VFIO_USER_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "rtl/spec/generated/registers.h"
#include "simulator/platform/card.h"
#include "simulator/platform/message_socket.h"
#include "simulator/platform/reactor.h"

namespace heddle::platform {

class VfioUserServer : public InterruptSink {
 public:
  // `card` and `reactor` must outlive the server.
  VfioUserServer(Card* card, Reactor* reactor, std::string path);
  ~VfioUserServer() override;

  // Creates the socket; a stale one at the path is replaced.
  absl::Status Listen();
  // Drops the host and removes the socket: connects are refused from then on.
  void Close();
  bool connected() const { return peer_ != nullptr; }

  void RaiseInterrupt(uint32_t vector) override;

 private:
  void OnConnect();
  void OnMessages();
  void Disconnect();
  // Handles the message in peer_. False: cut the host off.
  bool Handle();
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

  Card* card_;
  Reactor* reactor_;
  std::string path_;
  int listener_ = -1;
  std::unique_ptr<MessageSocket> peer_;
  bool negotiated_ = false;
  int msix_[reg::kPciMsixVectors];
  int msi_[reg::kPciMsiVectors];
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_VFIO_USER_SERVER_H_
