// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-smi/cards.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kmd/hosted/client_list.h"
#include "rtl/spec/generated/isa.h"
#include "runtime/hal/device.h"
#include "runtime/hal/drm_transport.h"
#include "runtime/hal/hosted_transport.h"
#include "runtime/session/device_spec.h"
#include "tools/cli/missing_device.h"
#include "tools/cli/printable.h"

namespace heddle::smi {
namespace {

using Kind = session::DeviceSpec::Kind;
using Opened = absl::StatusOr<std::unique_ptr<hal::Transport>>;

std::string CoreName(uint32_t kind) {
  return kind <= static_cast<uint32_t>(isa::CoreKind::kFunctional)
             ? isa::ToString(static_cast<isa::CoreKind>(kind))
             : absl::StrCat("unknown (", kind, ")");
}

Card Ask(std::string id, const char* where, Opened transport) {
  Card card;
  card.id = std::move(id);
  card.where = where;
  card.status = transport.status();
  if (!transport.ok()) return card;
  const auto device = hal::Device::Open(*std::move(transport));
  card.status = device.status();
  if (!device.ok()) return card;
  const auto memory = (*device)->Memory();
  const auto counters = (*device)->Counters();
  card.status.Update(memory.status());
  card.status.Update(counters.status());
  if (!card.status.ok()) return card;
  card.info = (*device)->info();
  card.config = (*device)->config().name;
  card.core = CoreName(card.info.core_kind);
  card.memory = *memory;
  card.counters = *counters;
  // The PCI address behind heddle-hosted is not one of this system.
  if (card.where == "drm") card.pdev = PciAddress(card.info.pci_bdf);
  return card;
}

void AddDrm(const session::DeviceSpec& spec, bool all, CardList* list) {
  std::vector<std::string> nodes = {spec.node};
  if (spec.serial.has_value()) {
    const auto node = hal::FindDrm(*spec.serial);
    if (!node.ok()) {
      list->notes.push_back(absl::IsUnavailable(node.status())
                                ? cli::MissingDevice(spec.ToString())
                                : std::string(node.status().message()));
      return;
    }
    nodes = {*node};
  } else if (spec.node.empty()) {
    const auto found = hal::ListDrm();
    if (!found.ok()) {
      list->notes.push_back(std::string(found.status().message()));
      return;
    }
    if (found->empty() && !all) {
      list->notes.push_back("no device node of the driver heddle");
    }
    nodes = *found;
  }
  for (const std::string& node : nodes) {
    list->cards.push_back(
        Ask(absl::StrCat("drm:", node), "drm", hal::OpenDrm(node)));
    Card& card = list->cards.back();
    if (!spec.node.empty() && absl::IsUnavailable(card.status)) {
      card.status = absl::UnavailableError(cli::MissingDevice(card.id));
    }
  }
}

void AddHosted(const session::DeviceSpec& spec, bool all, CardList* list) {
  const std::string socket = all ? session::kSystemSocket : spec.socket;
  const auto cards = hal::ListHosted(socket);
  if (!cards.ok()) {
    // Of all places, one where nobody listens is none.
    if (!all || !absl::IsUnavailable(cards.status())) {
      list->notes.push_back(std::string(cards.status().message()));
    }
    return;
  }
  if (cards->empty()) {
    list->notes.push_back(absl::StrCat("the heddle-hosted at '", socket,
                                       "' has no card at present"));
  }
  if (spec.card.has_value() &&
      std::count(cards->begin(), cards->end(), *spec.card) == 0 &&
      !cards->empty()) {
    list->notes.push_back(
        cli::MissingDevice(absl::StrCat(spec.ToString(), "#", *spec.card)));
  }
  for (uint32_t card : *cards) {
    if (spec.card.has_value() && *spec.card != card) continue;
    list->cards.push_back(Ask(absl::StrCat("hosted:", socket, "#", card),
                              "hosted", hal::OpenHosted(socket, card)));
  }
}

}  // namespace

void AddHostedClients(const Rooted& files, CardList* list,
                      ProcessList* processes) {
  for (const Card& card : list->cards) {
    if (card.where != "hosted") continue;
    const auto spec = session::ParseDeviceSpec(card.id);
    if (!spec.ok()) continue;
    hosted::ClientList told;
    const int error =
        hosted::ListClients(spec->socket, spec->card.value_or(0), &told);
    if (error != 0) {
      const std::string note =
          error == -EOPNOTSUPP
              ? absl::StrCat("'", spec->socket,
                             "' is served by an older heddle-hosted that "
                             "cannot list its users; restart it from this "
                             "release")
              : absl::StrCat("cannot ask '", spec->socket,
                             "' who uses its cards: ", strerror(-error));
      // The same for all cards of one.
      if (std::count(list->notes.begin(), list->notes.end(), note) == 0) {
        list->notes.push_back(note);
      }
      continue;
    }
    processes->hidden_clients += told.hidden;
    for (const hosted::ClientEntry& entry : told.clients) {
      // That of Ask(), which may not be gone yet.
      if (entry.pid == static_cast<uint32_t>(getpid())) continue;
      ProcessUse use;
      use.pid = static_cast<int>(entry.pid);
      use.name = entry.pid == 0 ? "?"
                                : cli::Printable(files.Line(absl::StrCat(
                                      "/proc/", entry.pid, "/comm")));
      use.card = card.id;
      use.client.id = entry.client;
      use.client.engine_ns["npu"] = entry.engine_ns;
      use.client.memory_bytes = {{"device", entry.device_bytes},
                                 {"memory", entry.host_bytes}};
      use.client.jobs = entry.jobs;
      processes->rows.push_back(std::move(use));
    }
  }
}

std::string PciAddress(uint32_t bdf) {
  return absl::StrFormat("%04x:%02x:%02x.%x", bdf >> 16, bdf >> 8 & 0xff,
                         bdf >> 3 & 0x1f, bdf & 7);
}

absl::StatusOr<CardList> ListCards(const std::string& device) {
  const auto spec = session::ParseDeviceSpec(device);
  if (!spec.ok()) return spec.status();
  const bool all = spec->kind == Kind::kAuto;
  CardList list;
  switch (spec->kind) {
    case Kind::kAuto:
    case Kind::kDrm:
    case Kind::kHosted:
      if (spec->kind != Kind::kHosted) AddDrm(*spec, all, &list);
      if (spec->kind != Kind::kDrm) AddHosted(*spec, all, &list);
      return list;
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "'", device,
          "' cannot be inspected: a private simulated card belongs to the "
          "process that started it; give drm[:NODE] or hosted:SOCKET[#CARD]"));
  }
}

}  // namespace heddle::smi
