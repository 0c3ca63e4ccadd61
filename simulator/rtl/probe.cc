// SPDX-License-Identifier: Apache-2.0
#include "simulator/rtl/probe.h"

#include <verilated.h>
#include <verilated_sym_props.h>
#include <verilated_syms.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace heddle::rtl {
namespace {

// Clients of the SRAM by the order of hd_pkg: 0-12 matrix engine, of which only
// 0-1 write; 13-16 vector engine, 17 load DMA, 18 store DMA, which only reads.
constexpr uint32_t kFirstVector = 13, kLoad = 17;

isa::Engine EngineOfClient(uint32_t i) {
  if (i < kFirstVector) return isa::Engine::kMatrix;
  if (i < kLoad) return isa::Engine::kVector;
  return i == kLoad ? isa::Engine::kLoad : isa::Engine::kStore;
}

// Bit i of a vector of engines.
isa::Engine EngineAt(uint32_t i) { return static_cast<isa::Engine>(i + 1); }
constexpr uint32_t kEngines = 4;

const void* Find(VerilatedContext* context, const char* name) {
  for (const auto& [path, scope] : *context->scopeNameMap()) {
    if (const VerilatedVar* var = scope->varFind(name); var != nullptr) {
      return var->datap();
    }
  }
  return nullptr;
}

}  // namespace

SramBanks::SramBanks(VerilatedContext* context, const isa::Config& config) {
  std::map<int, uint8_t*> found;
  const int rows =
      static_cast<int>(config.sram_bytes / isa::kWordBytes / config.sram_banks);
  for (const auto& [path, scope] : *context->scopeNameMap()) {
    const VerilatedVar* var = scope->varFind("mem");
    const char* index = std::strrchr(path, '[');
    if (var == nullptr || index == nullptr ||
        std::strstr(path, "bank") == nullptr || var->elements(1) != rows) {
      continue;
    }
    found[std::atoi(index + 1)] = static_cast<uint8_t*>(var->datap());
  }
  if (found.size() != config.sram_banks ||
      found.rbegin()->first + 1 != static_cast<int>(config.sram_banks)) {
    return;
  }
  for (const auto& [i, data] : found) banks_.push_back(data);
  bytes_ = config.sram_bytes;
}

bool SramBanks::Read(uint8_t* to) const {
  for (uint64_t at = 0; at < bytes_; at += isa::kWordBytes) {
    const uint64_t word = at / isa::kWordBytes;
    std::memcpy(
        to + at,
        banks_[word % banks_.size()] + word / banks_.size() * isa::kWordBytes,
        isa::kWordBytes);
  }
  return found();
}

bool SramBanks::Flip(uint64_t byte, uint32_t bit) {
  if (!found()) return false;
  byte %= bytes_;
  const uint64_t word = byte / isa::kWordBytes;
  banks_[word % banks_.size()]
        [word / banks_.size() * isa::kWordBytes + byte % isa::kWordBytes] ^=
      static_cast<uint8_t>(1u << (bit % 8));
  return true;
}

Probes::Probes(VerilatedContext* context) {
  const void* accept = Find(context, "probe_accept");
  done_ = static_cast<const uint8_t*>(Find(context, "probe_done"));
  wait_ = static_cast<const uint8_t*>(Find(context, "probe_wait"));
  we_ = static_cast<const uint32_t*>(Find(context, "probe_sram_we"));
  address_ = static_cast<const uint8_t*>(Find(context, "probe_sram_addr"));
  data_ = static_cast<const uint8_t*>(Find(context, "probe_sram_wdata"));
  strobe_ = static_cast<const uint8_t*>(Find(context, "probe_sram_wstrb"));
  grant_ = static_cast<const uint32_t*>(Find(context, "gnt"));
  step_ = static_cast<const uint8_t*>(Find(context, "step"));
  bool reads = true;
  const char* const kReads[] = {"load_read", "store_read", "matrix_read",
                                "vector_read"};
  for (uint32_t e = 0; e < kEngines; ++e) {
    read_[e] = static_cast<const uint8_t*>(Find(context, kReads[e]));
    reads = reads && read_[e] != nullptr;
  }
  if (done_ != nullptr && wait_ != nullptr && we_ != nullptr &&
      address_ != nullptr && data_ != nullptr && strobe_ != nullptr &&
      grant_ != nullptr && step_ != nullptr && reads) {
    accept_ = static_cast<const uint8_t*>(accept);
  }
}

void Probes::Before(CoreObserver* observer) const {
  if (*wait_ != 0) observer->OnMatrixWait(*wait_);
  if (*step_ != 0) observer->OnMatrixStep();
  for (uint32_t e = 0; e < kEngines; ++e) {
    if (*accept_ >> e & 1) observer->OnAccept(EngineAt(e));
  }
  for (uint32_t writes = *we_; writes != 0; writes &= writes - 1) {
    const uint32_t i = static_cast<uint32_t>(__builtin_ctz(writes));
    uint16_t word, strobe;
    std::memcpy(&word, address_ + 2 * i, sizeof(word));
    std::memcpy(&strobe, strobe_ + 2 * i, sizeof(strobe));
    observer->OnSramWrite(EngineOfClient(i), word, data_ + kBeatBytes * i,
                          strobe);
  }
  for (uint32_t reads = *grant_ & ~*we_; reads != 0; reads &= reads - 1) {
    const uint32_t i = static_cast<uint32_t>(__builtin_ctz(reads));
    uint16_t word;
    std::memcpy(&word, address_ + 2 * i, sizeof(word));
    observer->OnSramRead(EngineOfClient(i), word);
  }
  for (uint32_t e = 0; e < kEngines; ++e) {
    if (*read_[e] != 0) observer->OnInputRead(EngineAt(e));
  }
}

void Probes::ReportDone(uint32_t engines, CoreObserver* observer) {
  for (uint32_t e = 0; e < kEngines; ++e) {
    if (engines >> e & 1) observer->OnDone(EngineAt(e));
  }
}

ReadProbe::ReadProbe(VerilatedContext* context) {
  we_ = static_cast<const uint32_t*>(Find(context, "probe_sram_we"));
  address_ = static_cast<const uint8_t*>(Find(context, "probe_sram_addr"));
  if (we_ != nullptr && address_ != nullptr) {
    grant_ = static_cast<const uint32_t*>(Find(context, "gnt"));
  }
}

std::optional<uint64_t> ReadProbe::First() const {
  const uint32_t reads = *grant_ & ~*we_;
  if (reads == 0) return std::nullopt;
  uint16_t word;
  std::memcpy(&word, address_ + 2 * __builtin_ctz(reads), sizeof(word));
  return word;
}

StreamProbe::StreamProbe(VerilatedContext* context) {
  const void* start = Find(context, "start");
  done_ = static_cast<const uint8_t*>(Find(context, "guard_done"));
  reset_ = static_cast<const uint8_t*>(Find(context, "reset"));
  address_ = static_cast<const uint64_t*>(Find(context, "stream_addr"));
  bytes_ = static_cast<const uint32_t*>(Find(context, "stream_bytes"));
  region_we_ = static_cast<const uint8_t*>(Find(context, "region_we"));
  region_index_ = static_cast<const uint8_t*>(Find(context, "region_index"));
  region_base_ = static_cast<const uint64_t*>(Find(context, "region_base"));
  region_size_ = static_cast<const uint64_t*>(Find(context, "region_size"));
  if (done_ != nullptr && reset_ != nullptr && address_ != nullptr &&
      bytes_ != nullptr && region_we_ != nullptr && region_index_ != nullptr &&
      region_base_ != nullptr && region_size_ != nullptr) {
    start_ = static_cast<const uint8_t*>(start);
  }
}

}  // namespace heddle::rtl
