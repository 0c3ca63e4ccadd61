// SPDX-License-Identifier: Apache-2.0
// Image files from anywhere: an error or a whole image, within the limits.
#include <cstdint>
#include <cstdlib>

#include "tools/heddle-run/image_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle::run;
  const auto image =
      DecodeImage(absl::string_view(reinterpret_cast<const char*>(data), size));
  if (!image.ok()) return 0;
  const bool sound = image->width >= 1 && image->width <= kMaxImageSide &&
                     image->height >= 1 && image->height <= kMaxImageSide &&
                     image->rgb.size() == 3 * image->width * image->height;
  if (!sound) std::abort();
  return 0;
}
