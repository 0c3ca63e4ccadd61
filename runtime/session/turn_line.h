// SPDX-License-Identifier: Apache-2.0
// The order of those that use resident tensors (resident.h) and cannot queue
// all of their jobs at once: runs shared by host and card, and transfers that
// wait for such runs.
//
// Each stands in one line per device, with the tensors that it reads and
// writes. Its turn has come when nobody in front of it writes what it uses, or
// uses what it writes. It leaves the line when it is over.
#ifndef HEDDLE_RUNTIME_SESSION_TURN_LINE_H_
#define HEDDLE_RUNTIME_SESSION_TURN_LINE_H_

#include <functional>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::session {

class TurnLine {
 public:
  struct Use {
    const void* tensor;
    bool writes;
  };
  enum class Kind { kRun, kTransfer };

  // A place in the line; not moved or destroyed while it is there.
  class Turn {
   public:
    // `come` is called once if the turn has not come when it joins, with the
    // line's lock: it neither throws nor calls the line.
    Turn(Kind kind, std::vector<Use> uses, std::function<void()> come)
        : kind_(kind), uses_(std::move(uses)), come_(std::move(come)) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class TurnLine;
    const Kind kind_;
    const std::vector<Use> uses_;
    std::function<void()> come_;
    bool has_come_ = false;
  };

  // Calls `join` with the line's lock, and whether the turn has come at once:
  // what it queues is in the order of the line. If that is false or throws, the
  // turn is not in the line.
  bool Join(Turn* turn, const std::function<bool(bool has_come)>& join);
  // The turn is in the line, whether or not it has come.
  void Leave(Turn* turn) noexcept;
  // Whether there is a run in the line that would have to end first.
  bool MustWait(const std::vector<Use>& uses) const;

 private:
  static bool Conflict(const std::vector<Use>& a, const std::vector<Use>& b);

  mutable std::mutex mutex_;
  std::list<Turn*> line_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_TURN_LINE_H_
