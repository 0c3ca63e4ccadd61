// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-smi/doctor.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "rtl/spec/generated/registers.h"
#include "runtime/session/device_spec.h"
#include "tools/cli/printable.h"

namespace heddle::smi {
namespace {

using Level = Finding::Level;
using Kind = session::DeviceSpec::Kind;

constexpr char kPciFolder[] = "/sys/bus/pci/devices";
constexpr char kLibrary[] = "libonnxifi-heddle.so";
constexpr char kProbe[] = " | sudo tee /sys/bus/pci/drivers_probe";

using KernelVersion = std::pair<int, int>;
// What heddle.ko builds for and is tested with (README.md, "Linux driver"). Its
// sources ask the kernel's headers for interfaces, not for a version.
constexpr KernelVersion kOldestKernel = {6, 1}, kNewestKernel = {6, 12};

// "6.1.0-50-amd64". One that says no version is given the benefit of the doubt.
bool IsSupportedKernel(const std::string& release) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(release, absl::ByAnyChar(".-+_"));
  KernelVersion version;
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &version.first) ||
      !absl::SimpleAtoi(parts[1], &version.second)) {
    return true;
  }
  return kOldestKernel <= version && version <= kNewestKernel;
}

// Udev does not read rules below other prefixes than its own, and applies none
// to a node that exists until it is told to.
std::string InstallUdevRule(const std::string& node) {
  return absl::StrCat(
      "install the udev rule (group render, mode 0660; the package "
      "heddle-runtime has it; without packages: sudo install -D -m 644 -t "
      "/etc/udev/rules.d PREFIX/lib/udev/rules.d/60-heddle.rules), then: sudo "
      "udevadm control --reload && sudo udevadm trigger ",
      node);
}

// heddle.ko makes the node of the card once more.
std::string Rebind(const std::string& card) {
  return absl::StrCat("echo ", card, " | sudo tee ", kPciFolder, "/", card,
                      "/driver/unbind; echo ", card, kProbe);
}

class Doctor {
 public:
  explicit Doctor(const DoctorSystem& system) : system_(system) {}

  std::vector<Finding> Run() {
    const bool kernel = CheckDevice();
    CheckHosted();
    FindPrograms();
    if (kernel) CheckKernel();
    CheckLibrary();
    CheckPrograms();
    return std::move(findings_);
  }

 private:
  void Add(Level level, std::string check, std::string text,
           std::string fix = "") {
    findings_.push_back(
        {level, std::move(check), std::move(text), std::move(fix)});
  }
  const Rooted& files() const { return system_.files; }

  // What HEDDLE_DEVICE asks for. Whether cards of heddle.ko matter to it.
  bool CheckDevice() {
    const auto spec = session::ParseDeviceSpec(system_.device);
    if (!spec.ok()) {
      Add(Level::kProblem, "HEDDLE_DEVICE",
          cli::Printable(spec.status().message()), "unset HEDDLE_DEVICE");
      return true;
    }
    kind_ = spec->kind;
    if (kind_ == Kind::kAuto) {
      Add(Level::kOk, "HEDDLE_DEVICE",
          "not set: uses a card of heddle.ko, else of heddle-hosted, else a "
          "simulated one");
      return true;
    }
    Add(Level::kOk, "HEDDLE_DEVICE", cli::Printable(system_.device));
    if (kind_ == Kind::kHosted) socket_ = spec->socket;
    asked_node_ = spec->node;
    return kind_ == Kind::kDrm;
  }

  void CheckHosted() {
    const std::string shown = cli::Printable(socket_);
    if (!files().Exists(socket_)) {
      const bool asked = kind_ == Kind::kHosted;
      Add(asked ? Level::kProblem : Level::kNote, "heddle-hosted",
          absl::StrCat("no socket at '", shown, "'"), StartHosted(asked));
      return;
    }
    const auto cards = system_.list_hosted(socket_);
    if (absl::IsUnimplemented(cards.status())) {
      Add(Level::kNote, "heddle-hosted",
          absl::StrCat("found a socket at '", shown, "'; not queried"));
    } else if (absl::IsPermissionDenied(cards.status())) {
      struct stat info = {};
      const bool known = stat(files().Path(socket_).c_str(), &info) == 0;
      Add(Level::kProblem, "heddle-hosted",
          absl::StrCat("this user may not use the socket '", shown, "'"),
          known && (info.st_mode & 0020) && info.st_gid != 0
              ? absl::StrCat("sudo usermod -aG ", GroupName(info.st_gid),
                             " $USER, then log in again")
              : "start heddle-hosted with --socket-group GROUP, a group of "
                "this user");
    } else if (!cards.ok()) {
      Add(Level::kProblem, "heddle-hosted",
          cli::Printable(cards.status().message()),
          absl::StrCat("restart heddle-hosted, or remove '", shown, "'"));
    } else if (*cards == 0) {
      Add(Level::kProblem, "heddle-hosted",
          absl::StrCat("runs at '", shown, "' but has no card"),
          "start a card: heddle-sim --socket CARD_SOCKET, with the path that "
          "heddle-hosted was given as --card; if it runs, unplugged, plug it "
          "in "
          "again: heddle-sim ctl --control CONTROL plug");
    } else {
      hosted_ = true;
      Add(Level::kOk, "heddle-hosted",
          absl::StrCat("runs at '", shown, "', cards: ", *cards));
    }
  }

  // The unit serves the system's socket only.
  std::string StartHosted(bool asked) const {
    if (socket_ == session::kSystemSocket) {
      for (const char* folder : {"/etc", "/lib", "/usr/lib"}) {
        if (files().Exists(absl::StrCat(
                folder, "/systemd/system/heddle-hosted.service"))) {
          return "sudo systemctl enable --now heddle-hosted";
        }
      }
    }
    return asked ? absl::StrCat("start it: heddle-hosted --socket ",
                                cli::Printable(socket_), " --card CARD_SOCKET")
                 : "";
  }

  // What there is in place of a card of heddle.ko.
  const char* InsteadOfACard() const {
    if (kind_ == Kind::kDrm) {
      return "without HEDDLE_DEVICE, programs look for other cards, too";
    }
    if (hosted_) return "without a card, programs use one of heddle-hosted";
    return missing_.empty() ? "without a card, programs use a simulated one"
                            : "or simulate one, see below";
  }

  void CheckKernel() {
    FindPci();
    if (cards_.empty()) {
      const bool other = kind_ == Kind::kAuto && (hosted_ || missing_.empty());
      Add(other ? Level::kNote : Level::kProblem, "PCI device",
          absl::StrFormat("no device with the IDs %04x:%04x", reg::kPciVendorId,
                          reg::kPciDeviceId),
          absl::StrFormat(
              "insert the card (lspci -d %04x:%04x shows it; if it was present "
              "before: echo 1 | sudo tee /sys/bus/pci/rescan); %s",
              reg::kPciVendorId, reg::kPciDeviceId, InsteadOfACard()));
    }
    for (const std::string& card : cards_) CheckResponse(card);
    const bool loaded = CheckModule();
    if (cards_.empty() || !loaded) return;
    for (const std::string& card : cards_) CheckCard(card);
    CheckAskedNode();
    CheckInterrupts();
  }

  void FindPci() {
    for (const std::string& name : files().List(kPciFolder)) {
      const std::string folder = absl::StrCat(kPciFolder, "/", name);
      uint32_t vendor = 0, device = 0;
      if (absl::SimpleHexAtoi(files().Line(folder + "/vendor"), &vendor) &&
          absl::SimpleHexAtoi(files().Line(folder + "/device"), &device) &&
          vendor == reg::kPciVendorId && device == reg::kPciDeviceId) {
        cards_.push_back(name);
      }
    }
  }

  // A dead card keeps its folder and its node until something accesses it.
  void CheckResponse(const std::string& card) {
    const std::string folder = absl::StrCat(kPciFolder, "/", card);
    if (!absl::StartsWith(files().Read(folder + "/config").value_or(""),
                          "\xff\xff\xff\xff")) {
      Add(Level::kOk, "PCI device", card);
      return;
    }
    Add(Level::kProblem, "PCI device",
        absl::StrCat(card,
                     " does not respond, its configuration space is all ones"),
        absl::StrCat("reset or reseat the card, then: echo 1 | sudo tee ",
                     folder, "/remove; echo 1 | sudo tee /sys/bus/pci/rescan"));
  }

  bool CheckModule() {
    if (files().Exists("/sys/module/heddle")) {
      const std::string version =
          cli::Printable(files().Line("/sys/module/heddle/version"));
      Add(Level::kOk, "module",
          absl::StrCat(
              "heddle.ko is loaded",
              version.empty() ? "" : absl::StrCat(", version ", version)));
      return true;
    }
    // Without a card nobody needs it.
    const Level level = cards_.empty() ? Level::kNote : Level::kProblem;
    const std::string kernel =
        cli::Printable(files().Line("/proc/sys/kernel/osrelease"));
    const std::string modules =
        files()
            .Read(absl::StrCat("/lib/modules/", kernel, "/modules.dep"))
            .value_or("");
    if (absl::StrContains(modules, "/heddle.ko")) {
      Add(level, "module", "heddle.ko is installed but not loaded",
          "sudo modprobe heddle (its messages: sudo dmesg | grep heddle)");
    } else if (!IsSupportedKernel(kernel)) {
      Add(level, "module",
          absl::StrFormat(
              "heddle.ko supports Linux %d.%d to %d.%d, the kernel is %s",
              kOldestKernel.first, kOldestKernel.second, kNewestKernel.first,
              kNewestKernel.second, kernel),
          "boot a kernel that it supports; simulated cards need no module");
    } else {
      Add(level, "module",
          absl::StrCat("heddle.ko is not installed for the kernel ", kernel),
          "sudo apt install ./heddle-dkms_*.deb (./dev package builds it), "
          "with linux-headers-$(uname -r); without packages: make -C "
          "PREFIX/share/heddle/driver/kmd && sudo make -C "
          "PREFIX/share/heddle/driver/kmd install, with PREFIX where Heddle is "
          "installed or staged");
    }
    return false;
  }

  // `driver`: empty if it has none.
  void CheckOtherDriver(const std::string& card, const std::string& driver) {
    const std::string folder = absl::StrCat(kPciFolder, "/", card);
    const std::string kept =
        cli::Printable(files().Line(folder + "/driver_override"));
    const bool other = !kept.empty() && kept != "(null)" && kept != "heddle";
    if (driver.empty() && !other) {
      Add(Level::kProblem, "driver", absl::StrCat(card, " has no driver"),
          absl::StrCat(
              "sudo dmesg | grep ", card,
              " says why heddle.ko did not bind to it; retry with: echo ", card,
              kProbe));
      return;
    }
    // Without the override the other driver would be asked first, or alone.
    Add(Level::kProblem, "driver",
        driver.empty()
            ? absl::StrCat(card, " has no driver, its driver_override allows ",
                           kept, " only")
            : absl::StrCat(card, " is bound to the driver ", driver),
        absl::StrCat("echo heddle | sudo tee ", folder, "/driver_override; ",
                     driver.empty() ? absl::StrCat("echo ", card, kProbe)
                                    : Rebind(card)));
  }

  void CheckCard(const std::string& card) {
    const std::string folder = absl::StrCat(kPciFolder, "/", card);
    const std::string driver = files().LinkName(folder + "/driver");
    if (driver != "heddle") {
      CheckOtherDriver(card, cli::Printable(driver));
      return;
    }
    std::string node;
    for (const std::string& name : files().List(folder + "/drm")) {
      if (absl::StartsWith(name, "renderD")) node = "/dev/dri/" + name;
    }
    for (const std::string& name : files().List(folder + "/accel")) {
      node = "/dev/accel/" + name;
    }
    if (node.empty()) {
      Add(Level::kProblem, "node",
          absl::StrCat(card,
                       " has no device node although heddle.ko is bound to it"),
          absl::StrCat("sudo dmesg | grep heddle says why; then: ",
                       Rebind(card)));
      return;
    }
    node = cli::Printable(node);
    nodes_.push_back(node);
    struct stat info;
    if (stat(files().Path(node).c_str(), &info) != 0) {
      Add(Level::kProblem, "node", absl::StrCat(node, " does not exist"),
          absl::StrCat(
              "in a container, pass the device in (--device ", node,
              "); otherwise, in a /dev that is a devtmpfs, heddle.ko makes it "
              "again: ",
              Rebind(card)));
      return;
    }
    Add(Level::kOk, "node", absl::StrCat(node, " (", card, ")"));
    if (CheckRights(node, info)) CheckInterface(node);
  }

  bool CheckRights(const std::string& node, const struct stat& info) {
    const mode_t mode = info.st_mode & 07777;
    const bool member = std::find(system_.groups.begin(), system_.groups.end(),
                                  info.st_gid) != system_.groups.end();
    const mode_t mine = info.st_uid == system_.user ? mode >> 6
                        : member                    ? mode >> 3
                                                    : mode;
    const std::string group = GroupName(info.st_gid);
    if (system_.user == 0 || (mine & 6) == 6) {
      Add(Level::kOk, "rights",
          absl::StrFormat("this user may open %s (group %s, mode %04o)", node,
                          group, mode));
      if (mode & 2) {
        Add(Level::kNote, "rights", absl::StrCat("every user may open ", node),
            InstallUdevRule(node));
      }
      return true;
    }
    const bool group_helps = (mode >> 3 & 6) == 6 && info.st_gid != 0;
    Add(Level::kProblem, "rights",
        absl::StrFormat("this user may not open %s (group %s, mode %04o)", node,
                        group, mode),
        group_helps ? absl::StrCat("sudo usermod -aG ", group,
                                   " $USER, then log in again")
                    : InstallUdevRule(node));
    return false;
  }

  // The node may be named by a link, e.g. in /dev/dri/by-path.
  bool IsAsked(const std::string& node) const {
    struct stat asked, info;
    return node == asked_node_ ||
           (stat(files().Path(asked_node_).c_str(), &asked) == 0 &&
            stat(files().Path(node).c_str(), &info) == 0 &&
            asked.st_dev == info.st_dev && asked.st_ino == info.st_ino);
  }

  void CheckAskedNode() {
    if (asked_node_.empty() || nodes_.empty() ||
        std::any_of(
            nodes_.begin(), nodes_.end(),
            [this](const std::string& node) { return IsAsked(node); })) {
      return;
    }
    Add(Level::kProblem, "HEDDLE_DEVICE",
        absl::StrCat(
            "asks for ", cli::Printable(asked_node_),
            ", which is no card; cards: ", absl::StrJoin(nodes_, ", ")),
        absl::StrCat("export HEDDLE_DEVICE=drm:", nodes_[0]));
  }

  void CheckInterface(const std::string& node) {
    const auto jobs = system_.open_node(node);
    if (jobs.ok()) {
      jobs_ = jobs_.value_or(0) + *jobs;
      Add(Level::kOk, "interface", absl::StrCat(node, " speaks version 1"));
      return;
    }
    if (absl::IsUnimplemented(jobs.status())) return;  // not asked
    Add(Level::kProblem, "interface", cli::Printable(jobs.status().message()),
        absl::IsFailedPrecondition(jobs.status())
            ? "install module and library of the same release; modinfo heddle "
              "shows the module's"
        : absl::IsUnavailable(jobs.status())
            ? "the card is gone or does not respond: sudo dmesg | grep heddle"
            : "sudo dmesg | grep heddle");
  }

  // Lines of /proc/interrupts: "NUMBER: COUNT... CHIP NAME".
  void CheckInterrupts() {
    const auto text = files().Read("/proc/interrupts");
    if (!text.has_value()) {
      Add(Level::kNote, "interrupts", "/proc/interrupts cannot be read");
      return;
    }
    uint64_t count = 0;
    int vectors = 0;
    for (absl::string_view line : absl::StrSplit(*text, '\n')) {
      const std::vector<absl::string_view> words =
          absl::StrSplit(line, ' ', absl::SkipEmpty());
      if (words.size() < 3 || !absl::StrContains(words.back(), "heddle")) {
        continue;
      }
      ++vectors;
      for (size_t i = 1; i < words.size(); ++i) {
        uint64_t one = 0;
        if (!absl::SimpleAtoi(words[i], &one)) break;  // the chip
        count += one;
      }
    }
    const uint64_t jobs = jobs_.value_or(0);
    const std::string found =
        absl::StrCat(count, " on ", vectors, " vectors, jobs: ",
                     jobs_.has_value() ? absl::StrCat(jobs) : "not known");
    if (vectors == 0) {
      Add(Level::kProblem, "interrupts", "heddle.ko has none",
          "MSI must be enabled: look for pci=nomsi in /proc/cmdline and for "
          "heddle in sudo dmesg");
    } else if (count == 0 && jobs > 0) {
      Add(Level::kProblem, "interrupts", found,
          "jobs complete only because the driver polls: a virtual card must "
          "raise MSI-X; on a real one check the interrupt controller in sudo "
          "dmesg");
    } else {
      Add(Level::kOk, "interrupts", found);
    }
  }

  void CheckLibrary() {
    for (const std::string& folder : system_.library_folders) {
      const std::string path = absl::StrCat(folder, "/", kLibrary);
      if (files().Exists(path)) {
        Add(Level::kOk, "library", path);
        return;
      }
    }
    Add(Level::kProblem, "library",
        absl::StrCat(kLibrary, " is not in any of the usual folders"),
        absl::StrCat(
            "sudo apt install ./heddle-runtime_*.deb (./dev package builds "
            "it); without packages: LD_LIBRARY_PATH=FOLDER with ",
            kLibrary));
  }

  void FindPrograms() {
    for (const char* name : {"heddle-hosted", "heddle-sim"}) {
      const bool found = std::any_of(
          system_.program_folders.begin(), system_.program_folders.end(),
          [&](const std::string& folder) {
            return files().Exists(absl::StrCat(folder, "/", name));
          });
      if (!found) missing_ = name;
    }
  }

  void CheckPrograms() {
    if (missing_.empty()) {
      Add(Level::kOk, "simulation", "found heddle-sim and heddle-hosted");
      return;
    }
    // Is there anything else to run on?
    const bool needed = kind_ == Kind::kSim ||
                        (kind_ == Kind::kAuto && !hosted_ && cards_.empty());
    Add(needed ? Level::kProblem : Level::kNote, "simulation",
        absl::StrCat(missing_,
                     " is not installed, so no card can be simulated"),
        "sudo apt install ./heddle-sim_*.deb ./heddle-hosted_*.deb (./dev "
        "package builds them); without packages: set HEDDLE_BIN_DIR to the "
        "folder of heddle-sim and heddle-hosted");
  }

  std::string GroupName(gid_t gid) const {
    for (absl::string_view line :
         absl::StrSplit(files().Read("/etc/group").value_or(""), '\n')) {
      const std::vector<absl::string_view> parts = absl::StrSplit(line, ':');
      uint64_t number = 0;
      if (parts.size() >= 3 && absl::SimpleAtoi(parts[2], &number) &&
          number == gid) {
        return cli::Printable(parts[0]);
      }
    }
    return absl::StrCat(gid);
  }

  const DoctorSystem& system_;
  std::vector<Finding> findings_;
  std::vector<std::string> cards_;  // PCI addresses
  std::vector<std::string> nodes_;  // of those that heddle.ko drives
  Kind kind_ = Kind::kAuto;         // of HEDDLE_DEVICE
  std::string missing_;             // of the programs that simulate; "": none
  std::string socket_ = session::kSystemSocket;
  std::string asked_node_;
  bool hosted_ = false;
  std::optional<uint64_t> jobs_;
};

}  // namespace

std::vector<Finding> Diagnose(const DoctorSystem& system) {
  return Doctor(system).Run();
}

const char* LevelName(Finding::Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kNote:
      return "note";
    case Level::kProblem:
      return "problem";
  }
  return "";
}

}  // namespace heddle::smi
