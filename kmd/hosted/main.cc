// SPDX-License-Identifier: GPL-2.0-only OR MIT
// heddle-hosted: the driver as a process.
#include <grp.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "heddle/version.h"
#include "kmd/hosted/server.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"
#include "tools/cli/usage.h"

namespace {

// Exit codes; also in --help.
constexpr int kUsage = 2;
constexpr int kSocket = 3;

heddle::hosted::Server* g_server = nullptr;

void OnSignal(int) { g_server->Stop(); }

// Empty text leaves the value as it is.
bool ParseMode(const std::string& text, int* mode) {
  if (text.empty()) return true;
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 8);
  if (*end != 0 || value < 0 || value > 0777) return false;
  *mode = static_cast<int>(value);
  return true;
}

bool ParseGroup(const std::string& text, int64_t* group) {
  if (text.empty()) return true;
  if (const struct group* known = getgrnam(text.c_str())) {
    *group = known->gr_gid;
    return true;
  }
  char* end = nullptr;
  const unsigned long value = std::strtoul(text.c_str(), &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != 0 || value >= UINT32_MAX)
    return false;
  *group = static_cast<int64_t>(value);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Example:\n"
      "  heddle-sim --socket card0.sock &\n"
      "  heddle-hosted --socket heddle.sock --card card0.sock\n"
      "  HEDDLE_DEVICE=hosted:heddle.sock heddle-run model.onnx\n"
      "\n"
      "Runs the Heddle driver as a daemon: attaches to simulated cards over "
      "vfio-user\n"
      "and serves clients on a Unix socket. Cards may come and go at any "
      "time.\n",
      "heddle-hosted");
  heddle::cli::WrapHelp(&app);
  app.set_version_flag("--version", "heddle-hosted " HEDDLE_VERSION);
  heddle::hosted::Server::Options options;
  uint64_t timeout_ms = 0;
  std::string log = "info";
  app.add_option("--socket", options.socket,
                 "Path of the socket that clients connect to")
      ->required();
  app.add_option(
         "--card", options.cards,
         "vfio-user socket of a card (repeatable; the n-th is card n-1)")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option(
      "--timeout-ms", timeout_ms,
      "Abort a job after this long without progress (default: 2 s on silicon, "
      "30 s on the functional model, 120 s on RTL)");
  app.add_option("--run-cycles", options.run_cycles,
                 "Cycle limit of a job whose context sets none (default: about "
                 "a minute at "
                 "1 GHz). Beyond it: EFBIG");
  uint64_t queued_mib = options.limits.queued_bytes >> 20;
  uint64_t greeting_ms = options.limits.greeting_ns / 1000000;
  uint64_t unread_ms = options.limits.unread_ns / 1000000;
  std::string mode, group;
  app.add_option("--socket-mode", mode,
                 "Mode of the socket, octal (default: 0660 with "
                 "--socket-group, otherwise from "
                 "the umask); write access grants use of the cards");
  app.add_option("--socket-group", group,
                 "Group of the socket, name or number");
  auto* limits =
      app.add_option_group("Limits",
                           "Limits on what clients use of this process (for "
                           "those of a card, see QUERY_LIMITS)");
  limits
      ->add_option("--max-clients", options.limits.clients,
                   "Open files of all users; one user may have three quarters "
                   "of them. Beyond: "
                   "ENFILE, or EMFILE for the user's share")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  limits
      ->add_option("--max-calls", options.limits.calls,
                   "Concurrent blocking calls of a client. Beyond: EAGAIN")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  limits
      ->add_option("--max-queued-mib", queued_mib,
                   "MiB of buffered requests and replies of a client. A call "
                   "that would exceed it: "
                   "ENOBUFS")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  limits
      ->add_option("--max-descriptors", options.limits.descriptors,
                   "Descriptors for a client's HOST buffers and streams. "
                   "Beyond: EDQUOT. All clients "
                   "share what the limit on open files leaves; when that is "
                   "exhausted: ENOMEM")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  limits
      ->add_option("--greeting-ms", greeting_ms,
                   "Close a connection that sends no request for this long "
                   "after connecting")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  limits
      ->add_option(
          "--unread-ms", unread_ms,
          "Disconnect a client that reads none of its replies for this long")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  app.add_option("--log", log,
                 "Lowest severity to print: debug, info, warn, error, off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}));
  app.add_flag("--idle-exit", options.idle_exit,
               "Exit when standard input, a pipe or a socket, reaches "
               "end-of-file; if it is "
               "neither, when the last client disconnects");
  app.footer(
      "Exit codes: 0 stopped on request (signal, --idle-exit), 2 usage, 3 the "
      "socket\n"
      "cannot be served. A missing card is not an error: it is attached when "
      "it\n"
      "appears.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return heddle::cli::ExitOfParse(app, e);
  }
  spdlog::set_default_logger(spdlog::stderr_logger_mt("heddle-hosted"));
  spdlog::set_pattern("heddle-hosted: %l: %v");
  spdlog::set_level(spdlog::level::from_str(log));
  options.timeout_ns = timeout_ms * 1000000;
  options.limits.queued_bytes = queued_mib << 20;
  options.limits.greeting_ns = greeting_ms * 1000000;
  options.limits.unread_ns = unread_ms * 1000000;
  if (!ParseMode(mode, &options.socket_mode)) {
    std::fprintf(stderr,
                 "heddle-hosted: error: --socket-mode %s: expected an octal "
                 "mode, 0 to 777\n",
                 mode.c_str());
    return kUsage;
  }
  if (!ParseGroup(group, &options.socket_group)) {
    std::fprintf(stderr,
                 "heddle-hosted: error: --socket-group %s: no such group\n",
                 group.c_str());
    return kUsage;
  }

  auto server = heddle::hosted::Server::Start(options);
  if (!server.ok()) {
    std::fprintf(stderr, "heddle-hosted: error: %s\n",
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
