// SPDX-License-Identifier: Apache-2.0
#include "compiler/cache/compile_cache.h"

#include <google/protobuf/message.h>
#include <onnx/onnx_pb.h>

#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/host_profile.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status_macros.h"
#include "compiler/cache/build_id.h"
#include "compiler/compiler.h"
#include "compiler/import/external_data.h"
#include "compiler/import/parse_model.h"
#include "compiler/package/package.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::compiler {
namespace {

// Of what goes into the key, and of what an entry holds.
constexpr char kForm[] = "heddle compilation 1";

// Every field with its size, so that no two lists of fields give the same
// bytes.
class KeyHash {
 public:
  template <typename T>
  void Add(const T& number) {
    static_assert(std::is_arithmetic<T>::value, "a number");
    const auto wide = static_cast<uint64_t>(number);
    hash_.Update(
        absl::string_view(reinterpret_cast<const char*>(&wide), sizeof(wide)));
  }
  void Add(absl::string_view bytes) {
    Add(bytes.size());
    hash_.Update(bytes);
  }
  void Add(const std::string& bytes) { Add(absl::string_view(bytes)); }
  void Add(const Shape& shape) {
    Add(shape.size());
    for (int64_t dimension : shape) Add(dimension);
  }
  void Add(const TensorData& data) {
    Add(static_cast<int>(data.type));
    Add(data.shape);
    Add(absl::string_view(reinterpret_cast<const char*>(data.bytes.data()),
                          data.bytes.size()));
  }
  CacheKey Finish() { return hash_.Finish(); }

 private:
  Sha256 hash_;
};

// Another member of the structure does not compile here: it belongs into the
// key, unless the package is the same whatever it says.
void AddFeatures(const Features& features, KeyHash* key) {
  const auto& [residual, table, pool, cost, keep, prefetch, cascade, first,
               early, outputs, elementwise, order, recompute, always] =
      features;
  for (const bool flag :
       {residual, table, pool, cost, keep, cascade, first, early, outputs,
        elementwise, order, recompute, always}) {
    key->Add(flag);
  }
  key->Add(prefetch);
}

void AddOptions(const CompileOptions& options, KeyHash* key) {
  const auto& [config, shapes, ones, bounds, fuse, host, placement, direct,
               host_profile, weights, folder, taps, tap_all, sram, stream,
               memory, windows, threads, details, progress, after_pass, goal,
               features] = options;
  // Any number of threads gives the same package, and nobody sees the others.
  (void)threads, (void)details, (void)progress, (void)after_pass;
  // Of the folder, the files that the model names.
  (void)folder;
  key->Add(config);
  key->Add(shapes.size());
  for (const auto& [name, shape] : shapes) {
    key->Add(name);
    key->Add(shape);
  }
  key->Add(bounds.size());
  for (const auto& [name, most] : bounds) {
    key->Add(name);
    key->Add(most);
  }
  for (const bool flag : {ones, fuse, host, direct, taps, tap_all}) {
    key->Add(flag);
  }
  key->Add(weights.size());
  for (const auto& [name, data] : weights) {
    key->Add(name);
    key->Add(data);
  }
  key->Add(sram);
  key->Add(stream);
  key->Add(memory);
  key->Add(windows);
  key->Add(static_cast<int>(goal));
  key->Add(static_cast<int>(placement));
  key->Add(HostProfileText(host_profile != nullptr ? *host_profile
                                                   : DefaultHostProfile()));
  AddFeatures(features, key);
}

// The locations of external data, wherever in the model they are.
void FindLocations(const google::protobuf::Message& message,
                   std::set<std::string>* locations) {
  if (message.GetDescriptor() == onnx::TensorProto::descriptor()) {
    const auto& tensor = static_cast<const onnx::TensorProto&>(message);
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") locations->insert(entry.value());
    }
    return;
  }
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->cpp_type() !=
        google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    }
    if (!field->is_repeated()) {
      FindLocations(reflection.GetMessage(message, field), locations);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      FindLocations(reflection.GetRepeatedMessage(message, field, i),
                    locations);
    }
  }
}

absl::Status AddFiles(absl::string_view model, const std::string& folder,
                      KeyHash* key) {
  onnx::ModelProto parsed;
  TakenBytes raw;
  RETURN_IF_ERROR(ParseModel(model, &parsed, &raw));
  std::set<std::string> locations;
  FindLocations(parsed, &locations);
  key->Add(locations.size());
  if (locations.empty()) return absl::OkStatus();
  ExternalData files(folder);
  for (const std::string& location : locations) {
    key->Add(location);
    ASSIGN_OR_RETURN(const std::string digest, files.Sha256(location));
    key->Add(digest);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CacheKey> CompileKey(absl::string_view model,
                                    const CompileOptions& options) {
  if (options.details || options.after_pass != nullptr) {
    return absl::FailedPreconditionError(
        "more than a package was requested, and the cache holds only packages");
  }
  static const std::string* const program = new std::string(BuildId());
  if (program->empty()) {
    return absl::FailedPreconditionError(
        "the program was linked without --build-id, so its packages cannot be "
        "told from those of another version");
  }
  KeyHash key;
  key.Add(absl::string_view(kForm));
  key.Add(*program);
  key.Add(reg::kVersionReset);
  key.Add(package::kFormatVersionWithSegments);
  AddOptions(options, &key);
  key.Add(model);
  if (const absl::Status s = AddFiles(model, options.data_folder, &key);
      !s.ok()) {
    return absl::FailedPreconditionError(s.message());
  }
  return key.Finish();
}

absl::StatusOr<std::string> CompileOnnxCached(absl::string_view model,
                                              const CompileOptions& options,
                                              const FileCache& cache,
                                              CacheUse* use) {
  *use = CacheUse();
  const auto key = CompileKey(model, options);
  if (key.ok()) {
    auto found = cache.Find(*key);
    absl::Status status = found.status();
    if (status.ok()) {
      // What no compiler wrote is made again; who loads it says no more.
      status = package::Parse(*found, KeptByCaller(*found)).status();
      if (status.ok()) {
        use->found = true;
        return found;
      }
    }
    if (!absl::IsNotFound(status)) use->problem = status;
  } else {
    use->problem = key.status();
  }
  ASSIGN_OR_RETURN(CompileResult result, CompileOnnx(model, options));
  if (!key.ok()) return std::move(result.package);
  // A file that somebody wrote meanwhile is perhaps in the package, and not in
  // the key.
  const auto again = CompileKey(model, options);
  if (!again.ok() || *again != *key) {
    use->problem = absl::FailedPreconditionError(
        "a file of the model changed during compilation");
    return std::move(result.package);
  }
  const absl::Status stored = cache.Store(*key, result.package);
  use->stored = stored.ok();
  if (!stored.ok()) use->problem = stored;
  return std::move(result.package);
}

}  // namespace heddle::compiler
