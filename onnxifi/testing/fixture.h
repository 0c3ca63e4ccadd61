// SPDX-License-Identifier: Apache-2.0
// Builders and a fixture for tests of the C interface over the fake engine.
#ifndef HEDDLE_ONNXIFI_TESTING_FIXTURE_H_
#define HEDDLE_ONNXIFI_TESTING_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "onnxifi/include/heddle/onnxifi_ext.h"
#include "onnxifi/status.h"
#include "onnxifi/testing/fake_engine.h"

namespace heddle::onnxifi {

// Of a model: dimensions are numbers or names.
struct TestTensor {
  std::string name;
  int type = ONNXIFI_DATATYPE_UINT8;
  std::vector<std::string> dims = {"4"};
};

struct TestModel {
  std::vector<TestTensor> inputs = {{"x"}};
  std::vector<TestTensor> outputs = {{"y"}};
  std::vector<TestTensor> initializers;
  int padding = 0;  // bytes of doc_string, to make the model larger
};

// A serialized ModelProto.
std::string Serialize(const TestModel& model);

// A descriptor and what it points to.
class TestDescriptor {
 public:
  TestDescriptor(std::string name, std::vector<uint64_t> shape, void* data,
                 uint64_t type = ONNXIFI_DATATYPE_UINT8);
  TestDescriptor(const TestDescriptor&) = delete;
  operator onnxTensorDescriptorV1() const { return value; }

  const std::string name;
  const std::vector<uint64_t> shape;
  onnxTensorDescriptorV1 value;
};

onnxMemoryFenceV1 EventFence(onnxEvent event = nullptr);

// Names the statuses in failure messages.
testing::AssertionResult SameStatus(const char* want_text, const char* call,
                                    onnxStatus want, onnxStatus got);
#define EXPECT_STATUS(expected, call) \
  EXPECT_PRED_FORMAT2(::heddle::onnxifi::SameStatus, expected, call)
#define ASSERT_STATUS(expected, call) \
  ASSERT_PRED_FORMAT2(::heddle::onnxifi::SameStatus, expected, call)
#define EXPECT_OK(call) EXPECT_STATUS(ONNXIFI_STATUS_SUCCESS, call)
#define ASSERT_OK(call) ASSERT_STATUS(ONNXIFI_STATUS_SUCCESS, call)

// One device, its ID and a backend; on the way out everything that a test
// created must be gone from the engine.
class OnnxifiTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  FakeWorld& world() { return FakeWorld::Get(); }
  // IDs of all devices; released in TearDown.
  std::vector<onnxBackendID> ListIds();
  onnxGraph MakeGraph(const TestModel& model = {});
  onnxEvent MakeEvent();
  // x and y of 4 bytes.
  onnxStatus SetIo(onnxGraph graph, void* x, void* y);
  onnxStatus Run(onnxGraph graph, onnxEvent input, onnxEvent* output);
  // Runs with a signalled event and waits; releases both events.
  onnxStatus RunToEnd(onnxGraph graph);
  // The function of an extension.
  template <typename Function>
  Function Extension(const char* name) {
    onnxExtensionFunctionPointer pointer = nullptr;
    EXPECT_OK(onnxGetExtensionFunctionAddress(id_, name, &pointer));
    return reinterpret_cast<Function>(reinterpret_cast<void (*)()>(pointer));
  }

  onnxBackendID id_ = nullptr;
  onnxBackend backend_ = nullptr;
  std::vector<onnxBackendID> listed_;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_TESTING_FIXTURE_H_
