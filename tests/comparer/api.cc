// SPDX-License-Identifier: Apache-2.0
#include "tests/comparer/api.h"

#include "absl/strings/str_cat.h"
#include "tests/comparer/api_internal.h"

namespace heddle::comparer {
namespace {

const char* NameOf(int status) {
  switch (status) {
    case 0x0000:
      return "SUCCESS";
    case 0x0001:
      return "FALLBACK";
    case 0x0101:
      return "INVALID_ID";
    case 0x0102:
      return "INVALID_SIZE";
    case 0x0103:
      return "INVALID_POINTER";
    case 0x0104:
      return "INVALID_PROTOBUF";
    case 0x0105:
      return "INVALID_MODEL";
    case 0x0106:
      return "INVALID_BACKEND";
    case 0x0107:
      return "INVALID_GRAPH";
    case 0x0108:
      return "INVALID_EVENT";
    case 0x0109:
      return "INVALID_STATE";
    case 0x010A:
      return "INVALID_NAME";
    case 0x010B:
      return "INVALID_SHAPE";
    case 0x010C:
      return "INVALID_DATATYPE";
    case 0x010D:
      return "INVALID_MEMORY_TYPE";
    case 0x010E:
      return "INVALID_MEMORY_LOCATION";
    case 0x010F:
      return "INVALID_FENCE_TYPE";
    case 0x0110:
      return "INVALID_PROPERTY";
    case 0x0201:
      return "UNSUPPORTED_TAG";
    case 0x0202:
      return "UNSUPPORTED_VERSION";
    case 0x0203:
      return "UNSUPPORTED_OPERATOR";
    case 0x0204:
      return "UNSUPPORTED_ATTRIBUTE";
    case 0x0205:
      return "UNSUPPORTED_SHAPE";
    case 0x0206:
      return "UNSUPPORTED_DATATYPE";
    case 0x0207:
      return "UNSUPPORTED_MEMORY_TYPE";
    case 0x0208:
      return "UNSUPPORTED_FENCE_TYPE";
    case 0x0209:
      return "UNSUPPORTED_PROPERTY";
    case 0x0301:
      return "UNIDENTIFIED_NAME";
    case 0x0302:
      return "MISMATCHING_SHAPE";
    case 0x0303:
      return "MISMATCHING_DATATYPE";
    case 0x0401:
      return "NO_SYSTEM_MEMORY";
    case 0x0402:
      return "NO_DEVICE_MEMORY";
    case 0x0403:
      return "NO_SYSTEM_RESOURCES";
    case 0x0404:
      return "NO_DEVICE_RESOURCES";
    case 0x0405:
      return "BACKEND_UNAVAILABLE";
    case 0x0406:
      return "INTERNAL_ERROR";
    case 0x0407:
      return "FATAL_ERROR";
    default:
      return "unknown status";
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Api>> Api::Load(const std::string& path,
                                               Abi abi) {
  return abi == Abi::kExtended ? LoadExtended(path) : LoadOnnx1(path);
}

std::string StatusName(int status) {
  return absl::StrCat(NameOf(status), " (0x", absl::Hex(status), ")");
}

}  // namespace heddle::comparer
