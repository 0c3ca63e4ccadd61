// SPDX-License-Identifier: Apache-2.0
// What the driver costs, on the driver that the program is linked with: jobs
// that do nothing, copies, a reset, a card that goes. Prints one line each.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <thread>
#include <vector>

#include "rtl/spec/generated/heddle_hw.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/client.h"
#include "tests/uapi/streams.h"

namespace heddle::uapi {
namespace {

constexpr int kJobs = 300;
constexpr uint64_t kCopyBytes = 16 * kMiB;
constexpr int kCopies = 4;
constexpr int kWaiters = 4;

std::unique_ptr<Client> Open() {
  int error = 0;
  auto client = Driver::Get().Open(&error);
  if (client == nullptr) std::printf("no card: errno %d\n", -error);
  return client;
}

// Inferences take the result; a driver may have another way for who does not.
void NullJobs(Client* c, bool take_result) {
  const uint32_t context = NewContext(c);
  const uint32_t stream = NewStream(c, EmptyStream());
  Do(c, context, {RunStream(stream)});
  std::vector<uint64_t> times;
  drm_heddle_result result = {};
  for (int i = 0; i < kJobs; ++i) {
    const uint64_t begin = NowNs();
    const uint64_t seqno = NewJob(c, context, {RunStream(stream)});
    Wait(c, context, seqno, kForever, take_result ? &result : nullptr);
    times.push_back(NowNs() - begin);
  }
  std::sort(times.begin(), times.end());
  std::printf("empty job, SUBMIT and WAIT%s: %.0f us median, %.0f us best\n",
              take_result ? " for its result" : "", times[kJobs / 2] / 1e3,
              times[0] / 1e3);
}

void Copies(Client* c) {
  const uint32_t context = NewContext(c);
  auto host = NewHost(c, kCopyBytes);
  const uint32_t device = NewDevice(c, kCopyBytes);
  const auto in = CopyIn(host->handle, device, kCopyBytes);
  Do(c, context, {in});
  const uint64_t begin = NowNs();
  for (int i = 0; i < kCopies; ++i) Do(c, context, {in});
  std::printf("copy engine, host to device: %.0f MiB/s\n",
              kCopies * kCopyBytes / double(kMiB) * 1e9 / (NowNs() - begin));
}

void Reset(Client* c) {
  const uint32_t context = NewContext(c);
  const uint32_t stream = NewStream(c, EmptyStream());
  if (!Driver::Get().Control("fault stuck_engine")) return;
  const uint64_t limit = kSecond / 10;
  const uint64_t begin = NowNs();
  const uint64_t bad = NewJob(c, context, {RunStream(stream)}, {}, limit);
  ResultOf(c, context, bad);
  Do(c, context, {RunStream(stream)});
  std::printf(
      "hang to the end of the next job, limit of 100 ms apart: %.0f ms\n",
      (NowNs() - begin - limit) / 1e6);
}

// Last: the card does not come back.
void Removal() {
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<uint32_t> contexts;
  std::vector<uint64_t> jobs;
  if (!Driver::Get().Control("fault stuck_engine")) return;
  for (int i = 0; i < kWaiters; ++i) {
    clients.push_back(Open());
    contexts.push_back(NewContext(clients[i].get()));
    const uint32_t stream = NewStream(clients[i].get(), EmptyStream());
    jobs.push_back(NewJob(clients[i].get(), contexts[i], {RunStream(stream)}));
  }
  std::vector<uint64_t> ends(kWaiters);
  std::vector<std::thread> threads;
  for (int i = 0; i < kWaiters; ++i) {
    threads.emplace_back([&, i] {
      Wait(clients[i].get(), contexts[i], jobs[i], kForever);
      ends[i] = NowNs();
    });
  }
  const uint64_t begin = NowNs();
  Driver::Get().Control("fault link_down");
  for (auto& thread : threads) thread.join();
  std::printf("link down to the last of %d waiters' ENODEV: %.0f ms\n",
              kWaiters,
              (*std::max_element(ends.begin(), ends.end()) - begin) / 1e6);
}

int Main() {
  auto client = Open();
  if (client == nullptr) return 3;
  NullJobs(client.get(), true);
  NullJobs(client.get(), false);
  Copies(client.get());
  Reset(client.get());
  client.reset();
  Removal();
  return 0;
}

}  // namespace
}  // namespace heddle::uapi

int main() { return heddle::uapi::Main(); }
