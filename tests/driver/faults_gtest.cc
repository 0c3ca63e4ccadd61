// SPDX-License-Identifier: Apache-2.0
// In the guest: each fault of kmd/faults.toml has the effect that it says, and
// nothing else: result, fence, event, uevent, dump, and whether the card goes
// on.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sync_file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "rtl/spec/generated/heddle_hw.h"
#include "tests/comparer/model_folder.h"
#include "tests/driver/card_files.h"
#include "tests/driver/freed_pages.h"
#include "tests/driver/uevents.h"
#include "tests/e2e/product.h"
#include "tests/guest/host_request.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/client.h"
#include "tests/uapi/streams.h"

namespace heddle::tests {
namespace {

using uapi::Client;

enum class Job { kNone, kCopyIn, kCopyOut, kFill, kRun };

struct Fault {
  const char* name;
  const char* inject;
  Job job;
  uint32_t status;
  int error;  // errno of the job and of its fence
  uint32_t event;
  const char* uevent;
  bool coredump;
  bool survives;
  const char* onnxifi;
};

constexpr Fault kFaults[] = {
#include "tests/driver/faults_table.inc"
};

constexpr uint64_t kBytes = 1 << 20;  // of a copy

constexpr char kDumps[] = "/sys/class/devcoredump";

// The first dump there is; it is removed. Empty: none.
std::string TakeDump() {
  DIR* dumps = opendir(kDumps);
  if (dumps == nullptr) return "";
  std::string text;
  while (const dirent* entry = readdir(dumps)) {
    if (std::string(entry->d_name).compare(0, 5, "devcd") != 0) continue;
    const std::string file =
        std::string(kDumps) + "/" + entry->d_name + "/data";
    // One that an earlier case has given back may still be there, unreadable.
    std::ostringstream whole;
    whole << std::ifstream(file).rdbuf();
    text = whole.str();
    if (text.empty()) continue;
    std::ofstream(file) << "0";
    break;
  }
  closedir(dumps);
  return text;
}

// How many interrupts the driver's handlers have taken.
uint64_t Interrupts() {
  std::ifstream in("/proc/interrupts");
  std::string line;
  uint64_t sum = 0;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;  // the number
    uint64_t taken = 0, count = 0;
    while (words >> count) taken += count;  // of each processor
    words.clear();
    bool ours = false;
    while (words >> word) ours |= word == "heddle";
    if (ours) sum += taken;
  }
  return sum;
}

class FaultTest : public testing::TestWithParam<Fault> {
 protected:
  void SetUp() override {
    client_ = Open();
    ASSERT_NE(client_, nullptr);
    context_ = uapi::NewContext(client_.get());
    buffer_ = uapi::NewDevice(client_.get(), kBytes);
    host_ = uapi::NewHost(client_.get(), kBytes);
    stream_ = uapi::NewStream(client_.get(), uapi::CopyStream(0, 1, 1024));
    regions_ = {uapi::Region(0, buffer_, 1024),
                uapi::Region(1, buffer_, 1024, DRM_HEDDLE_REGION_WRITE, 4096)};
    // Memory is ready and the card at rest before the fault is armed.
    ASSERT_EQ(Do(Job::kRun), HEDDLE_ERROR_OK);
    ASSERT_EQ(Do(Job::kFill), HEDDLE_ERROR_OK);
    while (!TakeDump().empty()) {
    }
  }

  static std::unique_ptr<Client> Open() {
    int error = 0;
    auto client = uapi::Driver::Get().Open(&error);
    EXPECT_NE(client, nullptr) << error;
    return client;
  }

  drm_heddle_step StepOf(Job job) const {
    if (job == Job::kCopyIn)
      return uapi::CopyIn(host_->handle, buffer_, kBytes);
    if (job == Job::kCopyOut)
      return uapi::CopyOut(buffer_, host_->handle, kBytes);
    if (job == Job::kFill) return uapi::Fill(buffer_, kBytes, 1);
    return uapi::RunStream(stream_, regions_);
  }

  uint32_t Do(Job job) {
    return uapi::Do(client_.get(), context_, {StepOf(job)}).status;
  }

  // 1, or the negative errno of a fence that has signalled.
  int FenceStatus(uint32_t syncobj) {
    drm_syncobj_handle handle = {};
    handle.handle = syncobj;
    handle.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE;
    if (client_->Ioctl(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle) != 0) return 0;
    sync_file_info info = {};
    EXPECT_EQ(ioctl(handle.fd, SYNC_IOC_FILE_INFO, &info), 0);
    close(handle.fd);
    return info.status;
  }

  // The same fault under an inference.
  void ExpectOnnxifi(const Fault& fault) {
    TempFolder folder;
    MakeDigitsFolder(folder / "digits", 1);
    const std::vector<std::string> arguments = {
        "--library", ExtendedLibrary(), folder / "digits", "--exact", "ALL"};
    ASSERT_TRUE(HostRequest(std::string("ctl 0 ") + fault.inject).ok);
    const Finished hit = Compare(arguments, "drm:serial=1");
    if (fault.status == HEDDLE_ERROR_OK) {
      EXPECT_EQ(hit.code, 0) << hit.out << hit.err;
    } else {
      EXPECT_NE(hit.code, 0) << hit.out;
      EXPECT_NE(hit.err.find(fault.onnxifi), std::string::npos) << hit.err;
    }
    const Finished after = Compare(arguments, "drm:serial=1");
    EXPECT_EQ(after.code, 0) << after.out << after.err;
    while (!TakeDump().empty()) {
    }
  }

  // The end of a job is an interrupt, not the driver's look every 50 ms. Some
  // faults take more messages than the job met, and vectors that were lost come
  // back a moment later.
  void ExpectInterrupts() {
    for (int i = 0; i < 20; ++i) {
      const uint64_t before = Interrupts();
      EXPECT_EQ(Do(Job::kRun), HEDDLE_ERROR_OK);
      if (Interrupts() > before) return;
      usleep(10000);
    }
    ADD_FAILURE() << "jobs end without an interrupt";
  }

  void Replug() {
    client_.reset();
    EXPECT_TRUE(HostRequest("unplug 0").ok);
    const HostAnswer answer = HostRequest("plug 0");
    ASSERT_TRUE(answer.ok) << answer.text;
    for (int tries = 0; tries < 500; ++tries) {
      int error = 0;
      client_ = uapi::Driver::Get().Open(&error);
      if (client_ != nullptr) return;
      usleep(10000);
    }
    FAIL() << "no node for the new card";
  }

  std::unique_ptr<Client> client_;
  uint32_t context_ = 0, buffer_ = 0, stream_ = 0;
  std::vector<drm_heddle_region> regions_;  // of the stream
  std::unique_ptr<uapi::HostBuffer> host_;
};

TEST_P(FaultTest, IsAsDocumented) {
  const Fault& fault = GetParam();
  auto witness = Open();  // another file: what does it learn?
  ASSERT_NE(witness, nullptr);
  Uevents uevents;
  ASSERT_TRUE(uevents.ok());
  // A job that is certainly with the card when the card goes; some faults hold
  // it there themselves.
  const bool lost = fault.status == HEDDLE_ERROR_DEVICE_LOST;
  const bool later = lost && fault.job == Job::kRun;
  const bool writes_on = lost && fault.job == Job::kCopyOut;
  if (later) {
    ASSERT_TRUE(HostRequest("ctl 0 fault stuck_engine").ok);
  } else {
    const HostAnswer armed = HostRequest(std::string("ctl 0 ") + fault.inject);
    ASSERT_TRUE(armed.ok) << armed.text;
  }

  if (fault.job != Job::kNone) {
    const uint32_t syncobj = uapi::NewSyncobj(client_.get());
    uapi::Syncs syncs;
    syncs.out.push_back({syncobj, 0, 0});
    const uint64_t seqno =
        uapi::NewJob(client_.get(), context_, {StepOf(fault.job)}, syncs,
                     lost ? 0 : 500 * 1000000ull);
    if (lost) {
      // Not longer on a slow kernel: the driver's limit is not, either.
      EXPECT_EQ(uapi::Wait(client_.get(), context_, seqno,
                           uapi::NowNs() + 200 * 1000000ull),
                -ETIME);
      if (later) {
        const HostAnswer gone =
            HostRequest(std::string(fault.inject) == "kill"
                            ? "kill 0"
                            : std::string("ctl 0 ") + fault.inject);
        ASSERT_TRUE(gone.ok) << gone.text;
      }
      EXPECT_EQ(uapi::Wait(client_.get(), context_, seqno, uapi::kForever),
                -ENODEV);
      if (writes_on) {
        EXPECT_FALSE(MastersBus()) << "its client believes that it has ended";
      }
    } else {
      const drm_heddle_result result =
          uapi::ResultOf(client_.get(), context_, seqno);
      EXPECT_EQ(result.status, fault.status);
      EXPECT_EQ(static_cast<int>(result.error), fault.error);
      const int fence = FenceStatus(syncobj);
      EXPECT_EQ(fence, fault.error == 0 ? 1 : -fault.error);
    }
  }

  drm_heddle_event event = {};
  if (fault.event != 0) {
    for (Client* c : {client_.get(), witness.get()}) {
      ASSERT_EQ(uapi::NextEvent(c, uapi::InMs(15000), &event), 0);
      EXPECT_EQ(event.type, fault.event);
    }
    EXPECT_EQ(uevents.Next("HEDDLE_EVENT", 5000), fault.uevent);
  }
  EXPECT_EQ(uapi::NextEvent(witness.get(), uapi::InMs(100), &event),
            lost ? -ENODEV : -ETIME);
  EXPECT_EQ(uevents.Next("HEDDLE_EVENT", 100), "");
  const std::string dump = TakeDump();
  EXPECT_EQ(!dump.empty(), fault.coredump) << dump;
  if (fault.coredump) {
    EXPECT_NE(dump.find("heddle coredump 1\n"), std::string::npos) << dump;
    EXPECT_NE(dump.find("(guilty)"), std::string::npos) << dump;
    EXPECT_NE(dump.find("\n0: type "), std::string::npos) << dump;
    EXPECT_NE(dump.find("[newest completion record]\nsequence "),
              std::string::npos)
        << dump;
  }

  if (fault.survives) {
    EXPECT_EQ(Do(Job::kRun), HEDDLE_ERROR_OK);
    EXPECT_EQ(Do(Job::kCopyIn), HEDDLE_ERROR_OK);
    ExpectInterrupts();
    if (fault.job == Job::kRun) ExpectOnnxifi(fault);
    return;
  }
  drm_heddle_context_create create = {};
  create.priority = 1;
  EXPECT_EQ(client_->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &create), -ENODEV);
  host_->data[0] = 7;  // the map stays
  EXPECT_EQ(host_->data[0], 7);
  host_.reset();
  witness.reset();
  if (writes_on) {
    client_.reset();
    ExpectNobodyWritesToFreedPages(kBytes / uapi::kPage);
  }
  Replug();
  ASSERT_NE(client_, nullptr);
  context_ = uapi::NewContext(client_.get());
  stream_ = uapi::NewStream(client_.get(), uapi::EmptyStream());
  regions_.clear();
  EXPECT_EQ(Do(Job::kRun), HEDDLE_ERROR_OK);
}

INSTANTIATE_TEST_SUITE_P(Kmd, FaultTest, testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

// The link goes down between two reads of the driver's watchdog: behind its
// look whether the card is there, and while it looks what the card is at. Ones
// that it reads are no news of a job.
Fault LinkDownBehind(const char* name, const char* inject) {
  Fault fault = *std::find_if(
      std::begin(kFaults), std::end(kFaults),
      [](const Fault& f) { return std::string(f.name) == "link_down"; });
  fault.name = name;
  fault.inject = inject;
  return fault;
}

static_assert(HEDDLE_REG_ID == 0x0, "");
static_assert(HEDDLE_REG_RUNNING_LO == 0x0030, "");
INSTANTIATE_TEST_SUITE_P(
    LinkDown, FaultTest,
    testing::Values(LinkDownBehind("behind_id", "fault link_down 0x0"),
                    LinkDownBehind("behind_running", "fault link_down 0x0030")),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace heddle::tests
