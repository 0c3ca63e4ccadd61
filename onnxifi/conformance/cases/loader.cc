// SPDX-License-Identifier: Apache-2.0
// The library as a file: what it exports, loading and unloading.
#include <dirent.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"
#include "onnxifi/conformance/scarcity.h"

namespace heddle::conformance {
namespace {

int Entries(const char* folder) {
  int count = 0;
  if (DIR* dir = opendir(folder)) {
    while (readdir(dir) != nullptr) ++count;
    closedir(dir);
  }
  return count;
}

void Exports(Context& t) {
  for (int f = 0; f < kStandardFunctions; ++f) {
    Dl_info info = {};
    void* symbol = t.lib().Symbol(FunctionName(f));
    t.Check(symbol != nullptr,
            absl::StrCat(FunctionName(f), " is not exported"));
    t.Rule(dladdr(symbol, &info) != 0 && info.dli_sname != nullptr,
           absl::StrCat(FunctionName(f), " has no name of its own"));
  }
}

void FileName(Context& t) {
  const std::string& path = t.library_path();
  const std::string name = path.substr(path.rfind('/') + 1);
  t.Rule(absl::StartsWith(name, "libonnxifi-") && absl::EndsWith(name, ".so") &&
             name.size() > std::strlen("libonnxifi-.so"),
         name +
             " is not named libonnxifi-VENDOR.so, so ONNX's wrapper does "
             "not find it");
}

void LoadsLazily(Context& t) {
  if (ThreadSanitized()) t.Unsupported("ThreadSanitizer has a thread, too");
  // Nothing was called yet.
  t.Rule(Entries("/proc/self/task") <= 3, "loading the library starts threads");
  t.Check(true, "");
}

void Again(Context& t) {
  // Several loads are one library.
  void* again = dlopen(t.library_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  t.Check(again != nullptr, "the library cannot be loaded a second time");
  if (again == nullptr) return;
  t.Check(
      dlsym(again, "onnxGetBackendIDs") == t.lib().Symbol("onnxGetBackendIDs"),
      "a second dlopen gives another library");
  dlclose(again);
  Job job(t);
  job.MustSetIO();
  job.Run();
}

void UnloadAndReload(Context& t) {
  t.NeedDevice();
  // With nothing open. A library may stay loaded; it must not crash.
  const std::string path = t.library_path();
  const Abi abi = t.abi();
  dlclose(t.lib().dl());  // whose functions are not used any more
  for (int i = 0; i < 3; ++i) {
    auto library = Library::Load(path, abi, t.record());
    if (!library.ok()) t.Fail("the library cannot be loaded again");
    Context context(library->get(), t.record(), t.seed(), path);
    Job job(context);
    job.MustSetIO();
    job.Run();
    context.Clean();
  }
}

void ExitWithObjects(Context& t) {
  t.NeedDevice();
  // A program that ends without releasing anything ends as it wants to.
  const pid_t pid = fork();
  if (pid == 0) {
    auto library = Library::Load(t.library_path(), t.abi(), t.record());
    if (!library.ok()) _exit(9);
    Context context(library->get(), t.record(), t.seed(), t.library_path());
    Job job(context);
    job.MustSetIO();
    job.Run();
    exit(7);  // destructors and exit handlers
  }
  int status = 0;
  waitpid(pid, &status, 0);
  t.Check(WIFEXITED(status) && WEXITSTATUS(status) == 7,
          "a program that exits with objects open does not end by itself");
}

}  // namespace

std::vector<Case> LoaderCases() {
  return {
      {"loader.exports", "the 15 functions are exported", Exports, kColdStart},
      {"loader.file_name", "the file is named as ONNX's wrapper expects",
       FileName, kColdStart | kRuleOnly},
      {"loader.loads_lazily", "loading the library starts no threads",
       LoadsLazily, kColdStart | kRuleOnly},
      {"loader.again", "loading twice gives the same library", Again},
      {"loader.unload_and_reload",
       "the library can be unloaded and loaded again", UnloadAndReload,
       kColdStart | kRuleOnly},
      {"loader.exit_with_objects", "a process can end while objects are open",
       ExitWithObjects, kColdStart | kRuleOnly},
  };
}

}  // namespace heddle::conformance
