// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/register_file.h"

#include <utility>

namespace heddle::platform {

RegisterFile::RegisterFile() : index_(reg::kBlockBytes / 4, -1) {
  for (const reg::RegisterInfo& info : reg::kRegisters) {
    for (uint32_t i = 0; i < info.count; ++i) {
      index_[(info.offset + i * info.stride) / 4] =
          static_cast<int>(entries_.size());
      Entry entry;
      entry.info = &info;
      entries_.push_back(std::move(entry));
    }
  }
  Reset();
}

const RegisterFile::Entry* RegisterFile::Find(uint32_t offset) const {
  if (offset >= reg::kBlockBytes || offset % 4 != 0) return nullptr;
  const int i = index_[offset / 4];
  return i < 0 ? nullptr : &entries_[static_cast<size_t>(i)];
}

uint32_t RegisterFile::Read(uint32_t offset) const {
  const Entry* entry = Find(offset);
  if (entry == nullptr) return 0;
  const uint32_t value = entry->read ? entry->read() : entry->value;
  return value & ~entry->info->wo_mask;
}

void RegisterFile::Write(uint32_t offset, uint32_t value) {
  auto* entry = const_cast<Entry*>(Find(offset));
  if (entry == nullptr) return;
  const reg::RegisterInfo& info = *entry->info;
  const uint32_t writable =
      info.rw_mask | info.wo_mask | info.w1c_mask | info.w1s_mask;
  if (writable == 0) return;
  entry->value = (entry->value & ~info.rw_mask) | (value & info.rw_mask);
  entry->value &= ~(value & info.w1c_mask);
  entry->value |= value & info.w1s_mask;
  if (entry->write) entry->write(value & writable);
}

void RegisterFile::Reset() {
  for (Entry& entry : entries_) entry.value = entry.info->reset;
}

uint32_t RegisterFile::Get(uint32_t offset) const {
  const Entry* entry = Find(offset);
  return entry == nullptr ? 0 : entry->value;
}

void RegisterFile::Set(uint32_t offset, uint32_t value) {
  auto* entry = const_cast<Entry*>(Find(offset));
  if (entry != nullptr) entry->value = value;
}

void RegisterFile::OnRead(uint32_t offset, ReadHook hook) {
  auto* entry = const_cast<Entry*>(Find(offset));
  if (entry != nullptr) entry->read = std::move(hook);
}

void RegisterFile::OnWrite(uint32_t offset, WriteHook hook) {
  auto* entry = const_cast<Entry*>(Find(offset));
  if (entry != nullptr) entry->write = std::move(hook);
}

}  // namespace heddle::platform
