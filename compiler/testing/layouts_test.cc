// SPDX-License-Identifier: Apache-2.0
// One layout per tensor is enough: codes in blocks of channels (or rows of
// them, passes/flatten_rows.h), floats as ONNX has them, heads by DMA. No
// network has an operation that does nothing but change a layout.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "compiler/compiler.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"

namespace heddle::compiler {
namespace {

// The graph as the operations of the card, or why not.
std::string Lowered(const std::string& model) {
  CompileOptions options;
  options.config = "h256";
  options.goal = Goal::kCompileTime;
  std::string lowered;
  options.after_pass = [&](const char* pass,
                           const std::function<std::string()>& state) {
    if (std::string(pass) != "lower") return absl::OkStatus();
    lowered = state();
    return absl::CancelledError("that is all");
  };
  const absl::Status status = CompileOnnx(model, options).status();
  return absl::IsCancelled(status) ? lowered : status.ToString();
}

bool HasRelayout(const std::string& lowered) {
  return lowered.find("/relayout'") != std::string::npos;
}

TEST(Layouts, NoNetworkHasARelayout) {
  for (const std::string& name : NetworkNames()) {
    const std::string lowered = Lowered(MakeNetwork(name));
    ASSERT_NE(lowered.find("op 0: "), std::string::npos) << name << lowered;
    EXPECT_FALSE(HasRelayout(lowered)) << name << "\n" << lowered;
  }
}

TEST(Layouts, CodesThatAreNumbersNeedOne) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 20, 4, 4});
  b.Quantize("x", "codes", 0.5f, Uint8s({}, {128}));
  SetInt(b.Node("Cast", {"codes"}, {"y"}), "to", 1);
  b.Output("y");
  const std::string lowered = Lowered(b.Bytes());
  EXPECT_TRUE(HasRelayout(lowered)) << lowered;
}

}  // namespace
}  // namespace heddle::compiler
