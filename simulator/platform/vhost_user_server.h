// SPDX-License-Identifier: Apache-2.0
//
// The front end for user-mode Linux (vhost_user.h, host_server.h). Accesses are
// done before the message that announces them is answered, so each is one round
// trip for the guest. The protocol has no MSI-X: the card keeps the table and
// sends its messages through the interrupt queue; while the guest has given no
// buffer there, a vector is remembered and sent once when there is one. INTx
// does not exist.
//
// A host that sends what is no message, or whose queues make no sense, is cut
// off, with the reason on stderr: to the guest the card is then gone.
#ifndef HEDDLE_SIMULATOR_PLATFORM_VHOST_USER_SERVER_H_
#define HEDDLE_SIMULATOR_PLATFORM_VHOST_USER_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "simulator/platform/host_memory.h"
#include "simulator/platform/host_server.h"
#include "simulator/platform/vhost_user.h"
#include "simulator/platform/vhost_user_calls.h"
#include "simulator/platform/virtqueue.h"

namespace heddle::platform {

class VhostUserServer : public HostServer {
 public:
  VhostUserServer(Card* card, Reactor* reactor, std::string path);
  ~VhostUserServer() override;

  void RaiseInterrupt(uint32_t vector) override;

 private:
  bool Handle() override;
  void Detached() override;

  bool Dispatch(const vhost::Header& header, uint64_t* answer);
  bool SetFeatures(uint64_t offered, uint64_t needed);
  bool SetMemTable(uint64_t* answer);
  bool SetBackendSocket();
  bool SetVringAddress();
  bool SetVring(uint32_t request);
  bool RunCommands();
  // False: the queue makes no sense.
  bool SendInterrupts();
  void Call(uint32_t queue);
  // False, after saying why the host is cut off.
  bool Wrong(absl::string_view why);

  HostMemory memory_;  // the same that the card reaches, for the queues
  Virtqueue queues_[vhost::kQueues] = {Virtqueue(&memory_),
                                       Virtqueue(&memory_)};
  std::unique_ptr<VhostUserCalls> calls_;
  uint32_t pending_ = 0;   // vectors that wait for a buffer
  uint32_t uncalled_ = 0;  // posted writes that the host has not been told of
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_VHOST_USER_SERVER_H_
