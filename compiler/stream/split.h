// SPDX-License-Identifier: Apache-2.0
// Where a list of commands is cut into streams. SRAM and accumulators do not
// outlive a stream, device memory does. So what is read behind a cut and was
// written before it is either loaded or filled again, by the same commands, if
// no command in between has overwritten their bytes in device memory; or it is
// kept: stored at the end of one stream and loaded at the beginning of the
// next. Accumulators cannot be kept: there is no cut between commands that
// share them.
#ifndef HEDDLE_COMPILER_STREAM_SPLIT_H_
#define HEDDLE_COMPILER_STREAM_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiler/stream/access.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

// Bytes of SRAM.
struct SramRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool operator==(const SramRange& o) const {
    return begin == o.begin && end == o.end;
  }
};

// A place to cut at.
struct Cut {
  size_t at = 0;              // in front of this command
  std::vector<size_t> again;  // commands in front of it, in order
  // Whole words, in order, apart from each other.
  std::vector<SramRange> kept;
};

class Splitter {
 public:
  // `commands` must outlive the splitter. Takes time and memory linear in them.
  Splitter(const std::vector<isa::Command>& commands,
           const isa::Config& config);

  // The cut that ends a stream of the commands from `begin` on, of which there
  // are at most `most_bytes`; {commands.size()} if all of them fit. Of the
  // later ones that where the least must be kept. cut.at == begin if there is
  // none.
  Cut Next(size_t begin, uint64_t most_bytes) const;

  // The place, behind `begin` and not behind `end`, where the fewest bytes must
  // be kept, loaded or filled again: of those in the last 1/`part` of the way,
  // or else the last before that. `begin` if there is none.
  size_t Cheapest(size_t begin, size_t end, size_t part) const;
  // That cut.
  Cut CutAt(size_t at) const;
  // How many commands from `begin` on have at most so many bytes, plus `begin`.
  size_t EndOf(size_t begin, uint64_t most_bytes) const;

 private:
  struct DeviceWrite {
    size_t command;
    uint32_t region;
    uint64_t begin, end;
  };
  // Computed bytes that are read later.
  struct Live {
    size_t first, last;  // the first writer and the last reader
    SramRange range;
  };

  bool IsOverwritten(const isa::Load& load, size_t loaded, size_t at) const;

  const std::vector<isa::Command>& commands_;
  std::vector<uint64_t> bytes_;        // in front of each command; and all
  std::vector<bool> accumulates_;      // across the place in front of it
  std::vector<uint64_t> live_bytes_;   // the same, of `live_`
  std::vector<uint64_t> again_bytes_;  // the same, of what is done again
  std::vector<Live> live_;
  std::vector<size_t> last_read_;  // of what loads and fills wrote; else 0
  std::vector<size_t> long_;       // those that are read long after
  std::vector<DeviceWrite> device_writes_;  // in order
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_STREAM_SPLIT_H_
