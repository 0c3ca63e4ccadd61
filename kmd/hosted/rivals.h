// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The clients competing with each client in turn (heddle_fair.h), in linear
// time. A snapshot, valid until a job ends or is queued.
#ifndef HEDDLE_KMD_HOSTED_RIVALS_H_
#define HEDDLE_KMD_HOSTED_RIVALS_H_

#include <cstdint>

#include "kmd/hosted/client_state.h"

namespace heddle::hosted {

class Rivals {
 public:
  explicit Rivals(uint64_t now_ns) : now_ns_(now_ns) {}

  void Meet(const ClientState& client) {
    heddle_fair_rivals one = {};
    heddle_fair_meet(&one, &client.fair, now_ns_);
    if (one.count == 0) return;
    if (count_ == 0 || one.shortest_ns < shortest_ns_) {
      second_ns_ = shortest_ns_;
      shortest_ns_ = one.shortest_ns;
      shortest_ = &client;
    } else if (count_ == 1 || one.shortest_ns < second_ns_) {
      second_ns_ = one.shortest_ns;
    }
    count_++;
  }
  // Everybody who has jobs, or will soon.
  heddle_fair_rivals All() const { return {count_, shortest_ns_}; }
  // Those of `client`, which is no rival of itself.
  heddle_fair_rivals Of(const ClientState& client) const {
    heddle_fair_rivals mine = {}, all = {};
    heddle_fair_meet(&mine, &client.fair, now_ns_);
    all.count = count_ - mine.count;
    all.shortest_ns = &client == shortest_ ? second_ns_ : shortest_ns_;
    if (all.count == 0) all.shortest_ns = 0;
    return all;
  }

 private:
  const uint64_t now_ns_;
  uint32_t count_ = 0;
  uint64_t shortest_ns_ = 0, second_ns_ = 0;
  const ClientState* shortest_ = nullptr;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_RIVALS_H_
