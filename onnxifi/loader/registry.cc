// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/registry.h"

#include <string>
#include <utility>

#include "onnxifi/loader/listing.h"
#include "onnxifi/loader/log.h"

namespace heddle::onnxifi_loader {
namespace {

// Listings of one call: given back if it ends otherwise.
class Listings {
 public:
  ~Listings() {
    for (const Target& one : all_) one.vendor->ReleaseBackendID(one.handle);
  }
  void Add(Vendor* vendor, const std::vector<onnxBackendID>& ids) {
    for (onnxBackendID id : ids) all_.push_back({vendor, id});
  }
  void Reserve(size_t more) { all_.reserve(all_.size() + more); }
  std::vector<Target>& all() { return all_; }

 private:
  std::vector<Target> all_;
};

}  // namespace

void Registry::Try(Entry* entry) {
  const char* path = entry->candidate.path.c_str();
  const Discovered found = Discover(entry->candidate);
  entry->tried = found.kind == Discovered::kUnusable;
  switch (found.kind) {
    case Discovered::kUnusable:
      Log(Level::kWarning, "%s %s; it has no devices here", path,
          found.reason.c_str());
      return;
    case Discovered::kNotTried:
      Log(Level::kWarning, "%s was not tried: %s", path, found.reason.c_str());
      return;
    case Discovered::kNoDevices:
      Log(Level::kInfo, "%s has no devices and does not state its ABI", path);
      return;
    case Discovered::kUsable:
      break;
  }
  std::unique_ptr<Vendor> vendors[2];
  entry->tried = true;
  for (int extended = 0; extended < 2; ++extended) {
    vendors[extended] = std::make_unique<Vendor>();
    Vendor& vendor = *vendors[extended];
    std::string error;
    if (!Vendor::Load(entry->candidate.path, &vendor, &error)) {
      Log(Level::kWarning, "%s %s, though another process loaded it", path,
          error.c_str());
      return;
    }
    vendor.descriptor_bytes = found.descriptor_bytes;
    vendor.client_bytes = extended != 0 ? kExtendedBytes : kOnnx1Bytes;
  }
  for (int i = 0; i < 2; ++i) entry->vendors[i] = std::move(vendors[i]);
  Log(Level::kInfo, "%s: %u devices, %u-byte tensor descriptors", path,
      found.devices, found.descriptor_bytes);
}

std::vector<Vendor*> Registry::Scan(uint32_t client_bytes) {
  std::vector<Vendor*> vendors;
  for (const Candidate& candidate : FindCandidates()) {
    Entry* entry = nullptr;
    for (Entry& one : entries_) {
      if (one.candidate.path == candidate.path) entry = &one;
    }
    if (entry == nullptr) {
      entries_.emplace_back();
      entry = &entries_.back();
      entry->candidate = candidate;
    }
    if (entry->vendors[0] == nullptr) {
      if (!entry->candidate.SameState(candidate)) entry->tried = false;
      entry->candidate = candidate;
      if (!entry->tried) Try(entry);
    }
    if (entry->vendors[0] != nullptr) {
      vendors.push_back(
          entry->vendors[client_bytes == kExtendedBytes ? 1 : 0].get());
    }
  }
  return vendors;
}

onnxStatus Registry::List(IdTable* table, uint32_t client_bytes,
                          onnxBackendID* ids, size_t* count) {
  std::lock_guard<std::mutex> lock(mutex_);
  Listings listings;
  bool any = false;
  onnxStatus last = ONNXIFI_STATUS_SUCCESS;
  for (Vendor* vendor : Scan(client_bytes)) {
    std::vector<onnxBackendID> some;
    const onnxStatus status = ListIds(*vendor, &some);
    if (status != ONNXIFI_STATUS_SUCCESS) {
      Log(Level::kWarning, "%s: onnxGetBackendIDs returned 0x%04x",
          vendor->path.c_str(), static_cast<unsigned>(status));
      last = status == ONNXIFI_STATUS_NO_SYSTEM_MEMORY
                 ? status
                 : ONNXIFI_STATUS_INTERNAL_ERROR;
      continue;
    }
    any = true;
    try {
      listings.Reserve(some.size());
    } catch (...) {
      for (onnxBackendID id : some) vendor->ReleaseBackendID(id);
      throw;
    }
    listings.Add(vendor, some);
  }
  if (!any && last != ONNXIFI_STATUS_SUCCESS) return last;
  const size_t present = listings.all().size();
  const size_t capacity = *count;
  *count = present;
  if (ids == nullptr || capacity < present) return ONNXIFI_STATUS_FALLBACK;
  // Nothing is written before everything is there.
  std::vector<void*> handles;
  handles.reserve(present);
  try {
    for (const Target& one : listings.all()) {
      void* handle = table->List(one);
      if (handle == nullptr) throw std::bad_alloc();
      handles.push_back(handle);
    }
  } catch (...) {
    for (void* handle : handles) table->Release(handle);
    throw;
  }
  for (size_t i = 0; i < present; ++i) ids[i] = handles[i];
  listings.all().clear();
  return ONNXIFI_STATUS_SUCCESS;
}

}  // namespace heddle::onnxifi_loader
