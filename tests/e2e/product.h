// SPDX-License-Identifier: Apache-2.0
// The product's programs and libraries as files of a test (target :product),
// and the devices it runs on.
#ifndef TESTS_E2E_PRODUCT_H_
#define TESTS_E2E_PRODUCT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/support/process.h"

namespace heddle::tests {

// Folders of heddle-sim and heddle-hosted, for HEDDLE_BIN_DIR.
std::string BinFolders();
std::string ExtendedLibrary();  // lib/libonnxifi-heddle.so
std::string Onnx1Library();     // lib/heddle/onnx1/libonnxifi-heddle.so

// HEDDLE_DEVICE for a private simulated card.
std::string SimDevice(const std::string& config);

// Names of all configurations, the default first.
std::vector<std::string> Configs();

// The tools, with HEDDLE_DEVICE set to `device` if that is not empty.
Finished Compare(const std::vector<std::string>& arguments,
                 const std::string& device = "");
Finished HeddleRun(const std::vector<std::string>& arguments,
                   const std::string& device = "",
                   absl::Duration limit = absl::Seconds(60));
Finished HeddleCompile(const std::vector<std::string>& arguments);

Command CompareCommand(const std::vector<std::string>& arguments,
                       const std::string& device);

// Makes this process use `device` when it loads a library.
void UseDevice(const std::string& device);

// The files of the demo's digit models.
std::string Digits(const std::string& file);

// A folder in the form of ONNX's test data, made of the digit model: sets 0 to
// `sets` - 1 with the expected logits.
void MakeDigitsFolder(const std::string& folder, int sets);

}  // namespace heddle::tests

#endif  // TESTS_E2E_PRODUCT_H_
