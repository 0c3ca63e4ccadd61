// SPDX-License-Identifier: Apache-2.0
// In the guest: ONNXIFI -> libdrm -> heddle.ko -> PCI -> card gives the bytes
// that ONNXIFI -> heddle-hosted -> card gives, with the demo's models and,
// where the shared folder is, with trained ones.
//
// The device is the first card's; HEDDLE_SERIAL names another.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/comparer/model_folder.h"
#include "tests/e2e/product.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

std::string DrmDevice() {
  const char* serial = std::getenv("HEDDLE_SERIAL");
  return std::string("drm:serial=") + (serial != nullptr ? serial : "1");
}

// Compares `folder` with its expected outputs on both, and both byte for byte.
void ExpectSame(const std::string& folder,
                const std::vector<std::string>& tolerance) {
  TempFolder outputs;
  for (const auto& [name, device] :
       {std::pair{"drm", DrmDevice()}, {"hosted", SimDevice("h256")}}) {
    std::filesystem::create_directory(outputs / name);
    std::vector<std::string> arguments = {
        "--library", ExtendedLibrary(), "--write", outputs / name,
        folder,      "--set",           "0"};
    arguments.insert(arguments.end(), tolerance.begin(), tolerance.end());
    const Finished run = Compare(arguments, device);
    ASSERT_EQ(run.code, 0) << name << "\n" << run.out << run.err;
  }
  const Finished same = Compare(
      {"--files", outputs / "drm", outputs / "hosted", "--exact", "ALL"});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
}

TEST(Driver, Digits) {
  TempFolder folder;
  MakeDigitsFolder(folder / "digits", 1);
  ExpectSame(folder / "digits", {"--exact", "ALL"});
}

TEST(Driver, MnistTinyInt8) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  ExpectSame(SharedPath("models/mnist_tiny_int8"),
             {"--exact", "ALL", "--reference", "integer_reference"});
}

TEST(Driver, MobileNetV2) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  ExpectSame(SharedPath("models/mobilenetv2_qdq"),
             {"--exact", "ALL", "--reference", "integer_reference"});
}

TEST(Driver, SqueezeNet) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  ExpectSame(SharedPath("models/squeezenet1_0_fp32_derived"),
             {"--rtol", "1e-3", "--atol-range", "1e-4"});
}

}  // namespace
}  // namespace heddle::tests
