// SPDX-License-Identifier: Apache-2.0
// Top-1 on labelled images, against what ONNX Runtime reaches with the same
// models on the same images: float models within 0.1 points, quantized ones
// exactly.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/e2e/product.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

nlohmann::json ImagesOf(const std::vector<std::string>& arguments) {
  const Finished run = HeddleRun(arguments, SimDevice(Configs().front()));
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  if (run.code != 0) return {{"count", 0}, {"correct", -1}};
  return nlohmann::json::parse(run.out).at("images");
}

struct Case {
  const char* model;
  const char* data;
  const char* dims;
  const char *scale, *mean, *std;
  int count;
  int correct;
  int slack;              // 0.1 points
  const char* more = "";  // another option
};

class Accuracy : public testing::TestWithParam<Case> {};

TEST_P(Accuracy, IsThatOfTheReference) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  const Case& c = GetParam();
  const std::string images = SharedPath("data/") + c.data;
  std::vector<std::string> arguments = {
      SharedPath("models/") + c.model + "/model.onnx",
      "--images",
      images + ".u8",
      "--labels",
      images + ".i32",
      "--dims",
      c.dims,
      "--scale",
      c.scale,
      "--mean",
      c.mean,
      "--std",
      c.std,
      "--no-host",
      "--json"};
  if (*c.more) arguments.push_back(c.more);
  const nlohmann::json result = ImagesOf(arguments);
  EXPECT_EQ(result.at("count"), c.count);
  EXPECT_NEAR(result.at("correct").get<int>(), c.correct, c.slack);
}

constexpr char kByte[] = "0.00392156862745098";  // 1 / 255

INSTANTIATE_TEST_SUITE_P(
    Shared, Accuracy,
    testing::Values(Case{"mnist_cntk", "mnist_dev", "1,28,28", "1", "0", "1",
                         2000, 1974, 2},
                    Case{"mnist_tiny_fp32", "mnist_dev", "1,28,28", kByte,
                         "0.1307", "0.3081", 2000, 1964, 2},
                    Case{"mnist_tiny_int8", "mnist_dev", "1,28,28", kByte,
                         "0.1307", "0.3081", 2000, 1960, 0},
                    Case{"cifar10_classifier_winml", "cifar_dev", "3,32,32",
                         kByte, "0.5", "0.5", 2000, 1297, 2},
                    Case{"squeezenet1_0_fp32_derived", "imagenet224_dev",
                         "3,224,224", "1", "104,117,123", "1", 100, 52, 0,
                         "--channels=bgr"},
                    Case{"mobilenetv2_qdq", "imagenet244_dev", "3,244,244",
                         kByte, "0.485,0.456,0.406", "0.229,0.224,0.225", 100,
                         84, 0}),
    [](const auto& info) { return info.param.model; });

TEST(DigitsAccuracy, EveryImageIsRecognised) {
  for (const char* model : {"digits_int8.onnx", "digits_fp32.onnx"}) {
    const nlohmann::json result = ImagesOf(
        {Digits(model), "--images", Digits("digits_test.u8"), "--labels",
         Digits("digits_test.i32"), "--dims", "1,28,28", "--json"});
    EXPECT_EQ(result.at("count"), 200) << model;
    EXPECT_EQ(result.at("correct"), 200) << model;
  }
}

}  // namespace
}  // namespace heddle::tests
