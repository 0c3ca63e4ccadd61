// SPDX-License-Identifier: Apache-2.0
// The cases of the suite, in their order.
#ifndef ONNXIFI_CONFORMANCE_CASE_H_
#define ONNXIFI_CONFORMANCE_CASE_H_

#include <string>
#include <vector>

#include "onnxifi/conformance/context.h"

namespace heddle::conformance {

enum CaseFlags : unsigned {
  kPlain = 0,
  // What it checks is no sentence of the specification: whatever goes wrong,
  // a crash included, is a quality warning.
  kRuleOnly = 1,
  // Runs in a process that has not used the library before; elsewhere one run
  // comes first, so that what stays open after it is no leak of the case.
  kColdStart = 2,
  // Takes time: a multiple of the time limit.
  kLong = 4,
  // Provokes the device: it is reset and plugged again whatever becomes of the
  // case.
  kUnplugs = 8,
};

struct Case {
  const char* id;     // "ids.count_only": the group, a dot, the name
  const char* title;  // what holds if it passes
  void (*body)(Context& t);
  unsigned flags = kPlain;
  const char* data = "";  // of cases that are made of files

  std::string group() const;
};

// One function for each file of cases/.
std::vector<Case> GeneralCases();
std::vector<Case> IdCases();
std::vector<Case> InfoCases();
std::vector<Case> CompatibilityCases();
std::vector<Case> InitCases();
std::vector<Case> EventCases();
std::vector<Case> GraphCases();
std::vector<Case> WeightCases();
std::vector<Case> SymbolicCases();
std::vector<Case> IoCases();
std::vector<Case> RunCases();
std::vector<Case> OperatorCases();
std::vector<Case> AsyncCases();
std::vector<Case> ReleaseCases();
std::vector<Case> ThreadCases();
std::vector<Case> ForkCases();
std::vector<Case> MemoryCases();
std::vector<Case> ResourceCases();
std::vector<Case> ScarcityCases();
std::vector<Case> HotplugCases();
std::vector<Case> ExtensionCases();
std::vector<Case> LoggingCases();
std::vector<Case> LoaderCases();
std::vector<Case> ClientCases();
std::vector<Case> FoxiCases();
std::vector<Case> ProvokedCases();

const std::vector<Case>& AllCases();
const Case* FindCase(const std::string& id);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_CASE_H_
