// SPDX-License-Identifier: Apache-2.0
// PNG and JPEG files to pixels. The files are not trusted: sizes are bounded
// before anything is allocated, and damage is an error, never a crash or half a
// image.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_IMAGE_FILE_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_IMAGE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::run {

// Limits of an image.
constexpr uint32_t kMaxImageSide = 16384;
constexpr uint64_t kMaxImagePixels = uint64_t{64} << 20;
// Limit of the file, for who reads it.
constexpr uint64_t kMaxImageFileBytes = uint64_t{256} << 20;

// Rows from top to bottom, pixels from left to right: R, G, B.
struct Image {
  size_t width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

// The first bytes say which format it is. Grey becomes R = G = B, transparency
// is dropped, 16 bits per channel are cut to the upper 8, neither gamma nor a
// colour profile nor an orientation is applied. InvalidArgument: another
// format, damaged, cut off, or beyond the limits.
absl::StatusOr<Image> DecodeImage(absl::string_view bytes);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_IMAGE_FILE_H_
