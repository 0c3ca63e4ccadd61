// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/shape_set.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status_macros.h"
#include "compiler/package/file_header.h"
#include "compiler/package/shape_set_generated.h"

namespace heddle::package {
namespace {

using compiler::Shape;

// Beyond ONNX's and everybody's.
constexpr int32_t kMaxRank = 64;

uint64_t BlockUp(uint64_t offset) {
  return (offset + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

template <typename... Args>
absl::Status Damaged(const Args&... args) {
  return absl::InvalidArgumentError(
      absl::StrCat("damaged package of several shapes: ", args...,
                   "; compile the model again"));
}

absl::Status CheckHeader(absl::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !IsShapeSet(bytes)) {
    return absl::InvalidArgumentError(
        "not a package of several shapes; give a file written by "
        "heddle-compile --shape-set");
  }
  const uint32_t version = VersionIn(bytes);
  if (version != kShapeSetVersion) {
    return absl::FailedPreconditionError(absl::StrCat(
        "format version ", version, " of the package of several shapes is not ",
        kShapeSetVersion, ", which this build knows; compile the model again"));
  }
  const std::string wrong = WhatIsWrongWithHeader(bytes);
  if (!wrong.empty()) return Damaged(wrong);
  return absl::OkStatus();
}

bool NumbersAligned(const setfb::ShapeSet& set) {
  for (const setfb::Input* input : *set.inputs()) {
    if (!IsAligned(input->shape())) return false;
  }
  for (const setfb::Specialisation* entry : *set.specialisations()) {
    if (!IsAligned(entry->values())) return false;
  }
  return true;
}

absl::Status UnpackInputs(const setfb::ShapeSetT& metadata, ShapeSet* set) {
  std::set<std::string> names;
  std::vector<bool> used(set->symbols.size(), false);
  for (const auto& entry : metadata.inputs) {
    SetInput input;
    input.name = entry->name;
    input.type = static_cast<compiler::DataType>(entry->type);
    input.shape = entry->shape;
    input.symbols = entry->symbols;
    if (!names.insert(input.name).second) {
      return Damaged("two inputs are named '", input.name, "'");
    }
    if (compiler::ElementBytes(input.type) == 0 ||
        input.shape.size() != input.symbols.size() ||
        input.shape.size() > kMaxRank) {
      return Damaged("input '", input.name, "' is not a tensor");
    }
    for (size_t i = 0; i < input.shape.size(); ++i) {
      const int32_t symbol = input.symbols[i];
      if (symbol < -1 || symbol >= static_cast<int64_t>(used.size()) ||
          (symbol >= 0 ? input.shape[i] != 0 : input.shape[i] < 0)) {
        return Damaged("dimension ", i, " of input '", input.name, "'");
      }
      if (symbol >= 0) used[symbol] = true;
    }
    set->inputs.push_back(std::move(input));
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) return Damaged("no input has '", set->symbols[i], "'");
  }
  return absl::OkStatus();
}

// What is wrong with the runs, as a clause.
std::string WhatIsWrongWithRuns(const std::vector<Extent>& runs, uint64_t size,
                                uint64_t pool_blocks) {
  std::vector<std::pair<uint64_t, uint64_t>> places;
  uint64_t blocks = 0;
  for (const Extent& run : runs) {
    const uint64_t end = uint64_t{run.first} + run.count;
    if (run.count == 0 || end > pool_blocks) return "a run is not in the file";
    places.emplace_back(run.first, end);
    blocks += run.count;  // at most 2^32 for each of 2^28
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].first < places[i - 1].second) return "a block is used twice";
  }
  if (blocks == 0 || size > blocks * kBlockBytes ||
      size <= (blocks - 1) * kBlockBytes) {
    return absl::StrCat("its size ", size, " is not that of its blocks");
  }
  return "";
}

absl::Status UnpackPadding(const setfb::SpecialisationT& entry,
                           const ShapeSet& set, Specialisation* made) {
  std::set<uint32_t> symbols;
  for (const auto& packed : entry.padding) {
    Padding padding;
    padding.symbol = packed->symbol;
    padding.least = packed->least;
    if (padding.symbol >= set.symbols.size() ||
        !symbols.insert(padding.symbol).second) {
      return Damaged("padding of symbol ", padding.symbol);
    }
    if (padding.least < 1 || padding.least >= made->values[padding.symbol] ||
        packed->outputs.size() != set.outputs) {
      return Damaged("padding of '", set.symbols[padding.symbol], "' from ",
                     padding.least);
    }
    for (const setfb::OutputAxis& output : packed->outputs) {
      if (output.axis() < -1 || output.axis() >= kMaxRank ||
          output.inner() < 0) {
        return Damaged("padding along axis ", output.axis());
      }
      padding.outputs.push_back({output.axis(), output.inner()});
    }
    made->padding.push_back(std::move(padding));
  }
  return absl::OkStatus();
}

absl::Status UnpackSpecialisations(const setfb::ShapeSetT& metadata,
                                   ShapeSet* set) {
  const uint64_t blocks = set->blocks.size() / kBlockBytes;
  for (size_t i = 0; i < metadata.specialisations.size(); ++i) {
    const setfb::SpecialisationT& entry = *metadata.specialisations[i];
    Specialisation made;
    made.values = entry.values;
    made.size = entry.size;
    if (made.values.size() != set->symbols.size() ||
        std::any_of(made.values.begin(), made.values.end(),
                    [](int64_t value) { return value < 1; })) {
      return Damaged("values of specialisation ", i);
    }
    if (i > 0 && set->specialisations.back().values >= made.values) {
      return Damaged("specialisations are not sorted");
    }
    for (const setfb::Extent& run : entry.extents) {
      made.extents.push_back({run.first(), run.count()});
    }
    const std::string wrong =
        WhatIsWrongWithRuns(made.extents, made.size, blocks);
    if (!wrong.empty()) return Damaged("specialisation ", i, ": ", wrong);
    RETURN_IF_ERROR(UnpackPadding(entry, *set, &made));
    set->specialisations.push_back(std::move(made));
  }
  return absl::OkStatus();
}

void PackMetadata(const ShapeSet& set,
                  flatbuffers::FlatBufferBuilder* builder) {
  setfb::ShapeSetT metadata;
  metadata.model_name = set.model_name;
  metadata.producer = set.producer;
  metadata.config = set.config;
  metadata.model_sha256 = set.model_sha256;
  metadata.symbols = set.symbols;
  metadata.outputs = set.outputs;
  for (const SetInput& input : set.inputs) {
    auto entry = std::make_unique<setfb::InputT>();
    entry->name = input.name;
    entry->type = static_cast<int32_t>(input.type);
    entry->shape = input.shape;
    entry->symbols = input.symbols;
    metadata.inputs.push_back(std::move(entry));
  }
  for (const Specialisation& made : set.specialisations) {
    auto entry = std::make_unique<setfb::SpecialisationT>();
    entry->values = made.values;
    entry->size = made.size;
    for (const Extent& run : made.extents) {
      entry->extents.emplace_back(run.first, run.count);
    }
    for (const Padding& padding : made.padding) {
      auto packed = std::make_unique<setfb::PaddingT>();
      packed->symbol = padding.symbol;
      packed->least = padding.least;
      for (const Padding::Axis& output : padding.outputs) {
        packed->outputs.emplace_back(output.axis, output.inner);
      }
      entry->padding.push_back(std::move(packed));
    }
    metadata.specialisations.push_back(std::move(entry));
  }
  builder->Finish(setfb::ShapeSet::Pack(*builder, &metadata));
}

}  // namespace

bool IsShapeSet(absl::string_view bytes) {
  return HasMagic(bytes, kShapeSetMagic);
}

std::string Serialize(const ShapeSet& set) {
  flatbuffers::FlatBufferBuilder builder;
  PackMetadata(set, &builder);
  std::string file(BlockUp(kHeaderBytes + builder.GetSize()), '\0');
  std::memcpy(&file[kHeaderBytes], builder.GetBufferPointer(),
              builder.GetSize());
  file.append(reinterpret_cast<const char*>(set.blocks.data()),
              set.blocks.size());
  WriteHeader(kShapeSetMagic, kShapeSetVersion, builder.GetSize(), &file);
  return file;
}

absl::StatusOr<ShapeSet> ParseShapeSet(absl::string_view bytes,
                                       std::shared_ptr<const void> owner) {
  RETURN_IF_ERROR(CheckHeader(bytes));
  const uint32_t metadata_size = MetadataSizeIn(bytes);
  std::vector<uint64_t> aligned((metadata_size + 7) / 8 + 1);
  std::memcpy(aligned.data(), bytes.data() + kHeaderBytes, metadata_size);
  const auto* buffer = reinterpret_cast<const uint8_t*>(aligned.data());
  flatbuffers::Verifier verifier(buffer, metadata_size, /*max_depth=*/16,
                                 /*max_tables=*/metadata_size / 8 + 1);
  if (!setfb::VerifyShapeSetBuffer(verifier) ||
      !NumbersAligned(*setfb::GetShapeSet(buffer))) {
    return Damaged("the metadata is not well-formed");
  }
  const std::unique_ptr<setfb::ShapeSetT> metadata(
      setfb::UnPackShapeSet(buffer));
  const uint64_t end = kHeaderBytes + metadata_size;
  const uint64_t begin = BlockUp(end);
  if (begin > bytes.size() || (bytes.size() - begin) % kBlockBytes != 0) {
    return Damaged("the blocks are not whole");
  }
  if (bytes.substr(end, begin - end).find_first_not_of('\0') !=
      absl::string_view::npos) {
    return Damaged("bytes before the blocks are not zero");
  }
  const absl::string_view blocks = bytes.substr(begin);

  ShapeSet set;
  set.model_name = metadata->model_name;
  set.producer = metadata->producer;
  set.config = metadata->config;
  set.model_sha256 = metadata->model_sha256;
  set.symbols = metadata->symbols;
  set.outputs = metadata->outputs;
  if (owner != nullptr) {
    set.blocks =
        compiler::TensorBytes::View(blocks.data(), blocks.size(), owner);
  } else {
    set.blocks = std::vector<uint8_t>(blocks.begin(), blocks.end());
  }
  if (set.symbols.empty() || set.symbols.size() > kMostSymbols) {
    return Damaged(set.symbols.size(), " symbols; 1 to ", kMostSymbols);
  }
  if (std::set<std::string>(set.symbols.begin(), set.symbols.end()).size() !=
      set.symbols.size()) {
    return Damaged("two symbols have one name");
  }
  const size_t count = metadata->specialisations.size();
  if (count == 0 || count > kMostSpecialisations) {
    return Damaged(count, " specialisations; 1 to ", kMostSpecialisations);
  }
  RETURN_IF_ERROR(UnpackInputs(*metadata, &set));
  RETURN_IF_ERROR(UnpackSpecialisations(*metadata, &set));
  return set;
}

std::string ShapeSet::PackageBytes(size_t index) const {
  const absl::string_view pool(reinterpret_cast<const char*>(blocks.data()),
                               blocks.size());
  return Assemble(pool, specialisations[index].extents,
                  specialisations[index].size);
}

absl::Status ShapeSet::Check(size_t index, const Package& package) const {
  const Specialisation& made = specialisations[index];
  const std::string where = absl::StrCat("specialisation ", Text(made.values));
  if (package.config != config) {
    return Damaged(where, " is for configuration ", package.config);
  }
  const std::map<std::string, Shape> shapes = ShapesOf(made.values);
  if (package.inputs.size() != inputs.size() ||
      package.outputs.size() != outputs) {
    return Damaged(where, " has ", package.inputs.size(), " inputs and ",
                   package.outputs.size(), " outputs");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& input = package.inputs[i];
    if (input.name != inputs[i].name || input.type != inputs[i].type ||
        input.shape != shapes.at(inputs[i].name)) {
      return Damaged(where, " has input '", input.name, "' ",
                     compiler::ShapeToString(input.shape));
    }
  }
  for (const Padding& padding : made.padding) {
    for (size_t i = 0; i < padding.outputs.size(); ++i) {
      const Padding::Axis& at = padding.outputs[i];
      const Shape& shape = package.outputs[i].shape;
      int64_t size = 0;
      if (at.axis < 0) continue;
      if (static_cast<size_t>(at.axis) >= shape.size() ||
          __builtin_mul_overflow(made.values[padding.symbol], at.inner,
                                 &size) ||
          shape[at.axis] != size) {
        return Damaged(where, " has no axis ", at.axis, " of output '",
                       package.outputs[i].name, "' to cut");
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> ShapeSet::ValuesOf(
    const std::map<std::string, Shape>& shapes) const {
  std::vector<int64_t> values(symbols.size(), 0);
  for (const SetInput& input : inputs) {
    const auto found = shapes.find(input.name);
    const bool open = std::any_of(input.symbols.begin(), input.symbols.end(),
                                  [](int32_t s) { return s >= 0; });
    if (found == shapes.end()) {
      if (!open) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("the shape of input '", input.name, "' is missing"));
    }
    const Shape& shape = found->second;
    const auto bad = [&](const std::string& why) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", input.name, "' cannot be ",
                       compiler::ShapeToString(shape), ": ", why));
    };
    if (shape.size() != input.shape.size()) {
      return bad(absl::StrCat("it has ", input.shape.size(), " dimensions"));
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      const int32_t symbol = input.symbols[i];
      if (symbol < 0) {
        if (shape[i] == input.shape[i]) continue;
        return bad(absl::StrCat("dimension ", i, " is ", input.shape[i]));
      }
      if (shape[i] < 1) return bad("sizes are positive");
      if (values[symbol] == 0) values[symbol] = shape[i];
      if (values[symbol] == shape[i]) continue;
      return bad(absl::StrCat("'", symbols[symbol], "' is ", values[symbol],
                              " in another place"));
    }
  }
  return values;
}

std::map<std::string, Shape> ShapeSet::ShapesOf(
    const std::vector<int64_t>& values) const {
  std::map<std::string, Shape> shapes;
  for (const SetInput& input : inputs) {
    Shape shape = input.shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (input.symbols[i] >= 0) shape[i] = values[input.symbols[i]];
    }
    shapes.emplace(input.name, std::move(shape));
  }
  return shapes;
}

std::optional<ShapeSet::Choice> ShapeSet::Choose(
    const std::vector<int64_t>& values) const {
  std::optional<Choice> padded;
  double least = 0;  // relative growth of the padded symbol
  for (size_t i = 0; i < specialisations.size(); ++i) {
    const Specialisation& made = specialisations[i];
    if (made.values == values) return Choice{i, nullptr};
    for (const Padding& padding : made.padding) {
      const int64_t own = made.values[padding.symbol];
      const int64_t wanted = values[padding.symbol];
      std::vector<int64_t> others = values;
      others[padding.symbol] = own;
      if (others != made.values || wanted < padding.least || wanted > own) {
        continue;
      }
      const double growth =
          static_cast<double>(own) / static_cast<double>(wanted);
      if (padded.has_value() && growth >= least) continue;
      padded = Choice{i, &padding};
      least = growth;
    }
  }
  return padded;
}

std::string ShapeSet::Text(const std::vector<int64_t>& values) const {
  std::string text;
  for (size_t i = 0; i < symbols.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", symbols[i], "=", values[i]);
  }
  return text;
}

std::string ShapeSet::Held() const {
  std::string text;
  for (size_t i = 0; i < symbols.size(); ++i) {
    std::set<int64_t> held;
    for (const Specialisation& made : specialisations) {
      held.insert(made.values[i]);
    }
    absl::StrAppend(&text, i == 0 ? "" : "; ", symbols[i], " ",
                    absl::StrJoin(held, ","));
  }
  return absl::StrCat(
      text, " (", specialisations.size(),
      specialisations.size() == 1 ? " specialisation)" : " specialisations)");
}

std::string ShapeSet::Missing(const std::vector<int64_t>& values) const {
  std::string what;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const bool held =
        std::any_of(specialisations.begin(), specialisations.end(),
                    [&](const Specialisation& made) {
                      return made.values[i] == values[i];
                    });
    if (held) continue;
    absl::StrAppend(&what, what.empty() ? "" : " and ", "dimension '",
                    symbols[i], "' is ", values[i]);
  }
  if (what.empty()) {
    what = absl::StrCat("the combination ", Text(values), " is asked for");
  }
  return absl::StrCat(what, ", and the package holds ", Held());
}

}  // namespace heddle::package
