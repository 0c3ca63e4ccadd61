// SPDX-License-Identifier: Apache-2.0
// heddle-run --trace on the functional and on the verilated card: the commands
// of the trace are those of the package, in the file as in the report.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/package/package.h"
#include "tests/e2e/product.h"
#include "tools/heddle-timing/stream_commands.h"

namespace heddle::tests {
namespace {

using nlohmann::json;

// Stream, offset, tag, mnemonic, row.
using Command = std::tuple<uint64_t, uint64_t, uint64_t, std::string, int>;

std::vector<Command> CommandsOf(const std::string& package_file) {
  std::vector<Command> commands;
  const auto package = package::Parse(ReadFileOrDie(package_file));
  EXPECT_TRUE(package.ok()) << package.status();
  if (!package.ok()) return commands;
  for (size_t s = 0; s < package->streams.size(); ++s) {
    const auto stream = timing::EngineCommands(package->streams[s]);
    EXPECT_TRUE(stream.ok()) << stream.status();
    for (const timing::StreamCommand& c : *stream) {
      commands.emplace_back(s, c.offset, c.tag, c.mnemonic,
                            static_cast<int>(c.engine));
    }
  }
  return commands;
}

class TraceFile : public testing::Test {
 protected:
  void SetUp() override {
    package_ = folder_ / "digits.hpk";
    ASSERT_EQ(HeddleCompile({Digits("digits_int8.onnx"), "-o", package_}).code,
              0);
  }
  // Runs the package; the file as JSON. Reports to report_.
  json Trace(const std::string& core) {
    const std::string file = folder_ / (core + ".json");
    const Finished run =
        HeddleRun({package_, "--core", core, "--trace", file, "--json"},
                  SimDevice("h256"));
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    if (run.code != 0) return nullptr;
    report_ = json::parse(run.out);
    return json::parse(ReadFileOrDie(file));
  }
  void ExpectThePackagesCommands(const json& trace, const char* times) {
    std::vector<Command> found;
    std::map<int, double> end;  // of each row, so far
    for (const json& e : trace.at("traceEvents")) {
      if (e.at("ph") != "X") continue;
      const json& args = e.at("args");
      const int row = e.at("tid");
      found.emplace_back(args.at("stream"), args.at("offset"), args.at("tag"),
                         args.at("command").get<std::string>(), row);
      // Events of a row follow one another, and cover what the command took.
      EXPECT_GE(e.at("ts").get<double>(), end[row] - 1e-6) << e;
      end[row] = e.at("ts").get<double>() + e.at("dur").get<double>();
      EXPECT_NEAR(end[row] * 1000, args.at("end").get<double>(), 1e-3) << e;
      EXPECT_GT(args.at("end"), args.at("begin")) << e;
      EXPECT_EQ(e.at("name"), args.at("layer"));
    }
    std::vector<Command> expected = CommandsOf(package_);
    ASSERT_GT(expected.size(), 10u);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(found, expected);
    EXPECT_EQ(trace.at("otherData").at("times"), times);
    // The report is of the same.
    const json& report = report_.at("trace");
    EXPECT_EQ(report.at("times"), times);
    EXPECT_EQ(report.at("commands"), expected.size());
    EXPECT_EQ(report.at("cycles"), trace.at("otherData").at("cycles"));
    EXPECT_EQ(report.at("lost_for_room"), 0);
    EXPECT_EQ(report.at("lost_by_card"), 0);
    uint64_t layers = 0;
    for (const json& layer : report.at("layers")) {
      layers += layer.at("cycles").get<uint64_t>();
    }
    EXPECT_EQ(layers, report.at("cycles"));
  }

  TempFolder folder_;
  std::string package_;
  json report_;
};

TEST_F(TraceFile, OfTheVerilatedCard) {
  const json trace = Trace("rtl");
  ASSERT_TRUE(trace.is_object());
  ExpectThePackagesCommands(trace, "counted");
  // Inside the job, of whose cycles the card counts those with a command; an
  // engine stalls no longer than it works.
  EXPECT_LE(report_["trace"]["cycles"], report_["cycles"]);
  uint64_t stalls = 0;
  for (const json& engine : report_["trace"]["engines"]) {
    uint64_t waited = 0;
    for (const auto& [reason, cycles] : engine.at("stalls").items()) {
      waited += cycles.get<uint64_t>();
    }
    EXPECT_LE(waited, engine.at("cycles").get<uint64_t>()) << engine;
    stalls += waited;
  }
  EXPECT_GT(stalls, 0u) << "nobody waits for anything";
}

TEST_F(TraceFile, OfTheFunctionalCard) {
  const json trace = Trace("fast");
  ASSERT_TRUE(trace.is_object());
  ExpectThePackagesCommands(trace, "estimated");
  // As the compiler estimates the package.
  const double cycles = report_["trace"]["cycles"];
  EXPECT_NEAR(cycles / report_["cycles"].get<double>(), 1, 0.1);
}

// The estimate is near what the RTL counts: as a whole, and of each engine. Of
// the int8 model's 3,600 cycles a ninth are waits of one load at banks of SRAM
// that the matrix engine reads in step with it, which the model does not know.
TEST_F(TraceFile, OfTheFunctionalCardIsNearTheVerilatedOne) {
  const struct {
    const char* model;
    double whole, engine;  // distance
  } kCases[] = {
      {"digits_int8.onnx", 0.12, 0.18},
      {"digits_fp32.onnx", 0.05, 0.1},
  };
  for (const auto& c : kCases) {
    ASSERT_EQ(HeddleCompile({Digits(c.model), "-o", package_}).code, 0);
    ASSERT_TRUE(Trace("rtl").is_object());
    const json counted = report_.at("trace");
    ASSERT_TRUE(Trace("fast").is_object());
    const json estimated = report_.at("trace");
    const auto expect_near = [&c](const json& a, const json& b, double distance,
                                  const std::string& what) {
      const double ratio = (a.at("cycles").get<double>() + 1) /
                           (b.at("cycles").get<double>() + 1);
      std::cout << c.model << " " << what << ": " << a.at("cycles") << " of "
                << b.at("cycles") << " cycles\n";
      EXPECT_NEAR(ratio, 1, distance) << a << "\n" << b;
    };
    expect_near(estimated, counted, c.whole, "in all");
    for (size_t e = 0; e < counted.at("engines").size(); ++e) {
      const json& mine = estimated["engines"][e];
      EXPECT_EQ(mine.at("commands"), counted["engines"][e].at("commands"));
      expect_near(mine, counted["engines"][e], c.engine, mine.at("engine"));
      uint64_t waited = 0;
      for (const auto& [reason, cycles] : mine.at("stalls").items()) {
        waited += cycles.get<uint64_t>();
      }
      EXPECT_LE(waited, mine.at("cycles").get<uint64_t>()) << mine;
    }
  }
}

}  // namespace
}  // namespace heddle::tests
