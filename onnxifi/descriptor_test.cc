// SPDX-License-Identifier: Apache-2.0
// The two layouts: tags, strides, and memory that must not be touched.
#include "onnxifi/descriptor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "absl/strings/match.h"
#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

// ONNX 1.x's descriptor, as its clients lay it out.
struct Narrow {
  int32_t tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  const char* name = nullptr;
  uint64_t data_type = ONNXIFI_DATATYPE_UINT8;
  uint64_t memory_type = 0;
  uint32_t dimensions = 1;
  const uint64_t* shape = nullptr;
  uint64_t buffer = 0;
};
static_assert(sizeof(Narrow) == 56);

const onnxTensorDescriptorV1* AsWide(const Narrow* descriptors) {
  return reinterpret_cast<const onnxTensorDescriptorV1*>(descriptors);
}

constexpr uint64_t kFour[] = {4};

// Two pages, of which the second is inaccessible.
class Guarded {
 public:
  Guarded() : page_(sysconf(_SC_PAGESIZE)) {
    memory_ =
        static_cast<uint8_t*>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + page_, page_, PROT_NONE);
  }
  ~Guarded() { munmap(memory_, 2 * page_); }
  uint8_t* BeforeEnd(size_t bytes) { return memory_ + page_ - bytes; }

 private:
  const size_t page_;
  uint8_t* memory_;
};

TEST(Descriptor, OnlyTheTagIsReadOfAWrongOne) {
  Guarded guarded;
  for (Abi abi : {Abi::kExtended, Abi::kOnnx1}) {
    std::memset(guarded.BeforeEnd(4), 0, 4);
    EXPECT_EQ(
        CodeOf(ReadDescriptors(abi, guarded.BeforeEnd(4), 3, "x").status()),
        ONNXIFI_STATUS_UNSUPPORTED_TAG);
  }
}

TEST(Descriptor, AllTagsComeFirst) {
  // The first descriptor is good but its name is not readable; the second has
  // a wrong tag, and nothing behind it can be read.
  Guarded guarded;
  for (Abi abi : {Abi::kExtended, Abi::kOnnx1}) {
    const size_t stride = abi == Abi::kExtended ? 96 : 56;
    uint8_t* array = guarded.BeforeEnd(stride + 4);
    std::memset(array, 0xff, stride + 4);
    const int32_t tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
    std::memcpy(array, &tag, 4);
    EXPECT_EQ(CodeOf(ReadDescriptors(abi, array, 2, "x").status()),
              ONNXIFI_STATUS_UNSUPPORTED_TAG);
  }
}

TEST(Descriptor, TheOtherStrideIsRecognised) {
  Narrow narrow[2];
  const auto status =
      ReadDescriptors(Abi::kExtended, narrow, 2, "input").status();
  EXPECT_EQ(CodeOf(status), ONNXIFI_STATUS_UNSUPPORTED_TAG);
  EXPECT_NE(status.message().find("56 bytes"), absl::string_view::npos)
      << status;
  EXPECT_NE(status.message().find("onnx1"), absl::string_view::npos) << status;
  onnxTensorDescriptorV1 wide[2] = {};
  wide[0].tag = wide[1].tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  const auto other = ReadDescriptors(Abi::kOnnx1, wide, 2, "input").status();
  EXPECT_EQ(CodeOf(other), ONNXIFI_STATUS_UNSUPPORTED_TAG);
  EXPECT_NE(other.message().find("96 bytes"), absl::string_view::npos) << other;
  EXPECT_TRUE(ReadDescriptors(Abi::kOnnx1, narrow, 2, "input").ok());
  EXPECT_TRUE(ReadDescriptors(Abi::kExtended, wide, 2, "input").ok());
}

// One descriptor has no second tag: where an address stands tells its form.
TEST(Descriptor, ASingleOneOfTheOtherFormIsRecognised) {
  uint8_t data[4] = {};
  Guarded guarded;
  // What follows may be there, be something else, or not be readable at all.
  for (size_t room : {size_t{56}, size_t{96}}) {
    uint8_t* place = guarded.BeforeEnd(room);
    std::memset(place, 0, room);
    Narrow narrow;
    narrow.name = "x";
    narrow.shape = kFour;
    narrow.buffer = reinterpret_cast<uint64_t>(data);
    std::memcpy(place, &narrow, sizeof(narrow));
    const auto status =
        ReadDescriptors(Abi::kExtended, place, 1, "input").status();
    EXPECT_EQ(CodeOf(status), ONNXIFI_STATUS_UNSUPPORTED_TAG);
    EXPECT_NE(status.message().find("onnx1"), absl::string_view::npos)
        << status;
    EXPECT_TRUE(ReadDescriptors(Abi::kOnnx1, place, 1, "input").ok());
  }
  onnxTensorDescriptorV1 wide = {};
  wide.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  wide.buffer = reinterpret_cast<uint64_t>(data);
  EXPECT_TRUE(ReadDescriptors(Abi::kExtended, &wide, 1, "input").ok());
  // An axis of 2 is no address.
  wide.quantizationAxis = 2;
  const auto other = ReadDescriptors(Abi::kOnnx1, &wide, 1, "input").status();
  EXPECT_EQ(CodeOf(other), ONNXIFI_STATUS_UNSUPPORTED_TAG);
  EXPECT_NE(other.message().find("96 bytes"), absl::string_view::npos) << other;
  EXPECT_TRUE(ReadDescriptors(Abi::kExtended, &wide, 1, "input").ok());
  // A buffer that is only wrong is no sign of the other form.
  wide.buffer = 0;
  EXPECT_TRUE(ReadDescriptors(Abi::kExtended, &wide, 1, "input").ok());
}

// Behind a descriptor of ONNX 1.x is memory that is not its own: an address
// there must not turn "no buffer" into "wrong tag".
TEST(Descriptor, WithoutABufferOneOfOnnx1IsStillOne) {
  uint64_t data = 0;
  for (const bool address_behind : {false, true}) {
    uint64_t place[12] = {};
    Narrow narrow;
    narrow.name = "x";
    narrow.data_type = ONNXIFI_DATATYPE_UINT8;
    narrow.memory_type = ONNXIFI_MEMORY_TYPE_CPU;
    narrow.shape = kFour;
    std::memcpy(place, &narrow, sizeof(narrow));
    if (address_behind) place[11] = reinterpret_cast<uint64_t>(&data);
    const auto read = ReadDescriptors(Abi::kOnnx1, place, 1, "output");
    ASSERT_TRUE(read.ok()) << read.status();
    const auto status = CheckForm(read->front());
    EXPECT_EQ(CodeOf(status), ONNXIFI_STATUS_INVALID_MEMORY_LOCATION);
    EXPECT_EQ(absl::StrContains(status.message(), "the extended onnxifi.h"),
              address_behind)
        << status;
  }
}

TEST(Descriptor, MembersOfBothLayouts) {
  Narrow narrow[2];
  narrow[1].name = "n";
  narrow[1].shape = kFour;
  narrow[1].buffer = 77;
  auto read = ReadDescriptors(Abi::kOnnx1, narrow, 2, "x");
  ASSERT_TRUE(read.ok());
  EXPECT_STREQ((*read)[1].name, "n");
  EXPECT_EQ((*read)[1].shape, kFour);
  EXPECT_EQ((*read)[1].buffer, 77u);
  EXPECT_EQ((*read)[1].quantization_params, 0u);
  EXPECT_FALSE((*read)[1].offline);
  onnxTensorDescriptorV1 wide = {};
  wide.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  wide.quantizationAxis = 3;
  wide.quantizationParams = 4;
  wide.isOffline = 1;
  wide.buffer = 78;
  read = ReadDescriptors(Abi::kExtended, &wide, 1, "x");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)[0].quantization_axis, 3u);
  EXPECT_EQ((*read)[0].quantization_params, 4u);
  EXPECT_TRUE((*read)[0].offline);
  EXPECT_EQ((*read)[0].buffer, 78u);
}

TEST(Descriptor, HugeShapes) {
  const uint64_t dims[] = {uint64_t{1} << 40, uint64_t{1} << 40};
  Descriptor descriptor;
  descriptor.name = "x";
  descriptor.dimensions = 2;
  descriptor.shape = dims;
  EXPECT_EQ(CodeOf(ReadShape(descriptor, -1).status()),
            ONNXIFI_STATUS_UNSUPPORTED_SHAPE);
  descriptor.dimensions = 65;
  EXPECT_EQ(CodeOf(ReadShape(descriptor, -1).status()),
            ONNXIFI_STATUS_UNSUPPORTED_SHAPE);
}

// IDs carry their ABI, and everything made from them inherits it.
class FlavourTest : public OnnxifiTest {
 protected:
  void SetUp() override {
    OnnxifiTest::SetUp();
    setenv("HEDDLE_ONNXIFI_ABI", "onnx1", 1);
    narrow_id_ = ListIds()[0];
    unsetenv("HEDDLE_ONNXIFI_ABI");
    ASSERT_NE(narrow_id_, id_);
    std::swap(narrow_id_, id_);
    ASSERT_OK(onnxReleaseBackend(backend_));
    ASSERT_OK(onnxInitBackend(id_, nullptr, &backend_));
  }
  onnxBackendID narrow_id_ = nullptr;
};

TEST_F(FlavourTest, NarrowDescriptorsRun) {
  const std::string model =
      Serialize({{{"x"}, {"w"}, {"z"}}, {{"y"}, {"v"}}, {}, 0});
  uint8_t x[4] = {1}, z[4] = {2}, w[4] = {4}, y[4], v[4];
  const auto narrow = [](const char* name, void* data) {
    Narrow descriptor;
    descriptor.name = name;
    descriptor.shape = kFour;
    descriptor.buffer = reinterpret_cast<uint64_t>(data);
    return descriptor;
  };
  const Narrow weight = narrow("w", w);
  const Narrow in[] = {narrow("x", x), narrow("z", z)};
  const Narrow out[] = {narrow("y", y), narrow("v", v)};
  // A caller with seven arguments leaves garbage in the last two.
  onnxGraph graph = nullptr;
  ASSERT_OK(onnxInitGraph(backend_, nullptr, model.size(), model.data(), 1,
                          AsWide(&weight), &graph, 1,
                          reinterpret_cast<void*>(0x10)));
  ASSERT_OK(onnxSetGraphIO(graph, 2, AsWide(in), 2, AsWide(out)));
  ASSERT_OK(RunToEnd(graph));
  EXPECT_EQ(y[0], 8);
  EXPECT_EQ(v[0], 8);
  // The other layout is recognised.
  const TestDescriptor wx("x", {4}, x), wz("z", {4}, z);
  const onnxTensorDescriptorV1 wide[] = {wx, wz};
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_TAG,
                onnxSetGraphIO(graph, 2, wide, 2, AsWide(out)));
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(FlavourTest, BothInOneProcess) {
  onnxBackend wide = nullptr;
  ASSERT_OK(onnxInitBackend(narrow_id_, nullptr, &wide));
  std::swap(wide, backend_);
  onnxGraph graph = MakeGraph();
  uint8_t x[4] = {}, y[4];
  EXPECT_OK(SetIo(graph, x, y));
  EXPECT_OK(RunToEnd(graph));
  EXPECT_OK(onnxReleaseGraph(graph));
  std::swap(wide, backend_);
  EXPECT_OK(onnxReleaseBackend(wide));
}

}  // namespace
}  // namespace heddle::onnxifi
