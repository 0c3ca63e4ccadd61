// SPDX-License-Identifier: Apache-2.0
// From files to inputs: order of channels, layouts, normalisation, fitting.
#include "tools/heddle-run/images.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

namespace heddle::run {
namespace {

using compiler::DataType;
using compiler::TensorData;

package::TensorInfo Input(DataType type, compiler::Shape shape) {
  package::TensorInfo info;
  info.name = "x";
  info.type = type;
  info.shape = std::move(shape);
  return info;
}

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

const char kImageFile[] = "tools/heddle-run/testdata/rgb.png";  // 7x5

float At(const TensorData& data, size_t i) { return data.as<float>()[i]; }

TEST(ImageSet, ValuesInTheModelsOrder) {
  ImageOptions options;
  options.dims = {3, 1, 2};
  options.images = Write("set.u8", std::string("\x01\x02\x03\x04\x05\x06"
                                               "\x0b\x0c\x0d\x0e\x0f\x10",
                                               12));
  options.labels = Write("set.i32", std::string("\5\0\0\0\7\0\0\0", 8));
  options.pixels.scale = 1;
  options.pixels.mean = {10, 20, 30};
  options.pixels.std = {2};
  const auto set = ImageSet::Read(options);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->size(), 2u);
  EXPECT_EQ(set->label(1), 7);
  const auto input = Input(DataType::kFloat, {1, 3, 1, 2});
  const TensorData rgb = set->Batch(input, *set->FormatFor(input), 1);
  EXPECT_EQ(At(rgb, 0), (11 - 10) / 2.f);
  EXPECT_EQ(At(rgb, 5), (16 - 30) / 2.f);
  // Blue first; the means stay in the model's order.
  options.pixels.bgr = true;
  const auto bgr_set = ImageSet::Read(options);
  const TensorData bgr = bgr_set->Batch(input, *bgr_set->FormatFor(input), 0);
  EXPECT_EQ(At(bgr, 0), (5 - 10) / 2.f);
  EXPECT_EQ(At(bgr, 4), (1 - 30) / 2.f);
  // Channels last, and two images with one missing.
  const auto last = Input(DataType::kFloat, {2, 1, 2, 3});
  const TensorData nhwc = bgr_set->Batch(last, *bgr_set->FormatFor(last), 1);
  EXPECT_EQ(At(nhwc, 0), (15 - 10) / 2.f);
  EXPECT_EQ(At(nhwc, 1), (13 - 20) / 2.f);
  EXPECT_EQ(At(nhwc, 6), 0);
  // Half precision and bytes.
  const auto half = Input(DataType::kFloat16, {1, 3, 1, 2});
  const TensorData halves = set->Batch(half, *set->FormatFor(half), 0);
  EXPECT_EQ(halves.as<uint16_t>()[0], 0xc480) << "-4.5";
  const auto codes = Input(DataType::kUint8, {1, 3, 1, 2});
  EXPECT_EQ(set->Batch(codes, *set->FormatFor(codes), 0).bytes[3], 4);
}

TEST(ImageSet, Refuses) {
  ImageOptions options;
  options.dims = {3, 1, 2};
  options.images = Write("odd.u8", "1234567");
  EXPECT_FALSE(ImageSet::Read(options).ok());
  options.images = Write("six.u8", "123456");
  options.labels = Write("many.i32", "12345678");
  EXPECT_FALSE(ImageSet::Read(options).ok());
  options.labels.clear();
  auto set = ImageSet::Read(options);
  ASSERT_TRUE(set.ok());
  for (const auto& input : {Input(DataType::kFloat, {1, 3, 2, 1}),
                            Input(DataType::kInt32, {1, 3, 1, 2}),
                            Input(DataType::kFloat, {3, 1, 2}),
                            Input(DataType::kFloat, {1, 1, 1, 2})}) {
    EXPECT_FALSE(set->FormatFor(input).ok());
  }
  options.pixels.mean = {1, 2};
  set = ImageSet::Read(options);
  EXPECT_FALSE(set->FormatFor(Input(DataType::kFloat, {1, 3, 1, 2})).ok());
  options.pixels.mean = {};
  options.pixels.std = {0};
  set = ImageSet::Read(options);
  EXPECT_FALSE(set->FormatFor(Input(DataType::kFloat, {1, 3, 1, 2})).ok());
}

TEST(ReadImageFile, AsItIs) {
  ImageOptions options;
  const auto data =
      ReadImageFile(kImageFile, options, Input(DataType::kFloat, {1, 3, 5, 7}));
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_FLOAT_EQ(At(*data, 6), 240 / 255.f) << "red of the last column";
  EXPECT_FLOAT_EQ(At(*data, 35 + 7), 60 / 255.f) << "green of the second row";
}

TEST(ReadImageFile, FitsByItself) {
  ImageOptions options;
  for (const auto& shape :
       {compiler::Shape{1, 3, 4, 4}, compiler::Shape{1, 2, 9, 3},
        compiler::Shape{2, 3, 1, 20}}) {
    const auto data =
        ReadImageFile(kImageFile, options, Input(DataType::kFloat, shape));
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(data->shape, shape);
  }
}

TEST(ReadImageFile, ResizeAndCrop) {
  ImageOptions options;
  options.resize = "14x10";
  options.crop = "4";
  EXPECT_TRUE(
      ReadImageFile(kImageFile, options, Input(DataType::kFloat, {1, 3, 4, 4}))
          .ok());
  const auto other =
      ReadImageFile(kImageFile, options, Input(DataType::kFloat, {1, 3, 4, 5}));
  EXPECT_TRUE(absl::IsInvalidArgument(other.status()));
  for (const char* size : {"", "x", "0", "3x", "1x2x3", "-1", "99999999999"}) {
    options.crop = size;
    if (options.crop.empty()) options.resize = "a";
    EXPECT_TRUE(absl::IsInvalidArgument(
        ReadImageFile(kImageFile, options,
                      Input(DataType::kFloat, {1, 3, 4, 4}))
            .status()))
        << size;
    options.resize = "14x10";
  }
}

TEST(ReadImageFile, OneChannelIsLuminance) {
  ImageOptions options;
  options.pixels.scale = 1;
  const auto data =
      ReadImageFile(kImageFile, options, Input(DataType::kFloat, {1, 1, 5, 7}));
  ASSERT_TRUE(data.ok());
  // (240, 0, 186): 71.76 + 21.2
  EXPECT_EQ(At(*data, 6), 93);
}

TEST(ReadImageFile, NamesTheFile) {
  const auto input = Input(DataType::kFloat, {1, 3, 4, 4});
  const std::string bad = Write("bad.png", "no image");
  const auto data = ReadImageFile(bad, {}, input);
  EXPECT_NE(data.status().message().find("bad.png"), std::string::npos);
  EXPECT_TRUE(absl::IsNotFound(ReadImageFile("none.png", {}, input).status()));
}

TEST(Largest, OrderTiesAndNan) {
  TensorData t = TensorData::Zeros(DataType::kFloat, {6});
  const float values[] = {9, 1, 3, NAN, 3, -1};
  std::memcpy(t.bytes.data(), values, sizeof(values));
  const auto top = Largest(t, 1, 5, 4);
  ASSERT_EQ(top.size(), 4u);
  EXPECT_EQ(top[0].index, 1);
  EXPECT_EQ(top[1].index, 3);
  EXPECT_EQ(top[2].index, 0);
  EXPECT_EQ(top[3].index, 4);
  EXPECT_EQ(Largest(t, 0, 1, 5).size(), 1u);
}

TEST(ReadNames, Lines) {
  const auto names =
      ReadNames(Write("names.txt", "cat\r\ndog, hound\n\nfox\n\n"));
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names, (std::vector<std::string>{"cat", "dog, hound", "", "fox"}));
  EXPECT_FALSE(ReadNames("none.txt").ok());
}

}  // namespace
}  // namespace heddle::run
