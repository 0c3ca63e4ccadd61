// SPDX-License-Identifier: Apache-2.0
// The functions of an ONNXIFI library, the same for both ABIs: arguments are
// what the two headers have in common, results are ONNXIFI status codes.
//
// Each ABI is compiled against its own header in its own translation unit
// (api_extended.cc, api_onnx1.cc); nothing here includes either.
#ifndef TESTS_COMPARER_API_H_
#define TESTS_COMPARER_API_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::comparer {

enum class Abi {
  kExtended,  // 96-byte tensor descriptor, 9-argument onnxInitGraph
  kOnnx1,     // 56 bytes, 7 arguments: Debian's header
};

// A tensor in CPU memory, as a descriptor names it.
struct TensorPlace {
  std::string name;
  int32_t type = 0;
  std::vector<uint64_t> shape;
  void* buffer = nullptr;
};

class Api {
 public:
  // Loads `path` with dlopen. NotFound: it cannot be loaded, or one of the 15
  // functions is missing.
  static absl::StatusOr<std::unique_ptr<Api>> Load(const std::string& path,
                                                   Abi abi);
  virtual ~Api() = default;  // the library stays loaded

  // Counts, then fetches; SUCCESS with as many ids as there are.
  virtual int GetBackendIds(std::vector<void*>* ids) = 0;
  virtual int ReleaseBackendId(void* id) = 0;
  // The value's bytes.
  virtual int GetBackendInfo(void* id, int32_t info, std::string* value) = 0;
  virtual int GetBackendCompatibility(void* id, const std::string& model) = 0;
  virtual int InitBackend(void* id, void** backend) = 0;
  virtual int ReleaseBackend(void* backend) = 0;
  virtual int InitEvent(void* backend, void** event) = 0;
  virtual int SignalEvent(void* event) = 0;
  virtual int WaitEvent(void* event) = 0;
  virtual int ReleaseEvent(void* event) = 0;
  virtual int InitGraph(void* backend, const std::string& model,
                        void** graph) = 0;
  // With weight descriptors.
  virtual int InitGraph(void* backend, const std::string& model,
                        const std::vector<TensorPlace>& weights,
                        void** graph) = 0;
  virtual int SetGraphIo(void* graph, const std::vector<TensorPlace>& inputs,
                         const std::vector<TensorPlace>& outputs) = 0;
  // Input and output fence are events.
  virtual int RunGraph(void* graph, void* input_event, void** output_event) = 0;
  virtual int ReleaseGraph(void* graph) = 0;
};

// "INVALID_MODEL (0x105)".
std::string StatusName(int status);

}  // namespace heddle::comparer

#endif  // TESTS_COMPARER_API_H_
