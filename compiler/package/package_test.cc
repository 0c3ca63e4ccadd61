// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/package.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "compiler/base/host_profile.h"
#include "compiler/base/sha256.h"
#include "compiler/package/package_generated.h"
#include "rtl/spec/version.h"

namespace heddle::package {
namespace {

TensorInfo MakeTensor(const char* name, uint64_t offset) {
  TensorInfo tensor;
  tensor.name = name;
  tensor.type = compiler::DataType::kFloat;
  tensor.shape = {1, 2, 3};
  tensor.offset = offset;
  tensor.size = 24;
  return tensor;
}

Package Sample() {
  Package package;
  package.model_name = "m";
  package.producer = "heddle-compile test";
  package.config = "h256";
  package.hw_version = reg::kVersionReset;
  package.weights = std::vector<uint8_t>{1, 2, 3, 4, 5};
  package.scratch_bytes = 4096;
  package.io_bytes = 96;
  package.inputs = {MakeTensor("x", 0)};
  package.outputs = {MakeTensor("y", 24)};
  package.taps = {MakeTensor("t", 72)};
  package.streams = {{10, 11, 12}, {20}};
  package.nodes = {"conv1", "relu1"};
  package.sources = {{0, 4, 0}, {0, 8, 1}, {1, 0, 0}};
  package.layers = {{0, "matrix", 7, 8, 9}};
  package.macs = 70;
  package.estimated_cycles = 80;
  return package;
}

// Makes the checksum right again after tampering, to reach the later checks.
std::string Reseal(std::string bytes) {
  if (bytes.size() < 64) return bytes;
  std::memset(&bytes[32], 0, 32);
  bytes.replace(32, 32, compiler::Sha256Of(bytes));
  return bytes;
}

std::string ErrorOf(const Package& package) {
  auto parsed = Parse(Serialize(package));
  return parsed.ok() ? "" : std::string(parsed.status().message());
}

TEST(PackageTest, WeightsThatArePackedAlready) {
  Package package = Sample();
  package.weights = std::vector<uint8_t>(100'000, 7);
  const std::string expected = Serialize(package);
  const std::string weights(package.weights.begin(), package.weights.end());
  package.weights = {};
  const Room room = RoomBeside(package);
  EXPECT_EQ(room.before, kPageBytes);
  for (const uint64_t head :
       {uint64_t{0}, uint64_t{17}, room.before, room.before + 3 * kPageBytes}) {
    PackedWeights packed{std::string(head, 'x') + weights, head};
    EXPECT_EQ(Serialize(package, std::move(packed)), expected) << head;
  }
  PackedWeights packed;
  packed.head = room.before;
  packed.bytes.reserve(room.before + weights.size() + room.after);
  packed.bytes.assign(room.before, '\0');
  packed.bytes += weights;
  const char* const at = packed.bytes.data();
  const std::string file = Serialize(package, std::move(packed));
  EXPECT_EQ(file, expected);
  EXPECT_EQ(file.data(), at) << "nothing is copied";
}

TEST(PackageTest, RoundTrip) {
  const Package in = Sample();
  const std::string bytes = Serialize(in);
  EXPECT_EQ(bytes, Serialize(in));
  auto out = Parse(bytes);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->model_name, in.model_name);
  EXPECT_EQ(out->producer, in.producer);
  EXPECT_EQ(out->config, in.config);
  EXPECT_EQ(out->hw_version, in.hw_version);
  EXPECT_EQ(out->weights, in.weights);
  EXPECT_FALSE(out->weights.is_view());
  const auto view = Parse(bytes, std::make_shared<int>());
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->weights, in.weights);
  EXPECT_EQ(reinterpret_cast<const char*>(view->weights.data()),
            bytes.data() + kPageBytes);
  EXPECT_EQ(out->scratch_bytes, in.scratch_bytes);
  EXPECT_EQ(out->io_bytes, in.io_bytes);
  EXPECT_EQ(out->streams, in.streams);
  EXPECT_EQ(out->nodes, in.nodes);
  EXPECT_EQ(out->macs, in.macs);
  EXPECT_EQ(out->estimated_cycles, in.estimated_cycles);
  ASSERT_EQ(out->taps.size(), 1u);
  EXPECT_EQ(out->taps[0].name, "t");
  EXPECT_EQ(out->taps[0].shape, in.taps[0].shape);
  EXPECT_EQ(out->taps[0].offset, 72u);
  ASSERT_EQ(out->layers.size(), 1u);
  EXPECT_EQ(out->layers[0].engine, "matrix");
  EXPECT_EQ(out->layers[0].estimated_cycles, 9u);
  // Serialize covers every field: equal bytes mean that none was lost.
  EXPECT_EQ(Serialize(*out), bytes);
}

// 64 bytes of the weights are resident.
Package Streamed() {
  Package package = Sample();
  package.weights = std::vector<uint8_t>(300, 7);
  package.weight_plan.device_bytes = 64;
  package.weight_plan.windows = 2;
  package.weight_plan.window_bytes = 192;
  package.weight_plan.resident = {{0, 0, 0, 64}};
  package.weight_plan.copies = {{0, 64, 0, 128}, {1, 192, 0, 108}};
  return package;
}

TEST(PackageTest, WeightPlan) {
  const Package in = Streamed();
  const std::string bytes = Serialize(in);
  const auto out = Parse(bytes);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->weight_plan.device_bytes, 64u);
  EXPECT_EQ(out->weight_plan.windows, 2u);
  EXPECT_EQ(out->weight_plan.window_bytes, 192u);
  EXPECT_EQ(out->weight_plan.resident, in.weight_plan.resident);
  EXPECT_EQ(out->weight_plan.copies, in.weight_plan.copies);
  EXPECT_EQ(Serialize(*out), bytes);
}

// A build that knows no plans would run the streams on the weights as they are.
TEST(PackageTest, OnlyVersion2HasAWeightPlan) {
  std::string bytes = Serialize(Sample());
  EXPECT_EQ(bytes[8], 1);
  bytes[8] = 2;
  EXPECT_FALSE(Parse(Reseal(bytes)).ok());
  bytes = Serialize(Streamed());
  EXPECT_EQ(bytes[8], 2);
  bytes[8] = 1;
  const auto parsed = Parse(Reseal(bytes));
  EXPECT_NE(parsed.status().message().find("version 1 with a weight plan"),
            std::string::npos)
      << parsed.status();
}

TEST(PackageTest, AHostileWeightPlanIsRefused) {
  Package p = Streamed();
  p.weight_plan.copies[1].size = 109;
  EXPECT_NE(ErrorOf(p).find("weight plan: 109 bytes from 192 of 300"),
            std::string::npos)
      << ErrorOf(p);
  p = Streamed();
  p.weight_plan.copies[0].to = 128;
  EXPECT_NE(ErrorOf(p).find("128 bytes to 128 of 192"), std::string::npos);
  p = Streamed();
  p.weight_plan.windows = 3;
  EXPECT_NE(ErrorOf(p).find("3 windows"), std::string::npos);
  p = Streamed();
  p.weight_plan.resident[0].from = ~uint64_t{63};
  EXPECT_NE(ErrorOf(p).find("of 300"), std::string::npos);
  p = Streamed();
  p.weight_plan.copies[1].stream = 2;
  EXPECT_NE(ErrorOf(p).find("no stream 2"), std::string::npos);
  p = Streamed();
  p.weight_plan.device_bytes = ~uint64_t{0};
  EXPECT_NE(ErrorOf(p).find("region 0 of"), std::string::npos);
}

// A host segment of two nodes with all kinds of attributes, then the card.
Package Segmented() {
  Package package;
  package.model_name = "m";
  package.config = "h256";
  package.hw_version = reg::kVersionReset;
  package.io_bytes = 192 - 64 + 24;
  package.values = {MakeTensor("a", 0), MakeTensor("x", 64),
                    MakeTensor("y", 128)};
  package.inputs = {package.values[0]};
  package.outputs = {package.values[2], package.values[1]};
  Segment host;
  compiler::Graph& g = host.host;
  for (const char* name : {"a", "middle", "x"}) {
    compiler::Tensor t;
    t.name = name;
    t.type = compiler::DataType::kFloat;
    t.shape = {1, 2, 3};
    t.shape_known = true;
    g.AddTensor(t);
  }
  auto constant =
      compiler::TensorData::Zeros(compiler::DataType::kFloat, {1, 2, 3});
  constant.bytes[0] = 77;
  g.AddConstant("k", constant);
  compiler::Node node;
  node.op = "Add";
  node.name = "sum";
  node.opset = 13;
  node.inputs = {0, compiler::kNoTensor, 3};
  node.outputs = {1};
  g.nodes.push_back(node);
  node.op = "Odd";
  node.domain = "com.microsoft";
  node.inputs = {1};
  node.outputs = {2};
  node.attributes["f"] = 1.5f;
  node.attributes["fs"] = std::vector<float>{1, 2};
  node.attributes["i"] = int64_t{-7};
  node.attributes["is"] = std::vector<int64_t>{1, -2, 3};
  node.attributes["s"] = std::string("te\0xt", 5);
  node.attributes["ss"] = std::vector<std::string>{"a", ""};
  node.attributes["t"] = std::make_shared<const compiler::TensorData>(constant);
  g.nodes.push_back(node);
  g.inputs = {0};
  g.outputs = {2};
  host.inputs = {0};
  host.outputs = {1};
  package.segments.push_back(host);
  Segment card;
  card.card = std::make_shared<const Package>(Sample());
  card.inputs = {1};
  card.outputs = {2};
  package.segments.push_back(card);
  return package;
}

TEST(PackageTest, Segments) {
  const Package in = Segmented();
  const std::string bytes = Serialize(in);
  EXPECT_EQ(bytes[8], 3);
  const auto out = Parse(bytes);
  ASSERT_TRUE(out.ok()) << out.status();
  ASSERT_EQ(out->segments.size(), 2u);
  EXPECT_EQ(out->segments[0].card, nullptr);
  const compiler::Graph& g = out->segments[0].host;
  EXPECT_EQ(g.tensors.size(), 4u) << "but not those of attributes";
  EXPECT_EQ(g.ToString(), in.segments[0].host.ToString());
  EXPECT_EQ(g.nodes[0].inputs, in.segments[0].host.nodes[0].inputs);
  EXPECT_EQ(g.nodes[1].StringAttribute("s", ""), std::string("te\0xt", 5));
  const auto& t = std::get<std::shared_ptr<const compiler::TensorData>>(
      g.nodes[1].attributes.at("t"));
  EXPECT_EQ(t->bytes[0], 77);
  EXPECT_FALSE(t->bytes.data() == nullptr);
  ASSERT_NE(out->segments[1].card, nullptr);
  EXPECT_EQ(Serialize(*out->segments[1].card), Serialize(Sample()));
  EXPECT_EQ(Serialize(*out), bytes);
  // Constants of the host do not depend on the file.
  const auto view = Parse(bytes, std::make_shared<int>());
  ASSERT_TRUE(view.ok());
  EXPECT_TRUE(view->segments[1].card->weights.is_view());
  const uint8_t* constant =
      view->segments[0].host.tensors[3].constant->bytes.data();
  EXPECT_TRUE(constant < reinterpret_cast<const uint8_t*>(bytes.data()) ||
              constant >= reinterpret_cast<const uint8_t*>(bytes.data()) +
                              bytes.size());
}

TEST(PackageTest, TheHostsProfile) {
  // Packages from before there were profiles say nothing.
  const auto silent = Parse(Serialize(Segmented()));
  ASSERT_TRUE(silent.ok()) << silent.status();
  EXPECT_EQ(silent->host_profile, "");
  EXPECT_EQ(silent->segments[0].estimated_ns, 0u);
  Package package = Segmented();
  package.host_profile =
      compiler::HostProfileText(compiler::DefaultHostProfile());
  package.placement = "cost";
  package.segments[0].estimated_ns = 1234;
  const std::string bytes = Serialize(package);
  const auto read = Parse(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->host_profile, package.host_profile);
  EXPECT_EQ(read->placement, "cost");
  EXPECT_EQ(read->segments[0].estimated_ns, 1234u);
  EXPECT_EQ(Serialize(*read), bytes);

  const auto refused = [&](const char* what, void (*change)(Package*)) {
    Package changed = package;
    change(&changed);
    const auto status = Parse(Serialize(changed)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << what << ": " << status;
    EXPECT_NE(status.message().find(what), std::string::npos) << status;
  };
  refused("placement", [](Package* p) { p->placement = "moon"; });
  refused("placement", [](Package* p) { p->placement.clear(); });
  refused("host profile", [](Package* p) { p->host_profile = "job_us 1\n"; });
  refused("host profile", [](Package* p) { p->host_profile.clear(); });
  refused("host profile", [](Package* p) { p->host_profile += "job_us 1\n"; });
  Package card = Sample();
  card.placement = "cost";
  card.host_profile = package.host_profile;
  EXPECT_TRUE(absl::IsInvalidArgument(Parse(Serialize(card)).status()));
}

TEST(PackageTest, OnlyVersion3HasSegments) {
  for (const char version : {1, 2}) {
    std::string bytes = Serialize(Segmented());
    bytes[8] = version;
    EXPECT_FALSE(Parse(Reseal(bytes)).ok());
  }
  for (const Package& package : {Sample(), Streamed()}) {
    std::string bytes = Serialize(package);
    bytes[8] = 3;
    EXPECT_FALSE(Parse(Reseal(bytes)).ok());
  }
}

TEST(PackageTest, HostileSegmentsAreRefused) {
  const auto refused = [](const char* what, void (*change)(Package*)) {
    Package p = Segmented();
    change(&p);
    const std::string error = ErrorOf(p);
    EXPECT_NE(error.find(what), std::string::npos) << error << ", " << what;
  };
  refused("before it is written",
          [](Package* p) { std::swap(p->segments[0], p->segments[1]); });
  refused("again", [](Package* p) { p->segments.push_back(p->segments[0]); });
  refused("inputs disagree", [](Package* p) { p->segments[0].inputs = {1}; });
  refused("inputs disagree", [](Package* p) { p->segments[0].inputs = {99}; });
  refused("outputs disagree", [](Package* p) { p->segments[1].outputs = {}; });
  refused("outputs disagree", [](Package* p) { p->values[2].shape = {6}; });
  refused("overlap", [](Package* p) {
    p->values[1].offset = 0;
    p->outputs[1].offset = 0;
  });
  refused("lies at 8",
          [](Package* p) { p->values[0].offset = p->inputs[0].offset = 8; });
  refused("ends outside io_bytes", [](Package* p) { p->io_bytes = 151; });
  refused("two values", [](Package* p) { p->values[2].name = "x"; });
  refused("never written", [](Package* p) { p->segments.pop_back(); });
  refused("is not a value, or is repeated",
          [](Package* p) { p->inputs[0].name = "b"; });
  refused("is not a value, or is repeated",
          [](Package* p) { p->inputs.push_back(p->inputs[0]); });
  refused("weights, streams or taps", [](Package* p) {
    p->streams = {{1, 2}};
  });
  refused("for configuration h256", [](Package* p) { p->config = "h512"; });
  refused("inside a package", [](Package* p) {
    p->segments[1].card = std::make_shared<const Package>(Segmented());
  });
  refused("invalid tensor id",
          [](Package* p) { p->segments[0].host.nodes[1].inputs = {4}; });
  refused("invalid tensor id",
          [](Package* p) { p->segments[0].host.nodes[1].inputs = {-2}; });
  refused("before it is computed", [](Package* p) {
    std::swap(p->segments[0].host.nodes[0], p->segments[0].host.nodes[1]);
  });
  refused("has a value already",
          [](Package* p) { p->segments[0].host.nodes[1].outputs = {1}; });
  refused("has shape", [](Package* p) {
    p->segments[0].host.tensors[1].shape = {int64_t{1} << 31};
  });
  refused("has dimension -1",
          [](Package* p) { p->segments[0].host.tensors[1].shape = {-1}; });
  refused("has type 8", [](Package* p) {
    p->segments[0].host.tensors[1].type = compiler::DataType::kString;
  });
}

// As an attacker does it, who makes both checksums right.
TEST(PackageTest, BitFlipsInSegments) {
  const std::string bytes = Serialize(Segmented());
  const size_t inner = bytes.rfind("HEDDLEPK");
  ASSERT_NE(inner, 0u);
  size_t accepted = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == 0 && i % 16 != 0) continue;
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    ASSERT_FALSE(Parse(bad).ok()) << i;
    bad = bad.substr(0, inner) + Reseal(bad.substr(inner));
    auto parsed = Parse(Reseal(bad));
    if (!parsed.ok()) continue;
    ++accepted;
    const std::string again = Serialize(*parsed);
    auto second = Parse(again);
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ(Serialize(*second), again);
  }
  EXPECT_GT(accepted, 0u);
}

TEST(PackageTest, TruncatedSegments) {
  const std::string bytes = Serialize(Segmented());
  for (size_t size = 0; size < bytes.size(); size += 13) {
    std::string cut = bytes.substr(0, size);
    ASSERT_FALSE(Parse(cut).ok()) << size;
    if (size < 64) continue;
    const uint64_t stated = size;
    std::memcpy(&cut[16], &stated, 8);
    ASSERT_FALSE(Parse(Reseal(cut)).ok()) << size;
  }
}

TEST(PackageTest, EmptyPackage) {
  Package package;
  package.hw_version = reg::kVersionReset;
  auto out = Parse(Serialize(package));
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(out->weights.empty());
}

TEST(PackageTest, SectionsArePageAligned) {
  const std::string bytes = Serialize(Sample());
  EXPECT_EQ(bytes[2 * kPageBytes], 10);  // weights, stream 0, stream 1
  EXPECT_EQ(bytes[3 * kPageBytes], 20);
  EXPECT_EQ(bytes.size(), 3 * kPageBytes + 4);
}

TEST(PackageTest, UnalignedBytesParse) {
  const std::string bytes = "?" + Serialize(Sample());
  EXPECT_TRUE(Parse(absl::string_view(bytes).substr(1)).ok());
}

TEST(PackageTest, NodeAt) {
  const Package package = Sample();
  EXPECT_EQ(package.NodeAt(0, 0), "");
  EXPECT_EQ(package.NodeAt(0, 4), "conv1");
  EXPECT_EQ(package.NodeAt(0, 7), "conv1");
  EXPECT_EQ(package.NodeAt(0, 8), "relu1");
  EXPECT_EQ(package.NodeAt(0, 4000), "relu1");
  EXPECT_EQ(package.NodeAt(1, 0), "conv1");
  EXPECT_EQ(package.NodeAt(2, 0), "");
}

TEST(PackageTest, EveryHeaderByteCounts) {
  const std::string bytes = Serialize(Sample());
  for (size_t i = 0; i < 64; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = bytes;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      EXPECT_FALSE(Parse(bad).ok()) << "byte " << i;
      if (i >= 32) continue;
      auto resealed = Parse(Reseal(bad));
      if (resealed.ok()) {
        // Metadata may end a few zero bytes later or earlier without loss.
        EXPECT_TRUE(i >= 12 && i < 16) << "byte " << i << " bit " << bit;
        EXPECT_EQ(Serialize(*resealed), bytes);
        continue;
      }
      // Version 3 is known, and has segments.
      const bool known = i == 8 && bit == 1;
      EXPECT_EQ(resealed.status().code(),
                i >= 8 && i < 12 && !known
                    ? absl::StatusCode::kFailedPrecondition
                    : absl::StatusCode::kInvalidArgument)
          << resealed.status();
    }
  }
}

TEST(PackageTest, TruncationAtEveryByte) {
  const std::string bytes = Serialize(Streamed());
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string cut = bytes.substr(0, size);
    ASSERT_FALSE(Parse(cut).ok()) << size;
    if (size < 64) continue;
    // The attacker's version: header and checksum agree with the new size.
    const uint64_t stated = size;
    std::memcpy(&cut[16], &stated, 8);
    ASSERT_FALSE(Parse(Reseal(cut)).ok()) << size;
  }
  EXPECT_FALSE(Parse(bytes + "x").ok());
}

TEST(PackageTest, BitFlips) {
  const std::string bytes = Serialize(Streamed());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    ASSERT_FALSE(Parse(bad).ok()) << i;
    // With a right checksum it may parse; it must not crash, and what it
    // yields must be serializable.
    auto parsed = Parse(Reseal(bad));
    if (parsed.ok()) Serialize(*parsed);
  }
}

TEST(PackageTest, PaddingMustBeZero) {
  std::string bytes = Serialize(Sample());
  bytes[kPageBytes - 1] = 1;
  auto parsed = Parse(Reseal(bytes));
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.status().message().find("not zero"), std::string::npos);
}

TEST(PackageTest, ForeignFiles) {
  EXPECT_FALSE(Parse("").ok());
  EXPECT_FALSE(Parse("GIF89a").ok());
  EXPECT_FALSE(Parse(std::string(64, '\0')).ok());
  EXPECT_FALSE(Parse(std::string(100000, '\xff')).ok());
}

TEST(PackageTest, VersionsThisBuildDoesNotKnow) {
  Package package = Sample();
  const uint32_t known = reg::kVersionReset;
  const struct {
    uint32_t version;
    const char* cure;
  } kCases[] = {
      {0, "recompile the model with this release's"},
      {known + 1, "update this software"},
      {known + reg::MakeVersion(1, 0), "update this software"},
  };
  for (const auto& c : kCases) {
    package.hw_version = c.version;
    const absl::Status status = Parse(Serialize(package)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(
        status.message().find(absl::StrCat(
            "hardware version ", reg::VersionText(c.version),
            ", this build knows ", reg::VersionText(known), "; ", c.cure)),
        std::string::npos)
        << status;
  }
}

TEST(PackageTest, PackagesOfEarlierMinorVersionsAreRead) {
  Package package = Sample();
  package.hw_version = reg::MakeVersion(reg::MajorOf(reg::kVersionReset), 0);
  const auto parsed = Parse(Serialize(package));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->hw_version, package.hw_version);
}

TEST(PackageTest, RangesAreChecked) {
  Package p = Sample();
  p.inputs[0].offset = 80;
  EXPECT_NE(ErrorOf(p).find("'x' ends outside io_bytes"), std::string::npos);
  p = Sample();
  p.inputs[0].offset = ~uint64_t{0};
  EXPECT_NE(ErrorOf(p).find("'x' ends outside io_bytes"), std::string::npos);
  p = Sample();
  p.outputs[0].size = 20;
  EXPECT_NE(ErrorOf(p).find("'y' has size 20"), std::string::npos);
  p = Sample();
  p.outputs[0].shape = {int64_t{1} << 62, 4};
  EXPECT_NE(ErrorOf(p).find("'y' has size"), std::string::npos);
  p = Sample();
  p.taps[0].shape = {-1, -6};
  EXPECT_NE(ErrorOf(p).find("'t' has dimension -1"), std::string::npos);
  p = Sample();
  p.taps[0].type = static_cast<compiler::DataType>(99);
  EXPECT_NE(ErrorOf(p).find("'t' has type 99"), std::string::npos);
  p = Sample();
  p.sources[2].stream = 2;
  EXPECT_NE(ErrorOf(p).find("stream 2"), std::string::npos);
  p = Sample();
  p.sources[0].first_offset = 12;
  EXPECT_NE(ErrorOf(p).find("offset 12"), std::string::npos);
  p = Sample();
  p.sources[0].node = 2;
  EXPECT_NE(ErrorOf(p).find("sources has node 2"), std::string::npos);
  p = Sample();
  std::swap(p.sources[0], p.sources[1]);
  EXPECT_NE(ErrorOf(p).find("not sorted"), std::string::npos);
  p = Sample();
  p.layers[0].node = 2;
  EXPECT_NE(ErrorOf(p).find("layers has node 2"), std::string::npos);
}

}  // namespace
}  // namespace heddle::package
