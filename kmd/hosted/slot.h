// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A place for a card: attaches whatever listens at the card's socket, serves
// the clients that opened it, and waits for the next card after a removal.
//
// Everything of a card - device, files, objects - belongs to its slot's thread,
// so none of it needs locks, and a slow card holds up nobody else's clients.
#ifndef HEDDLE_KMD_HOSTED_SLOT_H_
#define HEDDLE_KMD_HOSTED_SLOT_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kmd/hosted/connection.h"
#include "kmd/hosted/device.h"
#include "kmd/hosted/file.h"
#include "kmd/hosted/protocol.h"

namespace heddle::hosted {

class Slot {
 public:
  Slot(uint32_t index, std::string path, const Device::Options& options);
  ~Slot();  // ends the thread
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  void Start();

  // From any thread:
  CardEntry Describe() const;
  // A client that said hello; answered by the slot.
  void Adopt(std::unique_ptr<Connection> connection, const MessageHeader& hello,
             bool privileged);
  uint32_t clients() const { return clients_.load(); }

 private:
  // Requests that one client may have waiting.
  static constexpr size_t kPendingMax = 256;

  struct Pending {
    MessageHeader header;
    std::unique_ptr<CallFrame> frame;
    uint64_t deadline_ns;
  };
  struct Client {
    std::unique_ptr<Connection> connection;
    MessageHeader hello;
    bool privileged = false;
    std::unique_ptr<File> file;  // null until the card is there
    std::shared_ptr<Device> device;
    std::list<Pending> pending;
  };

  void Run();
  void TakeNewcomers();
  void TryAttach(uint64_t now);
  // Opens files for those who wait for the card, or refuses them.
  void Welcome(uint64_t now);
  void Serve(Client* client);
  void Retry(Client* client);
  void Answer(Client* client, const MessageHeader& header, CallFrame* frame,
              const File::Outcome& outcome);
  void Publish();

  const uint32_t index_;
  const std::string path_;
  const Device::Options options_;

  std::thread thread_;
  int wake_;  // eventfd
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> clients_{0};

  mutable std::mutex mutex_;  // for the two below
  std::vector<Client> newcomers_;
  CardEntry entry_;

  // The thread's own.
  std::shared_ptr<Device> device_;
  std::list<Client> served_;
  uint64_t generation_ = 0;
  uint64_t next_attach_ns_ = 0;
  uint64_t first_attach_limit_ns_ = 0;
  std::string last_complaint_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_SLOT_H_
