// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/host_profile.h"

#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace heddle::compiler {
namespace {

constexpr char kForm[] = "heddle-host-profile";
constexpr double kMost = 1e9;
constexpr int kMostThreads = 1024;
constexpr size_t kMostName = 64;

struct Rate {
  const char* key;
  double HostProfile::*value;
};
constexpr Rate kRates[] = {
    {"node_ns", &HostProfile::node_ns},
    {"byte_ns", &HostProfile::byte_ns},
    {"element_ns", &HostProfile::element_ns},
    {"instruction_ns", &HostProfile::instruction_ns},
    {"mac_float_ns", &HostProfile::mac_float_ns},
    {"mac_int_ns", &HostProfile::mac_int_ns},
    {"row_ns", &HostProfile::row_ns},
    {"job_us", &HostProfile::job_us},
    {"transfer_byte_ns", &HostProfile::transfer_byte_ns},
};

// The fewest digits that give the number again.
std::string Digits(double value) {
  for (int digits = 6; digits < 17; ++digits) {
    const std::string text = absl::StrFormat("%.*g", digits, value);
    double again = 0;
    if (absl::SimpleAtod(text, &again) && again == value) return text;
  }
  return absl::StrFormat("%.17g", value);
}

template <typename... Args>
absl::Status Wrong(size_t line, const Args&... args) {
  return absl::InvalidArgumentError(
      absl::StrCat("host profile, line ", line, ": ", args...));
}

bool IsWord(absl::string_view text) {
  if (text.empty() || text.size() > kMostName) return false;
  for (char c : text) {
    if (!absl::ascii_isgraph(c) || c == '#') return false;
  }
  return true;
}

// `known`: a key of the form.
absl::Status Set(size_t line, absl::string_view key, absl::string_view value,
                 HostProfile* profile, bool* known) {
  *known = true;
  if (key == "name") {
    if (!IsWord(value)) {
      return Wrong(line, "name is one word of at most ", kMostName,
                   " characters");
    }
    profile->name = std::string(value);
    return absl::OkStatus();
  }
  if (key == "threads") {
    int threads = 0;
    if (!absl::SimpleAtoi(value, &threads) || threads < 1 ||
        threads > kMostThreads) {
      return Wrong(line, "threads is a number from 1 to ", kMostThreads);
    }
    profile->threads = threads;
    return absl::OkStatus();
  }
  for (const Rate& rate : kRates) {
    if (key != rate.key) continue;
    double number = 0;
    // NaN is not in the range either.
    if (!absl::SimpleAtod(value, &number) ||
        !(number >= 0 && number <= kMost)) {
      return Wrong(line, rate.key, " is a number from 0 to 1e9");
    }
    profile->*rate.value = number == 0 ? 0 : number;  // no -0
    return absl::OkStatus();
  }
  *known = false;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HostProfile> ParseHostProfile(absl::string_view text) {
  if (text.size() > kMostProfileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a host profile has at most ", kMostProfileBytes, " bytes"));
  }
  HostProfile profile;
  std::set<std::string> seen;
  bool begun = false;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t\r"),
                       absl::SkipEmpty());
    if (words.empty()) continue;
    if (!begun) {
      if (words.size() != 2 || words[0] != kForm || words[1] != "1") {
        return Wrong(number, "a host profile must begin with '", kForm,
                     " 1'; ./dev bench host prints one");
      }
      begun = true;
      continue;
    }
    const std::string key = absl::CHexEscape(words[0].substr(0, kMostName));
    if (words.size() != 2) {
      return Wrong(number, "expected a key and a value, not '", key, "' and ",
                   words.size() - 1, " words");
    }
    bool known = false;
    if (auto s = Set(number, words[0], words[1], &profile, &known); !s.ok()) {
      return s;
    }
    if (!known) return Wrong(number, "unknown key '", key, "'");
    if (!seen.insert(key).second) {
      return Wrong(number, "'", key, "' is given twice");
    }
  }
  if (!begun) {
    return absl::InvalidArgumentError(
        "empty host profile; ./dev bench host prints one");
  }
  std::vector<std::string> keys = {"name", "threads"};
  for (const Rate& rate : kRates) keys.push_back(rate.key);
  for (const std::string& key : keys) {
    if (seen.count(key) > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the host profile has no '", key, "'"));
  }
  return profile;
}

std::string HostProfileText(const HostProfile& profile) {
  std::string text = absl::StrCat(kForm, " 1\nname ", profile.name, "\n");
  for (const Rate& rate : kRates) {
    absl::StrAppend(&text, rate.key, " ", Digits(profile.*rate.value), "\n");
  }
  absl::StrAppend(&text, "threads ", profile.threads, "\n");
  return text;
}

const HostProfile& DefaultHostProfile() {
  static const HostProfile* const profile = [] {
    auto* p = new HostProfile;
    p->name = "default";
    p->node_ns = 300;
    p->byte_ns = 0.05;
    p->element_ns = 2.9;
    p->instruction_ns = 0.11;
    p->mac_float_ns = 0.08;
    p->mac_int_ns = 0.14;
    p->row_ns = 3.5;
    p->job_us = 70;
    p->transfer_byte_ns = 0.25;
    return p;
  }();
  return *profile;
}

}  // namespace heddle::compiler
