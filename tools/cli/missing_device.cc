// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/missing_device.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/hal/drm_transport.h"
#include "runtime/hal/hosted_transport.h"
#include "runtime/session/device_spec.h"
#include "tools/cli/printable.h"

namespace heddle::cli {
namespace {

using Kind = session::DeviceSpec::Kind;

constexpr char kDoctor[] = "heddle-smi doctor finds out why";

std::string OfDrm(const session::DeviceSpec& spec) {
  const auto nodes = hal::ListDrm();
  if (!nodes.ok()) return std::string(nodes.status().message());
  std::vector<std::string> there;
  for (const std::string& node : *nodes) there.push_back("drm:" + node);
  const std::string missing =
      spec.serial.has_value()
          ? absl::StrCat("no card of heddle.ko has the serial number ",
                         *spec.serial)
      : spec.node.empty() ? "heddle.ko has no card"
                          : absl::StrCat("no card at '", spec.node, "'");
  if (!there.empty()) {
    return absl::StrCat(missing, "; there is ", absl::StrJoin(there, ", "),
                        " (heddle-smi shows them with their serial numbers)");
  }
  return spec.serial.has_value() || !spec.node.empty()
             ? absl::StrCat(missing, ", nor any other of heddle.ko; ", kDoctor)
             : absl::StrCat(missing, "; ", kDoctor);
}

std::string OfHosted(const session::DeviceSpec& spec) {
  const auto cards = hal::ListHosted(spec.socket);
  if (!cards.ok()) {
    return absl::StrCat(cards.status().message(), "; ", kDoctor);
  }
  const std::string server =
      absl::StrCat("the heddle-hosted at '", spec.socket, "'");
  if (cards->empty()) {
    return absl::StrCat(server,
                        " has no card at present; it reports when it finds "
                        "one");
  }
  std::vector<std::string> there;
  for (const uint32_t card : *cards) {
    there.push_back(absl::StrCat(spec.ToString(), "#", card));
  }
  return absl::StrCat(
      server, " has no card",
      spec.card.has_value() ? absl::StrCat(" ", *spec.card) : " that fits",
      "; there is ", absl::StrJoin(there, ", "));
}

// Private cards are there unless the number is none of theirs.
std::string OfSim(const session::DeviceSpec& spec) {
  uint32_t cards = 1;
  if (!absl::SimpleAtoi(spec.Option("cards", "1"), &cards)) cards = 1;
  std::vector<std::string> there;
  for (uint32_t card = 0; card < cards; ++card) {
    there.push_back(absl::StrCat(spec.ToString(), "#", card));
  }
  return absl::StrCat("the simulation has no card ", spec.card.value_or(0),
                      "; there is ", absl::StrJoin(there, ", "));
}

}  // namespace

std::string MissingDevice(const std::string& device) {
  const auto spec = session::ParseDeviceSpec(device);
  if (!spec.ok()) return Printable(spec.status().message());
  switch (spec->kind) {
    case Kind::kDrm:
      return Printable(OfDrm(*spec));
    case Kind::kHosted:
      return Printable(OfHosted(*spec));
    case Kind::kSim:
      return Printable(OfSim(*spec));
    case Kind::kNone:
      return "the device is 'none'; give another with --device or "
             "HEDDLE_DEVICE";
    default:
      return absl::StrCat("no Heddle device; ", kDoctor);
  }
}

}  // namespace heddle::cli
