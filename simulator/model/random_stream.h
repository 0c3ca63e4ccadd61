// SPDX-License-Identifier: Apache-2.0
// Seeded random race-free legal streams, for tests of anything that executes or
// checks streams: the model's implementations, RTL lockstep, the validator.
#ifndef HEDDLE_SIMULATOR_MODEL_RANDOM_STREAM_H_
#define HEDDLE_SIMULATOR_MODEL_RANDOM_STREAM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "simulator/model/model.h"
#include "simulator/model/random_command.h"

namespace heddle::model {

struct RandomStreamOptions {
  isa::Config config = isa::kH256;
  uint64_t seed = 1;
  // Commands besides those that load the SRAM, synchronise and end.
  int commands = 40;
  // Bytes of region 0 (read-only) and of region 1 (writable).
  uint64_t region_bytes = 64 * 1024;
  // Regions 0 and 1 are longer by so many bytes, of which nothing is touched:
  // every offset is larger by it, and device memory begins there.
  uint64_t region_shift = 0;
  // Kinds to take, by prefix of their names ("conv", "vmac"); empty = all.
  std::vector<std::string> kinds;
  // Numbers of regions and semaphores, counts and tags vary, too, and there are
  // nops.
  bool vary = false;
  // The commands in several streams, one run behind the other without clearing:
  // the later ones find SRAM and accumulators as the earlier ones left them.
  int streams = 1;
  // If set, asked for each command first, with the SRAM that the stream loads;
  // it gives one that CommandGenerator could have made, or none.
  std::function<std::optional<isa::Command>(CommandGenerator*,
                                            const std::vector<uint8_t>& sram)>
      choose;
};

struct RandomStream {
  std::vector<uint32_t> words;
  std::vector<std::vector<uint32_t>> following;  // further streams
  // Region 0 and 1 as in the options (with `vary` they have other numbers);
  // region 2 holds what the stream loads into SRAM first, so it depends on
  // nothing that was there.
  RegionTable regions = {};
  std::vector<uint8_t> dram;  // device memory from address dram_at on
  uint64_t dram_at = 0;       // options.region_shift
  // How often each kind of command occurs; the kinds take turns.
  std::map<std::string, int> kinds;
};

RandomStream MakeRandomStream(const RandomStreamOptions& options);

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_RANDOM_STREAM_H_
