// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace heddle::run {
namespace {

constexpr size_t kChannels = 3;
constexpr int kWeightBits = 22;  // 8-bit pixels times these fit int32

// The pixels that one result is made of.
struct Window {
  size_t first = 0;
  std::vector<int32_t> weights;
};

std::vector<Window> Windows(size_t from, size_t to) {
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const double radius = std::max(step, 1.0);
  std::vector<Window> windows(to);
  for (size_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * step;
    // Rounded, not cut: a pixel belongs to the window by its middle.
    const auto begin =
        static_cast<size_t>(std::max(0.0, std::floor(centre - radius + 0.5)));
    const size_t end =
        std::min(from, static_cast<size_t>(std::floor(centre + radius + 0.5)));
    std::vector<double> raw;
    double sum = 0;
    for (size_t x = begin; x < end; ++x) {
      const double distance =
          std::fabs((static_cast<double>(x) + 0.5 - centre) / radius);
      raw.push_back(distance < 1 ? 1 - distance : 0);
      sum += raw.back();
    }
    windows[i].first = begin;
    for (double weight : raw) {
      windows[i].weights.push_back(
          static_cast<int32_t>(weight / sum * (1 << kWeightBits) + 0.5));
    }
  }
  return windows;
}

uint8_t Weighted(const Window& window, const uint8_t* first, size_t step) {
  int64_t sum = int64_t{1} << (kWeightBits - 1);
  for (size_t k = 0; k < window.weights.size(); ++k) {
    sum += int64_t{window.weights[k]} * first[k * step];
  }
  return static_cast<uint8_t>(std::clamp<int64_t>(sum >> kWeightBits, 0, 255));
}

}  // namespace

absl::StatusOr<Image> Resize(const Image& image, size_t width, size_t height) {
  if (width < 1 || height < 1 || width > kMaxImageSide ||
      height > kMaxImageSide || uint64_t{width} * height > kMaxImagePixels ||
      uint64_t{width} * image.height > kMaxImagePixels) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot resize an image of ", image.width, "x",
                     image.height, " to ", width, "x", height));
  }
  Image wide;
  wide.width = width;
  wide.height = image.height;
  if (width == image.width) {
    wide.rgb = image.rgb;
  } else {
    wide.rgb.resize(width * image.height * kChannels);
    const std::vector<Window> windows = Windows(image.width, width);
    for (size_t y = 0; y < image.height; ++y) {
      const uint8_t* row = &image.rgb[y * image.width * kChannels];
      uint8_t* to = &wide.rgb[y * width * kChannels];
      for (size_t x = 0; x < width; ++x) {
        for (size_t c = 0; c < kChannels; ++c) {
          to[x * kChannels + c] = Weighted(
              windows[x], row + windows[x].first * kChannels + c, kChannels);
        }
      }
    }
  }
  if (height == image.height) return wide;
  Image result;
  result.width = width;
  result.height = height;
  result.rgb.resize(width * height * kChannels);
  const std::vector<Window> windows = Windows(image.height, height);
  const size_t row = width * kChannels;
  for (size_t y = 0; y < height; ++y) {
    for (size_t i = 0; i < row; ++i) {
      result.rgb[y * row + i] =
          Weighted(windows[y], &wide.rgb[windows[y].first * row + i], row);
    }
  }
  return result;
}

void ShorterSide(const Image& image, size_t side, size_t* width,
                 size_t* height) {
  if (image.width <= image.height) {
    *width = side;
    *height = side * image.height / std::max<size_t>(image.width, 1);
  } else {
    *height = side;
    *width = side * image.width / std::max<size_t>(image.height, 1);
  }
}

absl::StatusOr<Image> CropCentre(const Image& image, size_t width,
                                 size_t height) {
  if (width > image.width || height > image.height || width < 1 || height < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot cut ", width, "x", height, " out of an image of ", image.width,
        "x", image.height, "; resize it first (--resize)"));
  }
  // Half a pixel goes to the even side.
  const auto offset = [](size_t have, size_t want) {
    return static_cast<size_t>(
        std::nearbyint(static_cast<double>(have - want) / 2));
  };
  const size_t left = offset(image.width, width);
  const size_t top = offset(image.height, height);
  Image result;
  result.width = width;
  result.height = height;
  result.rgb.resize(width * height * kChannels);
  for (size_t y = 0; y < height; ++y) {
    std::memcpy(&result.rgb[y * width * kChannels],
                &image.rgb[((top + y) * image.width + left) * kChannels],
                width * kChannels);
  }
  return result;
}

}  // namespace heddle::run
