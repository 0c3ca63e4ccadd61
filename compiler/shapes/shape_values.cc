// SPDX-License-Identifier: Apache-2.0
#include "compiler/shapes/shape_values.h"

#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/package/shape_set.h"

namespace heddle::compiler {
namespace {

constexpr char kForm[] =
    "give SYMBOL=VALUES;... such as batch=1..8;height=224,320 (A..B:STEP "
    "counts in steps)";

// "8", "1..8", "64..256:64".
bool AddItem(absl::string_view item, std::set<int64_t>* values) {
  int64_t first = 0, last = 0, step = 1;
  const size_t dots = item.find("..");
  if (dots == absl::string_view::npos) {
    if (!absl::SimpleAtoi(item, &first)) return false;
    last = first;
  } else {
    absl::string_view end = item.substr(dots + 2);
    const size_t colon = end.find(':');
    if (colon != absl::string_view::npos) {
      if (!absl::SimpleAtoi(end.substr(colon + 1), &step)) return false;
      end = end.substr(0, colon);
    }
    if (!absl::SimpleAtoi(item.substr(0, dots), &first) ||
        !absl::SimpleAtoi(end, &last)) {
      return false;
    }
  }
  if (first < 1 || last < first || step < 1 || last > INT32_MAX) return false;
  for (int64_t value = first; value <= last; value += step) {
    values->insert(value);
    if (values->size() > package::kMostSpecialisations) return true;
  }
  return true;
}

}  // namespace

absl::Status ParseShapeValues(absl::string_view text, ShapeValues* values) {
  for (absl::string_view entry : absl::StrSplit(text, ';', absl::SkipEmpty())) {
    const auto bad = [&](const std::string& why) {
      return absl::InvalidArgumentError(
          absl::StrCat("--shape-set ", entry, ": ", why, "; ", kForm));
    };
    // Names may contain '='.
    const size_t equals = entry.rfind('=');
    if (equals == absl::string_view::npos || equals == 0) return bad("no name");
    std::set<int64_t> list;
    for (absl::string_view item :
         absl::StrSplit(entry.substr(equals + 1), ',')) {
      if (!AddItem(item, &list)) {
        return bad(absl::StrCat("'", item,
                                "' is neither a positive number nor "
                                "a range of them"));
      }
    }
    if (list.size() > package::kMostSpecialisations) {
      return bad(
          absl::StrCat("more than ", package::kMostSpecialisations, " values"));
    }
    const std::string name(entry.substr(0, equals));
    if (!values->emplace(name, std::vector<int64_t>(list.begin(), list.end()))
             .second) {
      return bad("the name is given twice");
    }
  }
  return absl::OkStatus();
}

std::string SymbolOf(const InputDeclaration& input, size_t axis) {
  const std::string& name = input.symbols[axis];
  return name.empty() ? absl::StrCat(input.name, ":", axis) : name;
}

}  // namespace heddle::compiler
