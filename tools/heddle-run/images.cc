// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/images.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/cli/file.h"
#include "tools/heddle-run/compare.h"
#include "tools/heddle-run/image_file.h"
#include "tools/heddle-run/resample.h"

namespace heddle::run {
namespace {

// Far above any image, far below what overflows a product of three.
constexpr int64_t kMaxDimension = 1 << 20;

// "256" or "256x224". Width 0: the shorter side is *height.
absl::Status ParseSize(const char* option, const std::string& text,
                       size_t* width, size_t* height) {
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  uint32_t numbers[2] = {0, 0};
  bool good = parts.size() <= 2;
  for (size_t i = 0; good && i < parts.size(); ++i) {
    good = absl::SimpleAtoi(parts[i], &numbers[i]) && numbers[i] >= 1 &&
           numbers[i] <= kMaxImageSide;
  }
  if (!good) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, " ", text, ": give one number or WIDTHxHEIGHT, 1 to ",
        kMaxImageSide));
  }
  *width = parts.size() == 2 ? numbers[0] : 0;
  *height = parts.size() == 2 ? numbers[1] : numbers[0];
  return absl::OkStatus();
}

absl::StatusOr<Image> Fit(const Image& image, const ImageOptions& options,
                          const PixelFormat& format) {
  const auto want_w = static_cast<size_t>(format.width());
  const auto want_h = static_cast<size_t>(format.height());
  size_t width = 0, height = 0;
  if (!options.resize.empty()) {
    auto s = ParseSize("--resize", options.resize, &width, &height);
    if (!s.ok()) return s;
    if (width == 0) ShorterSide(image, height, &width, &height);
  } else if (options.crop.empty()) {
    // As large as needed to fill the model's size.
    width = want_w;
    height = want_w * image.height / image.width;
    if (height < want_h) {
      height = want_h;
      width = std::max(want_w, want_h * image.width / image.height);
    }
  } else {
    width = image.width;
    height = image.height;
  }
  absl::StatusOr<Image> result = Resize(image, width, height);
  if (!result.ok()) return result;
  if (!options.crop.empty()) {
    size_t crop_w = 0, crop_h = 0;
    auto s = ParseSize("--crop", options.crop, &crop_w, &crop_h);
    if (!s.ok()) return s;
    result = CropCentre(*result, crop_w == 0 ? crop_h : crop_w, crop_h);
    if (!result.ok()) return result;
  } else if (options.resize.empty()) {
    result = CropCentre(*result, want_w, want_h);
    if (!result.ok()) return result;
  }
  if (result->width == want_w && result->height == want_h) return result;
  return absl::InvalidArgumentError(absl::StrCat(
      "after --resize and --crop the image is ", result->width, "x",
      result->height, ", but the model needs ", want_w, "x", want_h));
}

}  // namespace

absl::StatusOr<ImageSet> ImageSet::Read(const ImageOptions& options) {
  ImageSet set;
  set.options_ = options;
  if (options.dims.size() != 3) {
    return absl::InvalidArgumentError(
        "give --dims CHANNELS,HEIGHT,WIDTH of the images");
  }
  for (int64_t d : options.dims) {
    if (d < 1 || d > kMaxDimension) {
      return absl::InvalidArgumentError(
          absl::StrCat("--dims: ", d, " is not 1 to ", kMaxDimension));
    }
    set.image_bytes_ *= static_cast<size_t>(d);
  }
  auto bytes = cli::ReadFile(options.images);
  if (!bytes.ok()) return bytes.status();
  set.bytes_ = *std::move(bytes);
  if (set.bytes_.empty() || set.bytes_.size() % set.image_bytes_ != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", options.images, "' has ", set.bytes_.size(),
        " bytes, not a multiple of one image, ", set.image_bytes_));
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

absl::StatusOr<PixelFormat> ImageSet::FormatFor(
    const package::TensorInfo& input) const {
  const auto& d = options_.dims;
  auto format = PixelFormat::Make(input, options_.pixels, d[0]);
  if (!format.ok()) return format;
  if (format->channels() == d[0] && format->height() == d[1] &&
      format->width() == d[2]) {
    return format;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "input '", input.name, "' is ", compiler::DataTypeName(input.type),
      compiler::ShapeToString(input.shape), "; images are ",
      compiler::ShapeToString(d), " (--dims)"));
}

compiler::TensorData ImageSet::Batch(const package::TensorInfo& input,
                                     const PixelFormat& format,
                                     size_t first) const {
  compiler::TensorData data =
      compiler::TensorData::Zeros(input.type, input.shape);
  const auto plane = static_cast<size_t>(options_.dims[1] * options_.dims[2]);
  for (int64_t n = 0; n < format.batch(); ++n) {
    const size_t image = first + static_cast<size_t>(n);
    if (image >= size()) break;
    format.Write(
        reinterpret_cast<const uint8_t*>(bytes_.data()) + image * image_bytes_,
        plane, 1, n, &data);
  }
  return data;
}

absl::StatusOr<compiler::TensorData> ReadImageFile(
    const std::string& path, const ImageOptions& options,
    const package::TensorInfo& input) {
  const auto format = PixelFormat::Make(input, options.pixels);
  if (!format.ok()) return format.status();
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0 &&
      static_cast<uint64_t>(info.st_size) > kMaxImageFileBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "' has ", info.st_size, " bytes; at most ",
                     kMaxImageFileBytes, " are read"));
  }
  const auto bytes = cli::ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<Image> image = DecodeImage(*bytes);
  if (image.ok()) image = Fit(*image, options, *format);
  if (!image.ok()) {
    return absl::Status(
        image.status().code(),
        absl::StrCat("'", path, "': ", image.status().message()));
  }
  compiler::TensorData data =
      compiler::TensorData::Zeros(input.type, input.shape);
  if (format->channels() == 3) {
    format->Write(image->rgb.data(), 1, 3, 0, &data);
    return data;
  }
  // ITU-R 601 luminance in 16 bits.
  std::vector<uint8_t> grey(image->width * image->height);
  for (size_t i = 0; i < grey.size(); ++i) {
    const uint8_t* p = &image->rgb[3 * i];
    grey[i] = static_cast<uint8_t>(
        (p[0] * 19595u + p[1] * 38470u + p[2] * 7471u + 0x8000u) >> 16);
  }
  format->Write(grey.data(), 1, 1, 0, &data);
  return data;
}

std::vector<Scored> Largest(const compiler::TensorData& tensor, int64_t first,
                            int64_t count, size_t top) {
  std::vector<Scored> all;
  for (int64_t i = 0; i < count; ++i) {
    all.push_back({i, ElementAsDouble(tensor, first + i)});
  }
  const size_t n = std::min(top, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n),
                    all.end(), [](const Scored& a, const Scored& b) {
                      const bool an = std::isnan(a.value);
                      const bool bn = std::isnan(b.value);
                      if (an != bn) return bn;
                      if (!an && a.value != b.value) return a.value > b.value;
                      return a.index < b.index;
                    });
  all.resize(n);
  return all;
}

absl::StatusOr<std::vector<std::string>> ReadNames(const std::string& path) {
  const auto bytes = cli::ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  std::vector<std::string> names;
  for (absl::string_view line : absl::StrSplit(*bytes, '\n')) {
    absl::ConsumeSuffix(&line, "\r");
    names.emplace_back(line);
  }
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

}  // namespace heddle::run
