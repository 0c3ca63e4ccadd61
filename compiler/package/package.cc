// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/package.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/host_profile.h"
#include "compiler/base/status_macros.h"
#include "compiler/package/file_header.h"
#include "compiler/package/host_graph.h"
#include "compiler/package/package_generated.h"
#include "rtl/spec/version.h"

namespace heddle::package {
namespace {

constexpr char kMagic[] = "HEDDLEPK";
uint64_t PageUp(uint64_t offset) {
  return (offset + kPageBytes - 1) / kPageBytes * kPageBytes;
}

template <typename... Args>
absl::Status Damaged(const Args&... args) {
  return absl::InvalidArgumentError(
      absl::StrCat("damaged package: ", args..., "; compile the model again"));
}

std::unique_ptr<fb::TensorInfoT> PackTensor(const TensorInfo& tensor) {
  auto packed = std::make_unique<fb::TensorInfoT>();
  packed->name = tensor.name;
  packed->type = static_cast<int32_t>(tensor.type);
  packed->shape = tensor.shape;
  packed->offset = tensor.offset;
  packed->size = tensor.size;
  packed->minimum = tensor.minimum;
  packed->maximum = tensor.maximum;
  return packed;
}

std::vector<std::unique_ptr<fb::WeightCopyT>> PackCopies(
    const std::vector<WeightCopy>& copies) {
  std::vector<std::unique_ptr<fb::WeightCopyT>> packed;
  for (const WeightCopy& copy : copies) {
    auto entry = std::make_unique<fb::WeightCopyT>();
    entry->stream = copy.stream;
    entry->from = copy.from;
    entry->to = copy.to;
    entry->size = copy.size;
    packed.push_back(std::move(entry));
  }
  return packed;
}

std::vector<WeightCopy> UnpackCopies(
    const std::vector<std::unique_ptr<fb::WeightCopyT>>& packed) {
  std::vector<WeightCopy> copies;
  copies.reserve(packed.size());
  for (const auto& entry : packed) {
    copies.push_back({entry->stream, entry->from, entry->to, entry->size});
  }
  return copies;
}

// But the sections of its bodies.
std::unique_ptr<fb::ControlT> PackControl(const Segment& segment) {
  const compiler::ControlFlow& control = segment.control;
  auto packed = std::make_unique<fb::ControlT>();
  packed->kind = static_cast<uint8_t>(control.kind);
  packed->name = control.name;
  packed->has_trip_count = control.has_trip_count;
  packed->has_condition = control.has_condition;
  packed->conditional = control.conditional;
  packed->carried = control.carried;
  packed->sequences = control.sequences;
  packed->trips = control.trips;
  for (const Body& body : segment.bodies) {
    auto entry = std::make_unique<fb::BodyT>();
    entry->slots = body.slots;
    packed->bodies.push_back(std::move(entry));
  }
  return packed;
}

// The metadata of a package with so many bytes of weights, in `builder`; its
// size, which is the same for any number of them.
// `sections`: what those of segments are to hold.
uint64_t PackMetadata(const Package& package, uint64_t weight_bytes,
                      flatbuffers::FlatBufferBuilder* builder,
                      std::vector<std::string>* sections) {
  fb::MetadataT metadata;
  metadata.model_name = package.model_name;
  metadata.producer = package.producer;
  metadata.config = package.config;
  metadata.hw_version = package.hw_version;
  metadata.scratch_bytes = package.scratch_bytes;
  metadata.io_bytes = package.io_bytes;
  for (const auto& t : package.inputs) metadata.inputs.push_back(PackTensor(t));
  for (const auto& t : package.outputs) {
    metadata.outputs.push_back(PackTensor(t));
  }
  for (const auto& t : package.taps) metadata.taps.push_back(PackTensor(t));
  metadata.nodes = package.nodes;
  for (const SourceRange& range : package.sources) {
    auto entry = std::make_unique<fb::SourceRangeT>();
    entry->stream = range.stream;
    entry->first_offset = range.first_offset;
    entry->node = range.node;
    metadata.sources.push_back(std::move(entry));
  }
  for (const Layer& layer : package.layers) {
    auto entry = std::make_unique<fb::LayerT>();
    entry->node = layer.node;
    entry->engine = layer.engine;
    entry->macs = layer.macs;
    entry->dram_bytes = layer.dram_bytes;
    entry->estimated_cycles = layer.estimated_cycles;
    metadata.layers.push_back(std::move(entry));
  }
  metadata.macs = package.macs;
  metadata.estimated_cycles = package.estimated_cycles;
  if (!package.weight_plan.empty()) {
    metadata.weight_plan = std::make_unique<fb::WeightPlanT>();
    metadata.weight_plan->device_bytes = package.weight_plan.device_bytes;
    metadata.weight_plan->windows = package.weight_plan.windows;
    metadata.weight_plan->window_bytes = package.weight_plan.window_bytes;
    metadata.weight_plan->resident = PackCopies(package.weight_plan.resident);
    metadata.weight_plan->copies = PackCopies(package.weight_plan.copies);
  }
  for (const auto& t : package.values) metadata.values.push_back(PackTensor(t));
  sections->clear();
  for (const Segment& segment : package.segments) {
    auto entry = std::make_unique<fb::SegmentT>();
    entry->inputs = segment.inputs;
    entry->outputs = segment.outputs;
    entry->estimated_ns = segment.estimated_ns;
    sections->emplace_back();
    switch (segment.kind()) {
      case SegmentKind::kCard:
        sections->back() = Serialize(*segment.card);
        break;
      case SegmentKind::kHost:
        entry->host = PackHostGraph(segment.host, &sections->back());
        break;
      case SegmentKind::kControl:
        entry->control = PackControl(segment);
        for (const Body& body : segment.bodies) {
          sections->push_back(Serialize(*body.package));
        }
        break;
    }
    metadata.segments.push_back(std::move(entry));
  }

  metadata.host_profile = package.host_profile;
  metadata.placement = package.placement;

  // The offsets in the metadata depend on its size. ForceDefaults makes the
  // size independent of the offsets, so two rounds are enough.
  uint64_t metadata_size = 0;
  for (int round = 0; round < 2; ++round) {
    uint64_t position = kHeaderBytes + metadata_size;
    const auto section = [&position](uint64_t size) {
      auto entry = std::make_unique<fb::SectionT>();
      entry->offset = PageUp(position);
      entry->size = size;
      position = entry->offset + size;
      return entry;
    };
    metadata.weights = section(weight_bytes);
    metadata.streams.clear();
    for (const auto& stream : package.streams) {
      metadata.streams.push_back(section(stream.size() * sizeof(uint32_t)));
    }
    auto next = sections->begin();
    for (auto& segment : metadata.segments) {
      segment->section = section((next++)->size());
      if (segment->control == nullptr) continue;
      for (auto& body : segment->control->bodies) {
        body->section = section((next++)->size());
      }
    }
    builder->Clear();
    builder->ForceDefaults(true);
    builder->Finish(fb::Metadata::Pack(*builder, &metadata));
    metadata_size = builder->GetSize();
  }
  return metadata_size;
}

// Checks the range of every tensor of a list inside region 2.
absl::StatusOr<std::vector<TensorInfo>> UnpackTensors(
    const char* list,
    const std::vector<std::unique_ptr<fb::TensorInfoT>>& packed,
    uint64_t io_bytes) {
  std::vector<TensorInfo> tensors;
  tensors.reserve(packed.size());
  for (const auto& entry : packed) {
    TensorInfo tensor;
    tensor.name = entry->name;
    tensor.type = static_cast<compiler::DataType>(entry->type);
    tensor.shape = entry->shape;
    tensor.offset = entry->offset;
    tensor.size = entry->size;
    tensor.minimum = entry->minimum;
    tensor.maximum = entry->maximum;
    const std::string where =
        absl::StrCat(list, " tensor '", tensor.name, "' ");
    const uint64_t element = compiler::ElementBytes(tensor.type);
    if (tensor.minimum > tensor.maximum || tensor.minimum < INT32_MIN ||
        tensor.maximum > INT32_MAX) {
      return Damaged(where, "takes values from ", tensor.minimum, " to ",
                     tensor.maximum);
    }
    if (element == 0) return Damaged(where, "has type ", entry->type);
    for (int64_t dimension : tensor.shape) {
      if (dimension < 0) return Damaged(where, "has dimension ", dimension);
    }
    const auto count =
        static_cast<uint64_t>(compiler::ElementCount(tensor.shape));
    uint64_t bytes = 0, end = 0;
    if (__builtin_mul_overflow(count, element, &bytes) ||
        bytes != tensor.size) {
      return Damaged(where, "has size ", tensor.size, " but shape ",
                     compiler::ShapeToString(tensor.shape));
    }
    if (__builtin_add_overflow(tensor.offset, tensor.size, &end) ||
        end > io_bytes) {
      return Damaged(where, "ends outside io_bytes = ", io_bytes);
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// Takes sections in their only legal layout: page-aligned, in order, without
// gaps other than zero padding. Overlap, and with it amplification of a small
// file into much memory, is thereby impossible.
class SectionReader {
 public:
  SectionReader(absl::string_view file, uint64_t position)
      : file_(file), position_(position) {}

  absl::Status Next(const std::string& name, const fb::SectionT& section,
                    absl::string_view* bytes) {
    const uint64_t expected = PageUp(position_);
    if (section.offset != expected) {
      return Damaged("section ", name, " has offset ", section.offset,
                     ", expected ", expected);
    }
    if (section.offset > file_.size() ||
        section.size > file_.size() - section.offset) {
      return Damaged("section ", name, " of size ", section.size,
                     " ends outside the file");
    }
    const absl::string_view padding =
        file_.substr(position_, section.offset - position_);
    if (padding.find_first_not_of('\0') != absl::string_view::npos) {
      return Damaged("bytes before section ", name, " are not zero");
    }
    *bytes = file_.substr(section.offset, section.size);
    position_ = section.offset + section.size;
    return absl::OkStatus();
  }

  uint64_t position() const { return position_; }

 private:
  absl::string_view file_;
  uint64_t position_;
};

absl::Status CheckHeader(absl::string_view bytes) {
  if (bytes.size() < kHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("not a package: ", bytes.size(),
                     " bytes, the header alone has ", kHeaderBytes));
  }
  if (HasMagic(bytes, kShapeSetMagic)) {
    return absl::InvalidArgumentError(
        "this is a package of several shapes, which only heddle-run and "
        "ONNXIFI accept; compile one shape: heddle-compile --shape");
  }
  if (!HasMagic(bytes, kMagic)) {
    return absl::InvalidArgumentError(
        "not a package (wrong magic number); give a file written by "
        "heddle-compile");
  }
  const uint32_t version = VersionIn(bytes);
  if (version < kFormatVersion || version > kFormatVersionKnown) {
    return absl::FailedPreconditionError(
        absl::StrCat("format version ", version,
                     " of the package is not one of the versions ",
                     kFormatVersion, " to ", kFormatVersionKnown,
                     ", which this build knows; compile the model again"));
  }
  const std::string wrong = WhatIsWrongWithHeader(bytes);
  if (!wrong.empty()) return Damaged(wrong);
  return absl::OkStatus();
}

absl::Status CheckHardwareVersion(uint32_t version) {
  const uint32_t known = reg::kVersionReset;
  if (reg::Provides(known, version)) return absl::OkStatus();
  const bool older = reg::MajorOf(version) < reg::MajorOf(known);
  return absl::FailedPreconditionError(absl::StrCat(
      "the package is for hardware version ", reg::VersionText(version),
      ", this build knows ", reg::VersionText(known),
      older ? "; recompile the model with this release's heddle-compile"
            : "; update this software, or recompile the model with the "
              "heddle-compile of its release"));
}

absl::Status UnpackTables(const fb::MetadataT& metadata, Package* package) {
  package->nodes = metadata.nodes;
  for (const auto& entry : metadata.sources) {
    const SourceRange range{entry->stream, entry->first_offset, entry->node};
    if (range.stream >= package->streams.size() ||
        range.first_offset % 4 != 0 ||
        range.first_offset / 4 >= package->streams[range.stream].size()) {
      return Damaged("sources has offset ", range.first_offset, " of stream ",
                     range.stream);
    }
    if (range.node >= package->nodes.size()) {
      return Damaged("sources has node ", range.node);
    }
    if (!package->sources.empty()) {
      const SourceRange& last = package->sources.back();
      if (std::make_pair(last.stream, last.first_offset) >=
          std::make_pair(range.stream, range.first_offset)) {
        return Damaged("sources is not sorted");
      }
    }
    package->sources.push_back(range);
  }
  for (const auto& entry : metadata.layers) {
    if (entry->node >= package->nodes.size()) {
      return Damaged("layers has node ", entry->node);
    }
    package->layers.push_back(Layer{entry->node, entry->engine, entry->macs,
                                    entry->dram_bytes,
                                    entry->estimated_cycles});
  }
  return absl::OkStatus();
}

bool Aligned(const fb::HostFunction& function) {
  if (function.tensors() != nullptr) {
    for (const fb::HostTensor* tensor : *function.tensors()) {
      if (!IsAligned(tensor->shape())) return false;
    }
  }
  if (function.nodes() == nullptr) return true;
  for (const fb::HostNode* node : *function.nodes()) {
    if (node->attributes() == nullptr) continue;
    for (const fb::HostAttribute* attribute : *node->attributes()) {
      if (!IsAligned(attribute->ints())) return false;
    }
  }
  return true;
}

bool ShapesAligned(const uint8_t* buffer) {
  const fb::Metadata* metadata = fb::GetMetadata(buffer);
  for (const auto* tensors : {metadata->inputs(), metadata->outputs(),
                              metadata->taps(), metadata->values()}) {
    if (tensors == nullptr) continue;
    for (const fb::TensorInfo* tensor : *tensors) {
      if (!IsAligned(tensor->shape())) return false;
    }
  }
  if (metadata->segments() == nullptr) return true;
  for (const fb::Segment* segment : *metadata->segments()) {
    if (segment->host() != nullptr && !Aligned(*segment->host())) return false;
  }
  return true;
}

// `depth`: of the control flow that it is inside of.
absl::StatusOr<Package> ParseUpTo(uint32_t version, absl::string_view bytes,
                                  const std::shared_ptr<const void>& owner,
                                  int depth);

// A package inside of one.
absl::StatusOr<std::shared_ptr<const Package>> ParseInside(
    const std::string& name, uint32_t version, absl::string_view section,
    const std::shared_ptr<const void>& owner, int depth) {
  auto inside = ParseUpTo(version, section, owner, depth);
  if (!inside.ok()) {
    return absl::Status(inside.status().code(),
                        absl::StrCat(name, ": ", inside.status().message()));
  }
  return std::make_shared<const Package>(*std::move(inside));
}

absl::Status UnpackControl(const std::string& name, const fb::ControlT& entry,
                           const std::shared_ptr<const void>& owner, int depth,
                           SectionReader* reader, Segment* segment) {
  if (depth >= compiler::kMostControlDepth) {
    return Damaged(name, ": more than ", compiler::kMostControlDepth,
                   " Ifs and Loops are inside of each other");
  }
  compiler::ControlFlow& control = segment->control;
  if (entry.kind != static_cast<uint8_t>(compiler::ControlFlow::Kind::kIf) &&
      entry.kind != static_cast<uint8_t>(compiler::ControlFlow::Kind::kLoop)) {
    return Damaged(name, " is control flow of kind ", entry.kind);
  }
  control.kind = static_cast<compiler::ControlFlow::Kind>(entry.kind);
  control.name = entry.name;
  control.has_trip_count = entry.has_trip_count;
  control.has_condition = entry.has_condition;
  control.conditional = entry.conditional;
  control.carried = entry.carried;
  control.sequences = entry.sequences;
  control.trips = entry.trips;
  if (entry.bodies.size() != control.bodies()) {
    return Damaged(name, " has ", entry.bodies.size(), " bodies");
  }
  for (size_t b = 0; b < entry.bodies.size(); ++b) {
    const std::string inner = absl::StrCat(name, ", body ", b);
    absl::string_view section;
    RETURN_IF_ERROR(reader->Next(inner, *entry.bodies[b]->section, &section));
    Body body;
    body.slots = entry.bodies[b]->slots;
    ASSIGN_OR_RETURN(body.package, ParseInside(inner, kFormatVersionKnown,
                                               section, owner, depth + 1));
    segment->bodies.push_back(std::move(body));
  }
  return absl::OkStatus();
}

absl::Status UnpackSegments(const fb::MetadataT& metadata,
                            const std::shared_ptr<const void>& owner, int depth,
                            SectionReader* reader, Package* package) {
  for (size_t i = 0; i < metadata.segments.size(); ++i) {
    const fb::SegmentT& entry = *metadata.segments[i];
    const std::string name = absl::StrCat("segment ", i);
    absl::string_view section;
    RETURN_IF_ERROR(reader->Next(name, *entry.section, &section));
    Segment segment;
    segment.inputs = entry.inputs;
    segment.outputs = entry.outputs;
    segment.estimated_ns = entry.estimated_ns;
    if (entry.control != nullptr) {
      if (entry.host != nullptr || !section.empty()) {
        return Damaged(name, " is control flow and something else");
      }
      RETURN_IF_ERROR(
          UnpackControl(name, *entry.control, owner, depth, reader, &segment));
    } else if (entry.host == nullptr) {
      // Not one of segments: only control flow nests them.
      ASSIGN_OR_RETURN(segment.card, ParseInside(name, kFormatVersionWithPlan,
                                                 section, owner, depth));
    } else {
      auto graph = UnpackHostGraph(*entry.host, section);
      if (!graph.ok()) return Damaged(name, ": ", graph.status().message());
      segment.host = *std::move(graph);
    }
    package->segments.push_back(std::move(segment));
  }
  return absl::OkStatus();
}

// Of a package without segments there is nothing to say.
absl::Status UnpackProfile(const fb::MetadataT& metadata, Package* package) {
  const std::string& placement = metadata.placement;
  if (metadata.host_profile.empty() && placement.empty()) {
    return absl::OkStatus();
  }
  if (package->segments.empty()) return Damaged("a host profile of no segment");
  const auto profile = compiler::ParseHostProfile(metadata.host_profile);
  if (!profile.ok()) return Damaged(profile.status().message());
  if (placement != "cost" && placement != "card" && placement != "host") {
    return Damaged("an unknown placement");
  }
  package->host_profile = metadata.host_profile;
  package->placement = placement;
  return absl::OkStatus();
}

bool HasControl(const Package& package) {
  return std::any_of(package.segments.begin(), package.segments.end(),
                     [](const Segment& segment) {
                       return segment.kind() == SegmentKind::kControl;
                     });
}

uint32_t VersionOf(const Package& package) {
  if (HasControl(package)) return kFormatVersionWithControl;
  if (!package.segments.empty()) return kFormatVersionWithSegments;
  return package.weight_plan.empty() ? kFormatVersion : kFormatVersionWithPlan;
}

}  // namespace

std::string Package::NodeAt(uint32_t stream, uint32_t offset) const {
  const auto after = std::upper_bound(
      sources.begin(), sources.end(), std::make_pair(stream, offset),
      [](const std::pair<uint32_t, uint32_t>& key, const SourceRange& range) {
        return key < std::make_pair(range.stream, range.first_offset);
      });
  if (after == sources.begin()) return "";
  const SourceRange& range = *(after - 1);
  if (range.stream != stream || range.node >= nodes.size()) return "";
  return nodes[range.node];
}

uint64_t Package::weight_device_bytes() const {
  return PageUp(region0_bytes()) +
         weight_plan.windows * PageUp(weight_plan.window_bytes);
}

void Package::PrepareWeights(uint32_t stream, uint8_t* region0,
                             uint8_t* windows) const {
  if (weight_plan.empty()) {
    if (stream == 0) std::copy(weights.begin(), weights.end(), region0);
    return;
  }
  const auto copy = [&](const WeightCopy& c, uint8_t* to) {
    std::memcpy(to + c.to, weights.data() + c.from, c.size);
  };
  if (stream == 0) {
    for (const WeightCopy& c : weight_plan.resident) copy(c, region0);
  }
  for (const WeightCopy& c : weight_plan.copies) {
    if (c.stream == stream) copy(c, windows + weight_plan.window_begin(stream));
  }
}

std::string Serialize(const Package& package) {
  return Serialize(
      package,
      {std::string(package.weights.begin(), package.weights.end()), 0});
}

Room RoomBeside(const Package& package) {
  flatbuffers::FlatBufferBuilder builder;
  Room room;
  std::vector<std::string> sections;
  room.before =
      PageUp(kHeaderBytes + PackMetadata(package, 0, &builder, &sections));
  for (const auto& stream : package.streams) {
    room.after += PageUp(stream.size() * sizeof(uint32_t)) + kPageBytes;
  }
  return room;
}

std::string Serialize(const Package& package, PackedWeights weights) {
  const uint64_t weight_bytes = weights.size();
  flatbuffers::FlatBufferBuilder builder;
  std::vector<std::string> sections;
  const uint64_t metadata_size =
      PackMetadata(package, weight_bytes, &builder, &sections);
  const uint64_t head = PageUp(kHeaderBytes + metadata_size);
  uint64_t size = head + weight_bytes;
  for (const auto& stream : package.streams) {
    size = PageUp(size) + stream.size() * sizeof(uint32_t);
  }
  std::string file = std::move(weights.bytes);
  file.reserve(size + std::max(weights.head, head) - head);
  if (head > weights.head) file.insert(0, head - weights.head, '\0');
  if (head < weights.head) file.erase(0, weights.head - head);
  std::memset(&file[0], 0, head);
  std::memcpy(&file[kHeaderBytes], builder.GetBufferPointer(), metadata_size);
  for (const auto& stream : package.streams) {
    file.resize(PageUp(file.size()), '\0');
    file.append(reinterpret_cast<const char*>(stream.data()),
                stream.size() * sizeof(uint32_t));
  }
  for (std::string& section : sections) {
    file.resize(PageUp(file.size()), '\0');
    file += section;
    std::string().swap(section);
  }
  WriteHeader(kMagic, VersionOf(package), static_cast<uint32_t>(metadata_size),
              &file);
  return file;
}

absl::StatusOr<Package> Parse(absl::string_view bytes,
                              std::shared_ptr<const void> owner) {
  return ParseUpTo(kFormatVersionKnown, bytes, owner, 0);
}

namespace {

absl::StatusOr<Package> ParseUpTo(uint32_t most, absl::string_view bytes,
                                  const std::shared_ptr<const void>& owner,
                                  int depth) {
  RETURN_IF_ERROR(CheckHeader(bytes));
  const uint32_t version = VersionIn(bytes);
  if (version > most) {
    return Damaged("format version ", version, " inside a package");
  }
  const auto metadata_size = MetadataSizeIn(bytes);

  // The verifier checks alignment relative to the buffer: give it an aligned
  // one, wherever the caller's bytes lie.
  std::vector<uint64_t> aligned((metadata_size + 7) / 8 + 1);
  std::memcpy(aligned.data(), bytes.data() + kHeaderBytes, metadata_size);
  const auto* buffer = reinterpret_cast<const uint8_t*>(aligned.data());
  flatbuffers::Verifier verifier(buffer, metadata_size, /*max_depth=*/16,
                                 /*max_tables=*/metadata_size / 8 + 1);
  if (!fb::VerifyMetadataBuffer(verifier) || !ShapesAligned(buffer)) {
    return Damaged("the metadata is not well-formed");
  }
  std::unique_ptr<fb::MetadataT> metadata(fb::UnPackMetadata(buffer));

  Package package;
  RETURN_IF_ERROR(CheckHardwareVersion(metadata->hw_version));
  package.model_name = metadata->model_name;
  package.producer = metadata->producer;
  package.config = metadata->config;
  package.hw_version = metadata->hw_version;
  package.scratch_bytes = metadata->scratch_bytes;
  package.io_bytes = metadata->io_bytes;
  package.macs = metadata->macs;
  package.estimated_cycles = metadata->estimated_cycles;

  SectionReader reader(bytes, kHeaderBytes + metadata_size);
  absl::string_view section;
  RETURN_IF_ERROR(reader.Next("weights", *metadata->weights, &section));
  if (owner != nullptr) {
    package.weights =
        compiler::TensorBytes::View(section.data(), section.size(), owner);
  } else {
    package.weights = std::vector<uint8_t>(section.begin(), section.end());
  }
  for (size_t i = 0; i < metadata->streams.size(); ++i) {
    const std::string name = absl::StrCat("stream ", i);
    RETURN_IF_ERROR(reader.Next(name, *metadata->streams[i], &section));
    if (section.size() % sizeof(uint32_t) != 0) {
      return Damaged("size of ", name, " is ", section.size(),
                     ", not a multiple of 4");
    }
    std::vector<uint32_t> words(section.size() / sizeof(uint32_t));
    if (!words.empty()) {
      std::memcpy(words.data(), section.data(), section.size());
    }
    package.streams.push_back(std::move(words));
  }
  RETURN_IF_ERROR(UnpackSegments(*metadata, owner, depth, &reader, &package));
  RETURN_IF_ERROR(UnpackProfile(*metadata, &package));
  if (reader.position() != bytes.size()) {
    return Damaged(bytes.size() - reader.position(),
                   " bytes follow the last section");
  }
  const bool with_control = version == kFormatVersionWithControl;
  const bool with_segments =
      version == kFormatVersionWithSegments || with_control;
  if (package.segments.empty() == with_segments) {
    return Damaged("version ", version, with_segments ? " without" : " with",
                   " segments");
  }
  if (HasControl(package) != with_control) {
    return Damaged("version ", version, with_control ? " without" : " with",
                   " control flow");
  }
  const bool with_plan = version == kFormatVersionWithPlan;
  if ((metadata->weight_plan != nullptr) != with_plan) {
    return Damaged("version ", version, with_plan ? " without" : " with",
                   " a weight plan");
  }
  if (with_plan) {
    package.weight_plan.device_bytes = metadata->weight_plan->device_bytes;
    package.weight_plan.windows = metadata->weight_plan->windows;
    package.weight_plan.window_bytes = metadata->weight_plan->window_bytes;
    package.weight_plan.resident =
        UnpackCopies(metadata->weight_plan->resident);
    package.weight_plan.copies = UnpackCopies(metadata->weight_plan->copies);
    const std::string wrong = WhatIsWrong(
        package.weight_plan, package.weights.size(), package.streams.size());
    if (!wrong.empty()) return Damaged("weight plan: ", wrong);
  }

  ASSIGN_OR_RETURN(auto inputs,
                   UnpackTensors("inputs", metadata->inputs, package.io_bytes));
  package.inputs = std::move(inputs);
  ASSIGN_OR_RETURN(auto outputs, UnpackTensors("outputs", metadata->outputs,
                                               package.io_bytes));
  package.outputs = std::move(outputs);
  ASSIGN_OR_RETURN(auto taps,
                   UnpackTensors("taps", metadata->taps, package.io_bytes));
  package.taps = std::move(taps);
  ASSIGN_OR_RETURN(auto values,
                   UnpackTensors("values", metadata->values, package.io_bytes));
  package.values = std::move(values);
  if (!with_segments && !package.values.empty()) {
    return Damaged("version ", version, " with values");
  }
  if (with_segments) {
    const std::string wrong = WhatIsWrongWithSegments(package);
    if (!wrong.empty()) return Damaged(wrong);
  }
  RETURN_IF_ERROR(UnpackTables(*metadata, &package));
  return package;
}

}  // namespace
}  // namespace heddle::package
