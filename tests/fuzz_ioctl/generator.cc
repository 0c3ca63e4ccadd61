// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz_ioctl/generator.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "drm.h"
#include "rtl/spec/generated/isa.h"
#include "tools/specgen/random_command.h"

namespace heddle::fuzz {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kScratch = 1 << 20;
constexpr size_t kMappingsMax = 8;
// Of one file and kind: so many that old ones are still there, so few that they
// are met again.
constexpr size_t kObjectsMax = 40;

uint64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 +
         static_cast<uint64_t>(now.tv_nsec);
}

uint64_t AddressOf(const void* data) {
  return reinterpret_cast<uintptr_t>(data);
}

}  // namespace

Generator::Generator(uint64_t seed, std::vector<File*> files,
                     const std::atomic<bool>* gone, bool waits_of_linux_6_6)
    : values_(seed),
      files_(std::move(files)),
      gone_(gone),
      waits_of_linux_6_6_(waits_of_linux_6_6),
      scratch_(kScratch) {}

Generator::~Generator() {
  for (const Mapping& m : mappings_) m.file->transport->Unmap(m.data, m.size);
}

std::string Generator::Step() {
  using Method = std::string (Generator::*)();
  struct Choice {
    uint32_t weight;
    Method method;
  };
  static constexpr Choice kChoices[] = {
      {6, &Generator::Query},          {6, &Generator::ContextCreate},
      {4, &Generator::ContextDestroy}, {14, &Generator::BoCreate},
      {4, &Generator::BoInfo},         {5, &Generator::MapBuffer},
      {10, &Generator::StreamCreate},  {5, &Generator::StreamDestroy},
      {24, &Generator::Submit},        {12, &Generator::Wait},
      {3, &Generator::Events},         {2, &Generator::Version},
      {8, &Generator::GemClose},       {6, &Generator::Prime},
      {5, &Generator::SyncobjCreate},  {3, &Generator::SyncobjDestroy},
      {4, &Generator::SyncobjArray},   {4, &Generator::SyncobjWait},
      {5, &Generator::TimelineWait},   {5, &Generator::TimelineArray},
      {4, &Generator::ContextControl}, {1, &Generator::Unknown},
  };
  static const uint64_t total = [] {
    uint64_t sum = 0;
    for (const Choice& choice : kChoices) sum += choice.weight;
    return sum;
  }();
  file_ = files_[values_.Below(files_.size())];
  if (scratch_used_ > 0) std::memset(scratch_.data(), 0, scratch_used_);
  scratch_used_ = 0;
  uint64_t at = values_.Below(total);
  for (const Choice& choice : kChoices) {
    if (at < choice.weight) return (this->*choice.method)();
    at -= choice.weight;
  }
  return "";
}

std::string Generator::Do(unsigned long request, void* argument, bool must_fail,
                          int* result) {
  Verdict verdict;
  verdict.request = request;
  verdict.must_fail = must_fail;
  *result = file_->transport->Ioctl(request, argument);
  verdict.may_be_gone = gone_->load();
  return Judge(verdict, *result);
}

uint8_t* Generator::Scratch(size_t bytes) {
  bytes = (bytes + 7) & ~size_t{7};
  if (bytes > scratch_.size() - scratch_used_) return nullptr;
  uint8_t* at = scratch_.data() + scratch_used_;
  scratch_used_ += bytes;
  return at;
}

// An array of about `usual` elements. Its elements are all in scratch memory,
// or it is larger than any transport carries.
drm_heddle_array Generator::EdgeArray(size_t element, uint32_t usual) {
  drm_heddle_array array = {};
  array.count = values_.Once(12) ? values_.Edge32() : usual;
  array.stride = static_cast<uint32_t>(element);
  if (values_.Once(10)) {
    array.stride = values_.Once(2)
                       ? values_.Edge32()
                       : static_cast<uint32_t>(element + values_.Below(17) - 8);
  }
  const uint64_t bytes = uint64_t{array.count} * array.stride;
  uint8_t* data = bytes <= kScratch / 2 ? Scratch(bytes) : nullptr;
  if (data == nullptr && bytes > 0) {
    if (bytes <= uint64_t{32} << 20) {
      array.count = 0;
    } else {
      data = scratch_.data();  // refused before it is read
    }
  }
  if (values_.Once(60)) data = nullptr;
  array.ptr = AddressOf(data);
  return array;
}

bool Generator::Writable(const drm_heddle_array& array, uint32_t count,
                         size_t element) {
  return array.ptr != 0 && array.count == count && array.stride >= element &&
         array.stride <= DRM_HEDDLE_STRIDE_MAX &&
         uint64_t{array.count} * array.stride <= kScratch / 2;
}

uint64_t Generator::Deadline() {
  switch (values_.Below(6)) {
    case 0:
      return NowNs() + values_.Below(2000000);
    case 1:
      return values_.Below(1000);  // long ago
    default:
      return 0;
  }
}

int64_t Generator::SignedDeadline() {
  if (values_.Once(8)) return -static_cast<int64_t>(values_.Edge64() >> 1) - 1;
  return static_cast<int64_t>(Deadline());
}

uint32_t Generator::Zero(bool* must_fail) {
  if (!values_.Once(40)) return 0;
  const uint32_t value = values_.Edge32();
  *must_fail |= value != 0;
  return value;
}

// ---- The card and its objects
// ----------------------------------------------------------

std::string Generator::Query() {
  last_ = "QUERY";
  drm_heddle_query args = {};
  bool must_fail = false;
  args.type = values_.Once(10) ? values_.Edge32()
                               : static_cast<uint32_t>(values_.Below(4));
  must_fail |= args.type > DRM_HEDDLE_QUERY_LIMITS;
  args.pad = Zero(&must_fail);
  args.size = values_.Any();  // out: does not matter
  args.data = EdgeArray(sizeof(drm_heddle_counters), 1);
  must_fail |= args.data.stride != 0 && args.data.count != 1;
  int result;
  std::string wrong = Do(DRM_IOCTL_HEDDLE_QUERY, &args, must_fail, &result);
  if (!wrong.empty() || result != 0) return wrong;
  if (args.type == DRM_HEDDLE_QUERY_MEMORY && args.data.ptr != 0 &&
      args.data.count == 1 &&
      args.data.stride >= sizeof(drm_heddle_memory_info)) {
    drm_heddle_memory_info info;
    std::memcpy(&info, reinterpret_cast<void*>(args.data.ptr), sizeof(info));
    if (info.used_here > info.used || info.used % kPage != 0 ||
        (info.used > info.total && info.generation == 0)) {
      return absl::StrCat("memory: ", info.used_here, " of ", info.used, " of ",
                          info.total);
    }
  }
  return "";
}

std::string Generator::ContextCreate() {
  last_ = "CONTEXT_CREATE";
  if (file_->objects.Count(Object::kContext) > kObjectsMax) {
    return ContextDestroy();
  }
  drm_heddle_context_create args = {};
  bool must_fail = false;
  args.priority = values_.Once(12)
                      ? values_.Edge32()
                      : static_cast<uint32_t>(values_.Below(isa::kRings));
  must_fail |= args.priority >= isa::kRings;
  args.flags = Zero(&must_fail);
  args.pad = Zero(&must_fail);
  args.context = values_.Edge32();
  int result;
  std::string wrong =
      Do(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args, must_fail, &result);
  if (!wrong.empty() || result != 0) return wrong;
  if (args.context == 0) return "a context has the id 0";
  file_->objects.Add(Object::kContext, args.context);
  return "";
}

std::string Generator::ContextDestroy() {
  last_ = "CONTEXT_DESTROY";
  drm_heddle_context_destroy args = {};
  bool must_fail = false;
  args.context = file_->objects.Pick(Object::kContext, &values_);
  args.pad = Zero(&must_fail);
  int result;
  std::string wrong =
      Do(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, &args, must_fail, &result);
  if (result == 0) file_->objects.Remove(Object::kContext, args.context);
  return wrong;
}

std::string Generator::ContextControl() {
  last_ = "CONTEXT_CONTROL";
  drm_heddle_context_control args = {};
  bool must_fail = false;
  args.context = file_->objects.Pick(Object::kContext, &values_);
  args.flags = values_.Once(10) ? values_.Edge32()
                                : static_cast<uint32_t>(values_.Below(2));
  must_fail |= (args.flags & ~DRM_HEDDLE_CONTROL_RUN_CYCLES) != 0;
  // Rarely so low that jobs are refused: there is more to see of those that
  // are not.
  const bool set = args.flags & DRM_HEDDLE_CONTROL_RUN_CYCLES;
  if (set || values_.Once(20)) {
    args.run_cycles = values_.Once(4) ? values_.Edge64()
                                      : uint64_t{1} << (30 + values_.Below(6));
  }
  must_fail |= !set && args.run_cycles != 0;
  args.state = Zero(&must_fail);
  args.hangs = Zero(&must_fail);
  int result;
  const uint64_t asked = args.run_cycles;
  std::string wrong =
      Do(DRM_IOCTL_HEDDLE_CONTEXT_CONTROL, &args, must_fail, &result);
  if (!wrong.empty() || result != 0) return wrong;
  if (set && asked != 0 && args.run_cycles != asked)
    return absl::StrCat("a run limit of ", asked, " became ", args.run_cycles);
  if (args.state > DRM_HEDDLE_CONTEXT_BANNED || args.run_cycles == 0)
    return absl::StrCat("state ", args.state, ", run limit ", args.run_cycles);
  return "";
}

std::string Generator::BoCreate() {
  last_ = "BO_CREATE";
  drm_heddle_bo_create args = {};
  bool must_fail = false;
  args.placement = values_.Once(20) ? values_.Edge32()
                                    : static_cast<uint32_t>(values_.Below(2));
  must_fail |= args.placement > DRM_HEDDLE_DEVICE;
  const Object kind =
      args.placement == DRM_HEDDLE_HOST ? Object::kHost : Object::kDevice;
  if (file_->objects.Count(kind) > kObjectsMax) return GemClose();
  switch (values_.Below(12)) {
    case 0:
      args.size = values_.Edge64();
      break;
    case 1:
      args.size = kPage * values_.Below(8) + values_.Below(3) - 1;
      break;
    case 2:  // so that device memory runs short
      args.size = (1 + values_.Below(40)) << 20;
      break;
    default:
      args.size = 1 + values_.Below(64 * kPage);
  }
  // No transport and no kernel shall be asked for all of this system's memory.
  if (kind == Object::kHost && args.size > 4 << 20 && args.size >> 44 == 0) {
    args.size &= (4 << 20) - 1;
  }
  must_fail |= args.size == 0;
  args.flags = Zero(&must_fail);
  args.pad = Zero(&must_fail);
  args.handle = values_.Edge32();
  args.available = values_.Any();
  const uint64_t asked = args.size;
  int result;
  std::string wrong = Do(DRM_IOCTL_HEDDLE_BO_CREATE, &args, must_fail, &result);
  if (!wrong.empty()) return wrong;
  if (result == -ENOSPC && kind == Object::kHost) return "ENOSPC for HOST";
  if (result != 0) return "";
  if (args.handle == 0) return "a buffer has the handle 0";
  file_->objects.Add(kind, args.handle, (asked + kPage - 1) / kPage * kPage);
  return "";
}

std::string Generator::BoInfo() {
  last_ = "BO_INFO";
  drm_heddle_bo_info args = {};
  args.handle = file_->objects.Pick(
      values_.Once(2) ? Object::kHost : Object::kDevice, &values_);
  args.placement = values_.Edge32();
  args.size = values_.Any();
  args.mmap_offset = values_.Any();
  int result;
  std::string wrong = Do(DRM_IOCTL_HEDDLE_BO_INFO, &args, false, &result);
  if (!wrong.empty() || result != 0) return wrong;
  if (args.placement > DRM_HEDDLE_DEVICE || args.size == 0 ||
      args.size % kPage != 0 ||
      (args.placement == DRM_HEDDLE_DEVICE) != (args.mmap_offset == 0)) {
    return absl::StrCat("buffer of placement ", args.placement, ", ", args.size,
                        " bytes at ", args.mmap_offset);
  }
  return "";
}

// Mappings stay readable and writable whatever happens to buffer and card.
std::string Generator::MapBuffer() {
  last_ = "mmap";
  if (mappings_.size() >= kMappingsMax) {
    const size_t i = values_.Below(mappings_.size());
    mappings_[i].file->transport->Unmap(mappings_[i].data, mappings_[i].size);
    mappings_[i] = mappings_.back();
    mappings_.pop_back();
  }
  uint64_t size = 0;
  const uint32_t handle = file_->objects.Pick(Object::kHost, &values_, &size);
  size = std::min<uint64_t>(size, 1 << 20);
  void* data = nullptr;
  if (file_->transport->Map(handle, size, &data) == 0) {
    mappings_.push_back({file_, data, size});
  }
  for (const Mapping& m : mappings_) {
    auto* bytes = static_cast<volatile uint8_t*>(m.data);
    const uint8_t byte = bytes[m.size - 1];
    bytes[0] = static_cast<uint8_t>(byte + 1);
  }
  return "";
}

std::string Generator::StreamCreate() {
  last_ = "STREAM_CREATE";
  if (file_->objects.Count(Object::kStream) > kObjectsMax) {
    return StreamDestroy();
  }
  std::vector<uint32_t> words;
  std::mt19937 random(static_cast<uint32_t>(values_.Any()));
  if (values_.Once(3)) {  // commands that are legal one by one
    for (uint64_t n = values_.Below(6); n > 0; --n) {
      const auto& info =
          isa::kCommands[values_.Below(std::size(isa::kCommands))];
      const std::vector<uint32_t> one = specgen::RandomCommand(info, &random);
      words.insert(words.end(), one.begin(), one.end());
    }
  }
  std::vector<uint32_t> end(isa::End::kWords);
  isa::End().Encode(end.data());
  words.insert(words.end(), end.begin(), end.end());
  if (values_.Once(8)) {  // some bits are wrong
    for (uint64_t n = 1 + values_.Below(3); n > 0; --n) {
      words[values_.Below(words.size())] ^= uint32_t{1} << values_.Below(32);
    }
  }
  drm_heddle_stream_create args = {};
  bool must_fail = false;
  const size_t bytes = words.size() * sizeof(uint32_t);
  args.data.ptr = AddressOf(words.data());
  args.data.count = static_cast<uint32_t>(bytes);
  args.data.stride = 1;
  if (values_.Once(12)) {
    args.data = EdgeArray(values_.Once(3) ? 4 : 1,
                          static_cast<uint32_t>(values_.Below(200)));
    must_fail = true;  // zeros are no command
  }
  args.flags = Zero(&must_fail);
  args.stream = values_.Edge32();
  args.error_code = values_.Edge32();
  int result;
  std::string wrong =
      Do(DRM_IOCTL_HEDDLE_STREAM_CREATE, &args, must_fail, &result);
  if (!wrong.empty()) return wrong;
  if (result == -ENOEXEC &&
      (args.error_code == 0 || args.error_code > HEDDLE_VALIDATE_SEMAPHORE ||
       args.error_offset > args.data.count)) {
    return absl::StrCat("refused stream: rule ", args.error_code, " at ",
                        args.error_offset);
  }
  if (result != 0) return "";
  if (args.stream == 0) return "a stream has the id 0";
  file_->objects.Add(Object::kStream, args.stream);
  return "";
}

std::string Generator::StreamDestroy() {
  last_ = "STREAM_DESTROY";
  drm_heddle_stream_destroy args = {};
  bool must_fail = false;
  args.stream = file_->objects.Pick(Object::kStream, &values_);
  args.pad = Zero(&must_fail);
  int result;
  std::string wrong =
      Do(DRM_IOCTL_HEDDLE_STREAM_DESTROY, &args, must_fail, &result);
  if (result == 0) file_->objects.Remove(Object::kStream, args.stream);
  return wrong;
}

std::string Generator::Version() {
  last_ = "VERSION";
  drm_version args = {};
  // Without a pointer the length is only asked for.
  if (values_.Once(2)) {
    args.name_len = values_.Below(64);
    args.name = reinterpret_cast<char*>(Scratch(args.name_len));
  }
  if (values_.Once(3)) {
    args.desc_len = values_.Below(64);
    args.desc = reinterpret_cast<char*>(Scratch(args.desc_len));
  }
  const size_t room = args.name_len;
  int result;
  std::string wrong = Do(DRM_IOCTL_VERSION, &args, false, &result);
  if (!wrong.empty() || result != 0) return wrong;
  if (args.name_len != 6 ||
      (args.name != nullptr &&
       std::memcmp(args.name, "heddle", std::min<size_t>(room, 6)) != 0)) {
    return "the driver's name is not heddle";
  }
  return "";
}

std::string Generator::GemClose() {
  last_ = "GEM_CLOSE";
  drm_gem_close args = {};
  const Object kind = values_.Once(2) ? Object::kHost : Object::kDevice;
  args.handle = file_->objects.Pick(kind, &values_);
  if (values_.Once(40)) args.pad = values_.Edge32();
  int result;
  std::string wrong = Do(DRM_IOCTL_GEM_CLOSE, &args, false, &result);
  if (result == 0) {
    file_->objects.Remove(Object::kHost, args.handle);
    file_->objects.Remove(Object::kDevice, args.handle);
  }
  return wrong;
}

// A buffer of one file becomes one of another.
std::string Generator::Prime() {
  last_ = "PRIME";
  uint64_t size = 0;
  drm_prime_handle out = {};
  bool must_fail = false;
  out.handle = file_->objects.Pick(
      values_.Once(5) ? Object::kDevice : Object::kHost, &values_, &size);
  out.flags = DRM_CLOEXEC | (values_.Once(4) ? 0 : DRM_RDWR);
  if (values_.Once(20)) {
    out.flags = values_.Edge32();
    must_fail |=
        (out.flags & ~static_cast<uint32_t>(DRM_CLOEXEC | DRM_RDWR)) != 0;
  }
  out.fd = static_cast<int>(values_.Edge32());
  int result;
  std::string wrong =
      Do(DRM_IOCTL_PRIME_HANDLE_TO_FD, &out, must_fail, &result);
  if (!wrong.empty()) return wrong;
  int fd = result == 0 ? out.fd : -1;
  if (result == 0 && fd < 0) return "an export gave no descriptor";
  if (fd < 0) {  // something else, or nothing
    fd = values_.Once(2) ? -1 : open("/dev/zero", O_RDWR | O_CLOEXEC);
    if (values_.Once(4) && fd >= 0) {
      close(fd);
      fd = memfd_create("fuzz", MFD_CLOEXEC);
      if (ftruncate(fd, static_cast<off_t>(values_.Below(3) * 1000)) != 0) {
        close(fd);
        fd = -1;
      }
    }
  }
  file_ = files_[values_.Below(files_.size())];
  drm_prime_handle in = {};
  in.fd = fd;
  in.handle = values_.Edge32();
  wrong = Do(DRM_IOCTL_PRIME_FD_TO_HANDLE, &in, fd < 0, &result);
  if (fd >= 0) close(fd);
  if (!wrong.empty() || result != 0) return wrong;
  if (in.handle == 0) return "an imported buffer has the handle 0";
  if (file_->objects.Count(Object::kHost) < 2 * kObjectsMax) {
    file_->objects.Add(Object::kHost, in.handle, size);
  }
  return "";
}

std::string Generator::Unknown() {
  last_ = "unknown ioctl";
  alignas(8) uint8_t bytes[1024] = {};
  for (size_t i = 0; i < sizeof(bytes); i += 8) {
    const uint64_t word = values_.Once(2) ? 0 : values_.Edge32();
    std::memcpy(bytes + i, &word, sizeof(word));
  }
  // Numbers after the last one; of structures of other sizes too.
  const unsigned long request = _IOC(
      _IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE,
      DRM_COMMAND_BASE + DRM_HEDDLE_CONTEXT_CONTROL + 1 + values_.Below(20),
      values_.Below(sizeof(bytes)));
  int result;
  return Do(request, bytes, true, &result);
}

}  // namespace heddle::fuzz
