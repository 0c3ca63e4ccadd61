// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The client's end of heddle-hosted: an open file of one card. Behaves like a
// render node: the same ioctl numbers and structures, errno values out.
//
// Several threads may call at the same time; a blocking ioctl of one thread
// does not hold up the others. Nothing throws: without memory or descriptors a
// call is -ENOMEM or -EMFILE, and what gives something back or waits needs
// neither. All that a reply needs is there before its request is sent.
#ifndef HEDDLE_KMD_HOSTED_CLIENT_H_
#define HEDDLE_KMD_HOSTED_CLIENT_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kmd/hosted/protocol.h"

namespace heddle::hosted {

class HostedClient {
 public:
  // What the server at `path` offers. 0 or a negative errno (-ENOENT,
  // -ECONNREFUSED: nobody listens there).
  static int List(const std::string& path,
                  std::vector<CardEntry>* cards) noexcept;

  // Opens a card. 0 or a negative errno; -ENXIO: it is not there now.
  static int Open(const std::string& path, uint32_t card,
                  std::unique_ptr<HostedClient>* client) noexcept;

  ~HostedClient();
  HostedClient(const HostedClient&) = delete;
  HostedClient& operator=(const HostedClient&) = delete;

  // 0 or a negative errno. -ENOTTY: the hosted driver has no such ioctl;
  // -ENODEV: the card or the server is gone.
  int Ioctl(unsigned long request, void* arg) noexcept;

  // Maps a HOST buffer; `offset` is its drm_heddle_bo_info.mmap_offset. nullptr
  // with *error = negative errno on failure. Unmap with munmap().
  void* Mmap(uint64_t offset, size_t bytes, int* error) noexcept;

  // A descriptor for a HOST buffer (caller closes), or a negative errno.
  int ExportFd(uint32_t handle) noexcept;
  // A handle for a buffer's descriptor (which stays the caller's). 0 or a
  // negative errno.
  int ImportFd(int fd, uint32_t* handle) noexcept;

  // The socket: readable or hung up when the server has ended.
  int fd() const { return socket_; }
  uint64_t generation() const { return generation_; }

 private:
  // A call that awaits its reply, on its caller's stack.
  struct Waiter {
    uint8_t* payload = nullptr;  // room for the reply
    size_t capacity = 0;
    MessageHeader reply;  // its id is the request's from the start
    int fd = -1;
    bool answered = false;
    Waiter* next = nullptr;
  };

  explicit HostedClient(int socket) : socket_(socket) {}
  // Sends the request and waits. The result of the reply or a negative errno;
  // the descriptor in `waiter` is the caller's.
  int Exchange(MessageHeader header, const void* payload, int fd,
               Waiter* waiter) noexcept;
  // Reads one reply. With the lock, which it releases meanwhile.
  void ReadOne(std::unique_lock<std::mutex>* lock) noexcept;
  void Remove(Waiter* waiter) noexcept;
  // The connection is of no use any more. With the lock.
  void Break(int err) noexcept;

  const int socket_;
  uint64_t generation_ = 0;

  std::mutex send_mutex_;  // one message at a time on the socket

  // Replies: one of the waiting threads reads for all.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reading_ = false;
  const Waiter* filling_ = nullptr;  // the reader writes into it
  int broken_ = 0;  // negative errno once the connection is unusable
  uint64_t next_id_ = 1;
  Waiter* waiters_ = nullptr;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_CLIENT_H_
