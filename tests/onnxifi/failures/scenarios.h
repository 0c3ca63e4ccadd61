// SPDX-License-Identifier: Apache-2.0
// Situations in which the product's library returns each status of each of its
// functions. They check what they expect; which pairs came is noted
// (product.h).
#ifndef TESTS_ONNXIFI_FAILURES_SCENARIOS_H_
#define TESTS_ONNXIFI_FAILURES_SCENARIOS_H_

namespace heddle::tests {

struct Scenario {
  const char* name;
  void (*run)();
};

void WrongArguments();    // of all functions but those below
void WrongDescriptors();  // onnxInitGraph, onnxSetGraphIO
void RefusedModels();     // onnxGetBackendCompatibility, onnxInitGraph
void ExhaustedSystem();   // memory, descriptors, handles
void ExhaustedCard();     // what the driver says
void FailingCard();       // internal errors
void ForkedChild();
void RemovedCard();

constexpr Scenario kScenarios[] = {
    {"arguments", &WrongArguments},     {"descriptors", &WrongDescriptors},
    {"models", &RefusedModels},         {"exhausted_system", &ExhaustedSystem},
    {"exhausted_card", &ExhaustedCard}, {"forked_child", &ForkedChild},
    {"removed_card", &RemovedCard},     {"failing_card", &FailingCard},
};

}  // namespace heddle::tests

#endif  // TESTS_ONNXIFI_FAILURES_SCENARIOS_H_
