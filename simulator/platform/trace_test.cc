// SPDX-License-Identifier: Apache-2.0
//
// heddle-sim --trace: the program beside it writes the waveforms of the window,
// and the card works meanwhile.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "simulator/platform/sim_client.h"

namespace heddle::platform {
namespace {

// A complete FST file begins with a header of 329 bytes (block type 0, length
// 0x149), whose next two numbers are the first and last time that it has: two
// per cycle.
struct Header {
  uint64_t begin = 0, end = 0;
  bool complete = false;
  uintmax_t size = 0;
};

Header HeaderOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  unsigned char head[25] = {};
  in.read(reinterpret_cast<char*>(head), sizeof(head));
  const auto number = [&head](int at) {
    uint64_t n = 0;
    for (int i = 0; i < 8; ++i) n = n << 8 | head[at + i];
    return n;
  };
  Header header;
  header.complete = in.good() && head[0] == 0 && number(1) == 329 &&
                    !std::filesystem::exists(file + ".hier");
  header.begin = number(9);
  header.end = number(17);
  header.size = std::filesystem::file_size(file);
  return header;
}

// What a card traces in cycles [from, to) while it stores and fetches. `end`
// makes it end; with nullptr the file is looked at while the card runs on.
Header Trace(const std::string& file, uint64_t from, uint64_t to,
             void (*end)(SimProcess*)) {
  SimProcess process({"--core", "rtl", "--trace", file, "--trace-window",
                      std::to_string(from) + ":" + std::to_string(to)});
  SimHost host(&process);
  EXPECT_TRUE(host.Attach());
  const std::vector<uint8_t> data(4096, 0x5c);
  EXPECT_TRUE(host.Store(0, data));
  EXPECT_EQ(host.Fetch(0, data.size()), data);
  if (end == nullptr) {
    EXPECT_TRUE(process.Alive());
    return HeaderOf(file);
  }
  host.Detach();
  end(&process);
  for (int i = 0; i < 1000 && process.Alive(); ++i) usleep(10000);
  EXPECT_FALSE(process.Alive());
  return HeaderOf(file);
}

void Quit(SimProcess* process) {
  EXPECT_EQ(process->Command("quit")["ok"], true);
}
void Terminate(SimProcess* process) { kill(process->pid(), SIGTERM); }

TEST(Trace, WritesTheWindow) {
  const std::string folder = testing::TempDir();
  const Header small = Trace(folder + "/small.fst", 0, 50, Quit);
  const Header large = Trace(folder + "/large.fst", 0, 3000, Quit);
  ASSERT_TRUE(small.complete && large.complete);
  EXPECT_LT(small.begin, 2 * 20u);  // reset is over when the file is opened
  EXPECT_EQ(small.end, 2 * 49 + 1u);
  EXPECT_GT(large.size, small.size + 1000);
}

TEST(Trace, CompleteWhenTheWindowIsOver) {
  const Header h = Trace(testing::TempDir() + "/part.fst", 100, 200, nullptr);
  ASSERT_TRUE(h.complete);
  EXPECT_EQ(h.begin, 200u);
  EXPECT_EQ(h.end, 2 * 199 + 1u);
}

TEST(Trace, CompleteAfterASignal) {
  const Header h = Trace(testing::TempDir() + "/signal.fst", 0,
                         uint64_t{1} << 40, Terminate);
  ASSERT_TRUE(h.complete);
  EXPECT_GT(h.end, 1000u);
}

}  // namespace
}  // namespace heddle::platform
