// SPDX-License-Identifier: Apache-2.0
#include "tests/support/virtual_card.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "runtime/hal/hosted_transport.h"

namespace heddle::tests {
namespace {

constexpr int kStartMs = 20000;

std::string Simulator() { return Runfile("simulator/platform/heddle-sim"); }

}  // namespace

VirtualCard::VirtualCard(const std::string& socket, const CardOptions& options)
    : control_(socket + ".ctl") {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  Command command;
  command.argv = {Simulator(),
                  "--socket",
                  socket,
                  "--control",
                  control_,
                  "--config",
                  options.config,
                  "--memory",
                  options.memory,
                  "--serial",
                  std::to_string(options.serial),
                  "--ready-fd",
                  std::to_string(ready[1])};
  command.ready_fd = ready[1];
  process_ = Process::Start(command);
  close(ready[1]);
  pollfd readable = {ready[0], POLLIN, 0};
  char byte;
  const bool started =
      poll(&readable, 1, kStartMs) == 1 && read(ready[0], &byte, 1) == 1;
  close(ready[0]);
  EXPECT_TRUE(started) << "heddle-sim did not start: " << process_->err();
}

void VirtualCard::Kill() {
  process_->Signal(SIGKILL);
  EXPECT_TRUE(process_->Wait(absl::Seconds(10)).has_value());
}

std::string VirtualCard::Control(const std::string& command) const {
  Command call;
  call.argv = {Simulator(), "ctl", "--control", control_};
  size_t begin = 0;
  while (begin <= command.size()) {
    const size_t end = std::min(command.find(' ', begin), command.size());
    call.argv.push_back(command.substr(begin, end - begin));
    begin = end + 1;
  }
  const Finished finished = RunCommand(call);
  EXPECT_EQ(finished.code, 0) << finished.out << finished.err;
  return finished.out;
}

HostedDriver::HostedDriver(const std::string& socket,
                           const std::vector<std::string>& cards,
                           const std::vector<std::string>& options)
    : socket_(socket) {
  Command command;
  command.argv = {Runfile("kmd/hosted/heddle-hosted"), "--socket", socket};
  for (const std::string& card : cards) {
    command.argv.push_back("--card");
    command.argv.push_back(card);
  }
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  process_ = Process::Start(command);
  EXPECT_TRUE(WaitForCards(cards.size()))
      << "heddle-hosted did not attach its cards: " << process_->err();
}

size_t HostedDriver::Cards() const {
  const auto cards = hal::ListHosted(socket_);
  return cards.ok() ? cards->size() : 0;
}

bool HostedDriver::WaitForCards(size_t count) const {
  return Eventually([&] { return Cards() == count; });
}

}  // namespace heddle::tests
