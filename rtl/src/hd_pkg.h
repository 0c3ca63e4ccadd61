// SPDX-License-Identifier: Apache-2.0
// The structs of hd_pkg.sv at the ports of a model: Verilator gives a packed
// struct as an array of 32-bit words, its last member in the lowest bits.
#ifndef HEDDLE_RTL_SRC_HD_PKG_H_
#define HEDDLE_RTL_SRC_HD_PKG_H_

#include <cstdint>

namespace heddle::rtl {

// stream_fault_t. `Words` is the port, const or not.
struct StreamFault {
  uint32_t engine = 0;
  uint32_t region = 0;
  uint32_t offset = 0;
  uint32_t tag = 0;
  uint64_t addr = 0;

  template <typename Words>
  static StreamFault Read(const Words& words) {
    StreamFault fault;
    fault.engine = words[4] >> 4 & 0x7;
    fault.region = words[4] & 0xf;
    fault.offset = words[3];
    fault.tag = words[2];
    fault.addr = uint64_t{words[1]} << 32 | words[0];
    return fault;
  }
  template <typename Words>
  void Write(Words* words) const {
    (*words)[4] = (engine & 0x7) << 4 | (region & 0xf);
    (*words)[3] = offset;
    (*words)[2] = tag;
    (*words)[1] = static_cast<uint32_t>(addr >> 32);
    (*words)[0] = static_cast<uint32_t>(addr);
  }
};

// engine_fault_t, likewise.
struct EngineFault {
  uint32_t code = 0;
  uint32_t region = 0;
  uint64_t addr = 0;

  template <typename Words>
  static EngineFault Read(const Words& words) {
    EngineFault fault;
    fault.code = words[2] >> 4 & 0xff;
    fault.region = words[2] & 0xf;
    fault.addr = uint64_t{words[1]} << 32 | words[0];
    return fault;
  }
  template <typename Words>
  void Write(Words* words) const {
    (*words)[2] = (code & 0xff) << 4 | (region & 0xf);
    (*words)[1] = static_cast<uint32_t>(addr >> 32);
    (*words)[0] = static_cast<uint32_t>(addr);
  }
};

}  // namespace heddle::rtl

#endif  // HEDDLE_RTL_SRC_HD_PKG_H_
