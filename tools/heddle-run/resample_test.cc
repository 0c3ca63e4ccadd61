// SPDX-License-Identifier: Apache-2.0
// Against Pillow 9.4 (resize with BILINEAR), all bytes by their hash.
#include "tools/heddle-run/resample.h"

#include <gtest/gtest.h>

namespace heddle::run {
namespace {

uint64_t Fnv(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t b : bytes) hash = (hash ^ b) * 0x100000001b3u;
  return hash;
}

Image Pattern(size_t width, size_t height) {
  Image image;
  image.width = width;
  image.height = height;
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x) {
      image.rgb.push_back(static_cast<uint8_t>(x * 37 + y * 11));
      image.rgb.push_back(static_cast<uint8_t>(x * x + y * 3));
      image.rgb.push_back(static_cast<uint8_t>(x * y * 5));
    }
  }
  return image;
}

TEST(Resize, AsPillow) {
  const struct {
    size_t width, height;
    uint64_t hash;
  } kCases[] = {
      {7, 5, 0x46eafbdd6a6a3352u},  {64, 50, 0x6d3f93f77927f7f7u},
      {31, 9, 0xf1e6c9c5874defd3u}, {12, 23, 0x634e92ffcf576e1au},
      {1, 1, 0x2d60301adf7d5eb3u},  {30, 22, 0x97260feecc39ceeau},
  };
  for (const auto& c : kCases) {
    const auto image = Resize(Pattern(31, 23), c.width, c.height);
    ASSERT_TRUE(image.ok()) << image.status();
    EXPECT_EQ(image->width, c.width);
    EXPECT_EQ(image->height, c.height);
    EXPECT_EQ(Fnv(image->rgb), c.hash) << c.width << "x" << c.height;
  }
}

TEST(Resize, SameSizeIsTheSame) {
  const Image image = Pattern(9, 4);
  EXPECT_EQ(Resize(image, 9, 4)->rgb, image.rgb);
}

TEST(Resize, Limits) {
  const Image image = Pattern(2, 2);
  EXPECT_FALSE(Resize(image, 0, 1).ok());
  EXPECT_FALSE(Resize(image, 1, kMaxImageSide + 1).ok());
  EXPECT_FALSE(Resize(image, kMaxImageSide, kMaxImageSide).ok());
}

TEST(ShorterSide, KeepsProportions) {
  size_t width, height;
  ShorterSide(Pattern(31, 23), 46, &width, &height);
  EXPECT_EQ(width, 62u);
  EXPECT_EQ(height, 46u);
  ShorterSide(Pattern(23, 31), 5, &width, &height);
  EXPECT_EQ(width, 5u);
  EXPECT_EQ(height, 6u);
}

TEST(CropCentre, TakesTheMiddle) {
  const Image image = Pattern(6, 5);
  const auto cropped = CropCentre(image, 2, 3);
  ASSERT_TRUE(cropped.ok());
  EXPECT_EQ(cropped->rgb[0], static_cast<uint8_t>(2 * 37 + 1 * 11));
  EXPECT_EQ(cropped->rgb.size(), 2u * 3 * 3);
  EXPECT_EQ(cropped->rgb[(2 * 2 + 1) * 3],
            static_cast<uint8_t>(3 * 37 + 3 * 11));
  EXPECT_FALSE(CropCentre(image, 7, 1).ok());
  EXPECT_FALSE(CropCentre(image, 0, 1).ok());
}

}  // namespace
}  // namespace heddle::run
