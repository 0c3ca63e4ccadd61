// SPDX-License-Identifier: Apache-2.0
// How vectors of 16 elements move from and to SRAM, in cycles: one line of 64
// bytes per cycle for all streams of the engine together, lines buffered by a
// stream, distant elements one by one (rtl/src/hd_vec_stream.sv,
// hd_vec_store.sv). Times only grow.
#ifndef HEDDLE_SIMULATOR_TIMING_VECTOR_STREAM_H_
#define HEDDLE_SIMULATOR_TIMING_VECTOR_STREAM_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "rtl/spec/generated/isa.h"

namespace heddle::timing {

inline int64_t ElementSize(isa::ElementType type) {
  switch (type) {
    case isa::ElementType::kU8:
    case isa::ElementType::kS8:
      return 1;
    case isa::ElementType::kU16:
    case isa::ElementType::kS16:
    case isa::ElementType::kF16:
    case isa::ElementType::kBf16:
      return 2;
    default:
      return 4;
  }
}

// The engine's way to SRAM.
class LinePorts {
 public:
  LinePorts() {
    read_.fill(-1);
    written_.fill(-1);
  }
  // When a line that is asked for at `time` is granted: the next cycle that
  // nobody has. Reads go before writes: one that takes the cycle of a write
  // that was granted too early costs the next write a cycle.
  int64_t Read(int64_t time) {
    while (read_[time % kCycles] == time) ++time;
    read_[time % kCycles] = time;
    if (written_[time % kCycles] == time) ++owed_;
    ++lines_;
    return time;
  }
  int64_t Write(int64_t time) {
    for (bool again = true; again; owed_ -= again) {
      while (read_[time % kCycles] == time ||
             written_[time % kCycles] == time) {
        ++time;
      }
      written_[time % kCycles] = time;
      again = owed_ > 0;
    }
    ++lines_;
    return time;
  }
  int64_t lines() const { return lines_; }

 private:
  static constexpr int kCycles = 1024;
  std::array<int64_t, kCycles> read_, written_;
  int64_t owed_ = 0, lines_ = 0;
};

// An operand stream. Per vector: Next, then Pop.
class VectorReader {
 public:
  VectorReader(int64_t lane_stride, int64_t latency, LinePorts* ports)
      : stride_(lane_stride), latency_(latency), ports_(ports) {
    tags_.fill(-1);
  }
  // Lanes lie anywhere within so many bytes: each is a step of its own.
  void Scatter(int64_t reach) { reach_ = reach; }
  // Lanes that lie in two neighbouring lines make a step. Where they lie only
  // the data know: as far from each other as evenly spread ones.
  void Pick(int64_t reach) {
    Scatter(reach);
    pick_ = true;
  }
  // Its addresses are not there before `time`.
  void NotBefore(int64_t time) { asked_ = std::max(asked_, time); }
  // Lines are asked for again, from `time` on.
  void Forget(int64_t time) {
    tags_.fill(-1);
    asked_ = std::max(asked_, time);
  }

  // When the next vector is there, of `lanes` elements from `address` on.
  int64_t Next(int64_t address, int lanes) {
    int lane = 0;
    do {
      int64_t line = Line(address, lane);
      int64_t other = stride_ < 0 ? line - 1 : line + 1;
      bool two = false;
      if (reach_ >= 0) {
        // Places change with the data; a table that fits the buffer stays.
        if (reach_ >= 1024) line = ++far_ * 2 + (int64_t{1} << 50);
        const int64_t pairs = (reach_ >> 7) + 1;
        lane += pick_ && pairs < lanes
                    ? static_cast<int>((lanes + pairs - 1) / pairs)
                    : 1;
      } else if (stride_ == 0) {
        lane = lanes;
      } else {
        for (++lane; lane < lanes; ++lane) {
          const int64_t l = Line(address, lane);
          if (l != line && l != other) break;
          two |= l == other;
        }
      }
      Step(line, other, two);
    } while (lane < lanes);
    return ready_;
  }
  // The vector is taken.
  void Pop(int64_t time) { popped_[vectors_++ % kVectors] = time; }
  // Until when it reads SRAM.
  int64_t fetched() const { return taken_last_; }

 private:
  static constexpr int kSteps = 8, kVectors = 4, kWays = 8;
  // From the lines of a step to its vector.
  static constexpr int64_t kPick = 3;

  int64_t Line(int64_t address, int lane) const {
    return (address + lane * stride_) >> 6;
  }
  // Cycles of asking; when the line is there.
  bool Hit(int64_t line) const {
    for (int w = 0; w < kWays; ++w) {
      if (tags_[(line & 1) * kWays + w] == line) return true;
    }
    return false;
  }
  void Ask(int64_t line, int64_t* there) {
    const int64_t granted = ports_->Read(asked_);
    asked_ = granted + 1;
    int& way = next_way_[line & 1];
    tags_[(line & 1) * kWays + way] = line;
    way = (way + 1) % kWays;
    *there = std::max(*there, granted + latency_);
  }
  void Step(int64_t line, int64_t other, bool two) {
    asked_ = std::max(asked_, taken_[steps_ % kSteps]);
    int64_t there = 0;
    const int64_t before = asked_;
    if (!Hit(line)) Ask(line, &there);
    if (two && !Hit(other)) Ask(other, &there);
    if (asked_ == before) ++asked_;
    there = std::max(there, asked_);
    taken_last_ =
        std::max({taken_last_ + 1, there, popped_[vectors_ % kVectors] + 1});
    taken_[steps_++ % kSteps] = taken_last_ + 1;
    ready_ = taken_last_ + kPick;
  }

  int64_t stride_, latency_, reach_ = -1, far_ = 0;
  bool pick_ = false;
  LinePorts* ports_;
  std::array<int64_t, 2 * kWays> tags_;
  std::array<int, 2> next_way_{};
  std::array<int64_t, kSteps> taken_{};  // the queue's place is free
  std::array<int64_t, kVectors> popped_{};
  int64_t steps_ = 0, vectors_ = 0;
  int64_t asked_ = 1, taken_last_ = 0, ready_ = 0;
};

// The stored stream.
class VectorWriter {
 public:
  VectorWriter() = default;
  VectorWriter(int64_t lane_stride, int64_t reach, LinePorts* ports)
      : stride_(lane_stride), reach_(reach), ports_(ports) {}

  // A vector that is there at `time`; when it has left the queue.
  int64_t Put(int64_t time, int64_t address, int lanes) {
    now_ = std::max(now_, time);
    for (int lane = 0; lane < lanes;) {
      int64_t line = (address + lane * stride_) >> 6;
      if (reach_ >= 0) {
        ++lane;
      } else {
        while (lane < lanes && (address + lane * stride_) >> 6 == line) ++lane;
      }
      ++now_;
      if (line != open_) {
        if (open_ >= 0) Leave();
        open_ = line;
      }
    }
    return now_;
  }
  // Everything is in SRAM, if nothing comes behind `time`.
  int64_t Flush(int64_t time) {
    if (open_ >= 0) {
      now_ = std::max(now_, time);
      Leave();
      open_ = -1;
    }
    return std::max(time, left_ + 1);
  }

 private:
  void Leave() {
    now_ = std::max(now_, left_);
    left_ = ports_->Write(now_ + 1);
  }
  int64_t stride_ = 0, reach_ = -1;
  LinePorts* ports_ = nullptr;
  int64_t open_ = -1, now_ = 0, left_ = 0;
};

}  // namespace heddle::timing

#endif  // HEDDLE_SIMULATOR_TIMING_VECTOR_STREAM_H_
