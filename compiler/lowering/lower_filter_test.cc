// SPDX-License-Identifier: Apache-2.0
// heddle.Filter, of which cubic and antialiased Resize are made, on the card.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "compiler/testing/card_case.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

// Windows of a few elements along axes that are much longer.
TEST(LowerFilter, Resizes) {
  const CardCase sizes = {{0, 16 << 10}, false, true};
  const auto check = [&](const Shape& shape, const std::vector<float>& scales,
                         const char* mode, const char* coordinate,
                         bool antialias, const TensorData& x) {
    SCOPED_TRACE(std::string(mode) + " " + coordinate + ShapeToString(shape));
    ModelBuilder b(18);
    b.Input("x", x.type, shape);
    b.Constant("scales", Floats({static_cast<int64_t>(scales.size())}, scales));
    auto* node = b.Node("Resize", {"x", "", "scales"}, {"y"});
    SetString(node, "mode", mode);
    SetString(node, "coordinate_transformation_mode", coordinate);
    SetInt(node, "antialias", antialias);
    b.Output("y");
    return ExpectCardEqualsReference(b.Bytes(), {x}, sizes);
  };
  const auto random = [](const Shape& shape) {
    return RandomData(DataType::kFloat, shape, 5);
  };
  for (const char* coordinate : {"half_pixel", "align_corners"}) {
    const Shape image = {2, 3, 19, 23};
    check(image, {1, 1, 2, 2}, "cubic", coordinate, false, random(image));
    check(image, {1, 1, 1.7f, 0.6f}, "cubic", coordinate, false, random(image));
    check(image, {1, 1, 3, 1}, "cubic", coordinate, false, random(image));
    check(image, {1, 1, 1, 3}, "cubic", coordinate, false, random(image));
  }
  const Shape large = {1, 3, 60, 50}, volume = {1, 12, 10, 12, 10};
  check(large, {1, 1, 0.4f, 0.5f}, "linear", "half_pixel", true, random(large));
  check(large, {1, 1, 2, 2}, "cubic", "half_pixel", false, random(large));
  check(volume, {1, 1.5f, 2, 2, 1}, "cubic", "half_pixel", false,
        random(volume));
  // Rows of 1,200 elements do not fit 16 KiB.
  const Shape wide = {1, 2, 12, 400};
  check(wide, {1, 1, 2, 3}, "cubic", "half_pixel", false, random(wide));
  check(wide, {1, 1, 2, 1}, "cubic", "half_pixel", false, random(wide));
  check({40}, {2.5f}, "cubic", "half_pixel", false, random({40}));
  check({1, 2, 20, 20}, {1, 1, 2, 2}, "linear", "half_pixel", false,
        RandomData(DataType::kFloat16, {1, 2, 20, 20}, 3));
  // What is no number reaches as far as the window.
  TensorData x = random({1, 1, 20, 20});
  x.as<float>()[3 * 20 + 4] = std::numeric_limits<float>::quiet_NaN();
  const auto y =
      check({1, 1, 20, 20}, {1, 1, 2, 2}, "cubic", "half_pixel", false, x);
  ASSERT_EQ(y.size(), 1u);
  int numbers = 0;
  for (int64_t i = 0; i < y[0].count(); ++i) {
    numbers += y[0].as<float>()[i] == y[0].as<float>()[i];
  }
  EXPECT_GE(numbers, 1600 - 100);
  EXPECT_LT(numbers, 1600);
}

}  // namespace
}  // namespace heddle::compiler
