// SPDX-License-Identifier: Apache-2.0
//
// The front end for QEMU 7.2's x-pci-proxy-dev (mpqemu.h, host_server.h). That
// protocol has no MSI-X: the card keeps the table and sends its messages
// through QEMU's qtest channel. INTx does not exist.
//
// Accesses that the card does not answer read as ones. A QEMU that sends an
// invalid message is disconnected; the guest then sees the card as gone.
#ifndef HEDDLE_SIMULATOR_PLATFORM_QEMU_SERVER_H_
#define HEDDLE_SIMULATOR_PLATFORM_QEMU_SERVER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/platform/host_server.h"
#include "simulator/platform/qtest_channel.h"

namespace heddle::platform {

class QemuServer : public HostServer {
 public:
  // `qtest_fd`: a connected socket, taken over; -1: interrupts are lost.
  QemuServer(Card* card, Reactor* reactor, std::string path, int qtest_fd);
  ~QemuServer() override;

  void RaiseInterrupt(uint32_t vector) override;

 private:
  struct Range {
    uint64_t address;
    uint64_t size;
    int64_t offset;
    dev_t device;
    ino_t inode;
    bool operator==(const Range& other) const;
  };

  bool Handle() override;
  void Detached() override { ranges_.clear(); }
  bool Return(uint64_t value);
  bool SyncSysmem();
  bool Config(bool write);
  bool Bar(bool write);

  QtestChannel qtest_;
  std::vector<Range> ranges_;  // as QEMU named them last
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_QEMU_SERVER_H_
