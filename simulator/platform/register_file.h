// SPDX-License-Identifier: Apache-2.0
//
// The registers of BAR0 as described in registers.toml: a table lookup, one
// stored value per register, and hooks for registers with side effects. The
// table's rules (read-only bits, reserved bits, write-one-to-clear) hold
// without any hook.
#ifndef HEDDLE_SIMULATOR_PLATFORM_REGISTER_FILE_H_
#define HEDDLE_SIMULATOR_PLATFORM_REGISTER_FILE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "rtl/spec/generated/registers.h"

namespace heddle::platform {

class RegisterFile {
 public:
  using ReadHook = std::function<uint32_t()>;
  using WriteHook = std::function<void(uint32_t written)>;

  RegisterFile();

  // Offsets below reg::kBlockBytes, multiples of 4. Unknown offsets read zero.
  uint32_t Read(uint32_t offset) const;
  void Write(uint32_t offset, uint32_t value);
  // All stored values to their reset values.
  void Reset();

  // The stored value, without hooks.
  uint32_t Get(uint32_t offset) const;
  void Set(uint32_t offset, uint32_t value);

  // `hook` gives the value instead of the stored one.
  void OnRead(uint32_t offset, ReadHook hook);
  // `hook` gets the bits that may be written, after they were stored.
  void OnWrite(uint32_t offset, WriteHook hook);

 private:
  struct Entry {
    const reg::RegisterInfo* info = nullptr;
    uint32_t value = 0;
    ReadHook read;
    WriteHook write;
  };
  const Entry* Find(uint32_t offset) const;

  std::vector<int> index_;  // by offset / 4: entry or -1
  std::vector<Entry> entries_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_REGISTER_FILE_H_
