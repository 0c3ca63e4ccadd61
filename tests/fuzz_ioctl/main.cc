// SPDX-License-Identifier: Apache-2.0
//
// fuzz_ioctl: random typed ioctls against the driver, from several threads.
#include <signal.h>

#include <cstdio>
#include <string>

#include "CLI/CLI.hpp"
#include "tests/fuzz_ioctl/runner.h"

namespace {

constexpr char kHelp[] =
    "Example:\n"
    "  fuzz_ioctl --sequences 1250              # 10^6 ioctls, driver in this "
    "process\n"
    "  fuzz_ioctl --device drm --seconds 60     # heddle.ko\n"
    "\n"
    "Random ioctls with valid, boundary and invalid fields, from several "
    "threads on\n"
    "several files. Every call must return in time with an error that the "
    "interface\n"
    "has; after each sequence the card must be as before. Without --device the "
    "driver\n"
    "of heddle-hosted runs here, with a card that hangs, faults and goes "
    "away.\n";

}  // namespace

int main(int argc, char** argv) {
  heddle::fuzz::Options options;
  std::string device;
  bool calm = false;
  int slot = -1;
  CLI::App app(kHelp, "fuzz_ioctl");
  app.add_option("--device", device,
                 "drm[:NODE] or hosted:SOCKET[#CARD]; nobody else may use it");
  app.add_option("--guest-card", slot,
                 "in a guest of tests/guest: the card of this slot, which "
                 "misbehaves")
      ->excludes("--device");
  app.add_option("--sequences", options.sequences, "how many")
      ->capture_default_str();
  app.add_option("--first", options.first,
                 "number of the first sequence, to repeat a failure");
  app.add_option("--seconds", options.seconds, "end after so long");
  app.add_option("--seed", options.seed, "of the first sequence")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "that call")
      ->check(CLI::Range(1, 60))
      ->capture_default_str();
  app.add_option("--files", options.files, "open at the same time")
      ->check(CLI::Range(1, 60))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "of each thread in a sequence")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--limit", options.limit_s, "seconds that a call may take")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app.add_flag("--calm", calm,
               "the card behaves, and messages are well formed");
  app.add_flag("--progress", options.progress, "say how far it is");
  CLI11_PARSE(app, argc, argv);
  options.disturb = !calm;
  // With --seconds alone, time decides.
  if (options.seconds > 0 && app.count("--sequences") == 0) {
    options.sequences = ~uint64_t{0};
  }
  signal(SIGPIPE, SIG_IGN);

  std::unique_ptr<heddle::fuzz::Target> target;
  if (slot >= 0) {
    target = heddle::fuzz::MakeGuest(slot);
  } else if (device.empty()) {
    target = heddle::fuzz::MakeInProcess();
  } else {
    auto made = heddle::fuzz::MakeTarget(device);
    if (!made.ok()) {
      std::fprintf(stderr, "fuzz_ioctl: %s\n",
                   std::string(made.status().message()).c_str());
      return absl::IsUnavailable(made.status()) ? 3 : 2;
    }
    target = *std::move(made);
  }
  const heddle::fuzz::Report report = Run(target.get(), options);
  std::printf(
      "fuzz_ioctl: seed %llu: %llu sequences, %llu ioctls, %llu removals, %llu "
      "malformed clients\n",
      static_cast<unsigned long long>(options.seed),
      static_cast<unsigned long long>(report.sequences),
      static_cast<unsigned long long>(report.calls),
      static_cast<unsigned long long>(report.removals),
      static_cast<unsigned long long>(report.malformed));
  if (report.failure.empty()) return 0;
  std::fprintf(stderr, "fuzz_ioctl: %s\n", report.failure.c_str());
  return 1;
}
