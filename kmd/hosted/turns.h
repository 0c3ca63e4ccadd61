// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Which context's job the card gets next. (In the kernel, drm_gpu_scheduler
// decides.)
//
// Contexts of a higher priority go first. Among contexts of one priority, the
// one that has waited longest for its turn goes first, so each gets every n-th
// turn, however many jobs it has. At most HEDDLE_SCHED_DEPTH jobs are on the
// card, so that it never idles between two jobs and a late urgent job waits for
// few.
#ifndef KMD_HOSTED_TURNS_H_
#define KMD_HOSTED_TURNS_H_

#include <cstdint>
#include <vector>

namespace heddle::hosted {

// What a context offers.
struct Turn {
  uint32_t priority = 0;  // ring, 0 is the highest
  bool ready = false;     // its first job can start
  uint64_t last = 0;      // Turns::now() when it had its last turn
};

class Turns {
 public:
  // The index of the one to go now. -1: none can, because none is ready, enough
  // jobs are with the card, or the best one would overtake a job there (rings
  // of higher priority go first, and then the order in which jobs use SRAM
  // would not be the order in which they were given).
  int Pick(const std::vector<Turn>& offers) const;
  // A job was given to the card; one has ended.
  void Start(Turn* turn);
  void End();
  uint64_t now() const { return now_; }

 private:
  uint64_t now_ = 0;  // turns given so far
  uint32_t in_flight_ = 0;
  uint32_t last_priority_ = 0;  // of the job given last, while one is there
};

}  // namespace heddle::hosted

#endif  // KMD_HOSTED_TURNS_H_
