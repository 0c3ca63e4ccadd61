// SPDX-License-Identifier: Apache-2.0
#include "compiler/report/package_report.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "compiler/backend/timeline_report.h"
#include "compiler/backend/weight_streaming.h"
#include "compiler/base/host_profile.h"
#include "compiler/base/status_macros.h"
#include "compiler/package/shape_set.h"
#include "compiler/partition/card_cost.h"
#include "compiler/partition/merge_report.h"
#include "compiler/stream/access.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/timing/timeline.h"

namespace heddle::compiler {
namespace {

using package::Package;
using package::SegmentKind;

// Elements, or multiplications, or micro-instructions times lanes. A card is
// busy for minutes with one such command; no network comes near.
constexpr double kMostOfCommand = 1e12, kMostOfPackage = 1e14;

template <typename... Args>
absl::Status Damaged(const Args&... args) {
  return absl::InvalidArgumentError(
      absl::StrCat("damaged package: ", args..., "; compile the model again"));
}

template <typename T>
double Elements(const T& c) {
  return 1.0 * c.n0 * c.n1 * c.n2 * c.n3;
}
template <typename T>
double Iterations(const T& c) {
  return 1.0 * c.lanes * c.n_r1 * c.n_r2 * c.n_r3 * c.n_o1 * c.n_o2 * c.n_o3;
}

// How much there is to do for a command.
double WorkOf(const isa::Command& command) {
  return std::visit(
      [](const auto& c) -> double {
        using T = std::decay_t<decltype(c)>;
        if constexpr (std::is_same_v<T, isa::Load> ||
                      std::is_same_v<T, isa::Store> ||
                      std::is_same_v<T, isa::Fill>) {
          return Elements(c);
        } else if constexpr (std::is_same_v<T, isa::LoadGather> ||
                             std::is_same_v<T, isa::StoreScatter>) {
          return 1.0 * c.n0 * c.count;
        } else if constexpr (std::is_same_v<T, isa::Conv>) {
          const bool planes = c.mode == isa::MatrixMode::kDepthwise ||
                              c.mode == isa::MatrixMode::kMaxpool;
          return 1.0 * c.out_rows * c.ow * c.kh * c.kw * c.co *
                 (planes ? 1.0 : c.ci);
        } else if constexpr (std::is_same_v<T, isa::Vrun>) {
          return Iterations(c) * (1.0 + c.prologue + c.body + c.epilogue);
        } else if constexpr (std::is_same_v<T, isa::Vmac>) {
          return Iterations(c);
        } else {
          return 0;
        }
      },
      command);
}

// Why the card refuses a command, as far as others here rely on it.
const char* WrongIn(const isa::Command& command) {
  const auto* conv = std::get_if<isa::Conv>(&command);
  if (conv == nullptr) return nullptr;
  if (conv->pool == isa::PoolKind::kMax &&
      (conv->pool_s == 0 || conv->pool_k == 0)) {
    return "it pools nothing";
  }
  if ((conv->mode == isa::MatrixMode::kFold) != (conv->fold_channels > 0)) {
    return "it folds nothing";
  }
  return nullptr;
}

// What a look at all commands of a package finds.
struct Commands {
  uint64_t count = 0;
  double work = 0;
  uint64_t sram_bytes = 0;  // up to the last that may be touched
};

absl::Status LookAt(const std::vector<uint32_t>& words, uint32_t stream,
                    const isa::Config& config, Commands* all) {
  bool ended = false;
  for (size_t at = 0; at < words.size();) {
    const auto wrong = [&](absl::string_view why) {
      return Damaged("the command at offset ", at * sizeof(uint32_t),
                     " of stream ", stream, ": ", why);
    };
    const auto command = isa::DecodeAny(&words[at], words.size() - at);
    if (!command.ok()) return wrong(command.status().message());
    if (ended) return wrong("it follows the end");
    if (const char* why = WrongIn(*command)) return wrong(why);
    const double work = WorkOf(*command);
    all->work += work;
    if (work > kMostOfCommand || all->work > kMostOfPackage) {
      return wrong("no card would end it in time");
    }
    for (const Access& access : AccessesOf(*command, config)) {
      if (access.space != kSramSpace) continue;
      all->sram_bytes = std::max(all->sram_bytes, access.end);
    }
    ++all->count;
    ended = std::holds_alternative<isa::End>(*command);
    at += isa::WordsOf(*command);
  }
  if (!ended) return Damaged("stream ", stream, " has no end");
  return absl::OkStatus();
}

bool IsEngine(const std::string& name) {
  return name == "matrix" || name == "vector" || name == "dma" ||
         name == "none";
}

absl::StatusOr<const isa::Config*> ConfigOf(const Package& package) {
  const isa::Config* config = isa::FindConfig(package.config);
  if (config != nullptr) return config;
  return absl::InvalidArgumentError(
      absl::StrCat("the package is for configuration '", package.config,
                   "', which this build does not know; compile the model "
                   "again"));
}

// All streams as one, with such addresses as if all weights were region 0.
absl::StatusOr<std::vector<uint32_t>> JoinedWords(const Package& package,
                                                  const isa::Config& config,
                                                  Commands* commands) {
  if (package.streams.empty()) return Damaged("it has no commands");
  std::vector<uint32_t> joined;
  for (size_t s = 0; s < package.streams.size(); ++s) {
    const auto stream = static_cast<uint32_t>(s);
    const std::vector<uint32_t>& words = package.streams[s];
    RETURN_IF_ERROR(LookAt(words, stream, config, commands));
    if (package.weight_plan.empty()) {
      AppendStream(words, &joined);
      continue;
    }
    const auto all =
        AddressAllWeights(words, stream, package.weight_plan, config);
    if (!all.ok()) return Damaged(all.status().message());
    AppendStream(*all, &joined);
  }
  if (joined.size() > UINT32_MAX / sizeof(uint32_t)) {
    return Damaged("its streams have more than ", UINT32_MAX, " bytes");
  }
  return joined;
}

// Of a package for the card alone.
absl::StatusOr<CompileReport> ReportOfCard(const Package& package,
                                           bool details) {
  ASSIGN_OR_RETURN(const isa::Config* config, ConfigOf(package));
  Commands commands;
  ASSIGN_OR_RETURN(const std::vector<uint32_t> words,
                   JoinedWords(package, *config, &commands));
  const auto timeline = timing::SimulateTimeline(
      words, *config,
      {{0,
        absl::MakeConstSpan(package.weights.data(), package.weights.size())}});
  if (!timeline.ok()) return Damaged(timeline.status().message());
  CompileReport report;
  const std::vector<timing::LayerTime> times =
      timing::AttributeToLayers(*timeline, package.layers.size());
  for (size_t i = 0; i < package.layers.size(); ++i) {
    const package::Layer& from = package.layers[i];
    if (from.node >= package.nodes.size() || !IsEngine(from.engine)) {
      return Damaged("layer ", i, " is of no node or engine");
    }
    LayerReport layer;
    layer.name = package.nodes[from.node];
    layer.engine = from.engine;
    layer.macs = from.macs;
    TimeLayer(times[i], *config, &layer);
    report.layers.push_back(std::move(layer));
  }
  FillTimes(*timeline, *config, details, &report);
  FillBounds(words, *config, &report);
  FillMemory(package, package.weights.size(), &report);
  report.commands = commands.count;
  report.sram_peak_bytes =
      std::min<uint64_t>(commands.sram_bytes, config->sram_bytes);
  return report;
}

// A network that card and host share, segment by segment.
class SegmentReader {
 public:
  SegmentReader(const Package& whole, bool details)
      : config_(whole.config), details_(details) {}

  absl::Status Read(const Package& whole) {
    if (!whole.host_profile.empty()) {
      ASSIGN_OR_RETURN(profile_, ParseHostProfile(whole.host_profile));
      report_.host_profile = profile_.name;
    }
    return ReadSegments(whole, &report_.segments);
  }
  CompileReport& report() { return report_; }

 private:
  absl::Status ReadSegments(const Package& package,
                            std::vector<SegmentReport>* segments) {
    for (const package::Segment& segment : package.segments) {
      SegmentReport entry;
      for (uint32_t v : segment.inputs) {
        entry.bytes_in += package.values[v].size;
      }
      for (uint32_t v : segment.outputs) {
        entry.bytes_out += package.values[v].size;
      }
      switch (segment.kind()) {
        case SegmentKind::kCard:
          RETURN_IF_ERROR(ReadCard(*segment.card, &entry));
          break;
        case SegmentKind::kHost:
          entry.host = true;
          entry.estimated_us = static_cast<double>(segment.estimated_ns) / 1e3;
          for (const Node& node : segment.host.nodes) {
            entry.nodes.push_back(node.name);
            report_.host_nodes.push_back(
                {node.name, node.op, {}, node.Describe(), false});
          }
          break;
        case SegmentKind::kControl:
          RETURN_IF_ERROR(ReadControl(segment, &entry));
          break;
      }
      segments->push_back(std::move(entry));
    }
    return absl::OkStatus();
  }

  // Bytes in and out are known.
  absl::Status ReadCard(const Package& card, SegmentReport* entry) {
    if (card.config != config_) {
      return Damaged("segments are for '", config_, "' and '", card.config,
                     "'");
    }
    ASSIGN_OR_RETURN(const CompileReport report, ReportOfCard(card, details_));
    MergeReport(report, &report_);
    entry->cycles = report.estimated_cycles;
    entry->estimated_us = CardTime(entry->cycles, config_) / 1e3;
    entry->crossing_us =
        profile_.job_us +
        static_cast<double>(entry->bytes_in + entry->bytes_out) *
            profile_.transfer_byte_ns / 1e3;
    return absl::OkStatus();
  }

  absl::Status ReadControl(const package::Segment& segment,
                           SegmentReport* entry) {
    const bool is_if = segment.control.kind == ControlFlow::Kind::kIf;
    entry->host = true;
    entry->control = is_if ? "If" : "Loop";
    report_.host_nodes.push_back({segment.control.name,
                                  entry->control,
                                  {},
                                  segment.control.name,
                                  false});
    for (size_t b = 0; b < segment.bodies.size(); ++b) {
      const Package& body = *segment.bodies[b].package;
      SegmentReport::Body said;
      said.name = !is_if ? "body" : b == 0 ? "then_branch" : "else_branch";
      if (body.segments.empty()) {
        SegmentReport card;
        for (const auto& input : body.inputs) card.bytes_in += input.size;
        for (const auto& output : body.outputs) card.bytes_out += output.size;
        RETURN_IF_ERROR(ReadCard(body, &card));
        said.segments.push_back(std::move(card));
      } else {
        RETURN_IF_ERROR(ReadSegments(body, &said.segments));
      }
      for (const SegmentReport& s : said.segments) {
        entry->cycles += s.cycles;
        entry->estimated_us += s.estimated_us + s.crossing_us;
      }
      entry->bodies.push_back(std::move(said));
    }
    return absl::OkStatus();
  }

  const std::string config_;
  const bool details_;
  HostProfile profile_;
  CompileReport report_;
};

size_t HostNodes(const Package& package) {
  size_t nodes = 0;
  for (const package::Segment& segment : package.segments) {
    nodes += segment.host.nodes.size();
    if (segment.kind() == SegmentKind::kControl) ++nodes;
    for (const package::Body& body : segment.bodies) {
      nodes += HostNodes(*body.package);
    }
  }
  return nodes;
}

// Whether every gap below a value of the symbol is padded, as far as the
// compiler looks for it; nothing if there is none.
std::optional<bool> PadsGaps(const package::ShapeSet& set, size_t symbol) {
  std::vector<int64_t> values = {0};
  for (const auto& one : set.specialisations) {
    values.push_back(one.values[symbol]);
  }
  std::sort(values.begin(), values.end());
  std::optional<bool> pads;
  for (const auto& one : set.specialisations) {
    const int64_t own = one.values[symbol];
    const int64_t below =
        own <= 0 ? 0
                 : *(std::lower_bound(values.begin(), values.end(), own) - 1);
    if (own - 1 <= below) continue;
    const int64_t least = std::max(below + 1, own - kMostPadding);
    const bool padded = std::any_of(
        one.padding.begin(), one.padding.end(),
        [&](const auto& p) { return p.symbol == symbol && p.least <= least; });
    pads = pads.value_or(true) && padded;
  }
  return pads;
}

absl::StatusOr<FileReport> ReportOfSet(absl::string_view bytes,
                                       std::shared_ptr<const void> owner,
                                       bool details) {
  ASSIGN_OR_RETURN(const package::ShapeSet set,
                   package::ParseShapeSet(bytes, std::move(owner)));
  FileReport made;
  ShapeSetReport list;
  list.package_bytes = bytes.size();
  list.symbols = set.symbols;
  uint64_t blocks = 0;  // of those before
  for (size_t i = 0; i < set.specialisations.size(); ++i) {
    const package::Specialisation& one = set.specialisations[i];
    const auto file = std::make_shared<const std::string>(set.PackageBytes(i));
    ASSIGN_OR_RETURN(Package package, package::Parse(*file, file));
    RETURN_IF_ERROR(set.Check(i, package));
    uint64_t end = blocks;
    for (const package::Extent& extent : one.extents) {
      end = std::max(end, uint64_t{extent.first} + extent.count);
    }
    list.specialisations.push_back(
        {one.values, one.size, (end - blocks) * package::kBlockBytes,
         package.estimated_cycles, HostNodes(package)});
    blocks = end;
    made.package = std::move(package);
  }
  for (size_t s = 0; s < set.symbols.size(); ++s) {
    const std::optional<bool> pads = PadsGaps(set, s);
    if (!pads) continue;
    list.padding.push_back(
        *pads ? IsPadded(set.symbols[s])
              : absl::StrCat("'", set.symbols[s],
                             "' is not padded everywhere between the values; "
                             "why is not in the package"));
  }
  ASSIGN_OR_RETURN(made.report, ReportOfPackage(made.package, details));
  made.set = std::move(list);
  return made;
}

}  // namespace

absl::StatusOr<CompileReport> ReportOfPackage(const Package& package,
                                              bool details) {
  RETURN_IF_ERROR(ConfigOf(package).status());
  CompileReport report;
  if (package.segments.empty()) {
    ASSIGN_OR_RETURN(report, ReportOfCard(package, details));
  } else {
    SegmentReader reader(package, details);
    RETURN_IF_ERROR(reader.Read(package));
    report = std::move(reader.report());
    FinishMerge(package.config, &report);
  }
  report.from_package = true;
  if (package.estimated_cycles != report.estimated_cycles) {
    report.notes.push_back(absl::StrCat(
        "the package states ", package.estimated_cycles,
        " cycles, estimated by its compiler (", package.producer,
        "); those of this report are estimated by another model of the card"));
  }
  return report;
}

absl::StatusOr<FileReport> ReportOfFile(absl::string_view bytes,
                                        std::shared_ptr<const void> owner,
                                        bool details) {
  if (package::IsShapeSet(bytes)) {
    return ReportOfSet(bytes, std::move(owner), details);
  }
  FileReport made;
  ASSIGN_OR_RETURN(made.package, package::Parse(bytes, std::move(owner)));
  ASSIGN_OR_RETURN(made.report, ReportOfPackage(made.package, details));
  return made;
}

}  // namespace heddle::compiler
