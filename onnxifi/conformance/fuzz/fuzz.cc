// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/fuzz/fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "onnxifi/conformance/child.h"
#include "onnxifi/conformance/fuzz/executor.h"
#include "onnxifi/conformance/fuzz/shrink.h"

namespace heddle::conformance {
namespace {

// Sequences of one process, at most.
constexpr uint64_t kBatchMax = 2000;
// A failure may need the threads to meet: so often a sequence is tried again.
constexpr int kTries = 20;
constexpr int kShrinkAttempts = 150;

// What a child leaves behind, however it ends.
struct Shared {
  Record record;
  std::atomic<uint64_t> done;  // sequences
  std::atomic<uint64_t> calls;
};

// What the jobs have done together.
struct Total {
  std::atomic<uint64_t> next;  // sequence that nobody has taken
  std::atomic<uint64_t> done, calls;
  std::atomic<int> findings;
};

template <typename T>
struct Unmap {
  void operator()(T* shared) const { munmap(shared, sizeof(T)); }
};
template <typename T>
using SharedMemory = std::unique_ptr<T, Unmap<T>>;

template <typename T>
SharedMemory<T> NewShared() {
  void* memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return SharedMemory<T>(new (memory) T());
}

std::string FirstFailure(const Record& record) {
  const absl::string_view text(
      record.text, std::min<uint32_t>(record.text_bytes, Record::kTextBytes));
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "F ")) return std::string(line.substr(2));
  }
  return "";
}

class Fuzzer {
 public:
  explicit Fuzzer(const FuzzOptions& options) : options_(options) {}

  // Runs next(i) for i from 0 until one fails, `count` are done, or stop() says
  // so. How it failed; empty if none did. *done: how many did not.
  std::string RunSome(uint64_t count,
                      const std::function<Sequence(uint64_t)>& next,
                      const std::function<bool()>& stop, uint64_t* done) {
    const auto shared = NewShared<Shared>();
    const double limit = options_.run.timeout_seconds;
    const ChildEnd end = RunWatched(limit, *shared, [&] {
      auto library = Library::Load(options_.run.library, options_.run.abi,
                                   &shared->record);
      if (!library.ok()) _exit(4);
      Context context(library->get(), &shared->record, options_.run.seed,
                      options_.run.library);
      {
        Executor executor(&context);
        for (uint64_t i = 0;
             i < count && shared->record.failures == 0 && !stop(); ++i) {
          const Sequence sequence = next(i);
          executor.Run(sequence);
          if (shared->record.failures != 0) break;
          ++shared->done;
          shared->calls += sequence.size();
        }
      }
      context.Clean();
      shared->record.done = 1;
      library->release();
    });
    *done = shared->done;
    calls_ += shared->calls;
    std::string failure = FirstFailure(shared->record);
    if (!failure.empty()) return failure;
    std::string inside;
    for (int f = 0; f < kFunctions; ++f) {
      if (shared->record.inside[f] > 0) {
        absl::StrAppend(&inside, inside.empty() ? " in " : ", ",
                        FunctionName(f));
      }
    }
    if (end.exit_code == kLate && shared->record.done == 0) {
      return absl::StrCat("did not end within ", limit, " seconds", inside);
    }
    if (end.signal != 0) {
      return absl::StrCat("crashed with ", strsignal(end.signal), inside, "\n",
                          end.errors);
    }
    if (shared->record.done == 0) {
      return absl::StrCat("the process ended with code ", end.exit_code, inside,
                          "\n", end.errors);
    }
    return "";
  }

  // How the sequence fails, in one of some tries.
  std::string Fails(const Sequence& sequence, int tries = kTries) {
    uint64_t done;
    return RunSome(
        static_cast<uint64_t>(tries), [&](uint64_t) { return sequence; },
        [] { return false; }, &done);
  }

  uint64_t calls() const { return calls_; }

 private:
  // The limit is for one sequence: the child's time begins anew with each. It
  // is asked a few times a second.
  ChildEnd RunWatched(double limit, const Shared& shared,
                      const std::function<void()>& body) {
    // Within the child, so that what it has begun ends with it.
    return RunChild(1e6, [&] {
      std::thread([&shared, limit] {
        uint64_t before = ~uint64_t{0};
        auto since = std::chrono::steady_clock::now();
        while (shared.record.done == 0) {
          usleep(200000);
          const auto now = std::chrono::steady_clock::now();
          if (shared.done != before) {
            before = shared.done;
            since = now;
          }
          if (std::chrono::duration<double>(now - since).count() > limit) {
            _exit(kLate);
          }
        }
      }).detach();
      body();
    });
  }

  static constexpr int kLate = 124;
  const FuzzOptions& options_;
  uint64_t calls_ = 0;
};

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Files, and those of folders.
std::vector<std::string> FilesOf(const std::vector<std::string>& places) {
  std::vector<std::string> files;
  for (const std::string& place : places) {
    DIR* dir = opendir(place.c_str());
    if (dir == nullptr) {
      files.push_back(place);
      continue;
    }
    while (const dirent* entry = readdir(dir)) {
      if (absl::EndsWith(entry->d_name, ".txt")) {
        files.push_back(absl::StrCat(place, "/", entry->d_name));
      }
    }
    closedir(dir);
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Shrinks, writes the file and says so.
void Report(const FuzzOptions& options, Fuzzer* fuzzer, uint64_t seed,
            const std::string& failure) {
  std::string said = absl::StrCat("sequence ", seed, ": ", failure, "\n");
  Sequence sequence = Generate(seed);
  std::string how = fuzzer->Fails(sequence);
  if (how.empty()) {
    absl::StrAppend(&said, "  it has not failed again in ", kTries, " tries\n");
    how = failure;
  } else {
    sequence = Shrink(std::move(sequence), kShrinkAttempts,
                      [&](const Sequence& shorter) {
                        const std::string again = fuzzer->Fails(shorter);
                        if (!again.empty()) how = again;
                        return !again.empty();
                      });
  }
  std::string path = absl::StrCat(options.keep, "/", seed, ".txt");
  std::ofstream file(path);
  file << "# Sequence " << seed << ":\n";
  for (absl::string_view line : absl::StrSplit(how, '\n', absl::SkipEmpty())) {
    file << "#   " << line << "\n";
  }
  file << ToText(sequence);
  absl::StrAppend(&said, "  ", sequence.size(), " calls: ", how,
                  "\n  again: --replay ", path, "\n");
  // At once: other jobs say something, too.
  std::fputs(said.c_str(), stdout);
  std::fflush(stdout);
}

class Clock {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start_)
        .count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ =
      std::chrono::steady_clock::now();
};

// Takes sequences and runs them until there are none, or it is enough.
void Work(const FuzzOptions& options, const Clock& clock, Total* total) {
  // Each number is a seed: sequence i of seed s is the same for ever.
  const uint64_t first = options.run.seed * 1000000000;
  const auto enough = [&] {
    return total->findings >= options.findings ||
           (options.seconds > 0 && clock.Seconds() >= options.seconds);
  };
  // So small that all jobs end at about the same time.
  const uint64_t jobs = static_cast<uint64_t>(options.jobs);
  const uint64_t batch = std::min(kBatchMax, options.sequences / jobs / 4 + 1);
  Fuzzer fuzzer(options);
  while (!enough()) {
    uint64_t i = total->next.fetch_add(batch);
    const uint64_t end = std::min(i + batch, options.sequences);
    if (i >= end) break;
    while (i < end && !enough()) {
      uint64_t done = 0;
      const std::string failure = fuzzer.RunSome(
          end - i, [&](uint64_t k) { return Generate(first + i + k); }, enough,
          &done);
      total->done += done;
      i += done;
      if (failure.empty()) continue;
      ++total->done;
      ++total->findings;
      Report(options, &fuzzer, first + i, failure);
      ++i;
    }
  }
  total->calls += fuzzer.calls();
}

// Work in several processes. False if one of them has not come to its end.
bool WorkInJobs(const FuzzOptions& options, const Clock& clock, Total* total) {
  const pid_t parent = getpid();
  std::set<pid_t> jobs;
  std::fflush(stdout);
  for (int i = 0; i < options.jobs; ++i) {
    const pid_t job = fork();
    if (job == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(1);
      Work(options, clock, total);
      std::fflush(stdout);
      _exit(0);
    }
    if (job < 0) {
      std::perror("onnxifi-conformance: error: fork");
      break;
    }
    jobs.insert(job);
  }
  bool well = jobs.size() == static_cast<size_t>(options.jobs);
  while (!jobs.empty()) {
    int status = 0;
    const pid_t job = waitpid(-1, &status, 0);
    if (job < 0) return false;
    // What a job leaves behind may become ours.
    if (jobs.erase(job) == 0 || status == 0) continue;
    std::fprintf(stderr,
                 "onnxifi-conformance: error: job %d ended with status %d\n",
                 static_cast<int>(job), status);
    well = false;
  }
  return well;
}

}  // namespace

int Fuzz(const FuzzOptions& options) {
  Fuzzer fuzzer(options);
  int findings = 0;
  const std::vector<std::string> files = FilesOf(options.replays);
  for (const std::string& path : files) {
    const auto sequence = FromText(Read(path));
    if (!sequence.ok() || sequence->empty()) {
      std::fprintf(stderr, "onnxifi-conformance: error: %s: %s\n", path.c_str(),
                   sequence.ok()
                       ? "no calls"
                       : std::string(sequence.status().message()).c_str());
      return 2;
    }
    const std::string how = fuzzer.Fails(*sequence);
    if (!how.empty()) std::printf("%s: %s\n", path.c_str(), how.c_str());
    findings += how.empty() ? 0 : 1;
  }
  const Clock clock;
  const auto total = NewShared<Total>();
  total->calls = fuzzer.calls();
  total->findings = findings;
  bool well = true;
  if (options.jobs == 1) {
    Work(options, clock, total.get());
  } else {
    well = WorkInJobs(options, clock, total.get());
  }
  std::printf(
      "%zu replays, %llu sequences, %llu calls, %.0f seconds, seed "
      "%llu: %d finding%s\n",
      files.size(), static_cast<unsigned long long>(total->done),
      static_cast<unsigned long long>(total->calls), clock.Seconds(),
      static_cast<unsigned long long>(options.run.seed), total->findings.load(),
      total->findings == 1 ? "" : "s");
  return total->findings == 0 && well ? 0 : 1;
}

}  // namespace heddle::conformance
