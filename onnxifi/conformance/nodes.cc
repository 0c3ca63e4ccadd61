// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/nodes.h"

#include <dirent.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace heddle::conformance {
namespace {

// What ONNX's own runner allows.
constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-6;

// ---- Protobuf's wire format
// --------------------------------------------------

bool GetVarint(absl::string_view* in, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !in->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    *value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Calls `field` with number, varint and bytes of each; false: broken, or
// `field` says so.
bool ForEachField(
    absl::string_view in,
    const std::function<bool(uint64_t, uint64_t, absl::string_view)>& field) {
  while (!in.empty()) {
    uint64_t key = 0, value = 0;
    if (!GetVarint(&in, &key)) return false;
    absl::string_view bytes;
    size_t size = 0;
    switch (key & 7) {
      case 0:
        if (!GetVarint(&in, &value)) return false;
        break;
      case 1:
        size = 8;
        break;
      case 2:
        if (!GetVarint(&in, &value) || value > in.size()) return false;
        size = value;
        break;
      case 5:
        size = 4;
        break;
      default:
        return false;
    }
    if (size > in.size()) return false;
    bytes = in.substr(0, size);
    in.remove_prefix(size);
    if (!field(key >> 3, value, bytes)) return false;
  }
  return true;
}

// Bytes of an element; 0: it is no ONNXIFI type.
size_t ElementBytes(int type) {
  switch (type) {
    case ONNXIFI_DATATYPE_UINT8:
    case ONNXIFI_DATATYPE_INT8:
      return 1;
    case ONNXIFI_DATATYPE_UINT16:
    case ONNXIFI_DATATYPE_INT16:
    case ONNXIFI_DATATYPE_FLOAT16:
    case ONNXIFI_DATATYPE_BFLOAT16:
      return 2;
    case ONNXIFI_DATATYPE_FLOAT32:
    case ONNXIFI_DATATYPE_INT32:
    case ONNXIFI_DATATYPE_UINT32:
      return 4;
    case ONNXIFI_DATATYPE_INT64:
    case ONNXIFI_DATATYPE_UINT64:
    case ONNXIFI_DATATYPE_FLOAT64:
    case ONNXIFI_DATATYPE_COMPLEX64:
      return 8;
    case ONNXIFI_DATATYPE_COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

float HalfToFloat(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const float mantissa = static_cast<float>(half & 1023);
  const float magnitude = exponent == 0 ? std::ldexp(mantissa, -24)
                          : exponent == 31
                              ? (mantissa == 0 ? HUGE_VALF : NAN)
                              : std::ldexp(mantissa + 1024, exponent - 25);
  return half >> 15 != 0 ? -magnitude : magnitude;
}

template <typename T>
T At(const std::string& bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// An element of a floating type.
double FloatAt(const TensorFile& tensor, const std::string& bytes, size_t i) {
  switch (tensor.type) {
    case ONNXIFI_DATATYPE_FLOAT16:
      return HalfToFloat(At<uint16_t>(bytes, i));
    case ONNXIFI_DATATYPE_FLOAT64:
      return At<double>(bytes, i);
    case ONNXIFI_DATATYPE_BFLOAT16: {
      const uint32_t bits = uint32_t{At<uint16_t>(bytes, i)} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    default:
      return At<float>(bytes, i);
  }
}

bool IsFloat(int type) {
  return type == ONNXIFI_DATATYPE_FLOAT32 || type == ONNXIFI_DATATYPE_FLOAT16 ||
         type == ONNXIFI_DATATYPE_FLOAT64 || type == ONNXIFI_DATATYPE_BFLOAT16;
}

// Empty, or where the first difference is.
std::string Difference(const TensorFile& want, const std::string& got) {
  if (!IsFloat(want.type)) {
    return got == want.bytes ? "" : "integers differ";
  }
  const size_t elements = want.bytes.size() / ElementBytes(want.type);
  // Halves have ten bits behind the point, bfloat16 seven; ONNX's files have
  // been rounded towards zero to the latter, others round to the nearest.
  const double relative = want.type == ONNXIFI_DATATYPE_FLOAT16    ? 2e-3
                          : want.type == ONNXIFI_DATATYPE_BFLOAT16 ? 8e-3
                                                                   : kRelative;
  for (size_t i = 0; i < elements; ++i) {
    const double a = FloatAt(want, want.bytes, i), b = FloatAt(want, got, i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b) continue;
    if (!(std::fabs(a - b) <= kAbsolute + relative * std::fabs(a))) {
      return absl::StrCat("element ", i, " is ", b, ", not ", a);
    }
  }
  return "";
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// input_0.pb, input_1.pb, ...; Unsupported where ONNXIFI has no such tensor.
std::vector<TensorFile> ReadAll(Context& t, const std::string& prefix) {
  std::vector<TensorFile> tensors;
  for (int i = 0;; ++i) {
    const std::string path = absl::StrCat(prefix, i, ".pb");
    if (!std::ifstream(path)) return tensors;
    auto tensor = ReadTensor(ReadFile(path));
    if (!tensor.ok()) {
      t.Unsupported(absl::StrCat("ONNXIFI has no such tensor: ",
                                 tensor.status().message()));
    }
    tensors.push_back(*std::move(tensor));
  }
}

Descriptor Describe(const std::string& name, TensorFile* tensor,
                    std::string* memory) {
  Descriptor d;
  d.name = name.c_str();
  d.data_type = static_cast<uint64_t>(tensor->type);
  d.dimensions = static_cast<uint32_t>(tensor->shape.size());
  d.shape = tensor->shape.empty() ? nullptr : tensor->shape.data();
  d.buffer = reinterpret_cast<uint64_t>(memory->data());
  return d;
}

bool IsRejection(onnxStatus status) {
  return status == ONNXIFI_STATUS_UNSUPPORTED_VERSION ||
         status == ONNXIFI_STATUS_UNSUPPORTED_OPERATOR ||
         status == ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE ||
         status == ONNXIFI_STATUS_UNSUPPORTED_SHAPE ||
         status == ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
}

void RunFolder(Context& t) {
  const std::string folder = t.data();
  const std::string model = ReadFile(folder + "/model.onnx");
  auto signature = ReadSignature(model);
  if (!signature.ok()) {
    t.Fail(absl::StrCat(folder, ": ", signature.status().message()));
  }
  std::vector<TensorFile> inputs =
      ReadAll(t, folder + "/test_data_set_0/input_");
  std::vector<TensorFile> want =
      ReadAll(t, folder + "/test_data_set_0/output_");
  if (want.empty() || want.size() > signature->outputs.size() ||
      inputs.size() > signature->inputs.size()) {
    t.Unsupported("the case has no tensors for its model");
  }
  // numpy, which wrote the files, has no bfloat16.
  const auto take_type = [&](const std::string& name, TensorFile* tensor) {
    if (signature->types[name] == ONNXIFI_DATATYPE_BFLOAT16 &&
        tensor->type == ONNXIFI_DATATYPE_UINT16) {
      tensor->type = ONNXIFI_DATATYPE_BFLOAT16;
    }
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    take_type(signature->inputs[i], &inputs[i]);
  }
  for (size_t i = 0; i < want.size(); ++i) {
    take_type(signature->outputs[i], &want[i]);
  }
  const onnxStatus verdict = t.Compatibility(model);
  onnxGraph graph = nullptr;
  const onnxStatus status = t.TryGraph(model, &graph);
  const auto yes = [](onnxStatus s) {
    return s == ONNXIFI_STATUS_SUCCESS || s == ONNXIFI_STATUS_FALLBACK;
  };
  t.Check(yes(verdict) || !yes(status),
          absl::StrCat("onnxGetBackendCompatibility says ", StatusName(verdict),
                       " and onnxInitGraph ", StatusName(status)));
  if (yes(verdict) && !yes(status)) {
    // The question is also whether it can run with inputs for weights.
    t.Note(
        absl::StrCat("onnxGetBackendCompatibility says ", StatusName(verdict)));
  }
  if (IsRejection(status)) {
    t.Unsupported(absl::StrCat("onnxInitGraph says ", StatusName(status)));
  }
  if (!t.Check(yes(status), absl::StrCat("onnxInitGraph of a model of ONNX's "
                                         "returned ",
                                         StatusName(status)))) {
    return;
  }
  std::vector<Descriptor> in, out;
  std::vector<std::string> results;
  for (const TensorFile& tensor : want) {
    results.emplace_back(tensor.bytes.size(), '\x5A');
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    in.push_back(Describe(signature->inputs[i], &inputs[i], &inputs[i].bytes));
  }
  for (size_t i = 0; i < want.size(); ++i) {
    out.push_back(Describe(signature->outputs[i], &want[i], &results[i]));
  }
  const onnxStatus set = t.SetIO(graph, in, out);
  if (set == ONNXIFI_STATUS_UNSUPPORTED_SHAPE ||
      set == ONNXIFI_STATUS_INVALID_SHAPE) {
    t.Unsupported(absl::StrCat("onnxSetGraphIO says ", StatusName(set)));
  }
  if (!t.Expect(set, {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO")) return;
  const onnxEvent input = t.NewEvent();
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  const onnxMemoryFenceV1 from = EventFence(input);
  onnxMemoryFenceV1 to = EventFence(nullptr);
  if (!t.Expect(t.lib().RunGraph(graph, &from, &to), {ONNXIFI_STATUS_SUCCESS},
                "onnxRunGraph")) {
    return;
  }
  t.KeepEvent(to.event);
  if (!t.Expect(t.lib().WaitEvent(to.event), {ONNXIFI_STATUS_SUCCESS},
                "onnxWaitEvent")) {
    return;
  }
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string difference = Difference(want[i], results[i]);
    t.Check(difference.empty(),
            absl::StrCat(signature->outputs[i], ": ", difference));
  }
}

}  // namespace

absl::StatusOr<TensorFile> ReadTensor(const std::string& proto) {
  TensorFile tensor;
  std::string raw, floats, doubles, small, wide;
  bool strings = false;
  const auto put = [](std::string* to, uint64_t value, size_t bytes) {
    to->append(reinterpret_cast<const char*>(&value), bytes);
  };
  const auto put_packed = [&](std::string* to, absl::string_view in) {
    for (uint64_t value; !in.empty();) {
      if (!GetVarint(&in, &value)) return false;
      put(to, value, sizeof(value));
    }
    return true;
  };
  const bool parsed = ForEachField(
      proto, [&](uint64_t field, uint64_t value, absl::string_view bytes) {
        switch (field) {
          case 1:
            if (bytes.empty()) {
              tensor.shape.push_back(value);
              return true;
            }
            while (!bytes.empty()) {
              if (!GetVarint(&bytes, &value)) return false;
              tensor.shape.push_back(value);
            }
            return true;
          case 2:
            tensor.type = static_cast<int>(value);
            return true;
          case 4:
            floats.append(bytes.data(), bytes.size());
            return true;
          case 5:
            if (!bytes.empty()) return put_packed(&small, bytes);
            put(&small, value, sizeof(value));
            return true;
          case 6:
            strings = true;
            return true;
          case 7:
          case 11:
            if (!bytes.empty()) return put_packed(&wide, bytes);
            put(&wide, value, sizeof(value));
            return true;
          case 8:
            tensor.name.assign(bytes.data(), bytes.size());
            return true;
          case 9:
            raw.assign(bytes.data(), bytes.size());
            return true;
          case 10:
            doubles.append(bytes.data(), bytes.size());
            return true;
          default:
            return true;
        }
      });
  if (!parsed) return absl::InvalidArgumentError("no TensorProto");
  const size_t size = ElementBytes(tensor.type);
  if (strings || size == 0) {
    return absl::UnimplementedError(absl::StrCat("of type ", tensor.type));
  }
  uint64_t elements = 1;
  for (uint64_t dim : tensor.shape) {
    if (dim > (uint64_t{1} << 40) || elements * dim > (uint64_t{1} << 40)) {
      return absl::InvalidArgumentError("too large");
    }
    elements *= dim;
  }
  if (!raw.empty()) {
    tensor.bytes = std::move(raw);
  } else if (!floats.empty()) {
    tensor.bytes = std::move(floats);
  } else if (!doubles.empty()) {
    tensor.bytes = std::move(doubles);
  } else {
    // Of eight bytes each, of which the low ones count.
    const std::string& from = wide.empty() ? small : wide;
    for (size_t i = 0; i < from.size() / sizeof(uint64_t); ++i) {
      put(&tensor.bytes, At<uint64_t>(from, i), size);
    }
  }
  if (tensor.bytes.size() != elements * size) {
    return absl::InvalidArgumentError("its elements do not fit its shape");
  }
  return tensor;
}

// Of a ValueInfoProto; 0: it is no tensor.
static int ElementType(absl::string_view info) {
  int found = 0;
  const auto within = [](uint64_t number, const auto& inner) {
    return [number, inner](uint64_t field, uint64_t, absl::string_view bytes) {
      return field != number || ForEachField(bytes, inner);
    };
  };
  // type.tensor_type.elem_type
  const auto element = [&found](uint64_t field, uint64_t value,
                                absl::string_view) {
    if (field == 1) found = static_cast<int>(value);
    return true;
  };
  (void)ForEachField(info, within(2, within(1, element)));
  return found;
}

absl::StatusOr<Signature> ReadSignature(const std::string& model) {
  Signature signature;
  std::vector<std::string> inputs;
  std::set<std::string> initializers;
  const auto name_of = [](absl::string_view message, uint64_t number,
                          std::string* name) {
    return ForEachField(message,
                        [&](uint64_t field, uint64_t, absl::string_view bytes) {
                          if (field == number)
                            name->assign(bytes.data(), bytes.size());
                          return true;
                        });
  };
  const bool parsed = ForEachField(
      model, [&](uint64_t field, uint64_t, absl::string_view graph) {
        if (field != 7) return true;
        return ForEachField(
            graph, [&](uint64_t part, uint64_t, absl::string_view bytes) {
              std::string name;
              if (part == 5 && !name_of(bytes, 8, &name)) return false;
              if ((part == 11 || part == 12) && !name_of(bytes, 1, &name)) {
                return false;
              }
              if (part == 5) initializers.insert(name);
              if (part == 11) inputs.push_back(name);
              if (part == 12) signature.outputs.push_back(name);
              if (part == 11 || part == 12) {
                signature.types[name] = ElementType(bytes);
              }
              return true;
            });
      });
  if (!parsed) return absl::InvalidArgumentError("no model");
  for (const std::string& name : inputs) {
    if (initializers.count(name) == 0) signature.inputs.push_back(name);
  }
  return signature;
}

absl::StatusOr<std::vector<Case>> NodeCases(const std::string& folder) {
  std::vector<std::string> names;
  if (DIR* dir = opendir(folder.c_str())) {
    while (const dirent* entry = readdir(dir)) {
      const std::string name = entry->d_name;
      if (std::ifstream(absl::StrCat(folder, "/", name, "/model.onnx"))) {
        names.push_back(name);
      }
    }
    closedir(dir);
  }
  if (names.empty()) {
    return absl::NotFoundError(absl::StrCat(
        folder,
        " has no folders with a model.onnx (libonnx-testdata has them "
        "in .../backend/test/data/node)"));
  }
  std::sort(names.begin(), names.end());
  std::vector<Case> cases;
  for (const std::string& name : names) {
    // For the life of the program, as the others' texts.
    const auto* id = new std::string("nodes." + name);
    const auto* path = new std::string(absl::StrCat(folder, "/", name));
    cases.push_back({id->c_str(), "the result is ONNX's", RunFolder, kColdStart,
                     path->c_str()});
  }
  return cases;
}

}  // namespace heddle::conformance
