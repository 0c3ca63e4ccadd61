// SPDX-License-Identifier: Apache-2.0
// One package of a network with symbolic batch and image size: batches of 1
// to 8, three sizes, nothing compiled while it runs; a fourth size is compiled
// once. By the native API and by heddle-run.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/shapes/compile_shape_set.h"
#include "compiler/testing/model_builder.h"
#include "runtime/session/session.h"
#include "runtime/session/shape_set_graph.h"
#include "tests/e2e/product.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;
using How = session::Specialised::How;

TensorData Random(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  TensorData data = TensorData::Zeros(DataType::kFloat, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    data.as<float>()[i] = static_cast<float>(random() % 2001) / 500 - 2;
  }
  return data;
}

// x [batch,3,side,side] to y [batch,5].
std::string Network() {
  compiler::ModelBuilder b(18);
  b.Input("x", DataType::kFloat, {-1, 3, -1, -1});
  auto* shape = b.proto()
                    .mutable_graph()
                    ->mutable_input(0)
                    ->mutable_type()
                    ->mutable_tensor_type()
                    ->mutable_shape();
  for (int axis : {2, 3}) shape->mutable_dim(axis)->set_dim_param("side");
  b.Constant("w", Random({24, 3, 3, 3}, 1)).Constant("bias", Random({24}, 2));
  b.Constant("v", Random({40, 24, 3, 3}, 3)).Constant("m", Random({40, 5}, 4));
  compiler::SetInts(b.Node("Conv", {"x", "w", "bias"}, {"a"}), "strides",
                    {2, 2});
  b.Node("Relu", {"a"}, {"r"});
  b.Node("Conv", {"r", "v"}, {"c"});
  b.Node("GlobalAveragePool", {"c"}, {"g"});
  b.Node("Flatten", {"g"}, {"f"});
  b.Node("MatMul", {"f", "m"}, {"h"});
  b.Node("Softmax", {"h"}, {"y"});
  b.Output("y", DataType::kFloat, {-1, 5});
  return b.Bytes();
}

TensorData Reference(const std::string& model, const TensorData& x) {
  compiler::CompileOptions options;
  options.input_shapes["x"] = x.shape;
  const auto graph = compiler::AnalyseOnnx(model, options);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const auto values = compiler::EvaluateGraph(*graph, {x});
  EXPECT_TRUE(values.ok()) << values.status();
  return (*values)[graph->outputs[0]];
}

absl::StatusOr<compiler::ShapeSetResult> Compile(const std::string& model,
                                                 const std::string& text) {
  compiler::ShapeValues values;
  const absl::Status status = compiler::ParseShapeValues(text, &values);
  if (!status.ok()) return status;
  return compiler::CompileShapeSet(model, {}, values);
}

// A set on a private card, with a compiler that counts.
class NativeApi : public testing::Test {
 protected:
  void Load(const std::string& text, bool compiles = true) {
    ASSERT_EQ(setenv("HEDDLE_BIN_DIR", BinFolders().c_str(), 1), 0);
    UseDevice(SimDevice("h256"));
    auto set = Compile(model_, text);
    ASSERT_TRUE(set.ok()) << set.status();
    package_ = std::move(set->package);
    const auto devices = session::ListDevices();
    ASSERT_TRUE(devices.ok() && !devices->empty()) << devices.status();
    const auto device = session::OpenDevice(devices->front().id);
    ASSERT_TRUE(device.ok()) << device.status();
    session::ShapeSetOptions options;
    if (compiles) {
      options.compile = [this](const std::map<std::string, Shape>& shapes)
          -> absl::StatusOr<std::string> {
        ++compiled_;
        compiler::CompileOptions compile;
        compile.input_shapes = shapes;
        auto result = compiler::CompileOnnx(model_, compile);
        if (!result.ok()) return result.status();
        return result->package;
      };
    }
    auto graphs = session::ShapeSetGraph::Load(
        *device, package_, compiler::KeptByCaller(package_), options);
    ASSERT_TRUE(graphs.ok()) << graphs.status();
    graphs_ = *std::move(graphs);
  }

  void Run(int64_t batch, int64_t side, How how) {
    SCOPED_TRACE(absl::StrCat("batch ", batch, ", side ", side));
    TensorData x = Random({batch, 3, side, side}, batch * 100 + side);
    TensorData y = TensorData::Zeros(DataType::kFloat, {batch, 5});
    const auto taken = graphs_->For({{"x", x.shape}});
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(taken->how, how);
    EXPECT_EQ(taken->graph->package().outputs[0].shape, y.shape);
    const auto run =
        taken->graph->Start({{"x", x.bytes.data(), x.bytes.size()}},
                            {{"y", y.bytes.data(), y.bytes.size()}}, nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_TRUE((*run)->Wait(absl::InfiniteFuture()).ok());
    EXPECT_TRUE(y.bytes == Reference(model_, x).bytes);
  }

  const std::string model_ = Network();
  std::string package_;
  std::shared_ptr<session::ShapeSetGraph> graphs_;
  int compiled_ = 0;
};

TEST_F(NativeApi, CompilesNothingForWhatThePackageHolds) {
  Load("batch=1..8;side=8,12,16");
  ASSERT_NE(graphs_, nullptr);
  for (int64_t batch = 1; batch <= 8; ++batch) {
    for (int64_t side : {8, 12, 16}) Run(batch, side, How::kExact);
  }
  EXPECT_EQ(compiled_, 0);
  // A fourth size, also after others have taken its place on the card.
  Run(2, 10, How::kCompiled);
  EXPECT_EQ(compiled_, 1);
  for (int64_t batch = 1; batch <= 5; ++batch) Run(batch, 8, How::kExact);
  Run(2, 10, How::kCompiled);
  EXPECT_EQ(compiled_, 1);
}

TEST_F(NativeApi, PadsBatches) {
  Load("batch=4,8;side=8,12");
  ASSERT_NE(graphs_, nullptr);
  for (int64_t batch = 1; batch <= 8; ++batch) {
    const bool held = batch == 4 || batch == 8;
    Run(batch, 12, held ? How::kExact : How::kPadded);
  }
  EXPECT_EQ(compiled_, 0);
  Run(9, 12, How::kCompiled);
  Run(4, 11, How::kCompiled);
  EXPECT_EQ(compiled_, 2);
}

TEST_F(NativeApi, RefusesWithoutACompiler) {
  Load("batch=4;side=8,12", false);
  ASSERT_NE(graphs_, nullptr);
  EXPECT_EQ(graphs_->For({{"x", {2, 3, 9, 9}}}).status().message(),
            "dimension 'batch' is 2 and dimension 'side' is 9, and the package "
            "holds batch 4; side 8,12 (2 specialisations)");
}

class HeddleRunOfASet : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(model_, std::ios::binary) << Network();
    const Finished made = HeddleCompile(
        {model_, "--shape-set", "batch=1..8;side=8,12,16", "-o", package_});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_TRUE(absl::StrContains(made.err, "24 specialisations in "));
  }
  // A data set of that shape.
  std::string Data(int64_t batch, int64_t side) {
    const std::string folder =
        folder_ / absl::StrCat("data_", batch, "_", side);
    mkdir(folder.c_str(), 0777);
    const TensorData x = Random({batch, 3, side, side}, 5);
    const TensorData y = Reference(Network(), x);
    for (const auto& [name, tensor] :
         {std::make_pair("input_0", &x), std::make_pair("output_0", &y)}) {
      onnx::TensorProto proto;
      proto.set_name(name[0] == 'i' ? "x" : "y");
      proto.set_data_type(onnx::TensorProto::FLOAT);
      for (int64_t d : tensor->shape) proto.add_dims(d);
      proto.set_raw_data(tensor->bytes.data(), tensor->bytes.size());
      std::ofstream(absl::StrCat(folder, "/", name, ".pb"), std::ios::binary)
          << proto.SerializeAsString();
    }
    return folder;
  }
  Finished Run(int64_t batch, int64_t side,
               const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {
        package_,  "--data",  Data(batch, side), "--check",
        "--exact", "--cache", folder_ / "cache"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return HeddleRun(arguments, SimDevice("h256"));
  }

  TempFolder folder_;
  const std::string model_ = folder_ / "m.onnx", package_ = folder_ / "m.hpk";
};

TEST_F(HeddleRunOfASet, MeasuresEachShape) {
  ASSERT_EQ(HeddleCompile(
                {model_, "--shape-set", "batch=1,4;side=8,12", "-o", package_})
                .code,
            0);
  const std::vector<std::string> arguments = {package_, "--all-shapes",
                                              "--bench", "2"};
  const Finished table = HeddleRun(arguments, SimDevice("h256"));
  ASSERT_EQ(table.code, 0) << table.err;
  const std::vector<std::string> lines =
      absl::StrSplit(absl::StripSuffix(table.out, "\n"), '\n');
  ASSERT_EQ(lines.size(), 5u) << table.out;
  EXPECT_TRUE(absl::StartsWith(lines[0], "shape ")) << table.out;
  EXPECT_TRUE(absl::StartsWith(lines[1], "batch=1, side=8 ")) << table.out;
  EXPECT_TRUE(absl::StartsWith(lines[4], "batch=4, side=12 ")) << table.out;
  std::vector<std::string> json = arguments;
  json.push_back("--json");
  const Finished results = HeddleRun(json, SimDevice("h256"));
  ASSERT_EQ(results.code, 0) << results.err;
  size_t runs = 0;
  for (size_t at = 0;
       (at = results.out.find("\"runs\": 2", at)) != std::string::npos; ++at) {
    ++runs;
  }
  EXPECT_EQ(runs, 4u) << results.out;
}

TEST_F(HeddleRunOfASet, SaysNothingOfCompilingUnlessItDoes) {
  for (const auto& [batch, side] : {std::make_pair(1, 8), {8, 16}}) {
    const Finished run = Run(batch, side, {"--source", model_});
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    EXPECT_FALSE(absl::StrContains(run.err, "compil")) << run.err;
    EXPECT_TRUE(absl::StrContains(
        run.out, absl::StrCat("shapes        batch=", batch, ", side=", side)))
        << run.out;
  }
  const std::string why =
      "compiling for batch=2, side=10: dimension 'side' is 10, and the package "
      "holds batch 1,2,3,4,5,6,7,8; side 8,12,16 (24 specialisations)";
  const Finished first = Run(2, 10, {"--source", model_});
  EXPECT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_TRUE(absl::StrContains(first.err, why)) << first.err;
  EXPECT_TRUE(absl::StrContains(first.err, "stored in the cache"));
  const Finished again = Run(2, 10, {"--source", model_});
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_FALSE(absl::StrContains(again.err, "compiling")) << again.err;
  EXPECT_TRUE(
      absl::StrContains(again.err, "using the compiled model in the cache"));
}

TEST_F(HeddleRunOfASet, RefusesWithAWayOut) {
  for (const auto& [options, way_out] :
       {std::make_pair(std::vector<std::string>{},
                       "give the model with --source to compile it"),
        std::make_pair(
            std::vector<std::string>{"--source", model_, "--no-compile"},
            "--no-compile forbids compiling")}) {
    const Finished run = Run(2, 10, options);
    EXPECT_EQ(run.code, 1) << run.out;
    EXPECT_TRUE(absl::StrContains(run.err, "dimension 'side' is 10"))
        << run.err;
    EXPECT_TRUE(absl::StrContains(run.err, way_out)) << run.err;
  }
  const std::string other = folder_ / "other.onnx";
  std::ofstream(other, std::ios::binary) << Network() << "\x12\x01x";
  const Finished run = Run(2, 10, {"--source", other});
  EXPECT_EQ(run.code, 1);
  EXPECT_TRUE(absl::StrContains(run.err, "is not the model that the package"))
      << run.err;
}

TEST_F(HeddleRunOfASet, TakesShapesFromTheCommandLineOrTheFirst) {
  const std::string device = SimDevice("h256");
  const Finished first = HeddleRun({package_, "--json"}, device);
  EXPECT_TRUE(
      absl::StrContains(first.out, "\"specialisation\": \"batch=1, side=8\""))
      << first.out << first.err;
  const Finished given =
      HeddleRun({package_, "--shape", "x=3,3,12,12"}, device);
  EXPECT_TRUE(absl::StrContains(given.out, "batch=3, side=12")) << given.err;
  const Finished named =
      HeddleRun({package_, "--shape", "batch=3", "--shape", "side=12"}, device);
  EXPECT_TRUE(absl::StrContains(named.out, "batch=3, side=12")) << named.err;
  const Finished wrong =
      HeddleRun({package_, "--shape", "x=3,4,12,12"}, device);
  EXPECT_EQ(wrong.code, 1);
  EXPECT_TRUE(absl::StrContains(wrong.err, "dimension 1 is 3")) << wrong.err;
  const Finished stranger =
      HeddleRun({package_, "--shape", "y=3,3,12,12"}, device);
  EXPECT_NE(stranger.code, 0);
  EXPECT_NE(stranger.err.find("no input or dimension 'y'; its inputs are 'x'"),
            std::string::npos)
      << stranger.err;
}

// ONNXIFI gets shapes at onnxSetGraphIO; onnxifi-compare checks the outputs.
TEST_F(HeddleRunOfASet, OnnxifiTakesThemToo) {
  const std::string folder = folder_ / "network";
  mkdir(folder.c_str(), 0777);
  std::ofstream(folder + "/model.onnx", std::ios::binary) << Network();
  ASSERT_EQ(rename(Data(3, 12).c_str(), (folder + "/test_data_set_0").c_str()),
            0);
  ASSERT_EQ(setenv("HEDDLE_SHAPE_SETS", package_.c_str(), 1), 0);
  ASSERT_EQ(setenv("HEDDLE_NO_COMPILE", "1", 1), 0);
  ASSERT_EQ(setenv("HEDDLE_LOG", "info", 1), 0);
  const std::vector<std::string> arguments = {"--library", ExtendedLibrary(),
                                              folder, "--exact", "ALL"};
  const Finished held = Compare(arguments, SimDevice("h256"));
  EXPECT_EQ(held.code, 0) << held.out << held.err;
  EXPECT_TRUE(absl::StrContains(held.err, package_ + ": batch=3, side=12"))
      << held.err;
  EXPECT_FALSE(absl::StrContains(held.err, "compiled: ")) << held.err;

  ASSERT_EQ(rename(Data(2, 10).c_str(), (folder + "/test_data_set_1").c_str()),
            0);
  const Finished refused = Compare(arguments, SimDevice("h256"));
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(absl::StrContains(refused.err, "dimension 'side' is 10"))
      << refused.err;
  EXPECT_TRUE(absl::StrContains(refused.err, "HEDDLE_NO_COMPILE"));

  ASSERT_EQ(unsetenv("HEDDLE_NO_COMPILE"), 0);
  const Finished compiled = Compare(arguments, SimDevice("h256"));
  EXPECT_EQ(compiled.code, 0) << compiled.out << compiled.err;
  EXPECT_TRUE(absl::StrContains(compiled.err, "compiled: ")) << compiled.err;
  ASSERT_EQ(unsetenv("HEDDLE_SHAPE_SETS"), 0);
  ASSERT_EQ(unsetenv("HEDDLE_LOG"), 0);
}

}  // namespace
}  // namespace heddle::tests
