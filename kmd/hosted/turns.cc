// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/turns.h"

#include "kmd/hosted/core.h"

namespace heddle::hosted {

int Turns::Pick(const std::vector<Turn>& offers) const {
  if (in_flight_ >= HEDDLE_SCHED_DEPTH) return -1;
  int best = -1;
  for (int i = 0; i < static_cast<int>(offers.size()); ++i) {
    const Turn& offer = offers[i];
    if (!offer.ready) continue;
    if (best < 0 || offer.priority < offers[best].priority ||
        (offer.priority == offers[best].priority &&
         offer.last < offers[best].last)) {
      best = i;
    }
  }
  if (best >= 0 && in_flight_ > 0 && offers[best].priority < last_priority_)
    return -1;
  return best;
}

void Turns::Start(Turn* turn) {
  turn->last = ++now_;
  ++in_flight_;
  last_priority_ = turn->priority;
}

void Turns::End() {
  if (in_flight_ > 0) --in_flight_;
}

}  // namespace heddle::hosted
