// SPDX-License-Identifier: Apache-2.0
// heddle-smi doctor: what stands between a program and a card, one check after
// another, and what to do about it.
#ifndef HEDDLE_TOOLS_HEDDLE_SMI_DOCTOR_H_
#define HEDDLE_TOOLS_HEDDLE_SMI_DOCTOR_H_

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/heddle-smi/rooted.h"

namespace heddle::smi {

// What is asked of the system beside files. Tests give their own.
struct DoctorSystem {
  Rooted files;
  uid_t user = 0;
  std::vector<gid_t> groups;                 // of this process
  std::string device;                        // HEDDLE_DEVICE
  std::vector<std::string> library_folders;  // where ONNXIFI's loader looks
  std::vector<std::string> program_folders;  // where the runtime looks
  // Opens the node; its status says what is wrong. The number of jobs that its
  // card has completed.
  std::function<absl::StatusOr<uint64_t>(const std::string& node)> open_node;
  // Cards that the heddle-hosted at the socket has.
  std::function<absl::StatusOr<size_t>(const std::string& socket)> list_hosted;

  // This process and system, files below `root`. With a root that is not the
  // system's, nodes and sockets are only looked at.
  static DoctorSystem Real(const std::string& root);
};

struct Finding {
  enum class Level { kOk, kNote, kProblem };
  Level level = Level::kOk;
  std::string check;  // "module"
  std::string text;   // what was found, one line
  std::string fix;    // of problems, and of notes that have one
};

std::vector<Finding> Diagnose(const DoctorSystem& system);

// "ok", "note", "problem".
const char* LevelName(Finding::Level level);

}  // namespace heddle::smi

#endif  // HEDDLE_TOOLS_HEDDLE_SMI_DOCTOR_H_
