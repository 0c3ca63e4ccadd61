// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/pixels.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "simulator/model/numerics.h"

namespace heddle::run {
namespace {

using compiler::DataType;

absl::Status PerChannel(const char* option, int64_t channels, double standard,
                        std::vector<double>* values) {
  if (values->empty()) values->push_back(standard);
  if (values->size() == 1) {
    values->resize(static_cast<size_t>(channels), values->front());
  }
  if (values->size() == static_cast<size_t>(channels)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      option, " has ", values->size(),
      " values; give one, or one for each of the ", channels, " channels"));
}

}  // namespace

absl::StatusOr<PixelFormat> PixelFormat::Make(const package::TensorInfo& input,
                                              const PixelOptions& options,
                                              int64_t raw_channels) {
  const auto& s = input.shape;
  const auto bad = [&input](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat(
        "input '", input.name, "' is ", compiler::DataTypeName(input.type),
        compiler::ShapeToString(input.shape), ": ", why));
  };
  if (input.type != DataType::kFloat && input.type != DataType::kFloat16 &&
      input.type != DataType::kUint8 && input.type != DataType::kInt8) {
    return bad("images need float, float16, uint8 or int8");
  }
  if (s.size() != 4) return bad("images need four dimensions");
  const auto fits = [raw_channels](int64_t c) {
    return raw_channels > 0 ? c == raw_channels : c == 1 || c == 3;
  };
  PixelFormat format;
  format.options_ = options;
  format.last_ = options.layout == "nhwc" ||
                 (options.layout == "auto" && !fits(s[1]) && fits(s[3]));
  format.batch_ = s[0];
  format.channels_ = format.last_ ? s[3] : s[1];
  format.height_ = format.last_ ? s[1] : s[2];
  format.width_ = format.last_ ? s[2] : s[3];
  if (format.batch_ < 1 || !fits(format.channels_)) {
    return bad(raw_channels > 0
                   ? absl::StrCat("no dimension for ", raw_channels,
                                  " channels; see --layout")
                   : "no dimension for 1 or 3 channels; see --layout");
  }
  if (options.bgr && format.channels_ != 3) {
    return bad("--channels bgr needs 3 channels");
  }
  for (absl::Status status :
       {PerChannel("--mean", format.channels_, 0, &format.options_.mean),
        PerChannel("--std", format.channels_, 1, &format.options_.std)}) {
    if (!status.ok()) return status;
  }
  for (double deviation : format.options_.std) {
    if (deviation == 0) {
      return absl::InvalidArgumentError("--std is 0, which divides by zero");
    }
  }
  return format;
}

void PixelFormat::Write(const uint8_t* pixels, size_t channel_step,
                        size_t pixel_step, int64_t n,
                        compiler::TensorData* data) const {
  const int64_t count = height_ * width_;
  const size_t each = compiler::ElementBytes(data->type);
  uint8_t* image = data->bytes.data() + n * count * channels_ * each;
  for (int64_t c = 0; c < channels_; ++c) {
    const uint8_t* from =
        pixels + (options_.bgr ? channels_ - 1 - c : c) * channel_step;
    const double mean = options_.mean[c], deviation = options_.std[c];
    uint8_t* to = image + (last_ ? c : c * count) * each;
    const size_t step = (last_ ? channels_ : 1) * each;
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t byte = from[i * pixel_step];
      const auto value =
          static_cast<float>((byte * options_.scale - mean) / deviation);
      if (data->type == DataType::kFloat) {
        std::memcpy(to + i * step, &value, sizeof(value));
      } else if (data->type == DataType::kFloat16) {
        const uint16_t half = model::F32ToF16(value);
        std::memcpy(to + i * step, &half, sizeof(half));
      } else {
        to[i * step] = byte;
      }
    }
  }
}

}  // namespace heddle::run
