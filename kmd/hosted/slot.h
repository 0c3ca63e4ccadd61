// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A place for a card: attaches whatever listens at the card's socket, serves
// the clients that opened it, and waits for the next card after a removal.
//
// Everything belonging to a card (device, files, objects) is used by its slot's
// thread only, so nothing needs locks, and a slow card does not delay other
// cards' clients.
#ifndef HEDDLE_KMD_HOSTED_SLOT_H_
#define HEDDLE_KMD_HOSTED_SLOT_H_

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kmd/hosted/accounts.h"
#include "kmd/hosted/call.h"
#include "kmd/hosted/connection.h"
#include "kmd/hosted/device.h"
#include "kmd/hosted/file.h"
#include "kmd/hosted/limits.h"
#include "kmd/hosted/patience.h"
#include "kmd/hosted/protocol.h"
#include "kmd/hosted/stream_checker.h"

namespace heddle::hosted {

class Slot {
 public:
  // `descriptors`: what all slots share.
  Slot(uint32_t index, std::string path, const Device::Options& options,
       const ServiceLimits& limits, std::shared_ptr<Account> descriptors);
  ~Slot();  // ends the thread
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  void Start();

  // From any thread:
  CardEntry Describe() const;
  // A client that said hello, or asks who the clients are; answered by the
  // slot. Throws std::bad_alloc, and has then taken nothing.
  void Adopt(std::unique_ptr<Connection>* connection, Account::Share* share,
             const MessageHeader& hello, bool privileged);
  uint32_t clients() const { return clients_.load(); }

 private:
  struct Client;
  // A call that waits.
  struct Pending {
    Client* client = nullptr;
    MessageHeader header;
    std::shared_ptr<CallFrame> frame;
    Connection::Slip reply;
    uint64_t held = 0;  // bytes
    std::unique_ptr<WaitingCall> rest;
    std::multimap<uint64_t, Pending*>::iterator timer;  // or timers_.end()
    std::list<Pending>::iterator self;
  };
  struct Client {
    std::unique_ptr<Connection> connection;
    Account::Share share;
    MessageHeader hello;
    bool privileged = false;
    bool refused = false;  // goes when the reply has been fetched
    std::shared_ptr<Device> device;
    std::unique_ptr<File> file;  // null until the card is there
    Connection::Slip spare;      // a reply for a call that cannot even begin
    ReadyCalls ready;            // of those that are pending
    std::list<Pending> pending;
    uint64_t held = 0;  // bytes of all that is pending
  };

  void Run();
  void Turn();
  void TakeNewcomers();
  void TryAttach(uint64_t now);
  // Opens files for those who wait for the card, or refuses them.
  void Welcome(uint64_t now);
  void OpenFile(Client* client);
  void TellClients(Client* client);
  void DropClients(uint64_t now);
  void Serve(Client* client);
  void StartCall(Client* client, Message* message, uint64_t room);
  void Reject(Client* client, const MessageHeader& header, int error);
  // Goes on with the calls that can, or whose time is over: each client's in
  // turn, and not for long at a time.
  void Resume();
  void ResumeOne(WaitingCall* rest);
  void End(std::list<Pending>* call, Outcome outcome);
  void OnEvent(uint32_t type, uint32_t context, uint64_t client,
               uint64_t value);
  // Waits for events of polled_. False: none came.
  bool Sleep(uint64_t sleep_ns, bool card_idle);
  // Nanoseconds until something is due without an event.
  uint64_t SleepFor(uint64_t now, uint64_t device_ns);
  void Publish();

  const uint32_t index_;
  const std::string path_;
  Device::Options options_;
  const ServiceLimits limits_;
  const std::shared_ptr<Account> descriptors_;

  struct Wake {
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ~Wake() { close(fd); }
  } wake_;
  StreamChecker checker_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> clients_{0};

  mutable std::mutex mutex_;  // for the two below
  std::list<Client> newcomers_;
  CardEntry entry_;

  // The thread's own.
  std::shared_ptr<Device> device_;
  std::multimap<uint64_t, Pending*> timers_;  // by deadline
  std::list<Client> served_;
  std::vector<pollfd> polled_;
  Patience for_requests_;
  uint64_t generation_ = 0;
  uint64_t next_attach_ns_ = 0;
  uint64_t first_attach_limit_ns_ = 0;
  std::string last_complaint_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_SLOT_H_
