// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/segment_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "compiler/base/spread.h"

namespace heddle::session {
namespace {

using Parts = std::vector<SegmentPart>;

// A thread that does what parts of the card do, and calls back.
class FakeCard {
 public:
  FakeCard() : thread_([this] { Work(); }) {}
  ~FakeCard() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  void Queue(std::function<void()> job) {
    std::lock_guard<std::mutex> lock(mutex_);
    jobs_.push_back(std::move(job));
    changed_.notify_all();
  }
  std::atomic<bool> gone{false};

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !jobs_.empty() || stopping_; });
      if (jobs_.empty()) return;
      auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      job = nullptr;
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

// What the parts of a task do.
struct Plan {
  Parts parts;
  std::set<size_t> fails;     // these parts
  std::set<size_t> spins;     // until they are stopped
  size_t unplugs = SIZE_MAX;  // the card goes during this one
  unsigned busy = 0;          // one of so many Begin() finds no room; 0: none
  size_t meets = 0;           // so many threads take part in a node
  absl::Time deadline = absl::InfiniteFuture();
  absl::Duration host_time = absl::InfiniteDuration();
};

// Each part makes a number of those before it.
class Task : public SegmentTask {
 public:
  Task(Plan plan, FakeCard* card)
      : SegmentTask(plan.deadline, plan.host_time),
        plan_(std::move(plan)),
        card_(card),
        values_(plan_.parts.size()),
        done_(plan_.parts.size()),
        executed_(plan_.parts.size()) {}

  absl::Status Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return told_ > 0; });
    EXPECT_EQ(told_, 1);
    return status_;
  }
  bool WaitUntilSpinning() {
    for (int i = 0; i < 60'000 && !spinning_; ++i) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    return spinning_;
  }
  using SegmentTask::Hold;
  using SegmentTask::Spare;
  const std::vector<uint64_t>& values() const { return values_; }
  int asked() const { return asked_; }
  bool executed(size_t part) const { return executed_[part]; }
  std::function<void()> on_tell;

 protected:
  absl::Status Alive() override {
    return card_->gone ? absl::UnavailableError("gone") : absl::OkStatus();
  }
  absl::Status Compute(size_t part,
                       const std::function<absl::Status()>& stop) override {
    while (plan_.spins.count(part) > 0) {
      spinning_ = true;
      ++asked_;
      if (absl::Status s = stop(); !s.ok()) return s;
    }
    // Of some parts a node that others may help with.
    if (part % 3 == 0) {
      std::atomic<int> done{0};
      compiler::Spread(50, 1e6, [&done](int64_t begin, int64_t end) {
        done += static_cast<int>(end - begin);
      });
      EXPECT_EQ(done, 50);
    }
    if (plan_.meets > 0) Meet();
    return Execute(part);
  }
  absl::StatusOr<bool> Begin(
      size_t part, std::function<void(const absl::Status&)> ended) override {
    if (plan_.busy > 0 && ++begun_ % plan_.busy == 0) return false;
    if (card_->gone) return absl::UnavailableError("gone");
    card_->Queue([this, part, ended = std::move(ended)] {
      ended(card_->gone ? absl::UnavailableError("gone") : Execute(part));
    });
    return true;
  }
  void Over(size_t part) noexcept override { done_[part] = true; }
  void Finish(const absl::Status& status) noexcept override {
    EXPECT_EQ(executing_, 0);
    std::lock_guard<std::mutex> lock(mutex_);
    status_ = status;
  }
  void Tell(const absl::Status& status) noexcept override {
    if (on_tell != nullptr) on_tell();
    std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_EQ(status, status_);
    ++told_;
    changed_.notify_all();
  }

 private:
  // Results that wait until so many threads are there.
  void Meet() {
    std::mutex mutex;
    std::set<std::thread::id> there;
    compiler::Spread(100, 1e6, [&](int64_t, int64_t) {
      for (int i = 0; i < 60'000; ++i) {
        {
          std::lock_guard<std::mutex> lock(mutex);
          there.insert(std::this_thread::get_id());
          if (there.size() >= plan_.meets) return;
        }
        absl::SleepFor(absl::Milliseconds(1));
      }
    });
    EXPECT_EQ(there.size(), plan_.meets);
  }

  absl::Status Execute(size_t part) {
    ++executing_;
    uint64_t value = part + 1;
    for (size_t before : plan_.parts[part].before) {
      EXPECT_TRUE(done_[before]) << before << " before " << part;
      value = (value ^ values_[before]) * 0x9e3779b97f4a7c15u;
    }
    values_[part] = value;
    EXPECT_FALSE(executed_[part].exchange(true)) << "again";
    if (part == plan_.unplugs) card_->gone = true;
    --executing_;
    if (plan_.fails.count(part) == 0) return absl::OkStatus();
    return absl::InternalError(std::to_string(part));
  }

  const Plan plan_;
  FakeCard* const card_;
  std::vector<uint64_t> values_;
  std::vector<std::atomic<bool>> done_, executed_;
  std::atomic<int> executing_{0}, asked_{0};
  std::atomic<bool> spinning_{false};
  unsigned begun_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  int told_ = 0;
  absl::Status status_;
};

std::shared_ptr<SegmentPool> Open(const Parts& parts, size_t threads) {
  auto pool = SegmentPool::Start(parts, threads);
  EXPECT_TRUE(pool.ok()) << pool.status();
  return pool.ok() ? *pool : nullptr;
}

Parts RandomParts(std::mt19937* random) {
  Parts parts(1 + (*random)() % 12);
  for (size_t p = 0; p < parts.size(); ++p) {
    parts[p].host = (*random)() % 2 == 0;
    for (size_t before = 0; before < p; ++before) {
      if ((*random)() % 4 == 0) parts[p].before.push_back(before);
    }
  }
  return parts;
}

// What executing the parts in their order gives.
std::vector<uint64_t> InOrder(const Parts& parts) {
  std::vector<uint64_t> values;
  for (size_t p = 0; p < parts.size(); ++p) {
    uint64_t value = p + 1;
    for (size_t before : parts[p].before) {
      value = (value ^ values[before]) * 0x9e3779b97f4a7c15u;
    }
    values.push_back(value);
  }
  return values;
}

class RandomDags : public testing::TestWithParam<size_t> {};

TEST_P(RandomDags, ComputeWhatTheirOrderDoes) {
  std::mt19937 random(1);
  FakeCard card;
  for (int i = 0; i < 100; ++i) {
    Plan plan;
    plan.parts = RandomParts(&random);
    plan.busy = random() % 4 == 0 ? 3 : 0;
    const auto pool = Open(plan.parts, GetParam());
    ASSERT_NE(pool, nullptr);
    std::vector<std::shared_ptr<Task>> tasks;
    for (int t = 0; t < 6; ++t) {
      tasks.push_back(std::make_shared<Task>(plan, &card));
      ASSERT_TRUE(pool->Add(tasks.back(), 6));
    }
    const std::vector<uint64_t> expected = InOrder(plan.parts);
    for (const auto& task : tasks) {
      EXPECT_TRUE(task->Wait().ok());
      EXPECT_EQ(task->values(), expected);
    }
    pool->Close(false);
  }
}

// Of several that fail it is always the first, as if one part were executed
// after another.
TEST_P(RandomDags, EndWithTheFirstError) {
  std::mt19937 random(2);
  FakeCard card;
  for (int i = 0; i < 100; ++i) {
    Plan plan;
    plan.parts = RandomParts(&random);
    for (size_t p = 0; p < plan.parts.size(); ++p) {
      if (random() % 3 == 0) plan.fails.insert(p);
    }
    // What is behind the first error may take as long as it likes: it is
    // stopped. A thread must be left for what fails.
    if (!plan.fails.empty()) {
      const size_t first = *plan.fails.begin();
      for (size_t p = first + 1; p < plan.parts.size(); ++p) {
        if (plan.spins.size() + 1 < GetParam() && plan.parts[p].host &&
            random() % 2 == 0) {
          plan.spins.insert(p);
        }
      }
    }
    const auto pool = Open(plan.parts, GetParam());
    ASSERT_NE(pool, nullptr);
    for (int t = 0; t < 3; ++t) {
      const auto task = std::make_shared<Task>(plan, &card);
      ASSERT_TRUE(pool->Add(task, 3));
      const absl::Status status = task->Wait();
      if (plan.fails.empty()) {
        EXPECT_TRUE(status.ok()) << status;
      } else {
        EXPECT_EQ(status.message(), std::to_string(*plan.fails.begin()));
      }
    }
    pool->Close(false);
  }
}

TEST_P(RandomDags, AnUnplugEndsThem) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    FakeCard card;
    Plan plan;
    plan.parts = RandomParts(&random);
    const auto pool = Open(plan.parts, GetParam());
    ASSERT_NE(pool, nullptr);
    std::vector<std::shared_ptr<Task>> tasks;
    for (int t = 0; t < 5; ++t) {
      plan.unplugs = t == 2 ? random() % plan.parts.size() : SIZE_MAX;
      tasks.push_back(std::make_shared<Task>(plan, &card));
      ASSERT_TRUE(pool->Add(tasks.back(), 5));
    }
    for (int t = 0; t < 5; ++t) {
      const absl::Status status = tasks[t]->Wait();
      EXPECT_TRUE(absl::IsUnavailable(status) || (t != 2 && status.ok()))
          << status;
    }
    pool->Close(false);
  }
}

TEST_P(RandomDags, MayBeCancelledAtAnyTime) {
  std::mt19937 random(4);
  FakeCard card;
  int cancelled = 0;
  for (int i = 0; i < 100; ++i) {
    Plan plan;
    plan.parts = RandomParts(&random);
    const auto pool = Open(plan.parts, GetParam());
    ASSERT_NE(pool, nullptr);
    std::vector<std::shared_ptr<Task>> tasks;
    for (int t = 0; t < 5; ++t) {
      tasks.push_back(std::make_shared<Task>(plan, &card));
      ASSERT_TRUE(pool->Add(tasks.back(), 5));
    }
    pool->Cancel(tasks[random() % 5].get());
    if (i % 2 == 0) pool->Close(false);
    for (const auto& task : tasks) {
      const absl::Status status = task->Wait();
      EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
      if (absl::IsCancelled(status)) ++cancelled;
    }
    pool->Close(false);
  }
  EXPECT_GT(cancelled, 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, RandomDags, testing::Values(1, 4));

Plan Spinning() {
  Plan plan;
  plan.parts.resize(1);
  plan.spins = {0};
  return plan;
}

TEST(SegmentPool, CancelsWhatIsComputedAndWhatWaits) {
  FakeCard card;
  const auto pool = Open(Spinning().parts, 1);
  ASSERT_NE(pool, nullptr);
  const auto first = std::make_shared<Task>(Spinning(), &card);
  const auto second = std::make_shared<Task>(Spinning(), &card);
  ASSERT_TRUE(pool->Add(first, 2) && pool->Add(second, 2));
  EXPECT_FALSE(pool->Add(std::make_shared<Task>(Spinning(), &card), 2));
  ASSERT_TRUE(first->WaitUntilSpinning());
  // The only thread computes the other one.
  pool->Cancel(second.get());
  EXPECT_TRUE(absl::IsCancelled(second->Wait()));
  EXPECT_EQ(second->asked(), 0);
  pool->Cancel(first.get());
  EXPECT_TRUE(absl::IsCancelled(first->Wait()));
  pool->Close(false);
}

TEST(SegmentPool, ThreadsWithoutAPartHelp) {
  FakeCard card;
  Plan plan;
  plan.parts.resize(1);
  const auto pool = Open(plan.parts, 3);
  ASSERT_NE(pool, nullptr);
  plan.meets = 3;
  const auto together = std::make_shared<Task>(plan, &card);
  ASSERT_TRUE(pool->Add(together, 1));
  EXPECT_TRUE(together->Wait().ok());
  // Those that have one are not waited for.
  const auto spins = std::make_shared<Task>(Spinning(), &card);
  ASSERT_TRUE(pool->Add(spins, 2));
  ASSERT_TRUE(spins->WaitUntilSpinning());
  plan.meets = 2;
  const auto fewer = std::make_shared<Task>(plan, &card);
  ASSERT_TRUE(pool->Add(fewer, 2));
  EXPECT_TRUE(fewer->Wait().ok());
  pool->Cancel(spins.get());
  EXPECT_TRUE(absl::IsCancelled(spins->Wait()));
  pool->Close(false);
}

TEST(SegmentPool, CloseEndsAll) {
  FakeCard card;
  const auto pool = Open(Spinning().parts, 2);
  ASSERT_NE(pool, nullptr);
  std::vector<std::shared_ptr<Task>> tasks;
  for (int t = 0; t < 10; ++t) {
    tasks.push_back(std::make_shared<Task>(Spinning(), &card));
    ASSERT_TRUE(pool->Add(tasks.back(), 10));
  }
  ASSERT_TRUE(tasks[1]->WaitUntilSpinning());
  pool->Close(false);
  for (const auto& task : tasks) EXPECT_TRUE(absl::IsCancelled(task->Wait()));
}

TEST(SegmentPool, CloseOnAThreadOfItsOwn) {
  FakeCard card;
  auto pool = Open(Spinning().parts, 1);
  ASSERT_NE(pool, nullptr);
  const auto first = std::make_shared<Task>(Spinning(), &card);
  const auto second = std::make_shared<Task>(Spinning(), &card);
  std::atomic<bool> own{false};
  first->on_tell = [&] {
    own = pool->OnThread();
    pool->Close(false);
    pool.reset();
  };
  ASSERT_TRUE(pool->Add(first, 2) && pool->Add(second, 2));
  EXPECT_FALSE(pool->OnThread());
  pool->Cancel(first.get());
  EXPECT_TRUE(absl::IsCancelled(first->Wait()));
  EXPECT_TRUE(absl::IsCancelled(second->Wait()));
  EXPECT_TRUE(own);
}

TEST(SegmentPool, LimitsTheTimeOfTheHost) {
  FakeCard card;
  Plan plan = Spinning();
  const auto pool = Open(plan.parts, 1);
  ASSERT_NE(pool, nullptr);
  plan.host_time = absl::Milliseconds(5);
  auto task = std::make_shared<Task>(plan, &card);
  ASSERT_TRUE(pool->Add(task, 1));
  absl::Status status = task->Wait();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_NE(status.message().find("host_time"), std::string::npos);
  plan.host_time = absl::InfiniteDuration();
  plan.deadline = absl::Now() + absl::Milliseconds(5);
  task = std::make_shared<Task>(plan, &card);
  ASSERT_TRUE(pool->Add(task, 1));
  status = task->Wait();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_NE(status.message().find("RunOptions.deadline"), std::string::npos);
  pool->Close(false);
}

// A deadline ends also what no thread has come to.
TEST(SegmentPool, ADeadlineEndsWhatWaits) {
  FakeCard card;
  Plan plan = Spinning();
  const auto pool = Open(plan.parts, 1);
  ASSERT_NE(pool, nullptr);
  const auto first = std::make_shared<Task>(plan, &card);
  plan.deadline = absl::Now() + absl::Milliseconds(5);
  const auto second = std::make_shared<Task>(plan, &card);
  ASSERT_TRUE(pool->Add(first, 2) && pool->Add(second, 2));
  EXPECT_TRUE(absl::IsDeadlineExceeded(second->Wait()));
  EXPECT_EQ(second->asked(), 0);
  pool->Close(false);
}

// The only thread of the host computes until it is cancelled, and the card has
// done its part before.
TEST(SegmentPool, HostAndCardOverlap) {
  FakeCard card;
  Plan plan;
  plan.parts.resize(3);
  plan.parts[1].host = false;
  plan.parts[2].before = {0, 1};
  const auto pool = Open(plan.parts, 1);
  ASSERT_NE(pool, nullptr);
  plan.spins = {0};
  plan.fails = {1};
  const auto task = std::make_shared<Task>(plan, &card);
  ASSERT_TRUE(pool->Add(task, 1));
  ASSERT_TRUE(task->WaitUntilSpinning());
  for (int i = 0; i < 60'000 && !task->executed(1); ++i) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_TRUE(task->executed(1));
  pool->Cancel(task.get());
  // Before the part of the card, which failed.
  EXPECT_TRUE(absl::IsCancelled(task->Wait()));
  pool->Close(false);
}

bool WaitUntilExecuted(const Task& task, size_t part) {
  for (int i = 0; i < 60'000 && !task.executed(part); ++i) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  return task.executed(part);
}

// Of both kinds; other parts, and other tasks, do not wait.
TEST(SegmentPool, HeldPartsWaitForTheirRelease) {
  FakeCard card;
  Plan plan;
  plan.parts.resize(5);
  plan.parts[1].host = false;
  plan.parts[3].host = false;
  plan.parts[4].before = {0, 1, 2, 3};
  const auto pool = Open(plan.parts, 1);
  ASSERT_NE(pool, nullptr);
  const auto held = std::make_shared<Task>(plan, &card);
  held->Hold({0, 1, 4});
  ASSERT_TRUE(pool->Add(held, 2));
  EXPECT_TRUE(WaitUntilExecuted(*held, 2) && WaitUntilExecuted(*held, 3));
  const auto other = std::make_shared<Task>(plan, &card);
  ASSERT_TRUE(pool->Add(other, 2));
  EXPECT_TRUE(other->Wait().ok());
  EXPECT_FALSE(held->executed(0) || held->executed(1) || held->executed(4));
  pool->Release(held.get());
  EXPECT_TRUE(held->Wait().ok());
  EXPECT_EQ(held->values(), InOrder(plan.parts));
  pool->Close(false);
}

// Before it has begun, too.
TEST(SegmentPool, AQueuedTaskMayBeReleased) {
  FakeCard card;
  Plan plan;
  plan.parts.resize(2);
  plan.parts[1].before = {0};
  const auto pool = Open(plan.parts, 1);
  ASSERT_NE(pool, nullptr);
  std::vector<std::shared_ptr<Task>> tasks;
  for (int t = 0; t < 20; ++t) {
    tasks.push_back(std::make_shared<Task>(plan, &card));
    tasks.back()->Hold({0});
    ASSERT_TRUE(pool->Add(tasks.back(), 20));
  }
  // The last one is far from its turn.
  for (auto it = tasks.rbegin(); it != tasks.rend(); ++it) {
    pool->Release(it->get());
  }
  for (const auto& task : tasks) EXPECT_TRUE(task->Wait().ok());
  pool->Close(false);
}

// It can be ended while it waits; a later error is not its status.
TEST(SegmentPool, ATaskThatIsHeldEndsWithOneStatus) {
  FakeCard card;
  Plan plan;
  plan.parts.resize(2);
  plan.fails = {1};
  const auto pool = Open(plan.parts, 1);
  ASSERT_NE(pool, nullptr);
  const auto start = [&] {
    const auto task = std::make_shared<Task>(plan, &card);
    task->Hold({0});
    EXPECT_TRUE(pool->Add(task, 9));
    EXPECT_TRUE(WaitUntilExecuted(*task, 1));
    return task;
  };
  const auto cancelled = start();
  pool->Cancel(cancelled.get());
  EXPECT_TRUE(absl::IsCancelled(cancelled->Wait()));
  const auto fails = start();
  pool->Release(fails.get());
  EXPECT_EQ(fails->Wait().message(), "1");
  plan.deadline = absl::Now() + absl::Milliseconds(20);
  const auto late = std::make_shared<Task>(plan, &card);
  late->Hold({0});
  ASSERT_TRUE(pool->Add(late, 9));
  EXPECT_TRUE(absl::IsDeadlineExceeded(late->Wait()));
  plan.deadline = absl::InfiniteFuture();
  plan.fails = {};
  const auto closed = start();
  const auto both = start();
  card.gone = true;
  pool->Release(both.get());
  EXPECT_TRUE(absl::IsUnavailable(both->Wait()));
  pool->Close(false);
  EXPECT_TRUE(absl::IsUnavailable(closed->Wait()));
}

TEST(SegmentPool, ATaskMayBeWithoutTheLastParts) {
  FakeCard card;
  Plan plan;
  plan.parts.resize(4);
  plan.parts[1].before = {0};
  plan.parts[2] = {false, {0, 1}};
  plan.parts[3] = {false, {0, 1, 2}};
  const auto pool = Open(plan.parts, 2);
  ASSERT_NE(pool, nullptr);
  for (const size_t spared : {0, 1, 2}) {
    const auto task = std::make_shared<Task>(plan, &card);
    task->Spare(spared);
    ASSERT_TRUE(pool->Add(task, 1));
    EXPECT_TRUE(task->Wait().ok());
    for (size_t p = 0; p < 4; ++p) EXPECT_EQ(task->executed(p), p + spared < 4);
  }
  pool->Close(false);
}

TEST(SegmentPool, KnowsItsThreads) {
  FakeCard card;
  Plan plan;
  plan.parts.resize(1);
  const auto pool = Open(plan.parts, 1);
  ASSERT_NE(pool, nullptr);
  const auto task = std::make_shared<Task>(plan, &card);
  std::atomic<bool> on_thread{false};
  task->on_tell = [&] { on_thread = SegmentPool::OnAnyThread(); };
  ASSERT_TRUE(pool->Add(task, 1));
  EXPECT_TRUE(task->Wait().ok());
  EXPECT_TRUE(on_thread);
  EXPECT_FALSE(SegmentPool::OnAnyThread());
  pool->Close(false);
}

}  // namespace
}  // namespace heddle::session
