// SPDX-License-Identifier: Apache-2.0
// What heddle-run does with its arguments.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_RUNNER_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_RUNNER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/placement_option.h"
#include "tools/heddle-run/cache_option.h"
#include "tools/heddle-run/compare.h"
#include "tools/heddle-run/images.h"

namespace heddle::run {

struct Arguments {
  std::vector<std::string> command;  // the tool and its arguments, as given
  std::string model, config, core, data, taps, outputs;
  std::vector<std::string> devices;  // forms of HEDDLE_DEVICE
  bool all_devices = false;          // that they name
  std::string trace;                 // file to write
  std::vector<std::string> shapes, bounds, ranges;
  int batch = 0;            // first dimension of inputs; 0: as they are
  std::string source;       // model of a package of several shapes
  bool no_compile = false;  // of such
  ImageOptions images;
  bool pixels_given = false;  // any of images.pixels by the user
  std::string names;          // of classes: a file
  Tolerance tolerance;
  uint64_t limit = 0;  // images; 0 = all
  int bench = 0;
  double duration = 0;               // seconds of the measurement
  int warmup = -1;                   // -1: a tenth of what is measured
  int in_flight = 0;                 // 0: one, or two of each of several cards
  std::string check;                 // "", "outputs", "layers"
  std::string cycles = "estimated";  // or "exact"
  bool commands = false;             // with exact cycles
  CacheOption cache;
  cli::PlacementArguments placement;
  uint32_t host_threads = 0;  // 0: session::LoadOptions says
  double host_seconds = 0;    // for one inference; 0: no limit
  bool all_shapes = false;    // of a package that has several
  bool layers = false, no_host = false, json = false, progress = false;
};

// Whether inferences are measured.
inline bool Measures(const Arguments& arguments) {
  return arguments.bench > 0 || arguments.duration > 0;
}

// Prints results to stdout and errors to stderr; the exit code.
int Main(const Arguments& arguments);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_RUNNER_H_
