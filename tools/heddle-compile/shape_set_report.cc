// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-compile/shape_set_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/cli/printable.h"

namespace heddle::compile {
namespace {

using nlohmann::ordered_json;

uint64_t Separate(const compiler::ShapeSetReport& set) {
  uint64_t sum = 0;
  for (const auto& s : set.specialisations) sum += s.package_bytes;
  return sum;
}

std::string Values(const compiler::ShapeSetReport& set,
                   const std::vector<int64_t>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", cli::Printable(set.symbols[i]),
                    "=", values[i]);
  }
  return text;
}

}  // namespace

std::string ShapeSetLine(const compiler::ShapeSetReport& set) {
  return absl::StrCat(
      set.specialisations.size(),
      set.specialisations.size() == 1 ? " specialisation" : " specialisations",
      " in ", set.package_bytes, " bytes; as separate packages ",
      Separate(set));
}

std::string ShapeSetText(const compiler::ShapeSetReport& set) {
  size_t width = 14;
  for (const auto& s : set.specialisations) {
    width = std::max(width, Values(set, s.values).size());
  }
  const int w = static_cast<int>(width);
  std::string text =
      absl::StrFormat("%-*s %12s %12s %10s %5s\n", w, "specialisation", "bytes",
                      "added bytes", "cycles*", "host");
  for (const auto& s : set.specialisations) {
    absl::StrAppendFormat(&text, "%-*s %12d %12d %10d %5d\n", w,
                          Values(set, s.values), s.package_bytes, s.added_bytes,
                          s.estimated_cycles, s.host_nodes);
  }
  absl::StrAppend(&text, ShapeSetLine(set), "\n");
  for (const std::string& sentence : set.padding) {
    absl::StrAppend(&text, "padding: ", cli::Printable(sentence), "\n");
  }
  return absl::StrCat(text, "the largest, ",
                      Values(set, set.specialisations.back().values), ":\n\n");
}

std::string ShapeValuesText(const compiler::ShapeValues& values) {
  std::string held, largest;
  for (const auto& [name, list] : values) {
    absl::StrAppend(&held, held.empty() ? "" : "; ", cli::Printable(name), " ",
                    absl::StrJoin(list, ","));
    absl::StrAppend(&largest, largest.empty() ? "" : ", ", cli::Printable(name),
                    "=", list.back());
  }
  return absl::StrCat("specialisations: ", held, "\nthe largest, ", largest,
                      ":\n");
}

ordered_json ShapeSetAsJson(const compiler::ShapeSetReport& set) {
  ordered_json list = ordered_json::array();
  for (const auto& s : set.specialisations) {
    ordered_json values = ordered_json::object();
    for (size_t i = 0; i < s.values.size(); ++i) {
      values[set.symbols[i]] = s.values[i];
    }
    list.push_back({{"values", std::move(values)},
                    {"bytes", s.package_bytes},
                    {"added_bytes", s.added_bytes},
                    {"estimated_cycles", s.estimated_cycles},
                    {"host_operators", s.host_nodes}});
  }
  return {{"bytes", set.package_bytes},
          {"separate_bytes", Separate(set)},
          {"padding", set.padding},
          {"specialisations", std::move(list)}};
}

}  // namespace heddle::compile
