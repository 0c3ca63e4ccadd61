// SPDX-License-Identifier: Apache-2.0
//
// heddle-sim: one virtual card as a process. Its death is the card's surprise
// removal. libsystemc brings main() and calls sc_main().
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <systemc>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "heddle/version.h"
#include "rtl/spec/version.h"
#include "simulator/platform/commands.h"
#include "simulator/platform/control_client.h"
#include "simulator/platform/control_server.h"
#include "simulator/platform/parse.h"
#include "simulator/platform/platform.h"
#include "simulator/platform/qemu_server.h"
#include "simulator/platform/vfio_user_server.h"
#include "simulator/platform/vhost_user_server.h"
#include "simulator/rtl/card_target.h"
#include "tools/cli/exit_codes.h"
#include "tools/cli/usage.h"

namespace heddle::platform {
namespace {

constexpr char kDescription[] =
    R"(Example:
  heddle-sim --socket card0.sock --memory 512M --control card0.ctl &
  heddle-hosted --socket heddle.sock --card card0.sock &
  HEDDLE_DEVICE=hosted:heddle.sock heddle-run model.onnx
  heddle-sim ctl --control card0.ctl unplug

Simulates a Heddle card. It attaches to heddle-hosted over vfio-user, to QEMU
7.2 as x-pci-proxy-dev, or to user-mode Linux over vhost-user. When the process
exits, the host sees a surprise removal. Programs that find no card start one
by themselves.
)";

struct Arguments {
  std::string socket;
  std::string config = isa::kConfigs[0].name;
  std::string memory;
  std::string serial;
  std::string hw_version = reg::VersionText(reg::kVersionReset);
  std::string core = "fast";
  uint64_t quantum = PlatformOptions().quantum;
  uint32_t host_latency = PlatformOptions().host_latency;
  std::string trace, trace_window;
  std::string control;
  bool qemu = false, uml = false;
  int qtest_fd = -1;
  int ready_fd = -1;
  int parent_fd = -1;
  bool exit_with_parent = false;
  std::vector<std::string> command;
};

using cli::kFailed;
using cli::kNoDevice;
using cli::kOk;
using cli::kUsage;

constexpr char kExitCodeHelp[] =
    "Exit codes: 0 success, 1 failure (file, system, self-test, command "
    "rejected by\n"
    "the card), 2 usage, 3 ctl found no simulator.";

// InvalidArgument is the command line's fault, anything else is a failure.
int Fail(const absl::Status& status) {
  std::fprintf(stderr, "heddle-sim: error: %s\n",
               std::string(status.message()).c_str());
  if (!absl::IsInvalidArgument(status)) return kFailed;
  std::fprintf(stderr, "heddle-sim --help lists all options.\n");
  return kUsage;
}

std::string ConfigNames() {
  return absl::StrJoin(isa::kConfigs, ", ",
                       [](std::string* out, const isa::Config& config) {
                         out->append(config.name);
                       });
}

// FNV-1a of the socket's absolute path, in 32 bits: two cards of a machine have
// two serial numbers, and the same card has the same when it is started again.
uint64_t SerialOf(const std::string& socket) {
  uint32_t hash = 0x811c9dc5;
  std::error_code error;
  const auto path = std::filesystem::absolute(socket, error);
  for (const char c : error ? socket : path.string()) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x01000193;
  }
  return hash;
}

absl::StatusOr<PlatformOptions> Parse(const Arguments& arguments) {
  PlatformOptions options;
  options.config = isa::FindConfig(arguments.config);
  if (options.config == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("--config ", arguments.config,
                     ": there is no such configuration; give ", ConfigNames()));
  }
  if (!arguments.memory.empty()) {
    absl::StatusOr<uint64_t> size = ParseSize(arguments.memory);
    if (!size.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--memory: ", size.status().message()));
    }
    options.dram_bytes = *size;
  }
  if (arguments.serial.empty()) {
    options.serial = SerialOf(arguments.socket);
  } else {
    absl::StatusOr<uint64_t> serial = ParseNumber(arguments.serial);
    if (!serial.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--serial: ", serial.status().message()));
    }
    options.serial = *serial;
  }
  if (!reg::ParseVersion(arguments.hw_version, &options.hw_version)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--hw-version ", arguments.hw_version,
                     ": give a major and a minor number, such as 1.0"));
  }
  if (arguments.core == "fast") {
    options.implementation = model::Implementation::kFast;
  } else if (arguments.core == "reference" || arguments.core == "obvious") {
    // The latter is its old name.
    options.implementation = model::Implementation::kReference;
  } else if (arguments.core == "rtl") {
    options.rtl = true;
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "--core ", arguments.core, ": give fast, reference or rtl"));
  }
  if (options.rtl && options.hw_version != reg::kVersionReset) {
    return absl::InvalidArgumentError(
        "--hw-version: the version of --core rtl is fixed");
  }
  options.quantum = arguments.quantum;
  if (!options.rtl && arguments.host_latency != options.host_latency) {
    return absl::InvalidArgumentError(
        "--host-latency: only --core rtl models cycles");
  }
  options.host_latency = arguments.host_latency;
  options.trace_file = arguments.trace;
  if (!arguments.trace_window.empty()) {
    const std::pair<std::string, std::string> window =
        absl::StrSplit(arguments.trace_window, absl::MaxSplits(':', 1));
    const auto from = ParseNumber(window.first);
    const auto to = ParseNumber(window.second);
    if (!from.ok() || !to.ok() || *from >= *to) {
      return absl::InvalidArgumentError(
          absl::StrCat("--trace-window ", arguments.trace_window,
                       ": give FROM:TO in cycles"));
    }
    options.trace_from = *from;
    options.trace_to = *to;
  }
  if (!options.rtl &&
      (!arguments.trace.empty() || !arguments.trace_window.empty())) {
    return absl::InvalidArgumentError("--trace: only --core rtl has waveforms");
  }
  if (arguments.trace.empty() && !arguments.trace_window.empty()) {
    return absl::InvalidArgumentError("--trace-window: give --trace FILE");
  }
  if (arguments.qemu && arguments.uml) {
    return absl::InvalidArgumentError("give either --qemu or --uml, not both");
  }
  if (!arguments.qemu && arguments.qtest_fd >= 0) {
    return absl::InvalidArgumentError("--qtest-fd requires --qemu");
  }
  struct stat info;
  if (arguments.qtest_fd >= 0 &&
      (fstat(arguments.qtest_fd, &info) != 0 || !S_ISSOCK(info.st_mode))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--qtest-fd ", arguments.qtest_fd, ": not an open socket"));
  }
  return options;
}

// The program beside this one that can write waveforms gets its arguments.
// Returns only if it cannot be run.
absl::Status BecomeTracer(char** argv) {
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
  std::string path = n > 0 ? std::string(self, static_cast<size_t>(n)) : "";
  path += "-trace";
  execv(path.c_str(), argv);
  return absl::UnimplementedError(absl::StrCat(
      "--trace: this program cannot write waveforms; the one that can, ", path,
      ", is missing. The packages do not contain it: in a checkout of Heddle, "
      "run bazel build //simulator/platform:heddle-sim-trace and copy it "
      "there. For a timeline of commands no waveforms are needed: heddle-run "
      "--core rtl --trace FILE MODEL"));
}

int RunSelfTest(const Arguments& arguments) {
  const isa::Config* config = isa::FindConfig(arguments.config);
  if (config == nullptr) {
    return Fail(absl::InvalidArgumentError(absl::StrCat(
        "--config ", arguments.config,
        ": there is no such configuration; give ", ConfigNames())));
  }
  auto card = rtl::CardTarget::Make(*config);
  if (!card.ok()) return Fail(card.status());
  std::string report;
  const bool good = rtl::SelfTest(card->get(), &report);
  std::printf("%s", report.c_str());
  return good ? kOk : kFailed;
}

int Control(const Arguments& arguments) {
  if (arguments.control.empty())
    return Fail(absl::InvalidArgumentError(
        "ctl: --control PATH is missing (the simulator's control socket)"));
  absl::StatusOr<std::string> answer =
      SendCommand(arguments.control, absl::StrJoin(arguments.command, " "));
  if (absl::IsUnavailable(answer.status())) {
    Fail(answer.status());
    return kNoDevice;
  }
  if (!answer.ok()) return Fail(answer.status());
  std::printf("%s\n", answer->c_str());
  const nlohmann::json parsed = nlohmann::json::parse(*answer, nullptr, false);
  return parsed.is_object() && parsed.value("ok", false) ? kOk : kFailed;
}

// SystemC greets on stderr before sc_main; nobody asked.
[[maybe_unused]] const int kQuiet =
    setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);

sigset_t EndingSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

// Ends the simulation on EndingSignals(), which are blocked, so that sockets
// are removed and waveforms complete.
int WatchSignals(Reactor* reactor) {
  const sigset_t set = EndingSignals();
  const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd >= 0) reactor->Watch(fd, [reactor] { reactor->Quit(); });
  return fd;
}

// Ends the simulation when the other end of a pipe is closed.
void WatchParent(int fd, Reactor* reactor) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  reactor->Watch(fd, [fd, reactor] {
    char buffer[256];
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) reactor->Quit();
  });
}

void ReportReady(const Arguments& arguments) {
  std::printf("heddle-sim: ready at %s\n", arguments.socket.c_str());
  std::fflush(stdout);
  if (arguments.ready_fd < 0) return;
  [[maybe_unused]] const ssize_t n = write(arguments.ready_fd, "ready\n", 6);
  close(arguments.ready_fd);
}

int Simulate(const Arguments& arguments, char** argv) {
  if (arguments.socket.empty())
    return Fail(absl::InvalidArgumentError(
        "--socket PATH is missing (where the host connects)"));
  absl::StatusOr<PlatformOptions> options = Parse(arguments);
  if (!options.ok()) return Fail(options.status());
  if (arguments.exit_with_parent) {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) return 0;  // it was faster
  }
  signal(SIGPIPE, SIG_IGN);
  // Before there are threads (the writer of waveforms is one): a signal that
  // one of them does not block ends the process at once.
  const sigset_t ending = EndingSignals();
  sigprocmask(SIG_BLOCK, &ending, nullptr);
  absl::StatusOr<std::unique_ptr<Platform>> platform =
      Platform::Create(*options);
  if (absl::IsUnimplemented(platform.status()) && !arguments.trace.empty()) {
    platform = BecomeTracer(argv);
  }
  if (!platform.ok()) return Fail(platform.status());
  Reactor* reactor = (*platform)->reactor();
  std::unique_ptr<HostServer> server;
  if (arguments.qemu) {
    server = std::make_unique<QemuServer>((*platform)->card(), reactor,
                                          arguments.socket, arguments.qtest_fd);
  } else if (arguments.uml) {
    server = std::make_unique<VhostUserServer>((*platform)->card(), reactor,
                                               arguments.socket);
  } else {
    server = std::make_unique<VfioUserServer>((*platform)->card(), reactor,
                                              arguments.socket);
  }
  absl::Status status = server->Listen();
  if (!status.ok()) return Fail(status);
  Commands commands(platform->get(), server.get());
  std::unique_ptr<ControlServer> control;
  if (!arguments.control.empty()) {
    control = std::make_unique<ControlServer>(
        reactor, arguments.control,
        [&commands](absl::string_view line) { return commands.Run(line); });
    status = control->Listen();
    if (!status.ok()) return Fail(status);
  }
  if (arguments.parent_fd >= 0) WatchParent(arguments.parent_fd, reactor);
  WatchSignals(reactor);
  ReportReady(arguments);
  // Nor for "simulation stopped by user".
  sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_INFO,
                                          sc_core::SC_DO_NOTHING);
  sc_core::sc_start();
  return 0;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(kDescription, "heddle-sim");
  cli::WrapHelp(&app);
  app.set_version_flag("--version", "heddle-sim " HEDDLE_VERSION);
  app.footer(
      absl::StrCat("Commands of ctl:\n", kCommandHelp, "\n", kExitCodeHelp));
  app.add_option("--socket", arguments.socket,
                 "socket for the host to connect to");
  app.add_flag("--qemu", arguments.qemu,
               "speak QEMU 7.2's x-pci-proxy-dev protocol on the socket");
  app.add_flag("--uml", arguments.uml,
               "speak vhost-user's virtio_pcidev protocol on the socket, for "
               "user-mode Linux");
  app.add_option("--qtest-fd", arguments.qtest_fd,
                 "with --qemu: descriptor connected to QEMU's qtest, for "
                 "interrupts; cards can share it");
  app.add_option("--config", arguments.config, ConfigNames())
      ->capture_default_str();
  app.add_option("--memory", arguments.memory,
                 absl::StrCat("device memory, ", isa::kDramBytesMin >> 20,
                              "M to ", isa::kDramBytesMax >> 20, "M [",
                              isa::kDramBytesDefault >> 20, "M]"));
  app.add_option("--serial", arguments.serial,
                 "serial number (default: derived from the socket's path)");
  app.add_option("--hw-version", arguments.hw_version,
                 "hardware version to report, for testing software against "
                 "earlier or later ones; behaviour does not change")
      ->capture_default_str();
  app.add_option("--core", arguments.core,
                 "fast: functional model; reference: functional model in its "
                 "simplest form, slow; rtl: the hardware, cycle by cycle")
      ->capture_default_str();
  app.add_option("--host-latency", arguments.host_latency,
                 "rtl: latency of host memory in cycles")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--quantum", arguments.quantum,
                 "rtl: cycles between polls of the host")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{1}, uint64_t{1000000}));
  app.add_option("--trace", arguments.trace,
                 "rtl: write waveforms to this FST file");
  app.add_option("--trace-window", arguments.trace_window,
                 "rtl: with --trace, only cycles FROM:TO since power-up");
  app.add_option("--control", arguments.control, "control socket to create");
  app.add_option("--ready-fd", arguments.ready_fd,
                 "descriptor that receives a line when the card is ready");
  app.add_option("--parent-fd", arguments.parent_fd,
                 "exit when the other end of this descriptor is closed");
  app.add_flag("--exit-with-parent", arguments.exit_with_parent,
               "exit when the parent process exits");
  CLI::App* ctl =
      app.add_subcommand("ctl", "send a command to a running simulator");
  ctl->add_option("--control", arguments.control, "its control socket")
      ->required();
  ctl->add_option("command", arguments.command, "the command and its arguments")
      ->required();
  CLI::App* self_test = app.add_subcommand(
      "selftest",
      "check results and cycle counts of the RTL card, without a host");
  self_test->add_option("--config", arguments.config, ConfigNames())
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli::ExitOfParse(app, error);
  }
  if (self_test->parsed()) return RunSelfTest(arguments);
  return ctl->parsed() ? Control(arguments) : Simulate(arguments, argv);
}

}  // namespace
}  // namespace heddle::platform

int sc_main(int argc, char** argv) {
  return heddle::platform::Main(argc, argv);
}
