// SPDX-License-Identifier: Apache-2.0
// The C interface is a table of function pointers that only ever grows: a
// function is its place and its type. Objects are pointers to what only the
// library knows; a status is null or says what went wrong.
#include "tests/support/onnxruntime.h"

#include <dlfcn.h>
#include <time.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/support/shared.h"

// The library keeps a string of its own for ever; LeakSanitizer asks here.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:onnxruntime\n";
}

namespace heddle::tests {
namespace {

using Object = void*;
using Status = void*;

struct Entry {  // what OrtGetApiBase returns
  void* const* (*table)(uint32_t version);
  const char* (*version)();
};

enum Place {
  kErrorMessage = 2,
  kCreateEnvironment = 3,
  kCreateSession = 8,
  kRun = 9,
  kCreateOptions = 10,
  kSetOptimisation = 23,
  kSetThreads = 24,
  kCreateTensor = 49,
  kTensorData = 51,
  kElementType = 60,
  kRank = 61,
  kDimensions = 62,
  kElementCount = 64,
  kTypeAndShape = 65,
  kCreateMemoryInfo = 69,
  kReleaseEnvironment = 92,
  kReleaseStatus = 93,
  kReleaseMemoryInfo = 94,
  kReleaseSession = 95,
  kReleaseTensor = 96,
  kReleaseTypeAndShape = 99,
  kReleaseOptions = 100,
};

// The oldest version of the table that has all of these.
constexpr uint32_t kTableVersion = 8;
constexpr int kErrors = 3;  // severity of what is logged
constexpr int kDeviceAllocator = 0, kDefaultMemory = 0;
constexpr int kNoOptimisation = 0, kAllOptimisation = 99;

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

size_t BytesOf(int type) {
  switch (type) {
    case 1:   // float
    case 6:   // int32
    case 12:  // uint32
      return 4;
    case 4:   // uint16
    case 5:   // int16
    case 10:  // float16
    case 16:  // bfloat16
      return 2;
    case 7:   // int64
    case 11:  // double
    case 13:  // uint64
      return 8;
    default:
      return 1;
  }
}

}  // namespace

// The objects of one run, released in the order opposite to their making.
class OnnxRuntime::Call {
 public:
  explicit Call(void* const* table) : table_(table) {}
  ~Call() {
    for (size_t i = made_.size(); i-- > 0;) {
      reinterpret_cast<void (*)(Object)>(table_[made_[i].second])(
          made_[i].first);
    }
  }
  void Owns(Object object, Place release) {
    made_.push_back({object, release});
  }
  template <typename... P>
  absl::Status operator()(Place place, P... parameters) const {
    const Status status =
        reinterpret_cast<Status (*)(P...)>(table_[place])(parameters...);
    if (status == nullptr) return absl::OkStatus();
    const absl::Status error =
        absl::InternalError(reinterpret_cast<const char* (*)(Status)>(
            table_[kErrorMessage])(status));
    reinterpret_cast<void (*)(Status)>(table_[kReleaseStatus])(status);
    return error;
  }

 private:
  void* const* table_;
  std::vector<std::pair<Object, Place>> made_;
};

std::vector<std::string> OnnxRuntime::SharedLibraries() {
  std::vector<std::string> paths;
  for (const char* version : {"1.28.2", "1.30.0"}) {
    const std::string path = SharedPath(
        absl::StrCat("onnxruntime/", version, "/libonnxruntime.so.1"));
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

absl::StatusOr<std::unique_ptr<OnnxRuntime>> OnnxRuntime::Open(
    const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return absl::NotFoundError(dlerror());
  const auto entry =
      reinterpret_cast<const Entry* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (entry == nullptr) return absl::NotFoundError(dlerror());
  std::unique_ptr<OnnxRuntime> runtime(new OnnxRuntime);
  runtime->table_ = entry()->table(kTableVersion);
  if (runtime->table_ == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(library, " has no interface ", kTableVersion));
  }
  const absl::Status status = Call(runtime->table_)(
      kCreateEnvironment, kErrors, static_cast<const char*>("test"),
      &runtime->environment_);
  if (!status.ok()) return status;
  return runtime;
}

OnnxRuntime::~OnnxRuntime() {
  if (environment_ == nullptr) return;
  reinterpret_cast<void (*)(Object)>(table_[kReleaseEnvironment])(environment_);
}

absl::StatusOr<std::vector<RuntimeTensor>> OnnxRuntime::Run(
    const std::string& model,
    const std::vector<std::pair<std::string, RuntimeTensor>>& inputs,
    const std::vector<std::string>& outputs, bool optimise) {
  return Execute(model, inputs, outputs, optimise, 0, nullptr);
}

absl::StatusOr<double> OnnxRuntime::Time(
    const std::string& model,
    const std::vector<std::pair<std::string, RuntimeTensor>>& inputs,
    const std::vector<std::string>& outputs, int repeat) {
  double seconds = 0;
  const auto ran = Execute(model, inputs, outputs, false, repeat, &seconds);
  if (!ran.ok()) return ran.status();
  return seconds;
}

absl::StatusOr<std::vector<RuntimeTensor>> OnnxRuntime::Execute(
    const std::string& model,
    const std::vector<std::pair<std::string, RuntimeTensor>>& inputs,
    const std::vector<std::string>& outputs, bool optimise, int more,
    double* seconds) {
  Call call(table_);
  Object options = nullptr, session = nullptr, memory = nullptr;
  const auto make = [&](absl::Status status, Object object, Place release) {
    if (status.ok()) call.Owns(object, release);
    return status;
  };
#define HEDDLE_TRY(expression)                        \
  if (const absl::Status s = (expression); !s.ok()) { \
    return s;                                         \
  }
  HEDDLE_TRY(make(call(kCreateOptions, &options), options, kReleaseOptions));
  HEDDLE_TRY(call(kSetThreads, options, 1));
  HEDDLE_TRY(call(kSetOptimisation, options,
                  optimise ? kAllOptimisation : kNoOptimisation));
  HEDDLE_TRY(make(
      call(kCreateSession, environment_, static_cast<const void*>(model.data()),
           model.size(), options, &session),
      session, kReleaseSession));
  HEDDLE_TRY(
      make(call(kCreateMemoryInfo, kDeviceAllocator, kDefaultMemory, &memory),
           memory, kReleaseMemoryInfo));
  std::vector<const char*> input_names, output_names;
  std::vector<Object> values, results(outputs.size());
  for (const auto& [name, tensor] : inputs) {
    Object value = nullptr;
    // It is only read.
    HEDDLE_TRY(make(
        call(kCreateTensor, memory, const_cast<uint8_t*>(tensor.bytes.data()),
             tensor.bytes.size(), tensor.shape.data(), tensor.shape.size(),
             tensor.type, &value),
        value, kReleaseTensor));
    input_names.push_back(name.c_str());
    values.push_back(value);
  }
  for (const std::string& name : outputs) output_names.push_back(name.c_str());
  HEDDLE_TRY(call(kRun, session, static_cast<Object>(nullptr),
                  input_names.data(), values.data(), values.size(),
                  output_names.data(), output_names.size(), results.data()));
  for (Object result : results) call.Owns(result, kReleaseTensor);
  for (int i = 0; i < more; ++i) {
    std::vector<Object> again(outputs.size());
    const double before = CpuSeconds();
    HEDDLE_TRY(call(kRun, session, static_cast<Object>(nullptr),
                    input_names.data(), values.data(), values.size(),
                    output_names.data(), output_names.size(), again.data()));
    const double taken = CpuSeconds() - before;
    if (i == 0 || taken < *seconds) *seconds = taken;
    for (Object result : again) {
      reinterpret_cast<void (*)(Object)>(table_[kReleaseTensor])(result);
    }
  }
  std::vector<RuntimeTensor> tensors(outputs.size());
  for (size_t i = 0; i < results.size(); ++i) {
    RuntimeTensor& tensor = tensors[i];
    Object info = nullptr, data = nullptr;
    size_t rank = 0, count = 0;
    HEDDLE_TRY(make(call(kTypeAndShape, results[i], &info), info,
                    kReleaseTypeAndShape));
    HEDDLE_TRY(call(kElementType, info, &tensor.type));
    HEDDLE_TRY(call(kRank, info, &rank));
    tensor.shape.resize(rank);
    HEDDLE_TRY(call(kDimensions, info, tensor.shape.data(), rank));
    HEDDLE_TRY(call(kElementCount, info, &count));
    HEDDLE_TRY(call(kTensorData, results[i], &data));
    const auto* bytes = static_cast<const uint8_t*>(data);
    tensor.bytes.assign(bytes, bytes + count * BytesOf(tensor.type));
  }
#undef HEDDLE_TRY
  return tensors;
}

}  // namespace heddle::tests
