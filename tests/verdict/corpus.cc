// SPDX-License-Identifier: Apache-2.0
#include "tests/verdict/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "compiler/testing/qdq_network.h"
#include "compiler/testing/random_graph.h"
#include "tests/support/shared.h"
#include "tests/verdict/random_model.h"

namespace heddle::tests {
namespace {

namespace fs = std::filesystem;

constexpr char kTestdata[] = "/usr/share/libonnx-testdata/data";

template <typename Message>
bool Parse(const fs::path& path, Message* message) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return file && message->ParseFromString(bytes);
}

// A folder in the form of ONNX's test data. What cannot be read stays empty:
// an empty model is a model, too.
CorpusModel ReadFolder(const std::string& name, const fs::path& folder) {
  CorpusModel result;
  result.name = name;
  Parse(folder / "model.onnx", &result.model);
  int number = 0;
  for (const auto& input : result.model.graph().input()) {
    bool given = false;
    for (const auto& tensor : result.model.graph().initializer()) {
      given = given || tensor.name() == input.name();
    }
    if (given) continue;
    onnx::TensorProto tensor;
    const fs::path file = folder / "test_data_set_0" /
                          ("input_" + std::to_string(number++) + ".pb");
    if (!input.type().has_tensor_type() || !Parse(file, &tensor)) continue;
    tensor.set_name(input.name());
    result.data[input.name()] = std::move(tensor);
  }
  return result;
}

void AddFolders(const std::string& root, const std::string& prefix,
                std::vector<CorpusEntry>* entries) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (fs::exists(entry.path() / "model.onnx", error)) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    const std::string name = prefix + folder.filename().string();
    entries->push_back(
        {name, [name, folder] { return ReadFolder(name, folder); }});
  }
}

}  // namespace

std::vector<CorpusEntry> Corpus(uint64_t random) {
  std::vector<CorpusEntry> entries;
  for (const char* part :
       {"node", "pytorch-converted", "pytorch-operator", "simple"}) {
    AddFolders(std::string(kTestdata) + "/" + part, std::string(part) + "/",
               &entries);
  }
  if (GetSharedState() == SharedState::kPresent) {
    AddFolders(SharedPath("models"), "models/", &entries);
  }
  for (uint64_t seed = 1; seed <= random; ++seed) {
    const std::string name = "random/" + std::to_string(seed);
    entries.push_back(
        {name, [name, seed] {
           compiler::RandomGraphOptions options;
           options.seed = seed;
           return CorpusModel{
               name, ToModel(compiler::MakeRandomGraph(options)), {}};
         }});
  }
  for (uint64_t seed = 1; seed <= random; ++seed) {
    const std::string name = "random_qdq/" + std::to_string(seed);
    entries.push_back(
        {name, [name, seed] {
           return CorpusModel{
               name, compiler::MakeQdqNetwork(seed).model.proto(), {}};
         }});
  }
  return entries;
}

}  // namespace heddle::tests
