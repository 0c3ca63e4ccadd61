// SPDX-License-Identifier: Apache-2.0
// The timing of device memory: what takes no less than it must, and no more.
#include "simulator/rtl/device_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace heddle::rtl {
namespace {

constexpr uint32_t kLatency = isa::kH256.dram_latency_cycles;

// A master that asks for one range and keeps every handshake open.
class Master {
 public:
  explicit Master(DeviceMemory* memory) : memory_(memory) {}

  // Cycles until the last byte has come.
  uint64_t Read(uint64_t address, uint64_t bytes, std::vector<uint8_t>* to) {
    to->clear();
    const uint64_t start = memory_->cycles();
    uint64_t asked = 0;
    errors = 0;
    while (to->size() < bytes) {
      DeviceMemory::FromCore in;
      in.read_ready = Ready();
      in.request_valid = asked < bytes;
      in.request_address = address + asked;
      in.request_beats = Beats(address + asked, bytes - asked);
      const DeviceMemory::ToCore out = memory_->outputs();
      if (in.request_valid && out.request_ready) {
        asked += uint64_t{in.request_beats} * kBeatBytes;
      }
      if (out.read_valid && in.read_ready) {
        to->insert(to->end(), out.read_data, out.read_data + kBeatBytes);
        errors += out.read_error;
      }
      memory_->Clock(in);
      if (memory_->cycles() - start > 100 * bytes + 10000) break;
    }
    return memory_->cycles() - start;
  }

  // Cycles until the last write is answered.
  uint64_t Write(uint64_t address, const std::vector<uint8_t>& data,
                 uint32_t strobe = 0xffff) {
    const uint64_t start = memory_->cycles();
    uint64_t asked = 0, sent = 0, answers = 0, bursts = 0;
    errors = 0;
    while (asked < data.size() || answers < bursts) {
      DeviceMemory::FromCore in;
      in.request_valid = asked < data.size();
      in.request_write = true;
      in.request_address = address + asked;
      in.request_beats = Beats(address + asked, data.size() - asked);
      in.write_valid = sent < asked;
      in.write_data = in.write_valid ? &data[sent] : nullptr;
      in.write_strobe = strobe;
      const DeviceMemory::ToCore out = memory_->outputs();
      if (in.request_valid && out.request_ready) {
        asked += uint64_t{in.request_beats} * kBeatBytes;
        ++bursts;
      }
      if (in.write_valid && out.write_ready) sent += kBeatBytes;
      answers += out.answer_valid;
      errors += out.answer_valid && out.answer_error;
      memory_->Clock(in);
      if (memory_->cycles() - start > 100 * data.size() + 10000) break;
    }
    return memory_->cycles() - start;
  }

  bool slow = false;  // does not always take what it gets
  int errors = 0;

 private:
  static uint32_t Beats(uint64_t address, uint64_t bytes) {
    return static_cast<uint32_t>(
        std::min({bytes, uint64_t{kBeatsMax} * kBeatBytes,
                  kBurstPage - address % kBurstPage}) /
        kBeatBytes);
  }
  bool Ready() { return !slow || ++turn_ % 3 != 0; }

  DeviceMemory* memory_;
  uint32_t turn_ = 0;
};

class DeviceMemoryTest : public testing::Test {
 protected:
  DeviceMemoryTest() : bytes_(2 << 20) {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      bytes_[i] = static_cast<uint8_t>(i * 7 + (i >> 8));
    }
  }
  DeviceMemory* Make(const MemoryOptions& options = {}) {
    memory_ = std::make_unique<DeviceMemory>(isa::kH256, options);
    memory_->Attach(bytes_.data(), bytes_.size());
    return memory_.get();
  }
  std::vector<uint8_t> Slice(uint64_t at, uint64_t n) const {
    return {bytes_.begin() + at, bytes_.begin() + at + n};
  }

  std::vector<uint8_t> bytes_, got_;
  std::unique_ptr<DeviceMemory> memory_;
};

TEST_F(DeviceMemoryTest, OneBeatTakesTheLatency) {
  Master master(Make());
  const uint64_t cycles = master.Read(64, 16, &got_);
  EXPECT_GE(cycles, kLatency);
  EXPECT_LE(cycles, kLatency + 3);
  EXPECT_EQ(got_, Slice(64, 16));
}

TEST_F(DeviceMemoryTest, AMebibyteTakesItsBeats) {
  Master master(Make());
  const uint64_t cycles = master.Read(0x20000, 1 << 20, &got_);
  EXPECT_GE(cycles, 65536u);
  EXPECT_LE(cycles, 65536u + kLatency + 3);
  EXPECT_EQ(got_, Slice(0x20000, 1 << 20));
}

TEST_F(DeviceMemoryTest, WritesShareTheBeats) {
  Master master(Make());
  const std::vector<uint8_t> data(1 << 16, 0x5a);
  const uint64_t cycles = master.Write(0x1010, data);
  EXPECT_GE(cycles, data.size() / 16 + kLatency);
  EXPECT_LE(cycles, data.size() / 16 + kLatency + 5);
  EXPECT_EQ(Slice(0x1010, data.size()), data);

  // One master reads while another writes: together one beat per cycle.
  DeviceMemory* memory = memory_.get();
  const uint64_t before = memory->cycles();
  uint64_t reads = 0, writes = 0;
  bool write_turn = false;
  const std::vector<uint8_t> beat(16, 1);
  for (int i = 0; i < 10000; ++i) {
    DeviceMemory::FromCore in;
    in.request_valid = true;
    in.request_write = write_turn;
    in.request_address = write_turn ? 0x4000 : 0x8000;
    in.request_beats = 16;
    in.write_valid = true;
    in.write_strobe = 0xffff;
    in.write_data = beat.data();
    in.read_ready = true;
    const DeviceMemory::ToCore out = memory->outputs();
    if (out.request_ready) write_turn = !write_turn;
    reads += out.read_valid;
    writes += out.write_ready;
    memory->Clock(in);
  }
  const uint64_t cycles_used = memory->cycles() - before;
  EXPECT_LE(reads + writes, cycles_used);
  EXPECT_GE(reads + writes, cycles_used - kLatency - 40);
  EXPECT_NEAR(static_cast<double>(reads), static_cast<double>(writes), 200);
  EXPECT_EQ(memory->violation(), "");
}

TEST_F(DeviceMemoryTest, StrobesChooseBytes) {
  Master master(Make());
  const std::vector<uint8_t> before = Slice(256, 16);
  master.Write(256, std::vector<uint8_t>(16, 0xee), 0x0180);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(bytes_[256 + i], i == 7 || i == 8 ? 0xee : before[i]) << i;
  }
}

TEST_F(DeviceMemoryTest, ExtraLatencyJitterAndStallsChangeNoByte) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    MemoryOptions options;
    options.extra_latency = 50;
    options.jitter = 200;
    options.stall_percent = 30;
    options.seed = seed;
    Master master(Make(options));
    master.slow = seed % 2 == 0;
    EXPECT_GT(master.Read(4096 - 32, 20000, &got_), 20000u / 16 + 150);
    EXPECT_EQ(got_, Slice(4096 - 32, 20000));
    const std::vector<uint8_t> data(5008, static_cast<uint8_t>(seed));
    master.Write(0x3010, data);
    EXPECT_EQ(Slice(0x3010, 5008), data);
    EXPECT_TRUE(memory_->idle());
    EXPECT_EQ(memory_->violation(), "");
  }
}

TEST_F(DeviceMemoryTest, SameSeedSameCycles) {
  MemoryOptions options;
  options.jitter = 100;
  options.stall_percent = 20;
  std::vector<uint64_t> cycles;
  for (uint64_t seed : {5, 5, 6}) {
    options.seed = seed;
    Master master(Make(options));
    cycles.push_back(master.Read(0, 50000, &got_));
  }
  EXPECT_EQ(cycles[0], cycles[1]);
  EXPECT_NE(cycles[0], cycles[2]);
}

TEST_F(DeviceMemoryTest, ErrorsBeyondTheSize) {
  Master master(Make());
  memory_->Resize(0x10000);
  master.Read(0x10000 - 64, 128, &got_);
  EXPECT_EQ(master.errors, 4);
  const std::vector<uint8_t> before = bytes_;
  master.Write(0x10000 - 64, std::vector<uint8_t>(128, 0x77));
  EXPECT_EQ(master.errors, 1) << "one answer per burst";
  EXPECT_EQ(Slice(0x10000, 64), std::vector<uint8_t>(before.begin() + 0x10000,
                                                     before.begin() + 0x10040));
  memory_->Resize(bytes_.size());
  memory_->InjectError();
  master.Read(0, 64, &got_);
  EXPECT_EQ(master.errors, 1);
  EXPECT_FALSE(memory_->error_pending());
}

TEST_F(DeviceMemoryTest, AFlippedBitIsReadOnce) {
  Master master(Make());
  memory_->FlipOnRead(1000, 3);
  master.Read(960, 128, &got_);
  std::vector<uint8_t> want = Slice(960, 128);
  want[40] ^= 8;
  EXPECT_EQ(got_, want);
  master.Read(960, 128, &got_);
  EXPECT_EQ(got_, Slice(960, 128));
}

TEST_F(DeviceMemoryTest, BreachesOfTheProtocolAreTold) {
  for (const auto& [address, beats] :
       std::vector<std::pair<uint64_t, uint32_t>>{
           {8, 1}, {0, 0}, {0, 65}, {4096 - 16, 2}}) {
    Make();
    DeviceMemory::FromCore in;
    in.request_valid = true;
    in.request_address = address;
    in.request_beats = beats;
    memory_->Clock(in);
    EXPECT_NE(memory_->violation(), "") << address << " " << beats;
  }
}

}  // namespace
}  // namespace heddle::rtl
