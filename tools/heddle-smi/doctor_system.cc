// SPDX-License-Identifier: Apache-2.0
// The system that the doctor looks at when no test has made up another one.
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/strings/str_split.h"
#include "runtime/hal/device.h"
#include "runtime/hal/drm_transport.h"
#include "runtime/hal/hosted_transport.h"
#include "tools/heddle-smi/doctor.h"

namespace heddle::smi {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

absl::StatusOr<uint64_t> OpenNode(const std::string& node) {
  auto transport = hal::OpenDrm(node);
  if (!transport.ok()) return transport.status();
  const auto device = hal::Device::Open(*std::move(transport));
  if (!device.ok()) return device.status();
  const auto counters = (*device)->Counters();
  if (!counters.ok()) return counters.status();
  return counters->jobs;
}

absl::StatusOr<size_t> ListSocket(const std::string& socket) {
  const auto cards = hal::ListHosted(socket);
  if (!cards.ok()) return cards.status();
  return cards->size();
}

}  // namespace

DoctorSystem DoctorSystem::Real(const std::string& root) {
  DoctorSystem system;
  system.files = Rooted(root);
  system.user = geteuid();
  system.groups.resize(64);
  int count =
      getgroups(static_cast<int>(system.groups.size()), system.groups.data());
  if (count < 0) {  // more than that
    count = getgroups(0, nullptr);
    system.groups.resize(static_cast<size_t>(count > 0 ? count : 0));
    count = getgroups(count, system.groups.data());
  }
  system.groups.resize(static_cast<size_t>(count > 0 ? count : 0));
  system.groups.push_back(getegid());
  system.device = Variable("HEDDLE_DEVICE");
  system.library_folders =
      absl::StrSplit(Variable("LD_LIBRARY_PATH"), ':', absl::SkipEmpty());
  system.program_folders =
      absl::StrSplit(Variable("HEDDLE_BIN_DIR"), ':', absl::SkipEmpty());
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
  if (n > 0 && system.files.real()) {
    std::string folder(self, static_cast<size_t>(n));
    folder.resize(folder.rfind('/'));
    system.library_folders.push_back(
        std::filesystem::path(folder + "/../lib").lexically_normal().string());
    if (system.program_folders.empty()) {
      system.program_folders.push_back(folder);
    }
  }
  for (const char* folder : {"/usr/lib", "/usr/lib/x86_64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu", "/usr/local/lib"}) {
    system.library_folders.push_back(folder);
  }
  system.program_folders.push_back("/usr/bin");
  if (system.files.real()) {
    system.open_node = OpenNode;
    system.list_hosted = ListSocket;
  } else {
    system.open_node = [](const std::string&) -> absl::StatusOr<uint64_t> {
      return absl::UnimplementedError("nodes below a root are not opened");
    };
    system.list_hosted = [](const std::string&) -> absl::StatusOr<size_t> {
      return absl::UnimplementedError("sockets below a root are not opened");
    };
  }
  return system;
}

}  // namespace heddle::smi
