// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {

std::string Case::group() const {
  const std::string text = id;
  return text.substr(0, text.find('.'));
}

const std::vector<Case>& AllCases() {
  static const auto* cases = [] {
    auto* all = new std::vector<Case>;
    for (auto* of :
         {GeneralCases,   IdCases,       InfoCases,     CompatibilityCases,
          InitCases,      EventCases,    GraphCases,    WeightCases,
          SymbolicCases,  IoCases,       RunCases,      OperatorCases,
          AsyncCases,     ReleaseCases,  ThreadCases,   ForkCases,
          MemoryCases,    ResourceCases, ScarcityCases, HotplugCases,
          ExtensionCases, LoggingCases,  LoaderCases,   ClientCases,
          FoxiCases,      ProvokedCases}) {
      const std::vector<Case> some = of();
      all->insert(all->end(), some.begin(), some.end());
    }
    return all;
  }();
  return *cases;
}

const Case* FindCase(const std::string& id) {
  for (const Case& c : AllCases()) {
    if (id == c.id) return &c;
  }
  return nullptr;
}

}  // namespace heddle::conformance
