// SPDX-License-Identifier: Apache-2.0
#include "tests/lockstep/effect.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "simulator/model/access.h"

namespace heddle::lockstep {

void Effect::Add(uint64_t first, uint64_t n) {
  if (n == 0) return;
  if (!runs_.empty() && runs_.back().first + runs_.back().n == first) {
    runs_.back().n += n;
  } else {
    runs_.push_back({first, n, 0});
  }
}

void Effect::Take(const uint8_t* memory, uint64_t at) {
  std::sort(runs_.begin(), runs_.end(),
            [](const Run& a, const Run& b) { return a.first < b.first; });
  std::vector<Run> merged;
  for (const Run& run : runs_) {
    if (!merged.empty() && merged.back().first + merged.back().n >= run.first) {
      Run& last = merged.back();
      last.n = std::max(last.n, run.first + run.n - last.first);
    } else {
      merged.push_back(run);
    }
  }
  runs_ = std::move(merged);
  uint64_t bytes = 0;
  for (Run& run : runs_) {
    run.at = bytes;
    bytes += run.n;
  }
  values_.resize(bytes);
  written_.assign(bytes, 0);
  for (const Run& run : runs_) {
    std::memcpy(&values_[run.at], memory + (run.first - at), run.n);
  }
}

int64_t Effect::Find(uint64_t address) const {
  auto it = std::upper_bound(
      runs_.begin(), runs_.end(), address,
      [](uint64_t a, const Run& run) { return a < run.first; });
  if (it == runs_.begin()) return -1;
  --it;
  return address - it->first < it->n
             ? static_cast<int64_t>(it->at + address - it->first)
             : -1;
}

bool Effect::MarkWritten(uint64_t address) {
  const int64_t at = Find(address);
  if (at < 0) return false;
  written_[static_cast<size_t>(at)] = 1;
  return true;
}

bool NotingMemory::Read(uint64_t address, void* to, size_t n) {
  if (!Has(address, n)) return false;
  std::memcpy(to, &bytes_[address - at_], n);
  reads_.Add(address, n);
  return true;
}

bool NotingMemory::Write(uint64_t address, const void* from, size_t n) {
  if (!Has(address, n)) return false;
  std::memcpy(&bytes_[address - at_], from, n);
  effect_.Add(address, n);
  return true;
}

Effect NotingMemory::TakeEffect() {
  Effect effect = std::exchange(effect_, Effect());
  effect.Take(bytes_.data(), at_);
  return effect;
}

model::ReadSet NotingMemory::TakeReads() {
  model::ReadSet reads = std::exchange(reads_, model::ReadSet());
  reads.Take();
  return reads;
}

SramPlaces SramPlacesOf(const isa::Config& config, const isa::Command& command,
                        const uint8_t* sram) {
  SramPlaces places;
  places.reads = model::SramReads(config, command, sram);
  model::ForEachAccess(config, command, sram, [&](const model::Access& a) {
    if (!a.write || a.empty || a.space != model::Space::kSram) return;
    a.ForEachRun([&](int64_t first, uint64_t n) {
      places.writes.Add(static_cast<uint64_t>(first), n);
    });
  });
  return places;
}

}  // namespace heddle::lockstep
