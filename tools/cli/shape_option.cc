// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/shape_option.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace heddle::cli {

absl::Status ParseShapes(const std::vector<std::string>& texts,
                         std::map<std::string, compiler::Shape>* shapes) {
  for (const std::string& text : texts) {
    const auto bad = [&text](const char* why) {
      return absl::InvalidArgumentError(
          absl::StrCat("--shape ", text, ": ", why,
                       "; give NAME=D,D,... such as image=1,3,224,224"));
    };
    // Names of tensors may contain '='.
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) return bad("no name");
    compiler::Shape shape;
    const std::string list = text.substr(equals + 1);
    if (!list.empty()) {
      for (absl::string_view item : absl::StrSplit(list, ',')) {
        int64_t dimension = 0;
        if (!absl::SimpleAtoi(item, &dimension) || dimension < 1) {
          return bad("a dimension is not a positive number");
        }
        shape.push_back(dimension);
      }
    }
    if (!shapes->emplace(text.substr(0, equals), shape).second) {
      return bad("the name is given twice");
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::cli
