// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The server's end of a ResultsPage: creates it, and invalidates it when it
// goes. Used by the card's thread only.
#ifndef HEDDLE_KMD_HOSTED_RESULTS_BOARD_H_
#define HEDDLE_KMD_HOSTED_RESULTS_BOARD_H_

#include <memory>

#include "kmd/hosted/results_page.h"

namespace heddle::hosted {

class ResultsBoard {
 public:
  // 0 or a negative errno. Whoever has `*fd`, the caller's, can read the page
  // and nothing else.
  static int Create(std::unique_ptr<ResultsBoard>* board, int* fd);
  ~ResultsBoard();
  ResultsBoard(const ResultsBoard&) = delete;
  ResultsBoard& operator=(const ResultsBoard&) = delete;

  // As the page's; who waits for that wakes up.
  void Publish(uint32_t context, uint64_t seqno,
               const drm_heddle_result& result) noexcept {
    page_->Publish(context, seqno, result);
    page_->Wake();
  }
  void Forget(uint32_t context) noexcept { page_->Forget(context); }
  void Withdraw() noexcept {
    page_->Withdraw();
    page_->Wake();
  }

 private:
  explicit ResultsBoard(ResultsPage* page) : page_(page) {}
  ResultsPage* const page_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_RESULTS_BOARD_H_
