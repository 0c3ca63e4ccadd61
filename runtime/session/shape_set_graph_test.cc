// SPDX-License-Identifier: Apache-2.0
// Specialisations made by hand (CopyPackage) on a simulated card; with the
// compiler: tests/e2e/shape_set_test.cc.
#include "runtime/session/shape_set_graph.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "compiler/package/block_pool.h"
#include "runtime/session/test_card.h"
#include "runtime/session/test_package.h"

namespace heddle::session {
namespace {

using How = Specialised::How;

// For so many bytes of "x"; those of more than 64 may be padded from `least`
// on.
std::string SetOf(const std::vector<int64_t>& sizes, int64_t least) {
  package::BlockPool pool;
  package::ShapeSet set;
  set.config = "h256";
  set.symbols = {"bytes"};
  set.inputs = {{"x", compiler::DataType::kUint8, {0}, {0}}};
  set.outputs = 2;  // "y", and "w", which does not depend on it
  for (int64_t size : sizes) {
    package::Specialisation made;
    made.values = {size};
    const std::string bytes = package::Serialize(CopyPackage(size));
    made.size = bytes.size();
    made.extents = pool.Add(bytes);
    if (size > 64) made.padding = {{0, least, {{0, 1}, {-1, 0}}}};
    set.specialisations.push_back(std::move(made));
  }
  set.blocks = std::vector<uint8_t>(pool.bytes().begin(), pool.bytes().end());
  return package::Serialize(set);
}

struct Fixture {
  std::shared_ptr<Device> device = OpenSim();
  std::string bytes;
  int compiled = 0;
  std::shared_ptr<ShapeSetGraph> graphs;

  explicit Fixture(std::string package, bool compiles = true,
                   ShapeSetOptions options = {})
      : bytes(std::move(package)) {
    if (compiles) {
      options.compile = [this](const auto& shapes) {
        ++compiled;
        return package::Serialize(CopyPackage(shapes.at("x")[0]));
      };
    }
    auto loaded =
        ShapeSetGraph::Load(device, bytes,
                            std::shared_ptr<const void>(
                                std::shared_ptr<const void>(), bytes.data()),
                            options);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    if (loaded.ok()) graphs = *loaded;
  }
  absl::StatusOr<Specialised> For(int64_t size) {
    return graphs->For({{"x", {size}}});
  }
};

// Runs it with so many bytes; whether "y" is "x", and nothing behind it is
// written.
void RunOnce(Graph* graph, int64_t size, bool with_callback) {
  std::vector<uint8_t> x(size), y(size + 16, 0xee), w(256);
  std::iota(x.begin(), x.end(), 3);
  ASSERT_EQ(graph->package().inputs[0].size, static_cast<uint64_t>(size));
  auto told = std::make_shared<std::atomic<bool>>(false);
  auto run = graph->Start(
      {{"x", x.data(), x.size()}},
      {{"y", y.data(), static_cast<uint64_t>(size)}, {"w", w.data(), w.size()}},
      [told](const absl::Status&) { *told = true; });
  ASSERT_TRUE(run.ok()) << run.status();
  if (!with_callback) {
    ASSERT_TRUE((*run)->Wait(absl::InfiniteFuture()).ok());
  } else {
    run->reset();  // waits
  }
  EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin()));
  for (int i = 0; i < 16; ++i) EXPECT_EQ(y[size + i], 0xee);
  EXPECT_EQ(w[5], 5);
  while (!*told) std::this_thread::yield();
}

TEST(ShapeSetGraph, TakesTheExactOneFirst) {
  Fixture f(SetOf({64, 128, 256}, 65));
  for (const int64_t size : {64, 128, 256}) {
    const auto taken = f.For(size);
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(taken->how, How::kExact);
    EXPECT_EQ(taken->values, std::vector<int64_t>{size});
    RunOnce(taken->graph.get(), size, false);
  }
  EXPECT_EQ(f.compiled, 0);
}

TEST(ShapeSetGraph, PadsWhereItMay) {
  Fixture f(SetOf({64, 128, 256}, 100));
  for (const int64_t size : {100, 127, 129, 200}) {
    const auto taken = f.For(size);
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(taken->how, How::kPadded);
    EXPECT_EQ(taken->values, std::vector<int64_t>{size < 128 ? 128 : 256});
    EXPECT_EQ(taken->graph->package().outputs[0].name, "y");
    RunOnce(taken->graph.get(), size, false);
    RunOnce(taken->graph.get(), size, true);
  }
  EXPECT_EQ(f.compiled, 0);
}

TEST(ShapeSetGraph, RefusesBuffersOfThePaddedSize) {
  Fixture f(SetOf({128}, 100));
  const auto taken = f.For(100);
  ASSERT_TRUE(taken.ok());
  std::vector<uint8_t> data(128);
  for (const bool input : {true, false}) {
    const uint64_t x = input ? 128 : 100, y = input ? 100 : 128;
    const auto run = taken->graph->Start({{"x", data.data(), x}},
                                         {{"y", data.data(), y}}, nullptr);
    EXPECT_TRUE(absl::IsInvalidArgument(run.status())) << run.status();
  }
}

TEST(ShapeSetGraph, CompilesOnceWhatItDoesNotHold) {
  Fixture f(SetOf({64, 128}, 100));
  for (int round = 0; round < 3; ++round) {
    const auto taken = f.For(96);  // below what is proven
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(taken->how, How::kCompiled);
    RunOnce(taken->graph.get(), 96, false);
    EXPECT_EQ(f.compiled, 1);
  }
}

TEST(ShapeSetGraph, KeepsWhatWasUsedLast) {
  ShapeSetOptions options;
  options.most_loaded = 2;
  options.most_compiled = 2;
  Fixture f(SetOf({64}, 1), true, options);
  std::weak_ptr<Graph> first = f.For(64)->graph;
  EXPECT_TRUE(f.For(80).ok());
  EXPECT_FALSE(first.expired());
  EXPECT_TRUE(f.For(96).ok());  // the third on the card
  EXPECT_TRUE(first.expired());
  EXPECT_EQ(f.compiled, 2);
  EXPECT_TRUE(f.For(80).ok());
  EXPECT_EQ(f.compiled, 2) << "on the card";
  EXPECT_TRUE(f.For(64).ok());
  EXPECT_TRUE(f.For(96).ok());
  EXPECT_EQ(f.compiled, 2) << "in memory";
  EXPECT_TRUE(f.For(112).ok());  // the third compiled one
  EXPECT_TRUE(f.For(64).ok());
  EXPECT_TRUE(f.For(96).ok());
  EXPECT_TRUE(f.For(80).ok());
  EXPECT_EQ(f.compiled, 4) << "80 was used least recently";
}

TEST(ShapeSetGraph, SaysWhatIsMissingIfNobodyCompiles) {
  Fixture f(SetOf({64, 128}, 100), false);
  const absl::Status status = f.For(96).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(),
            "dimension 'bytes' is 96, and the package holds bytes 64,128 (2 "
            "specialisations)");
  EXPECT_TRUE(absl::IsInvalidArgument(f.graphs->For({}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(f.graphs->For({{"x", {1, 2}}}).status()));
}

TEST(ShapeSetGraph, TakesNothingElseFromTheCompiler) {
  ShapeSetOptions options;
  options.compile = [](const auto&) {
    return package::Serialize(CopyPackage(32));
  };
  Fixture f(SetOf({64}, 1), false, options);
  EXPECT_EQ(f.For(96).status().code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(f.For(32).ok());
}

TEST(ShapeSetGraph, RefusesAPackageThatIsForSomethingElse) {
  std::string bytes = SetOf({64, 128}, 100);
  auto set = package::ParseShapeSet(bytes);
  ASSERT_TRUE(set.ok());
  set->specialisations[0].values = {48};
  Fixture f(package::Serialize(*set), false);
  const absl::Status status = f.For(48).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

}  // namespace
}  // namespace heddle::session
