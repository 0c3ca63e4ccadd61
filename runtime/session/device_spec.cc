// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/device_spec.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/spec/version.h"

namespace heddle::session {
namespace {

constexpr uint32_t kMaxCards = 16;

absl::Status Bad(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("device '", text, "': ", why,
                   "; give drm[:NODE], hosted:SOCKET[#CARD], "
                   "sim[:config=h256,memory=512M,...], null or none"));
}

absl::Status CheckOption(DeviceSpec::Kind kind, absl::string_view text,
                         const std::string& name, const std::string& value) {
  if (name == "config") {
    if (isa::FindConfig(value) == nullptr) {
      return Bad(text, absl::StrCat("unknown configuration '", value, "'"));
    }
    return absl::OkStatus();
  }
  if (name == "memory") {
    const auto bytes = ParseBytes(value);
    if (!bytes.ok() || *bytes < isa::kDramBytesMin ||
        *bytes > isa::kDramBytesMax) {
      return Bad(text, absl::StrCat("memory=", value, " is not 64M to 4G"));
    }
    return absl::OkStatus();
  }
  if (kind == DeviceSpec::Kind::kSim) {
    uint64_t number = 0;
    if (name == "cards") {
      if (!absl::SimpleAtoi(value, &number) || number < 1 ||
          number > kMaxCards) {
        return Bad(text,
                   absl::StrCat("cards=", value, " is not 1 to ", kMaxCards));
      }
      return absl::OkStatus();
    }
    if (name == "serial") {
      if (!absl::SimpleAtoi(value, &number)) {
        return Bad(text, absl::StrCat("serial=", value, " is not a number"));
      }
      return absl::OkStatus();
    }
    if (name == "host-latency") {
      if (!absl::SimpleAtoi(value, &number) || number < 1 || number > 1000000) {
        return Bad(text, absl::StrCat("host-latency=", value,
                                      " is not 1 to 1000000 cycles"));
      }
      return absl::OkStatus();
    }
    if (name == "hw-version") {
      uint32_t version = 0;
      if (!reg::ParseVersion(value, &version)) {
        return Bad(text, absl::StrCat("hw-version=", value,
                                      " is not a version such as 1.0"));
      }
      return absl::OkStatus();
    }
    if (name == "core" || name == "control") return absl::OkStatus();
  }
  return Bad(text, absl::StrCat("unknown option '", name, "'"));
}

}  // namespace

std::string DeviceSpec::ToString() const {
  const std::string list =
      options.empty()
          ? ""
          : absl::StrCat(":",
                         absl::StrJoin(options, ",", absl::PairFormatter("=")));
  switch (kind) {
    case Kind::kAuto:
      return "";
    case Kind::kDrm:
      if (serial.has_value()) return absl::StrCat("drm:serial=", *serial);
      return node.empty() ? "drm" : absl::StrCat("drm:", node);
    case Kind::kHosted:
      return absl::StrCat("hosted:", socket);
    case Kind::kSim:
      return absl::StrCat("sim", list);
    case Kind::kNull:
      return absl::StrCat("null", list);
    case Kind::kNone:
      return "none";
  }
  return "";
}

std::string DeviceSpec::Option(const std::string& name,
                               std::string fallback) const {
  const auto it = options.find(name);
  return it == options.end() ? std::move(fallback) : it->second;
}

absl::StatusOr<DeviceSpec> ParseDeviceSpec(absl::string_view text) {
  DeviceSpec spec;
  if (text.empty()) return spec;
  absl::string_view rest = text;
  if (const size_t at = text.rfind('#'); at != absl::string_view::npos) {
    uint32_t card = 0;
    if (!absl::SimpleAtoi(text.substr(at + 1), &card)) {
      return Bad(text, "what follows '#' is not the number of a card");
    }
    spec.card = card;
    rest = text.substr(0, at);
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(rest, absl::MaxSplits(':', 1));
  const bool colon = rest.find(':') != absl::string_view::npos;
  if (parts.first == "hosted") {
    spec.kind = DeviceSpec::Kind::kHosted;
    spec.socket = std::string(parts.second);
    if (spec.socket.empty())
      return Bad(text, "the path of the socket is missing");
    return spec;
  }
  if (parts.first == "drm") {
    spec.kind = DeviceSpec::Kind::kDrm;
    if (spec.card.has_value()) {
      return Bad(text, "cards of heddle.ko have no number; give the node");
    }
    absl::string_view where = parts.second;
    if (colon && where.empty()) return Bad(text, "the node is missing");
    if (absl::ConsumePrefix(&where, "serial=")) {
      uint64_t serial = 0;
      if (!absl::SimpleAtoi(where, &serial)) {
        return Bad(text, absl::StrCat("serial=", where, " is not a number"));
      }
      spec.serial = serial;
    } else if (!where.empty() && where.find('/') == absl::string_view::npos) {
      spec.node = absl::StrCat(
          absl::StartsWith(where, "accel") ? "/dev/accel/" : "/dev/dri/",
          where);
    } else {
      spec.node = std::string(where);
    }
    return spec;
  }
  if (parts.first == "none" && !colon && !spec.card.has_value()) {
    spec.kind = DeviceSpec::Kind::kNone;
    return spec;
  }
  if (parts.first == "sim") {
    spec.kind = DeviceSpec::Kind::kSim;
  } else if (parts.first == "null" && !spec.card.has_value()) {
    spec.kind = DeviceSpec::Kind::kNull;
  } else {
    return Bad(text, "unknown form");
  }
  if (!colon) return spec;
  for (absl::string_view option : absl::StrSplit(parts.second, ',')) {
    const std::pair<absl::string_view, absl::string_view> item =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    const std::string name(item.first), value(item.second);
    if (absl::Status s = CheckOption(spec.kind, text, name, value); !s.ok()) {
      return s;
    }
    if (!spec.options.emplace(name, value).second) {
      return Bad(text, absl::StrCat("'", name, "' is given twice"));
    }
  }
  return spec;
}

absl::StatusOr<uint64_t> ParseBytes(absl::string_view text) {
  absl::string_view digits = text;
  uint64_t unit = 1;
  if (absl::ConsumeSuffix(&digits, "K")) {
    unit = uint64_t{1} << 10;
  } else if (absl::ConsumeSuffix(&digits, "M")) {
    unit = uint64_t{1} << 20;
  } else if (absl::ConsumeSuffix(&digits, "G")) {
    unit = uint64_t{1} << 30;
  }
  uint64_t count = 0, bytes = 0;
  if (!absl::SimpleAtoi(digits, &count) ||
      __builtin_mul_overflow(count, unit, &bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a size such as 512M"));
  }
  return bytes;
}

}  // namespace heddle::session
