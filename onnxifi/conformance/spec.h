// SPDX-License-Identifier: Apache-2.0
// What the specification demands, as data/ has it, compiled in: the lists of
// statuses, the normative sentences, and which cases must pass.
#ifndef ONNXIFI_CONFORMANCE_SPEC_H_
#define ONNXIFI_CONFORMANCE_SPEC_H_

#include <string>
#include <vector>

#include "onnxifi/conformance/abi.h"

namespace heddle::conformance {

// A function may return a status.
struct Pair {
  enum Kind {
    kListed,  // one of the 135 of the header
    kExtension,
    kRule,  // where the list has no code for a fault that can be made
  };
  Kind kind = kListed;
  std::string function;  // "onnxInitGraph"
  std::string status;    // "INVALID_MODEL"
  std::vector<std::string> cases;
  std::string reason;  // why no case makes it come; exactly one is empty
};

struct Sentence {
  std::string id;  // "S12"
  std::string context;
  std::string text;
  std::vector<std::string> cases;
  std::string reason;
};

struct MustPass {
  std::string name;     // "minimal"
  std::string version;  // "1.0"
  std::vector<std::string> cases;
};

// A backend that breaks a rule, and the case that must notice.
struct Mutant {
  std::string name;
  std::string case_id;
  std::string verdict;  // "fail" or "quality warning"
  std::string breaks;
};

const std::vector<Pair>& Pairs();
const std::vector<Sentence>& Sentences();
const std::vector<MustPass>& MustPassLists();
const std::vector<Mutant>& Mutants();

// Whether a list, or a rule, has the status.
bool MayReturn(int function, onnxStatus status);

// Fields of one line between '|', without blanks around them.
std::vector<std::string> Fields(const std::string& line);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_SPEC_H_
