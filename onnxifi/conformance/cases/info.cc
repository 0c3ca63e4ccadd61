// SPDX-License-Identifier: Apache-2.0
// onnxGetBackendInfo: the protocol of sizes, and what the answers say.
#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstring>
#include <set>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

enum Type { kNumber, kText };

struct Query {
  onnxBackendInfo info;
  const char* name;
  Type type;
  bool required;
};

#define QUERY(name, type, required) \
  { ONNXIFI_BACKEND_##name, #name, type, required }
constexpr Query kQueries[] = {
    QUERY(ONNXIFI_VERSION, kNumber, true),
    QUERY(NAME, kText, true),
    QUERY(VENDOR, kText, true),
    QUERY(VERSION, kText, true),
    QUERY(EXTENSIONS, kText, true),
    QUERY(DEVICE, kText, true),
    QUERY(DEVICE_TYPE, kNumber, true),
    QUERY(ONNX_IR_VERSION, kText, true),
    QUERY(OPSET_VERSION, kText, true),
    QUERY(CAPABILITIES, kNumber, true),
    QUERY(INIT_PROPERTIES, kNumber, true),
    QUERY(MEMORY_TYPES, kNumber, true),
    QUERY(GRAPH_INIT_PROPERTIES, kNumber, true),
    QUERY(SYNCHRONIZATION_TYPES, kNumber, true),
    QUERY(MEMORY_SIZE, kNumber, true),
    QUERY(MAX_GRAPH_SIZE, kNumber, true),
    QUERY(MAX_GRAPH_COUNT, kNumber, true),
    QUERY(MACS_FP32, kNumber, false),
    QUERY(MACS_FP16, kNumber, false),
    QUERY(MEMORY_BANDWIDTH, kNumber, false),
    QUERY(CPU_MEMORY_READ_BANDWIDTH, kNumber, false),
    QUERY(CPU_MEMORY_WRITE_BANDWIDTH, kNumber, false),
    QUERY(PCI_BUS_ID, kNumber, false),
    QUERY(PCI_DEVICE_ID, kNumber, false),
    QUERY(PCI_DOMAIN_ID, kNumber, false),
    QUERY(DIRECTX_ID, kNumber, false),
    QUERY(CUDA_INDEX, kNumber, false),
    QUERY(OPENCL_PLATFORM_ID, kNumber, false),
    QUERY(OPENCL_DEVICE_ID, kNumber, false),
};
#undef QUERY

std::string CallOf(const Query& q) {
  return absl::StrCat("onnxGetBackendInfo(", q.name, ")");
}

// Whether the library answers at all. How it does so is checked elsewhere.
bool Answers(Context& t, const Query& q, size_t* size) {
  const onnxStatus status =
      t.lib().GetBackendInfo(t.id(), q.info, nullptr, size);
  return status == ONNXIFI_STATUS_FALLBACK || status == ONNXIFI_STATUS_SUCCESS;
}

void Required(Context& t) {
  for (const Query& q : kQueries) {
    if (!q.required) continue;
    size_t size = 0;
    t.Expect(t.lib().GetBackendInfo(t.id(), q.info, nullptr, &size),
             {ONNXIFI_STATUS_FALLBACK}, CallOf(q) + " without memory");
    std::vector<char> value(4096);
    size = value.size();
    t.Expect(t.lib().GetBackendInfo(t.id(), q.info, value.data(), &size),
             {ONNXIFI_STATUS_SUCCESS}, CallOf(q));
    if (q.type == kNumber) {
      t.Check(size == 8, absl::StrCat(CallOf(q), " has ", size, " bytes"));
    }
  }
}

void Optional(Context& t) {
  for (const Query& q : kQueries) {
    if (q.required) continue;
    size_t size = 0;
    const onnxStatus status =
        t.lib().GetBackendInfo(t.id(), q.info, nullptr, &size);
    t.Expect(status,
             {ONNXIFI_STATUS_FALLBACK, ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE},
             CallOf(q) + " without memory");
    if (status == ONNXIFI_STATUS_FALLBACK) {
      t.Check(size == 8, absl::StrCat(CallOf(q), " has ", size, " bytes"));
    }
  }
}

void SizeNull(Context& t) {
  char value[256];
  t.Expect(t.lib().GetBackendInfo(t.id(), ONNXIFI_BACKEND_NAME, value, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxGetBackendInfo without a size");
  t.Expect(
      t.lib().GetBackendInfo(t.id(), ONNXIFI_BACKEND_NAME, nullptr, nullptr),
      {ONNXIFI_STATUS_INVALID_POINTER}, "onnxGetBackendInfo(NULL, NULL)");
}

void ValueNull(Context& t) {
  for (const Query& q : kQueries) {
    size_t want = 0;
    if (!Answers(t, q, &want)) continue;
    for (const size_t before : {size_t{1}, size_t{4096}, ~size_t{0}}) {
      size_t size = before;
      t.Expect(t.lib().GetBackendInfo(t.id(), q.info, nullptr, &size),
               {ONNXIFI_STATUS_FALLBACK}, CallOf(q) + " without memory");
      t.Check(size == want,
              absl::StrCat(CallOf(q), " with the size ", before, " stored ",
                           size, ", with 0 it was ", want));
    }
  }
}

void ShortBuffer(Context& t) {
  for (const Query& q : kQueries) {
    size_t want = 0;
    if (!Answers(t, q, &want)) continue;
    for (size_t room = 0; room < want;
         room = room < want - 1 ? want - 1 : want) {
      std::vector<uint8_t> value(want + 8, 0xA5);
      size_t size = room;
      t.Expect(t.lib().GetBackendInfo(t.id(), q.info, value.data(), &size),
               {ONNXIFI_STATUS_FALLBACK},
               absl::StrCat(CallOf(q), " with ", room, " of ", want, " bytes"));
      t.Check(size == want,
              absl::StrCat(CallOf(q), " with ", room, " of ", want,
                           " bytes stored the size ", size));
      t.Check(std::all_of(value.begin(), value.end(),
                          [](uint8_t byte) { return byte == 0xA5; }),
              CallOf(q) + " returned FALLBACK and wrote to the buffer");
    }
  }
}

void ExactBuffer(Context& t) {
  for (const Query& q : kQueries) {
    size_t want = 0;
    if (!Answers(t, q, &want)) continue;
    for (const size_t more : {0, 1, 100}) {
      std::vector<uint8_t> value(want + more + 8, 0xA5);
      size_t size = want + more;
      t.Expect(t.lib().GetBackendInfo(t.id(), q.info, value.data(), &size),
               {ONNXIFI_STATUS_SUCCESS},
               absl::StrCat(CallOf(q), " with ", want + more, " of ", want,
                            " bytes"));
      t.Check(size == want, absl::StrCat(CallOf(q), " stored the size ", size,
                                         ", not ", want));
      t.Check(
          std::all_of(value.begin() + static_cast<ptrdiff_t>(want), value.end(),
                      [](uint8_t byte) { return byte == 0xA5; }),
          CallOf(q) + " wrote past its value");
    }
  }
}

void Unknown(Context& t) {
  for (const onnxBackendInfo info :
       {9, 15, 23, 29, 34, 47, 1000, -1, INT32_MAX, INT32_MIN}) {
    char value[64];
    size_t size = sizeof(value);
    t.Expect(t.lib().GetBackendInfo(t.id(), info, value, &size),
             {ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE},
             absl::StrCat("onnxGetBackendInfo(", info, ")"));
    size = 0;
    t.Expect(t.lib().GetBackendInfo(t.id(), info, nullptr, &size),
             {ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE},
             absl::StrCat("onnxGetBackendInfo(", info, ") without memory"));
  }
}

void Version(Context& t) {
  const uint64_t version = t.InfoNumber(ONNXIFI_BACKEND_ONNXIFI_VERSION);
  t.Check(version == UINT64_C(0x0000000100000000),
          absl::StrCat("ONNXIFI_VERSION is 0x", absl::Hex(version)));
}

// Whether `text` is UTF-8: no stray, missing, overlong or surrogate bytes.
bool IsUtf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const int more = lead < 0x80             ? 0
                     : (lead & 0xE0) == 0xC0 ? 1
                     : (lead & 0xF0) == 0xE0 ? 2
                     : (lead & 0xF8) == 0xF0 ? 3
                                             : -1;
    if (more < 0 ||
        i + static_cast<size_t>(more) >= text.size() + (more == 0)) {
      return false;
    }
    uint32_t point = more == 0 ? lead : lead & (0x3F >> more);
    for (int k = 1; k <= more; ++k) {
      const auto byte = static_cast<uint8_t>(text[i + static_cast<size_t>(k)]);
      if ((byte & 0xC0) != 0x80) return false;
      point = point << 6 | (byte & 0x3F);
    }
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (point < kLeast[more] || point > 0x10FFFF ||
        (point >= 0xD800 && point < 0xE000)) {
      return false;
    }
    i += static_cast<size_t>(more) + 1;
  }
  return true;
}

void Utf8(Context& t) {
  for (const onnxBackendInfo info :
       {ONNXIFI_BACKEND_NAME, ONNXIFI_BACKEND_VENDOR, ONNXIFI_BACKEND_DEVICE}) {
    t.Check(IsUtf8(t.InfoText(info)),
            absl::StrCat("the answer to ", info, " is not UTF-8"));
    t.Check(t.InfoText(info).find('\0') == std::string::npos,
            absl::StrCat("the answer to ", info, " has a NUL in it"));
  }
  t.Rule(!t.InfoText(ONNXIFI_BACKEND_NAME).empty() &&
             !t.InfoText(ONNXIFI_BACKEND_VENDOR).empty() &&
             !t.InfoText(ONNXIFI_BACKEND_DEVICE).empty(),
         "NAME, VENDOR or DEVICE is empty");
}

void Ascii(Context& t) {
  for (const onnxBackendInfo info :
       {ONNXIFI_BACKEND_VERSION, ONNXIFI_BACKEND_EXTENSIONS}) {
    const std::string text = t.InfoText(info);
    t.Check(std::all_of(text.begin(), text.end(),
                        [](char c) { return c >= ' ' && c < 127; }),
            absl::StrCat("the answer to ", info, " is not US-ASCII"));
  }
  t.Check(!t.InfoText(ONNXIFI_BACKEND_VERSION).empty(),
          "VERSION is empty, so it is not unique for a release");
}

void Terminator(Context& t) {
  // The header says "char[]" and nothing of a final NUL. Callers print it.
  int with = 0, without = 0;
  for (const Query& q : kQueries) {
    if (q.type != kText) continue;
    const std::string value = t.Info(q.info);
    ++(!value.empty() && value.back() == '\0' ? with : without);
  }
  t.Rule(without == 0,
         absl::StrCat(without, " of ", with + without,
                      " strings end without a NUL, which callers expect"));
}

void Locale(Context& t) {
  std::vector<std::string> before, after;
  for (const Query& q : kQueries) {
    if (q.type == kText) before.push_back(t.Info(q.info));
  }
  const char* locales[] = {"de_DE.UTF-8", "tr_TR.UTF-8", "C.UTF-8"};
  for (const char* locale : locales) {
    if (setlocale(LC_ALL, locale) == nullptr) continue;
    after.clear();
    for (const Query& q : kQueries) {
      if (q.type == kText) after.push_back(t.Info(q.info));
    }
    t.Check(before == after,
            absl::StrCat("strings differ in the locale ", locale));
  }
}

void DeviceType(Context& t) {
  const uint64_t type = t.InfoNumber(ONNXIFI_BACKEND_DEVICE_TYPE);
  const std::set<uint64_t> known = {
      ONNXIFI_DEVICE_TYPE_NPU,  ONNXIFI_DEVICE_TYPE_DSP,
      ONNXIFI_DEVICE_TYPE_GPU,  ONNXIFI_DEVICE_TYPE_CPU,
      ONNXIFI_DEVICE_TYPE_FPGA, ONNXIFI_DEVICE_TYPE_HETEROGENEOUS};
  t.Check(known.count(type & 0xFFFFFFFF) == 1 || (type >> 32) != 0,
          absl::StrCat("DEVICE_TYPE is 0x", absl::Hex(type)));
}

void IrVersion(Context& t) {
  const std::vector<int64_t> versions = t.IrVersions();
  t.Check(!versions.empty(), "ONNX_IR_VERSION is empty");
  Model model = t.Elementwise({2, 3});
  for (int64_t version : versions) {
    // Versions 1 and 2 have no opset_import.
    model.opset = version < 3 ? 0 : std::min<int64_t>(7, t.MaxOpset());
    if (version < 3) continue;  // the operator of opset 1 is another one
    model.ir_version = version;
    t.Expect(t.Compatibility(model.Serialize()),
             {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
             absl::StrCat("onnxGetBackendCompatibility of a model of the "
                          "listed IR version ",
                          version));
  }
  model.opset = std::min<int64_t>(7, t.MaxOpset());
  model.ir_version = *std::max_element(versions.begin(), versions.end()) + 1000;
  const std::string bytes = model.Serialize();
  onnxGraph graph = nullptr;
  t.Expect(t.Compatibility(bytes), {ONNXIFI_STATUS_UNSUPPORTED_VERSION},
           "onnxGetBackendCompatibility of an IR version that is not listed");
  t.Expect(t.TryGraph(bytes, &graph), {ONNXIFI_STATUS_UNSUPPORTED_VERSION},
           "onnxInitGraph of an IR version that is not listed");
}

void OpsetVersion(Context& t) {
  std::string text = t.InfoText(ONNXIFI_BACKEND_OPSET_VERSION);
  for (absl::string_view pair : absl::StrSplit(text, ' ')) {
    const std::vector<std::string> parts = absl::StrSplit(pair, ':');
    int64_t version = 0;
    t.Check(parts.size() == 2 && !parts[0].empty() &&
                absl::SimpleAtoi(parts[1], &version) && version > 0,
            absl::StrCat("OPSET_VERSION has \"", pair,
                         "\", which is not domain:version"));
  }
  if (t.failed()) return;
  Model model = t.Elementwise({2, 3});
  onnxGraph graph = nullptr;
  model.opset = t.MaxOpset();
  t.Expect(t.Compatibility(model.Serialize()),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           absl::StrCat("onnxGetBackendCompatibility of the listed opset ",
                        model.opset));
  ++model.opset;
  const std::string bytes = model.Serialize();
  t.Expect(t.Compatibility(bytes), {ONNXIFI_STATUS_UNSUPPORTED_VERSION},
           "onnxGetBackendCompatibility of an opset above the listed one");
  t.Expect(t.TryGraph(bytes, &graph), {ONNXIFI_STATUS_UNSUPPORTED_VERSION},
           "onnxInitGraph of an opset above the listed one");
}

void OlderOpsets(Context& t) {
  Model model = t.Elementwise({2, 3});
  for (int64_t opset = 1; opset <= t.MaxOpset(); ++opset) {
    model.opset = opset;
    if (opset < 7) model.nodes[0].attributes.clear();
    const onnxStatus status = t.Compatibility(model.Serialize());
    t.Expect(status, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
             absl::StrCat("onnxGetBackendCompatibility of opset ", opset,
                          ", below the listed ", t.MaxOpset(), ","));
  }
}

void Capabilities(Context& t) {
  const uint64_t bits = t.InfoNumber(ONNXIFI_BACKEND_CAPABILITIES);
  const auto has = [&](uint64_t bit) { return (bits & bit) != 0; };
  t.Check(!has(ONNXIFI_CAPABILITY_SYMBOLIC_SIZE_TENSORS) ||
              has(ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE),
          "SYMBOLIC_SIZE_TENSORS is advertised without SYMBOLIC_BATCH_SIZE");
  t.Check(!has(ONNXIFI_CAPABILITY_VARIABLE_BATCH_SIZE) ||
              has(ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE),
          "VARIABLE_BATCH_SIZE is advertised without SYMBOLIC_BATCH_SIZE");
  t.Check(!has(ONNXIFI_CAPABILITY_VARIABLE_SIZE_OUTPUTS) ||
              (has(ONNXIFI_CAPABILITY_VARIABLE_BATCH_SIZE) &&
               has(ONNXIFI_CAPABILITY_SYMBOLIC_SIZE_TENSORS)),
          "VARIABLE_SIZE_OUTPUTS is advertised without VARIABLE_BATCH_SIZE and "
          "SYMBOLIC_SIZE_TENSORS");
  t.Check((bits & 0xFFFFFFFF & ~uint64_t{0x3F}) == 0,
          "CAPABILITIES has unknown bits in the standard's range");
}

void BitFields(Context& t) {
  t.Check((t.InfoNumber(ONNXIFI_BACKEND_INIT_PROPERTIES) & 0xFFFFFFFF) == 0,
          "INIT_PROPERTIES has bits in the low 32");
  t.Check(
      (t.InfoNumber(ONNXIFI_BACKEND_GRAPH_INIT_PROPERTIES) & 0xFFFFFFFF) == 0,
      "GRAPH_INIT_PROPERTIES has bits in the low 32");
  t.Check((t.InfoNumber(ONNXIFI_BACKEND_MEMORY_TYPES) & 0xFFFFFFFF &
           ~uint64_t{0xF}) == 0,
          "MEMORY_TYPES has unknown bits in the standard's range");
  t.Check((t.InfoNumber(ONNXIFI_BACKEND_SYNCHRONIZATION_TYPES) & 0xFFFFFFFF &
           ~uint64_t{0x2}) == 0,
          "SYNCHRONIZATION_TYPES has unknown bits in the standard's range");
}

void Sizes(Context& t) {
  const uint64_t memory = t.InfoNumber(ONNXIFI_BACKEND_MEMORY_SIZE);
  const uint64_t graph = t.InfoNumber(ONNXIFI_BACKEND_MAX_GRAPH_SIZE);
  const uint64_t count = t.InfoNumber(ONNXIFI_BACKEND_MAX_GRAPH_COUNT);
  t.Rule(memory > 0, "MEMORY_SIZE is 0");
  t.Rule(graph > 0, "MAX_GRAPH_SIZE is 0");
  t.Check(count > 0, "MAX_GRAPH_COUNT is 0, so no graph can run");
}

void Constant(Context& t) {
  for (const Query& q : kQueries) {
    size_t size = 0;
    if (!Answers(t, q, &size)) continue;
    const std::string first = t.Info(q.info);
    for (int i = 0; i < 3; ++i) {
      t.Check(t.Info(q.info) == first,
              CallOf(q) + " gives another answer when asked again");
    }
  }
}

// The seconds of the fastest of some runs of `graph`.
double FastestRun(Context& t, onnxGraph graph) {
  double fastest = 1e9;
  for (int i = 0; i < 5; ++i) {
    const onnxEvent ready = t.NewEvent();
    t.Expect(t.lib().SignalEvent(ready), {ONNXIFI_STATUS_SUCCESS},
             "onnxSignalEvent");
    const onnxMemoryFenceV1 in = EventFence(ready);
    onnxMemoryFenceV1 out = EventFence(nullptr);
    const auto start = std::chrono::steady_clock::now();
    if (!t.Expect(t.lib().RunGraph(graph, &in, &out), {ONNXIFI_STATUS_SUCCESS},
                  "onnxRunGraph")) {
      break;
    }
    t.Expect(t.lib().WaitEvent(out.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    t.KeepEvent(out.event);
    fastest = std::min(fastest, took.count());
  }
  return fastest;
}

// The proposal's arithmetic: a graph takes at least its operations by MACS_FP32
// and its bytes by MEMORY_BANDWIDTH. Whoever chooses a backend so is misled by
// rates that runs exceed.
void Rates(Context& t) {
  size_t size = 0;
  if (t.lib().GetBackendInfo(t.id(), ONNXIFI_BACKEND_MACS_FP32, nullptr,
                             &size) != ONNXIFI_STATUS_FALLBACK) {
    t.Unsupported("MACS_FP32, which is optional, is not answered");
  }
  const auto rate =
      static_cast<double>(t.InfoNumber(ONNXIFI_BACKEND_MACS_FP32));
  if (rate == 0) t.Unsupported("MACS_FP32 is 0");
  constexpr uint64_t kRows = 16, kInner = 256, kColumns = 256;
  Model model = t.NewModel();
  model.nodes = {{"MatMul", {"x", "w"}, {"y"}, "", {}}};
  model.inputs = {{"x", {kRows, kInner}}, {"w", {kInner, kColumns}}};
  model.outputs = {{"y", {kRows, kColumns}}};
  Tensor x("x", {kRows, kInner}), w("w", {kInner, kColumns});
  Tensor y("y", {kRows, kColumns});
  onnxGraph graph = nullptr;
  const onnxStatus status =
      t.TryGraph(model.Serialize(), &graph, {w.Describe()});
  if (graph == nullptr) {
    t.Unsupported(
        absl::StrCat("onnxInitGraph of MatMul says ", StatusName(status)));
  }
  t.Expect(t.SetIO(graph, {x.Describe()}, {y.Describe()}),
           {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO");
  const double measured = FastestRun(t, graph);
  double least = static_cast<double>(kRows * kInner * kColumns) / rate;
  if (t.lib().GetBackendInfo(t.id(), ONNXIFI_BACKEND_MEMORY_BANDWIDTH, nullptr,
                             &size) == ONNXIFI_STATUS_FALLBACK) {
    const auto bandwidth =
        static_cast<double>(t.InfoNumber(ONNXIFI_BACKEND_MEMORY_BANDWIDTH));
    const uint64_t bytes = w.data.size() * sizeof(float);
    if (bandwidth > 0) {
      least = std::max(least, static_cast<double>(bytes) / bandwidth);
    }
  }
  t.Note(absl::StrCat("a product of ", kRows, "x", kInner, " and ", kInner, "x",
                      kColumns, " takes ", measured * 1e6,
                      " us, by MACS_FP32 and MEMORY_BANDWIDTH at least ",
                      least * 1e6, " us"));
  t.Rule(measured >= least, absl::StrCat("a run takes ", measured * 1e6,
                                         " us, faster than MACS_FP32 and "
                                         "MEMORY_BANDWIDTH allow: at least ",
                                         least * 1e6, " us"));
}

}  // namespace

std::vector<Case> InfoCases() {
  return {
      {"info.required", "all 17 required queries are answered", Required},
      {"info.optional",
       "optional queries are answered or UNSUPPORTED_ATTRIBUTE", Optional},
      {"info.size_null", "infoValueSize NULL is INVALID_POINTER", SizeNull},
      {"info.value_null",
       "without a buffer, the size is stored and FALLBACK is returned",
       ValueNull},
      {"info.short_buffer",
       "a buffer that is too small is not written to; the size is stored: "
       "FALLBACK",
       ShortBuffer},
      {"info.exact_buffer",
       "a sufficient buffer gets the value and nothing past it", ExactBuffer},
      {"info.unknown", "an unknown query is UNSUPPORTED_ATTRIBUTE", Unknown},
      {"info.version", "ONNXIFI_VERSION is 1.0", Version},
      {"info.utf8", "NAME, VENDOR and DEVICE are UTF-8", Utf8},
      {"info.ascii", "VERSION and EXTENSIONS are US-ASCII", Ascii},
      {"info.terminator", "strings end with a NUL", Terminator, kRuleOnly},
      {"info.locale", "strings do not depend on the locale", Locale},
      {"info.device_type", "DEVICE_TYPE is one of the six defined types",
       DeviceType},
      {"info.ir_version",
       "listed IR versions are accepted, others are UNSUPPORTED_VERSION",
       IrVersion},
      {"info.opset_version",
       "the listed opset is accepted, the next one is UNSUPPORTED_VERSION",
       OpsetVersion},
      {"info.older_opsets", "all opsets below the listed one are accepted",
       OlderOpsets},
      {"info.capabilities",
       "each advertised capability comes with those that it requires",
       Capabilities},
      {"info.bit_fields",
       "bit fields have no unknown bits in the standard's range", BitFields},
      {"info.sizes", "sizes and counts are plausible", Sizes},
      {"info.rates",
       "no run is faster than MACS_FP32 and MEMORY_BANDWIDTH allow", Rates,
       kRuleOnly},
      {"info.constant", "answers do not change", Constant},
  };
}

}  // namespace heddle::conformance
