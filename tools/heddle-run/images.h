// SPDX-License-Identifier: Apache-2.0
// Where images come from: raw labelled sets (--images, --labels, --dims) and
// PNG or JPEG files (--image); and what the largest outputs are.
//
// Raw images are bytes, channel by channel (c,h,w), red first if there are
// three, one image after the other; labels are little-endian int32.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_IMAGES_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_IMAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"
#include "tools/heddle-run/pixels.h"

namespace heddle::run {

struct ImageOptions {
  std::string images, labels;      // paths of a raw set; labels may be empty
  std::vector<int64_t> dims;       // c, h, w of it
  std::vector<std::string> files;  // PNG or JPEG
  // "256": the shorter side; "256x224": width and height; "": what it takes to
  // fill the model's size. Then the middle of that size is cut out.
  std::string resize, crop;
  PixelOptions pixels;
};

class ImageSet {
 public:
  static absl::StatusOr<ImageSet> Read(const ImageOptions& options);
  size_t size() const { return bytes_.size() / image_bytes_; }
  bool labelled() const { return !labels_.empty(); }
  int32_t label(size_t image) const { return labels_[image]; }

  // InvalidArgument unless `input` holds images of these dimensions.
  absl::StatusOr<PixelFormat> FormatFor(const package::TensorInfo& input) const;
  // Images first, first + 1 ... as one input; zeros after the last image.
  compiler::TensorData Batch(const package::TensorInfo& input,
                             const PixelFormat& format, size_t first) const;

 private:
  ImageOptions options_;
  size_t image_bytes_ = 1;
  std::string bytes_;
  std::vector<int32_t> labels_;
};

// An image file, resized, cut and normalised for the first place of the batch;
// zeros behind it. One channel: the image's luminance.
absl::StatusOr<compiler::TensorData> ReadImageFile(
    const std::string& path, const ImageOptions& options,
    const package::TensorInfo& input);

struct Scored {
  int64_t index = 0;  // of the class
  double value = 0;
};
// The largest `top` of `count` elements from `first`, largest first; of equals
// the one in front. Not-a-number comes last.
std::vector<Scored> Largest(const compiler::TensorData& tensor, int64_t first,
                            int64_t count, size_t top);

// One name per line.
absl::StatusOr<std::vector<std::string>> ReadNames(const std::string& path);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_IMAGES_H_
