// SPDX-License-Identifier: Apache-2.0
#include "tests/node_cases/case_worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/comparer/api.h"
#include "tests/comparer/compare.h"
#include "tests/comparer/runner.h"
#include "tests/node_cases/node_case.h"

namespace heddle::tests {
namespace {

using comparer::Runner;
using nlohmann::json;

// Those of ONNX's backend tests.
constexpr comparer::Tolerance kTolerance{1e-3, 0, 1e-7};

constexpr int kSuccess = 0x0000, kFallback = 0x0001;
constexpr size_t kLongestMessage = 1 << 16;

// What is written to standard error while a case runs: the library's
// sentences.
class ErrorText {
 public:
  ErrorText() : file_(memfd_create("stderr", 0)) {
    if (file_ < 0 || dup2(file_, STDERR_FILENO) < 0) {
      throw std::runtime_error("memfd_create");
    }
  }
  // The last line since the last call.
  std::string Take() {
    std::string text(kLongestMessage / 2, '\0');
    const off_t size = lseek(file_, 0, SEEK_END);
    const off_t from = std::max<off_t>(0, size - text.size());
    const ssize_t count = pread(file_, &text[0], text.size(), from);
    text.resize(std::max<ssize_t>(0, count));
    if (ftruncate(file_, 0) != 0) throw std::runtime_error("ftruncate");
    lseek(file_, 0, SEEK_SET);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    text = text.substr(text.rfind('\n') + 1);
    // "heddle onnxifi: error: onnxInitGraph: ONNXIFI_STATUS_...: sentence"
    const size_t status = text.find("ONNXIFI_STATUS_");
    const size_t sentence = text.find(": ", status);
    return status == std::string::npos || sentence == std::string::npos
               ? text
               : text.substr(sentence + 2);
  }

 private:
  const int file_;
};

// Runs every data set and compares; "" or what is wrong.
absl::StatusOr<std::string> RunSets(Runner* runner, const NodeCase& node_case,
                                    const std::vector<size_t>& kept) {
  for (const comparer::DataSet& set : node_case.folder.sets) {
    std::vector<comparer::Tensor> inputs;
    for (size_t i : kept) inputs.push_back(set.inputs[i]);
    const auto outputs = runner->Run(inputs, set.outputs);
    if (!outputs.ok()) return outputs.status();
    for (size_t i = 0; i < outputs->size(); ++i) {
      const comparer::Comparison comparison =
          comparer::CompareWithin(set.outputs[i], (*outputs)[i], kTolerance);
      if (!comparison.equal) {
        return absl::StrCat(set.outputs[i].name, ": ", comparison.reason);
      }
    }
  }
  return "";
}

// One form of a case; its verdict is kPass, kRefused, kWrong... of that form.
CaseResult RunForm(Runner* runner, ErrorText* errors, const NodeCase& node_case,
                   Form form) {
  CaseResult result;
  std::vector<size_t> kept;
  result.status = runner->TryModel(ModelIn(form, node_case, &kept));
  if (result.status != kSuccess && result.status != kFallback) {
    result.reason = ReasonFor(result.status, form, node_case);
    result.verdict =
        result.reason.empty() ? Verdict::kWrongStatus : Verdict::kRefused;
    result.message = errors->Take();
    return result;
  }
  const auto wrong = RunSets(runner, node_case, kept);
  if (!wrong.ok()) {
    result.message =
        absl::StrCat(wrong.status().message(), "; ", errors->Take());
  } else {
    result.verdict = wrong->empty() ? Verdict::kPass : Verdict::kWrong;
    result.message = *wrong;
  }
  return result;
}

CaseResult RunCase(Runner* runner, ErrorText* errors,
                   const NodeCase& node_case) {
  CaseResult given = RunForm(runner, errors, node_case, Form::kAsGiven);
  if (given.verdict != Verdict::kRefused || node_case.folder.sets.size() != 1 ||
      node_case.folder.sets[0].inputs.size() < 2) {
    return given;
  }
  // Every refusal must be for a right reason; this form's says what is really
  // missing.
  CaseResult next = RunForm(runner, errors, node_case, Form::kConstants);
  if (next.verdict == Verdict::kPass) {
    next.verdict = Verdict::kPassAdapted;
    next.status = given.status;
    next.reason = given.reason;
  }
  return next;
}

json ToJson(const CaseResult& result) {
  return {{"name", result.name},       {"group", result.group},
          {"verdict", result.verdict}, {"status", result.status},
          {"reason", result.reason},   {"message", result.message}};
}

CaseResult FromJson(const json& json) {
  CaseResult result;
  result.name = json.at("name");
  result.group = json.at("group");
  result.verdict = json.at("verdict");
  result.status = json.at("status");
  result.reason = json.at("reason");
  result.message = json.at("message");
  return result;
}

// The other side: a name comes in, a result goes out.
void Serve(const std::string& library, int socket) {
  ErrorText errors;
  std::string failure;
  std::unique_ptr<comparer::Api> api;
  std::unique_ptr<Runner> runner;
  auto loaded = comparer::Api::Load(library, comparer::Abi::kExtended);
  if (loaded.ok()) {
    api = *std::move(loaded);
    auto opened = Runner::Open(api.get(), 0);
    if (opened.ok()) {
      runner = *std::move(opened);
    } else {
      failure = std::string(opened.status().message());
    }
  } else {
    failure = std::string(loaded.status().message());
  }
  errors.Take();
  std::string name(kLongestMessage, '\0');
  for (;;) {
    const ssize_t size = recv(socket, &name[0], name.size(), 0);
    if (size <= 0) return;
    CaseResult result;
    const std::string wanted = name.substr(0, size);
    const auto node_case = ReadNodeCase(wanted);
    if (!node_case.ok()) {
      result.message = std::string(node_case.status().message());
    } else if (runner == nullptr) {
      result.message = failure;
    } else {
      result = RunCase(runner.get(), &errors, *node_case);
      result.group = node_case->group;
    }
    result.name = wanted;
    errors.Take();
    const std::string text =
        ToJson(result).dump(-1, ' ', false, json::error_handler_t::replace);
    if (send(socket, text.data(), text.size(), 0) < 0) return;
  }
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  static constexpr const char* kNames[] = {"PASS",         "PASS*",  "REFUSED",
                                           "WRONG STATUS", "WRONG",  "ERROR",
                                           "CRASH",        "TIMEOUT"};
  return kNames[static_cast<int>(verdict)];
}

CaseWorker::CaseWorker(std::string library, absl::Duration limit)
    : library_(std::move(library)), limit_(limit) {}

CaseWorker::~CaseWorker() { Stop(false); }

void CaseWorker::Start() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    throw std::runtime_error("socketpair");
  }
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(pair[0]);
    try {
      Serve(library_, pair[1]);
    } catch (const std::exception&) {
      _exit(1);
    }
    _exit(0);
  }
  close(pair[1]);
  socket_ = pair[0];
}

int CaseWorker::Stop(bool kill_it) {
  if (pid_ < 0) return 0;
  if (kill_it) kill(pid_, SIGKILL);
  close(socket_);
  int state = 0;
  while (waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
  }
  pid_ = socket_ = -1;
  return state;
}

CaseResult CaseWorker::Run(const std::string& name) {
  if (pid_ < 0) Start();
  CaseResult result;
  result.name = name;
  // The process may be unable to say it.
  const auto node_case = ReadNodeCase(name);
  if (!node_case.ok()) {
    result.message = std::string(node_case.status().message());
    return result;
  }
  result.group = node_case->group;
  std::string text(kLongestMessage * 4, '\0');
  ssize_t size = send(socket_, name.data(), name.size(), MSG_NOSIGNAL);
  pollfd readable = {socket_, POLLIN, 0};
  if (size > 0 &&
      poll(&readable, 1, static_cast<int>(absl::ToInt64Milliseconds(limit_))) ==
          0) {
    Stop(true);
    result.verdict = Verdict::kTimeout;
    result.message =
        absl::StrCat("no result after ", absl::FormatDuration(limit_));
    return result;
  }
  size = recv(socket_, &text[0], text.size(), 0);
  if (size <= 0) {
    const int state = Stop(false);
    result.verdict = Verdict::kCrash;
    result.message = WIFSIGNALED(state)
                         ? absl::StrCat("signal ", WTERMSIG(state))
                         : absl::StrCat("exit code ", WEXITSTATUS(state));
    return result;
  }
  text.resize(size);
  return FromJson(json::parse(text));
}

}  // namespace heddle::tests
