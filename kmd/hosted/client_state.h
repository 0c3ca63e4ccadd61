// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What the driver knows about a client (an open file) for as long as anything
// of it is left: what it holds, how it uses the card, results of its jobs. Used
// by the card's thread only.
#ifndef HEDDLE_KMD_HOSTED_CLIENT_STATE_H_
#define HEDDLE_KMD_HOSTED_CLIENT_STATE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "kmd/hosted/core.h"
#include "kmd/hosted/results_board.h"
#include "kmd/include/uapi/drm/heddle_drm.h"

namespace heddle::hosted {

struct ClientState {
  uint64_t id = 0;  // not 0, and that of no other client ever
  heddle_usage usage = {};
  heddle_fair_client fair = {};
  drm_heddle_counters counters = {};    // of its own jobs
  uint64_t held_ns = 0;                 // that they held the card
  std::unique_ptr<ResultsBoard> board;  // null: it has asked for none
};

// Some of what a client may hold, until it is destroyed.
class Charge {
 public:
  Charge() = default;
  Charge(Charge&& other) noexcept { *this = std::move(other); }
  Charge& operator=(Charge&& other) noexcept {
    std::swap(client_, other.client_);
    std::swap(what_, other.what_);
    std::swap(amount_, other.amount_);
    return *this;
  }
  ~Charge() { Release(); }

  // 0, or the errno of what the client has used up.
  int Take(std::shared_ptr<ClientState> client, const drm_heddle_limits& limits,
           heddle_resource what, uint64_t amount) {
    Release();
    const int err = heddle_usage_charge(&client->usage, &limits, what, amount);
    if (err != 0) return err;
    client_ = std::move(client);
    what_ = what;
    amount_ = amount;
    return 0;
  }
  void Release() {
    if (client_ == nullptr) return;
    heddle_usage_release(&client_->usage, what_, amount_);
    client_ = nullptr;
  }

 private:
  std::shared_ptr<ClientState> client_;
  heddle_resource what_ = HEDDLE_DEVICE_BYTES;
  uint64_t amount_ = 0;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_CLIENT_STATE_H_
