// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/functional_core.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace heddle::platform {
namespace {

// In the child: keep stderr and two more, close everything else. An inherited
// connection would hide the card's death from the host.
void CloseAllBut(int a, int b) {
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  const auto first = static_cast<unsigned>(std::min(a, b));
  const auto second = static_cast<unsigned>(std::max(a, b));
  if (first > 3) close_range(3, first - 1, 0);
  if (second > first + 1) close_range(first + 1, second - 1, 0);
  close_range(second + 1, ~0u, 0);
}

constexpr size_t kTraceBytes = kTraceEntriesMost * sizeof(desc::TraceEntry);

// Memory that both processes have, zero.
void* Share(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "heddle-sim: error: no memory for the core: %s\n",
                 strerror(errno));
    std::exit(1);
  }
  return memory;
}

}  // namespace

FunctionalCore::FunctionalCore(sc_core::sc_module_name name,
                               const isa::Config& config,
                               const model::Options& options,
                               const DramStore* dram, Reactor* reactor,
                               Faults* faults)
    : Core(name, faults),
      config_(config),
      options_(options),
      dram_(dram),
      reactor_(reactor) {
  shared_ = new (Share(sizeof(CoreShared))) CoreShared();
  // Pages that no trace has needed cost nothing.
  trace_ = static_cast<desc::TraceEntry*>(Share(kTraceBytes));
  DramResized();
}

FunctionalCore::~FunctionalCore() {
  Kill();
  munmap(shared_, sizeof(CoreShared));
  munmap(trace_, kTraceBytes);
}

void FunctionalCore::DramResized() { shared_->dram_size = dram_->size(); }

void FunctionalCore::start_of_simulation() {
  tlm::tlm_generic_payload payload;
  tlm::tlm_dmi dmi;
  if (!memory->get_direct_mem_ptr(payload, dmi)) {
    SC_REPORT_FATAL("heddle-sim", "device memory gives no direct pointer");
  }
  bytes_ = dmi.get_dmi_ptr() - dmi.get_start_address();
  // Now, while this process is small: the first job need not wait for it.
  Spawn();
}

void FunctionalCore::Spawn() {
  int requests[2], answers[2];
  if (pipe2(requests, O_CLOEXEC) != 0) return;
  if (pipe2(answers, O_CLOEXEC) != 0) {
    close(requests[0]);
    close(requests[1]);
    return;
  }
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "heddle-core");
    if (getppid() != parent) _exit(1);
    signal(SIGBUS, SIG_DFL);
    signal(SIGINT,
           SIG_IGN);  // Ctrl-C in a terminal ends the card, and that ends us
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    CloseAllBut(requests[0], answers[1]);
    ServeCore(config_, options_, bytes_, shared_, trace_, requests[0],
              answers[1]);
  }
  close(requests[0]);
  close(answers[1]);
  if (child < 0) {
    close(requests[1]);
    close(answers[0]);
    return;
  }
  child_ = child;
  requests_ = requests[1];
  answers_ = answers[0];
  fcntl(answers_, F_SETFL, O_NONBLOCK);
  reactor_->Watch(answers_, [this] { OnAnswer(); });
}

void FunctionalCore::Kill() {
  if (child_ < 0) return;
  reactor_->Forget(answers_);
  close(std::exchange(answers_, -1));
  close(std::exchange(requests_, -1));
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

void FunctionalCore::Start(const CoreRequest& request) {
  if (child_ < 0) Spawn();
  result_ = CoreResult();
  busy_ = true;
  shared_->abort = 0;
  shared_->request = request;
  shared_->clear_sram = std::exchange(clear_sram_, false);
  shared_->stuck = std::exchange(faults_->stuck_engine, false);
  shared_->flip_command_valid = faults_->flip_command.has_value();
  shared_->flip_command = faults_->flip_command.value_or(BitFlip());
  faults_->flip_command.reset();
  shared_->flip_sram_valid = faults_->flip_sram.has_value();
  shared_->flip_sram = faults_->flip_sram.value_or(BitFlip());
  faults_->flip_sram.reset();
  shared_->sram_error = std::exchange(faults_->sram_error, 0);
  if (faults_->flip_weights && request.regions[0].size > 0) {
    const model::Region& weights = request.regions[0];
    bytes_[weights.base + faults_->flip_weights->byte % weights.size] ^=
        static_cast<uint8_t>(1u << (faults_->flip_weights->bit % 8));
    faults_->flip_weights.reset();
  }
  if (std::exchange(faults_->device_bus_error, false)) shared_->bus_error = 1;
  if (child_ < 0 || write(requests_, "r", 1) != 1) {
    Kill();
    result_.run.status = Status::kBusError;
    busy_ = false;
    done_.notify(sc_core::SC_ZERO_TIME);
  }
}

void FunctionalCore::OnAnswer() {
  char byte;
  const ssize_t n = read(answers_, &byte, 1);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const bool answered = n == 1;
  if (!answered) {
    std::fprintf(
        stderr, "heddle-sim: error: the process of the functional core died\n");
    Kill();
  }
  if (!busy_) return;
  result_.run = answered ? shared_->result : model::RunResult();
  // It waits for the next stream, unless another was armed meanwhile.
  if (answered && faults_->sram_error == 0)
    faults_->sram_error = shared_->sram_error;
  if (answered && shared_->request.trace) {
    const size_t entries =
        std::min<size_t>(shared_->trace_entries, kTraceEntriesMost);
    result_.trace.assign(trace_, trace_ + entries);
    result_.trace_cycles = shared_->trace_cycles;
  }
  if (!answered) result_.run.status = Status::kBusError;
  busy_ = false;
  done_.notify(sc_core::SC_ZERO_TIME);
}

void FunctionalCore::Abort() { shared_->abort = 1; }

void FunctionalCore::Reset() {
  // A new process starts with everything zero.
  if (busy_) Kill();
  busy_ = false;
  clear_sram_ = true;
  shared_->bus_error = 0;
}

}  // namespace heddle::platform
