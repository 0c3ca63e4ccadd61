// SPDX-License-Identifier: Apache-2.0
// Limits that the backend advertises: MAX_GRAPH_SIZE, MAX_GRAPH_COUNT.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

// What the kit is ready to fill with one graph, and with several.
constexpr uint64_t kLargest = uint64_t{64} << 20;
constexpr uint64_t kLargestWithBallast = uint64_t{1} << 30;
// What several leave, so that each try is quick.
constexpr uint64_t kLeft = uint64_t{16} << 20;
constexpr uint64_t kMostGraphs = 2000;

// Bytes of a row of the weight.
constexpr uint64_t kRow = 4096;

// A graph whose parameters have `bytes` (whole rows), and whose other tensors
// are small: a product of a vector and a matrix. The status.
onnxStatus InitWithWeight(Context& t, uint64_t bytes, onnxGraph* graph) {
  constexpr int64_t kColumns = kRow / sizeof(float);
  const auto rows = static_cast<int64_t>(bytes / kRow);
  Model model = t.NewModel();
  model.nodes = {{"MatMul", {"x", "w"}, {"y"}, "", {}}};
  model.inputs = {{"x", {1, rows}}, {"w", {rows, kColumns}}};
  model.outputs = {{"y", {1, kColumns}}};
  const std::string serialized = model.Serialize();
  if (const onnxStatus verdict = t.Compatibility(serialized);
      verdict == ONNXIFI_STATUS_UNSUPPORTED_OPERATOR) {
    t.Unsupported(
        "MatMul, which the kit needs for graphs of any size, is "
        "rejected");
  }
  Tensor w("w", {static_cast<uint64_t>(rows), kColumns});
  return t.TryGraph(serialized, graph, {w.Describe()});
}

uint64_t Limit(Context& t, uint64_t largest = kLargest) {
  const uint64_t limit = t.InfoNumber(ONNXIFI_BACKEND_MAX_GRAPH_SIZE);
  if (limit > largest) {
    t.Unsupported(absl::StrCat(
        "MAX_GRAPH_SIZE is ", limit, " bytes and the kit fills at most ",
        largest, ": run this case on a device that is given less memory"));
  }
  if (limit < 4 * kRow) t.Fail(absl::StrCat("MAX_GRAPH_SIZE is ", limit));
  return limit;
}

void GraphSize(Context& t) {
  const uint64_t limit = Limit(t);
  onnxGraph graph = nullptr;
  const auto release = [&] {
    if (graph == nullptr) return;
    t.Expect(t.lib().ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseGraph");
    t.ForgetGraph(graph);
  };
  t.Expect(InitWithWeight(t, limit / 2, &graph),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxInitGraph with weights of half of MAX_GRAPH_SIZE");
  release();
  t.ExpectRule(InitWithWeight(t, limit, &graph),
               {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
               "onnxInitGraph with weights of MAX_GRAPH_SIZE");
  release();
  const onnxStatus above = InitWithWeight(t, limit + kRow, &graph);
  t.Expect(above,
           {ONNXIFI_STATUS_NO_DEVICE_MEMORY, ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
            ONNXIFI_STATUS_UNSUPPORTED_SHAPE, ONNXIFI_STATUS_SUCCESS,
            ONNXIFI_STATUS_FALLBACK},
           "onnxInitGraph with weights above MAX_GRAPH_SIZE");
  t.Rule(graph == nullptr, "onnxInitGraph takes weights above MAX_GRAPH_SIZE");
  release();
}

// Graphs that leave about kLeft of the device's memory.
void LoadBallast(Context& t, uint64_t memory) {
  while (memory >= kLeft + kRow) {
    const uint64_t bytes = std::min(memory - kLeft, kLargest);
    onnxGraph graph = nullptr;
    t.Expect(InitWithWeight(t, bytes, &graph),
             {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
             absl::StrCat("onnxInitGraph with weights of ", bytes, " of ",
                          memory, " bytes that are left"));
    if (graph == nullptr) return;
    memory -= bytes;
  }
}

// Where graphs begin not to fit, float by float: the answers stay what they
// are, and a graph that does not fit leaves the device as it was. That there is
// one such place, up to which all fit, is a matter of quality. Of a larger
// memory other graphs take the rest.
void Boundary(Context& t) {
  const uint64_t memory = Limit(t, kLargestWithBallast);
  const bool ballast = memory > kLargest;
  if (ballast) LoadBallast(t, memory);
  if (t.failed()) return;
  const uint64_t limit = ballast ? kLeft : memory;
  const uint64_t most = limit / sizeof(float) * 2;
  Tensor w("w", {most});
  uint64_t tries = 0;
  const auto fits = [&](uint64_t elements) {
    w.shape = {elements};
    onnxGraph graph = nullptr;
    const onnxStatus status =
        t.TryGraph(t.Weighted({static_cast<int64_t>(elements)}).Serialize(),
                   &graph, {w.Describe()});
    ++tries;
    if (graph != nullptr) {
      t.Expect(t.lib().ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
               "onnxReleaseGraph");
      t.ForgetGraph(graph);
      return true;
    }
    t.Expect(
        status,
        {ONNXIFI_STATUS_NO_DEVICE_MEMORY, ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
         ONNXIFI_STATUS_UNSUPPORTED_SHAPE},
        absl::StrCat("onnxInitGraph with ", elements,
                     " floats as a weight, which do not fit,"));
    return false;
  };
  if (fits(most)) {
    t.Unsupported("graphs of twice the memory that is advertised are accepted");
  }
  uint64_t good = limit / 4 / sizeof(float), bad = most;
  if (!t.Check(fits(good), "a quarter of MAX_GRAPH_SIZE does not fit")) return;
  while (bad - good > 1 && !t.failed()) {
    const uint64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  // Memory in pieces makes the place a region; what fits there is still what
  // fitted before.
  std::vector<bool> fitted;
  for (uint64_t elements = good - 4; elements <= good + 5; ++elements) {
    fitted.push_back(fits(elements));
    t.Rule(fitted.back() == (elements <= good),
           absl::StrCat(elements, " floats as a weight ",
                        fitted.back() ? "fit" : "do not fit", ", though ", good,
                        " fit and ", bad, " do not"));
  }
  for (size_t i = 0; i < fitted.size(); ++i) {
    const uint64_t elements = good - 4 + i;
    t.Check(fits(elements) == fitted[i],
            absl::StrCat(elements, " floats as a weight ",
                         fitted[i] ? "fitted, and then did not"
                                   : "did not fit, and then did"));
  }
  for (int again = 0; again < 2; ++again) {
    t.Check(!fits(bad), absl::StrCat(bad, " floats as a weight fit now"));
    t.Check(fits(good), absl::StrCat(good, " floats as a weight do not fit ",
                                     "after more of them did not"));
  }
  t.Note(absl::StrCat("weights of ", good * sizeof(float), " of ", limit,
                      " bytes fit (", tries, " graphs), ", memory - limit,
                      " bytes are others'"));
  Job job(t);
  job.MustSetIO();
  job.Run();
}

void AfterExhaustion(Context& t) {
  // What did not fit leaves nothing behind: too many parameters or, where those
  // may be more than the device's memory, too large tensors.
  const uint64_t limit = Limit(t);
  onnxGraph graph = nullptr;
  const std::string large =
      t.Elementwise({static_cast<int64_t>(limit / sizeof(float))}).Serialize();
  for (int i = 0; i < 5; ++i) {
    (void)InitWithWeight(t, limit + limit / 2, &graph);
    if (graph != nullptr) {
      t.Expect(t.lib().ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
               "onnxReleaseGraph");
      t.ForgetGraph(graph);
      (void)t.TryGraph(large, &graph);
    }
    if (graph != nullptr) {
      t.Unsupported(
          "graphs of three times the memory that is advertised are accepted");
    }
  }
  t.Expect(InitWithWeight(t, limit / 2, &graph),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxInitGraph after memory was exhausted");
  Job job(t);
  job.MustSetIO();
  job.Run();
}

void GraphCount(Context& t) {
  const uint64_t most = t.InfoNumber(ONNXIFI_BACKEND_MAX_GRAPH_COUNT);
  if (most > kMostGraphs) {
    t.Unsupported(absl::StrCat("MAX_GRAPH_COUNT is ", most,
                               "; the kit makes at most ", kMostGraphs));
  }
  const std::string model = t.Elementwise({2, 3}).Serialize();
  onnxGraph graph = nullptr;
  for (uint64_t i = 0; i < most; ++i) {
    if (!t.Expect(
            t.TryGraph(model, &graph),
            {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
            absl::StrCat("onnxInitGraph of graph ", i + 1, " of ", most))) {
      return;
    }
  }
  onnxGraph last = graph;
  t.Rule(t.TryGraph(model, &graph) == ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
         "onnxInitGraph beyond MAX_GRAPH_COUNT is not NO_DEVICE_RESOURCES");
  t.Expect(t.lib().ReleaseGraph(last), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseGraph");
  t.ForgetGraph(last);
  t.Expect(t.TryGraph(model, &graph),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxInitGraph after one of the most graphs was released");
}

void CountIsNotUsedUp(Context& t) {
  // Graphs that were released do not count.
  const std::string model = t.Elementwise({2, 3}).Serialize();
  const uint64_t most = t.InfoNumber(ONNXIFI_BACKEND_MAX_GRAPH_COUNT);
  const uint64_t times = most <= kMostGraphs ? most + 10 : 100;
  for (uint64_t i = 0; i < times; ++i) {
    onnxGraph graph = nullptr;
    if (!t.Expect(t.TryGraph(model, &graph),
                  {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
                  absl::StrCat("onnxInitGraph for the ", i + 1,
                               "th time, all others released,"))) {
      return;
    }
    t.Expect(t.lib().ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseGraph");
    t.ForgetGraph(graph);
  }
}

}  // namespace

std::vector<Case> MemoryCases() {
  return {
      {"memory.graph_size",
       "weights up to MAX_GRAPH_SIZE fit, larger ones are NO_DEVICE_MEMORY",
       GraphSize, kLong},
      {"memory.boundary",
       "what fits and what does not differ by one float, repeatably", Boundary,
       kLong},
      {"memory.after_exhaustion",
       "a graph that did not fit leaves the memory to others", AfterExhaustion,
       kLong},
      {"memory.graph_count",
       "MAX_GRAPH_COUNT graphs can exist at a time; one more is "
       "NO_DEVICE_RESOURCES",
       GraphCount, kLong},
      {"memory.count_is_not_used_up", "released graphs do not count",
       CountIsNotUsedUp, kLong},
  };
}

}  // namespace heddle::conformance
