// SPDX-License-Identifier: Apache-2.0
// The demo: classifies 200 rendered digits on a card, in fp32 and in int8, and
// prints some of them as text art with the answers.
//
//   digits-demo FOLDER     FOLDER holds digits_fp32.onnx, digits_int8.onnx,
//                          digits_test.u8, digits_test.i32,
//                          digits_int8_logits.f32
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "compiler/compiler.h"
#include "heddle/version.h"
#include "runtime/session/session.h"
#include "tools/cli/exit_codes.h"
#include "tools/cli/missing_device.h"
#include "tools/cli/usage.h"

namespace heddle {
namespace {

using cli::kFailed;
using cli::kMismatch;
using cli::kNoDevice;
using cli::kOk;

constexpr char kHelp[] =
    "Example:\n"
    "  digits-demo share/heddle/digits\n"
    "\n"
    "Classifies 200 digits on a Heddle card, in fp32 and in int8, and prints "
    "some of\n"
    "them with the answers.\n";

constexpr int kSide = 28;
constexpr int kPixels = kSide * kSide;
constexpr int kDigits = 10;

bool ReadFile(const std::string& path, std::string* out) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "digits-demo: cannot read %s\n", path.c_str());
    return false;
  }
  std::stringstream buffer;
  buffer << file.rdbuf();
  *out = buffer.str();
  return true;
}

// Images side by side, two pixels of a column per character.
void Draw(const std::vector<const uint8_t*>& images) {
  static const char kInk[] = " .:-=+*#%@";
  for (int y = 0; y < kSide; y += 2) {
    for (const uint8_t* image : images) {
      for (int x = 0; x < kSide; ++x) {
        const int ink = (image[y * kSide + x] + image[(y + 1) * kSide + x]) / 2;
        std::putchar(kInk[ink * 9 / 255]);
      }
    }
    std::putchar('\n');
  }
}

struct Answers {
  std::vector<int> digit;
  std::vector<float> logits;
  std::vector<double> milliseconds;
  session::RunStatistics statistics;
  compiler::CompileReport report;
  std::string config;
};

int Argmax(const float* logits) {
  return std::max_element(logits, logits + kDigits) - logits;
}

absl::StatusOr<Answers> Classify(std::shared_ptr<session::Device> device,
                                 const std::string& model,
                                 const std::string& images) {
  Answers answers;
  compiler::CompileOptions options;
  options.config = device->description().config;
  answers.config = options.config;
  auto compiled = compiler::CompileOnnx(model, options);
  if (!compiled.ok()) return compiled.status();
  answers.report = compiled->report;
  auto graph = session::LoadGraph(device, compiled->package);
  if (!graph.ok()) return graph.status();
  const int count = images.size() / kPixels;
  for (int i = 0; i < count; ++i) {
    std::vector<float> input(kPixels);
    for (int p = 0; p < kPixels; ++p) {
      input[p] = static_cast<uint8_t>(images[i * kPixels + p]) / 255.0f;
    }
    float logits[kDigits];
    const auto start = std::chrono::steady_clock::now();
    auto run = (*graph)->Start(
        {{(*graph)->package().inputs[0].name, input.data(),
          sizeof(float) * kPixels}},
        {{(*graph)->package().outputs[0].name, logits, sizeof(logits)}},
        nullptr);
    if (!run.ok()) return run.status();
    if (absl::Status s = (*run)->Wait(absl::InfiniteFuture()); !s.ok())
      return s;
    answers.milliseconds.push_back(std::chrono::duration<double, std::milli>(
                                       std::chrono::steady_clock::now() - start)
                                       .count());
    answers.statistics = (*run)->statistics();
    answers.digit.push_back(Argmax(logits));
    answers.logits.insert(answers.logits.end(), logits, logits + kDigits);
  }
  std::sort(answers.milliseconds.begin(), answers.milliseconds.end());
  return answers;
}

void PrintRow(const char* name, const Answers& a,
              const std::vector<int32_t>& labels) {
  int right = 0;
  for (size_t i = 0; i < labels.size(); ++i) right += a.digit[i] == labels[i];
  const auto& ms = a.milliseconds;
  std::printf("  %-5s %4d of %zu  %8.3f ms %8.3f ms  %9llu  %9llu  %6.1f %%\n",
              name, right, labels.size(), ms[ms.size() / 2],
              ms[ms.size() * 99 / 100],
              static_cast<unsigned long long>(a.statistics.macs),
              static_cast<unsigned long long>(a.report.estimated_cycles),
              100 * a.report.estimated_utilisation);
}

int Main(const std::string& folder) {
  std::string fp32, int8, images, label_bytes, expected;
  if (!ReadFile(folder + "/digits_fp32.onnx", &fp32) ||
      !ReadFile(folder + "/digits_int8.onnx", &int8) ||
      !ReadFile(folder + "/digits_test.u8", &images) ||
      !ReadFile(folder + "/digits_test.i32", &label_bytes) ||
      !ReadFile(folder + "/digits_int8_logits.f32", &expected)) {
    return kFailed;
  }
  std::vector<int32_t> labels(label_bytes.size() / sizeof(int32_t));
  std::memcpy(labels.data(), label_bytes.data(),
              labels.size() * sizeof(int32_t));
  if (images.empty() || images.size() != labels.size() * kPixels) {
    std::fprintf(stderr, "digits-demo: %zu labels do not fit %zu image bytes\n",
                 labels.size(), images.size());
    return kFailed;
  }
  auto devices = session::ListDevices();
  if (!devices.ok() || devices->empty()) {
    const char* form = std::getenv("HEDDLE_DEVICE");
    std::fprintf(stderr, "digits-demo: error: %s\n",
                 devices.ok()
                     ? cli::MissingDevice(form != nullptr ? form : "").c_str()
                     : std::string(devices.status().message()).c_str());
    return kNoDevice;
  }
  auto device = session::OpenDevice((*devices)[0].id);
  if (!device.ok()) {
    std::fprintf(stderr, "digits-demo: %s\n",
                 device.status().ToString().c_str());
    return kNoDevice;
  }
  const session::DeviceDescription& d = (*device)->description();
  std::printf("Device %s: %s, %s core, %llu MiB of device memory\n\n",
              d.id.c_str(), d.config.c_str(), d.core.c_str(),
              static_cast<unsigned long long>(d.memory_bytes >> 20));
  auto f = Classify(*device, fp32, images);
  auto q = f.ok() ? Classify(*device, int8, images) : f;
  if (!q.ok()) {
    std::fprintf(stderr, "digits-demo: %s\n", q.status().ToString().c_str());
    return kFailed;
  }
  // The first image of four different digits.
  std::vector<const uint8_t*> shown;
  std::vector<int> indices;
  for (int digit : {2, 4, 7, 9}) {
    const auto it = std::find(labels.begin(), labels.end(), digit);
    if (it == labels.end()) continue;
    indices.push_back(it - labels.begin());
    shown.push_back(reinterpret_cast<const uint8_t*>(images.data()) +
                    indices.back() * kPixels);
  }
  Draw(shown);
  for (int at : indices) {
    char caption[64];
    std::snprintf(caption, sizeof(caption), "%d: fp32 says %d, int8 %d",
                  labels[at], f->digit[at], q->digit[at]);
    std::printf("    %-*s", kSide - 4, caption);
  }
  std::printf(
      "\n\n  model  top-1           median      99 %%       MACs       cycles* "
      "  "
      "utilisation*\n");
  PrintRow("fp32", *f, labels);
  PrintRow("int8", *q, labels);
  std::printf(
      "  * estimated by the compiler, calibrated on single commands of the "
      "RTL\n\n");
  if (q->logits.size() * sizeof(float) != expected.size() ||
      std::memcmp(q->logits.data(), expected.data(), expected.size()) != 0) {
    std::fprintf(stderr,
                 "digits-demo: the int8 results are not the expected bytes\n");
    return kMismatch;
  }
  std::printf("int8: all %zu results equal the reference byte for byte.\n",
              q->logits.size());
  return kOk;
}

}  // namespace
}  // namespace heddle

int main(int argc, char** argv) {
  std::string folder;
  CLI::App app(heddle::kHelp, "digits-demo");
  heddle::cli::WrapHelp(&app);
  app.set_version_flag("--version", "digits-demo " HEDDLE_VERSION);
  app.add_option("folder", folder, "folder with the digit models and images")
      ->required();
  app.footer(
      "Exit codes: 0 both models ran, and the int8 results are the expected "
      "bytes,\n"
      "1 failure, 2 usage, 3 no device, 5 results differ.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return heddle::cli::ExitOfParse(app, error);
  }
  return heddle::Main(folder);
}
