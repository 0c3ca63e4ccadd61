// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/descriptors.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "onnxifi/loader/vendor.h"

namespace heddle::onnxifi_loader {
namespace {

onnxTensorDescriptorV1 One(const char* name, const uint64_t* shape) {
  onnxTensorDescriptorV1 one = {};
  one.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  one.name = name;
  one.dataType = 7;
  one.memoryType = uint64_t{1} << 40;
  one.dimensions = 1;
  one.shape = shape;
  one.buffer = 0x1234567812345678;
  return one;
}

TEST(Descriptors, ThereAndBack) {
  const uint64_t shape[] = {5};
  const onnxTensorDescriptorV1 given[] = {One("a", shape), One("b", shape)};
  const Descriptors there(given, 2, kExtendedBytes, kOnnx1Bytes);
  ASSERT_EQ(there.count(), 2u);
  const Descriptors back(there.data(), 2, kOnnx1Bytes, kExtendedBytes);
  ASSERT_EQ(back.count(), 2u);
  EXPECT_EQ(std::memcmp(given, back.data(), sizeof(given)), 0);
  // The layout of libonnx-dev: the buffer at 48.
  uint64_t buffer;
  std::memcpy(&buffer, reinterpret_cast<const char*>(there.data()) + 56 + 48,
              sizeof(buffer));
  EXPECT_EQ(buffer, given[1].buffer);
}

TEST(Descriptors, Many) {
  std::vector<onnxTensorDescriptorV1> given;
  for (uint64_t i = 0; i < 40; ++i) {
    given.push_back(One("x", nullptr));
    given.back().buffer = i;
  }
  const Descriptors there(given.data(), 40, kExtendedBytes, kOnnx1Bytes);
  const Descriptors back(there.data(), 40, kOnnx1Bytes, kExtendedBytes);
  ASSERT_EQ(back.count(), 40u);
  EXPECT_EQ(std::memcmp(given.data(), back.data(), 40 * sizeof(given[0])), 0);
}

TEST(Descriptors, SameAbiIsPassedOn) {
  const onnxTensorDescriptorV1 given = One("a", nullptr);
  EXPECT_EQ(Descriptors(&given, 1, 96, 96).data(), &given);
  EXPECT_EQ(Descriptors(nullptr, 3, 56, 96).data(), nullptr);
  EXPECT_EQ(Descriptors(nullptr, 3, 56, 96).count(), 3u);
  EXPECT_EQ(Descriptors(&given, 0, 56, 96).count(), 0u);
}

TEST(Descriptors, WhatOnnx1CannotSayIsSeen) {
  onnxTensorDescriptorV1 given[] = {One("a", nullptr), One("b", nullptr)};
  EXPECT_FALSE(Descriptors(given, 2, 96, 56).quantized());
  given[1].quantizationParams = 1;
  EXPECT_TRUE(Descriptors(given, 2, 96, 56).quantized());
  EXPECT_FALSE(Descriptors(given, 2, 96, 56).offline());
  given[0].isOffline = 1;
  EXPECT_TRUE(Descriptors(given, 2, 96, 56).offline());
}

TEST(Descriptors, NothingIsReadBehindAWrongTag) {
  // The wrong tag's four bytes end a page that nothing can be read behind.
  const size_t page = static_cast<size_t>(getpagesize());
  char* pages =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  const onnxTensorDescriptorV1 first = One("a", nullptr);
  char* at = pages + page - 4 - 56;
  std::memcpy(at, &first, 48);
  const int32_t wrong = 7;
  std::memcpy(pages + page - 4, &wrong, 4);
  const Descriptors got(reinterpret_cast<onnxTensorDescriptorV1*>(at),
                        0xffffffff, 56, 96);
  ASSERT_EQ(got.count(), 2u);
  EXPECT_EQ(got.data()[0].tag, ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1);
  EXPECT_EQ(got.data()[1].tag, 7);
  EXPECT_EQ(got.data()[1].name, nullptr);
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace heddle::onnxifi_loader
