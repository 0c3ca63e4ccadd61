// SPDX-License-Identifier: Apache-2.0
// onnxifi-compare: judges an ONNXIFI library by reference files. It knows only
// ONNXIFI and protobuf; no code of the product takes part.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/comparer/api.h"
#include "tests/comparer/compare.h"
#include "tests/comparer/model_folder.h"
#include "tests/comparer/runner.h"

namespace heddle::comparer {
namespace {

// Exit codes; also in --help.
constexpr int kUsage = 2, kFiles = 3, kLibrary = 4, kMismatch = 5;

struct Arguments {
  std::string library;
  std::string abi = "extended";
  std::vector<std::string> models;
  std::vector<std::string> files;  // folder, reference folder
  int set = -1;
  int repeat = 1;
  size_t card = 0;
  Tolerance tolerance;
  std::vector<std::string> exact;
  std::string reference;
  std::string write;
};

class Comparer {
 public:
  explicit Comparer(const Arguments& arguments)
      : arguments_(arguments),
        exact_(arguments.exact.begin(), arguments.exact.end()) {}

  int Files() {
    const auto actual = ReadNamedTensors(arguments_.files[0]);
    if (!actual.ok()) return Fail(kFiles, actual.status());
    const auto expected = ReadNamedTensors(arguments_.files[1]);
    if (!expected.ok()) return Fail(kFiles, expected.status());
    if (expected->empty()) {
      return Fail(kFiles, absl::NotFoundError(absl::StrCat(
                              "no tensor file in ", arguments_.files[1])));
    }
    for (const auto& [name, tensor] : *expected) {
      const auto found = actual->find(name);
      if (found == actual->end()) {
        Report(arguments_.files[0], tensor, "MISSING", "");
        ++mismatches_;
      } else {
        Judge(arguments_.files[0], tensor, found->second);
      }
    }
    return Result();
  }

  int Models() {
    absl::StatusOr<std::unique_ptr<Api>> api =
        Api::Load(arguments_.library,
                  arguments_.abi == "onnx1" ? Abi::kOnnx1 : Abi::kExtended);
    if (!api.ok()) return Fail(kLibrary, api.status());
    absl::StatusOr<std::unique_ptr<Runner>> runner =
        Runner::Open(api->get(), arguments_.card);
    if (!runner.ok()) return Fail(kLibrary, runner.status());
    for (const std::string& path : arguments_.models) {
      const int code = Model(path, runner->get());
      if (code != 0) return code;
    }
    const absl::Status closed = (*runner)->Close();
    if (!closed.ok()) return Fail(kLibrary, closed);
    return Result();
  }

 private:
  int Model(const std::string& path, Runner* runner) {
    const bool by_name = !arguments_.reference.empty();
    // A folder of named tensors belongs to one data set.
    const int set = by_name && arguments_.set < 0 ? 0 : arguments_.set;
    absl::StatusOr<ModelFolder> folder = ReadModelFolder(path, set);
    if (!folder.ok()) return Fail(kFiles, folder.status());
    std::map<std::string, Tensor> reference;
    if (by_name) {
      auto read = ReadNamedTensors(path + "/" + arguments_.reference);
      if (!read.ok()) return Fail(kFiles, read.status());
      reference = *std::move(read);
    }
    absl::Status status = runner->SetModel(folder->model);
    if (!status.ok()) return Fail(kLibrary, status, path);
    for (DataSet& data : folder->sets) {
      if (by_name) {
        for (Tensor& output : data.outputs) {
          const auto found = reference.find(output.name);
          if (found == reference.end()) {
            return Fail(kFiles, absl::NotFoundError(absl::StrCat(
                                    path, "/", arguments_.reference,
                                    " has no tensor ", output.name)));
          }
          output = found->second;
        }
      }
      const std::string where = absl::StrCat(path, " set ", data.number);
      std::vector<Tensor> first;
      for (int run = 0; run < arguments_.repeat; ++run) {
        auto outputs = runner->Run(data.inputs, data.outputs);
        if (!outputs.ok()) return Fail(kLibrary, outputs.status(), where);
        for (size_t i = 0; i < outputs->size(); ++i) {
          if (run == 0) {
            if (!arguments_.write.empty()) {
              // Named by position: names of tensors may hold any character.
              Tensor named = (*outputs)[i];
              named.name = absl::StrCat("set ", data.number, " ", named.name);
              status =
                  WriteTensor(absl::StrCat(arguments_.write, "/set_",
                                           data.number, "_output_", i, ".pb"),
                              named);
              if (!status.ok()) return Fail(kFiles, status);
            }
            Judge(where, data.outputs[i], (*outputs)[i]);
          } else if ((*outputs)[i].bytes != first[i].bytes) {
            Report(where, (*outputs)[i], "UNSTABLE",
                   absl::StrCat("run ", run, " differs from the first"));
            ++mismatches_;
          }
        }
        if (run == 0) first = *std::move(outputs);
      }
    }
    return 0;
  }

  void Judge(const std::string& where, const Tensor& expected,
             const Tensor& actual) {
    const bool exact =
        exact_.count("ALL") > 0 || exact_.count(expected.name) > 0;
    const Comparison result =
        exact ? CompareExact(expected, actual)
              : CompareWithin(expected, actual, arguments_.tolerance);
    ++compared_;
    if (!result.equal) ++mismatches_;
    Report(
        where, expected,
        !result.equal ? "MISMATCH"
        : exact       ? "equal"
                      : "within",
        absl::StrFormat("max error %.3g, range %.3g%s%s", result.max_error,
                        result.range, result.equal ? "" : ": ", result.reason));
  }

  static void Report(const std::string& where, const Tensor& tensor,
                     const std::string& verdict, const std::string& detail) {
    std::printf("%-8s %s %s %s%s%s\n", verdict.c_str(), where.c_str(),
                tensor.name.c_str(), Describe(tensor).c_str(),
                detail.empty() ? "" : ": ", detail.c_str());
  }

  static int Fail(int code, const absl::Status& status,
                  const std::string& where = "") {
    std::fprintf(stderr, "onnxifi-compare: %s%s%s\n", where.c_str(),
                 where.empty() ? "" : ": ",
                 std::string(status.message()).c_str());
    return code;
  }

  int Result() const {
    std::printf("%d tensors compared, %d mismatches\n", compared_, mismatches_);
    return mismatches_ == 0 ? 0 : kMismatch;
  }

  const Arguments& arguments_;
  const std::set<std::string> exact_;
  int compared_ = 0, mismatches_ = 0;
};

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Example:\n"
      "  onnxifi-compare --library /usr/lib/libonnxifi-heddle.so mnist/\n"
      "  onnxifi-compare --files taps/ mnist/integer_reference --exact ALL\n\n"
      "Runs models through an ONNXIFI library and compares their outputs with "
      "reference\n"
      "files. A model is a folder with model.onnx and "
      "test_data_set_N/{input,output}_M.pb.",
      "onnxifi-compare");
  app.add_option("models", arguments.models, "Folders of models");
  app.add_option("--library", arguments.library, "libonnxifi-NAME.so");
  app.add_option("--abi", arguments.abi, "ABI of the library")
      ->check(CLI::IsMember({"extended", "onnx1"}))
      ->capture_default_str();
  app.add_option("--card", arguments.card, "Index of the backend id to use")
      ->capture_default_str();
  app.add_option("--set", arguments.set, "Only this data set")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--repeat", arguments.repeat,
                 "Runs of each set; all must give the same bytes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--rtol", arguments.tolerance.rtol,
                 "Error allowed relative to the expected value")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--atol-range", arguments.tolerance.range_tol,
                 "Error allowed relative to the expected tensor's range")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--exact", arguments.exact,
                 "Tensor whose bytes must be equal, or ALL (repeatable)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--reference", arguments.reference,
                 "Subfolder of each model with named reference tensors, "
                 "instead of output_M.pb");
  app.add_option("--write", arguments.write,
                 "Existing folder to write the outputs to, as tensors named "
                 "\"set N NAME\" for --files (one model)");
  app.add_option("--files", arguments.files,
                 "Compare the tensors of a folder by name with those of a "
                 "reference folder")
      ->expected(2);
  app.footer(
      "Integers are always compared exactly.\n"
      "Exit codes: 0 all tensors match, 2 usage, 3 unusable file, 4 library "
      "failure,\n"
      "5 mismatch.");
  try {
    app.parse(argc, argv);
    if (arguments.files.empty() &&
        (arguments.library.empty() || arguments.models.empty())) {
      throw CLI::RequiredError("--library and a model, or --files");
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  Comparer comparer(arguments);
  return arguments.files.empty() ? comparer.Models() : comparer.Files();
}

}  // namespace
}  // namespace heddle::comparer

int main(int argc, char** argv) {
  try {
    return heddle::comparer::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnxifi-compare: %s\n", error.what());
    return heddle::comparer::kFiles;
  }
}
