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
  std::string model, config, core, data, taps, outputs;
  std::vector<std::string> devices;  // forms of HEDDLE_DEVICE
  bool all_devices = false;          // that they name
  std::string trace;                 // file to write
  std::vector<std::string> shapes, bounds;
  std::string source;       // model of a package of several shapes
  bool no_compile = false;  // of such
  ImageOptions images;
  bool pixels_given = false;  // any of images.pixels by the user
  std::string names;          // of classes: a file
  Tolerance tolerance;
  uint64_t limit = 0;  // images; 0 = all
  int bench = 0;
  int warmup = -1;                   // -1: a tenth of bench
  int in_flight = 0;                 // 0: one, or two of each of several cards
  std::string check;                 // "", "outputs", "layers"
  std::string cycles = "estimated";  // or "exact"
  bool commands = false;             // with exact cycles
  CacheOption cache;
  cli::PlacementArguments placement;
  uint32_t host_threads = 0;  // 0: session::LoadOptions says
  double host_seconds = 0;    // for one inference; 0: no limit
  bool layers = false, no_host = false, json = false, progress = false;
};

// Prints results to stdout and errors to stderr; the exit code.
int Main(const Arguments& arguments);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_RUNNER_H_
