// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-compile/html_report.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "rtl/spec/generated/isa.h"
#include "tools/heddle-compile/report.h"
#include "tools/heddle-compile/report_page.inc"  // kReportPage
#include "tools/heddle-compile/shape_set_report.h"

namespace heddle::compile {
namespace {

using nlohmann::ordered_json;

constexpr absl::string_view kMark = "@DATA@";

}  // namespace

std::string HtmlReport(const std::string& file, const package::Package& package,
                       const compiler::CompileReport& report,
                       const compiler::ShapeSetReport* set) {
  ordered_json json = ReportAsJson(package, report);
  json["file"] = file;
  if (set != nullptr) json["shape_set"] = ShapeSetAsJson(*set);
  ordered_json timeline = ordered_json::array();
  for (const compiler::CommandReport& c : report.commands_in_time) {
    if (c.engine < 0) continue;
    timeline.push_back(
        {c.engine, c.layer, c.start, c.end, c.bytes, c.mnemonic});
  }
  json["timeline"] = std::move(timeline);
  if (const isa::Config* config = isa::FindConfig(package.config)) {
    json["hardware"] = {
        {"matrix_macs_per_cycle", config->lanes_in * config->lanes_out},
        {"vector_macs_per_cycle", isa::kVectorLanes},
        {"dram_bytes_per_cycle", config->dram_bytes_per_cycle}};
  }
  // Inside a script element only '<' could end it; the others for certainty.
  const std::string data = absl::StrReplaceAll(
      json.dump(-1, ' ', false, ordered_json::error_handler_t::replace),
      {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
  const absl::string_view page(kReportPage);
  const size_t at = page.find(kMark);
  return absl::StrCat(page.substr(0, at), data, page.substr(at + kMark.size()));
}

}  // namespace heddle::compile
