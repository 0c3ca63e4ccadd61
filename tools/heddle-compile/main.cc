// SPDX-License-Identifier: Apache-2.0
//
// heddle-compile: an ONNX model to a package (.hpk), and what became of it.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"
#include "compiler/import/input_declaration.h"
#include "compiler/ir/mapped_file.h"
#include "compiler/package/package.h"
#include "compiler/passes/registry.h"
#include "compiler/report/explain.h"
#include "compiler/report/package_report.h"
#include "compiler/report/support_page.h"
#include "compiler/shapes/compile_shape_set.h"
#include "compiler/shapes/shape_values.h"
#include "rtl/spec/generated/isa.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"
#include "tools/cli/placement_option.h"
#include "tools/cli/printable.h"
#include "tools/cli/progress.h"
#include "tools/cli/shape_option.h"
#include "tools/cli/usage.h"
#include "tools/cli/version.h"
#include "tools/heddle-compile/html_report.h"
#include "tools/heddle-compile/list.h"
#include "tools/heddle-compile/pass_dump.h"
#include "tools/heddle-compile/report.h"
#include "tools/heddle-compile/shape_set_report.h"

namespace {

using heddle::cli::Fail;

constexpr char kTool[] = "heddle-compile";

constexpr char kHelp[] =
    "Example:\n"
    "  heddle-compile model.onnx -o model.hpk --report\n"
    "  heddle-compile model.onnx --report=html    (writes model.html)\n"
    "  heddle-compile model.hpk --report          (what a package says)\n"
    "  heddle-compile model.onnx --shape-set 'batch=1..8;height=224,320' -o "
    "model.hpk\n"
    "  heddle-compile model.onnx --list        (inputs and outputs; also of a "
    ".hpk)\n"
    "  heddle-compile model.onnx --explain conv1\n"
    "  heddle-compile model.onnx --stop-after plan-memory\n"
    "  heddle-run model.hpk\n"
    "\n"
    "Compiles an ONNX model to a package for the Heddle runtime. The same "
    "model\n"
    "and options always give the same bytes.\n";

struct Arguments {
  std::vector<std::string> command;  // the tool and its arguments, as given
  std::string model, output, report, report_file, explain, supported;
  std::string stop_after, dump_folder;
  std::string config = heddle::isa::kConfigs[0].name;
  std::vector<std::string> shapes, shape_sets, bounds;
  bool taps = false, progress = false, print_passes = false, no_host = false;
  std::string list;  // "text", "json"
  // Of the options that are given, one that a package has no use for.
  std::string needs_model;
  uint64_t device_memory = 0, sram = 0;
  uint32_t weight_windows = 2;
  int threads = 0;
  std::string goal = "speed";
  heddle::cli::PlacementArguments placement;
};

const std::map<std::string, heddle::compiler::Goal> kGoals = {
    {"speed", heddle::compiler::Goal::kSpeed},
    {"thorough", heddle::compiler::Goal::kThorough},
    {"traffic", heddle::compiler::Goal::kTraffic},
    {"compile-time", heddle::compiler::Goal::kCompileTime}};

int Print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
      std::fflush(stdout) != 0) {
    return Fail(kTool, absl::DataLossError("cannot write to stdout"));
  }
  return heddle::cli::kOk;
}

// The model's file without its folders.
std::string FileOf(const Arguments& arguments) {
  return arguments.model.substr(arguments.model.rfind('/') + 1);
}

// The package's name with .html instead; without a package the model's, here.
std::string HtmlFile(const Arguments& arguments) {
  if (!arguments.report_file.empty()) return arguments.report_file;
  std::string name = arguments.output;
  if (name.empty()) name = FileOf(arguments);
  const size_t dot = name.rfind('.');
  const size_t slash = name.rfind('/');
  if (dot != std::string::npos && dot > 0 &&
      (slash == std::string::npos || dot > slash + 1)) {
    name.resize(dot);
  }
  return name + ".html";
}

// After a rejection for an operator: everything that is missing, at once; the
// rejection itself has named one.
void PrintMissing(absl::string_view model,
                  const heddle::compiler::CompileOptions& options) {
  const auto missing = heddle::compiler::MissingOperators(model, options);
  if (missing.size() < 2) return;
  std::fprintf(stderr, "%s: operators that the card cannot run:\n", kTool);
  for (const auto& m : missing) {
    std::fprintf(
        stderr, "  %-24s %-14s %6zu   first: '%s'\n",
        heddle::cli::Printable(m.op).c_str(),
        m.domain.empty() ? "ai.onnx" : heddle::cli::Printable(m.domain).c_str(),
        m.count, heddle::cli::Printable(m.first_node).c_str());
  }
}

// Which option would write over the model, or over what another one writes; ""
// if none would.
std::string WhatIsOverwritten(const Arguments& arguments) {
  const auto is_model = [&](const std::string& file) {
    return heddle::cli::SameFile(file, arguments.model);
  };
  const std::string report =
      arguments.report == "html" ? HtmlFile(arguments) : arguments.report_file;
  if (!arguments.output.empty() && is_model(arguments.output)) {
    return absl::StrCat("-o: '", arguments.output,
                        "' is the model itself; give another file");
  }
  if (report.empty()) return "";
  if (is_model(report)) {
    return absl::StrCat("--report: '", report,
                        "' is the model itself; give another file with "
                        "--report-file");
  }
  if (report == arguments.output) {
    return absl::StrCat("--report: '", report,
                        "' is the package, too; give another file with "
                        "--report-file");
  }
  return "";
}

// What the host has to do, and why: it may be much slower than the card.
void PrintHostNodes(const heddle::compiler::CompileReport& report) {
  constexpr size_t kMost = 8;
  const auto& nodes = report.host_nodes;
  if (report.segments.empty()) return;
  std::fprintf(stderr,
               "%s: %zu node%s of the model %s on the host instead of the card "
               "(%zu segment%s; --no-host rejects such models, --place=card "
               "moves all but those the card cannot run):\n",
               kTool, nodes.size(), nodes.size() == 1 ? "" : "s",
               nodes.size() == 1 ? "runs" : "run", report.segments.size(),
               report.segments.size() == 1 ? "" : "s");
  for (size_t i = 0; i < nodes.size() && i < kMost; ++i) {
    std::fprintf(stderr, "  %s\n",
                 heddle::cli::Printable(nodes[i].reason).c_str());
  }
  if (nodes.size() > kMost) {
    std::fprintf(stderr, "  and %zu more; --report lists all\n",
                 nodes.size() - kMost);
  }
}

int Explain(const Arguments& arguments, absl::string_view model,
            const heddle::compiler::CompileOptions& options,
            const std::function<void(const absl::Status&)>& example) {
  const auto explanation =
      heddle::compiler::ExplainNode(model, options, arguments.explain);
  if (!explanation.ok()) {
    const int code = Fail(kTool, explanation.status());
    example(explanation.status());
    return code;
  }
  // Line by line: names may hold anything.
  std::string text;
  for (absl::string_view rest = explanation->text; !rest.empty();) {
    const size_t end = rest.find('\n');
    absl::StrAppend(&text, heddle::cli::Printable(rest.substr(0, end)), "\n");
    if (end == absl::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (const int code = Print(text); code != heddle::cli::kOk) return code;
  return heddle::cli::ExitCodeOf(explanation->rejection);
}

int WriteReport(const Arguments& arguments,
                const heddle::package::Package& package,
                const heddle::compiler::CompileReport& report,
                const heddle::compiler::ShapeSetReport* set) {
  std::string file = arguments.report_file, text;
  if (arguments.report == "json") {
    text = heddle::compile::JsonReport(package, report, set);
  } else if (arguments.report == "html") {
    file = HtmlFile(arguments);
    text = heddle::compile::HtmlReport(FileOf(arguments), package, report, set);
  } else {
    text = heddle::compile::TextReport(package, report);
    if (set != nullptr) text = heddle::compile::ShapeSetText(*set) + text;
  }
  if (file.empty()) return Print(text);
  const absl::Status status = heddle::cli::WriteFile(file, text);
  if (!status.ok()) return Fail(kTool, status);
  if (file == "-") return heddle::cli::kOk;
  std::fprintf(stderr, "%s: wrote report to %s\n", kTool,
               heddle::cli::Printable(file).c_str());
  return heddle::cli::kOk;
}

int WriteReport(const Arguments& arguments,
                const heddle::compiler::CompileResult& result,
                const heddle::compiler::ShapeSetReport* set = nullptr) {
  const auto package = heddle::package::Parse(
      result.package, heddle::compiler::KeptByCaller(result.package));
  if (!package.ok()) return Fail(kTool, package.status());
  return WriteReport(arguments, *package, result.report, set);
}

// What can be done with a file that is compiled already.
int ReportPackage(
    const Arguments& arguments,
    const std::shared_ptr<const heddle::compiler::MappedFile>& file) {
  const std::string name = heddle::cli::Printable(arguments.model);
  if (arguments.report.empty() || !arguments.needs_model.empty()) {
    Fail(kTool,
         absl::InvalidArgumentError(absl::StrCat(
             "'", name, "' is already compiled",
             arguments.needs_model.empty()
                 ? ""
                 : absl::StrCat(", and ", arguments.needs_model,
                                " is for models"),
             ": heddle-compile --report reports on it, --list shows its "
             "contents, heddle-run runs it, heddle-run --layers reports on a "
             "run")));
    return heddle::cli::kUsage;
  }
  const auto made = heddle::compiler::ReportOfFile(file->bytes(), file,
                                                   arguments.report != "text");
  if (auto s = file->Unchanged(); !s.ok()) return Fail(kTool, s);
  if (!made.ok()) {
    // It may hold anything, as names do.
    const absl::Status printable(
        made.status().code(), heddle::cli::Printable(made.status().message()));
    return Fail(kTool, heddle::cli::OfFile(arguments.model, printable));
  }
  return WriteReport(arguments, made->package, made->report,
                     made->set ? &*made->set : nullptr);
}

// The values that --shape-set gives.
absl::Status ShapeSetValues(const Arguments& arguments, absl::string_view model,
                            const heddle::compiler::CompileOptions& options,
                            heddle::compiler::ShapeValues* values) {
  for (const std::string& text : arguments.shape_sets) {
    if (text == "default") continue;
    const absl::Status status =
        heddle::compiler::ParseShapeValues(text, values);
    if (!status.ok()) return status;
  }
  auto all = heddle::compiler::AllShapeValues(model, options, *values);
  if (!all.ok()) return all.status();
  *values = *std::move(all);
  return absl::OkStatus();
}

int CompileSet(const Arguments& arguments, absl::string_view model,
               const heddle::compiler::CompileOptions& options,
               const heddle::compiler::ShapeValues& values) {
  const auto set = heddle::compiler::CompileShapeSet(model, options, values);
  if (!set.ok()) return Fail(kTool, set.status());
  PrintHostNodes(set->largest.report);
  if (!arguments.output.empty()) {
    const absl::Status status =
        heddle::cli::WriteFile(arguments.output, set->package);
    if (!status.ok()) return Fail(kTool, status);
  }
  if (!arguments.report.empty()) {
    return WriteReport(arguments, set->largest, &*set);
  }
  std::fprintf(stderr, "%s: %s\n", kTool,
               heddle::compile::ShapeSetLine(*set).c_str());
  return heddle::cli::kOk;
}

int List(const Arguments& arguments) {
  const auto file = heddle::compiler::MappedFile::Open(arguments.model);
  if (!file.ok()) return Fail(kTool, file.status());
  const auto list = heddle::compile::ListFile((*file)->bytes(), *file);
  if (auto s = (*file)->Unchanged(); !s.ok()) return Fail(kTool, s);
  if (!list.ok()) {
    const bool rejected = heddle::compiler::RejectionOf(list.status()) !=
                          heddle::compiler::Rejection::kNone;
    return Fail(kTool,
                rejected ? list.status()
                         : heddle::cli::OfFile(arguments.model, list.status()),
                arguments.model);
  }
  if (arguments.list == "text") {
    return Print(heddle::compile::ListText(*list));
  }
  return Print(list->dump(2, ' ', false,
                          nlohmann::ordered_json::error_handler_t::replace) +
               "\n");
}

int Compile(const Arguments& arguments) {
  heddle::compiler::CompileOptions options;
  options.config = arguments.config;
  options.taps = arguments.taps;
  options.host_nodes = !arguments.no_host;
  options.data_folder = heddle::cli::FolderOf(arguments.model);
  options.device_memory_bytes = arguments.device_memory;
  options.weight_windows = arguments.weight_windows;
  options.sram_bytes = arguments.sram;
  options.threads = arguments.threads;
  options.goal = kGoals.at(arguments.goal);
  options.details = !arguments.report.empty() && arguments.report != "text";
  absl::Status status =
      heddle::cli::ParseShapes(arguments.shapes, &options.input_shapes);
  if (status.ok()) {
    status = heddle::cli::ParseBounds(arguments.bounds, &options.bounds);
  }
  if (status.ok()) {
    status = heddle::cli::SetPlacement(arguments.placement, &options);
  }
  if (!status.ok()) {
    Fail(kTool, status);
    return heddle::cli::kUsage;
  }
  heddle::cli::Progress progress(kTool, arguments.progress);
  options.progress = [&progress](const char* stage, double part) {
    progress.Set(absl::StrCat("compiling: ", stage), part);
  };
  const auto file = heddle::compiler::MappedFile::Open(arguments.model);
  if (!file.ok()) return Fail(kTool, file.status());
  const absl::string_view model = (*file)->bytes();
  if (model.empty()) {
    return Fail(
        kTool,
        heddle::compiler::Reject(heddle::compiler::Rejection::kInvalidModel,
                                 "the file is empty"),
        arguments.model);
  }
  if (heddle::cli::IsPackage(model)) return ReportPackage(arguments, *file);
  const auto summary = heddle::compiler::SummariseModel(model);
  if (auto s = (*file)->Unchanged(); !s.ok()) return Fail(kTool, s);
  if (!summary.ok()) return Fail(kTool, summary.status(), arguments.model);
  status = heddle::cli::CheckShapeNames(options.input_shapes, summary->inputs);
  if (!status.ok()) return Fail(kTool, status);
  const auto example = [&](const absl::Status& rejection) {
    if (heddle::compiler::RejectionOf(rejection) !=
        heddle::compiler::Rejection::kUnsupportedShape) {
      return;
    }
    heddle::cli::PrintExample(
        kTool, heddle::cli::ShapeExample(arguments.command, model,
                                         options.input_shapes));
  };
  if (!arguments.shape_sets.empty()) {
    heddle::compiler::ShapeValues values;
    status = ShapeSetValues(arguments, model, options, &values);
    if (!status.ok()) {
      const int code = Fail(kTool, status);
      return absl::IsInvalidArgument(status) ? heddle::cli::kUsage : code;
    }
    if (arguments.explain.empty()) {
      const int code = CompileSet(arguments, model, options, values);
      progress.Stop();
      if (auto s = (*file)->Unchanged(); !s.ok()) return Fail(kTool, s);
      return code;
    }
    // Of the largest one; the others differ in sizes.
    auto largest = heddle::compiler::LargestShapes(model, options, values);
    if (!largest.ok()) return Fail(kTool, largest.status());
    options.input_shapes = *std::move(largest);
    const int code = Print(heddle::compile::ShapeValuesText(values));
    if (code != heddle::cli::kOk) return code;
  }
  if (!arguments.explain.empty()) {
    return Explain(arguments, model, options, example);
  }
  heddle::compile::PassDump dump(arguments.dump_folder, arguments.stop_after);
  if (auto s = dump.Attach(&options); !s.ok()) return Fail(kTool, s);
  const auto result = heddle::compiler::CompileOnnx(model, options);
  progress.Stop();
  if (auto s = (*file)->Unchanged(); !s.ok()) return Fail(kTool, s);
  if (dump.stopped()) return Print(dump.text());
  if (!result.ok()) {
    const int code = Fail(kTool, result.status(), arguments.model);
    example(result.status());
    options.progress = nullptr;
    options.after_pass = nullptr;
    if (heddle::compiler::RejectionOf(result.status()) ==
        heddle::compiler::Rejection::kUnsupportedOperator) {
      PrintMissing(model, options);
    }
    return code;
  }
  PrintHostNodes(result->report);
  if (!arguments.output.empty()) {
    status = heddle::cli::WriteFile(arguments.output, result->package);
    if (!status.ok()) return Fail(kTool, status);
  }
  if (!arguments.dump_folder.empty()) {
    std::fprintf(stderr,
                 "%s: wrote the state before and after each pass to %s\n",
                 kTool, arguments.dump_folder.c_str());
  } else if (arguments.output.empty() && arguments.report.empty()) {
    std::fprintf(stderr,
                 "%s: the model compiles for %s; -o FILE writes the package, "
                 "--report shows details\n",
                 kTool, arguments.config.c_str());
  }
  if (arguments.report.empty()) return heddle::cli::kOk;
  return WriteReport(arguments, *result);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  arguments.command.assign(argv, argv + argc);
  arguments.command.front() = kTool;
  CLI::App app(kHelp, kTool);
  heddle::cli::WrapHelp(&app);
  app.set_version_flag("--version",
                       absl::StrCat(kTool, " ", heddle::cli::kVersion));
  auto* model = app.add_option("model", arguments.model,
                               "ONNX model; for --list and --report also a "
                               "package");
  auto* output =
      app.add_option("-o,--output", arguments.output,
                     "package to write, - for stdout; without it, only check "
                     "and report")
          ->type_name("FILE");
  std::vector<std::string> configs;
  for (const auto& config : heddle::isa::kConfigs) {
    configs.push_back(config.name);
  }
  app.add_option("--config", arguments.config, "hardware configuration")
      ->check(CLI::IsMember(configs))
      ->capture_default_str();
  app.add_option("--shape", arguments.shapes,
                 "shape of an input, or NAME=D: the size of every dimension of "
                 "that name; required where the model leaves dimensions open; "
                 "repeatable")
      ->type_name("NAME=D,D,...")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option(
         "--bound", arguments.bounds,
         "upper bound of an integer tensor that determines a size at "
         "run time (the limit of a Range, the sizes of a Resize, the trip "
         "count of a Loop), or, by a Loop's name, of its iterations; a run "
         "that exceeds it fails; repeatable")
      ->type_name("NAME=N")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  auto* shape_set =
      app.add_option("--shape-set", arguments.shape_sets,
                     "several values for open dimensions, such as "
                     "'batch=1..8;height=224,320' (64..256:64 counts in steps "
                     "of 64). The package holds every combination and stores "
                     "equal weights once; heddle-run picks the one that fits. "
                     "A batch (a dimension that is the first of every input "
                     "that has it) defaults to 1,2,4,8; 'default' asks for "
                     "nothing else. Sizes between two values are padded where "
                     "that provably changes no byte. At most 256 combinations "
                     "and 4 GiB. An unnamed dimension is called INPUT:AXIS")
          ->type_name("DIM=VALUES;...")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--no-host", arguments.no_host,
               "reject models with nodes that the card cannot run. By default "
               "the host runs such nodes, much more slowly than the card, and "
               "a message lists them (with --taps, --stop-after and "
               "--dump-dir, host nodes are never allowed)");
  heddle::cli::AddPlacementOptions(&app, &arguments.placement);
  app.add_flag("--taps", arguments.taps,
               "make every quantized tensor an additional output")
      ->excludes(shape_set);
  // [=json]: CLI11 takes the value of an optional option from the next word,
  // too, which would swallow the model.
  auto* report =
      app.add_flag(
             "--report{text}", arguments.report,
             "print a report: --report or --report=json on stdout; "
             "--report=html writes one file, OUTPUT.html (or MODEL.html in the "
             "current folder), with timeline, SRAM, roofline and layers. Of a "
             "package (.hpk) without what it does not hold, such as shapes and "
             "SRAM")
          ->check(CLI::IsMember({"text", "json", "html"}));
  app.add_option("--report-file", arguments.report_file,
                 "write the report to this file")
      ->type_name("FILE")
      ->needs(report);
  app.add_option("--explain", arguments.explain,
                 "explain what became of a node (or of the node that computes "
                 "a tensor): fusion, engine, tiles, addresses, commands; or "
                 "why it is rejected")
      ->type_name("NODE")
      ->excludes(output)
      ->excludes(report);
  auto* explain = app.get_option("--explain");
  auto* stop_after =
      app.add_option(
             "--stop-after", arguments.stop_after,
             "stop after this pass and print the state: the graph; from "
             "'lower' on, the device operations; from 'emit' on, the commands")
          ->type_name("PASS")
          ->excludes(shape_set)
          ->excludes(output)
          ->excludes(report)
          ->excludes(explain);
  app.add_option("--dump-dir", arguments.dump_folder,
                 "write the state before and after each pass to files in this "
                 "folder, creating it if necessary")
      ->type_name("DIR")
      ->excludes(shape_set)
      ->excludes(explain);
  app.add_flag("--list{text}", arguments.list,
               "print inputs and outputs without compiling; for a package, "
               "also its contents and requirements: --list or --list=json")
      ->check(CLI::IsMember({"text", "json"}))
      ->excludes("--output")
      ->excludes("--report")
      ->excludes(explain);
  app.add_flag("--print-passes", arguments.print_passes,
               "print the passes in order, with a description; needs no model");
  app.add_flag("--supported-ops{text}", arguments.supported,
               "print the supported operators with their limits: "
               "--supported-ops or --supported-ops=json; needs no model")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--device-memory", arguments.device_memory,
                 "the card's memory, such as 64MB: weights that exceed it stay "
                 "in host memory and are copied in each run; if that is not "
                 "enough, the model is rejected")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--weight-windows", arguments.weight_windows,
                 "maximum number of device-memory windows for such weights: "
                 "with 2 (default), copies overlap computation; with 1, the "
                 "card waits for them")
      ->check(CLI::Range(1, 2));
  app.add_option("--sram", arguments.sram,
                 "use only this much SRAM, such as 256KB, to see the effect of "
                 "a smaller one")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--goal", arguments.goal,
                 "objective of the scheduler: fewest cycles (speed); the same, "
                 "trying more schedules in several times the time (thorough); "
                 "fewest bytes to and from device memory (traffic); or the "
                 "first schedule that works (compile-time)")
      ->check(CLI::IsMember(kGoals))
      ->capture_default_str();
  app.add_option("--threads", arguments.threads,
                 "compiler threads; 0: one per processor. The package does not "
                 "depend on it")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  app.add_flag("--progress", arguments.progress,
               "show progress even if stderr is not a terminal");
  app.footer(heddle::cli::kExitCodeHelp);
  try {
    app.parse(argc, argv);
    if (arguments.supported.empty() && !arguments.print_passes &&
        model->empty()) {
      throw CLI::RequiredError("model");
    }
    if (!stop_after->empty()) {
      const absl::Status known =
          heddle::compiler::FindPass(arguments.stop_after).status();
      if (!known.ok()) {
        throw CLI::ValidationError("--stop-after",
                                   std::string(known.message()));
      }
    }
    for (const CLI::Option* option : app.get_options()) {
      const std::string name = option->get_name();
      const bool any = name == "model" || name == "--report" ||
                       name == "--report-file" || name == "--progress" ||
                       name == "--threads";
      if (!any && option->count() > 0) arguments.needs_model = name;
    }
    const std::string overwritten = WhatIsOverwritten(arguments);
    if (!overwritten.empty()) {
      throw CLI::ParseError(overwritten, heddle::cli::kUsage);
    }
  } catch (const CLI::ParseError& error) {
    return heddle::cli::ExitOfParse(
        app, error,
        "Give one model; values of --list, --report and --supported-ops follow "
        "'=': --report=html.");
  }
  if (!arguments.supported.empty()) {
    return Print(arguments.supported == "json"
                     ? heddle::compiler::SupportJson()
                     : heddle::compiler::SupportPage());
  }
  if (arguments.print_passes) return Print(heddle::compile::PassTable());
  if (!arguments.list.empty()) return List(arguments);
  return Compile(arguments);
}
