// SPDX-License-Identifier: Apache-2.0
// Memory of the guest in single pages, so that a buffer's pages lie far from
// each other.
#ifndef TESTS_DRIVER_CRUMBS_H_
#define TESTS_DRIVER_CRUMBS_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "tests/uapi/calls.h"

namespace heddle::tests {

// Makes the kernel's next pages single ones without free neighbours: pipes are
// filled a page each in turn, and every other one is emptied.
class Crumbs {
 public:
  explicit Crumbs(uint64_t pages) {
    std::vector<uint8_t> data(kPipeBytes);
    for (uint64_t i = 0; i < pages; i += kPipePages) {
      pipes_.emplace_back();
      pipes_.emplace_back();
    }
    for (uint64_t i = 0; i < kPipePages; ++i) {
      for (Pipe& pipe : pipes_)
        EXPECT_EQ(write(pipe.in, data.data(), uapi::kPage),
                  ssize_t{uapi::kPage});
    }
    for (size_t i = 0; i < pipes_.size(); i += 2) {
      for (size_t n = kPipeBytes; n > 0;) {
        const ssize_t got = read(pipes_[i].out, data.data(), n);
        if (got <= 0) break;
        n -= got;
      }
    }
  }

 private:
  static constexpr uint64_t kPipePages = 256;
  static constexpr uint64_t kPipeBytes = kPipePages * uapi::kPage;

  struct Pipe {
    Pipe() {
      int ends[2];
      EXPECT_EQ(pipe(ends), 0);
      out = ends[0];
      in = ends[1];
      EXPECT_EQ(fcntl(in, F_SETPIPE_SZ, kPipeBytes), int{kPipeBytes});
    }
    ~Pipe() {
      close(in);
      close(out);
    }
    Pipe(Pipe&& other) : in(other.in), out(other.out) {
      other.in = other.out = -1;
    }
    int in = -1, out = -1;
  };
  std::vector<Pipe> pipes_;
};

}  // namespace heddle::tests

#endif  // TESTS_DRIVER_CRUMBS_H_
