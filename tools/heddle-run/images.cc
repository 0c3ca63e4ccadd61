// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/images.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/cli/file.h"
#include "tools/heddle-run/compare.h"

namespace heddle::run {
namespace {

// Far above any image, far below what overflows a product of three.
constexpr int64_t kMaxDimension = 1 << 20;

absl::Status CheckPerChannel(const char* option, std::vector<double>* values,
                             size_t channels, double standard) {
  if (values->empty()) values->push_back(standard);
  if (values->size() == 1) values->resize(channels, values->front());
  if (values->size() == channels) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      option, " has ", values->size(),
      " values; give one, or one for each of the ", channels, " channels"));
}

}  // namespace

absl::StatusOr<ImageSet> ImageSet::Read(const ImageOptions& options) {
  ImageSet set;
  set.options_ = options;
  if (options.dims.size() != 3) {
    return absl::InvalidArgumentError(
        "give the images' --dims as CHANNELS,HEIGHT,WIDTH");
  }
  for (int64_t d : options.dims) {
    if (d < 1 || d > kMaxDimension) {
      return absl::InvalidArgumentError(
          absl::StrCat("--dims: ", d, " is not 1 to ", kMaxDimension));
    }
    set.image_bytes_ *= static_cast<size_t>(d);
  }
  const auto channels = static_cast<size_t>(options.dims[0]);
  for (absl::Status status :
       {CheckPerChannel("--mean", &set.options_.mean, channels, 0),
        CheckPerChannel("--std", &set.options_.std, channels, 1)}) {
    if (!status.ok()) return status;
  }
  auto bytes = cli::ReadFile(options.images);
  if (!bytes.ok()) return bytes.status();
  set.bytes_ = *std::move(bytes);
  if (set.bytes_.empty() || set.bytes_.size() % set.image_bytes_ != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", options.images, "' has ", set.bytes_.size(),
        " bytes, which are no whole images of ", set.image_bytes_));
  }
  if (options.labels.empty()) return set;
  const auto labels = cli::ReadFile(options.labels);
  if (!labels.ok()) return labels.status();
  if (labels->size() != set.size() * sizeof(int32_t)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", options.labels, "' has ", labels->size(), " bytes, ", set.size(),
        " images need ", set.size() * sizeof(int32_t)));
  }
  set.labels_.resize(set.size());
  std::memcpy(set.labels_.data(), labels->data(), labels->size());
  return set;
}

absl::Status ImageSet::Check(const package::TensorInfo& input) const {
  const auto& d = options_.dims;
  const auto& s = input.shape;
  const bool type = input.type == compiler::DataType::kFloat ||
                    input.type == compiler::DataType::kUint8 ||
                    input.type == compiler::DataType::kInt8;
  if (type && s.size() == 4 && s[0] > 0 && s[1] == d[0] && s[2] == d[1] &&
      s[3] == d[2]) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "input '", input.name, "' is ", compiler::DataTypeName(input.type),
      compiler::ShapeToString(s), "; images are ", compiler::ShapeToString(d)));
}

compiler::TensorData ImageSet::Batch(const package::TensorInfo& input,
                                     size_t first) const {
  compiler::TensorData data =
      compiler::TensorData::Zeros(input.type, input.shape);
  const auto plane = static_cast<size_t>(options_.dims[1] * options_.dims[2]);
  for (size_t n = 0; n < static_cast<size_t>(input.shape[0]); ++n) {
    if (first + n >= size()) break;
    const auto* image = reinterpret_cast<const uint8_t*>(bytes_.data()) +
                        (first + n) * image_bytes_;
    if (input.type != compiler::DataType::kFloat) {
      std::memcpy(data.bytes.data() + n * image_bytes_, image, image_bytes_);
      continue;
    }
    for (size_t i = 0; i < image_bytes_; ++i) {
      const size_t channel = i / plane;
      const auto value = static_cast<float>(
          (image[i] * options_.scale - options_.mean[channel]) /
          options_.std[channel]);
      std::memcpy(data.bytes.data() + (n * image_bytes_ + i) * sizeof(value),
                  &value, sizeof(value));
    }
  }
  return data;
}

int64_t Top1(const compiler::TensorData& tensor, int64_t first, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (ElementAsDouble(tensor, first + i) >
        ElementAsDouble(tensor, first + best)) {
      best = i;
    }
  }
  return best;
}

}  // namespace heddle::run
