// SPDX-License-Identifier: Apache-2.0
// Trained models on every configuration, judged by the comparer: quantized
// models byte for byte in every quantized tensor, float models within the
// tolerance, and the same bytes from every configuration.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/comparer/model_folder.h"
#include "tests/comparer/tensor.h"
#include "tests/e2e/model_macs.h"
#include "tests/e2e/product.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

std::string Text(const Finished& finished) {
  return finished.out + finished.err;
}

// Runs the model's data sets on each configuration; `flags` say how to judge.
// All configurations must give the bytes of the first.
void CompareOnAllConfigs(const std::string& model,
                         const std::vector<std::string>& flags) {
  TempFolder folder;
  std::string first;
  for (const std::string& config : Configs()) {
    const std::string outputs = folder / config;
    std::filesystem::create_directory(outputs);
    std::vector<std::string> arguments = {"--library", ExtendedLibrary(),
                                          "--write", outputs, model};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Finished run = Compare(arguments, SimDevice(config));
    ASSERT_EQ(run.code, 0) << config << "\n" << Text(run);
    if (first.empty()) {
      first = outputs;
      continue;
    }
    const Finished same =
        Compare({"--files", outputs, first, "--exact", "ALL"});
    EXPECT_EQ(same.code, 0) << config << "\n" << Text(same);
  }
}

// The card counts at least the multiply-accumulates that the model needs: the
// work is done there.
void ExpectMacs(const nlohmann::json& result, const std::string& model,
                const std::map<std::string, std::vector<int64_t>>& inputs) {
  const uint64_t needed = ModelMacs(ReadFileOrDie(model), inputs);
  EXPECT_GT(needed, 0u);
  EXPECT_GE(result.at("macs").get<uint64_t>(), needed);
  EXPECT_EQ(result.at("host_operators"), 0);
}

// Shapes of the inputs of data set 0.
std::map<std::string, std::vector<int64_t>> InputShapes(
    const std::string& folder) {
  std::map<std::string, std::vector<int64_t>> shapes;
  const auto read = comparer::ReadModelFolder(folder, 0);
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return shapes;
  for (const comparer::Tensor& input : read->sets[0].inputs) {
    shapes[input.name] = input.shape;
  }
  return shapes;
}

// Copies the 8-bit tensors of a folder; how many.
int CopyQuantized(const std::string& from, const std::string& to) {
  int copied = 0;
  const auto files = comparer::ListTensorFiles(from);
  EXPECT_TRUE(files.ok()) << files.status();
  for (const std::string& file : *files) {
    const auto tensor = comparer::ReadTensor(file);
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    if (comparer::ElementBytes(tensor->type) != 1) continue;
    std::filesystem::copy(file, to);
    ++copied;
  }
  return copied;
}

// Every quantized tensor of the reference must be among the taps of a run, with
// the same bytes; with `check` the outputs of that run are those of data set 0.
void CompareTaps(const std::string& model, const std::string& config,
                 bool check) {
  TempFolder folder;
  std::filesystem::create_directory(folder / "expected");
  ASSERT_GT(CopyQuantized(model + "/integer_reference", folder / "expected"),
            2);
  std::vector<std::string> arguments = {model + "/model.onnx",
                                        "--data",
                                        model + "/test_data_set_0",
                                        "--taps",
                                        folder / "taps",
                                        "--no-host",
                                        "--json"};
  if (check) arguments.insert(arguments.end(), {"--check", "--exact"});
  const Finished run = HeddleRun(arguments, SimDevice(config));
  ASSERT_EQ(run.code, 0) << config << "\n" << Text(run);
  ExpectMacs(nlohmann::json::parse(run.out), model + "/model.onnx",
             InputShapes(model));
  const Finished same = Compare(
      {"--files", folder / "taps", folder / "expected", "--exact", "ALL"});
  EXPECT_EQ(same.code, 0) << config << "\n" << Text(same);
}

class SharedModel : public testing::Test {
 protected:
  void SetUp() override { HEDDLE_SKIP_WITHOUT_SHARED(); }
};

struct FloatCase {
  const char* name;
  const char *rtol, *atol_range;  // the latter in ranges of the output
};

class FloatModel : public SharedModel,
                   public testing::WithParamInterface<FloatCase> {};

TEST_P(FloatModel, IsWithinTheToleranceAndTheSameOnAllConfigs) {
  const std::string folder = SharedPath("models/") + GetParam().name;
  CompareOnAllConfigs(folder, {"--rtol", GetParam().rtol, "--atol-range",
                               GetParam().atol_range});
}

TEST_P(FloatModel, RunsOnTheCard) {
  const std::string folder = SharedPath("models/") + GetParam().name;
  for (const std::string& config : Configs()) {
    const Finished run =
        HeddleRun({folder + "/model.onnx", "--data",
                   folder + "/test_data_set_0", "--no-host", "--json"},
                  SimDevice(config));
    ASSERT_EQ(run.code, 0) << config << "\n" << Text(run);
    ExpectMacs(nlohmann::json::parse(run.out), folder + "/model.onnx",
               InputShapes(folder));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shared, FloatModel,
    testing::Values(FloatCase{"mnist_cntk", "1e-3", "1e-4"},
                    FloatCase{"mnist_tiny_fp32", "1e-3", "1e-4"},
                    FloatCase{"cifar10_classifier_winml", "1e-3", "1e-4"},
                    FloatCase{"squeezenet1_0_fp32_derived", "1e-3", "1e-4"},
                    // Half precision: every tensor is rounded to 11 bits.
                    FloatCase{"squeezenet1_0_fp16", "1e-2", "1e-2"},
                    FloatCase{"ultraface_slim_320", "1e-3", "1e-4"},
                    FloatCase{"super_resolution_op9_derived", "1e-3", "1e-4"},
                    FloatCase{"bert_tiny_mlm_structure", "1e-3", "1e-4"},
                    FloatCase{"dtln_1", "1e-3", "1e-4"},
                    FloatCase{"magika_v2_1", "1e-3", "1e-4"},
                    FloatCase{"silero_vad_16k", "1e-3", "1e-4"}),
    [](const auto& info) { return info.param.name; });

class QuantizedModel : public SharedModel,
                       public testing::WithParamInterface<const char*> {};

TEST_P(QuantizedModel, OutputsAreTheReferenceBytesOnAllConfigs) {
  const std::string folder = SharedPath("models/") + GetParam();
  CompareOnAllConfigs(folder,
                      {"--exact", "ALL", "--reference", "integer_reference"});
}

// Also on the other data sets: QLinear operators leave nothing to the
// optimiser.
TEST_P(QuantizedModel, AllDataSetsAreExact) {
  const std::string folder = SharedPath("models/") + GetParam();
  const Finished run =
      Compare({"--library", ExtendedLibrary(), folder, "--exact", "ALL"},
              SimDevice(Configs().front()));
  EXPECT_EQ(run.code, 0) << Text(run);
}

TEST_P(QuantizedModel, EveryQuantizedTensorIsExactOnAllConfigs) {
  const std::string folder = SharedPath("models/") + GetParam();
  for (const std::string& config : Configs()) {
    CompareTaps(folder, config, true);
  }
}

TEST_P(QuantizedModel, WorksThroughTheAbiOfOnnx1) {
  const std::string folder = SharedPath("models/") + GetParam();
  const Finished run = Compare(
      {"--abi", "onnx1", "--library", Onnx1Library(), folder, "--exact", "ALL"},
      SimDevice(Configs().front()));
  EXPECT_EQ(run.code, 0) << Text(run);
}

INSTANTIATE_TEST_SUITE_P(Shared, QuantizedModel,
                         testing::Values("mnist_tiny_int8", "qtdnn"),
                         [](const auto& info) { return info.param; });

// Models with QuantizeLinear and DequantizeLinear: the reference of data set 0
// is what ONNX Runtime's integer kernels compute; the outputs of the data sets
// themselves are those of its float kernels, and differ.
class QdqModel : public SharedModel,
                 public testing::WithParamInterface<const char*> {};

TEST_P(QdqModel, OutputsAreTheReferenceBytesOnAllConfigs) {
  const std::string folder = SharedPath("models/") + GetParam();
  CompareOnAllConfigs(folder, {"--set", "0", "--exact", "ALL", "--reference",
                               "integer_reference"});
}

TEST_P(QdqModel, EveryQuantizedTensorIsExactOnAllConfigs) {
  const std::string folder = SharedPath("models/") + GetParam();
  for (const std::string& config : Configs()) {
    CompareTaps(folder, config, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, QdqModel,
                         testing::Values("mobilenetv2_qdq",
                                         "qdq_mobilenet_edgetpu_frag"),
                         [](const auto& info) { return info.param; });

TEST(Digits, LogitsAreTheExpectedBytesOnAllConfigs) {
  TempFolder folder;
  MakeDigitsFolder(folder / "digits", 200);
  CompareOnAllConfigs(folder / "digits", {"--exact", "ALL"});
}

TEST(Digits, RunsTheSameEveryTimeThroughBothAbis) {
  TempFolder folder;
  MakeDigitsFolder(folder / "digits", 3);
  for (const std::string abi : {"extended", "onnx1"}) {
    const Finished run =
        Compare({"--abi", abi, "--library",
                 abi == "onnx1" ? Onnx1Library() : ExtendedLibrary(),
                 folder / "digits", "--exact", "ALL", "--repeat", "20"},
                SimDevice(Configs().front()));
    EXPECT_EQ(run.code, 0) << abi << "\n" << Text(run);
  }
}

// The comparer is no rubber stamp: it finds one flipped bit in any of the
// reference files, in exact comparison, and a large one in the other.
TEST(Digits, OneFlippedByteInTheReferenceIsFound) {
  TempFolder folder;
  MakeDigitsFolder(folder / "digits", 3);
  const std::vector<std::string> exact = {"--library", ExtendedLibrary(),
                                          folder / "digits", "--exact", "ALL"};
  const std::string device = SimDevice(Configs().front());
  ASSERT_EQ(Compare(exact, device).code, 0);
  const std::string reference = folder / "digits/test_data_set_1/output_0.pb";
  const std::string good = ReadFileOrDie(reference);
  std::string bad = good;
  bad[bad.size() - 4] ^= 1;  // lowest bit of the last logit
  WriteFileOrDie(reference, bad);
  const Finished found = Compare(exact, device);
  EXPECT_EQ(found.code, 5) << Text(found);
  EXPECT_NE(found.out.find("MISMATCH " + (folder / "digits") + " set 1 logits"),
            std::string::npos)
      << found.out;
  bad[bad.size() - 1] ^= 0x40;  // its exponent
  WriteFileOrDie(reference, bad);
  EXPECT_EQ(
      Compare({"--library", ExtendedLibrary(), folder / "digits"}, device).code,
      5);
}

TEST(Digits, MacsAreCountedByTheCard) {
  for (const char* model : {"digits_int8.onnx", "digits_fp32.onnx"}) {
    const Finished run = HeddleRun({Digits(model), "--no-host", "--json"},
                                   SimDevice(Configs().front()));
    ASSERT_EQ(run.code, 0) << Text(run);
    ExpectMacs(nlohmann::json::parse(run.out), Digits(model), {});
  }
}

// The package with taps is another one; it must give the same final bytes.
TEST(Digits, TapsDoNotChangeTheOutputs) {
  TempFolder folder;
  MakeDigitsFolder(folder / "digits", 1);
  for (const std::string& config : Configs()) {
    const Finished run =
        HeddleRun({Digits("digits_int8.onnx"), "--data",
                   folder / "digits/test_data_set_0", "--check", "--exact",
                   "--taps", folder / ("taps_" + config)},
                  SimDevice(config));
    ASSERT_EQ(run.code, 0) << Text(run);
    const Finished same =
        Compare({"--files", folder / ("taps_" + config),
                 folder / ("taps_" + Configs().front()), "--exact", "ALL"});
    EXPECT_EQ(same.code, 0) << config << "\n" << Text(same);
  }
}

}  // namespace
}  // namespace heddle::tests
