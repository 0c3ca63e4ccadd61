// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz_ioctl/runner.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "drm/heddle_drm.h"
#include "tests/fuzz_ioctl/generator.h"

namespace heddle::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// Ends the process when a call takes too long: the thread cannot be ended.
class Watchdog {
 public:
  Watchdog(int threads, int limit_s) : slots_(threads), limit_s_(limit_s) {
    thread_ = std::thread([this] { Watch(); });
  }
  ~Watchdog() {
    stop_ = true;
    thread_.join();
  }
  struct Slot {
    std::atomic<uint64_t> steps{0};
    std::atomic<const char*> call{""};
    std::atomic<bool> busy{false};
  };
  Slot& slot(int thread) { return slots_[static_cast<size_t>(thread)]; }

 private:
  void Watch() {
    std::vector<uint64_t> steps(slots_.size());
    std::vector<Clock::time_point> since(slots_.size(), Clock::now());
    while (!stop_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      const Clock::time_point now = Clock::now();
      for (size_t i = 0; i < slots_.size(); ++i) {
        const uint64_t at = slots_[i].steps;
        if (at != steps[i] || !slots_[i].busy) {
          steps[i] = at;
          since[i] = now;
        } else if (now - since[i] > std::chrono::seconds(limit_s_)) {
          std::fprintf(stderr,
                       "fuzz_ioctl: thread %zu, step %llu: the call after %s "
                       "does not return\n",
                       i, static_cast<unsigned long long>(at),
                       slots_[i].call.load());
          std::abort();
        }
      }
    }
  }

  std::vector<Slot> slots_;
  const int limit_s_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

template <typename T>
bool Query(hal::Transport* transport, uint32_t type, T* data) {
  drm_heddle_query args = {};
  args.type = type;
  args.data.ptr = reinterpret_cast<uintptr_t>(data);
  args.data.count = 1;
  args.data.stride = sizeof(*data);
  return transport->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args) == 0;
}

class Runner {
 public:
  Runner(Target* target, const Options& options)
      : target_(target),
        options_(options),
        watchdog_(options.threads, options.limit_s) {}

  Report Go() {
    const Clock::time_point start = Clock::now();
    if (!Idle(&mapped_)) return report_;
    descriptors_ = target_->Descriptors();
    number_ = options_.first;
    for (; report_.sequences < options_.sequences && report_.failure.empty();
         ++number_) {
      if (options_.seconds > 0 &&
          Clock::now() - start > std::chrono::seconds(options_.seconds)) {
        break;
      }
      Sequence();
      ++report_.sequences;
      if (options_.progress && report_.sequences % 100 == 0) {
        std::fprintf(stderr, "fuzz_ioctl: %llu sequences, %llu ioctls\n",
                     static_cast<unsigned long long>(report_.sequences),
                     static_cast<unsigned long long>(report_.calls));
      }
    }
    return report_;
  }

 private:
  void Fail(const std::string& why) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (report_.failure.empty()) {
      report_.failure = absl::StrCat(
          "sequence ", number_, ", seed ", options_.seed, ": ", why,
          disturbances_.empty() ? "" : "; the card: ", disturbances_);
    }
    stop_ = true;
  }

  uint64_t SeedOf(uint64_t part) const {
    return (options_.seed * 1000003 + number_) * 64 + part;
  }

  void Thread(int index, const std::vector<File*>& files) {
    Generator generator(SeedOf(static_cast<uint64_t>(index)), files, &gone_,
                        target_->WaitsOfLinux66());
    Watchdog::Slot& slot = watchdog_.slot(index);
    slot.busy = true;
    for (int i = 0; i < options_.steps && !stop_; ++i) {
      const std::string wrong = generator.Step();
      slot.call = generator.last();
      ++slot.steps;
      ++calls_;
      if (!wrong.empty()) {
        Fail(absl::StrCat("thread ", index, ", step ", i, ": ", wrong));
      }
    }
    slot.busy = false;
  }

  void Sequence() {
    std::vector<std::unique_ptr<hal::Transport>> open;
    std::vector<std::unique_ptr<File>> files;
    std::vector<File*> all;
    for (int i = 0; i < options_.files; ++i) {
      open.push_back(target_->Open());
      if (open.back() == nullptr) return Fail("the card cannot be opened");
      files.push_back(std::make_unique<File>());
      files.back()->transport = open.back().get();
      all.push_back(files.back().get());
    }
    gone_ = false;
    stop_ = false;
    disturbances_.clear();
    calls_ = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < options_.threads; ++i) {
      threads.emplace_back([this, i, &all] { Thread(i, all); });
    }
    Values values(SeedOf(63));
    Disturb(&values);
    if (values.Once(4)) {  // a file is closed under its users
      gone_ = true;
      open[values.Below(open.size())]->Shutdown();
    }
    for (std::thread& thread : threads) thread.join();
    report_.calls += calls_;
    files.clear();
    open.clear();
    target_->Settle();
    uint64_t mapped = 0;
    if (!report_.failure.empty() || !Idle(&mapped)) return;
    if (mapped != mapped_) {
      Fail(absl::StrCat(mapped, " bytes are still mapped, before: ", mapped_));
    }
    const Clock::time_point limit =
        Clock::now() + std::chrono::seconds(options_.limit_s);
    uint64_t descriptors = 0;
    while ((descriptors = target_->Descriptors()) > descriptors_ &&
           Clock::now() < limit) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (descriptors > descriptors_) {
      Fail(absl::StrCat(descriptors,
                        " descriptors are open, before: ", descriptors_));
    }
  }

  void Disturb(Values* values) {
    const auto pause = [&] {
      usleep(static_cast<useconds_t>(values->Below(4000)));
    };
    for (uint64_t n = values->Below(4); n > 0 && options_.disturb && !stop_;
         --n) {
      pause();
      if (values->Once(2) && target_->SendRaw(values)) {
        ++report_.malformed;
        continue;
      }
      // Said before: a call may see it as soon as it happens. What leaves the
      // card in place takes that back; the calls between are judged mildly.
      const bool before = gone_.exchange(true);
      std::string what;
      const Target::Effect effect = target_->Disturb(values, &what);
      {
        std::lock_guard<std::mutex> lock(mutex_);
        absl::StrAppend(&disturbances_, disturbances_.empty() ? "" : ", ",
                        what);
      }
      if (effect == Target::Effect::kRemoved) {
        ++report_.removals;
        return;
      }
      if (effect == Target::Effect::kWorks) gone_ = before;
    }
  }

  // Waits until the card has nothing to do and nobody owns anything.
  bool Idle(uint64_t* mapped) {
    const Clock::time_point limit =
        Clock::now() + std::chrono::seconds(options_.limit_s);
    drm_heddle_memory_info memory = {};
    drm_heddle_counters counters = {};
    const char* why = "the card cannot be opened";
    while (Clock::now() < limit) {
      if (const auto observer = target_->Open()) {
        why = "a query fails";
        if (Query(observer.get(), DRM_HEDDLE_QUERY_MEMORY, &memory) &&
            Query(observer.get(), DRM_HEDDLE_QUERY_COUNTERS, &counters)) {
          why = "it is not idle";
          *mapped = target_->MappedBytes();
          const bool clean =
              memory.used == 0 && memory.used_here == 0 && counters.queued == 0;
          if (clean && (report_.sequences == 0 || *mapped == mapped_)) {
            return true;
          }
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    Fail(absl::StrCat(why, " although all files are closed: ", memory.used,
                      " bytes used, ", counters.queued, " jobs, ", *mapped,
                      " bytes mapped (before: ", mapped_, ")"));
    return false;
  }

  Target* const target_;
  const Options options_;
  Watchdog watchdog_;
  Report report_;
  uint64_t mapped_ = 0, descriptors_ = 0;
  uint64_t number_ = 0;  // of the sequence
  std::mutex mutex_;
  std::string disturbances_;  // of the sequence
  std::atomic<bool> gone_{false}, stop_{false};
  std::atomic<uint64_t> calls_{0};
};

}  // namespace

Report Run(Target* target, const Options& options) {
  return Runner(target, options).Go();
}

}  // namespace heddle::fuzz
