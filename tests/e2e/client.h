// SPDX-License-Identifier: Apache-2.0
// An ONNXIFI client for tests of states and failures: the comparer's Api on the
// extended library, with every object given back at the end.
#ifndef TESTS_E2E_CLIENT_H_
#define TESTS_E2E_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/comparer/api.h"

namespace heddle::tests {

// Values of onnxifi.h that the tests name.
namespace status {
constexpr int kSuccess = 0x0000;
constexpr int kFallback = 0x0001;
constexpr int kInvalidProtobuf = 0x0104;
constexpr int kInvalidModel = 0x0105;
constexpr int kUnsupportedVersion = 0x0202;
constexpr int kUnsupportedOperator = 0x0203;
constexpr int kUnsupportedAttribute = 0x0204;
constexpr int kUnsupportedShape = 0x0205;
constexpr int kUnsupportedDatatype = 0x0206;
constexpr int kMismatchingShape = 0x0302;
constexpr int kMismatchingDatatype = 0x0303;
constexpr int kNoDeviceMemory = 0x0402;
constexpr int kBackendUnavailable = 0x0405;
}  // namespace status

// The library, loaded once per process.
comparer::Api& Onnxifi();

// A backend on the only card; the test fails if there is none.
class Backend {
 public:
  Backend();
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  void* id() const { return ids_.empty() ? nullptr : ids_[0]; }
  void* get() const { return backend_; }

 private:
  std::vector<void*> ids_;
  void* backend_ = nullptr;
};

// A graph with one float input and one float output.
class Graph {
 public:
  Graph(const Backend& backend, const std::string& model);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  int init_status() const { return init_status_; }
  void* get() const { return graph_; }

  // Says where input "x" and output "y" are; both stay this object's.
  int SetIo(std::vector<float> x, const std::vector<uint64_t>& x_shape,
            const std::vector<uint64_t>& y_shape);
  // RunGraph with a signalled input event. The output event is the caller's.
  int Start(void** done);
  // Start, WaitEvent, ReleaseEvent; the first status that is not SUCCESS.
  int Run();
  const std::vector<float>& y() const { return y_; }

 private:
  void* const backend_;
  void* graph_ = nullptr;
  int init_status_;
  std::vector<float> x_, y_;
};

// y[1,n] = x[1,k] times a matrix of which every element is `value`.
std::string MatMulModel(int64_t k, int64_t n, float value);

}  // namespace heddle::tests

#endif  // TESTS_E2E_CLIENT_H_
