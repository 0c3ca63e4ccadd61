// SPDX-License-Identifier: Apache-2.0
// In the guest: whether a card that goes on writing when it was told to stop
// reaches memory that is somebody else's by now.
#ifndef TESTS_DRIVER_FREED_PAGES_H_
#define TESTS_DRIVER_FREED_PAGES_H_

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "tests/driver/card_files.h"

namespace heddle::tests {

// Most of the memory that is free, all of it written.
class Hog {
 public:
  Hog() {
    struct sysinfo info;
    EXPECT_EQ(sysinfo(&info), 0);
    words_ =
        std::min<uint64_t>(info.freeram / 4 * 3, 512 << 20) / sizeof(uint64_t);
    data_ = static_cast<uint64_t*>(
        mmap(nullptr, words_ * sizeof(uint64_t), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
    EXPECT_NE(data_, MAP_FAILED);
    for (size_t i = 0; i < words_; ++i) data_[i] = i;
  }
  ~Hog() { munmap(data_, words_ * sizeof(uint64_t)); }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;
  size_t Damaged() const {
    size_t damaged = 0;
    for (size_t i = 0; i < words_; ++i) damaged += data_[i] != i;
    return damaged;
  }

 private:
  size_t words_ = 0;
  uint64_t* data_ = nullptr;
};

// Its pages, so many, have been given back.
inline void ExpectNobodyWritesToFreedPages(uint64_t pages) {
  const Hog hog;
  const uint64_t before = CardStatus("refused_dma");
  uint64_t now = before;
  // Twice over all of its addresses, however long that takes.
  for (int i = 0; i < 600 && now < before + 2 * pages; ++i) {
    usleep(10000);
    now = CardStatus("refused_dma");
  }
  EXPECT_GE(now, before + 2 * pages) << "nothing keeps it from writing";
  EXPECT_EQ(hog.Damaged(), 0u) << "words of somebody else";
}

}  // namespace heddle::tests

#endif  // TESTS_DRIVER_FREED_PAGES_H_
