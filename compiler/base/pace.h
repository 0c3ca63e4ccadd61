// SPDX-License-Identifier: Apache-2.0
// How to end a long host computation from outside, in the middle of an
// operator. Loops announce their work with Pace(); the caller is asked, every
// kPaceInterval units of work, whether to continue:
//
//   PaceScope scope(stop);  // for this thread, until destroyed
//   try { ... EvaluateNode(...) ... }
//   catch (const Interrupted&) { return scope.status(); }
//
// Interruption unwinds like std::bad_alloc, which every operator must survive
// anyway: no operator can forget to propagate it, and nobody sees a partial
// result. Without a scope nothing is asked, as in the compiler.
//
// A unit is about an element or a multiplication, a nanosecond. Code that
// announces nothing copies contiguously: at most one tensor.
#ifndef HEDDLE_COMPILER_BASE_PACE_H_
#define HEDDLE_COMPILER_BASE_PACE_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"

namespace heddle::compiler {

// Some milliseconds.
inline constexpr int64_t kPaceInterval = int64_t{1} << 20;

// What Pace() throws.
struct Interrupted {};

class PaceScope {
 public:
  // `stop` is asked on this thread, and must outlive the scope. After an error
  // it is asked no more: every further Pace() throws.
  explicit PaceScope(const std::function<absl::Status()>& stop,
                     int64_t interval = kPaceInterval)
      : stop_(stop), interval_(interval), left_(interval), outer_(current_) {
    current_ = this;
  }
  ~PaceScope() { current_ = outer_; }
  PaceScope(const PaceScope&) = delete;
  PaceScope& operator=(const PaceScope&) = delete;

  // The error that ended the work, or OK.
  const absl::Status& status() const { return status_; }

 private:
  friend void Pace(int64_t units);
  void Ask() {
    left_ = interval_;
    if (status_.ok()) status_ = stop_();
    if (!status_.ok()) throw Interrupted();
  }

  // In the thread's own block, also where a program loads the library later: it
  // takes 8 bytes of what the C library keeps for that. Otherwise the first use
  // on a thread would allocate, and end the process where there is no memory.
  static inline thread_local PaceScope* current_
      __attribute__((tls_model("initial-exec"))) = nullptr;

  const std::function<absl::Status()>& stop_;
  const int64_t interval_;
  int64_t left_;
  PaceScope* const outer_;
  absl::Status status_;
};

// So many units are done next.
inline void Pace(int64_t units) {
  PaceScope* const scope = PaceScope::current_;
  if (scope == nullptr) return;
  scope->left_ -= units;
  if (scope->left_ <= 0) scope->Ask();
}

// In a loop of single elements, whose index is `i`.
template <typename Index>
void PaceAt(Index i) {
  constexpr Index kStride = 4096;
  if ((i & (kStride - 1)) == 0) Pace(kStride);
}

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BASE_PACE_H_
