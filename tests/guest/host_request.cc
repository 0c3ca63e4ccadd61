// SPDX-License-Identifier: Apache-2.0
#include "tests/guest/host_request.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace heddle::tests {
namespace {

std::string Share() {
  const char* share = std::getenv("HEDDLE_GUEST_SHARE");
  return share == nullptr ? "" : share;
}

}  // namespace

bool InGuest() { return !Share().empty(); }

HostAnswer HostRequest(const std::string& words, double seconds) {
  static std::atomic<unsigned> count{0};
  if (!InGuest()) return {false, "not in a guest"};
  const std::string id =
      "c" + std::to_string(getpid()) + "-" + std::to_string(++count);
  const std::string hidden = Share() + "/requests/." + id;
  std::ofstream(hidden) << words;
  if (std::rename(hidden.c_str(), (Share() + "/requests/" + id).c_str()) != 0) {
    return {false, "cannot write into the shared folder"};
  }
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    std::ifstream reply(Share() + "/replies/" + id);
    int code;
    if (reply >> code) {
      reply.ignore();  // the rest of the first line
      return {code == 0,
              std::string(std::istreambuf_iterator<char>(reply), {})};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return {false, "the host does not answer"};
}

}  // namespace heddle::tests
