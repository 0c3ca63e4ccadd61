// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/spread.h"

#include <algorithm>
#include <limits>

#include "compiler/base/pace.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// As the one of compiler/base/pace.h.
thread_local CrewScope* current __attribute__((tls_model("initial-exec"))) =
    nullptr;

// Pieces for each thread: who begins late, or is interrupted, leaves more to
// the others.
constexpr int64_t kPiecesEach = 4;

// Bodies do not spread what is a part already.
class Alone {
 public:
  Alone() : outer_(current) { current = nullptr; }
  ~Alone() { current = outer_; }

 private:
  CrewScope* const outer_;
};

}  // namespace

SharedWork::SharedWork(int64_t count, int64_t piece, const SpreadBody& body,
                       const std::function<absl::Status()>& stop,
                       int64_t interval)
    : count_(count),
      piece_(piece),
      body_(body),
      stop_(stop),
      interval_(interval) {}

bool SharedWork::Take(int64_t* begin, int64_t* end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (error_ != nullptr || next_ >= count_) return false;
  *begin = next_;
  *end = next_ + std::min(piece_, count_ - next_);
  next_ = *end;
  return true;
}

bool SharedWork::IsTaken() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_ != nullptr || next_ >= count_;
}

void SharedWork::RunPieces() noexcept {
  const Alone alone;
  try {
    int64_t begin, end;
    while (Take(&begin, &end)) body_(begin, end);
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (error_ == nullptr) error_ = std::current_exception();
  }
}

void SharedWork::Help() noexcept {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || error_ != nullptr || next_ >= count_) return;
    ++helpers_;
  }
  {
    const model::ScopedFpEnvironment environment;
    const PaceScope scope(stop_, interval_);
    RunPieces();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (--helpers_ == 0) over_.notify_all();
}

void SharedWork::Finish() {
  std::exception_ptr error;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    over_.wait(lock, [this] { return helpers_ == 0; });
    closed_ = true;
    error.swap(error_);
  }
  if (error == nullptr) return;
  try {
    std::rethrow_exception(error);
  } catch (const Interrupted&) {
    // Perhaps of another thread: this one's scope learns it, too.
    Pace(std::numeric_limits<int64_t>::max() / 2);
    throw;
  }
}

CrewScope::CrewScope(Crew* crew, const std::function<absl::Status()>& stop)
    : CrewScope(crew, stop, kPaceInterval) {}

CrewScope::CrewScope(Crew* crew, const std::function<absl::Status()>& stop,
                     int64_t interval)
    : crew_(crew), stop_(stop), interval_(interval), outer_(current) {
  current = this;
}

CrewScope::~CrewScope() { current = outer_; }

void Spread(int64_t count, double cost, const SpreadBody& body) {
  if (count <= 0) return;
  const CrewScope* const scope = current;
  const double total = static_cast<double>(count) * cost;
  const int64_t threads = scope == nullptr ? 1 : scope->crew_->threads();
  if (threads < 2 || count == 1 || total < kLeastToSpread) {
    body(0, count);
    return;
  }
  const int64_t most = std::min<int64_t>(
      count, std::min<int64_t>(threads * kPiecesEach,
                               static_cast<int64_t>(total / kLeastPiece)));
  const int64_t piece = (count + most - 1) / most;
  const auto work = std::make_shared<SharedWork>(
      count, piece, body, scope->stop_, scope->interval_);
  scope->crew_->Offer(work);
  work->RunPieces();
  scope->crew_->Withdraw(work);
  work->Finish();
}

}  // namespace heddle::compiler
