// SPDX-License-Identifier: Apache-2.0
// A client that does everything in its power to keep the card, the driver's
// memory and its tables from others. Never ends by itself.
//
//   attacker DEVICE KIND
//
// It says "attacking" when it is in full swing.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "drm.h"
#include "drm/heddle_drm.h"
#include "tests/attack/device.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/streams.h"

namespace heddle::attack {
namespace {

using uapi::kMiB;
using uapi::kPage;

// What the driver gives to anybody.
constexpr uint32_t kPriority = 2;

void Attacking() {
  std::puts("attacking");
  std::fflush(stdout);
}

uint32_t Context(File* file) {
  uint32_t id = 0;
  uapi::CreateContext(file, kPriority, &id);
  return id;
}

// The longest jobs that are accepted, from as many contexts as there may be;
// each queue is always full.
void Long(const std::string& device) {
  auto file = Open(device);
  const uint32_t first = Context(file.get());
  const uint32_t stream = LongestStream(file.get(), first);
  std::vector<uint32_t> contexts = {first};
  while (contexts.size() < 16) contexts.push_back(Context(file.get()));
  bool said = false;
  for (;;) {
    bool any = false;
    for (uint32_t context : contexts) {
      while (uapi::Submit(file.get(), context, {uapi::RunStream(stream)}) == 0)
        any = true;
    }
    if (!said) Attacking();
    said = true;
    if (!any) usleep(1000);
  }
}

// The same from a new file each time, so that nothing is remembered of it.
void Reopen(const std::string& device) {
  bool said = false;
  for (;;) {
    auto file = Open(device);
    if (file == nullptr) continue;
    const uint32_t context = Context(file.get());
    const uint32_t stream = LongestStream(file.get(), context);
    uint64_t seqno = 0;
    for (int i = 0; i < 4; ++i)
      uapi::Submit(file.get(), context, {uapi::RunStream(stream)}, &seqno);
    if (!said) Attacking();
    said = true;
    uapi::Wait(file.get(), context, 1, uapi::NowNs() + uapi::kSecond);
  }
}

// Device memory in pieces, with gaps that only a compaction brings together.
void Fragment(const std::string& device) {
  auto file = Open(device);
  const uint64_t total = uapi::MemoryInfo(file.get()).total;
  std::mt19937 random(1);
  std::vector<uint32_t> pieces;
  const uint64_t piece = total / 512 / kPage * kPage;
  bool said = false;
  for (;;) {
    uint32_t bo = 0;
    while (uapi::CreateBo(file.get(), piece, DRM_HEDDLE_DEVICE, &bo) == 0)
      pieces.push_back(bo);
    for (size_t i = 0; i < pieces.size(); i += 2)
      uapi::CloseBo(file.get(), pieces[i]);
    std::vector<uint32_t> kept;
    for (size_t i = 1; i < pieces.size(); i += 2) kept.push_back(pieces[i]);
    pieces = kept;
    if (!said) Attacking();
    said = true;
    // Needs a gap of a quarter of the memory.
    if (uapi::CreateBo(file.get(), total / 4, DRM_HEDDLE_DEVICE, &bo) == 0)
      uapi::CloseBo(file.get(), bo);
    while (pieces.size() > 64 + random() % 64) {
      uapi::CloseBo(file.get(), pieces.back());
      pieces.pop_back();
    }
  }
}

// As many objects of every kind as there may be.
void Handles(const std::string& device) {
  auto file = Open(device);
  bool said = false;
  for (;;) {
    std::vector<uint32_t> bos, contexts, streams;
    uint32_t id = 0;
    while (uapi::CreateBo(file.get(), kPage, DRM_HEDDLE_HOST, &id) == 0)
      bos.push_back(id);
    while (uapi::CreateBo(file.get(), kPage, DRM_HEDDLE_DEVICE, &id) == 0)
      bos.push_back(id);
    while (uapi::CreateContext(file.get(), kPriority, &id) == 0)
      contexts.push_back(id);
    while (uapi::CreateStream(file.get(), uapi::EmptyStream(), &id) == 0)
      streams.push_back(id);
    if (!said) Attacking();
    said = true;
    for (uint32_t i : bos) uapi::CloseBo(file.get(), i);
    for (uint32_t i : contexts) uapi::DestroyContext(file.get(), i);
    for (uint32_t i : streams) uapi::DestroyStream(file.get(), i);
  }
}

// All memory of the card, in use again and again.
void Memory(const std::string& device) {
  auto file = Open(device);
  const uint32_t context = Context(file.get());
  bool said = false;
  for (;;) {
    std::vector<uint32_t> bos;
    std::vector<drm_heddle_step> steps;
    uint32_t id = 0;
    for (uint64_t size = uapi::MemoryInfo(file.get()).total; size >= kPage;) {
      if (uapi::CreateBo(file.get(), size, DRM_HEDDLE_DEVICE, &id) != 0) {
        size /= 2;
        continue;
      }
      bos.push_back(id);
      if (steps.size() < 100) steps.push_back(uapi::Fill(id, kPage, 1));
    }
    while (uapi::CreateBo(file.get(), 64 * kMiB, DRM_HEDDLE_HOST, &id) == 0)
      bos.push_back(id);
    uint64_t seqno = 0;
    if (uapi::Submit(file.get(), context, steps, &seqno) == 0)
      uapi::Wait(file.get(), context, seqno, uapi::NowNs() + uapi::kSecond);
    if (!said) Attacking();
    said = true;
    for (uint32_t i : bos) uapi::CloseBo(file.get(), i);
  }
}

// Contexts that come with jobs and go before these have ended.
void Contexts(const std::string& device) {
  auto file = Open(device);
  const uint32_t first = Context(file.get());
  const uint32_t stream = LongestStream(file.get(), first);
  Attacking();
  for (;;) {
    const uint32_t context = Context(file.get());
    for (int i = 0; i < 32; ++i)
      uapi::Submit(file.get(), context, {uapi::RunStream(stream)});
    usleep(1000);
    uapi::DestroyContext(file.get(), context);
  }
}

// Streams as long as there may be, to be validated, and calls that wait.
void Calls(const std::string& device) {
  auto file = Open(device);
  const std::vector<uint32_t> words = BusyStream(200000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (;;) {
        uint32_t id = 0;
        if (uapi::CreateStream(file.get(), words, &id) == 0)
          uapi::DestroyStream(file.get(), id);
      }
    });
  }
  const uint32_t syncobj = uapi::NewSyncobj(file.get());
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&] {
      std::vector<uint32_t> handles(4096, syncobj);
      for (;;) {
        drm_syncobj_wait args = {};
        args.handles = reinterpret_cast<uint64_t>(handles.data());
        args.count_handles = static_cast<uint32_t>(handles.size());
        args.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
        args.timeout_nsec =
            static_cast<int64_t>(uapi::NowNs() + uapi::kSecond / 10);
        file->Ioctl(DRM_IOCTL_SYNCOBJ_WAIT, &args);
      }
    });
  }
  Attacking();
  for (auto& t : threads) t.join();
}

// Jobs without an end of their own on a card that somebody makes stuck.
void Hang(const std::string& device) {
  bool said = false;
  for (;;) {
    auto file = Open(device);
    if (file == nullptr) continue;
    const uint32_t context = Context(file.get());
    uint32_t stream = 0;
    uapi::CreateStream(file.get(), uapi::EmptyStream(), &stream);
    for (;;) {
      uint64_t seqno = 0;
      if (uapi::Submit(file.get(), context, {uapi::RunStream(stream)}, &seqno,
                       {}, kHangNs) != 0)
        break;  // banned: as somebody else
      if (!said) Attacking();
      said = true;
      if (uapi::Wait(file.get(), context, seqno,
                     uapi::NowNs() + 30 * uapi::kSecond) != 0)
        break;
      usleep(2000);
    }
  }
}

using Kind = void (*)(const std::string&);

const std::map<std::string, Kind>& Kinds() {
  static const auto* const kinds = new std::map<std::string, Kind>{
      {"long", Long},       {"reopen", Reopen}, {"fragment", Fragment},
      {"handles", Handles}, {"memory", Memory}, {"contexts", Contexts},
      {"calls", Calls},     {"hang", Hang},
  };
  return *kinds;
}

}  // namespace
}  // namespace heddle::attack

int main(int argc, char** argv) {
  const auto& kinds = heddle::attack::Kinds();
  const auto kind = argc == 3 ? kinds.find(argv[2]) : kinds.end();
  if (kind == kinds.end()) {
    std::fprintf(stderr, "usage: attacker DEVICE KIND; kinds:");
    for (const auto& [name, run] : kinds)
      std::fprintf(stderr, " %s", name.c_str());
    std::fputc('\n', stderr);
    return 2;
  }
  kind->second(argv[1]);
}
