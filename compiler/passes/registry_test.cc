// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/registry.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/match.h"
#include "compiler/compiler.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

std::string Model() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4, 8, 8});
  b.Node("Identity", {"x"}, {"i"});
  b.Node("Relu", {"i"}, {"r"});
  b.Node("MaxPool", {"r"}, {"y"});
  SetInts(b.proto().mutable_graph()->mutable_node(2), "kernel_shape", {2, 2});
  b.Output("y", DataType::kFloat, {1, 4, 7, 7});
  return b.Bytes();
}

TEST(Passes, NamesAreDistinctAndLinesShort) {
  std::set<std::string> names;
  for (const Pass& pass : Passes()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_LE(std::string(pass.what).size(), 75u) << pass.name;
  }
}

TEST(Passes, FindNamesTheNearest) {
  for (size_t i = 0; i < Passes().size(); ++i) {
    const auto found = FindPass(Passes()[i].name);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, i);
  }
  const absl::Status none = FindPass("fold-bad").status();
  EXPECT_TRUE(absl::IsInvalidArgument(none));
  EXPECT_TRUE(absl::StrContains(none.message(), "first: fold-pad, ")) << none;
  for (const Pass& pass : Passes()) {
    EXPECT_TRUE(absl::StrContains(none.message(), pass.name)) << none;
  }
}

// Whoever adds a stage without a row, or a row without a stage, is told here.
TEST(Passes, AllAreSeenOnceAndInOrder) {
  CompileOptions options;
  std::vector<std::string> begun, done;
  options.progress = [&](const char* text, double part) {
    if (part < 0) begun.push_back(text);
  };
  options.after_pass = [&](const char* pass, const auto& state) {
    done.push_back(pass);
    EXPECT_FALSE(state().empty()) << pass;
    return absl::OkStatus();
  };
  const auto result = CompileOnnx(Model(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<std::string> names;
  for (const Pass& pass : Passes()) names.push_back(pass.name);
  EXPECT_EQ(done, names);
  EXPECT_EQ(begun, names);
}

TEST(Passes, WatchingChangesNothingAndStateIsDeterministic) {
  const auto plain = CompileOnnx(Model(), {});
  ASSERT_TRUE(plain.ok()) << plain.status();
  std::vector<std::string> states[2];
  for (auto& list : states) {
    CompileOptions options;
    options.after_pass = [&](const char*, const auto& state) {
      list.push_back(state());
      return absl::OkStatus();
    };
    const auto watched = CompileOnnx(Model(), options);
    ASSERT_TRUE(watched.ok()) << watched.status();
    EXPECT_EQ(watched->package, plain->package);
  }
  EXPECT_EQ(states[0], states[1]);
}

TEST(Passes, AStatusEndsTheCompilation) {
  for (const Pass& last : Passes()) {
    CompileOptions options;
    std::string seen;
    options.after_pass = [&](const char* pass, const auto&) -> absl::Status {
      seen = pass;
      if (seen == last.name) return absl::CancelledError(seen);
      return absl::OkStatus();
    };
    const auto result = CompileOnnx(Model(), options);
    EXPECT_EQ(result.status(), absl::CancelledError(last.name));
    EXPECT_EQ(seen, last.name);
  }
}

}  // namespace
}  // namespace heddle::compiler
