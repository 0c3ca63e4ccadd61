// SPDX-License-Identifier: Apache-2.0
// Images of every kind that is read, against their formula or what Pillow
// reads from the same file; and every way of being cut off.
#include "tools/heddle-run/image_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace heddle::run {
namespace {

std::string File(const std::string& name) {
  std::ifstream file("tools/heddle-run/testdata/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

uint64_t Fnv(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t b : bytes) hash = (hash ^ b) * 0x100000001b3u;
  return hash;
}

class PngKinds : public testing::TestWithParam<const char*> {};

TEST_P(PngKinds, EveryPixel) {
  const auto image = DecodeImage(File(GetParam()));
  ASSERT_TRUE(image.ok()) << image.status();
  ASSERT_EQ(image->width, 7u);
  ASSERT_EQ(image->height, 5u);
  const bool grey = std::string(GetParam()) == "grey.png";
  for (size_t y = 0; y < 5; ++y) {
    for (size_t x = 0; x < 7; ++x) {
      const uint8_t* p = &image->rgb[(y * 7 + x) * 3];
      EXPECT_EQ(p[0], grey ? (x * 40 + y * 5) % 256 : x * 40);
      EXPECT_EQ(p[1], grey ? (x * 40 + y * 5) % 256 : y * 60);
      EXPECT_EQ(p[2], grey ? (x * 40 + y * 5) % 256 : (x * 31 + y * 17) % 256);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PngKinds,
                         testing::Values("rgb.png", "rgba.png", "grey.png",
                                         "palette.png", "rgb16.png",
                                         "interlaced.png"));

TEST(DecodeImage, JpegAsPillowReadsIt) {
  const struct {
    const char* file;
    uint64_t hash;
  } kCases[] = {{"baseline.jpg", 0x5ddf178aeca837bu},
                {"progressive.jpg", 0xedee010d4ed824e2u},
                {"grey.jpg", 0x5eba2c86e4038bacu}};
  for (const auto& c : kCases) {
    const auto image = DecodeImage(File(c.file));
    ASSERT_TRUE(image.ok()) << c.file << image.status();
    EXPECT_EQ(image->width, 33u);
    EXPECT_EQ(image->height, 18u);
    EXPECT_EQ(Fnv(image->rgb), c.hash) << c.file;
  }
}

TEST(DecodeImage, CutOffAnywhere) {
  for (const char* name :
       {"rgb.png", "interlaced.png", "baseline.jpg", "progressive.jpg"}) {
    const std::string whole = File(name);
    // The last bytes may be a checksum or a mark that nothing depends on.
    for (size_t size = 0; size + 16 < whole.size(); ++size) {
      const auto image = DecodeImage(whole.substr(0, size));
      EXPECT_TRUE(absl::IsInvalidArgument(image.status())) << name << size;
    }
  }
}

TEST(DecodeImage, Refuses) {
  for (const char* name : {"huge.png", "many_pixels.png", "cmyk.jpg"}) {
    const auto image = DecodeImage(File(name));
    EXPECT_TRUE(absl::IsInvalidArgument(image.status()))
        << name << image.status();
    EXPECT_FALSE(image.status().message().empty());
  }
  for (const char* text : {"", "GIF89a", "\xff\xd8\xff", "\x89PNG\r\n\x1a\n"}) {
    EXPECT_FALSE(DecodeImage(text).ok());
  }
}

TEST(DecodeImage, DamagedChecksum) {
  std::string bytes = File("rgb.png");
  bytes[bytes.find("IDAT") + 8] ^= 0x40;
  EXPECT_TRUE(absl::IsInvalidArgument(DecodeImage(bytes).status()));
}

}  // namespace
}  // namespace heddle::run
