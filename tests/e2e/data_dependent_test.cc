// SPDX-License-Identifier: Apache-2.0
// Outputs whose size the run's values decide: the card computes, the host finds
// what is not zero and takes it. By heddle-run, whose files have the size that
// there was, and by ONNXIFI, where it is the declared one, or at most that of
// the descriptor (more of that: tests/onnxifi/product_test.cc).
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/e2e/product.h"
#include "tests/support/onnx_model.h"

namespace heddle::tests {
namespace {

// x [3,5]: the elements above 0 in order, and where they are.
std::string Positive(int64_t declared) {
  OnnxModel m;
  m.Input("x", {3, 5});
  m.Node("Relu", {"x"}, {"r"});
  m.Node("NonZero", {"r"}, {"rows"});
  m.Node("Transpose", {"rows"}, {"at"});
  m.Node("GatherND", {"r", "at"}, {"y"});
  m.Output("y", {declared});
  m.Output("at", {declared, 2}, onnx::TensorProto::INT64);
  if (declared == 0) {
    for (auto& output : *m.proto()->mutable_graph()->mutable_output()) {
      output.mutable_type()
          ->mutable_tensor_type()
          ->mutable_shape()
          ->mutable_dim(0)
          ->set_dim_param("found");
    }
  }
  return m.Bytes();
}

template <typename T>
void WriteTensor(const std::string& file, const std::string& name, int type,
                 const std::vector<int64_t>& shape,
                 const std::vector<T>& values) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(type);
  for (int64_t d : shape) proto.add_dims(d);
  proto.set_raw_data(values.data(), values.size() * sizeof(T));
  std::ofstream(file, std::ios::binary) << proto.SerializeAsString();
}

class DataDependentOutputs : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(model_, std::ios::binary) << Positive(0);
  }
  // A data set in which every `step`th element is above 0.
  void MakeData(const std::string& folder, int64_t step) {
    mkdir(folder.c_str(), 0777);
    std::vector<float> x(15), y;
    std::vector<int64_t> at;
    for (int64_t i = 0; i < 15; ++i) {
      x[i] = static_cast<float>(step > 0 && i % step == 0 ? i + 1 : -i);
      if (x[i] <= 0) continue;
      y.push_back(x[i]);
      at.insert(at.end(), {i / 5, i % 5});
    }
    const auto count = static_cast<int64_t>(y.size());
    WriteTensor(folder + "/input_0.pb", "x", onnx::TensorProto::FLOAT, {3, 5},
                x);
    WriteTensor(folder + "/output_0.pb", "y", onnx::TensorProto::FLOAT, {count},
                y);
    WriteTensor(folder + "/output_1.pb", "at", onnx::TensorProto::INT64,
                {count, 2}, at);
  }

  TempFolder folder_;
  const std::string model_ = folder_ / "m.onnx";
};

TEST_F(DataDependentOutputs, AreAsLargeAsTheValuesSay) {
  for (const int64_t step : {1, 2, 7, 0}) {
    const std::string data = folder_ / absl::StrCat("every_", step);
    MakeData(data, step);
    const Finished run =
        HeddleRun({model_, "--data", data, "--check", "--exact", "--no-cache",
                   "--outputs", data + "/out", "--bench", "2"},
                  SimDevice("h256"));
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    onnx::TensorProto y;
    ASSERT_TRUE(y.ParseFromString(ReadFileOrDie(data + "/out/output_0.pb")));
    ASSERT_EQ(y.dims_size(), 1);
    EXPECT_EQ(y.dims(0), step == 0 ? 0 : (15 + step - 1) / step);
  }
}

TEST_F(DataDependentOutputs, AreTheHosts) {
  const Finished run =
      HeddleRun({model_, "--no-host", "--no-cache"}, SimDevice("h256"));
  EXPECT_EQ(run.code, 4);
  EXPECT_TRUE(absl::StrContains(run.err, "NonZero")) << run.err;
}

TEST_F(DataDependentOutputs, OnnxifiTakesTheSizeOfTheDescriptorForALimit) {
  const std::string folder = folder_ / "network";
  mkdir(folder.c_str(), 0777);
  std::ofstream(folder + "/model.onnx", std::ios::binary) << Positive(0);
  for (const int64_t step : {1, 2, 7}) {
    MakeData(folder + "/test_data_set_0", step);
    for (const std::string abi : {"extended", "onnx1"}) {
      const Finished run =
          Compare({"--abi", abi, "--library",
                   abi == "onnx1" ? Onnx1Library() : ExtendedLibrary(), folder,
                   "--exact", "ALL"},
                  SimDevice("h256"));
      EXPECT_EQ(run.code, 0) << abi << run.out << run.err;
    }
  }
}

TEST_F(DataDependentOutputs, OnnxifiTakesADeclaredSize) {
  for (const int64_t declared : {8, 6, 9}) {
    const std::string folder = folder_ / absl::StrCat("network_", declared);
    mkdir(folder.c_str(), 0777);
    std::ofstream(folder + "/model.onnx", std::ios::binary)
        << Positive(declared);
    MakeData(folder + "/test_data_set_0", 2);  // eight
    const Finished run =
        Compare({"--library", ExtendedLibrary(), folder, "--exact", "ALL"},
                SimDevice("h256"));
    if (declared == 8) {
      EXPECT_EQ(run.code, 0) << run.out << run.err;
      continue;
    }
    EXPECT_NE(run.code, 0);
  }
}

}  // namespace
}  // namespace heddle::tests
