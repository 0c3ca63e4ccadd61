// SPDX-License-Identifier: Apache-2.0
//
// heddle-smi: the cards of this system, who uses them, and what is wrong.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/colour.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/usage.h"
#include "tools/cli/version.h"
#include "tools/heddle-smi/cards.h"
#include "tools/heddle-smi/doctor.h"
#include "tools/heddle-smi/fdinfo.h"
#include "tools/heddle-smi/show.h"

namespace {

using heddle::smi::View;

constexpr char kTool[] = "heddle-smi";

constexpr char kHelp[] =
    "Example:\n"
    "  heddle-smi\n"
    "  heddle-smi --watch 1\n"
    "  heddle-smi --json | jq '.cards[0].memory'\n"
    "  heddle-smi doctor\n"
    "\n"
    "Lists the Heddle cards of this system with their memory, jobs, faults "
    "and\n"
    "resets, and who uses them. `doctor` checks step by step what a program "
    "needs\n"
    "to reach a card, and prints a fix for each problem.\n";

std::string Positive(const std::string& text) {
  double value = 0;
  return absl::SimpleAtod(text, &value) && value >= 0.05 && value <= 86400
             ? ""
             : absl::StrCat("'", text, "' is not 0.05 to 86400 seconds");
}

// Returns the exit code; prints once for each tick.
int Watch(const std::string& device, const std::string& root, bool json,
          double seconds, int ticks) {
  using Clock = std::chrono::steady_clock;
  const heddle::smi::Rooted files(root);
  const bool screen = !json && seconds > 0 && isatty(STDOUT_FILENO) == 1;
  View before;
  Clock::time_point then;
  for (int tick = 0;; ++tick) {
    auto list = heddle::smi::ListCards(device);
    if (!list.ok()) {
      heddle::cli::Fail(kTool, list.status());
      return heddle::cli::kUsage;
    }
    View view;
    view.list = *std::move(list);
    view.processes = heddle::smi::ScanProcesses(files);
    heddle::smi::AddHostedClients(files, &view.list, &view.processes);
    const Clock::time_point now = Clock::now();
    const double passed = std::chrono::duration<double>(now - then).count();
    if (screen) std::fputs("\033[H\033[2J", stdout);
    const std::string text =
        json
            ? heddle::smi::ViewJson(view)
            : heddle::smi::ViewText(view, tick > 0 ? &before : nullptr, passed);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    if (seconds <= 0 || (ticks > 0 && tick + 1 >= ticks)) {
      return view.list.cards.empty() ? heddle::cli::kNoDevice
                                     : heddle::cli::kOk;
    }
    before = std::move(view);
    then = now;
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* variable = std::getenv("HEDDLE_DEVICE");
  std::string device = variable != nullptr ? variable : "", root;
  bool json = false;
  double seconds = 0;
  int ticks = 0;
  CLI::App app(kHelp, kTool);
  heddle::cli::WrapHelp(&app);
  app.set_version_flag("--version",
                       absl::StrCat(kTool, " ", heddle::cli::kVersion));
  app.add_option("--device", device,
                 "drm[:NODE] or hosted:SOCKET[#CARD] (default: HEDDLE_DEVICE, "
                 "else all)");
  app.add_flag("--json", json,
               "print JSON in one line (with --watch, one line per update)");
  auto* watch = app.add_option("--watch", seconds,
                               "update every SECONDS, with the share of time "
                               "that each process kept the card busy")
                    ->type_name("SECONDS")
                    ->check(Positive);
  app.add_option("--count", ticks, "stop after N updates")
      ->needs(watch)
      ->check(CLI::Range(1, 1 << 30))
      ->type_name("N");
  app.add_option("--root", root,
                 "use /proc, /sys, /dev and /run below this folder, for tests "
                 "or another system's file tree")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  auto* doctor = app.add_subcommand(
      "doctor", "check what a program needs to reach a card, and print fixes");
  doctor->fallthrough();
  app.footer(absl::StrCat(heddle::cli::kExitCodeHelp,
                          "\n"
                          "Listing without a card exits with 3; doctor exits "
                          "with 1 if it finds a problem."));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return heddle::cli::ExitOfParse(app, e);
  }
  if (!doctor->parsed()) return Watch(device, root, json, seconds, ticks);

  auto system = heddle::smi::DoctorSystem::Real(root);
  system.device = device;
  const auto findings = heddle::smi::Diagnose(system);
  const std::string text =
      json ? heddle::smi::FindingsJson(findings)
           : heddle::smi::FindingsText(findings,
                                       heddle::cli::HasColour(STDOUT_FILENO));
  std::fputs(text.c_str(), stdout);
  for (const auto& finding : findings) {
    if (finding.level == heddle::smi::Finding::Level::kProblem) {
      return heddle::cli::kFailed;
    }
  }
  return heddle::cli::kOk;
}
