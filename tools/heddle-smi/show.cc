// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-smi/show.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/colour.h"
#include "tools/cli/printable.h"

namespace heddle::smi {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::vector<std::string>;

// Columns as wide as their widest cell, two spaces apart. A '>' before a
// heading puts the column to the right.
std::string Table(std::vector<Row> rows) {
  std::vector<size_t> width(rows[0].size());
  std::vector<bool> right(rows[0].size());
  for (size_t c = 0; c < width.size(); ++c) {
    right[c] = rows[0][c][0] == '>';
    if (right[c]) rows[0][c].erase(0, 1);
    for (const Row& row : rows) width[c] = std::max(width[c], row[c].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string pad(width[c] - row[c].size(), ' ');
      absl::StrAppend(&line, c == 0 ? "" : "  ", right[c] ? pad : "", row[c],
                      right[c] ? "" : pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string MiB(uint64_t bytes) {
  return absl::StrFormat("%.1f", static_cast<double>(bytes) / (1 << 20));
}

uint64_t Sum(const std::map<std::string, uint64_t>& values) {
  uint64_t sum = 0;
  for (const auto& entry : values) sum += entry.second;
  return sum;
}

uint64_t At(const std::map<std::string, uint64_t>& values, const char* name) {
  const auto it = values.find(name);
  return it != values.end() ? it->second : 0;
}

// Engine time of the same client of the same process before; null if it is new.
const ProcessUse* Earlier(const View* before, const ProcessUse& now) {
  if (before == nullptr) return nullptr;
  for (const ProcessUse& use : before->processes.rows) {
    if (use.pid == now.pid && use.client.id == now.client.id &&
        use.client.pdev == now.client.pdev && use.card == now.card) {
      return &use;
    }
  }
  return nullptr;
}

std::string Busy(const ProcessUse& now, const View* before, double seconds) {
  const uint64_t ns = Sum(now.client.engine_ns);
  if (before == nullptr) {
    return absl::StrFormat("%.3f s", static_cast<double>(ns) * 1e-9);
  }
  const ProcessUse* earlier = Earlier(before, now);
  const uint64_t then = earlier != nullptr ? Sum(earlier->client.engine_ns) : 0;
  if (seconds <= 0 || ns < then) return "-";
  return absl::StrFormat("%.0f %%",
                         static_cast<double>(ns - then) * 1e-7 / seconds);
}

// The id of its card; of one that is not listed, the PCI address.
std::string CardOf(const ProcessUse& use, const CardList& list) {
  if (!use.card.empty()) return cli::Printable(use.card);
  for (const Card& card : list.cards) {
    if (!card.pdev.empty() && card.pdev == use.client.pdev) {
      return cli::Printable(card.id);
    }
  }
  return use.client.pdev;
}

}  // namespace

std::string ViewText(const View& view, const View* before, double seconds) {
  std::string text;
  std::vector<Row> rows = {{"CARD", "CONFIG", "CORE", "PCI", ">SERIAL",
                            ">MEMORY MiB", ">USED", ">JOBS", ">QUEUED",
                            ">FAULTS", ">RESETS"}};
  std::string errors;
  for (const Card& card : view.list.cards) {
    if (!card.status.ok()) {
      absl::StrAppend(&errors, cli::Printable(card.id), ": ",
                      cli::Printable(card.status.message()), "\n");
      continue;
    }
    rows.push_back({cli::Printable(card.id), card.config, card.core,
                    card.pdev.empty() ? "-" : card.pdev,
                    absl::StrCat(card.info.unique), MiB(card.memory.total),
                    MiB(card.memory.used), absl::StrCat(card.counters.jobs),
                    absl::StrCat(card.counters.queued),
                    absl::StrCat(card.counters.faults),
                    absl::StrCat(card.counters.resets)});
  }
  if (rows.size() > 1) absl::StrAppend(&text, Table(std::move(rows)));
  absl::StrAppend(&text, errors);
  for (const std::string& note : view.list.notes) {
    absl::StrAppend(&text, "note: ", cli::Printable(note), "\n");
  }
  if (view.list.cards.empty()) {
    absl::StrAppend(&text, "no card; heddle-smi doctor says what is missing\n");
  }
  rows = {
      {">PID", "PROGRAM", "CARD", ">NPU", ">DEVICE MiB", ">HOST MiB", ">JOBS"}};
  for (const ProcessUse& use : view.processes.rows) {
    rows.push_back({absl::StrCat(use.pid), use.name, CardOf(use, view.list),
                    Busy(use, before, seconds),
                    MiB(At(use.client.memory_bytes, "device")),
                    MiB(At(use.client.memory_bytes, "memory")),
                    absl::StrCat(use.client.jobs)});
  }
  if (rows.size() > 1) absl::StrAppend(&text, "\n", Table(std::move(rows)));
  if (view.processes.hidden_clients > 0) {
    absl::StrAppend(&text, "note: ",
                    view.processes.hidden_clients == 1
                        ? "1 client of another user is"
                        : absl::StrCat(view.processes.hidden_clients,
                                       " clients of other users are"),
                    " not shown (sudo shows them)\n");
  }
  const bool drm =
      std::any_of(view.list.cards.begin(), view.list.cards.end(),
                  [](const Card& card) { return card.where == "drm"; });
  if (drm && view.processes.hidden > 0) {
    absl::StrAppend(
        &text, "note: ",
        view.processes.hidden == 1
            ? "1 process of another user"
            : absl::StrCat(view.processes.hidden, " processes of other users"),
        " may not be looked at (sudo shows them)\n");
  }
  return text;
}

std::string ViewJson(const View& view) {
  Json cards = Json::array();
  for (const Card& card : view.list.cards) {
    Json one = {{"id", cli::Printable(card.id)}, {"transport", card.where}};
    if (!card.status.ok()) {
      one["error"] = cli::Printable(card.status.message());
      for (const char* key : {"config", "core", "pci", "serial", "hw_version",
                              "memory", "counters"}) {
        one[key] = nullptr;
      }
    } else {
      one["error"] = nullptr;
      one["config"] = card.config;
      one["core"] = card.core;
      one["pci"] = card.pdev.empty() ? Json() : Json(card.pdev);
      one["serial"] = card.info.unique;
      one["hw_version"] = card.info.hw_version;
      one["memory"] = {{"total_bytes", card.memory.total},
                       {"used_bytes", card.memory.used}};
      const drm_heddle_counters& c = card.counters;
      one["counters"] = {{"jobs", c.jobs},
                         {"queued", c.queued},
                         {"faults", c.faults},
                         {"resets", c.resets},
                         {"compactions", c.compactions},
                         {"macs", c.macs},
                         {"cycles", c.cycles},
                         {"bytes_copied", c.bytes_copied}};
    }
    cards.push_back(std::move(one));
  }
  Json processes = Json::array();
  for (const ProcessUse& use : view.processes.rows) {
    processes.push_back(
        {{"pid", use.pid},
         {"name", use.name},
         {"client", use.client.id},
         {"card", CardOf(use, view.list)},
         {"pci", use.client.pdev.empty() ? Json() : Json(use.client.pdev)},
         {"jobs", use.client.jobs},
         {"engine_ns", use.client.engine_ns},
         {"memory_bytes", use.client.memory_bytes}});
  }
  Json notes = Json::array();
  for (const std::string& note : view.list.notes) {
    notes.push_back(cli::Printable(note));
  }
  const Json all = {{"cards", cards},
                    {"processes", processes},
                    {"hidden_processes", view.processes.hidden},
                    {"hidden_clients", view.processes.hidden_clients},
                    {"notes", notes}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string FindingsText(const std::vector<Finding>& findings, bool colour) {
  const auto shown = [colour](Finding::Level level) {
    return cli::Coloured(absl::StrFormat("%-8s", LevelName(level)),
                         level == Finding::Level::kOk ? cli::Colour::kGood
                         : level == Finding::Level::kNote
                             ? cli::Colour::kWarning
                             : cli::Colour::kBad,
                         colour);
  };
  std::string text;
  int problems = 0;
  for (const Finding& finding : findings) {
    problems += finding.level == Finding::Level::kProblem;
    absl::StrAppend(&text, shown(finding.level), " ", finding.check, ": ",
                    finding.text, "\n");
    if (!finding.fix.empty()) {
      absl::StrAppendFormat(&text, "%-8s -> %s\n", "", finding.fix);
    }
  }
  absl::StrAppend(&text, problems == 0 ? "no problem found\n"
                         : problems == 1
                             ? "1 problem\n"
                             : absl::StrCat(problems, " problems\n"));
  return text;
}

std::string FindingsJson(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"level", LevelName(finding.level)},
                    {"check", finding.check},
                    {"text", finding.text},
                    {"fix", finding.fix}});
  }
  const Json all = {{"findings", list}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace heddle::smi
