// SPDX-License-Identifier: Apache-2.0
// Runs a random model by every way that there is, and compares the results:
// the reference semantics with ONNX Runtime, by the bounds that each value has;
// and with these bytes the product, package and session on a private simulated
// card, with nodes placed by cost, on the card as far as it takes them, and on
// the host.
#ifndef TESTS_GRAPHS_RUN_MODEL_H_
#define TESTS_GRAPHS_RUN_MODEL_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "runtime/session/session.h"
#include "tests/graphs/random_model.h"
#include "tests/support/onnxruntime.h"

namespace heddle::tests {

// Of models that passed, by what their packages have, not by what was meant.
struct Shares {
  int models = 0;
  int host = 0;         // nodes on the host beside nodes on the card
  int all_host = 0;     // nothing on the card
  int decided = 0;      // an If or Loop that the run decides
  int nested = 0;       // one inside of another
  int scans = 0;        // a Scan that it decides
  int card_bodies = 0;  // with bodies that have a part on the card
  int direct = 0;       // recurrences and the like, whole on the host
  int folded = 0;       // fewer Ifs, Loops and Scans than the model has
  int bounded = 0;      // outputs whose size the run decides
  int symbolic = 0;
  int by_cost = 0;                          // of those, compiled by cost, too
  int exact = 0, padded = 0, compiled = 0;  // runs of those
  int compared = 0;                         // outputs with ONNX Runtime
  int left_out = 0;  // models that ONNX Runtime has no kernel for

  void Add(const Shares& other);
  std::string ToString() const;
};

class ModelRunner {
 public:
  // Of a configuration; errors end the process.
  explicit ModelRunner(const std::string& config);

  // Or the first thing that differs: "on the host: output 'v3': ...". The text
  // before the first ':' is the same where the same way fails.
  absl::Status Run(const RandomModel& model, Shares* shares);

 private:
  const std::string config_;
  std::shared_ptr<session::Device> device_;
};

}  // namespace heddle::tests

#endif  // TESTS_GRAPHS_RUN_MODEL_H_
