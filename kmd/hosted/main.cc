// SPDX-License-Identifier: GPL-2.0-only OR MIT
// heddle-hosted: the driver as a process.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "kmd/hosted/server.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace {

// Exit codes; also in --help.
constexpr int kUsage = 2;
constexpr int kSocket = 3;

heddle::hosted::Server* g_server = nullptr;

void OnSignal(int) { g_server->Stop(); }

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Example:\n"
      "  heddle-sim --socket card0.sock &\n"
      "  heddle-hosted --socket heddle.sock --card card0.sock\n"
      "  HEDDLE_DEVICE=hosted:heddle.sock heddle-run model.onnx\n\n"
      "Runs the Heddle driver in a process: attaches to simulated cards over "
      "vfio-user\n"
      "and serves clients on a Unix socket. A card may come and go at any "
      "time.\n",
      "heddle-hosted");
  heddle::hosted::Server::Options options;
  uint64_t timeout_ms = 0;
  std::string log = "info";
  app.add_option("--socket", options.socket,
                 "Path of the socket that clients connect to")
      ->required();
  app.add_option(
         "--card", options.cards,
         "vfio-user socket of a card (repeat for more; the n-th is card n-1)")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--timeout-ms", timeout_ms,
                 "Abort a job that makes no progress for so long (default: 2 s "
                 "on silicon,\n"
                 "30 s on the functional model, 120 s on RTL)");
  app.add_option("--log", log,
                 "Least severity to print: debug, info, warn, error, off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
  app.add_flag("--idle-exit", options.idle_exit,
               "End when standard input, a pipe or a socket, reaches "
               "end-of-file; if it is\n"
               "neither, when the last client has gone");
  app.footer(
      "Exit codes: 0 ended as asked (signal, --idle-exit), 2 usage, 3 the "
      "socket cannot be\n"
      "served. A card that is missing or goes away is no error: it is attached "
      "when it\n"
      "appears.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : kUsage;
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("heddle-hosted"));
  spdlog::set_pattern("heddle-hosted: %l: %v");
  spdlog::set_level(spdlog::level::from_str(log));
  options.timeout_ns = timeout_ms * 1000000;

  auto server = heddle::hosted::Server::Start(options);
  if (!server.ok()) {
    std::fprintf(stderr, "heddle-hosted: %s\n",
                 std::string(server.status().message()).c_str());
    return kSocket;
  }
  g_server = server->get();
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  (*server)->Run();
  signal(SIGTERM, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  return 0;
}
