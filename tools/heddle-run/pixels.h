// SPDX-License-Identifier: Apache-2.0
// From pixels to a model's input: order of channels, layout, normalisation.
//
// A value becomes (byte * scale - mean[c]) / std[c] for an input of float or
// float16; c counts the channels in the order in which the model gets them, so
// with bgr the first mean is that of blue. An 8-bit input takes the bytes.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_PIXELS_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_PIXELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/ir/graph.h"
#include "compiler/package/package.h"

namespace heddle::run {

struct PixelOptions {
  double scale = 1.0 / 255;
  std::vector<double> mean, std;  // one for all channels, one each, or none
  bool bgr = false;               // the model wants blue first
  std::string layout = "auto";    // "auto", "nchw", "nhwc"
};

// How an input holds images.
class PixelFormat {
 public:
  // InvalidArgument unless `input` is [N,C,H,W] or [N,H,W,C] with 1 or 3
  // channels (any number for raw images of `raw_channels`), of float,
  // float16, uint8 or int8, and the options fit it.
  static absl::StatusOr<PixelFormat> Make(const package::TensorInfo& input,
                                          const PixelOptions& options,
                                          int64_t raw_channels = 0);

  int64_t batch() const { return batch_; }
  int64_t channels() const { return channels_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }

  // Writes image `n` of the batch. `pixels` holds `channels` bytes per pixel
  // with the given distances, red first if there are three.
  void Write(const uint8_t* pixels, size_t channel_step, size_t pixel_step,
             int64_t n, compiler::TensorData* data) const;

 private:
  PixelOptions options_;
  int64_t batch_ = 0, channels_ = 0, height_ = 0, width_ = 0;
  bool last_ = false;  // channels are the last dimension
};

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_PIXELS_H_
