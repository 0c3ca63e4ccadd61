// SPDX-License-Identifier: Apache-2.0
// Fixture of all cases: a file of the card, and after each case a look at what
// it left behind.
#ifndef TESTS_UAPI_UAPI_TEST_H_
#define TESTS_UAPI_UAPI_TEST_H_

#include <functional>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/client.h"
#include "tests/uapi/streams.h"

namespace heddle::uapi {

class UapiTest : public ::testing::Test {
 protected:
  void SetUp() override;
  // Closes the file; no job and no device memory may be left.
  void TearDown() override;

  std::unique_ptr<Client> Open();
  Client* c() const { return client_.get(); }

  std::unique_ptr<Client> client_;
};

// Runs `body` in a new process; the test fails if it does or if it takes a
// minute. Clients of this process must not be used there.
void InChild(const std::function<void()>& body);

// Polls until `condition` holds; false after 20 s.
bool Eventually(const std::function<bool()>& condition);

// Keeps the card busy: queues four jobs or more that take about `ms` together.
// Returns the last one's number. While the one before it has not ended, nothing
// of the same or a lower priority that comes later is with the card.
class Load {
 public:
  explicit Load(Client* c);
  uint64_t Queue(uint32_t context, uint64_t ms);

 private:
  Client* const c_;
  uint32_t bo_;
  uint64_t step_ns_;
  uint32_t max_steps_;
};

// What `look` returns while the last of the jobs of a load on `context` has not
// ended, e.g. -ETIME. This process may sleep longer than the load lasts: if
// `look` finds that all is over (0), it looks at a longer load.
int WhileBusy(Client* c, uint32_t context,
              const std::function<int(uint64_t last)>& look);

// Values that set every bit of a 32-bit field alone, for fields that must be
// zero.
std::vector<uint32_t> EachBit();

}  // namespace heddle::uapi

#endif  // TESTS_UAPI_UAPI_TEST_H_
