// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/results_board.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace heddle::hosted {

int ResultsBoard::Create(std::unique_ptr<ResultsBoard>* board, int* fd) {
  const int memory =
      memfd_create("heddle-results", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return -errno;
  void* p = MAP_FAILED;
  // The mapping made before the seals stays the only one that can write.
  constexpr int kSeals =
      F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  if (ftruncate(memory, ResultsPage::kBytes) == 0) {
    p = mmap(nullptr, ResultsPage::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
             memory, 0);
  }
  const bool made = p != MAP_FAILED && fcntl(memory, F_ADD_SEALS, kSeals) == 0;
  const int err = made ? 0 : -errno;
  if (made) {
    board->reset(new (std::nothrow) ResultsBoard(new (p) ResultsPage()));
    if (*board != nullptr) {
      *fd = memory;
      return 0;
    }
  }
  if (p != MAP_FAILED) munmap(p, ResultsPage::kBytes);
  close(memory);
  return made ? -ENOMEM : err;
}

ResultsBoard::~ResultsBoard() {
  Withdraw();
  munmap(page_, ResultsPage::kBytes);
}

}  // namespace heddle::hosted
