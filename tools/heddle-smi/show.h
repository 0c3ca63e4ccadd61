// SPDX-License-Identifier: Apache-2.0
// Cards, processes and findings as text for people and as JSON for programs.
//
// JSON of a list, one line:
//   {"cards": [{"id", "transport", "error" (null, or why the rest is null),
//               "config", "core", "pci", "serial", "hw_version",
//               "memory": {"total_bytes", "used_bytes"},
//               "counters": {"jobs", "queued", "faults", "resets",
//                            "compactions", "macs", "cycles",
//                            "bytes_copied"}}],
//    "processes": [{"pid", "name", "client", "card", "pci" (null: hosted),
//                   "jobs", "engine_ns": {NAME: N},
//                   "memory_bytes": {REGION: N}}],
//    "hidden_processes": N, "hidden_clients": N (of hosted cards),
//    "notes": [TEXT]}
// and of the doctor: {"findings": [{"level", "check", "text", "fix"}]}.
#ifndef HEDDLE_TOOLS_HEDDLE_SMI_SHOW_H_
#define HEDDLE_TOOLS_HEDDLE_SMI_SHOW_H_

#include <string>
#include <vector>

#include "tools/heddle-smi/cards.h"
#include "tools/heddle-smi/doctor.h"
#include "tools/heddle-smi/fdinfo.h"

namespace heddle::smi {

struct View {
  CardList list;
  ProcessList processes;
};

// `before`, if not null, is the same some seconds ago: then the share of the
// time that a process kept the engine busy is shown, else that time.
std::string ViewText(const View& view, const View* before, double seconds);
std::string ViewJson(const View& view);

std::string FindingsText(const std::vector<Finding>& findings,
                         bool colour = false);
std::string FindingsJson(const std::vector<Finding>& findings);

}  // namespace heddle::smi

#endif  // HEDDLE_TOOLS_HEDDLE_SMI_SHOW_H_
