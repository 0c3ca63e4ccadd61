// SPDX-License-Identifier: Apache-2.0
// Single operators in three sizes: cycles on the card and the bound of
// compiler/bench/operator_bound.h.
//
//   operator_bench [--config h256] [--rtl [--check] [--most 1000000]]
//                  [--size large] [--markdown | --json] [--write FOLDER]
//                  [NAME ...]
//
// Cycles are the compiler's estimates, with --rtl those of the verilated core,
// with --most but for what is estimated to take more (marked with ~)
// (--check compares its outputs with the functional model's). A name chooses
// the operators that begin with it. "limit" is what the bound follows from;
// "busy" the shares of the time in which load, store, matrix and vector engine
// work, by the estimate. Fails when a ratio is above what is asked of the
// operator and no reason is known.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/bench/operator_bound.h"
#include "compiler/bench/operator_cases.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "tests/lockstep/rtl_run.h"

namespace heddle::lockstep {
namespace {

struct Options {
  std::string config = isa::kConfigs[0].name;
  bool rtl = false, check = false;
  double most = 0;  // cycles that are measured; 0: any
};

absl::StatusOr<nlohmann::json> Measure(const compiler::OperatorCase& c,
                                       const Options& options) {
  compiler::CompileOptions compile;
  compile.config = options.config;
  auto compiled = compiler::CompileOnnx(c.model, compile);
  if (!compiled.ok()) return compiled.status();
  const compiler::CompileReport& report = compiled->report;
  if (!report.host_nodes.empty()) {
    return absl::UnimplementedError("nodes on the host");
  }
  auto package = package::Parse(compiled->package);
  if (!package.ok()) return package.status();
  double output_bytes = 0;
  for (const auto& t : package->outputs) {
    output_bytes += static_cast<double>(t.size);
  }
  const compiler::OperatorBound bound =
      compiler::BoundOf(c, output_bytes, *isa::FindConfig(options.config));
  auto cycles = static_cast<double>(report.estimated_cycles);
  nlohmann::json json = {{"operator", c.op},
                         {"size", c.size},
                         {"shape", c.shape},
                         {"estimated_cycles", cycles},
                         {"bound", bound.cycles()},
                         {"bound_vector", bound.vector},
                         {"bound_memory", bound.memory},
                         {"bound_matrix", bound.matrix},
                         {"limit", bound.limit()},
                         {"counted", c.formula},
                         {"at_most", c.at_most}};
  if (options.rtl && (options.most == 0 || cycles <= options.most)) {
    auto run = RunOnCore(*package, InputsFor(*package), {false, options.check});
    if (!run.ok()) return run.status();
    cycles = static_cast<double>(run->cycles);
    json["rtl_cycles"] = cycles;
  }
  json["cycles"] = cycles;
  json["mark"] = options.rtl && !json.contains("rtl_cycles") ? "~" : "";
  json["ratio"] = cycles / bound.cycles();
  for (const compiler::EngineReport& e : report.engines) {
    json["busy"][e.name] =
        static_cast<double>(e.busy) /
        std::max(1.0, static_cast<double>(report.estimated_cycles));
  }
  if (json["ratio"].get<double>() > c.at_most) json["reason"] = c.reason;
  return json;
}

// FOLDER/Resize_linear_small.onnx
bool WriteModel(const compiler::OperatorCase& c, const std::string& folder) {
  std::string name;
  for (const char letter : c.op.substr(0, c.op.find(" ("))) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;
    name += plain ? letter : '_';
  }
  const std::string path = folder + "/" + name + "_" + c.size + ".onnx";
  std::ofstream file(path, std::ios::binary);
  file << c.model;
  if (file.flush()) return true;
  std::fprintf(stderr, "%s cannot be written\n", path.c_str());
  return false;
}

std::string Busy(const nlohmann::json& j) {
  std::string text;
  for (const char* engine : {"load", "store", "matrix", "vector"}) {
    char part[16] = "";
    const double share =
        j["busy"].contains(engine) ? j["busy"][engine].get<double>() : 0;
    std::snprintf(part, sizeof(part), "%s%.0f", text.empty() ? "" : "/",
                  100 * share);
    text += part;
  }
  return text;
}

void PrintText(const nlohmann::json& j) {
  std::printf("%-32s %-16s %12.0f %12.0f %7.2f  %-6s %-12s %s\n",
              j["operator"].get<std::string>().c_str(),
              j["shape"].get<std::string>().c_str(), j["cycles"].get<double>(),
              j["bound"].get<double>(), j["ratio"].get<double>(),
              j["limit"].get<std::string>().c_str(), Busy(j).c_str(),
              j.value("reason", "").c_str());
  std::fflush(stdout);
}

// A row per operator: the sizes beside each other, then what is counted and the
// reasons.
void PrintMarkdown(const nlohmann::json& all) {
  std::printf(
      "| Operator | shapes | cycles | times the bound | limit | counted for an "
      "element | reason |\n|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < all.size();) {
    std::string shapes, cycles, ratios, limits, reason;
    const std::string op = all[i]["operator"];
    const std::string counted = all[i]["counted"];
    for (; i < all.size() && all[i]["operator"] == op; ++i) {
      const char* const comma = shapes.empty() ? "" : "; ";
      char text[64];
      shapes += comma + all[i]["shape"].get<std::string>();
      std::snprintf(text, sizeof(text), "%s%s%.0f", comma,
                    all[i]["mark"].get<std::string>().c_str(),
                    all[i]["cycles"].get<double>());
      cycles += text;
      std::snprintf(text, sizeof(text), "%s%.2f", comma,
                    all[i]["ratio"].get<double>());
      ratios += text;
      const std::string limit = all[i]["limit"];
      if (limits.find(limit) == std::string::npos) {
        limits += (limits.empty() ? "" : ", ") + limit;
      }
      if (all[i].contains("reason")) reason = all[i]["reason"];
    }
    std::printf("| %s | %s | %s | %s | %s | %s | %s |\n", op.c_str(),
                shapes.c_str(), cycles.c_str(), ratios.c_str(), limits.c_str(),
                counted.c_str(), reason.c_str());
  }
}

int Main(int argc, char** argv) {
  CLI::App app("Single operators against their bounds");
  Options options;
  bool json = false, markdown = false;
  std::string size, write;
  std::vector<std::string> names;
  app.add_option("--config", options.config, "hardware configuration");
  app.add_flag("--rtl", options.rtl, "cycles of the verilated core");
  app.add_flag("--check", options.check,
               "with --rtl: compare the outputs with the model");
  app.add_option("--most", options.most,
                 "with --rtl: estimates of what takes more cycles");
  app.add_option("--size", size, "small, medium or large only");
  app.add_option("--write", write, "write the models to this folder");
  app.add_flag("--json", json, "print JSON");
  app.add_flag("--markdown", markdown, "print a table of FIGURES.md");
  app.add_option("names", names, "operators that begin so (default: all)");
  CLI11_PARSE(app, argc, argv);
  if (isa::FindConfig(options.config) == nullptr) {
    std::fprintf(stderr, "unknown configuration '%s'\n",
                 options.config.c_str());
    return 2;
  }
  nlohmann::json all = nlohmann::json::array();
  bool good = true;
  for (const compiler::OperatorCase& c : compiler::OperatorCases()) {
    const bool named =
        names.empty() ||
        std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return c.op.rfind(name, 0) == 0;
        });
    if (!named || (!size.empty() && c.size != size)) continue;
    if (!write.empty() && !WriteModel(c, write)) return 1;
    auto measured = Measure(c, options);
    if (!measured.ok()) {
      std::fprintf(stderr, "%s, %s: %s\n", c.op.c_str(), c.size.c_str(),
                   std::string(measured.status().message()).c_str());
      good = false;
      continue;
    }
    if (measured->value("reason", "-").empty()) {
      std::fprintf(stderr, "%s, %s: %.2f times the bound, at most %.1f\n",
                   c.op.c_str(), c.size.c_str(),
                   (*measured)["ratio"].get<double>(), c.at_most);
      good = false;
    }
    if (!json && !markdown) PrintText(*measured);
    all.push_back(*std::move(measured));
  }
  if (json) std::printf("%s\n", all.dump(1).c_str());
  if (markdown) PrintMarkdown(all);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace heddle::lockstep

int main(int argc, char** argv) { return heddle::lockstep::Main(argc, argv); }
