// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-smi/fdinfo.h"

#include <errno.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/cli/printable.h"

namespace heddle::smi {
namespace {

// "12", "12 KiB", "12 ns": false if it is none of that.
bool ParseAmount(absl::string_view text, uint64_t* value) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.empty() || words.size() > 2) return false;
  // SimpleAtoi takes signs.
  if (!absl::ascii_isdigit(static_cast<unsigned char>(words[0][0])) ||
      !absl::SimpleAtoi(words[0], value)) {
    return false;
  }
  if (words.size() == 1 || words[1] == "ns" || words[1] == "B") return true;
  uint64_t unit = 0;
  if (words[1] == "KiB") unit = uint64_t{1} << 10;
  if (words[1] == "MiB") unit = uint64_t{1} << 20;
  if (words[1] == "GiB") unit = uint64_t{1} << 30;
  return unit != 0 && !__builtin_mul_overflow(*value, unit, value);
}

}  // namespace

std::optional<Client> ParseFdinfo(absl::string_view text) {
  Client client;
  bool ours = false, has_id = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == absl::string_view::npos) continue;
    absl::string_view key = line.substr(0, colon);
    const absl::string_view value =
        absl::StripAsciiWhitespace(line.substr(colon + 1));
    uint64_t amount = 0;
    if (key == "drm-driver") {
      ours = value == "heddle";
    } else if (key == "drm-pdev") {
      client.pdev = cli::Printable(value);
    } else if (key == "drm-client-id") {
      has_id = ParseAmount(value, &client.id);
    } else if (key == "heddle-jobs") {
      if (ParseAmount(value, &amount)) client.jobs = amount;
    } else if (absl::StartsWith(key, "drm-engine-capacity-")) {
      continue;  // a number of engines, not a time
    } else if (absl::ConsumePrefix(&key, "drm-engine-")) {
      if (!key.empty() && ParseAmount(value, &amount)) {
        client.engine_ns[cli::Printable(key)] = amount;
      }
    } else if (absl::ConsumePrefix(&key, "drm-total-") ||
               absl::ConsumePrefix(&key, "drm-memory-")) {
      if (!key.empty() && ParseAmount(value, &amount)) {
        client.memory_bytes[cli::Printable(key)] = amount;
      }
    }
  }
  if (!ours || !has_id) return std::nullopt;
  return client;
}

ProcessList ScanProcesses(const Rooted& root) {
  ProcessList list;
  for (const std::string& name : root.List("/proc")) {
    int pid = 0;
    if (!absl::ascii_isdigit(static_cast<unsigned char>(name[0])) ||
        !absl::SimpleAtoi(name, &pid)) {
      continue;
    }
    const std::string folder = absl::StrCat("/proc/", name, "/fdinfo");
    if (access(root.Path(folder).c_str(), R_OK | X_OK) != 0 &&
        errno == EACCES) {
      ++list.hidden;
      continue;
    }
    std::set<std::pair<std::string, uint64_t>> seen;
    for (const std::string& fd : root.List(folder)) {
      const auto text = root.Read(absl::StrCat(folder, "/", fd));
      if (!text.has_value()) continue;  // closed meanwhile
      auto client = ParseFdinfo(*text);
      if (!client.has_value() ||
          !seen.emplace(client->pdev, client->id).second) {
        continue;  // a duplicate of a descriptor is the same client
      }
      ProcessUse use;
      use.pid = pid;
      use.name =
          cli::Printable(root.Line(absl::StrCat("/proc/", name, "/comm")));
      use.client = *std::move(client);
      list.rows.push_back(std::move(use));
    }
  }
  return list;
}

}  // namespace heddle::smi
