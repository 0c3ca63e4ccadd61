// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/spread.h"

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "compiler/base/pace.h"
#include "gtest/gtest.h"

namespace heddle::compiler {
namespace {

constexpr double kMuch = 1e6;  // of one result

// Threads of its own for each offer; some come late, or never.
class TestCrew : public Crew {
 public:
  TestCrew(int threads, bool helps) : threads_(threads), helps_(helps) {}
  ~TestCrew() override {
    for (std::thread& thread : running_) thread.join();
  }
  int threads() const override { return threads_; }
  void Offer(const std::shared_ptr<SharedWork>& work) override {
    ++offers_;
    for (int i = 1; i < threads_ && helps_; ++i) {
      running_.emplace_back([work] { work->Help(); });
    }
  }
  void Withdraw(const std::shared_ptr<SharedWork>& work) noexcept override {
    EXPECT_TRUE(work->IsTaken());
    ++withdrawn_;
  }
  int offers() const { return offers_; }
  int withdrawn() const { return withdrawn_; }

 private:
  const int threads_;
  const bool helps_;
  int offers_ = 0, withdrawn_ = 0;
  std::vector<std::thread> running_;
};

const std::function<absl::Status()> kGoOn = [] { return absl::OkStatus(); };

TEST(Spread, EachResultOnce) {
  for (bool helps : {false, true}) {
    for (int64_t count : {1, 2, 5, 1000}) {
      TestCrew crew(4, helps);
      std::vector<std::atomic<int>> done(static_cast<size_t>(count));
      {
        const CrewScope scope(&crew, kGoOn);
        Spread(count, kMuch, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++done[i];
        });
      }
      for (const auto& times : done) EXPECT_EQ(times, 1);
      EXPECT_EQ(crew.offers(), count == 1 ? 0 : 1);
      EXPECT_EQ(crew.withdrawn(), crew.offers());
    }
  }
}

TEST(Spread, LittleIsNot) {
  TestCrew crew(4, true);
  const CrewScope scope(&crew, kGoOn);
  int calls = 0;
  Spread(100, 1, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(end - begin, 100);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(crew.offers(), 0);
  Spread(0, kMuch, [](int64_t, int64_t) { FAIL(); });
}

TEST(Spread, BodiesDoNotSpread) {
  TestCrew crew(3, true);
  const CrewScope scope(&crew, kGoOn);
  std::atomic<int> inner{0};
  Spread(8, kMuch, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Spread(8, kMuch,
             [&](int64_t b, int64_t e) { inner += static_cast<int>(e - b); });
    }
  });
  EXPECT_EQ(inner, 64);
  EXPECT_EQ(crew.offers(), 1);
}

TEST(Spread, AnErrorEndsAll) {
  for (bool helps : {false, true}) {
    TestCrew crew(4, helps);
    const CrewScope scope(&crew, kGoOn);
    EXPECT_THROW(Spread(100, kMuch,
                        [](int64_t begin, int64_t) {
                          if (begin > 0) throw std::bad_alloc();
                        }),
                 std::bad_alloc);
    EXPECT_EQ(crew.withdrawn(), 1);
  }
}

TEST(Spread, EveryThreadAsksWhetherToGoOn) {
  TestCrew crew(4, true);
  std::atomic<int> asked{0};
  const std::function<absl::Status()> stop = [&] {
    return ++asked > 50 ? absl::CancelledError("enough") : absl::OkStatus();
  };
  const CrewScope crew_scope(&crew, stop, 10);
  const PaceScope scope(stop, 10);
  EXPECT_THROW(Spread(1000, kMuch,
                      [](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) Pace(10);
                      }),
               Interrupted);
  EXPECT_EQ(scope.status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace heddle::compiler
