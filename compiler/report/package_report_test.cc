// SPDX-License-Identifier: Apache-2.0
// The report of a package agrees with that of the compilation that made it, and
// damaged packages are errors.
#include "compiler/report/package_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/testing/card_case.h"
#include "compiler/testing/control_models.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/networks.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {
namespace {

CompileResult Compile(const std::string& model, CompileOptions options) {
  options.details = true;
  auto result = CompileOnnx(model, options);
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : CompileResult();
}

CompileReport ReportOf(const std::string& package) {
  auto made = ReportOfFile(package, KeptByCaller(package), true);
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? std::move(made->report) : CompileReport();
}

void ExpectSameSegments(const std::vector<SegmentReport>& a,
                        const std::vector<SegmentReport>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "segment " << i);
    EXPECT_EQ(a[i].host, b[i].host);
    EXPECT_EQ(a[i].control, b[i].control);
    EXPECT_EQ(a[i].bytes_in, b[i].bytes_in);
    EXPECT_EQ(a[i].bytes_out, b[i].bytes_out);
    EXPECT_EQ(a[i].cycles, b[i].cycles);
    // The package has whole nanoseconds.
    EXPECT_NEAR(a[i].estimated_us, b[i].estimated_us, 0.01);
    EXPECT_DOUBLE_EQ(a[i].crossing_us, b[i].crossing_us);
    ASSERT_EQ(a[i].bodies.size(), b[i].bodies.size());
    for (size_t k = 0; k < a[i].bodies.size(); ++k) {
      EXPECT_EQ(a[i].bodies[k].name, b[i].bodies[k].name);
      ExpectSameSegments(a[i].bodies[k].segments, b[i].bodies[k].segments);
    }
  }
}

// All that both know. `a`: of the compilation.
void ExpectSame(const CompileReport& a, const CompileReport& b) {
  EXPECT_FALSE(a.from_package);
  EXPECT_TRUE(b.from_package);
  EXPECT_TRUE(b.notes.empty()) << b.notes[0];
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (size_t i = 0; i < a.layers.size(); ++i) {
    const LayerReport& x = a.layers[i];
    const LayerReport& y = b.layers[i];
    SCOPED_TRACE(x.name);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.engine, y.engine);
    EXPECT_EQ(x.macs, y.macs);
    EXPECT_EQ(x.dram_bytes, y.dram_bytes);
    EXPECT_EQ(x.estimated_cycles, y.estimated_cycles);
    EXPECT_EQ(x.first_cycle, y.first_cycle);
    EXPECT_EQ(x.last_cycle, y.last_cycle);
    EXPECT_EQ(x.busy_cycles, y.busy_cycles);
    EXPECT_EQ(x.commands, y.commands);
    EXPECT_EQ(x.utilisation, y.utilisation);
    EXPECT_EQ(x.bound, y.bound);
    EXPECT_TRUE(y.op.empty() && y.sources.empty() && y.output_shape.empty());
  }
  ASSERT_EQ(a.engines.size(), b.engines.size());
  for (size_t i = 0; i < a.engines.size(); ++i) {
    EXPECT_EQ(a.engines[i].name, b.engines[i].name);
    EXPECT_EQ(a.engines[i].commands, b.engines[i].commands);
    EXPECT_EQ(a.engines[i].bytes, b.engines[i].bytes);
    EXPECT_EQ(a.engines[i].busy, b.engines[i].busy);
    EXPECT_EQ(a.engines[i].wait_for, b.engines[i].wait_for);
    EXPECT_EQ(a.engines[i].wait_for_commands, b.engines[i].wait_for_commands);
    EXPECT_EQ(a.engines[i].finished, b.engines[i].finished);
  }
  ASSERT_EQ(a.commands_in_time.size(), b.commands_in_time.size());
  for (size_t i = 0; i < a.commands_in_time.size(); ++i) {
    const CommandReport& x = a.commands_in_time[i];
    const CommandReport& y = b.commands_in_time[i];
    ASSERT_TRUE(x.layer == y.layer && x.engine == y.engine &&
                x.offset == y.offset && x.start == y.start && x.end == y.end &&
                x.bytes == y.bytes)
        << i;
  }
  for (uint64_t CompileReport::*figure :
       {&CompileReport::compute_bound_cycles, &CompileReport::dram_bound_cycles,
        &CompileReport::layer_bound_cycles, &CompileReport::bus_busy_cycles,
        &CompileReport::dram_bytes, &CompileReport::sram_bytes,
        &CompileReport::macs, &CompileReport::weight_bytes,
        &CompileReport::region0_bytes, &CompileReport::window_bytes,
        &CompileReport::resident_weight_bytes,
        &CompileReport::copied_weight_bytes, &CompileReport::scratch_bytes,
        &CompileReport::io_bytes, &CompileReport::stream_bytes,
        &CompileReport::commands, &CompileReport::estimated_cycles,
        &CompileReport::estimated_job_cycles}) {
    EXPECT_EQ(a.*figure, b.*figure);
  }
  EXPECT_EQ(a.estimated_utilisation, b.estimated_utilisation);
  // The plan's ends are rounded.
  EXPECT_LE(b.sram_peak_bytes, a.sram_peak_bytes);
  EXPECT_GT(b.sram_peak_bytes, a.sram_peak_bytes / 2);
  EXPECT_EQ(a.host_profile, b.host_profile);
  ASSERT_EQ(a.host_nodes.size(), b.host_nodes.size());
  ExpectSameSegments(a.segments, b.segments);
}

std::string Products(int layers) {
  ModelBuilder b;
  b.Input("x0", DataType::kFloat, {16, 256});
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    b.Constant("w" + n, RandomData(DataType::kFloat, {256, 256}, i + 1));
    b.Node("MatMul", {"x" + n, "w" + n}, {"p" + n});
    b.Node("Tanh", {"p" + n}, {"x" + std::to_string(i + 1)});
  }
  b.Output("x" + std::to_string(layers));
  return b.Bytes();
}

TEST(PackageReport, OfOneStreamAndOfSeveral) {
  size_t several = 0;
  for (const std::string& model :
       {Products(12), MakeNetwork("ds_cnn"), MakeNetwork("autoencoder")}) {
    CompileOptions options;
    options.goal = Goal::kCompileTime;
    CompileResult made = Compile(model, options);
    ExpectSame(made.report, ReportOf(made.package));
    options.stream_bytes =
        std::max<uint64_t>(2048, made.report.stream_bytes / 3);
    made = Compile(model, options);
    ExpectSame(made.report, ReportOf(made.package));
    const auto package = package::Parse(made.package);
    ASSERT_TRUE(package.ok());
    several += package->streams.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(several, 0u);
}

TEST(PackageReport, OfTapsAndOtherConfigurations) {
  CompileOptions options;
  options.goal = Goal::kCompileTime;
  options.config = "h1024";
  options.taps = true;
  const CompileResult made = Compile(MakeNetwork("ds_cnn"), options);
  ExpectSame(made.report, ReportOf(made.package));
}

TEST(PackageReport, OfWeightsInHostMemory) {
  const std::string model = Products(12);
  for (const uint32_t windows : {1, 2}) {
    CompileOptions options;
    options.goal = Goal::kCompileTime;
    options.device_memory_bytes = 2 << 20;
    options.weight_windows = windows;
    const CompileResult made = Compile(model, options);
    const auto package = package::Parse(made.package);
    ASSERT_TRUE(package.ok());
    ASSERT_FALSE(package->weight_plan.empty());
    EXPECT_GT(made.report.copied_weight_bytes, 0u);
    ExpectSame(made.report, ReportOf(made.package));
  }
}

// Also of bodies that the host drives.
TEST(PackageReport, OfSegments) {
  CompileOptions options;
  options.host_nodes = true;
  options.placement = Placement::kCard;
  for (const std::string& model :
       {ChosenModel().Bytes(), RepeatedModel().Bytes(),
        DecoderModel(4).Bytes()}) {
    const CompileResult made = Compile(model, options);
    ASSERT_FALSE(made.report.segments.empty());
    const CompileReport report = ReportOf(made.package);
    ExpectSame(made.report, report);
    for (const HostNode& node : report.host_nodes) {
      EXPECT_FALSE(node.op.empty());
    }
  }
}

TEST(PackageReport, OfSeveralShapes) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {-1, 4});
  b.proto()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("n");
  b.Node("Relu", {"x"}, {"y"});
  b.Output("y");
  CompileOptions options;
  options.details = true;
  const auto set = CompileShapeSet(b.Bytes(), options, {{"n", {2, 4}}});
  ASSERT_TRUE(set.ok()) << set.status();
  const auto made =
      ReportOfFile(set->package, KeptByCaller(set->package), true);
  ASSERT_TRUE(made.ok()) << made.status();
  ExpectSame(set->largest.report, made->report);
  ASSERT_TRUE(made->set.has_value());
  EXPECT_EQ(made->set->package_bytes, set->package.size());
  EXPECT_EQ(made->set->symbols, set->symbols);
  EXPECT_EQ(made->set->padding, set->padding);
  ASSERT_EQ(made->set->specialisations.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const SpecialisationReport& x = set->specialisations[i];
    const SpecialisationReport& y = made->set->specialisations[i];
    EXPECT_EQ(x.values, y.values);
    EXPECT_EQ(x.package_bytes, y.package_bytes);
    EXPECT_EQ(x.added_bytes, y.added_bytes);
    EXPECT_EQ(x.estimated_cycles, y.estimated_cycles);
    EXPECT_EQ(x.host_nodes, y.host_nodes);
  }
}

TEST(PackageReport, OfAnotherModelOfTheCardSaysSo) {
  const CompileResult made = Compile(Products(1), {});
  auto package = package::Parse(made.package);
  ASSERT_TRUE(package.ok());
  package->estimated_cycles += 1;
  const auto report = ReportOfPackage(*package, false);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->commands_in_time.empty());
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_NE(report->notes[0].find("another model of the card"),
            std::string::npos);
}

// Parse lets these through: it does not look at commands.
TEST(PackageReport, DamagedIsAnError) {
  CompileOptions options;
  options.goal = Goal::kCompileTime;
  options.device_memory_bytes = 2 << 20;
  const CompileResult made = Compile(Products(12), options);
  const auto whole = package::Parse(made.package);
  ASSERT_TRUE(whole.ok());
  ASSERT_FALSE(whole->weight_plan.empty());
  using package::Package;
  const std::vector<std::pair<const char*, std::function<void(Package*)>>>
      damages = {
          {"no commands", [](Package* p) { p->streams.clear(); }},
          {"no end", [](Package* p) { p->streams[0].clear(); }},
          {"no end",
           [](Package* p) {
             p->streams[0].resize(p->streams[0].size() - isa::End::kWords);
           }},
          {"offset 0 of stream 0", [](Package* p) { p->streams[0][0] = ~0u; }},
          {"follows the end",
           [](Package* p) {
             isa::Append(isa::Command(isa::End()), &p->streams[0]);
           }},
          {"in time",
           [](Package* p) {
             isa::Vmac c;
             c.lanes = c.n_r1 = c.n_r2 = c.n_r3 = 65535;
             p->streams[0].clear();
             isa::Append(isa::Command(c), &p->streams[0]);
           }},
          {"pools nothing",
           [](Package* p) {
             isa::Conv c;
             c.pool = isa::PoolKind::kMax;
             p->streams[0].clear();
             isa::Append(isa::Command(c), &p->streams[0]);
           }},
          {"can never start",
           [](Package* p) {
             isa::SyncLoad c;
             c.header.wait0_enable = true;
             c.header.wait0_count = 1;
             p->streams.resize(1);
             p->streams[0].clear();
             isa::Append(isa::Command(c), &p->streams[0]);
             isa::Append(isa::Command(isa::End()), &p->streams[0]);
           }},
          {"where the plan puts none",
           [](Package* p) { p->weight_plan.copies.clear(); }},
          {"no node or engine", [](Package* p) { p->layers[0].engine = "x"; }},
          {"no node or engine", [](Package* p) { p->layers[0].node = 999; }},
          {"does not know", [](Package* p) { p->config = "h3"; }},
      };
  for (const auto& [what, damage] : damages) {
    Package package = *whole;
    damage(&package);
    const auto report = ReportOfPackage(package, true);
    ASSERT_TRUE(absl::IsInvalidArgument(report.status()))
        << what << ": " << report.status();
    EXPECT_NE(report.status().message().find(what), std::string::npos)
        << report.status();
  }
  // And of the file every end that is too early.
  for (size_t size = 0; size < made.package.size();
       size += 1 + made.package.size() / 20) {
    EXPECT_FALSE(ReportOfFile(absl::string_view(made.package).substr(0, size),
                              nullptr, true)
                     .ok());
  }
}

}  // namespace
}  // namespace heddle::compiler
