// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"
#include "tools/cli/printable.h"
#include "tools/cli/progress.h"
#include "tools/cli/shape_option.h"

namespace heddle::cli {
namespace {

size_t FilesIn(const std::string& folder) {
  DIR* dir = opendir(folder.c_str());
  size_t count = 0;
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count - 2;
}

TEST(File, ReplacesWholeFiles) {
  const std::string folder = testing::TempDir() + "/files";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  const std::string path = folder + "/a";
  ASSERT_TRUE(WriteFile(path, "one").ok());
  ASSERT_TRUE(WriteFile(path, std::string(100000, 'x')).ok());
  EXPECT_EQ(*ReadFile(path), std::string(100000, 'x'));
  EXPECT_EQ(FilesIn(folder), 1u);
  // A folder cannot be replaced: nothing is left behind.
  ASSERT_EQ(mkdir((folder + "/d").c_str(), 0700), 0);
  EXPECT_FALSE(WriteFile(folder + "/d", "x").ok());
  EXPECT_FALSE(WriteFile(folder + "/none/x", "x").ok());
  EXPECT_EQ(FilesIn(folder), 2u);
  EXPECT_TRUE(absl::IsNotFound(ReadFile(folder + "/none").status()));
  EXPECT_FALSE(ReadFile(folder).ok());
}

TEST(File, IsKnownToBeWritableBefore) {
  const std::string folder = testing::TempDir() + "/before";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  ASSERT_TRUE(WriteFile(folder + "/old", "old").ok());
  EXPECT_TRUE(CheckWritable("-").ok());
  EXPECT_TRUE(CheckWritable(folder + "/new").ok());
  EXPECT_TRUE(CheckWritable(folder + "/old").ok());
  EXPECT_TRUE(CheckWritable("/dev/null").ok());
  EXPECT_EQ(CheckWritable(folder + "/none/x").message(),
            "cannot write '" + folder + "/none/x': No such file or directory");
  EXPECT_EQ(CheckWritable(folder).message(),
            "cannot write '" + folder + "': Is a directory");
  EXPECT_FALSE(CheckWritable("").ok());
  // It has changed nothing.
  EXPECT_EQ(*ReadFile(folder + "/old"), "old");
  EXPECT_EQ(FilesIn(folder), 1u);
}

// As root, a rename would leave a machine without /dev/null.
TEST(File, WritesIntoWhatIsNoFile) {
  const std::string folder = testing::TempDir() + "/pipes";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  const std::string pipe = folder + "/pipe", link = folder + "/link";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = *ReadFile(pipe); });
  EXPECT_TRUE(WriteFile(pipe, "through").ok());
  reader.join();
  EXPECT_EQ(read, "through");
  struct stat info = {};
  ASSERT_EQ(lstat(pipe.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
  // A device behind a link: what does not fit is not lost silently.
  ASSERT_EQ(symlink("/dev/full", link.c_str()), 0);
  const absl::Status full = WriteFile(link, "x");
  EXPECT_EQ(full.message(),
            "cannot write '" + link + "': No space left on device");
  ASSERT_EQ(lstat(link.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_EQ(FilesIn(folder), 2u);
}

TEST(File, WritesWhereALinkLeads) {
  const std::string folder = testing::TempDir() + "/links";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  ASSERT_TRUE(WriteFile(folder + "/a", "one").ok());
  ASSERT_EQ(symlink("a", (folder + "/b").c_str()), 0);
  ASSERT_TRUE(WriteFile(folder + "/b", "two").ok());
  EXPECT_EQ(*ReadFile(folder + "/a"), "two");
  struct stat info = {};
  ASSERT_EQ(lstat((folder + "/b").c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_TRUE(SameFile(folder + "/a", folder + "/b"));
  EXPECT_FALSE(SameFile(folder + "/a", folder));
  EXPECT_FALSE(SameFile(folder + "/none", folder + "/none"));
}

TEST(File, NamesItInAnError) {
  const absl::Status status = OfFile(
      "a\n", compiler::Reject(compiler::Rejection::kInvalidModel, "bad"));
  EXPECT_EQ(status.message(), "'a?': bad");
  EXPECT_EQ(ExitCodeOf(status), kRefused);
  EXPECT_TRUE(OfFile("a", absl::OkStatus()).ok());
}

TEST(ExitCode, FollowsTheStatus) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), kOk);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), kNoDevice);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), kFailed);
  EXPECT_EQ(ExitCodeOf(compiler::Reject(
                compiler::Rejection::kUnsupportedOperator, "x")),
            kRefused);
  EXPECT_EQ(
      ExitCodeOf(compiler::Reject(compiler::Rejection::kNoDeviceMemory, "x")),
      kFailed);
}

TEST(ExitCode, OfAUsageErrorIsItsOwn) {
  const absl::Status status = UsageError("--shape x: no");
  EXPECT_EQ(ExitCodeOf(status), kUsage);
  EXPECT_EQ(ExitCodeOf(OfFile("a", status)), kUsage);
  EXPECT_EQ(status.message(), "--shape x: no");
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), kFailed);
}

TEST(Shapes, NamesAreThoseOfTheModel) {
  compiler::ModelBuilder b;
  b.Input("x", compiler::DataType::kInt64, {-1, 7});
  b.Input("y", compiler::DataType::kInt64, {-1});
  const auto inputs = compiler::DeclaredInputs(b.Bytes());
  EXPECT_TRUE(CheckShapeNames({{"x", {2, 7}}, {"batch", {2}}}, inputs).ok());
  const absl::Status unknown = CheckShapeNames({{"z", {1, 2}}}, inputs);
  EXPECT_EQ(ExitCodeOf(unknown), kUsage);
  EXPECT_EQ(
      unknown.message(),
      "--shape z=1,2: the model has no input or dimension 'z'; its inputs "
      "are 'x', 'y'; its named dimensions are 'batch'");
  EXPECT_EQ(ExitCodeOf(CheckShapeNames({{"batch", {1, 2}}}, inputs)), kUsage);
  EXPECT_FALSE(CheckShapeNames({{"", {1}}}, inputs).ok());
}

TEST(Shapes, Parse) {
  std::map<std::string, compiler::Shape> shapes;
  ASSERT_TRUE(ParseShapes({"a=1,3,8", "b:0=7", "s="}, &shapes).ok());
  EXPECT_EQ(shapes["a"], (compiler::Shape{1, 3, 8}));
  EXPECT_EQ(shapes["b:0"], (compiler::Shape{7}));
  EXPECT_EQ(shapes["s"], compiler::Shape());
  for (const char* text : {"", "a", "=1", "x=0", "x=-1", "x=1,", "x=1,b"}) {
    EXPECT_FALSE(ParseShapes({text}, &shapes).ok()) << text;
  }
  EXPECT_FALSE(ParseShapes({"a=1"}, &shapes).ok());
}

onnx::TensorShapeProto* ShapeOf(compiler::ModelBuilder* b, int input) {
  return b->proto()
      .mutable_graph()
      ->mutable_input(input)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape();
}

TEST(Shapes, Example) {
  compiler::ModelBuilder b;
  b.Input("ids", compiler::DataType::kInt64, {-1, 7, -1});
  b.Input("it's", compiler::DataType::kFloat, {-1, 3, 8, 8});
  b.Input("fixed", compiler::DataType::kFloat, {2});
  auto* dimension = ShapeOf(&b, 0)->mutable_dim(2);
  dimension->set_dim_param("length");
  using Shapes = std::map<std::string, compiler::Shape>;
  const auto example = [&](const Shapes& shapes) {
    return ShapeExample({"heddle-run", "m.onnx"}, b.Bytes(), shapes);
  };
  EXPECT_EQ(example({}),
            "heddle-run m.onnx --shape batch=1 --shape length=128");
  // What is given says more than itself: a name has one value.
  EXPECT_EQ(example({{"it's", {5, 3, 8, 8}}}),
            "heddle-run m.onnx --shape length=128");
  EXPECT_EQ(example({{"length", {9}}}), "heddle-run m.onnx --shape batch=1");
  EXPECT_EQ(example({{"ids", {5, 7, 9}}}), "") << "nothing is open";
  // One without a name: shapes.
  dimension->clear_dim_param();
  EXPECT_EQ(example({}), "heddle-run m.onnx --shape ids=1,7,128");
  EXPECT_EQ(example({{"it's", {5, 3, 8, 8}}}),
            "heddle-run m.onnx --shape ids=5,7,128");
  ShapeOf(&b, 1)->mutable_dim(0)->clear_dim_param();
  EXPECT_EQ(example({}),
            "heddle-run m.onnx --shape ids=1,7,128 --shape "
            "'it'\\''s=1,3,8,8'");
  b.proto()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  EXPECT_EQ(example({{"it's", {5, 3, 8, 8}}}),
            "heddle-run m.onnx --shape ids=D,D,...");
  EXPECT_EQ(ShapeExample({"heddle-run", "m.onnx"}, "no model", {}), "");
}

// An input's name goes before a dimension's.
TEST(Shapes, ExampleOfANameThatIsAnInputs) {
  compiler::ModelBuilder b;
  b.Input("batch", compiler::DataType::kInt64, {-1, 7});
  EXPECT_EQ(ShapeExample({"heddle-run", "m.onnx"}, b.Bytes(), {}),
            "heddle-run m.onnx --shape batch=1,7");
}

// What was typed is what is wanted, as a shell reads it.
TEST(Shapes, ExampleRepeatsTheCommandLine) {
  compiler::ModelBuilder b;
  b.Input("ids", compiler::DataType::kInt64, {-1});
  EXPECT_EQ(ShapeExample({"heddle-compile", "my model.onnx", "-o", "m.hpk",
                          "--report=html", "--explain", "conv*"},
                         b.Bytes(), {}),
            "heddle-compile 'my model.onnx' -o m.hpk --report=html --explain "
            "'conv*' --shape batch=1");
}

TEST(Printable, ControlsNothing) {
  EXPECT_EQ(Printable("conv1/\xc3\xa4 <b>"), "conv1/\xc3\xa4 <b>");
  EXPECT_EQ(Printable("a\x1b[2Jb\nc\x7f"), "a?[2Jb?c?");
  EXPECT_EQ(Printable("a\xc2\x9b"
                      "2J"),
            "a??2J");
  EXPECT_EQ(Printable("\xc2"), "\xc2");
  EXPECT_EQ(Printable(std::string("\0x", 2)), "?x");
}

// What Progress writes to something that is no terminal.
std::string Shown(bool force, int delay_ms, int work_ms) {
  int pipe_fds[2];
  EXPECT_EQ(pipe(pipe_fds), 0);
  {
    Progress progress("tool", force, pipe_fds[1],
                      std::chrono::milliseconds(delay_ms));
    progress.Set("first\nstage");
    std::this_thread::sleep_for(std::chrono::milliseconds(work_ms));
  }
  close(pipe_fds[1]);
  char buffer[4096];
  const ssize_t n = read(pipe_fds[0], buffer, sizeof(buffer));
  close(pipe_fds[0]);
  return std::string(buffer, n < 0 ? 0 : static_cast<size_t>(n));
}

TEST(Progress, IsForLongWorkOnly) {
  EXPECT_EQ(Shown(true, 60000, 1), "");
  EXPECT_EQ(Shown(false, 1, 100), "");
  // Once, although shown again and again: the text does not change.
  EXPECT_EQ(Shown(true, 1, 300).find("tool: first?stage (0 s)\n"), 0u);
  EXPECT_EQ(Shown(true, 1, 300).size(), 24u);
}

TEST(Progress, TellsWhatIsLeft) {
  EXPECT_EQ(TimeLeft(1, 0.5), "");
  EXPECT_EQ(TimeLeft(10, 0), "");
  EXPECT_EQ(TimeLeft(10, 2), "");
  EXPECT_EQ(TimeLeft(10, 1), "about 0 s left");
  EXPECT_EQ(TimeLeft(10, 0.2), "about 40 s left");
  EXPECT_EQ(TimeLeft(60, 0.25), "about 3 min left");
  EXPECT_EQ(TimeLeft(3600, 0.2), "about 4.0 h left");
  EXPECT_EQ(TimeLeft(10, 1e-300), "about 1000000.0 h left");
}

}  // namespace
}  // namespace heddle::cli
