// SPDX-License-Identifier: Apache-2.0
// An onnxGraph: a model on a backend, its input and output locations, its runs.
//
// A model with symbolic dimensions is compiled for the shapes given to
// onnxSetGraphIO; programs for the last few shapes stay loaded. It is first
// compiled with every symbolic dimension 1, to reject early what can be
// rejected; if only shapes are wrong then, onnxSetGraphIO decides.
#ifndef HEDDLE_ONNXIFI_GRAPH_H_
#define HEDDLE_ONNXIFI_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "onnxifi/backend.h"
#include "onnxifi/descriptor.h"
#include "onnxifi/run_queue.h"
#include "onnxifi/signature.h"

namespace heddle::onnxifi {

// Arguments of onnxSetGraphIO.
struct IoArguments {
  uint32_t inputs_count = 0;
  const void* inputs = nullptr;
  uint32_t outputs_count = 0;
  const void* outputs = nullptr;
};

// Whether a refusal may vanish with other shapes of symbolic inputs, which only
// onnxSetGraphIO gives.
bool IsLeftToSetGraphIO(const Signature& signature,
                        const absl::Status& refusal);

class Graph {
 public:
  // Programs of one graph that stay loaded.
  static constexpr size_t kMaxPrograms = 4;

  static absl::StatusOr<std::shared_ptr<Graph>> Create(
      std::shared_ptr<Backend> backend, absl::string_view model,
      Signature signature, std::map<std::string, compiler::TensorData> weights,
      uint32_t max_sequence);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  Backend& backend() const { return *backend_; }
  bool emulated() const { return emulated_; }

  // Replaces the locations; without any after a failure.
  absl::Status SetIo(const IoArguments& arguments);
  // UNIDENTIFIED_NAME if there are no locations. Takes over `run`, whose
  // binding it sets.
  absl::Status Submit(std::unique_ptr<Run> run);
  // Both, without another thread between them.
  absl::Status SetIoAndSubmit(const IoArguments& arguments,
                              std::unique_ptr<Run> run);
  // Waits for all runs and unloads everything.
  void Close() noexcept;

 private:
  using Shapes = std::map<std::string, compiler::Shape>;
  struct Program {
    Shapes shapes;
    std::shared_ptr<EngineGraph> graph;
  };
  struct Counted;  // one of the graphs of the device

  Graph() = default;
  absl::StatusOr<std::shared_ptr<const Binding>> Bind(
      const IoArguments& arguments);
  absl::Status SetIoLocked(const IoArguments& arguments);
  // The program for these shapes of symbolic inputs, compiled if need be.
  absl::StatusOr<std::shared_ptr<EngineGraph>> ProgramFor(const Shapes& shapes);
  absl::StatusOr<std::shared_ptr<EngineGraph>> Load(const Shapes& shapes);
  absl::Status CheckSequence(const DeclaredTensor& declared,
                             const compiler::Shape& shape) const;

  std::shared_ptr<Backend> backend_;
  std::unique_ptr<Counted> counted_;
  Signature signature_;  // inputs: without weights
  bool symbolic_ = false;
  bool emulated_ = false;
  uint32_t max_sequence_ = 0;
  // For compiling again; empty if no dimension is symbolic.
  std::string model_;
  std::map<std::string, compiler::TensorData> weights_;
  std::shared_ptr<RunQueue> runs_;

  std::mutex io_mutex_;  // held while locations change; guards the rest
  std::vector<Program> programs_;  // the last used one is the last
  std::mutex binding_mutex_;       // held shortly
  bool closed_ = false;            // written with both mutexes held
  std::shared_ptr<const Binding> binding_;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_GRAPH_H_
