// SPDX-License-Identifier: Apache-2.0
//
// onnxifi-discover LIBRARY: what the loader runs to see whether a vendor's
// library can be used, and people to see why one is not. See discovery.h.
//
//   device TEXT                      one line for each device
//   abi extended|onnx1 WHY           which tensor descriptors it takes
//   fail REASON                      instead of these
//   end                              the last line; without it the library has
//                                    ended this process
//
// --bytes=96|56 states the ABI; --probe=96|56 only tries one (exit code 0: it
// is taken). Exit codes: 0 usable, 1 not, 2 usage.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "onnxifi/loader/abi_probe.h"
#include "onnxifi/loader/listing.h"
#include "onnxifi/loader/vendor.h"

extern char** environ;

namespace heddle::onnxifi_loader {
namespace {

FILE* answer = nullptr;

int Fail(const std::string& reason) {
  std::fprintf(answer, "fail %s\nend\n", reason.c_str());
  std::fflush(answer);
  return 1;
}

// One line of printable text.
std::string Text(const Vendor& vendor, onnxBackendID id, onnxBackendInfo info) {
  char text[256] = "";
  size_t size = sizeof(text) - 1;
  if (vendor.GetBackendInfo(id, info, text, &size) != ONNXIFI_STATUS_SUCCESS) {
    return "?";
  }
  text[sizeof(text) - 1] = '\0';
  for (char* c = text; *c != '\0'; ++c) {
    if (static_cast<unsigned char>(*c) < ' ') *c = ' ';
  }
  return text;
}

// The library in another process: that it is called in the wrong ABI may be the
// end of it.
bool Takes(const char* library, uint32_t bytes) {
  const std::string option = "--probe=" + std::to_string(bytes);
  const char* const arguments[] = {"onnxifi-discover", library, option.c_str(),
                                   nullptr};
  pid_t pid = 0;
  int status = 0;
  return posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr,
                     const_cast<char* const*>(arguments), environ) == 0 &&
         waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

const char* Name(uint32_t bytes) {
  return bytes == kExtendedBytes ? "extended" : "onnx1";
}

int Main(const char* library, uint32_t bytes) {
  Vendor vendor;
  std::string error;
  if (!Vendor::Load(library, &vendor, &error)) return Fail(error);
  std::vector<onnxBackendID> ids;
  const onnxStatus status = ListIds(vendor, &ids);
  if (status != ONNXIFI_STATUS_SUCCESS) {
    char text[64];
    std::snprintf(text, sizeof(text), "onnxGetBackendIDs returned 0x%04x",
                  static_cast<unsigned>(status));
    return Fail(text);
  }
  for (onnxBackendID id : ids) {
    uint64_t version = 0;
    size_t size = sizeof(version);
    (void)!vendor.GetBackendInfo(id, ONNXIFI_BACKEND_ONNXIFI_VERSION, &version,
                                 &size);
    const std::string names = Text(vendor, id, ONNXIFI_BACKEND_VENDOR) + " " +
                              Text(vendor, id, ONNXIFI_BACKEND_NAME) + ": " +
                              Text(vendor, id, ONNXIFI_BACKEND_DEVICE);
    std::fprintf(answer, "device %s\n", names.c_str());
  }
  const char* why = "as configured";
  if (bytes == 0) {
    bytes = vendor.MarkedBytes();
    why = "as its marker says";
  }
  if (bytes == 0 && !ids.empty()) {
    const bool extended = Takes(library, kExtendedBytes);
    const bool onnx1 = Takes(library, kOnnx1Bytes);
    bytes = extended && !onnx1 ? kExtendedBytes : kOnnx1Bytes;
    why = extended != onnx1
              ? "it accepts two descriptors of this layout and not of the other"
              : "assumed: it accepts neither layout, or both";
  }
  for (onnxBackendID id : ids) vendor.ReleaseBackendID(id);
  if (bytes != 0) std::fprintf(answer, "abi %s %s\n", Name(bytes), why);
  std::fprintf(answer, "end\n");
  std::fflush(answer);
  return 0;
}

}  // namespace
}  // namespace heddle::onnxifi_loader

int main(int argc, char** argv) {
  using namespace heddle::onnxifi_loader;  // NOLINT
  const char* library = nullptr;
  uint32_t bytes = 0, probe = 0;
  unsigned seconds = 0;
  bool right = true;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--bytes=", 8) == 0) {
      bytes = static_cast<uint32_t>(std::atoi(argv[i] + 8));
    } else if (std::strncmp(argv[i], "--probe=", 8) == 0) {
      probe = static_cast<uint32_t>(std::atoi(argv[i] + 8));
    } else if (std::strncmp(argv[i], "--seconds=", 10) == 0) {
      seconds = static_cast<unsigned>(std::atoi(argv[i] + 10));
    } else {
      right &= argv[i][0] != '-' && library == nullptr;
      library = argv[i];
    }
  }
  for (uint32_t one : {bytes, probe}) {
    right &= one == 0 || one == kOnnx1Bytes || one == kExtendedBytes;
  }
  if (!right || library == nullptr) {
    std::fprintf(
        stderr,
        "usage: onnxifi-discover LIBRARY [--seconds=N] [--bytes=96|56]\n"
        "Lists the devices of an ONNXIFI library as the loader would see "
        "them.\n");
    return 2;
  }
  // With the loader's process, or late: whatever the library does.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (seconds != 0) alarm(seconds + 1);
  // What the library prints is no part of the answer.
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  answer = out < 0 ? nullptr : fdopen(out, "w");
  if (answer == nullptr || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  const int code = probe != 0 ? (TakesDescriptors(library, probe) ? 0 : 1)
                              : Main(library, bytes);
  _exit(code);  // whatever its exit handlers would do
}
