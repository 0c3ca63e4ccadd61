// SPDX-License-Identifier: Apache-2.0
// The suite on heddle-hosted with a card of heddle-sim, both started here.
#include <sys/stat.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "kmd/hosted/client.h"
#include "tests/support/virtual_card.h"
#include "tests/uapi/client.h"

namespace heddle::uapi {
namespace {

class HostedFile : public Client {
 public:
  explicit HostedFile(std::unique_ptr<hosted::HostedClient> client)
      : client_(std::move(client)) {}
  int Ioctl(unsigned long request, void* arg) override {
    return client_->Ioctl(request, arg);
  }
  void* Mmap(uint64_t offset, size_t bytes, int* error) override {
    return client_->Mmap(offset, bytes, error);
  }

 private:
  const std::unique_ptr<hosted::HostedClient> client_;
};

class Hosted : public Driver {
 public:
  Hosted()
      : card_(folder_ / "card", {"h256", "64M", 7}),
        driver_(folder_ / "driver", {folder_ / "card"}) {
    // For DropPriority.
    chmod(folder_.path().c_str(), 0755);
    chmod((folder_ / "driver").c_str(), 0666);
  }
  std::unique_ptr<Client> Open(int* error) override {
    std::unique_ptr<hosted::HostedClient> client;
    *error = hosted::HostedClient::Open(folder_ / "driver", 0, &client);
    if (*error != 0) return nullptr;
    return std::make_unique<HostedFile>(std::move(client));
  }
  // The client's library reads for the driver; it has no way to find out about
  // others.
  std::vector<uint64_t> BadPointers() override { return {0}; }
  bool DropPriority() override {
    // Who runs the cards has the right to all priorities, and root.
    return geteuid() == 0 && setresuid(65534, 65534, 65534) == 0;
  }
  bool Control(const std::string& command) override {
    return !card_.Control(command).empty();
  }
  bool WaitsOfLinux66() override { return false; }

 private:
  tests::TempFolder folder_;
  tests::VirtualCard card_;
  tests::HostedDriver driver_;
};

std::unique_ptr<Hosted> the_driver;

// Ends the two processes while the program still runs.
class Processes : public ::testing::Environment {
 public:
  void TearDown() override { the_driver = nullptr; }
};
const auto* const kProcesses =
    ::testing::AddGlobalTestEnvironment(new Processes);

}  // namespace

Driver& Driver::Get() {
  if (the_driver == nullptr) the_driver = std::make_unique<Hosted>();
  return *the_driver;
}

}  // namespace heddle::uapi
