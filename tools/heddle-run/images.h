// SPDX-License-Identifier: Apache-2.0
// Raw images with labels: --images, --labels, --dims, --scale, --mean, --std.
//
// Images are bytes, channel by channel (c,h,w), one image after the other;
// labels are little-endian int32. A value becomes (byte * scale - mean[c]) /
// std[c] for a floating-point input; an 8-bit input takes the bytes.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_IMAGES_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_IMAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"

namespace heddle::run {

struct ImageOptions {
  std::string images, labels;  // paths; labels may be empty
  std::vector<int64_t> dims;   // c, h, w
  double scale = 1.0 / 255;
  std::vector<double> mean, std;  // one for all channels, one each, or none
};

class ImageSet {
 public:
  static absl::StatusOr<ImageSet> Read(const ImageOptions& options);
  size_t size() const { return bytes_.size() / image_bytes_; }
  bool labelled() const { return !labels_.empty(); }
  int32_t label(size_t image) const { return labels_[image]; }

  // InvalidArgument unless `input` is [N,c,h,w] of float, uint8 or int8.
  absl::Status Check(const package::TensorInfo& input) const;
  // Images first, first + 1 ... as one input; zeros after the last image.
  compiler::TensorData Batch(const package::TensorInfo& input,
                             size_t first) const;

 private:
  ImageOptions options_;
  size_t image_bytes_ = 1;
  std::string bytes_;
  std::vector<int32_t> labels_;
};

// Index of the largest of `count` elements from `first`; the first of equals.
int64_t Top1(const compiler::TensorData& tensor, int64_t first, int64_t count);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_IMAGES_H_
