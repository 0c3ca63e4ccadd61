// SPDX-License-Identifier: Apache-2.0
// What the kernel and the host say of the card of slot 0, for tests in the
// guest.
#ifndef TESTS_DRIVER_CARD_FILES_H_
#define TESTS_DRIVER_CARD_FILES_H_

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/guest/host_request.h"

namespace heddle::tests {

inline std::vector<std::string> Entries(const std::string& folder) {
  std::vector<std::string> names;
  if (DIR* d = opendir(folder.c_str())) {
    while (const dirent* entry = readdir(d)) names.push_back(entry->d_name);
    closedir(d);
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

inline bool WriteFile(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text << std::flush;
  return out.good();
}

// The folder of the first card in sysfs.
inline std::string CardFolder() {
  const std::string devices = "/sys/bus/pci/devices/";
  for (const std::string& name : Entries(devices)) {
    if (ReadFile(devices + name + "/device") == "0x4e50\n" &&
        ReadFile(devices + name + "/vendor") == "0x1234\n") {
      return devices + name;
    }
  }
  ADD_FAILURE() << "there is no card";
  return "";
}

// Its node, of whichever kind the kernel gives it; empty while no driver is
// bound.
inline std::string CardNode() {
  const std::string folder = CardFolder();
  for (const std::string& name : Entries(folder + "/accel")) {
    if (name.compare(0, 5, "accel") == 0) return "/dev/accel/" + name;
  }
  for (const std::string& name : Entries(folder + "/drm")) {
    if (name.compare(0, 7, "renderD") == 0) return "/dev/dri/" + name;
  }
  return "";
}

// Whether the card may write to memory, as its config space says.
inline bool MastersBus() {
  const std::string config = ReadFile(CardFolder() + "/config");
  EXPECT_GT(config.size(), 4u);
  return config.size() > 4 && (config[4] & 4) != 0;
}

// A number in what `heddle-sim ctl status` says.
inline uint64_t CardStatus(const std::string& key) {
  const HostAnswer answer = HostRequest("ctl 0 status");
  const std::string quoted = "\"" + key + "\":";
  const size_t at = answer.text.find(quoted);
  EXPECT_NE(at, std::string::npos) << answer.text;
  if (at == std::string::npos) return 0;
  return std::strtoull(answer.text.c_str() + at + quoted.size(), nullptr, 0);
}

inline bool CardBusy() {
  return HostRequest("ctl 0 status").text.find("\"busy\":true") !=
         std::string::npos;
}

}  // namespace heddle::tests

#endif  // TESTS_DRIVER_CARD_FILES_H_
