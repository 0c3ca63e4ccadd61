// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/bind.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace heddle::run {
namespace {

using compiler::InputDeclaration;
using compiler::Shape;

bool IsOpen(const InputDeclaration& input) {
  return !input.has_shape || std::find(input.shape.begin(), input.shape.end(),
                                       -1) != input.shape.end();
}

// Height and width that the options make of an image; -1 where they do not
// say it. Values that are no sizes are refused when the image is read.
std::pair<int64_t, int64_t> SizeOf(const ImageOptions& images) {
  if (images.dims.size() == 3) return {images.dims[1], images.dims[2]};
  const bool cropped = !images.crop.empty();
  const std::vector<std::string> parts =
      absl::StrSplit(cropped ? images.crop : images.resize, 'x');
  int64_t width = 0, height = 0;
  // Of --resize, one number is the shorter side, whichever that is.
  if (parts.size() > 2 || (parts.size() == 1 && !cropped) ||
      !absl::SimpleAtoi(parts.front(), &width) ||
      !absl::SimpleAtoi(parts.back(), &height)) {
    return {-1, -1};
  }
  return {height, width};
}

// The input's shape for one image, if that settles it.
std::optional<Shape> ImageShape(const InputDeclaration& input,
                                const ImageOptions& images) {
  if (images.files.empty() && images.images.empty()) return std::nullopt;
  if (!input.has_shape || input.shape.size() != 4) return std::nullopt;
  const int64_t channels = images.dims.size() == 3 ? images.dims[0] : -1;
  const auto [height, width] = SizeOf(images);
  for (const bool last : {false, true}) {
    if (images.pixels.layout == (last ? "nchw" : "nhwc")) continue;
    const Shape image = last ? Shape{1, height, width, channels}
                             : Shape{1, channels, height, width};
    Shape shape = input.shape;
    bool fits = true;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) shape[i] = image[i];
      // A batch may be larger; the rest of it is zeros.
      fits &= shape[i] > 0 && (i == 0 || image[i] < 0 || shape[i] == image[i]);
    }
    // Files do not say how many channels the model wants.
    const int64_t found = shape[last ? 3 : 1];
    if (channels < 0) fits &= found == 1 || found == 3;
    if (fits) return shape;
  }
  return std::nullopt;
}

}  // namespace

Binding BindInputs(const std::vector<InputDeclaration>& inputs,
                   const std::map<std::string, Shape>& given,
                   const std::vector<NamedTensor>& data,
                   const ImageOptions& images) {
  Binding binding;
  binding.shapes = given;
  for (size_t i = 0; i < data.size() && i < inputs.size(); ++i) {
    const bool named = std::any_of(
        inputs.begin(), inputs.end(),
        [&](const InputDeclaration& d) { return d.name == data[i].name; });
    binding.shapes.emplace(named ? data[i].name : inputs[i].name,
                           data[i].data.shape);
  }
  for (const InputDeclaration& input : inputs) {
    if (!IsOpen(input) || binding.shapes.count(input.name) != 0) continue;
    if (auto shape = ImageShape(input, images)) {
      binding.shapes[input.name] = *shape;
    }
  }
  std::set<std::string> said;  // inputs and named dimensions
  for (const auto& entry : given) said.insert(entry.first);
  for (const InputDeclaration& input : inputs) {
    if (given.count(input.name) == 0) continue;
    said.insert(input.symbols.begin(), input.symbols.end());
  }
  for (const InputDeclaration& input : inputs) {
    const auto bound = binding.shapes.find(input.name);
    if (bound == binding.shapes.end() || given.count(input.name) != 0) continue;
    const auto say = [&](const std::string& what) {
      absl::StrAppend(&binding.found, binding.found.empty() ? "" : ", ", what);
    };
    if (!input.has_shape) {
      say(absl::StrCat("'", input.name, "' is ",
                       compiler::ShapeToString(bound->second)));
    }
    for (size_t i = 0; i < input.shape.size() && i < bound->second.size();
         ++i) {
      const std::string& symbol = input.symbols[i];
      if (input.shape[i] >= 0) continue;
      if (!symbol.empty() && !said.insert(symbol).second) continue;
      say(absl::StrCat(symbol.empty()
                           ? absl::StrCat("dimension ", i, " of '", input.name)
                           : "'" + symbol,
                       "' = ", bound->second[i]));
    }
  }
  return binding;
}

absl::Status BindBatch(const std::vector<InputDeclaration>& inputs,
                       int64_t batch, std::map<std::string, Shape>* shapes) {
  bool any = false;
  const std::map<std::string, Shape> given = *shapes;
  for (const InputDeclaration& input : inputs) {
    if (given.count(input.name) != 0 || !input.has_shape ||
        input.shape.empty() || input.shape[0] >= 0) {
      continue;
    }
    const std::string& symbol = input.symbols[0];
    if (!symbol.empty()) {
      if (given.count(symbol) != 0) continue;
      (*shapes)[symbol] = {batch};
      any = true;
      continue;
    }
    Shape shape = input.shape;
    shape[0] = batch;
    if (std::find(shape.begin(), shape.end(), -1) != shape.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--batch: input '", input.name,
          "' leaves other dimensions open, too (", input.ShapeText(),
          "): give --shape ", input.name, "=", batch, ",..."));
    }
    (*shapes)[input.name] = shape;
    any = true;
  }
  if (any) return absl::OkStatus();
  std::string text =
      "--batch: the model leaves the first dimension of no input open";
  for (const InputDeclaration& input : inputs) {
    absl::StrAppend(&text, &input == &inputs.front() ? ": '" : ", '",
                    input.name, "' is ",
                    input.has_shape ? input.ShapeText() : "of any shape");
  }
  return absl::InvalidArgumentError(
      absl::StrCat(text, "; export the model with a dynamic batch dimension"));
}

}  // namespace heddle::run
