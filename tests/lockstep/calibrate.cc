// SPDX-License-Identifier: Apache-2.0
// Measures single commands on the RTL core and fits the latencies of
// simulator/timing/calibration.h to them:
//
//   calibrate [--config h256] [--fit] [--worst 10] [--commands] [--pairs]
//             [--whole] [--max-error 3] NETWORK | MODEL.onnx | random:SEED ...
//
// Each command of the networks runs by itself, behind a barrier. Printed are
// how far the estimate of single commands is off, by kind; with --pairs of a
// command of the vector or matrix engine beside a load, a store, or one of the
// other. --fit takes both and prints the row of
// simulator/timing/calibration.inc that comes nearest, and what is off then.
// --whole compares the network as it is and prints the commands that end so
// much later or earlier than those before them let expect (--worst cycles).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/testing/networks.h"
#include "compiler/testing/random_network.h"
#include "simulator/timing/calibration.h"
#include "simulator/timing/timeline.h"
#include "tests/lockstep/rtl_run.h"

namespace heddle::lockstep {
namespace {

// A network by name, a model file, or "random:SEED" (random_network.h).
absl::StatusOr<compiler::RandomNetwork> Compiled(const std::string& name,
                                                 const std::string& config) {
  uint64_t seed = 0;
  if (absl::StartsWith(name, "random:") &&
      absl::SimpleAtoi(name.substr(7), &seed)) {
    return compiler::MakeRandomNetwork(seed, config);
  }
  auto model = compiler::NetworkOrFile(name);
  if (!model.ok()) return model.status();
  compiler::CompileOptions options;
  options.config = config;
  options.open_dimensions_are_one = true;
  auto compiled = compiler::CompileOnnx(*model, options);
  if (!compiled.ok()) return compiled.status();
  compiler::RandomNetwork network;
  network.package = *package::Parse(compiled->package);
  network.inputs = InputsFor(network.package);
  return network;
}

// The commands of a network one after another.
struct Serial {
  package::Package package;
  // Of the streams' commands that an engine executes, in order.
  std::vector<uint64_t> measured;
  // From the end of all before to the acceptance; at last from there to the end
  // of the stream.
  std::vector<int64_t> between;
  std::vector<std::string> text;
  uint64_t cycles = 0;
};

// A stream without waits and signals, each command behind a barrier. Commands
// that only synchronise are left out, and with `seen` those that have been
// before.
std::vector<uint32_t> Alone(const std::vector<uint32_t>& words,
                            std::vector<std::string>* text) {
  std::vector<uint32_t> alone;
  const auto append = [&](const isa::Command& command) {
    alone.resize(alone.size() + isa::WordsOf(command));
    uint32_t* to = &alone[alone.size() - isa::WordsOf(command)];
    std::visit([&](const auto& c) { c.Encode(to); }, command);
  };
  for (size_t at = 0; at < words.size();) {
    isa::Command command = *isa::DecodeAny(&words[at], words.size() - at);
    at += isa::WordsOf(command);
    isa::Header& h =
        std::visit([](auto& c) -> isa::Header& { return c.header; }, command);
    h.wait0_enable = h.wait1_enable = h.signal0_enable = h.signal1_enable =
        false;
    h.wait0_sem = h.wait1_sem = h.signal0_sem = h.signal1_sem = 0;
    h.wait0_count = h.wait1_count = h.signal0_count = h.signal1_count = 1;
    const bool sync = std::holds_alternative<isa::SyncLoad>(command) ||
                      std::holds_alternative<isa::SyncStore>(command) ||
                      std::holds_alternative<isa::SyncMatrix>(command) ||
                      std::holds_alternative<isa::SyncVector>(command) ||
                      std::holds_alternative<isa::Barrier>(command);
    if (sync) continue;
    append(command);
    if (std::holds_alternative<isa::End>(command)) break;
    append(isa::Barrier());
    text->push_back(isa::ToString(command));
  }
  return alone;
}

// Commands of the vector and the matrix engine beside a load and a store, and
// of both beside each other: the load and the store go between the end of SRAM
// and regions, what they move is of no interest.
std::vector<uint32_t> Pairs(const package::Package& package,
                            const isa::Config& config,
                            std::vector<std::string>* text) {
  std::vector<uint32_t> pairs;
  const auto append = [&](isa::Command command) {
    pairs.resize(pairs.size() + isa::WordsOf(command));
    uint32_t* to = &pairs[pairs.size() - isa::WordsOf(command)];
    std::visit([&](const auto& c) { c.Encode(to); }, command);
    if (!std::holds_alternative<isa::Barrier>(command) &&
        !std::holds_alternative<isa::End>(command)) {
      text->push_back(isa::ToString(command));
    }
  };
  std::vector<std::string> ignored;
  const std::vector<uint32_t> alone = Alone(package.streams[0], &ignored);
  auto timeline = timing::SimulateTimeline(
      alone, config, {{0, absl::MakeConstSpan(package.weights)}});
  if (!timeline.ok()) return pairs;
  std::map<std::pair<int, uint64_t>, int> seen;
  std::vector<std::pair<isa::Command, uint64_t>> of[2];  // vector, matrix
  for (const timing::TimedCommand& c : timeline->commands) {
    if (c.engine < 0) continue;
    const isa::Command command =
        *isa::DecodeAny(&alone[c.offset / 4], alone.size() - c.offset / 4);
    const uint64_t cycles = c.end - c.start;
    const bool plain = std::holds_alternative<isa::Load>(command) &&
                       of[0].empty() && of[1].empty();
    if (plain) {  // microprograms
      append(command);
      append(isa::Barrier());
    }
    if (c.engine < 2 || cycles < 300 || cycles > 20000) continue;
    if (++seen[{c.engine, cycles / 20}] > 1) continue;
    of[c.engine == 2].push_back({command, cycles});
  }
  const auto moved = [&](auto c, uint32_t region, uint64_t bytes,
                         uint64_t cycles) {
    c.region = region;
    c.elem_log2 = 4;
    c.n0 = static_cast<uint32_t>(std::min<uint64_t>(
        {cycles, bytes / 16, uint64_t{config.sram_bytes} / 16 / 8}));
    c.s0 = c.t0 = 16;
    c.sram_addr = config.sram_bytes - 16 * c.n0;
    return c;
  };
  for (auto& list : of) {
    if (list.size() > 30) list.resize(30);
    for (const auto& [command, cycles] : list) {
      append(isa::Barrier());
      append(command);
      append(moved(isa::Load(), 0, package.weights.size(), cycles));
      append(isa::Barrier());
      append(command);
      append(moved(isa::Store(), 2, package.io_bytes, cycles));
    }
  }
  for (size_t i = 0; i < of[0].size(); ++i) {
    for (const auto& [matrix, cycles] : of[1]) {
      if (cycles < of[0][i].second) continue;
      append(isa::Barrier());
      append(matrix);
      append(of[0][i].first);
      if (i % 4 != 0) break;
    }
  }
  append(isa::Barrier());
  append(isa::End());
  return pairs;
}

absl::StatusOr<Serial> Measure(const std::string& name,
                               const std::string& config, bool pairs) {
  auto network = Compiled(name, config);
  if (!network.ok()) return network.status();
  Serial serial;
  serial.package = std::move(network->package);
  if (pairs) {
    serial.package.streams[0] =
        Pairs(serial.package, *isa::FindConfig(config), &serial.text);
  }
  for (auto& stream : serial.package.streams) {
    if (!pairs) stream = Alone(stream, &serial.text);
  }
  auto run = RunOnCore(serial.package, network->inputs, {});
  if (!run.ok()) return run.status();
  uint64_t end[4] = {0, 0, 0, 0};  // as TimedCommand::start counts
  uint64_t latest = 0;
  for (const CommandTime& c : run->commands_in_time) {
    serial.measured.push_back(c.done - std::max(c.accepted, end[c.engine]));
    end[c.engine] = c.done;
    serial.between.push_back(static_cast<int64_t>(c.accepted - latest));
    latest = std::max(latest, c.done);
  }
  serial.between.push_back(static_cast<int64_t>(run->cycles - latest));
  serial.cycles = run->cycles;
  return serial;
}

struct Estimated {
  std::vector<uint64_t> commands;
  std::vector<int64_t> between;
  uint64_t cycles = 0;
};

Estimated Estimate(const Serial& serial, const isa::Config& config,
                   const timing::Calibration& calibration) {
  Estimated estimated;
  for (const auto& stream : serial.package.streams) {
    auto timeline = timing::SimulateTimeline(
        stream, config, calibration,
        {{0, absl::MakeConstSpan(serial.package.weights)}});
    if (!timeline.ok()) continue;
    uint64_t latest = 0;
    for (const timing::TimedCommand& c : timeline->commands) {
      if (c.engine < 0) continue;
      estimated.commands.push_back(c.end - c.start);
      estimated.between.push_back(static_cast<int64_t>(c.start - latest));
      latest = std::max(latest, c.end);
    }
    estimated.between.push_back(
        static_cast<int64_t>(timeline->cycles - latest));
    estimated.cycles += timeline->cycles;
  }
  return estimated;
}

// What fitting makes small: the relative errors, of each different command
// once.
double Badness(const std::vector<Serial>& all, const isa::Config& config,
               const timing::Calibration& calibration) {
  double sum = 0;
  for (const Serial& serial : all) {
    const Estimated estimated = Estimate(serial, config, calibration);
    std::map<std::string, int> seen;
    for (size_t i = 0; i < serial.measured.size(); ++i) {
      const double m = static_cast<double>(serial.measured[i]);
      const double e = static_cast<double>(estimated.commands[i]);
      const int times =
          ++seen[absl::StrCat(serial.text[i].substr(0, 6), serial.measured[i])];
      if (times > 3) continue;
      sum += std::abs(e - m) / (m + 50);
    }
    const size_t last = serial.between.size() - 1;
    for (size_t i : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, last}) {
      sum += static_cast<double>(
                 std::abs(serial.between[i] - estimated.between[i])) /
             100;
    }
  }
  return sum;
}

void Fit(const std::vector<Serial>& all, const isa::Config& config,
         timing::Calibration* calibration) {
  double best = Badness(all, config, *calibration);
  for (bool better = true; better;) {
    better = false;
    for (size_t f = 0; f < timing::kNumCalibrationFields; ++f) {
      int64_t& value = calibration->*timing::kCalibrationFields[f].value;
      for (int64_t step : {8, 4, 2, 1}) {
        for (int64_t sign : {1, -1}) {
          while (true) {
            const int64_t before = value;
            value = std::max<int64_t>(0, value + sign * step);
            const double now = Badness(all, config, *calibration);
            if (now + 1e-9 >= best) {
              value = before;
              break;
            }
            best = now;
            better = true;
          }
        }
      }
    }
  }
}

// The largest error of a kind of command, percent of its cycles.
double Print(const std::vector<Serial>& all, const isa::Config& config,
             const timing::Calibration& calibration, size_t worst,
             bool commands) {
  struct Sum {
    size_t n = 0;
    double measured = 0, estimated = 0, absolute = 0;
  };
  std::map<std::string, Sum> kinds;
  struct Off {
    double error;
    std::string line;
  };
  std::vector<Off> offs;
  for (const Serial& serial : all) {
    const Estimated estimated = Estimate(serial, config, calibration);
    std::set<std::string> seen;
    for (size_t i = 0; i < serial.measured.size(); ++i) {
      const double m = static_cast<double>(serial.measured[i]);
      const double e = static_cast<double>(estimated.commands[i]);
      Sum& sum = kinds[serial.text[i].substr(0, serial.text[i].find(' '))];
      ++sum.n;
      sum.measured += m;
      sum.estimated += e;
      sum.absolute += std::abs(e - m);
      const std::string line = absl::StrFormat(
          "%7.0f %7.0f %+6.1f %%  %s", m, e, 100 * (e / m - 1), serial.text[i]);
      if (commands) std::printf("%s\n", line.c_str());
      if (seen.insert(line.substr(0, 60)).second) {
        offs.push_back({std::abs(e - m) / (m + 50), line});
      }
    }
    std::printf("%s: %zu cycles, estimated %zu, error %+.2f %%\n",
                serial.package.model_name.c_str(), size_t(serial.cycles),
                size_t(estimated.cycles),
                100.0 * (static_cast<double>(estimated.cycles) /
                             static_cast<double>(serial.cycles) -
                         1));
  }
  std::printf("%-14s %7s %12s %9s %9s\n", "command", "number", "cycles",
              "error", "absolute");
  double largest = 0;
  for (const auto& [kind, s] : kinds) {
    largest = std::max(largest, 100 * s.absolute / s.measured);
    std::printf("%-14s %7zu %12.0f %+7.2f %% %7.2f %%\n", kind.c_str(), s.n,
                s.measured, 100 * (s.estimated / s.measured - 1),
                100 * s.absolute / s.measured);
  }
  std::sort(offs.begin(), offs.end(),
            [](const Off& a, const Off& b) { return a.error > b.error; });
  for (size_t i = 0; i < std::min(worst, offs.size()); ++i) {
    std::printf("%s\n", offs[i].line.c_str());
  }
  return largest;
}

// A network as it is: commands beside each other, against the timeline.
int Whole(const std::string& name, const std::string& config, size_t worst) {
  auto network = Compiled(name, config);
  if (!network.ok()) return 1;
  const package::Package& package = network->package;
  auto run = RunOnCore(package, network->inputs, {});
  auto timeline =
      timing::SimulateTimeline(package.streams[0], *isa::FindConfig(config),
                               {{0, absl::MakeConstSpan(package.weights)}});
  if (!run.ok() || !timeline.ok()) return 1;
  std::printf("%s: %zu cycles, estimated %zu, error %+.2f %%\n", name.c_str(),
              size_t(run->cycles), size_t(timeline->cycles),
              100.0 * (static_cast<double>(timeline->cycles) /
                           static_cast<double>(run->cycles) -
                       1));
  std::vector<timing::TimedCommand> timed;
  for (const timing::TimedCommand& c : timeline->commands) {
    if (c.engine >= 0) timed.push_back(c);
  }
  std::printf("%9s %9s %9s %9s %6s\n", "accepted", "done", "estimate", "end",
              "longer");
  int64_t last = 0;
  for (size_t i = 0; i < timed.size(); ++i) {
    const CommandTime& m = run->commands_in_time[i];
    const timing::TimedCommand& e = timed[i];
    // How much later this one ends, compared with those before.
    const auto late = static_cast<int64_t>(m.done - e.end);
    if (std::llabs(late - last) >= static_cast<int64_t>(worst)) {
      std::printf("%9zu %9zu %9zu %9zu %+6zd %s %s\n", size_t(m.accepted),
                  size_t(m.done), size_t(e.start), size_t(e.end),
                  static_cast<ssize_t>(late - last),
                  timing::EngineName(e.engine),
                  isa::ToString(
                      *isa::DecodeAny(&package.streams[0][e.offset / 4],
                                      package.streams[0].size() - e.offset / 4))
                      .c_str());
    }
    last = late;
  }
  return 0;
}

int Main(int argc, char** argv) {
  CLI::App app("Single commands on the RTL core");
  std::vector<std::string> names, configs = {isa::kConfigs[0].name};
  bool fit = false, commands = false, whole = false, pairs = false;
  size_t worst = 10;
  double max_error = 0;
  bool good = true;
  app.add_option("--max-error", max_error,
                 "fail when the commands of a kind are further off, percent");
  app.add_option("--config", configs,
                 "hardware configuration; several with commas, or again")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--fit", fit, "fit the latencies");
  app.add_flag("--pairs", pairs, "two commands beside each other");
  app.add_flag("--whole", whole, "the networks as they are");
  app.add_flag("--commands", commands, "print every command");
  app.add_option("--worst", worst, "print so many commands");
  app.add_option("names", names, "networks or model files")->required();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& name : configs) {
    const isa::Config* config = isa::FindConfig(name);
    if (config == nullptr) return 2;
    std::vector<Serial> all;
    for (const std::string& network : names) {
      if (whole) {
        if (Whole(network, name, worst) != 0) return 1;
        continue;
      }
      for (const bool beside : {false, true}) {
        if (!fit && beside != pairs) continue;
        auto serial = Measure(network, name, beside);
        if (!serial.ok()) {
          std::fprintf(stderr, "%s: %s\n", network.c_str(),
                       std::string(serial.status().message()).c_str());
          return 1;
        }
        all.push_back(std::move(*serial));
      }
    }
    if (whole) continue;
    timing::Calibration calibration = timing::CalibrationOf(*config);
    if (fit) Fit(all, *config, &calibration);
    std::printf("%s\n", name.c_str());
    const double error = Print(all, *config, calibration, worst, commands);
    if (max_error > 0 && error > max_error) {
      std::fprintf(stderr, "%s: commands of a kind are off by %.2f %%\n",
                   name.c_str(), error);
      good = false;
    }
    std::string row = "    {";
    for (size_t f = 0; f < timing::kNumCalibrationFields; ++f) {
      absl::StrAppend(&row, f > 0 ? ", " : "",
                      calibration.*timing::kCalibrationFields[f].value);
    }
    std::printf("%s},\n", row.c_str());
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace heddle::lockstep

int main(int argc, char** argv) { return heddle::lockstep::Main(argc, argv); }
