// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Validates command streams outside a card's thread, because a long one takes
// longer than anybody should wait for the card. Clients take turns, stream by
// stream.
#ifndef HEDDLE_KMD_HOSTED_STREAM_CHECKER_H_
#define HEDDLE_KMD_HOSTED_STREAM_CHECKER_H_

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "kmd/hosted/core.h"
#include "kmd/hosted/wait.h"

namespace heddle::hosted {

class StreamChecker {
 public:
  // Not longer than this: its user may as well do it himself, in less time than
  // a change of threads and back is worth.
  static constexpr uint64_t kShortBytes = 4096;

  // One stream. Its user fills in the first group, and reads the second when
  // `done` has fired.
  struct Check {
    uint64_t client = 0;
    const heddle_config* config = nullptr;
    const u32* words = nullptr;
    uint64_t bytes = 0;
    std::shared_ptr<const void> keeps;  // the words alive

    heddle_validate_result facts = {};
    int result = 0;  // 0, -ENOEXEC or -ENOMEM
    int fd = -1;     // shared memory with the words, page-rounded
    bool finished = false;
    WaitList done;

    Check() = default;
    Check(const Check&) = delete;
    Check& operator=(const Check&) = delete;
    ~Check();
    // What the checker does, for who does it himself.
    void Run();
  };

  // `wake` is an eventfd that is signalled when there is something to deliver.
  explicit StreamChecker(int wake);
  ~StreamChecker();  // ends the thread
  StreamChecker(const StreamChecker&) = delete;
  StreamChecker& operator=(const StreamChecker&) = delete;

  void Add(std::shared_ptr<Check> check);
  // Fires `done` of those that are finished; in their user's thread.
  void Deliver();

 private:
  struct Queue {  // of one client
    uint64_t client;
    std::list<std::shared_ptr<Check>> checks;
  };
  void Work();

  const int wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::list<Queue> waiting_;  // the next one's turn is first; none is empty
  std::list<std::shared_ptr<Check>> finished_;
  std::thread thread_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_STREAM_CHECKER_H_
