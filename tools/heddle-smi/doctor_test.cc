// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-smi/doctor.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/heddle-smi/show.h"
#include "tools/heddle-smi/test_tree.h"

namespace heddle::smi {
namespace {

using Level = Finding::Level;

constexpr char kCard[] = "/sys/bus/pci/devices/0000:00:04.0";

// A system in which everything is right. The user is neither root nor the owner
// of the node, but in its group.
class DoctorTest : public testing::Test {
 protected:
  DoctorTest() {
    tree_.File(absl::StrCat(kCard, "/vendor"), "0x1234\n");
    tree_.File(absl::StrCat(kCard, "/device"), "0x4e50\n");
    tree_.File("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
    tree_.File("/sys/bus/pci/devices/0000:00:02.0/device", "0x4e50\n");
    tree_.Link(absl::StrCat(kCard, "/driver"),
               "../../../bus/pci/drivers/heddle");
    tree_.File(absl::StrCat(kCard, "/drm/renderD128/uevent"), "");
    tree_.File(absl::StrCat(kCard, "/drm/card0/uevent"), "");
    tree_.File("/sys/module/heddle/version", "1.0.0\n");
    tree_.File("/proc/sys/kernel/osrelease", "6.1.0-50-amd64\n");
    tree_.File("/lib/modules/6.1.0-50-amd64/modules.dep", "");
    tree_.File("/dev/dri/renderD128", "");
    chmod((tree_ / "/dev/dri/renderD128").c_str(), 0660);
    tree_.File("/etc/group",
               absl::StrCat("root:x:0:\nbroken\nrender:x:", getegid(), ":\n"));
    tree_.File("/proc/interrupts",
               "           CPU0       CPU1\n"
               "  0:         40          0   IO-APIC   2-edge      timer\n"
               " 26:         12         30  PCI-MSI 65536-edge      "
               "heddle-jobs\n"
               " 27:          0          0  PCI-MSI 65537-edge      "
               "heddle-fault\n"
               "NMI:          0          0   Non-maskable interrupts\n");
    tree_.File("/usr/lib/libonnxifi-heddle.so", "");
    tree_.File("/usr/bin/heddle-sim", "");
    tree_.File("/usr/bin/heddle-hosted", "");
    system_ = DoctorSystem::Real(tree_.root());
    system_.user = getuid() + 1;
    system_.groups = {getegid()};
    system_.device = "";
    system_.library_folders = {"/usr/local/lib", "/usr/lib"};
    system_.program_folders = {"/usr/bin"};
    system_.open_node = [this](const std::string& node) {
      opened_.push_back(node);
      return absl::StatusOr<uint64_t>(uint64_t{42});
    };
    system_.list_hosted = [](const std::string&) {
      return absl::StatusOr<size_t>(size_t{1});
    };
  }

  // The only problem. Fails if there is none, or another.
  Finding Problem() {
    Finding found;
    int problems = 0;
    for (const Finding& finding : Diagnose(system_)) {
      if (finding.level != Level::kProblem) continue;
      ++problems;
      found = finding;
      EXPECT_FALSE(finding.fix.empty()) << finding.text;
    }
    EXPECT_EQ(problems, 1) << FindingsText(Diagnose(system_));
    return found;
  }
  const Finding* Find(const std::vector<Finding>& findings,
                      const std::string& check) {
    for (const Finding& finding : findings) {
      if (finding.check == check) return &finding;
    }
    return nullptr;
  }

  Tree tree_;
  DoctorSystem system_;
  std::vector<std::string> opened_;
};

#define EXPECT_HAS(text, part) \
  EXPECT_TRUE(absl::StrContains(text, part)) << text

TEST_F(DoctorTest, FindsTheAccelNode) {
  tree_.Remove(absl::StrCat(kCard, "/drm"));
  tree_.Remove("/dev/dri/renderD128");
  tree_.File(absl::StrCat(kCard, "/accel/accel0/uevent"), "");
  tree_.File("/dev/accel/accel0", "");
  chmod((tree_ / "/dev/accel/accel0").c_str(), 0660);
  const auto findings = Diagnose(system_);
  for (const Finding& finding : findings) {
    EXPECT_NE(finding.level, Level::kProblem) << finding.text;
  }
  EXPECT_EQ(opened_, std::vector<std::string>{"/dev/accel/accel0"});
}

TEST_F(DoctorTest, NothingToComplainOf) {
  const auto findings = Diagnose(system_);
  for (const Finding& finding : findings) {
    EXPECT_NE(finding.level, Level::kProblem) << finding.text;
  }
  EXPECT_EQ(opened_, std::vector<std::string>{"/dev/dri/renderD128"});
  EXPECT_HAS(Find(findings, "module")->text, "1.0.0");
  EXPECT_HAS(Find(findings, "interrupts")->text, "42 on 2 vectors, jobs: 42");
  EXPECT_HAS(FindingsText(findings), "no problem found");
  const auto json = nlohmann::json::parse(FindingsJson(findings));
  EXPECT_EQ(json["findings"].size(), findings.size());
  EXPECT_EQ(json["findings"][0]["level"], "ok");
}

TEST_F(DoctorTest, NoCard) {
  tree_.Remove(kCard);
  // A simulated card will do.
  auto findings = Diagnose(system_);
  const Finding* pci = Find(findings, "PCI device");
  EXPECT_EQ(pci->level, Level::kNote);
  EXPECT_HAS(pci->text, "1234:4e50");
  EXPECT_HAS(pci->fix, "programs use a simulated one");
  EXPECT_HAS(FindingsText(findings), "no problem found");
  // Without one there is nothing left.
  tree_.Remove("/usr/bin/heddle-sim");
  findings = Diagnose(system_);
  EXPECT_EQ(Find(findings, "PCI device")->level, Level::kProblem);
  EXPECT_EQ(Find(findings, "simulation")->level, Level::kProblem);
  EXPECT_HAS(Find(findings, "simulation")->text, "heddle-sim is not installed");
  EXPECT_EQ(Find(findings, "simulation")->fix.find("sudo apt install "), 0u);
  // Cards of heddle-hosted will do, too.
  tree_.File("/run/heddle/hosted.sock", "");
  findings = Diagnose(system_);
  EXPECT_EQ(Find(findings, "PCI device")->level, Level::kNote);
  EXPECT_EQ(Find(findings, "simulation")->level, Level::kNote);
  // Not if this one is asked for.
  for (const char* device : {"drm", "drm:/dev/dri/renderD128"}) {
    system_.device = device;
    EXPECT_EQ(Problem().check, "PCI device") << device;
  }
}

TEST_F(DoctorTest, ProgramsThatAreAskedFor) {
  tree_.Remove("/usr/bin/heddle-hosted");
  system_.device = "sim:memory=64M";
  const Finding problem = Problem();
  EXPECT_EQ(problem.check, "simulation");
  EXPECT_HAS(problem.fix, "./heddle-sim_*.deb ./heddle-hosted_*.deb");
  EXPECT_HAS(problem.fix, "HEDDLE_BIN_DIR");
}

TEST_F(DoctorTest, KernelThatTheModuleDoesNotSupport) {
  tree_.Remove("/sys/module/heddle");
  for (const char* release :
       {"5.10.0-30-amd64", "6.0.19", "6.13.0-rc1", "7.1"}) {
    tree_.File("/proc/sys/kernel/osrelease", absl::StrCat(release, "\n"));
    const Finding problem = Problem();
    EXPECT_EQ(
        problem.text,
        absl::StrCat("heddle.ko supports Linux 6.1 to 6.12, the kernel is ",
                     release));
    EXPECT_FALSE(absl::StrContains(problem.fix, "dkms")) << problem.fix;
  }
  for (const char* release :
       {"6.1.0-50-amd64", "6.12.3+deb13", "6.9-rc2", ""}) {
    tree_.File("/proc/sys/kernel/osrelease", absl::StrCat(release, "\n"));
    EXPECT_HAS(Problem().fix, "heddle-dkms");
  }
  // Whoever has built it for another one knows better.
  tree_.File("/proc/sys/kernel/osrelease", "6.14.0\n");
  tree_.File("/lib/modules/6.14.0/modules.dep", "updates/dkms/heddle.ko:\n");
  EXPECT_HAS(Problem().fix, "modprobe heddle");
}

TEST_F(DoctorTest, MalformedIdsAreNoCard) {
  system_.device = "drm";
  for (const char* text : {"", "0x", "4660", "zz", "0x12341234123412341234"}) {
    tree_.File(absl::StrCat(kCard, "/vendor"), text);
    EXPECT_EQ(Problem().check, "PCI device") << text;
  }
}

TEST_F(DoctorTest, CardThatDoesNotRespond) {
  tree_.File(absl::StrCat(kCard, "/config"), "\x34\x12\x50\x4e");
  EXPECT_EQ(Find(Diagnose(system_), "PCI device")->level, Level::kOk);
  tree_.File(absl::StrCat(kCard, "/config"), std::string(64, '\xff'));
  const Finding problem = Problem();
  EXPECT_EQ(problem.check, "PCI device");
  EXPECT_HAS(problem.text, "0000:00:04.0 does not respond");
  EXPECT_HAS(problem.fix, "0000:00:04.0/remove");
  EXPECT_HAS(problem.fix, "/sys/bus/pci/rescan");
}

TEST_F(DoctorTest, ModuleNotInstalledOrNotLoaded) {
  tree_.Remove("/sys/module/heddle");
  Finding problem = Problem();
  EXPECT_EQ(problem.check, "module");
  EXPECT_HAS(problem.text, "not installed for the kernel 6.1.0-50-amd64");
  EXPECT_HAS(problem.fix, "heddle-dkms");
  tree_.File("/lib/modules/6.1.0-50-amd64/modules.dep",
             "updates/dkms/heddle.ko: kernel/drivers/gpu/drm/drm.ko\n");
  problem = Problem();
  EXPECT_HAS(problem.text, "not loaded");
  EXPECT_HAS(problem.fix, "modprobe heddle");
  EXPECT_TRUE(opened_.empty());
}

TEST_F(DoctorTest, CardWithoutOrWithAnotherDriver) {
  tree_.Remove(absl::StrCat(kCard, "/driver"));
  Finding problem = Problem();
  EXPECT_EQ(problem.check, "driver");
  EXPECT_HAS(problem.fix, "drivers_probe");
  tree_.Link(absl::StrCat(kCard, "/driver"), "../drivers/vfio-pci");
  problem = Problem();
  EXPECT_HAS(problem.text, "vfio-pci");
  EXPECT_HAS(problem.fix, "0000:00:04.0/driver/unbind");
  EXPECT_HAS(problem.fix, "0000:00:04.0/driver_override");
  // Nothing but heddle.ko was asked to take it.
  for (const char* override : {"(null)\n", "heddle\n"}) {
    tree_.Remove(absl::StrCat(kCard, "/driver"));
    tree_.File(absl::StrCat(kCard, "/driver_override"), override);
    EXPECT_HAS(Problem().fix, "retry with: echo 0000:00:04.0 | ");
  }
  // Probing alone would be in vain.
  tree_.File(absl::StrCat(kCard, "/driver_override"), "vfio-pci\n");
  problem = Problem();
  EXPECT_HAS(problem.text, "no driver, its driver_override allows vfio-pci");
  EXPECT_HAS(problem.fix, "echo heddle | sudo tee /sys/bus/pci/devices/0000");
  EXPECT_HAS(problem.fix, "drivers_probe");
  EXPECT_FALSE(absl::StrContains(problem.fix, "unbind")) << problem.fix;
}

TEST_F(DoctorTest, AsksForANodeThatIsNoCard) {
  tree_.File("/dev/dri/renderD131", "");
  tree_.Link("/dev/dri/by-path/pci-0000:00:04.0-render", "../renderD128");
  for (const char* node : {"renderD128",
                           "/dev/dri/by-path/pci-0000:00:04.0-"
                           "render"}) {
    system_.device = absl::StrCat("drm:", node);
    for (const Finding& finding : Diagnose(system_)) {
      EXPECT_NE(finding.level, Level::kProblem) << finding.text;
    }
  }
  for (const char* node : {"renderD130", "renderD131"}) {
    system_.device = absl::StrCat("drm:", node);
    const Finding problem = Problem();
    EXPECT_EQ(problem.check, "HEDDLE_DEVICE");
    EXPECT_HAS(problem.text, node);
    EXPECT_EQ(problem.fix, "export HEDDLE_DEVICE=drm:/dev/dri/renderD128");
  }
}

TEST_F(DoctorTest, NoNode) {
  tree_.Remove("/dev/dri/renderD128");
  Finding problem = Problem();
  EXPECT_EQ(problem.check, "node");
  EXPECT_HAS(problem.fix, "--device /dev/dri/renderD128");
  EXPECT_HAS(problem.fix, "0000:00:04.0/driver/unbind");
  tree_.Remove(absl::StrCat(kCard, "/drm"));
  problem = Problem();
  EXPECT_HAS(problem.text, "no device node");
}

TEST_F(DoctorTest, NoRight) {
  system_.groups = {};
  Finding problem = Problem();
  EXPECT_EQ(problem.check, "rights");
  EXPECT_TRUE(opened_.empty());
  if (getegid() != 0) {
    EXPECT_HAS(problem.fix, "usermod -aG render");
  } else {
    EXPECT_HAS(problem.fix, "udev rule");  // no one joins the group root
  }
  chmod((tree_ / "/dev/dri/renderD128").c_str(), 0600);
  EXPECT_HAS(Problem().fix, "udev rule");
  system_.user = 0;
  EXPECT_EQ(Find(Diagnose(system_), "rights")->level, Level::kOk);
  // Open to everybody: works, but is said.
  system_.user = getuid() + 1;
  chmod((tree_ / "/dev/dri/renderD128").c_str(), 0666);
  EXPECT_HAS(FindingsText(Diagnose(system_)), "every user may open");
}

TEST_F(DoctorTest, OtherInterfaceOrDeadCard) {
  system_.open_node = [](const std::string&) {
    return absl::StatusOr<uint64_t>(
        absl::FailedPreconditionError("interface version 2.0"));
  };
  Finding problem = Problem();
  EXPECT_EQ(problem.check, "interface");
  EXPECT_HAS(problem.fix, "same release");
  system_.open_node = [](const std::string&) {
    return absl::StatusOr<uint64_t>(absl::UnavailableError("gone"));
  };
  EXPECT_HAS(Problem().fix, "dmesg");
}

TEST_F(DoctorTest, Interrupts) {
  tree_.File("/proc/interrupts",
             " 26:  0  0  PCI-MSI 65536-edge  heddle-jobs\n");
  EXPECT_HAS(Problem().fix, "MSI-X");
  tree_.File("/proc/interrupts", ":\n\n 26:\nheddle\nx y\n");
  EXPECT_HAS(Problem().fix, "pci=nomsi");
  tree_.Remove("/proc/interrupts");
  EXPECT_EQ(Find(Diagnose(system_), "interrupts")->level, Level::kNote);
}

TEST_F(DoctorTest, Hosted) {
  system_.device = "hosted:/tmp/h.sock";
  Finding problem = Problem();
  EXPECT_EQ(problem.check, "heddle-hosted");
  EXPECT_HAS(problem.fix, "heddle-hosted --socket /tmp/h.sock");
  tree_.File("/tmp/h.sock", "");
  EXPECT_EQ(Find(Diagnose(system_), "heddle-hosted")->level, Level::kOk);
  EXPECT_EQ(Find(Diagnose(system_), "module"), nullptr);  // does not matter
  system_.list_hosted = [](const std::string&) {
    return absl::StatusOr<size_t>(size_t{0});
  };
  EXPECT_HAS(Problem().fix, "heddle-sim --socket");
  EXPECT_HAS(Problem().fix, "heddle-sim ctl --control CONTROL plug");
  system_.list_hosted = [](const std::string&) {
    return absl::StatusOr<size_t>(absl::UnavailableError("nobody listens"));
  };
  EXPECT_HAS(Problem().fix, "restart heddle-hosted");
  // Its file is the test's own: no group that may write to it.
  system_.list_hosted = [](const std::string&) {
    return absl::StatusOr<size_t>(absl::PermissionDeniedError("no"));
  };
  EXPECT_HAS(Problem().fix, "--socket-group");
}

// Nobody has to know of heddle-hosted, but who has installed it may want it.
TEST_F(DoctorTest, HostedThatIsNotEnabled) {
  const auto note = [this] {
    return *Find(Diagnose(system_), "heddle-hosted");
  };
  EXPECT_EQ(note().level, Level::kNote);
  EXPECT_EQ(note().fix, "");
  tree_.File("/lib/systemd/system/heddle-hosted.service", "");
  EXPECT_EQ(note().level, Level::kNote);
  EXPECT_EQ(note().fix, "sudo systemctl enable --now heddle-hosted");
  system_.device = "hosted:/run/heddle/hosted.sock";
  EXPECT_EQ(Problem().fix, "sudo systemctl enable --now heddle-hosted");
  system_.device = "hosted:/tmp/h.sock";
  EXPECT_HAS(Problem().fix, "start it: heddle-hosted --socket /tmp/h.sock");
}

// "bin/../lib" is nothing to show, or to put into a variable.
TEST(DoctorSystemTest, FoldersAreShownAsTheyAre) {
  unsetenv("LD_LIBRARY_PATH");
  const DoctorSystem system = DoctorSystem::Real("");
  ASSERT_FALSE(system.library_folders.empty());
  EXPECT_TRUE(absl::EndsWith(system.library_folders[0], "/lib"))
      << system.library_folders[0];
  for (const std::string& folder : system.library_folders) {
    EXPECT_FALSE(absl::StrContains(folder, "..")) << folder;
  }
}

TEST_F(DoctorTest, LibraryProgramsAndVariable) {
  tree_.Remove("/usr/lib/libonnxifi-heddle.so");
  EXPECT_EQ(Problem().check, "library");
  tree_.File("/usr/lib/libonnxifi-heddle.so", "");
  tree_.Remove("/usr/bin/heddle-hosted");
  EXPECT_EQ(Find(Diagnose(system_), "simulation")->level, Level::kNote);
  system_.device = "gpu\x1b:0";
  const Finding problem = Problem();
  EXPECT_EQ(problem.check, "HEDDLE_DEVICE");
  EXPECT_EQ(problem.text.find('\x1b'), std::string::npos);
}

TEST(Doctor, AnEmptyTreeIsDiagnosed) {
  Tree tree;
  const auto findings = Diagnose(DoctorSystem::Real(tree.root()));
  EXPECT_FALSE(findings.empty());
}

}  // namespace
}  // namespace heddle::smi
