// SPDX-License-Identifier: Apache-2.0
// Runs node cases in a process of their own with one simulated card, so that a
// crash or an endless run is a result like any other.
#ifndef TESTS_NODE_CASES_CASE_WORKER_H_
#define TESTS_NODE_CASES_CASE_WORKER_H_

#include <sys/types.h>

#include <string>

#include "absl/time/time.h"

namespace heddle::tests {

enum class Verdict {
  kPass,
  kPassAdapted,  // refused as given, passes in a later form
  kRefused,      // with a right status
  kWrongStatus,  // refused with a status that nothing in the case explains
  kWrong,        // other results than ONNX's
  kError,        // the files or the card failed
  kCrash,
  kTimeout,
};

const char* VerdictName(Verdict verdict);
inline bool IsGood(Verdict verdict) { return verdict <= Verdict::kRefused; }

struct CaseResult {
  std::string name, group;
  Verdict verdict = Verdict::kError;
  int status = 0;       // of onnxInitGraph; of the first form if that passes,
                        // else of the last one
  std::string reason;   // why that status is right
  std::string message;  // what differs, or the library's own sentence
};

class CaseWorker {
 public:
  // `library`: path of the ONNXIFI library with the extended ABI. The process
  // is made with fork() at the first case: the caller must have no threads.
  explicit CaseWorker(std::string library,
                      absl::Duration limit = absl::Seconds(60));
  ~CaseWorker();
  CaseWorker(const CaseWorker&) = delete;
  CaseWorker& operator=(const CaseWorker&) = delete;

  CaseResult Run(const std::string& name);

 private:
  void Start();
  // Ends the process and says how it ended.
  int Stop(bool kill);

  const std::string library_;
  const absl::Duration limit_;
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace heddle::tests

#endif  // TESTS_NODE_CASES_CASE_WORKER_H_
