// SPDX-License-Identifier: Apache-2.0
#include "absl/status/status.h"
#include "simulator/rtl/front_model.h"

namespace heddle::rtl {

absl::StatusOr<std::unique_ptr<FrontModel>> MakeFront(const FrontOptions&,
                                                      FrontEnvironment*) {
  return absl::UnimplementedError(
      "this program was built without the front end in RTL");
}

}  // namespace heddle::rtl
