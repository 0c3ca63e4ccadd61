// SPDX-License-Identifier: Apache-2.0
// Random cases of every operator version of opsets 18 to 23 that the record of
// changes lists (compiler/ops/opset_changes.h) and the compiler knows, and
// random graphs of all opsets that ONNX Runtime runs: what the front end makes
// of each model, evaluated, against the newest ONNX Runtime. What that does not
// do is left out; every operator version must be compared all the same.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"
#include "compiler/ops/opset_changes.h"
#include "simulator/model/numerics.h"
#include "tests/opsets/cases.h"
#include "tests/support/onnxruntime.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::TensorData;

int g_cases = 6, g_graphs = 300;

OnnxRuntime* Runtime() {
  static OnnxRuntime* runtime = [] {
    auto opened = OnnxRuntime::Open(OnnxRuntime::SharedLibraries().back());
    if (!opened.ok()) std::abort();
    return opened->release();
  }();
  return runtime;
}

float FloatOf(int type, const uint8_t* bytes, int64_t i) {
  if (type == static_cast<int>(DataType::kFloat16)) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * i, 2);
    return model::F16ToF32(bits);
  }
  float value;
  std::memcpy(&value, bytes + 4 * i, 4);
  return value;
}

// "" if they agree: floats to `tolerance` of the largest element, codes of 8
// and 16 bits to `codes`, everything else exactly.
std::string Difference(const TensorData& ours, const RuntimeTensor& theirs,
                       float tolerance, int codes) {
  const int type = static_cast<int>(ours.type);
  if (type != theirs.type) return absl::StrCat("type ", theirs.type);
  if (ours.shape != theirs.shape) {
    return absl::StrCat("shape ", compiler::ShapeToString(theirs.shape),
                        " not ", compiler::ShapeToString(ours.shape));
  }
  const bool real =
      ours.type == DataType::kFloat || ours.type == DataType::kFloat16;
  if (!real && codes == 0) {
    return std::memcmp(ours.bytes.data(), theirs.bytes.data(),
                       theirs.bytes.size()) == 0
               ? ""
               : "elements differ";
  }
  if (!real) {
    const size_t width = compiler::ElementBytes(ours.type);
    for (int64_t i = 0; i < ours.count(); ++i) {
      int32_t a = 0, b = 0;
      std::memcpy(&a, ours.bytes.data() + width * i, width);
      std::memcpy(&b, theirs.bytes.data() + width * i, width);
      if (std::abs(a - b) > codes) {
        return absl::StrCat("element ", i, ": ", a, ", not ", b);
      }
    }
    return "";
  }
  float largest = 1;
  for (int64_t i = 0; i < ours.count(); ++i) {
    const float v = std::abs(FloatOf(type, ours.bytes.data(), i));
    if (std::isfinite(v)) largest = std::max(largest, v);
  }
  if (ours.type == DataType::kFloat16) tolerance = std::max(tolerance, 2e-3f);
  for (int64_t i = 0; i < ours.count(); ++i) {
    const float a = FloatOf(type, ours.bytes.data(), i),
                b = FloatOf(type, theirs.bytes.data(), i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b || std::abs(a - b) <= tolerance * largest) continue;
    return absl::StrCat("element ", i, ": ", a, ", not ", b);
  }
  return "";
}

enum class Outcome { kNone, kLeftOut, kCompared };

// What the runtime does not do, by its own words; everything else that fails is
// a fault of the model.
bool IsLeftOut(const absl::Status& status) {
  for (const char* words :
       {"Could not find an implementation", "NOT_IMPLEMENTED",
        // Types that ONNX's definition of this opset does not have, and ours
        // takes.
        "Type Error",
        // Padding as wide as the window, or wider than what it reflects.
        "pool_attributes.h", "Pad reflect", "zero effective input extent",
        // Attributes and absent inputs that only later opsets have, and ours
        // takes.
        "Unrecognized attribute", "not in range",
        // Dilated windows with padding that the shape decides.
        "Dilation not supported for AutoPadType",
        // Output padding as wide as the stride.
        "output_padding",
        // Negative axes before opset 11, which its inference takes otherwise.
        "Input tensor must be 4-dimensional",
        // InstanceNormalization of a matrix.
        "number of dimensions is less than 3",
        // Recurrent operators with the batch first.
        "Batchwise recurrent operations"}) {
    if (absl::StrContains(status.message(), words)) return true;
  }
  return false;
}

// The mask of a Dropout that drops nothing: before opset 12 ONNX does not say
// what is in it.
bool IsOldMask(const compiler::Graph& graph, compiler::TensorId tensor) {
  for (const compiler::Node& node : graph.nodes) {
    if (node.op == "Dropout" && node.opset < 12 && node.outputs.size() > 1 &&
        node.outputs[1] == tensor) {
      return true;
    }
  }
  return false;
}

// Whether a Pad may go round an axis more than once: what the runtime puts
// there is not the next turn's elements, which ONNX's reference has.
bool WrapsTwice(const compiler::Graph& graph) {
  for (const compiler::Node& node : graph.nodes) {
    if (node.op != "Pad" || node.StringAttribute("mode", "") != "wrap") {
      continue;
    }
    const compiler::Shape& from = graph.tensors[node.inputs[0]].shape;
    const compiler::Shape& to = graph.tensors[node.outputs[0]].shape;
    for (size_t d = 0; d < from.size(); ++d) {
      if (to[d] > 2 * from[d]) return true;
    }
  }
  return false;
}

// Not those that random graphs hardly draw or do not have, and two that the
// runtime lacks in opset 22: tests/operators, which draws operands for each,
// and compiler/ops/expanded_test.cc have them.
bool IsCompared(const std::string& op) {
  static const auto* others = new std::set<std::string>{
      "AffineGrid", "CenterCropPad", "Col2Im",     "DeformConv",
      "EyeLike",    "GlobalLpPool",  "MaxRoiPool", "NegativeLogLikelihoodLoss",
      "RoiAlign"};
  return others->count(op) == 0;
}

// Fails the test where the two disagree.
Outcome Compare(const OpsetCase& c, const std::string& what, float tolerance,
                int codes) {
  if (c.model.empty()) return Outcome::kNone;
  std::vector<std::pair<std::string, RuntimeTensor>> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    RuntimeTensor tensor;
    tensor.type = static_cast<int>(c.values[i].type);
    tensor.shape = c.values[i].shape;
    tensor.bytes = c.values[i].bytes.ToVector();
    inputs.emplace_back(c.inputs[i], std::move(tensor));
  }
  const auto theirs = Runtime()->Run(c.model, inputs, c.outputs);
  if (!theirs.ok() && IsLeftOut(theirs.status())) return Outcome::kLeftOut;
  const auto graph = compiler::AnalyseOnnx(c.model, {});
  EXPECT_TRUE(theirs.ok()) << what << ": " << theirs.status() << "\n"
                           << (graph.ok() ? graph->ToString() : "");
  EXPECT_TRUE(graph.ok()) << what << ": " << graph.status();
  if (!theirs.ok() || !graph.ok()) return Outcome::kNone;
  if (WrapsTwice(*graph)) return Outcome::kLeftOut;
  const auto ours = compiler::EvaluateGraph(*graph, c.values);
  EXPECT_TRUE(ours.ok()) << what << ": " << ours.status();
  if (!ours.ok()) return Outcome::kNone;
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    if (IsOldMask(*graph, graph->outputs[i])) continue;
    const std::string difference =
        Difference((*ours)[graph->outputs[i]], (*theirs)[i], tolerance, codes);
    EXPECT_EQ(difference, "") << what << ", output " << i << "\n"
                              << graph->ToString();
  }
  return Outcome::kCompared;
}

// A step of the codes where a quotient lies between two of them.
int CodesOf(const std::string& op) {
  return op == "QuantizeLinear" || op == "QLinearMatMul" ? 1 : 0;
}

TEST(Runtime, EveryRecordedVersion) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  int versions = 0, compared_in_all = 0;
  for (const auto& row : compiler::OpsetChanges()) {
    if (compiler::FindOperator("", row.op, row.version) == nullptr ||
        !IsCompared(row.op)) {
      continue;
    }
    ++versions;
    int compared = 0, left_out = 0, tries = 0;
    while (compared < g_cases && tries < 40 * g_cases) {
      const uint64_t seed = 1000 * row.version + tries++;
      const std::string what =
          absl::StrCat(row.op, "-", row.version, " seed ", seed);
      const Outcome outcome = Compare(NodeCase(row.op, row.version, seed), what,
                                      2e-5f, CodesOf(row.op));
      compared += outcome == Outcome::kCompared;
      left_out += outcome == Outcome::kLeftOut;
    }
    EXPECT_EQ(compared, g_cases) << row.op << "-" << row.version << ": "
                                 << left_out << " left out of " << tries;
    compared_in_all += compared;
  }
  EXPECT_GT(versions, 60);
  std::printf("%d cases of %d versions\n", compared_in_all, versions);
}

TEST(Runtime, GraphsOfAllOpsets) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  std::map<int, int> compared;
  for (int seed = 1; seed <= g_graphs; ++seed) {
    constexpr int kFirst = 7;  // the first one that the runtime supports
    const int opset = kFirst + seed % (compiler::kMaxOpset - kFirst + 1);
    const std::string what = absl::StrCat("opset ", opset, " seed ", seed);
    if (Compare(GraphCase(opset, seed), what, 1e-3f, 0) == Outcome::kCompared) {
      ++compared[opset];
    }
  }
  int all = 0;
  for (const auto& [opset, count] : compared) all += count;
  std::printf("%d of %d graphs, %d opsets\n", all, g_graphs,
              static_cast<int>(compared.size()));
  EXPECT_GT(all, g_graphs / 2);
  EXPECT_EQ(compared.size(), size_t{compiler::kMaxOpset - 7 + 1});
}

int Main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    std::sscanf(argv[i], "--cases=%d", &g_cases);
    std::sscanf(argv[i], "--graphs=%d", &g_graphs);
  }
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) { return heddle::tests::Main(argc, argv); }
