// SPDX-License-Identifier: Apache-2.0
//
// heddle-sim --trace: the program beside it writes the waveforms of the window,
// and the card works meanwhile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "simulator/platform/sim_client.h"

namespace heddle::platform {
namespace {

// Size of the file that cycles [0, to) make, while a job runs.
uintmax_t Trace(const std::string& file, uint64_t to) {
  {
    SimProcess process({"--core", "rtl", "--trace", file, "--trace-window",
                        "0:" + std::to_string(to)});
    SimHost host(&process);
    EXPECT_TRUE(host.Attach());
    const std::vector<uint8_t> data(4096, 0x5c);
    EXPECT_TRUE(host.Store(0, data));
    EXPECT_EQ(host.Fetch(0, data.size()), data);
    host.Detach();
    EXPECT_EQ(process.Command("quit")["ok"], true);
    for (int i = 0; i < 1000 && process.Alive(); ++i) usleep(10000);
    EXPECT_FALSE(process.Alive());
  }
  // Its first block is a header of 329 bytes (FST).
  std::ifstream in(file, std::ios::binary);
  char head[9] = {};
  in.read(head, sizeof(head));
  EXPECT_EQ(std::string(head, sizeof(head)),
            std::string("\0\0\0\0\0\0\0\1\111", 9));
  return std::filesystem::file_size(file);
}

TEST(Trace, WritesTheWindow) {
  const std::string folder = testing::TempDir();
  const uintmax_t small = Trace(folder + "/small.fst", 50);
  const uintmax_t large = Trace(folder + "/large.fst", 3000);
  EXPECT_GT(small, 329u);
  EXPECT_GT(large, small + 1000);
}

}  // namespace
}  // namespace heddle::platform
