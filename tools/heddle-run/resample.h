// SPDX-License-Identifier: Apache-2.0
// Images to the size a model wants.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_RESAMPLE_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_RESAMPLE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "tools/heddle-run/image_file.h"

namespace heddle::run {

// Bilinear; when it shrinks, the triangle is as wide as the step, so that every
// pixel counts (as Pillow's BILINEAR does, which models are trained with). Rows
// first, then columns, rounded to 8 bits in between; integer weights of 22
// bits. InvalidArgument: a side of 0 or beyond the limits of images.
absl::StatusOr<Image> Resize(const Image& image, size_t width, size_t height);

// The size with `side` as the shorter side and the same proportions (the longer
// one is rounded down).
void ShorterSide(const Image& image, size_t side, size_t* width,
                 size_t* height);

// The middle of the image. InvalidArgument: it is smaller than that.
absl::StatusOr<Image> CropCentre(const Image& image, size_t width,
                                 size_t height);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_RESAMPLE_H_
