// SPDX-License-Identifier: Apache-2.0
// Measures single commands on the RTL core and fits the latencies of
// compiler/stream/calibration.h to them:
//
//   calibrate [--config h256] [--fit] [--worst 10] [--commands] NETWORK |
//             MODEL.onnx ...
//
// Each command of the networks runs by itself, behind a barrier. Printed are
// how far the estimate of single commands is off, by kind; with --fit the
// columns of compiler/stream/calibration.inc that come nearest, and what is off
// then.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/stream/calibration.h"
#include "compiler/stream/timeline.h"
#include "compiler/testing/networks.h"
#include "tests/lockstep/rtl_run.h"

namespace heddle::lockstep {
namespace {

// The commands of a network one after another.
struct Serial {
  package::Package package;
  // Of the streams' commands that an engine executes, in order.
  std::vector<uint64_t> measured;
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
    isa::Header& h = std::visit(
        [](auto& c) -> isa::Header& { return c.header; }, command);
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

absl::StatusOr<Serial> Measure(const std::string& name,
                               const std::string& config) {
  auto model = compiler::NetworkOrFile(name);
  if (!model.ok()) return model.status();
  compiler::CompileOptions options;
  options.config = config;
  options.open_dimensions_are_one = true;
  auto compiled = compiler::CompileOnnx(*model, options);
  if (!compiled.ok()) return compiled.status();
  Serial serial;
  serial.package = *package::Parse(compiled->package);
  for (auto& stream : serial.package.streams) {
    stream = Alone(stream, &serial.text);
  }
  auto run = RunOnCore(serial.package, InputsFor(serial.package), {});
  if (!run.ok()) return run.status();
  for (const CommandTime& c : run->commands_in_time) {
    serial.measured.push_back(c.done - c.accepted);
  }
  serial.cycles = run->cycles;
  return serial;
}

struct Estimated {
  std::vector<uint64_t> commands;
  uint64_t cycles = 0;
};

Estimated Estimate(const Serial& serial, const isa::Config& config,
                   const compiler::Calibration& calibration) {
  Estimated estimated;
  for (const auto& stream : serial.package.streams) {
    auto timeline = compiler::SimulateTimeline(
        stream, config, calibration,
        {{0, absl::MakeConstSpan(serial.package.weights)}});
    if (!timeline.ok()) continue;
    for (const compiler::TimedCommand& c : timeline->commands) {
      if (c.engine >= 0) estimated.commands.push_back(c.end - c.start);
    }
    estimated.cycles += timeline->cycles;
  }
  return estimated;
}

// What fitting makes small: the relative errors, of each different command
// once.
double Badness(const std::vector<Serial>& all, const isa::Config& config,
               const compiler::Calibration& calibration) {
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
    const double m = static_cast<double>(serial.cycles);
    sum += 20 * std::abs(static_cast<double>(estimated.cycles) - m) / m;
  }
  return sum;
}

void Fit(const std::vector<Serial>& all, const isa::Config& config,
         compiler::Calibration* calibration) {
  double best = Badness(all, config, *calibration);
  for (bool better = true; better;) {
    better = false;
    for (size_t f = 0; f < compiler::kNumCalibrationFields; ++f) {
      int64_t& value = calibration->*compiler::kCalibrationFields[f].value;
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

void Print(const std::vector<Serial>& all, const isa::Config& config,
           const compiler::Calibration& calibration, size_t worst,
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
      const std::string line =
          absl::StrFormat("%7.0f %7.0f %+6.1f %%  %s", m, e,
                          100 * (e / m - 1), serial.text[i]);
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
  for (const auto& [kind, s] : kinds) {
    std::printf("%-14s %7zu %12.0f %+7.2f %% %7.2f %%\n", kind.c_str(), s.n,
                s.measured, 100 * (s.estimated / s.measured - 1),
                100 * s.absolute / s.measured);
  }
  std::sort(offs.begin(), offs.end(),
            [](const Off& a, const Off& b) { return a.error > b.error; });
  for (size_t i = 0; i < std::min(worst, offs.size()); ++i) {
    std::printf("%s\n", offs[i].line.c_str());
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Single commands on the RTL core");
  std::vector<std::string> names, configs = {isa::kConfigs[0].name};
  bool fit = false, commands = false;
  size_t worst = 10;
  app.add_option("--config", configs, "hardware configurations");
  app.add_flag("--fit", fit, "fit the latencies");
  app.add_flag("--commands", commands, "print every command");
  app.add_option("--worst", worst, "print so many commands");
  app.add_option("names", names, "networks or model files")->required();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& name : configs) {
    const isa::Config* config = isa::FindConfig(name);
    if (config == nullptr) return 2;
    std::vector<Serial> all;
    for (const std::string& network : names) {
      auto serial = Measure(network, name);
      if (!serial.ok()) {
        std::fprintf(stderr, "%s: %s\n", network.c_str(),
                     std::string(serial.status().message()).c_str());
        return 1;
      }
      all.push_back(std::move(*serial));
    }
    compiler::Calibration calibration = compiler::CalibrationOf(*config);
    if (fit) Fit(all, *config, &calibration);
    std::printf("%s\n", name.c_str());
    Print(all, *config, calibration, worst, commands);
    std::string row = "    {";
    for (size_t f = 0; f < compiler::kNumCalibrationFields; ++f) {
      absl::StrAppend(&row, f > 0 ? ", " : "",
                      calibration.*compiler::kCalibrationFields[f].value);
    }
    std::printf("%s},\n", row.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace heddle::lockstep

int main(int argc, char** argv) { return heddle::lockstep::Main(argc, argv); }
