// SPDX-License-Identifier: Apache-2.0
//
// heddle-timing: records when the RTL runs the commands of a package.
//
// Two runs, with different inputs. The core by itself shows when each command
// begins and ends. The whole card, behind heddle-hosted as in heddle-run --core
// rtl, tells the cycles of the job; its counters of busy cycles must be those
// of the core. So a record is written only where neither the values nor what is
// around the core make a difference.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/clock.h"
#include "compiler/base/status_macros.h"
#include "compiler/ir/mapped_file.h"
#include "compiler/package/package.h"
#include "simulator/rtl/core_model.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"
#include "tools/cli/progress.h"
#include "tools/cli/usage.h"
#include "tools/cli/version.h"
#include "tools/heddle-run/data.h"
#include "tools/heddle-run/device_model.h"
#include "tools/heddle-timing/recorder.h"
#include "tools/heddle-timing/replay.h"
#include "tools/heddle-timing/timing_record.h"

namespace heddle::timing {
namespace {

constexpr char kTool[] = "heddle-timing";

constexpr char kHelp[] =
    "Example:\n"
    "  heddle-compile model.onnx -o model.hpk\n"
    "  heddle-timing model.hpk                    (writes model.timing)\n"
    "  heddle-run --cycles exact --layers model.hpk\n"
    "\n"
    "Runs a package on the RTL, cycle by cycle, and records when each command\n"
    "begins and ends. heddle-run --cycles exact then reports these cycles at "
    "the\n"
    "speed of the functional card. They are the same for all inputs, except "
    "in\n"
    "packages with commands whose time depends on indices (Gather and the "
    "like);\n"
    "these have no exact cycles, and the tool says so. A record is valid for "
    "this\n"
    "exact package and this version of the RTL.\n"
    "\n"
    "Takes about ten seconds per million cycles.\n";

constexpr uint64_t kCoreSeed = 1, kCardSeed = 1001;
constexpr uint64_t kMegabyte = uint64_t{1} << 20;

std::vector<compiler::TensorData> Inputs(const package::Package& package,
                                         uint64_t seed) {
  std::vector<compiler::TensorData> inputs;
  for (const package::TensorInfo& info : package.inputs) {
    inputs.push_back(run::RandomTensor(info, seed + inputs.size()));
  }
  return inputs;
}

// A private RTL card that the package fits.
absl::StatusOr<std::string> RtlCard(const package::Package& package) {
  uint64_t bytes =
      package.weight_device_bytes() + package.scratch_bytes + package.io_bytes;
  for (const auto& words : package.streams) {
    bytes += words.size() * sizeof(uint32_t) + package::kPageBytes;
  }
  // The driver keeps a little for itself.
  const uint64_t needed =
      (bytes + isa::kDeviceReserveBytes) / kMegabyte + 1 + 4;
  const uint64_t memory = std::clamp(needed, isa::kDramBytesDefault / kMegabyte,
                                     isa::kDramBytesMax / kMegabyte);
  return run::SimulatedDevice(absl::StrCat("sim:memory=", memory, "M"), "rtl",
                              package.config);
}

absl::StatusOr<session::RunStatistics> RunOnCard(
    absl::string_view bytes, const package::Package& package) {
  ASSIGN_OR_RETURN(const std::string card, RtlCard(package));
  run::DeviceModel::Settings settings;
  settings.devices = {card};
  ASSIGN_OR_RETURN(const std::unique_ptr<run::DeviceModel> model,
                   run::DeviceModel::Load(bytes, true, {}, settings));
  RETURN_IF_ERROR(model->Run(Inputs(package, kCardSeed), false));
  return model->statistics();
}

absl::Status CompareRuns(const CoreRun& core,
                         const session::RunStatistics& card) {
  std::string differences;
  const auto compare = [&differences](const char* what, uint64_t a,
                                      uint64_t b) {
    if (a == b) return;
    absl::StrAppend(&differences, differences.empty() ? "" : ", ", what, " ", a,
                    " and ", b);
  };
  compare("commands", core.commands, card.commands);
  compare("busy cycles of the matrix engine", core.matrix_busy,
          card.matrix_busy);
  compare("of the vector engine", core.vector_busy, card.vector_busy);
  compare("of load and store", core.dma_busy, card.dma_busy);
  if (differences.empty()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("no record written: the RTL core and the RTL card ran with "
                   "different inputs and must agree, but differ in ",
                   differences));
}

absl::Status Record(const std::string& path, cli::Progress* progress,
                    std::string* report) {
  if (!absl::EndsWith(path, ".hpk")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", path, "' is not a package (.hpk); make one with: heddle-compile ",
        path, " -o MODEL.hpk"));
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const compiler::MappedFile> file,
                   compiler::MappedFile::Open(path));
  auto parsed = package::Parse(file->bytes(), file);
  if (!parsed.ok()) return cli::OfFile(path, parsed.status());
  const package::Package package = *std::move(parsed);
  timing::Record record;
  ASSIGN_OR_RETURN(record.valid_for,
                   ValidityHere(file->bytes(), package.config));
  ASSIGN_OR_RETURN(const std::string inexact, WhatIsInexact(package));
  ASSIGN_OR_RETURN(const std::unique_ptr<rtl::CoreModel> core,
                   rtl::MakeCore(*isa::FindConfig(package.config)));
  ASSIGN_OR_RETURN(
      CoreRun run,
      RunAndRecord(package, Inputs(package, kCoreSeed), core.get(),
                   [&](size_t stream, uint64_t cycles) {
                     progress->Set(
                         absl::StrFormat(
                             "stream %d of %d, cycle %d of about %d",
                             stream + 1, package.streams.size(), cycles,
                             std::max(cycles, package.estimated_cycles)),
                         static_cast<double>(cycles) /
                             static_cast<double>(std::max<uint64_t>(
                                 {cycles, package.estimated_cycles, 1})));
                   }));
  progress->Set(absl::StrCat("running the job on the whole card, more than ",
                             run.cycles, " cycles"));
  ASSIGN_OR_RETURN(const session::RunStatistics card,
                   RunOnCard(file->bytes(), package));
  if (inexact.empty()) RETURN_IF_ERROR(CompareRuns(run, card));
  record.job_cycles = card.cycles;
  record.streams = std::move(run.streams);
  uint64_t exact = 0, commands = 0;
  for (const RecordedStream& stream : record.streams) {
    for (const RecordedCommand& c : stream.commands) {
      ++commands;
      exact += !c.inexact;
    }
  }
  RETURN_IF_ERROR(file->Unchanged());
  const std::string to = RecordPath(path);
  const uint32_t clock_mhz = compiler::ClockMhz(package.config);
  RETURN_IF_ERROR(cli::WriteFile(to, Serialize(record)));
  *report = absl::StrFormat(
      "%s: %d commands in %d cycles (%s), %d with the copies of the job (%s)\n",
      to, commands, run.cycles, compiler::AtTheClock(run.cycles, clock_mhz),
      record.job_cycles, compiler::AtTheClock(record.job_cycles, clock_mhz));
  if (!inexact.empty()) {
    absl::StrAppendFormat(
        report,
        "%d of these times are exact, the others hold for one input only: %s. "
        "heddle-run --cycles exact rejects the package.\n",
        exact, inexact);
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  std::string path;
  bool show_progress = false;
  CLI::App app(kHelp, kTool);
  cli::WrapHelp(&app);
  app.set_version_flag("--version", absl::StrCat(kTool, " ", cli::kVersion));
  app.add_option("package", path, "package (.hpk)")->required();
  app.add_flag("--progress", show_progress,
               "show progress even if stderr is not a terminal");
  app.footer(cli::kExitCodeHelp);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli::ExitOfParse(app, error);
  }
  std::string report;
  cli::Progress progress(kTool, show_progress);
  const absl::Status status = Record(path, &progress, &report);
  progress.Stop();
  if (!status.ok()) return cli::Fail(kTool, status);
  if (std::fputs(report.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return cli::Fail(kTool, absl::DataLossError("cannot write to stdout"));
  }
  return cli::kOk;
}

}  // namespace
}  // namespace heddle::timing

int main(int argc, char** argv) { return heddle::timing::Main(argc, argv); }
