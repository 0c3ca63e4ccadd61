// SPDX-License-Identifier: Apache-2.0
// Lists of simulated cards: of heddle-hosted, and of render nodes whose driver
// is heddle-hosted.
#include "tools/heddle-smi/cards.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kmd/hosted/client.h"
#include "runtime/hal/fake_drm.h"
#include "runtime/session/device_spec.h"
#include "runtime/session/private_card.h"
#include "tools/heddle-smi/show.h"

namespace heddle::smi {
namespace {

const std::string& Socket() {
  static const auto cards = session::StartPrivateCards(
      *session::ParseDeviceSpec("sim:memory=64M,cards=2,serial=5"));
  static const auto* const socket =
      new std::string(cards.ok() ? cards->socket : "");
  return *socket;
}

TEST(Cards, OfHosted) {
  const std::string device = absl::StrCat("hosted:", Socket());
  const auto list = ListCards(device);
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->cards.size(), 2u);
  const Card& card = list->cards[1];
  EXPECT_TRUE(card.status.ok()) << card.status;
  EXPECT_EQ(card.id, device + "#1");
  EXPECT_EQ(card.config, "h256");
  EXPECT_EQ(card.core, "functional");
  EXPECT_EQ(card.info.unique, 6u);
  EXPECT_EQ(card.pdev, "");
  EXPECT_GT(card.memory.total, 0u);
  EXPECT_EQ(ListCards(device + "#1")->cards.size(), 1u);
  const auto missing = ListCards(device + "#7");
  EXPECT_TRUE(missing->cards.empty());
  ASSERT_EQ(missing->notes.size(), 1u);
  EXPECT_TRUE(
      absl::StrContains(missing->notes[0],
                        absl::StrCat("has no card 7; there is ", device, "#0")))
      << missing->notes[0];
  const auto none = ListCards("hosted:/nowhere/at.all");
  EXPECT_TRUE(none->cards.empty());
  EXPECT_EQ(none->notes.size(), 1u);
}

// Who uses a hosted card is shown as for one of heddle.ko.
TEST(Cards, ClientsOfHosted) {
  const std::string device = absl::StrCat("hosted:", Socket());
  // A process of its own: that of heddle-smi is not shown.
  int ready[2], end[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(end[1]);
    std::unique_ptr<hosted::HostedClient> client;
    const int error = hosted::HostedClient::Open(Socket(), 1, &client);
    if (error != 0 || write(ready[1], "x", 1) != 1) _exit(1);
    char byte;
    _exit(read(end[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(ready[1]);
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  View view;
  view.list = *ListCards(device);
  AddHostedClients(Rooted(), &view.list, &view.processes);
  close(end[1]);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(view.processes.rows.size(), 1u);
  const ProcessUse& use = view.processes.rows[0];
  EXPECT_EQ(use.pid, child);
  EXPECT_EQ(use.name, "cards_test");
  EXPECT_EQ(use.card, device + "#1");
  EXPECT_EQ(use.client.jobs, 0u);
  EXPECT_EQ(view.processes.hidden_clients, 0u);
  EXPECT_TRUE(view.list.notes.empty());
  const auto json = nlohmann::json::parse(ViewJson(view));
  EXPECT_EQ(json["processes"][0]["card"], device + "#1");
  EXPECT_EQ(json["processes"][0]["pci"], nullptr);
  view.processes.hidden_clients = 2;
  const std::string text = ViewText(view, nullptr, 0);
  EXPECT_TRUE(absl::StrContains(text, "2 clients of other users")) << text;
  EXPECT_TRUE(absl::StrContains(text, "cards_test  hosted:")) << text;
}

TEST(Cards, OfNodes) {
  hal::FakeDrm system(Socket());
  const hal::ScopedDrmSystem scoped(&system);
  const auto list = ListCards("drm");
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->cards.size(), 2u);
  EXPECT_EQ(list->cards[0].id, "drm:fake/renderD0");
  EXPECT_EQ(list->cards[0].pdev, PciAddress(list->cards[0].info.pci_bdf));
  EXPECT_GE(ListCards("")->cards.size(), 2u);
  EXPECT_EQ(ListCards("drm:serial=6")->cards[0].id, "drm:fake/renderD1");
  EXPECT_TRUE(ListCards("drm:serial=9")->cards.empty());
  const auto gone = ListCards("drm:fake/renderD9");
  ASSERT_EQ(gone->cards.size(), 1u);
  EXPECT_TRUE(absl::StrContains(gone->cards[0].status.message(),
                                "'fake/renderD9'; there is drm:fake/renderD0"))
      << gone->cards[0].status;
  const auto unknown = ListCards("drm:serial=9");
  ASSERT_EQ(unknown->notes.size(), 1u);
  EXPECT_TRUE(absl::StrContains(unknown->notes[0], "there is drm:fake/"))
      << unknown->notes[0];
}

TEST(Cards, WhatCannotBeListedIsRefused) {
  for (const char* device : {"sim", "null", "none", "gpu", "drm:"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ListCards(device).status())) << device;
  }
}

TEST(Cards, PciAddresses) {
  EXPECT_EQ(PciAddress(0x00010420), "0001:04:04.0");
  EXPECT_EQ(PciAddress(0xffffffff), "ffff:ff:1f.7");
}

TEST(Cards, AreShown) {
  View view;
  view.list = *ListCards(absl::StrCat("hosted:", Socket()));
  Card broken;
  broken.id = "drm:/dev/dri/renderD200";
  broken.where = "drm";
  broken.status = absl::UnavailableError("has gone");
  view.list.cards.push_back(broken);
  view.list.notes.push_back("a note");
  view.processes.hidden = 3;
  ProcessUse use;
  use.pid = 77;
  use.name = "heddle-run";
  use.client.pdev = "0000:00:04.0";
  use.client.id = 4;
  use.client.engine_ns = {{"npu", 2000000000}};
  use.client.memory_bytes = {{"device", 3 << 20}};
  use.client.jobs = 9;
  view.processes.rows.push_back(use);
  const std::string once = ViewText(view, nullptr, 0);
  for (const char* part : {"h256", "functional", "has gone", "note: a note",
                           "heddle-run", "2.000 s", "3.0", "note: 3 proc"}) {
    EXPECT_TRUE(absl::StrContains(once, part)) << part << " in\n" << once;
  }
  View before = view;
  before.processes.rows[0].client.engine_ns["npu"] = 1500000000;
  EXPECT_TRUE(absl::StrContains(ViewText(view, &before, 1.0), "50 %"));
  before.processes.rows[0].client.engine_ns["npu"] = 3000000000;  // another one
  EXPECT_TRUE(absl::StrContains(ViewText(view, &before, 1.0), " - "));
  before.processes.rows.clear();
  EXPECT_TRUE(absl::StrContains(ViewText(view, &before, 1.0), "200 %"));

  const auto json = nlohmann::json::parse(ViewJson(view));
  EXPECT_EQ(json["cards"].size(), 3u);
  EXPECT_EQ(json["cards"][0]["serial"], 5);
  EXPECT_EQ(json["cards"][0]["error"], nullptr);
  EXPECT_EQ(json["cards"][0]["counters"]["faults"], 0);
  EXPECT_EQ(json["cards"][2]["error"], "has gone");
  EXPECT_EQ(json["cards"][2]["memory"], nullptr);
  EXPECT_EQ(json["processes"][0]["engine_ns"]["npu"], 2000000000);
  EXPECT_EQ(json["hidden_processes"], 3);
  EXPECT_EQ(json["notes"][0], "a note");
  EXPECT_TRUE(absl::StrContains(ViewText(View(), nullptr, 0), "doctor"));
}

}  // namespace
}  // namespace heddle::smi
