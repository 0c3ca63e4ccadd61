// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/profile.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heddle::run {
namespace {

using isa::Engine;
using nlohmann::json;

// Two layers of two nodes: stream 0 loads, convolves and stores, stream 1
// loads.
struct Case {
  Case() {
    package.model_name = "net";
    package.config = "h256";
    package.nodes = {"conv \"1\"", "pool"};
    package.layers.resize(2);
    package.layers[1].node = 1;
    streams = {{{0, 0, Engine::kLoad, "load", false},
                {64, 0, Engine::kMatrix, "conv", false},
                {128, 0, Engine::kMatrix, "conv", false},
                {192, 1, Engine::kStore, "store", false}},
               {{0, 1, Engine::kLoad, "load", false}}};
    Add(0, 0, 1000, 1100, {{"device memory", 30}, {"SRAM", 4}});
    Add(0, 1, 1010, 1300, {{"weights", 5}, {"activations", 80}, {"output", 0}});
    // Taken while the one before is executed.
    Add(0, 2, 1050, 1400, {{"weights", 1}, {"activations", 2}, {"output", 3}});
    Add(0, 3, 1380, 1450, {{"device memory", 7}, {"SRAM", 0}});
    Add(1, 0, 1600, 1700, {{"device memory", 1}, {"SRAM", 1}});
  }
  void Add(uint32_t stream, size_t i, uint64_t begin, uint64_t end,
           std::vector<session::Stall> stalls) {
    const timing::StreamCommand& c = streams[stream][i];
    session::TracedCommand t;
    t.stream = stream;
    t.offset = c.offset;
    t.tag = c.tag;
    t.engine = c.engine;
    t.begin = begin;
    t.end = end;
    t.stalls = std::move(stalls);
    trace.commands.push_back(t);
  }
  absl::StatusOr<Profile> Make(const CommandTimes* recorded = nullptr,
                               const CommandTimes* estimated = nullptr) const {
    return MakeProfile(package, streams, trace, recorded, estimated);
  }
  json Chrome() const {
    const auto profile = Make();
    EXPECT_TRUE(profile.ok()) << profile.status();
    session::DeviceDescription device;
    device.id = "sim#0";
    device.core = "rtl";
    return json::parse(ChromeTrace(package, device, *profile));
  }

  package::Package package;
  StreamCommands streams;
  session::RunTrace trace;
};

TEST(Profile, AddsUpEngines) {
  const auto profile = Case().Make();
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->source, TimeSource::kCounted);
  EXPECT_EQ(profile->begin, 1000u);
  EXPECT_EQ(profile->cycles(), 700u);
  const EngineProfile& load = profile->engines[0];
  EXPECT_EQ(load.commands, 2u);
  EXPECT_EQ(load.cycles, 200u);
  ASSERT_EQ(load.stalls.size(), 2u);
  EXPECT_EQ(load.stalls[0].cycles, 31u);
  const EngineProfile& matrix = profile->engines[2];
  EXPECT_EQ(matrix.cycles, 390u) << "what two commands share counts once";
  EXPECT_STREQ(matrix.stalls[1].reason, "activations");
  EXPECT_EQ(matrix.stalls[1].cycles, 82u);
  EXPECT_EQ(profile->engines[3].commands, 0u);
}

TEST(Profile, LayersAddUpToTheWhole) {
  const auto profile = Case().Make();
  ASSERT_TRUE(profile.ok());
  ASSERT_EQ(profile->layers.size(), 2u);
  EXPECT_EQ(profile->layers[0].name, "conv \"1\"");
  EXPECT_EQ(profile->layers[0].cycles, 400u);
  EXPECT_EQ(profile->layers[1].name, "pool");
  EXPECT_EQ(profile->layers[1].cycles, 300u);
}

TEST(Profile, TakesTheTimesOfARecord) {
  Case c;
  c.trace.estimated = true;
  for (session::TracedCommand& t : c.trace.commands) t.begin = t.end = 0;
  timing::Replay replay;
  replay.stream_starts = {0, 500};
  for (uint32_t s : {0, 1}) {
    for (const timing::StreamCommand& command : c.streams[s]) {
      timing::ReplayedCommand r;
      r.stream = s;
      r.offset = command.offset;
      r.begin = 10 + command.offset;
      r.end = 40 + command.offset;
      replay.commands.push_back(r);
    }
  }
  CommandTimes times = RecordedTimes(replay);
  auto profile = c.Make(&times);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->source, TimeSource::kRecorded);
  ASSERT_EQ(profile->commands.size(), 5u);
  EXPECT_EQ(profile->commands[3].traced.begin, 202u);
  EXPECT_EQ(profile->commands[4].traced.begin, 510u);
  EXPECT_EQ(profile->commands[4].traced.end, 540u);
  EXPECT_TRUE(profile->engines[0].stalls.empty());
  // A command without a time.
  times.erase({1, 0});
  profile = c.Make(&times);
  EXPECT_EQ(profile.status().code(), absl::StatusCode::kDataLoss);
}

TEST(Profile, ZerosAreNoTimes) {
  Case c;
  CommandTimes estimate;
  for (const session::TracedCommand& t : c.trace.commands) {
    estimate[{t.stream, t.offset}] = {t.begin + 7, t.end + 9};
  }
  // Only they give way to an estimate.
  EXPECT_EQ(c.Make(nullptr, &estimate)->begin, 1000u);
  EXPECT_EQ(c.Make(nullptr, &estimate)->source, TimeSource::kCounted);
  c.trace.estimated = true;
  EXPECT_EQ(c.Make(nullptr, &estimate)->begin, 1000u);
  EXPECT_EQ(c.Make(nullptr, &estimate)->source, TimeSource::kEstimated);
  for (session::TracedCommand& t : c.trace.commands) t.begin = t.end = 0;
  const auto estimated = c.Make(nullptr, &estimate);
  ASSERT_TRUE(estimated.ok()) << estimated.status();
  EXPECT_EQ(estimated->source, TimeSource::kEstimated);
  EXPECT_EQ(estimated->begin, 1007u);
  EXPECT_EQ(estimated->end, 1709u);
  EXPECT_TRUE(estimated->commands[0].traced.stalls.empty());
  const auto none = c.Make();
  EXPECT_EQ(none.status().code(), absl::StatusCode::kFailedPrecondition);
  for (const char* way_out :
       {"--core rtl", "--cycles exact", "heddle-timing"}) {
    EXPECT_NE(none.status().message().find(way_out), absl::string_view::npos)
        << none.status();
  }
}

TEST(Profile, RefusesCommandsThatAreNotThePackages) {
  for (int what = 0; what < 4; ++what) {
    Case c;
    session::TracedCommand& t = c.trace.commands[1];
    if (what == 0) t.offset = 65;
    if (what == 1) t.tag = 1;
    if (what == 2) t.engine = Engine::kVector;
    if (what == 3) t.stream = 2;
    EXPECT_EQ(c.Make().status().code(), absl::StatusCode::kDataLoss) << what;
  }
}

TEST(Profile, TextSaysWhatIsMissingAndWhoseTimesTheyAre) {
  Case c;
  std::string text = ProfileText(*c.Make(), "t.json", 0);
  EXPECT_NE(text.find("t.json: 5 commands in 700 cycles (counted by the card)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("weights 6, activations 82, output 3"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("LOST"), std::string::npos);
  EXPECT_EQ(text.find("that the card counts"), std::string::npos);
  // Other places give the card's number of commands.
  EXPECT_NE(ProfileText(*c.Make(), "t.json", 6)
                .find("of 6 that the card counts: the other 1 only controls a "
                      "stream, such as end\n"),
            std::string::npos);
  EXPECT_NE(ProfileText(*c.Make(), "t.json", 7)
                .find("of 7 that the card counts: the other 2 only control "),
            std::string::npos);
  c.trace.lost_for_room = 12;
  c.trace.lost_by_card = 3;
  c.trace.estimated = true;
  text = ProfileText(*c.Make(), "t.json", 0);
  EXPECT_NE(text.find("LOST        the last 12 commands: a trace has room for "
                      "8"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("LOST        3 commands, which the card could not write"),
            std::string::npos);
  EXPECT_NE(text.find("ESTIMATED: the card's core has no timing; --core rtl"),
            std::string::npos);
}

TEST(ChromeTrace, HasARowPerEngine) {
  const json trace = Case().Chrome();
  std::map<int, std::string> rows;
  std::map<int, std::vector<json>> events;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["name"] == "thread_name") {
      rows[event["tid"]] = event["args"]["name"];
    }
    if (event["ph"] == "X") events[event["tid"]].push_back(event);
  }
  EXPECT_EQ(rows,
            (std::map<int, std::string>{
                {1, "load"}, {2, "store"}, {3, "matrix"}, {4, "vector"}}));
  ASSERT_EQ(events[3].size(), 2u);
  const json& conv = events[3][1];
  EXPECT_EQ(conv["name"], "conv \"1\"");
  EXPECT_EQ(conv["cat"], "conv");
  // Microseconds at 1000 MHz; behind the command before.
  EXPECT_DOUBLE_EQ(conv["ts"], 1.3);
  EXPECT_DOUBLE_EQ(conv["dur"], 0.1);
  EXPECT_EQ(conv["args"]["begin"], 1050);
  EXPECT_EQ(conv["args"]["end"], 1400);
  EXPECT_EQ(conv["args"]["stalls"],
            (json{{"weights", 1}, {"activations", 2}, {"output", 3}}));
  EXPECT_EQ(events[2][0]["name"], "pool");
  EXPECT_EQ(trace["otherData"]["times"], "counted");
  EXPECT_EQ(trace["otherData"]["cycles"], 700);
}

TEST(ChromeTrace, NamesThatAreNoUtf8AreReplaced) {
  Case c;
  c.package.nodes[0] = "\xff";
  EXPECT_EQ(c.Chrome()["traceEvents"].size(), 10u);
}

}  // namespace
}  // namespace heddle::run
