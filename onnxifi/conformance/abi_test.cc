// SPDX-License-Identifier: Apache-2.0
// The layouts that DescriptorArray writes are those of the compilers, and the
// constants are those of both headers (abi_extended_test.cc has the other).
#include "onnxifi/conformance/abi.h"

#include <gtest/gtest.h>

#include <cstring>

namespace heddle::conformance {

// Of the extended header, in its own translation unit.
size_t ExtendedDescriptorBytes();
// Whether a descriptor in that layout has the values of Sample().
bool ExtendedHasSample(const void* descriptor);
// The value of a status that it names, -1 without.
int ExtendedStatus(const char* name);

namespace {

const uint64_t kShape[] = {4, 5};
const float kScales[] = {1};
const int32_t kBiases[] = {2};

Descriptor Sample() {
  Descriptor d;
  d.name = "name";
  d.data_type = 10;
  d.memory_type = 2;
  d.dimensions = 2;
  d.shape = kShape;
  d.quantization_axis = 1;
  d.quantization_params = 1;
  d.scales = kScales;
  d.biases = kBiases;
  d.is_offline = 1;
  d.buffer = 0x123456789ABCDEF0;
  return d;
}

TEST(Abi, Onnx1IsTheHeaderOfLibonnx) {
  static_assert(sizeof(onnxTensorDescriptorV1) == 56);
  EXPECT_EQ(DescriptorBytes(Abi::kOnnx1), sizeof(onnxTensorDescriptorV1));
  const DescriptorArray array(Abi::kOnnx1, {Descriptor(), Sample()});
  const onnxTensorDescriptorV1& d = array.data()[1];
  EXPECT_EQ(array.data()[0].tag, ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1);
  EXPECT_EQ(d.tag, ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1);
  EXPECT_STREQ(d.name, "name");
  EXPECT_EQ(d.dataType, 10u);
  EXPECT_EQ(d.memoryType, 2u);
  EXPECT_EQ(d.dimensions, 2u);
  EXPECT_EQ(d.shape, kShape);
  EXPECT_EQ(d.buffer, 0x123456789ABCDEF0u);
}

TEST(Abi, ExtendedIsTheOtherHeader) {
  EXPECT_EQ(DescriptorBytes(Abi::kExtended), ExtendedDescriptorBytes());
  DescriptorArray array(Abi::kExtended, {Descriptor(), Sample()});
  EXPECT_TRUE(ExtendedHasSample(array.bytes() + ExtendedDescriptorBytes()));
}

TEST(Abi, BothHeadersHaveTheSameStatuses) {
  for (int i = 0; i + 1 < kStatuses; ++i) {
    const std::string name = StatusName(StatusAt(i));
    EXPECT_EQ(ExtendedStatus(name.c_str()), StatusAt(i)) << name;
  }
}

TEST(Abi, UnknownStatusesAreNumbers) {
  EXPECT_EQ(StatusIndex(0x0999), -1);
  EXPECT_EQ(StatusName(0x0999), "0x999");
}

TEST(Abi, NoDescriptorsAreNull) {
  EXPECT_EQ(DescriptorArray(Abi::kOnnx1, {}).data(), nullptr);
}

}  // namespace
}  // namespace heddle::conformance
