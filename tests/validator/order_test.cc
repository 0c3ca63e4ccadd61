// SPDX-License-Identifier: Apache-2.0
// What the validator says of semaphores, on a machine that does nothing else: a
// front end and four queues of a random depth, whose next move is chosen at
// random among those that the ordering rule of ISA.md permits. A stream that is
// accepted must come to its end on it, and every wait must take the very units
// that it takes in stream order. That the machine can deadlock, and that a wait
// can take another's unit, is shown by streams that are refused.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kmd/hosted/validate_stream.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::validator {
namespace {

constexpr int kEngines = 4;

struct Units {
  uint32_t semaphore = 0, count = 0;
  int point = 0;
};

struct Command {
  int engine = 0;  // -1: a barrier
  Units waits[2], signals[2];
};

using Random = std::mt19937_64;
// Per command the commands whose units it took, in order.
using Taken = std::vector<std::vector<size_t>>;

std::vector<uint32_t> Encode(const std::vector<Command>& stream) {
  std::vector<uint32_t> words;
  for (const Command& c : stream) {
    isa::Header h;
    h.wait0_enable = c.waits[0].count > 0;
    h.wait0_sem = c.waits[0].semaphore;
    h.wait0_count = c.waits[0].count;
    h.wait1_enable = c.waits[1].count > 0;
    h.wait1_sem = c.waits[1].semaphore;
    h.wait1_count = c.waits[1].count;
    h.signal0_enable = c.signals[0].count > 0;
    h.signal0_sem = c.signals[0].semaphore;
    h.signal0_count = c.signals[0].count;
    h.signal0_point = static_cast<isa::SignalPoint>(c.signals[0].point);
    h.signal1_enable = c.signals[1].count > 0;
    h.signal1_sem = c.signals[1].semaphore;
    h.signal1_count = c.signals[1].count;
    h.signal1_point = static_cast<isa::SignalPoint>(c.signals[1].point);
    const auto append = [&](auto command) {
      const isa::Header own = command.header;  // opcode and length
      command.header = h;
      command.header.opcode = own.opcode;
      command.header.words = own.words;
      isa::Append(command, &words);
    };
    switch (c.engine) {
      case 0:
        append(isa::SyncLoad());
        break;
      case 1:
        append(isa::SyncStore());
        break;
      case 2:
        append(isa::SyncMatrix());
        break;
      case 3:
        append(isa::SyncVector());
        break;
      default:
        append(isa::Barrier());
    }
  }
  isa::Append(isa::End(), &words);
  return words;
}

class Machine {
 public:
  Machine(const std::vector<Command>& stream, size_t depth)
      : stream_(stream), depth_(depth), taken_(stream.size()) {}

  // False: a deadlock. A signal beyond the maximum is no matter here.
  bool Run(Random* random) {
    while (true) {
      std::vector<int> moves;
      for (int m = 0; m < 1 + 3 * kEngines; ++m) {
        if (Can(m)) moves.push_back(m);
      }
      if (moves.empty()) break;
      Do(moves[(*random)() % moves.size()]);
    }
    return next_ == stream_.size() && Idle();
  }
  const Taken& taken() const { return taken_; }

 private:
  // An engine: what waits, and what has started, in order; of that the first
  // `read` have reached the one point and the first `visible` the other.
  struct Engine {
    std::deque<size_t> queue;
    std::vector<size_t> started;
    size_t read = 0, visible = 0;
  };

  bool Idle() const {
    return std::all_of(engines_, engines_ + kEngines, [](const Engine& e) {
      return e.queue.empty() && e.visible == e.started.size();
    });
  }

  // Move 0: the front end. Then per engine: start, read, visible.
  bool Can(int move) const {
    if (move == 0) {
      if (next_ == stream_.size()) return false;
      const int engine = stream_[next_].engine;
      return engine < 0 ? Idle() : engines_[engine].queue.size() < depth_;
    }
    const Engine& e = engines_[(move - 1) / 3];
    switch ((move - 1) % 3) {
      case 0:
        if (e.queue.empty()) return false;
        for (const Units& u : stream_[e.queue.front()].waits) {
          if (units_[u.semaphore].size() < u.count) return false;
        }
        return true;
      case 1:
        return e.read < e.started.size();
      default:
        return e.visible < e.read;
    }
  }

  void Do(int move) {
    if (move == 0) {
      const int engine = stream_[next_].engine;
      if (engine >= 0) engines_[engine].queue.push_back(next_);
      ++next_;
      return;
    }
    Engine& e = engines_[(move - 1) / 3];
    switch ((move - 1) % 3) {
      case 0: {
        const size_t c = e.queue.front();
        e.queue.pop_front();
        e.started.push_back(c);
        for (const Units& u : stream_[c].waits) {
          for (uint32_t i = 0; i < u.count; ++i) {
            taken_[c].push_back(units_[u.semaphore].front());
            units_[u.semaphore].pop_front();
          }
        }
        return;
      }
      case 1:
        Give(e.started[e.read++], 0);
        return;
      default:
        Give(e.started[e.visible++], 1);
    }
  }

  void Give(size_t command, int point) {
    for (const Units& u : stream_[command].signals) {
      if (u.point != point) continue;
      units_[u.semaphore].insert(units_[u.semaphore].end(), u.count, command);
    }
  }

  const std::vector<Command>& stream_;
  const size_t depth_;
  size_t next_ = 0;
  Engine engines_[kEngines];
  std::deque<size_t> units_[isa::kSemaphores];
  Taken taken_;
};

// Units taken when one command is executed after another, and what stays.
struct InOrder {
  std::deque<size_t> units[isa::kSemaphores];
  Taken taken;
  bool strays = false;  // it may break the rule
};

// A stream whose waits are satisfied in stream order. Semaphores are few, and
// mostly, but not always, used as the rule wants.
std::vector<Command> MakeStream(Random* random, InOrder* order) {
  const auto below = [&](uint64_t n) {
    return static_cast<uint32_t>((*random)() % n);
  };
  constexpr uint32_t kFew = 4;
  const uint32_t stray = below(3) == 0 ? 8 + below(20) : 0;  // 0: never
  order->strays = stray != 0;
  struct {
    int giver, point, taker;
  } roles[kFew];
  const auto assign = [&] {
    for (auto& r : roles) {
      r = {static_cast<int>(below(kEngines)), static_cast<int>(below(2)),
           static_cast<int>(below(kEngines))};
    }
  };
  assign();
  std::vector<Command> stream(2 + below(40));
  order->taken.assign(stream.size(), {});
  for (size_t i = 0; i < stream.size(); ++i) {
    Command& c = stream[i];
    if (below(12) == 0) {
      c.engine = -1;
      assign();
      continue;
    }
    c.engine = static_cast<int>(below(kEngines));
    const auto strays = [&] { return stray != 0 && below(stray) == 0; };
    int waits = 0, signals = 0;
    for (uint32_t s = 0; s < kFew; ++s) {
      auto& units = order->units[s];
      if ((roles[s].taker == c.engine || strays()) && waits < 2 &&
          !units.empty() && below(2) == 0) {
        const uint32_t n =
            1 + below(std::min<uint64_t>(units.size(), isa::kSemaphoreMax));
        c.waits[waits++] = {s, n, 0};
        auto& taken = order->taken[i];
        taken.insert(taken.end(), units.begin(), units.begin() + n);
        units.erase(units.begin(), units.begin() + n);
      }
    }
    for (uint32_t s = 0; s < kFew; ++s) {
      auto& units = order->units[s];
      if ((roles[s].giver == c.engine || strays()) && signals < 2 &&
          units.size() < 200 && below(2) == 0) {
        const uint32_t n = 1 + below(3);
        const int point = strays() ? 1 - roles[s].point : roles[s].point;
        c.signals[signals++] = {s, n, point};
        units.insert(units.end(), n, i);
      }
    }
  }
  return stream;
}

TEST(ValidatorOrder, AcceptedStreamsEndAndWaitForWhatTheyNamed) {
  Random random(1);
  int accepted = 0, taking = 0, refused = 0, deadlocks = 0, thefts = 0;
  for (int i = 0; i < 20000; ++i) {
    InOrder order;
    const std::vector<Command> stream = MakeStream(&random, &order);
    const std::vector<uint32_t> words = Encode(stream);
    heddle_validate_result facts;
    const bool good = hosted::ValidateStream(isa::kH256.id, words, &facts);
    ASSERT_TRUE(good || order.strays) << "refused stream " << i;
    if (!good) {
      ASSERT_EQ(facts.error, HEDDLE_VALIDATE_SEMAPHORE) << i;
    }
    good ? ++accepted : ++refused;
    taking += good && std::any_of(order.taken.begin(), order.taken.end(),
                                  [](const auto& t) { return !t.empty(); });
    for (int run = 0; run < 4; ++run) {
      const size_t depth = 1 + random() % (isa::kQueueDepth + 1);
      Machine machine(stream, depth);
      const bool ended = machine.Run(&random);
      const bool same = machine.taken() == order.taken;
      if (good) {
        ASSERT_TRUE(ended) << "stream " << i << " with queues of " << depth;
        ASSERT_TRUE(same) << "stream " << i << " with queues of " << depth;
      }
      deadlocks += !ended;
      thefts += ended && !same;
    }
  }
  std::printf("%d accepted, %d refused: %d deadlocks, %d thefts\n", accepted,
              refused, deadlocks, thefts);
  EXPECT_GT(taking, 5000);
  EXPECT_GT(deadlocks, 100);
  EXPECT_GT(thefts, 100);
}

}  // namespace
}  // namespace heddle::validator
