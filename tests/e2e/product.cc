// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/product.h"

#include <onnx/onnx_pb.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "tests/comparer/tensor.h"

namespace heddle::tests {
namespace {

// The BUILD file says where the library is.
std::string FromEnvironment(const char* name) {
  const char* value = getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string(name) + " unset");
  return Runfile(value);
}

Finished RunTool(const std::string& tool,
                 const std::vector<std::string>& arguments,
                 const std::string& device, absl::Duration limit) {
  Command command;
  command.argv = arguments;
  command.argv.insert(command.argv.begin(), Runfile(tool));
  command.env["HEDDLE_BIN_DIR"] = BinFolders();
  if (!device.empty()) command.env["HEDDLE_DEVICE"] = device;
  return RunCommand(command, limit);
}

}  // namespace

std::string BinFolders() {
  return Runfile("kmd/hosted") + ":" + Runfile("simulator/platform");
}

std::string ExtendedLibrary() { return FromEnvironment("EXTENDED_LIBRARY"); }
std::string Onnx1Library() { return FromEnvironment("ONNX1_LIBRARY"); }

std::string SimDevice(const std::string& config) {
  return "sim:config=" + config;
}

std::vector<std::string> Configs() {
  std::vector<std::string> names;
  for (const isa::Config& config : isa::kConfigs) names.push_back(config.name);
  return names;
}

Command CompareCommand(const std::vector<std::string>& arguments,
                       const std::string& device) {
  Command command;
  command.argv = arguments;
  command.argv.insert(command.argv.begin(),
                      Runfile("tests/comparer/onnxifi-compare"));
  command.env["HEDDLE_BIN_DIR"] = BinFolders();
  if (!device.empty()) command.env["HEDDLE_DEVICE"] = device;
  return command;
}

Finished Compare(const std::vector<std::string>& arguments,
                 const std::string& device) {
  return RunCommand(CompareCommand(arguments, device), absl::Seconds(60));
}

Finished HeddleRun(const std::vector<std::string>& arguments,
                   const std::string& device, absl::Duration limit) {
  return RunTool("tools/heddle-run/heddle-run", arguments, device, limit);
}

Finished HeddleCompile(const std::vector<std::string>& arguments) {
  return RunTool("tools/heddle-compile/heddle-compile", arguments, "",
                 absl::Seconds(60));
}

void UseDevice(const std::string& device) {
  setenv("HEDDLE_DEVICE", device.c_str(), 1);
  setenv("HEDDLE_BIN_DIR", BinFolders().c_str(), 1);
}

std::string Digits(const std::string& file) {
  return Runfile("tools/demo/digits/" + file);
}

void MakeDigitsFolder(const std::string& folder, int sets) {
  constexpr int kPixels = 28 * 28, kLogits = 10;
  const std::string images = ReadFileOrDie(Digits("digits_test.u8"));
  const std::string logits = ReadFileOrDie(Digits("digits_int8_logits.f32"));
  std::filesystem::create_directories(folder);
  WriteFileOrDie(folder + "/model.onnx",
                 ReadFileOrDie(Digits("digits_int8.onnx")));
  for (int set = 0; set < sets; ++set) {
    const std::string data = folder + "/test_data_set_" + std::to_string(set);
    std::filesystem::create_directories(data);
    std::vector<float> pixels(kPixels);
    for (int i = 0; i < kPixels; ++i) {
      pixels[i] = static_cast<uint8_t>(images.at(set * kPixels + i)) / 255.0f;
    }
    comparer::Tensor input, output;
    input.type = output.type = onnx::TensorProto::FLOAT;
    input.shape = {1, 1, 28, 28};
    input.bytes.assign(reinterpret_cast<const char*>(pixels.data()),
                       kPixels * sizeof(float));
    output.shape = {1, kLogits};
    output.bytes =
        logits.substr(set * kLogits * sizeof(float), kLogits * sizeof(float));
    if (!comparer::WriteTensor(data + "/input_0.pb", input).ok() ||
        !comparer::WriteTensor(data + "/output_0.pb", output).ok()) {
      throw std::runtime_error("cannot write " + data);
    }
  }
}

}  // namespace heddle::tests
