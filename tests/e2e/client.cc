// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/client.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "tests/e2e/product.h"
#include "tests/support/onnx_model.h"

namespace heddle::tests {
namespace {

size_t Count(const std::vector<uint64_t>& shape) {
  size_t count = 1;
  for (const uint64_t dimension : shape) count *= dimension;
  return count;
}

}  // namespace

comparer::Api& Onnxifi() {
  static comparer::Api* const api = [] {
    auto loaded =
        comparer::Api::Load(ExtendedLibrary(), comparer::Abi::kExtended);
    if (!loaded.ok()) {
      throw std::runtime_error(std::string(loaded.status().message()));
    }
    return loaded->release();
  }();
  return *api;
}

Backend::Backend() {
  EXPECT_EQ(Onnxifi().GetBackendIds(&ids_), status::kSuccess);
  EXPECT_EQ(ids_.size(), 1u);
  if (ids_.empty()) return;
  EXPECT_EQ(Onnxifi().InitBackend(ids_[0], &backend_), status::kSuccess);
}

Backend::~Backend() {
  if (backend_ != nullptr) {
    EXPECT_EQ(Onnxifi().ReleaseBackend(backend_), status::kSuccess);
  }
  for (void* id : ids_) {
    EXPECT_EQ(Onnxifi().ReleaseBackendId(id), status::kSuccess);
  }
}

Graph::Graph(const Backend& backend, const std::string& model)
    : backend_(backend.get()) {
  init_status_ = Onnxifi().InitGraph(backend_, model, &graph_);
}

Graph::~Graph() {
  if (graph_ != nullptr) {
    EXPECT_EQ(Onnxifi().ReleaseGraph(graph_), status::kSuccess);
  }
}

int Graph::SetIo(std::vector<float> x, const std::vector<uint64_t>& x_shape,
                 const std::vector<uint64_t>& y_shape) {
  x_ = std::move(x);
  y_.assign(Count(y_shape), -1);
  comparer::TensorPlace in{"x", onnx::TensorProto::FLOAT, x_shape, x_.data()};
  comparer::TensorPlace out{"y", onnx::TensorProto::FLOAT, y_shape, y_.data()};
  return Onnxifi().SetGraphIo(graph_, {in}, {out});
}

int Graph::Start(void** done) {
  *done = nullptr;
  void* ready = nullptr;
  int result = Onnxifi().InitEvent(backend_, &ready);
  if (result != status::kSuccess) return result;
  result = Onnxifi().SignalEvent(ready);
  if (result == status::kSuccess) {
    result = Onnxifi().RunGraph(graph_, ready, done);
  }
  EXPECT_EQ(Onnxifi().ReleaseEvent(ready), status::kSuccess);
  return result;
}

int Graph::Run() {
  void* done = nullptr;
  const int started = Start(&done);
  if (started != status::kSuccess) return started;
  const int waited = Onnxifi().WaitEvent(done);
  EXPECT_EQ(Onnxifi().ReleaseEvent(done), status::kSuccess);
  return waited;
}

std::string MatMulModel(int64_t k, int64_t n, float value) {
  OnnxModel model;
  model.Input("x", {1, k}).Output("y", {1, n});
  model.Weights("w", {k, n}, std::vector<float>(k * n, value));
  model.Node("MatMul", {"x", "w"}, {"y"});
  return model.Bytes();
}

}  // namespace heddle::tests
