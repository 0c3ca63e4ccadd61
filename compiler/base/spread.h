// SPDX-License-Identifier: Apache-2.0
// Work of one node of the host that several threads share. An operator says how
// many results there are that need nothing of each other:
//
//   Spread(rows, nanoseconds_of_a_row, [&](int64_t begin, int64_t end) { ...
//   });
//
// and its body computes each of them in whole, so bytes do not depend on who
// does. Who has threads lends them while it evaluates a node:
//
//   const CrewScope scope(&crew, stop);  // on this thread, until it goes
//
// Without a crew, inside of a body, or for little work the body is called once,
// on this thread. The caller takes part and waits for nobody who has not begun,
// so a crew whose threads are all busy costs nothing and blocks nothing.
#ifndef HEDDLE_COMPILER_BASE_SPREAD_H_
#define HEDDLE_COMPILER_BASE_SPREAD_H_

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/status/status.h"

namespace heddle::compiler {

using SpreadBody = std::function<void(int64_t begin, int64_t end)>;

// A call of Spread() under way.
class SharedWork {
 public:
  // `stop` is asked by every thread that takes part, as by PaceScope.
  SharedWork(int64_t count, int64_t piece, const SpreadBody& body,
             const std::function<absl::Status()>& stop, int64_t interval);

  // Takes part until nothing is left to begin; of any thread, any time.
  void Help() noexcept;
  // Whether nothing is left to begin.
  bool IsTaken();

 private:
  friend void Spread(int64_t count, double cost, const SpreadBody& body);

  bool Take(int64_t* begin, int64_t* end);
  // Pieces until none is left; an error is kept, and ends all.
  void RunPieces() noexcept;
  // Waits for those who have begun; throws what was kept.
  void Finish();

  const int64_t count_, piece_;
  const SpreadBody& body_;
  const std::function<absl::Status()>& stop_;
  const int64_t interval_;
  std::mutex mutex_;
  std::condition_variable over_;
  int64_t next_ = 0;
  int helpers_ = 0;
  bool closed_ = false;  // body and stop may be gone
  std::exception_ptr error_;
};

// Threads that help.
class Crew {
 public:
  virtual ~Crew() = default;
  // The most threads that take part, the caller's among them.
  virtual int threads() const = 0;
  // Others may call Help(), until Withdraw().
  virtual void Offer(const std::shared_ptr<SharedWork>& work) = 0;
  virtual void Withdraw(const std::shared_ptr<SharedWork>& work) noexcept = 0;
};

class CrewScope {
 public:
  // `stop` must outlive the scope, may be asked by several threads at a time,
  // and once it has refused must refuse for good.
  CrewScope(Crew* crew, const std::function<absl::Status()>& stop);
  CrewScope(Crew* crew, const std::function<absl::Status()>& stop,
            int64_t interval);
  ~CrewScope();
  CrewScope(const CrewScope&) = delete;
  CrewScope& operator=(const CrewScope&) = delete;

 private:
  friend void Spread(int64_t count, double cost, const SpreadBody& body);

  Crew* const crew_;
  const std::function<absl::Status()>& stop_;
  const int64_t interval_;
  CrewScope* const outer_;
};

// Less is not spread, in nanoseconds: some times what waking a thread and
// waiting for its end take, so that nothing is lost (FIGURES.md).
inline constexpr double kLeastToSpread = 100e3;
// Nor is a piece shorter than this, where results are.
inline constexpr double kLeastPiece = 20e3;

// body(begin, end) for parts of [0, count), each once. `cost`: about what one
// result takes, in nanoseconds. What the body throws this throws, after all
// that have begun are over.
void Spread(int64_t count, double cost, const SpreadBody& body);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_SPREAD_H_
