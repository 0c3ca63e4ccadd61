// SPDX-License-Identifier: Apache-2.0
// The product's library (extended ABI) as a program loads it, and a card for
// it, for tests of failures. Every status that a function returns is noted.
//
// The card: HEDDLE_TEST_DEVICE (a text for HEDDLE_DEVICE, e.g. "drm" in a
// guest), else a virtual one behind a heddle-hosted of the test's own.
#ifndef TESTS_ONNXIFI_FAILURES_PRODUCT_H_
#define TESTS_ONNXIFI_FAILURES_PRODUCT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "onnxifi/include/heddle/onnxifi_ext.h"
#include "onnxifi/status.h"
#include "tests/support/virtual_card.h"

#if defined(__GNUC__) && !defined(__clang__)
// gcc: that a result must be used does not pass through a template.
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

namespace heddle::tests {

using onnxifi::Function;

// Which functions returned which statuses, in this process.
void Note(Function function, onnxStatus status);
bool Noted(Function function, onnxStatus status);

// A function of the library that notes what it returns.
template <typename Pointer>
class Noting;
template <typename... Arguments>
class Noting<onnxStatus (*)(Arguments...)> {
 public:
  Noting(Function function, void* address)
      : function_(function),
        real_(reinterpret_cast<onnxStatus (*)(Arguments...)>(address)) {}
  onnxStatus operator()(Arguments... arguments) const {
    const onnxStatus status = real_(arguments...);
    Note(function_, status);
    return status;
  }

 private:
  const Function function_;
  onnxStatus (*const real_)(Arguments...);
};

class Library {
 public:
  // Loads it at the first call.
  static Library& Get();

#define HEDDLE_EACH_FUNCTION(F) \
  F(GetBackendIDs)              \
  F(ReleaseBackendID)           \
  F(GetBackendInfo)             \
  F(GetBackendCompatibility)    \
  F(InitBackend)                \
  F(ReleaseBackend)             \
  F(InitEvent)                  \
  F(SignalEvent)                \
  F(GetEventState)              \
  F(WaitEvent)                  \
  F(ReleaseEvent)               \
  F(InitGraph)                  \
  F(SetGraphIO)                 \
  F(RunGraph)                   \
  F(ReleaseGraph)               \
  F(GetExtensionFunctionAddress)
#define HEDDLE_MEMBER(name) const Noting<onnx##name##Function> name;
  HEDDLE_EACH_FUNCTION(HEDDLE_MEMBER)
#undef HEDDLE_MEMBER

 private:
  explicit Library(void* object);
};

// A card that is there until the end of the test program.
class TestCard {
 public:
  static TestCard& Get();
  // Of the virtual card; null if HEDDLE_TEST_DEVICE names another one.
  VirtualCard* card() { return card_.get(); }
  HostedDriver* driver() { return driver_.get(); }
  // The place of the card's socket.
  std::string socket() const { return folder_ / "card"; }
  // Puts another card in the place of this one, or this one again.
  void Replace(const CardOptions& options);
  void Remove();

 private:
  TestCard();
  TempFolder folder_;
  std::unique_ptr<VirtualCard> card_;
  std::unique_ptr<HostedDriver> driver_;
};

// A descriptor and what it points to.
struct Tensor {
  Tensor(std::string name_in, std::vector<uint64_t> shape_in, const void* data,
         uint64_t type = ONNXIFI_DATATYPE_FLOAT32);
  Tensor(const Tensor&) = delete;
  std::string name;
  std::vector<uint64_t> shape;
  onnxTensorDescriptorV1 value = {};
};

onnxMemoryFenceV1 Fence(onnxEvent event = nullptr);

// y = Relu(x) of floats; a dimension of 0 is symbolic.
std::string ReluModel(const std::vector<int64_t>& shape);
// y[1,n] = x[1,n] times a matrix. `symbolic`: y[rows,n] = x[rows,n] ...
std::string MatMulModel(int64_t n, bool symbolic = false);

// y = Sigmoid(Relu(x)) of floats, with a detour through numbers that the card
// lacks between the two: card, host, card. An onnxInitGraph of it is FALLBACK.
std::string SplitModel(const std::vector<int64_t>& shape);

// An ID of the card, a backend on it, and a graph of ReluModel({4}) with
// locations. Everything is released at the end.
class Objects {
 public:
  Objects();
  ~Objects();
  Objects(const Objects&) = delete;

  onnxBackendID id = nullptr;
  onnxBackend backend = nullptr;
  onnxGraph graph = nullptr;
  float x[4] = {1, -1, 2, -2}, y[4] = {};
  Tensor in{"x", {4}, x}, out{"y", {4}, y};

  onnxEvent Event(bool signalled);
  // InitGraph without weights; NULL and a failed test if it fails.
  onnxGraph Graph(const std::string& model);
  onnxStatus Start(onnxEvent input, onnxEvent* output);
  // A run with ready inputs, waited for.
  onnxStatus Run();
};

// "onnxRunGraph returned NO_SYSTEM_MEMORY": names statuses in failures.
testing::AssertionResult SameStatus(const char*, const char* call,
                                    onnxStatus want, onnxStatus got);
#define EXPECT_STATUS(expected, call) \
  EXPECT_PRED_FORMAT2(::heddle::tests::SameStatus, expected, call)
#define EXPECT_OK(call) EXPECT_STATUS(ONNXIFI_STATUS_SUCCESS, call)

}  // namespace heddle::tests

#endif  // TESTS_ONNXIFI_FAILURES_PRODUCT_H_
