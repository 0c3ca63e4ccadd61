// SPDX-License-Identifier: Apache-2.0
// Syntax of HEDDLE_DEVICE and of device ids:
//
//   drm[:NODE]             cards of heddle.ko, or the one of this node (a path,
//                          or a name in /dev/accel or /dev/dri)
//   drm:serial=N           the card of heddle.ko with this serial number
//   hosted:SOCKET[#CARD]   cards of a running heddle-hosted
//   sim[:NAME=VALUE,...]   simulated cards of this process: config=h256,
//                          memory=512M, core=fast, serial=N, cards=N,
//                          control=PATH (of card 0, for heddle-sim ctl)
//   null[:NAME=VALUE,...]  no card, jobs do nothing: config=, memory=
//   none                   no device
//   (empty)                choose: heddle.ko, else a running heddle-hosted,
//                          else simulate
//
// An id has this syntax, with "#CARD" appended for hosted and sim. A card of
// heddle.ko gets a new node when replugged, so its id contains the serial
// number unless that is 0.
#ifndef HEDDLE_RUNTIME_SESSION_DEVICE_SPEC_H_
#define HEDDLE_RUNTIME_SESSION_DEVICE_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::session {

// Where a heddle-hosted of the whole system listens.
inline constexpr char kSystemSocket[] = "/run/heddle/hosted.sock";

struct DeviceSpec {
  enum class Kind { kAuto, kDrm, kHosted, kSim, kNull, kNone };
  Kind kind = Kind::kAuto;
  std::string node;                            // kDrm, empty = all
  std::optional<uint64_t> serial;              // kDrm
  std::string socket;                          // kHosted
  std::map<std::string, std::string> options;  // kSim, kNull
  std::optional<uint32_t> card;                // one card, otherwise all

  // Text without the card: the id of card n is this and "#n".
  std::string ToString() const;
  // Value of an option, or `fallback`.
  std::string Option(const std::string& name, std::string fallback) const;
};

// InvalidArgument: not one of the forms above.
absl::StatusOr<DeviceSpec> ParseDeviceSpec(absl::string_view text);

// "512M", "1G", "65536": bytes.
absl::StatusOr<uint64_t> ParseBytes(absl::string_view text);

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_DEVICE_SPEC_H_
