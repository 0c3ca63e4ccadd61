// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The client's end of heddle-hosted: an open file of one card. Behaves like a
// render node: the same ioctl numbers and structures, errno values out.
//
// Several threads may call at the same time; a blocking ioctl of one thread
// does not hold up the others. Nothing throws: without memory or descriptors a
// call is -ENOMEM or -EMFILE, and what gives something back or waits needs
// neither. All that a reply needs is there before its request is sent.
//
// WAIT for a job whose end the server has published (results_page.h) is
// answered here; also when the server has ended since without saying so. On a
// machine with several CPUs it looks for that end for up to kJobNs, and SUBMIT
// for its reply for up to kReplyNs, before they sleep (patience.h). WAIT for
// the job that was submitted last asks the server only after kSleepNs: so late
// it may notice that the server was killed.
#ifndef HEDDLE_KMD_HOSTED_CLIENT_H_
#define HEDDLE_KMD_HOSTED_CLIENT_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kmd/hosted/patience.h"
#include "kmd/hosted/protocol.h"
#include "kmd/hosted/results_page.h"

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
    bool sleeps = false;              // its request is sent, another one reads
    std::condition_variable changed;  // answered, or it is its turn to read
    Waiter* next = nullptr;
  };

  // An empty job, and a call of a server that is awake, with something to
  // spare. What takes longer is better slept for.
  static constexpr uint64_t kJobNs = 60000;
  static constexpr uint64_t kReplyNs = 30000;
  static constexpr uint64_t kSleepNs = 50000000;

  explicit HostedClient(int socket);
  // Maps the server's page, if it has one for us.
  void MapResults() noexcept;
  // Answers WAIT. False: the server has to be asked.
  bool FindResult(const drm_heddle_wait& args) noexcept;
  // From the page, where that of the last job comes in time. False: no.
  bool AwaitResult(const drm_heddle_wait& args,
                   drm_heddle_result* result) noexcept;
  // Sends the request and waits. The result of the reply or a negative errno;
  // the descriptor in `waiter` is the caller's.
  int Exchange(MessageHeader header, const void* payload, int fd,
               Waiter* waiter) noexcept;
  // Reads one reply, which comes `soon` or not. With the lock, which it
  // releases meanwhile.
  void ReadOne(std::unique_lock<std::mutex>* lock, bool soon) noexcept;
  // Until there is something to read.
  void AwaitReply(bool soon) noexcept;
  void Remove(Waiter* waiter) noexcept;
  // Who can be woken to read; with the lock. Who sleeps not, or not yet, sees
  // for itself that nobody reads.
  Waiter* NextReader() noexcept;
  // The connection is of no use any more. With the lock.
  void Break(int err) noexcept;

  const int socket_;
  uint64_t generation_ = 0;
  const ResultsPage* results_ = nullptr;
  Patience for_jobs_, for_replies_;

  std::mutex send_mutex_;  // one message at a time on the socket

  // Replies: one of the waiting threads reads for all. Only the one that a
  // reply is for is woken by it; a reader that leaves wakes the next reader.
  std::mutex mutex_;
  bool reading_ = false;
  const Waiter* filling_ = nullptr;  // the reader writes into it
  int broken_ = 0;  // negative errno once the connection is unusable
  uint64_t next_id_ = 1;
  Waiter* waiters_ = nullptr;

  // The job that was submitted last, and changes() of the page before. With the
  // lock.
  struct {
    uint32_t context = 0;
    uint64_t seqno = 0;
    uint32_t changes = 0;
  } last_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_CLIENT_H_
