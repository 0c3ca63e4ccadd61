// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz_ioctl/target.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/server.h"
#include "runtime/hal/drm_transport.h"
#include "runtime/hal/hosted_transport.h"
#include "runtime/session/device_spec.h"
#include "spdlog/spdlog.h"
#include "tests/guest/host_request.h"
#include "tests/support/kernel_release.h"

namespace heddle::fuzz {
namespace {

class DrmTarget : public Target {
 public:
  explicit DrmTarget(std::string node) : node_(std::move(node)) {}
  std::unique_ptr<hal::Transport> Open() override {
    auto transport = hal::OpenDrm(node_);
    return transport.ok() ? *std::move(transport) : nullptr;
  }
  bool WaitsOfLinux66() override { return tests::KernelAtLeast(6, 6); }

 private:
  const std::string node_;
};

// The card in a slot of the guest: the host lets it lose interrupts, fail
// accesses, flip bits, change its memory and go away.
class GuestTarget : public Target {
 public:
  explicit GuestTarget(int slot) : slot_(slot) {}
  std::unique_ptr<hal::Transport> Open() override {
    const auto nodes = hal::ListDrm();
    if (!nodes.ok() || nodes->empty()) return nullptr;
    auto transport = hal::OpenDrm(nodes->front());
    return transport.ok() ? *std::move(transport) : nullptr;
  }
  Effect Disturb(Values* values, std::string* what) override {
    if (values->Once(8)) {
      *what = "killed";
      gone_ = true;
      Ask("kill");
      return Effect::kRemoved;
    }
    const auto [fault, effect] = values->Of<std::pair<const char*, Effect>>({
        {"fault lost_interrupt 1", Effect::kWorks},
        {"fault late_interrupt 20", Effect::kWorks},
        {"fault spurious_interrupt", Effect::kWorks},
        {"fault bit_flip command 2 3", Effect::kWorks},
        {"fault bit_flip sram 5 1", Effect::kWorks},
        {"fault sram_error single", Effect::kWorks},
        {"fault sram_error double", Effect::kWorks},
        // The driver gives a card up whose compaction or clearing fails.
        {"fault bus_error device", Effect::kMayGo},
        {"fault bus_error host", Effect::kMayGo},
        {"memory 72M", Effect::kWorks},
        {"memory 64M", Effect::kMayGo},
    });
    *what = fault;
    Ask("ctl", fault);
    return effect;
  }
  void Settle() override {
    if (!gone_) {
      Ask("ctl", "fault none");
      // A card that the driver gave up does not come back by itself.
      if (Open() != nullptr) return;
    }
    gone_ = false;
    Ask("unplug");
    Ask("plug", "--memory 64M");
  }
  bool WaitsOfLinux66() override { return tests::KernelAtLeast(6, 6); }

 private:
  void Ask(const char* verb, const char* rest = "") {
    tests::HostRequest(absl::StrCat(verb, " ", slot_, " ", rest));
  }
  const int slot_;
  bool gone_ = false;
};

class HostedTarget : public Target {
 public:
  HostedTarget(std::string socket, uint32_t card)
      : socket_(std::move(socket)), card_(card) {}
  std::unique_ptr<hal::Transport> Open() override {
    auto transport = hal::OpenHosted(socket_, card_);
    return transport.ok() ? *std::move(transport) : nullptr;
  }
  bool SendRaw(Values* values) override {
    SendMalformed(socket_, values);
    return true;
  }

 private:
  const std::string socket_;
  const uint32_t card_;
};

constexpr uint64_t kMiB = 1 << 20;

class InProcess : public Target {
 public:
  InProcess() {
    spdlog::set_level(spdlog::level::off);
    folder_ = std::filesystem::temp_directory_path() / "heddle-XXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) std::abort();
    options_.socket = folder_ + "/s";
    options_.cards = {folder_ + "/c"};
    options_.timeout_ns = 20 * 1000000;
    Plug();
    auto server = hosted::Server::Start(options_);
    if (!server.ok()) {
      std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
      std::abort();
    }
    server_ = *std::move(server);
    thread_ = std::thread([this] { server_->Run(); });
  }
  ~InProcess() override {
    server_->Stop();
    thread_.join();
    server_ = nullptr;
    card_ = nullptr;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::unique_ptr<hal::Transport> Open() override {
    auto transport = hal::OpenHosted(options_.socket, 0);
    return transport.ok() ? *std::move(transport) : nullptr;
  }

  Effect Disturb(Values* values, std::string* what) override {
    hosted::FakeCard::Behaviour b;
    switch (values->Below(9)) {
      case 0:
        *what = "runs hang";
        b.hang_runs = true;
        break;
      case 1:
        *what = "runs hang and cannot be aborted";
        b.hang_runs = true;
        b.ignore_abort = true;
        break;
      case 2:
        *what = "runs fail";
        b.fail_runs = 1 + static_cast<uint32_t>(values->Below(40));
        break;
      case 3:  // a compaction that fails loses what the memory holds
        *what = "copies fail";
        b.fail_copies = 1 + static_cast<uint32_t>(values->Below(40));
        card_->Set(b);
        return Effect::kMayGo;
      case 4:
        *what = "interrupts are lost";
        b.lose_interrupts = true;
        break;
      case 5:
        *what = "runs are slow";
        b.run_ms = 3;
        break;
      case 6:
        *what = "records are wrong";
        b.wrong_sequence = true;
        break;
      case 7:
        *what = "memory changes";
        card_->Resize((64 + 4 * values->Below(4)) * kMiB);
        return Effect::kWorks;
      default:  // surprise removal: of the bus first, or at once
        *what = "removed";
        if (values->Once(2)) {
          *what = "reads all ones";
          b.gone = true;
          card_->Set(b);
        } else {
          card_ = nullptr;
        }
        gone_ = true;
        return Effect::kRemoved;
    }
    card_->Set(b);
    return Effect::kWorks;
  }
  void Settle() override {
    // A new card forgets what the last one has seen.
    if (gone_ || ++sequences_ % 200 == 0) {
      gone_ = false;
      Plug();
      return;
    }
    card_->Set({});
  }
  uint64_t MappedBytes() override { return card_->mapped_bytes(); }
  uint64_t Descriptors() override {
    uint64_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/self/fd")) {
      count += !entry.path().empty();
    }
    return count;
  }
  bool SendRaw(Values* values) override {
    SendMalformed(options_.socket, values);
    return true;
  }

 private:
  void Plug() {
    card_ = nullptr;  // it removes its path
    card_ = std::make_unique<hosted::FakeCard>(options_.cards[0], 64 * kMiB, 1);
  }

  std::string folder_;
  hosted::Server::Options options_;
  std::unique_ptr<hosted::FakeCard> card_;
  std::unique_ptr<hosted::Server> server_;
  std::thread thread_;
  bool gone_ = false;
  uint64_t sequences_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Target>> MakeTarget(const std::string& device) {
  auto spec = session::ParseDeviceSpec(device);
  if (!spec.ok()) return spec.status();
  using Kind = session::DeviceSpec::Kind;
  if (spec->kind == Kind::kHosted) {
    return std::make_unique<HostedTarget>(spec->socket, spec->card.value_or(0));
  }
  if (spec->kind != Kind::kDrm) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", device, "' is neither drm[:NODE] nor hosted:SOCKET"));
  }
  if (spec->node.empty()) {
    const auto nodes = hal::ListDrm();
    if (!nodes.ok()) return nodes.status();
    if (nodes->empty()) {
      return absl::UnavailableError("there is no node of the driver heddle");
    }
    spec->node = nodes->front();
  }
  return std::make_unique<DrmTarget>(spec->node);
}

std::unique_ptr<Target> MakeGuest(int slot) {
  return std::make_unique<GuestTarget>(slot);
}

std::unique_ptr<Target> MakeInProcess() {
  return std::make_unique<InProcess>();
}

}  // namespace heddle::fuzz
