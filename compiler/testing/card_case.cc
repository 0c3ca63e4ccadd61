// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/card_case.h"

#include <gtest/gtest.h>

#include <random>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/operator.h"
#include "compiler/package/package.h"
#include "compiler/testing/run_package.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

std::string FirstDifference(const TensorData& a, const TensorData& b) {
  if (a.bytes.size() != b.bytes.size()) {
    return std::to_string(a.bytes.size()) + " bytes, expected " +
           std::to_string(b.bytes.size());
  }
  for (size_t i = 0; i < a.bytes.size(); ++i) {
    if (a.bytes[i] == b.bytes[i]) continue;
    const size_t element = i / ElementBytes(b.type);
    std::string text = "first difference at element " + std::to_string(element);
    if (b.type == DataType::kFloat) {
      text += ": " + std::to_string(a.as<float>()[element]) + ", expected " +
              std::to_string(b.as<float>()[element]);
    }
    return text;
  }
  return "";
}

}  // namespace

std::vector<TensorData> ExpectCardEqualsReference(
    const std::string& model, const std::vector<TensorData>& inputs,
    const CardCase& options) {
  std::vector<TensorData> first;
  auto graph = AnalyseOnnx(model, {});
  if (!graph.ok()) {
    ADD_FAILURE() << graph.status();
    return first;
  }
  auto expected = EvaluateGraph(*graph, inputs);
  if (!expected.ok()) {
    ADD_FAILURE() << expected.status();
    return first;
  }
  for (const isa::Config& config : isa::kConfigs) {
    for (uint64_t sram : options.sram_bytes) {
      SCOPED_TRACE(std::string(config.name) + " SRAM " + std::to_string(sram));
      CompileOptions compile;
      compile.config = config.name;
      compile.sram_bytes = sram;
      compile.host_nodes = options.host_nodes;
      compile.placement = Placement::kCard;
      auto result = CompileOnnx(model, compile);
      if (!result.ok()) {
        const bool refused = RejectionOf(result.status()) != Rejection::kNone;
        EXPECT_TRUE(refused && sram != 0 && options.may_refuse_less_sram)
            << result.status();
        continue;
      }
      auto package = package::Parse(result->package);
      if (!package.ok()) {
        ADD_FAILURE() << package.status();
        continue;
      }
      model::Options model_options;
      model_options.detect_races = options.detect_races;
      auto run = RunPackage(*package, inputs, model_options);
      if (!run.ok()) {
        ADD_FAILURE() << run.status();
        continue;
      }
      for (const std::string& f : run->findings) ADD_FAILURE() << f;
      std::vector<TensorData> outputs;
      for (TensorId id : graph->outputs) {
        const std::string& name = graph->tensors[id].name;
        const TensorData& actual = run->outputs[name];
        EXPECT_EQ(FirstDifference(actual, (*expected)[id]), "") << name;
        outputs.push_back(actual);
      }
      if (first.empty()) first = std::move(outputs);
    }
  }
  return first;
}

TensorData RandomData(DataType type, const Shape& shape, uint64_t seed,
                      float low, float high) {
  std::mt19937_64 random(seed);
  auto real = [&] {
    return low + (high - low) * static_cast<float>(random() >> 40) /
                     static_cast<float>(1 << 24);
  };
  TensorData data = TensorData::Zeros(type, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    switch (type) {
      case DataType::kFloat:
        data.as<float>()[i] = real();
        break;
      case DataType::kFloat16:
        data.as<uint16_t>()[i] = model::F32ToF16(real());
        break;
      case DataType::kInt16:
        data.as<int16_t>()[i] = static_cast<int16_t>(real());
        break;
      case DataType::kUint16:
        data.as<uint16_t>()[i] =
            static_cast<uint16_t>(static_cast<int32_t>(real()));
        break;
      case DataType::kUint32:
        data.as<uint32_t>()[i] =
            static_cast<uint32_t>(static_cast<int64_t>(real()));
        break;
      case DataType::kInt32:
        data.as<int32_t>()[i] = static_cast<int32_t>(real());
        break;
      case DataType::kInt64:
        data.as<int64_t>()[i] = static_cast<int64_t>(real());
        break;
      case DataType::kBool:
        data.bytes[i] = random() >> 63;
        break;
      default:
        data.bytes[i] = static_cast<uint8_t>(random());
    }
  }
  return data;
}

}  // namespace heddle::compiler
