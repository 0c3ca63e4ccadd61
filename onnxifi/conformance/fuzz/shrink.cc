// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/fuzz/shrink.h"

#include <algorithm>
#include <utility>

namespace heddle::conformance {
namespace {

class Shrinker {
 public:
  Shrinker(Sequence best, int attempts,
           const std::function<bool(const Sequence&)>& fails)
      : best_(std::move(best)), attempts_(attempts), fails_(fails) {}

  Sequence Result() {
    // On one thread everything that follows is sure.
    Simplify();
    while (attempts_ > 0 && RemoveParts()) Simplify();
    return best_;
  }

 private:
  bool Try(const Sequence& shorter) {
    if (attempts_-- <= 0 || !fails_(shorter)) return false;
    best_ = shorter;
    return true;
  }

  // Half of it, a quarter, ... single calls.
  bool RemoveParts() {
    bool any = false;
    for (size_t part = std::max<size_t>(best_.size() / 2, 1);; part /= 2) {
      for (size_t at = 0; at < best_.size() && best_.size() > 1;) {
        Sequence shorter = best_;
        const size_t end = std::min(at + part, shorter.size());
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at),
                      shorter.begin() + static_cast<std::ptrdiff_t>(end));
        if (!shorter.empty() && Try(shorter)) {
          any = true;
        } else {
          at += part;
        }
      }
      if (part <= 1) return any;
    }
  }

  // One thread, if it does not take several.
  void Simplify() {
    Sequence simpler = best_;
    for (Step& step : simpler) step.thread = 0;
    if (ToText(simpler) != ToText(best_)) Try(simpler);
  }

  Sequence best_;
  int attempts_;
  const std::function<bool(const Sequence&)>& fails_;
};

}  // namespace

Sequence Shrink(Sequence sequence, int attempts,
                const std::function<bool(const Sequence&)>& fails) {
  return Shrinker(std::move(sequence), attempts, fails).Result();
}

}  // namespace heddle::conformance
