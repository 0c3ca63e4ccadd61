// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/commands.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "rtl/spec/generated/registers.h"
#include "simulator/platform/parse.h"
#include "tools/cli/usage.h"

namespace heddle::platform {

const char kCommandHelp[] =
    R"(  status                              state of the card and its counters
  unplug                              remove the card by surprise
  plug                                put the card back
  memory SIZE                         change the size of device memory
  fault lost_interrupt [N=1]          the next N interrupts are not sent
  fault late_interrupt [MS=100]       the next interrupt comes late
  fault spurious_interrupt [VECTOR=0] send one now, without a cause
  fault bus_error host|device         the next access to that memory fails
  fault stuck_engine [card]           the next stream hangs until an engine
                                      reset, or until a card reset
  fault runaway_dma                   the next copy to the host never ends (not
                                      with --core rtl)
  fault bit_flip command|weights|sram [BYTE=0 [BIT=0]]
                                      flip a bit before the next stream (in
                                      SRAM the card corrects it)
  fault sram_error single|double      one or two wrong bits in the first SRAM
                                      word that a stream reads
  fault power_loss                    registers and memory are lost in the next
                                      D3
  fault link_down [OFFSET]            reads return all ones; no DMA, no
                                      interrupts; with OFFSET, as soon as that
                                      register has been read
  fault link_up                       the link is back
  fault none                          disarm all faults
  quit                                exit the simulator
)";

namespace {

using Words = std::vector<std::string>;
// Longest delay of an interrupt.
constexpr uint64_t kMaxLateMs = 3600 * 1000;

// The names in kCommandHelp, in its order.
struct Names {
  Words commands, faults;
};

Names ListedNames() {
  Names names;
  for (const absl::string_view line : absl::StrSplit(kCommandHelp, '\n')) {
    const Words words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    // Other lines continue what a command does.
    if (words.empty() || absl::StartsWith(line, "   ")) continue;
    if (names.commands.empty() || names.commands.back() != words[0]) {
      names.commands.push_back(words[0]);
    }
    if (words[0] != "fault") continue;
    names.faults.push_back(words[1]);
    if (words[2] == "|") names.faults.push_back(words[3]);
  }
  return names;
}

// Word `i` as a number up to `limit`, or `otherwise` when there is none.
absl::StatusOr<uint64_t> Number(const Words& words, size_t i,
                                uint64_t otherwise, uint64_t limit) {
  if (i >= words.size()) return otherwise;
  absl::StatusOr<uint64_t> value = ParseNumber(words[i]);
  if (value.ok() && *value > limit) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", words[i], "' is too large: the limit is ", limit));
  }
  return value;
}

absl::Status BitFlipFault(const Words& words, Faults* faults) {
  if (words.size() < 3) {
    return absl::InvalidArgumentError(
        "bit_flip: say where: command, weights or sram");
  }
  absl::StatusOr<uint64_t> byte = Number(words, 3, 0, UINT64_MAX);
  if (!byte.ok()) return byte.status();
  absl::StatusOr<uint64_t> bit = Number(words, 4, 0, 7);
  if (!bit.ok()) return bit.status();
  const BitFlip flip = {*byte, static_cast<uint32_t>(*bit)};
  if (words[2] == "command") {
    faults->flip_command = flip;
  } else if (words[2] == "weights") {
    faults->flip_weights = flip;
  } else if (words[2] == "sram") {
    faults->flip_sram = flip;
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "bit_flip: '", words[2], "' is not command, weights or sram"));
  }
  return absl::OkStatus();
}

absl::Status Fault(const Words& words, Platform* platform) {
  Faults* faults = platform->faults();
  const std::string kind = words.size() > 1 ? words[1] : "";
  if (kind == "lost_interrupt") {
    absl::StatusOr<uint64_t> n = Number(words, 2, 1, UINT32_MAX);
    if (!n.ok()) return n.status();
    faults->lost_interrupts = static_cast<uint32_t>(*n);
  } else if (kind == "late_interrupt") {
    absl::StatusOr<uint64_t> ms = Number(words, 2, 100, kMaxLateMs);
    if (!ms.ok()) return ms.status();
    faults->late_interrupt_ms = static_cast<uint32_t>(*ms);
  } else if (kind == "spurious_interrupt") {
    absl::StatusOr<uint64_t> vector =
        Number(words, 2, 0, reg::kPciMsixVectors - 1);
    if (!vector.ok()) return vector.status();
    platform->SpuriousInterrupt(static_cast<uint32_t>(*vector));
  } else if (kind == "bus_error") {
    const std::string where = words.size() > 2 ? words[2] : "";
    if (where == "host") {
      faults->host_bus_error = true;
    } else if (where == "device") {
      faults->device_bus_error = true;
    } else {
      return absl::InvalidArgumentError("bus_error: say where: host or device");
    }
  } else if (kind == "stuck_engine") {
    const std::string until = words.size() > 2 ? words[2] : "";
    if (!until.empty() && until != "card") {
      return absl::InvalidArgumentError(
          absl::StrCat("stuck_engine: '", until, "' is not card"));
    }
    faults->stuck_engine = true;
    faults->lost_engine_resets = !until.empty();
  } else if (kind == "runaway_dma") {
    if (!platform->CanRunAway()) {
      return absl::UnimplementedError(
          "runaway_dma is not available with --core rtl");
    }
    faults->runaway_dma = true;
  } else if (kind == "bit_flip") {
    return BitFlipFault(words, faults);
  } else if (kind == "sram_error") {
    const std::string bits = words.size() > 2 ? words[2] : "";
    if (bits != "single" && bits != "double") {
      return absl::InvalidArgumentError(
          "sram_error: say which: single or double");
    }
    faults->sram_error = bits == "single" ? 1 : 2;
  } else if (kind == "power_loss") {
    faults->power_loss = true;
  } else if (kind == "link_down" && words.size() > 2) {
    absl::StatusOr<uint64_t> offset =
        Number(words, 2, 0, reg::kBlockBytes - sizeof(uint32_t));
    if (!offset.ok()) return offset.status();
    faults->link_down_after = static_cast<uint32_t>(*offset);
  } else if (kind == "link_down" || kind == "link_up") {
    faults->link_down = kind == "link_down";
  } else if (kind == "none") {
    *faults = Faults();
  } else {
    const std::string meant = cli::DidYouMean(kind, ListedNames().faults);
    return absl::InvalidArgumentError(absl::StrCat(
        "'", kind, "' is not a fault",
        meant.empty() ? ": see `heddle-sim --help` for the list" : meant));
  }
  return absl::OkStatus();
}

nlohmann::json Describe(const PlatformStatus& s, bool connected) {
  return {{"present", s.present},
          {"connected", connected},
          {"memory", s.dram_bytes},
          {"ready", (s.status & reg::kStatusReadyMask) != 0},
          {"busy", (s.status & reg::kStatusBusyMask) != 0},
          {"halted", (s.status & reg::kStatusHaltedMask) != 0},
          {"progress", s.progress},
          {"running_fence", s.running_fence},
          {"jobs", s.jobs},
          {"faults", s.faults},
          {"resets", s.resets},
          {"device_error", s.device_error},
          {"sram_corrected", s.sram_corrected},
          {"interrupts_sent", s.interrupts_sent},
          {"mapped_ranges", s.mapped_ranges},
          {"refused_dma", s.refused_dma}};
}

}  // namespace

std::string Commands::Run(absl::string_view line) {
  const Words words =
      absl::StrSplit(absl::StripAsciiWhitespace(line), absl::ByAnyChar(" \t\r"),
                     absl::SkipEmpty());
  const std::string command = words.empty() ? "" : words[0];
  nlohmann::json answer = nlohmann::json::object();
  absl::Status status;
  if (command == "status") {
    answer = Describe(platform_->status(), server_->connected());
  } else if (command == "unplug") {
    platform_->SetPresent(false);
    server_->Close();
  } else if (command == "plug") {
    status = server_->Listen();
    if (status.ok()) platform_->SetPresent(true);
  } else if (command == "memory") {
    absl::StatusOr<uint64_t> size = ParseSize(words.size() > 1 ? words[1] : "");
    status = size.ok() ? platform_->ResizeMemory(*size) : size.status();
  } else if (command == "fault") {
    status = Fault(words, platform_);
  } else if (command == "quit") {
    platform_->reactor()->Quit();
  } else {
    const Words commands = ListedNames().commands;
    const std::string meant = cli::DidYouMean(command, commands);
    status = absl::InvalidArgumentError(absl::StrCat(
        "'", command, "' is not a command",
        meant.empty() ? ": give " + absl::StrJoin(commands, ", ") : meant));
  }
  answer["ok"] = status.ok();
  if (!status.ok()) answer["error"] = std::string(status.message());
  // Lines from outside may hold anything; bytes that are not UTF-8 are
  // replaced.
  return answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace heddle::platform
