// SPDX-License-Identifier: Apache-2.0
// Every structural rule of the importer, with the sentence that names the
// object at fault.
#include "compiler/import/importer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

// x -> Relu -> t -> Add w -> y.
ModelBuilder Sample() {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {-1, 2});
  b.Constant("w", Floats({2}, {1, 2}));
  b.Node("Relu", {"x"}, {"t"});
  b.Node("Add", {"t", "w"}, {"y"});
  b.Output("y", DataType::kFloat, {-1, 2});
  return b;
}

// With 1 for the batch.
absl::StatusOr<ImportedModel> Import(const ModelBuilder& b) {
  ImportOptions options;
  options.open_dimensions_are_one = true;
  return ImportOnnx(b.Bytes(), options);
}

struct Case {
  const char* name;
  Rejection kind;
  const char* message;  // a part of it
  std::function<void(onnx::ModelProto*)> damage;
};

class Structure : public testing::TestWithParam<Case> {};

TEST_P(Structure, IsRefused) {
  ModelBuilder b = Sample();
  GetParam().damage(&b.proto());
  auto model = Import(b);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(RejectionName(RejectionOf(model.status())),
            std::string(RejectionName(GetParam().kind)))
      << model.status();
  EXPECT_TRUE(absl::StrContains(model.status().message(), GetParam().message))
      << model.status();
}

using Proto = onnx::ModelProto;

onnx::TensorProto* Initializer(Proto* m) {
  return m->mutable_graph()->mutable_initializer(0);
}
onnx::NodeProto* NodeOf(Proto* m, int i) {
  return m->mutable_graph()->mutable_node(i);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Structure,
    testing::Values(
        Case{"NoIrVersion", Rejection::kInvalidModel, "no ir_version",
             [](Proto* m) { m->clear_ir_version(); }},
        Case{"IrVersionOfNone", Rejection::kInvalidModel, "ir_version 0",
             [](Proto* m) { m->set_ir_version(0); }},
        Case{"NewIrVersion", Rejection::kUnsupportedVersion,
             "ir_version 14 is newer than 13; save the model with an older one",
             [](Proto* m) { m->set_ir_version(14); }},
        Case{"NewerTypeOfAnInput", Rejection::kUnsupportedDatatype,
             "input 'x' has type float8e8m0, which is not supported",
             [](Proto* m) {
               m->mutable_graph()
                   ->mutable_input(0)
                   ->mutable_type()
                   ->mutable_tensor_type()
                   ->set_elem_type(24);
             }},
        Case{"NewerTypeOfAConstant", Rejection::kUnsupportedDatatype,
             "has type int2, which is not supported",
             [](Proto* m) { Initializer(m)->set_data_type(26); }},
        Case{"TypeOfNoVersion", Rejection::kInvalidModel,
             "has no valid data_type, but 27",
             [](Proto* m) { Initializer(m)->set_data_type(27); }},
        Case{"NoOpset", Rejection::kInvalidModel, "no opset_import",
             [](Proto* m) { m->clear_opset_import(); }},
        Case{"OldOperator", Rejection::kUnsupportedVersion,
             "operator ai.onnx.Erf of opset 6 is not supported; that of opset "
             "9 to 26 is",
             [](Proto* m) {
               m->mutable_opset_import(0)->set_version(6);
               m->mutable_graph()->mutable_node(0)->set_op_type("Erf");
             }},
        Case{"NegativeDimension", Rejection::kInvalidModel,
             "input 'x' has a dimension of -2",
             [](Proto* m) {
               m->mutable_graph()
                   ->mutable_input(0)
                   ->mutable_type()
                   ->mutable_tensor_type()
                   ->mutable_shape()
                   ->mutable_dim(0)
                   ->set_dim_value(-2);
             }},
        Case{
            "NewOpset", Rejection::kUnsupportedVersion,
            "opset 27 is newer than 26; convert it with onnx.version_converter",
            [](Proto* m) { m->mutable_opset_import(0)->set_version(27); }},
        Case{"NewTypeOfAnInput", Rejection::kUnsupportedDatatype,
             "input 'x' has type float8e4m3fn",
             [](Proto* m) {
               m->mutable_graph()
                   ->mutable_input(0)
                   ->mutable_type()
                   ->mutable_tensor_type()
                   ->set_elem_type(17);
             }},
        Case{"TwoOpsets", Rejection::kInvalidModel, "two versions",
             [](Proto* m) {
               auto* import = m->add_opset_import();
               import->set_domain("ai.onnx");
               import->set_version(12);
             }},
        Case{"NoGraph", Rejection::kInvalidModel, "no graph",
             [](Proto* m) { m->clear_graph(); }},
        Case{"NoNodes", Rejection::kInvalidModel, "no nodes",
             [](Proto* m) { m->mutable_graph()->clear_node(); }},
        Case{"NoOutputs", Rejection::kInvalidModel, "no outputs",
             [](Proto* m) { m->mutable_graph()->clear_output(); }},
        Case{"UnknownOperator", Rejection::kUnsupportedOperator,
             "Frobnicate 't_node': operator ai.onnx.Frobnicate at opset 13",
             [](Proto* m) { NodeOf(m, 0)->set_op_type("Frobnicate"); }},
        Case{"UnknownDomainOperator", Rejection::kUnsupportedOperator,
             "com.microsoft.Relu",
             [](Proto* m) { NodeOf(m, 0)->set_domain("com.microsoft"); }},
        Case{"UnlistedDomain", Rejection::kInvalidModel,
             "domain 'org.example', which opset_import does not list",
             [](Proto* m) { NodeOf(m, 0)->set_domain("org.example"); }},
        Case{"UnlistedDomainBeatsUnknownOperator", Rejection::kInvalidModel,
             "reads 'nobody', which nothing defines",
             [](Proto* m) {
               NodeOf(m, 0)->set_op_type("Frobnicate");
               NodeOf(m, 1)->set_input(0, "nobody");
             }},
        Case{"NoOpType", Rejection::kInvalidModel, "'t_node' has no op_type",
             [](Proto* m) { NodeOf(m, 0)->clear_op_type(); }},
        Case{"UndefinedName", Rejection::kInvalidModel,
             "Add 'y_node' reads 'nobody', which nothing defines",
             [](Proto* m) { NodeOf(m, 1)->set_input(0, "nobody"); }},
        Case{"Unsorted", Rejection::kInvalidModel,
             "reads 't' before it is computed",
             [](Proto* m) {
               m->mutable_graph()->mutable_node()->SwapElements(0, 1);
             }},
        Case{"Cycle", Rejection::kInvalidModel, "before it is computed",
             [](Proto* m) { NodeOf(m, 0)->set_input(0, "y"); }},
        Case{"WrittenTwice", Rejection::kInvalidModel,
             "Add 'y_node' writes 't', which has a value already",
             [](Proto* m) { NodeOf(m, 1)->set_output(0, "t"); }},
        Case{"WritesInput", Rejection::kInvalidModel, "writes 'x'",
             [](Proto* m) { NodeOf(m, 0)->set_output(0, "x"); }},
        Case{"WritesInitializer", Rejection::kInvalidModel, "writes 'w'",
             [](Proto* m) { NodeOf(m, 0)->set_output(0, "w"); }},
        Case{"NodeWithoutOutput", Rejection::kInvalidModel, "has no output",
             [](Proto* m) {
               auto* node = m->mutable_graph()->add_node();
               node->set_op_type("Relu");
               node->add_input("x");
             }},
        Case{"OutputNeverComputed", Rejection::kInvalidModel,
             "output 'z' is never computed",
             [](Proto* m) {
               m->mutable_graph()->mutable_output(0)->set_name("z");
             }},
        Case{"OutputTwice", Rejection::kInvalidModel, "output 'y' occurs twice",
             [](Proto* m) {
               *m->mutable_graph()->add_output() = m->graph().output(0);
             }},
        Case{"InputTwice", Rejection::kInvalidModel, "input 'x' occurs twice",
             [](Proto* m) {
               *m->mutable_graph()->add_input() = m->graph().input(0);
             }},
        Case{"InputWithoutType", Rejection::kInvalidModel,
             "input 'x' has no type",
             [](Proto* m) {
               m->mutable_graph()->mutable_input(0)->clear_type();
             }},
        Case{"InputWithoutShape", Rejection::kUnsupportedShape,
             "input 'x' has no shape",
             [](Proto* m) {
               m->mutable_graph()
                   ->mutable_input(0)
                   ->mutable_type()
                   ->mutable_tensor_type()
                   ->clear_shape();
             }},
        Case{"InputIsString", Rejection::kUnsupportedDatatype, "type string",
             [](Proto* m) {
               m->mutable_graph()
                   ->mutable_input(0)
                   ->mutable_type()
                   ->mutable_tensor_type()
                   ->set_elem_type(8);
             }},
        Case{"InputIsSequence", Rejection::kUnsupportedDatatype,
             "not a dense tensor",
             [](Proto* m) {
               m->mutable_graph()
                   ->mutable_input(0)
                   ->mutable_type()
                   ->mutable_sequence_type();
             }},
        Case{"InitializerTwice", Rejection::kInvalidModel,
             "initializer 'w' occurs twice",
             [](Proto* m) {
               *m->mutable_graph()->add_initializer() =
                   m->graph().initializer(0);
             }},
        Case{"InitializerDisagreesWithInput", Rejection::kMismatchingShape,
             "input 'w' is declared with shape [3], but has [2]",
             [](Proto* m) {
               auto* input = m->mutable_graph()->add_input();
               input->set_name("w");
               auto* type = input->mutable_type()->mutable_tensor_type();
               type->set_elem_type(1);
               type->mutable_shape()->add_dim()->set_dim_value(3);
             }},
        Case{"SparseInitializerWithoutName", Rejection::kInvalidModel,
             "a sparse_initializer has no name",
             [](Proto* m) { m->mutable_graph()->add_sparse_initializer(); }},
        Case{"SparseInitializerWithoutValues", Rejection::kInvalidModel,
             "sparse_initializer 's': values has no valid data_type",
             [](Proto* m) {
               m->mutable_graph()
                   ->add_sparse_initializer()
                   ->mutable_values()
                   ->set_name("s");
             }},
        Case{"ExternalData", Rejection::kInvalidModel,
             "initializer 'w': external_data has no location",
             [](Proto* m) {
               Initializer(m)->clear_raw_data();
               Initializer(m)->set_data_location(onnx::TensorProto::EXTERNAL);
             }},
        Case{"ExternalDataWithoutFolder", Rejection::kInvalidModel,
             "initializer 'w': keeps its data in the file 'w.bin', but a model "
             "passed as bytes has no folder",
             [](Proto* m) {
               Initializer(m)->clear_raw_data();
               Initializer(m)->set_data_location(onnx::TensorProto::EXTERNAL);
               auto* entry = Initializer(m)->add_external_data();
               entry->set_key("location");
               entry->set_value("w.bin");
             }},
        Case{"TextThatANodeReads", Rejection::kUnsupportedDatatype,
             "initializer 'w' has type string",
             [](Proto* m) {
               Initializer(m)->clear_raw_data();
               Initializer(m)->set_data_type(onnx::TensorProto::STRING);
             }},
        Case{"OldMicrosoftDomain", Rejection::kUnsupportedVersion,
             "version 2 of domain 'com.microsoft'",
             [](Proto* m) { m->mutable_opset_import(1)->set_version(2); }},
        Case{
            "DomainWithoutVersion", Rejection::kInvalidModel,
            "domain 'org.example' has version 0",
            [](Proto* m) { m->add_opset_import()->set_domain("org.example"); }},
        Case{"AttributeTypeLies", Rejection::kInvalidModel,
             "Relu 't_node': attribute 'a' states type INTS but has a value of "
             "type INT",
             [](Proto* m) {
               auto* a = NodeOf(m, 0)->add_attribute();
               a->set_name("a");
               a->set_type(onnx::AttributeProto::INTS);
               a->set_i(1);
             }},
        Case{"AttributeWithoutValue", Rejection::kInvalidModel, "no value",
             [](Proto* m) {
               auto* a = NodeOf(m, 0)->add_attribute();
               a->set_name("a");
               a->set_type(onnx::AttributeProto::TENSOR);
             }},
        Case{"AttributeWithoutType", Rejection::kInvalidModel, "no value",
             [](Proto* m) { NodeOf(m, 0)->add_attribute()->set_name("a"); }},
        Case{"AttributeTwice", Rejection::kInvalidModel,
             "attribute 'a' occurs twice",
             [](Proto* m) {
               SetInt(NodeOf(m, 0), "a", 1);
               SetInt(NodeOf(m, 0), "a", 1);
             }},
        Case{"AttributeIsGraph", Rejection::kUnsupportedAttribute, "type GRAPH",
             [](Proto* m) {
               auto* a = NodeOf(m, 0)->add_attribute();
               a->set_name("body");
               a->set_type(onnx::AttributeProto::GRAPH);
               a->mutable_g();
             }},
        Case{"ControlCharactersAreEscaped", Rejection::kInvalidModel,
             "reads 'a\\nb'",
             [](Proto* m) { NodeOf(m, 1)->set_input(0, "a\nb"); }}),
    [](const auto& info) { return info.param.name; });

TEST(ImporterTest, SampleIsAccepted) {
  auto model = Import(Sample());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph.inputs.size(), 1u);
  EXPECT_EQ(model->graph.tensors[model->graph.inputs[0]].shape, (Shape{1, 2}));
  EXPECT_EQ(model->graph.nodes[0].sources,
            (std::vector<std::string>{"t_node"}));
}

TEST(ImporterTest, NamelessNodesAreNumberedPerOperator) {
  ModelBuilder b = Sample();
  for (auto& node : *b.proto().mutable_graph()->mutable_node()) {
    node.clear_name();
  }
  auto model = Import(b);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->graph.nodes[0].name, "Relu_0");
  EXPECT_EQ(model->graph.nodes[1].name, "Add_0");
}

TEST(ImporterTest, AllVersionsOfTheFormatLoad) {
  for (int ir = kMinIrVersion; ir <= kMaxIrVersion; ++ir) {
    ModelBuilder b = Sample();
    b.proto().set_ir_version(ir);
    auto model = Import(b);
    ASSERT_TRUE(model.ok()) << ir << ": " << model.status();
    EXPECT_EQ(model->graph.nodes[0].opset, 13);
    // Opsets came with IR version 3: what has none is of opset 1.
    b.proto().clear_opset_import();
    model = Import(b);
    EXPECT_EQ(model.ok(), ir < 3) << ir;
    if (model.ok()) {
      EXPECT_EQ(model->graph.nodes[0].opset, 1);
    }
  }
}

// Where a node runs (IR version 11) is no part of what it computes.
TEST(ImporterTest, DevicesAreIgnored) {
  ModelBuilder b = Sample();
  b.proto().set_ir_version(11);
  auto* node = b.proto().mutable_graph()->mutable_node(0);
  node->GetReflection()->MutableUnknownFields(node)->AddLengthDelimited(
      10, std::string("\x0a\x03"
                      "two",
                      5));  // device_configurations
  b.proto()
      .GetReflection()
      ->MutableUnknownFields(&b.proto())
      ->AddLengthDelimited(26, std::string("\x0a\x03"
                                           "two",
                                           5));
  EXPECT_TRUE(Import(b).ok()) << Import(b).status();
}

TEST(ImporterTest, InitializersMayAlsoBeInputs) {
  ModelBuilder b = Sample();
  b.proto().set_ir_version(3);
  b.Input("w", DataType::kFloat, {2});
  auto model = Import(b);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph.inputs.size(), 1u);
}

TEST(ImporterTest, SymbolicDimensionsAreBound) {
  ModelBuilder b = Sample();
  b.Input("x2", DataType::kFloat, {-1, 5});
  ImportOptions options;
  options.input_shapes["x"] = {7, 2};
  auto model = ImportOnnx(b.Bytes(), options);
  ASSERT_TRUE(model.ok()) << model.status();
  // One name, one value, also for the input that was not given.
  EXPECT_EQ(model->graph.tensors[model->graph.inputs[1]].shape, (Shape{7, 5}));
  EXPECT_TRUE(model->graph.notes.empty());
  options.input_shapes["x2"] = {8, 5};
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kMismatchingShape);
  options.input_shapes = {{"x", {7, 3}}};
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kMismatchingShape);
  options.input_shapes = {{"x", {7}}};
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kMismatchingShape);
  options.input_shapes = {{"x", {-7, 2}}};
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kMismatchingShape);
  options.input_shapes = {{"nobody", {1}}};
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kMismatchingShape);
}

// By the name that a dimension has, for all inputs; an input's name goes first.
TEST(ImporterTest, SymbolsAreBoundByTheirNames) {
  ModelBuilder b = Sample();
  b.Input("x2", DataType::kFloat, {-1, 5});
  ImportOptions options;
  options.input_shapes["batch"] = {7};
  auto model = ImportOnnx(b.Bytes(), options);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph.tensors[model->graph.inputs[0]].shape, (Shape{7, 2}));
  EXPECT_EQ(model->graph.tensors[model->graph.inputs[1]].shape, (Shape{7, 5}));
  options.input_shapes["x2"] = {8, 5};
  const absl::Status status = ImportOnnx(b.Bytes(), options).status();
  EXPECT_EQ(RejectionOf(status), Rejection::kMismatchingShape);
  EXPECT_TRUE(absl::StrContains(
      status.message(), "dimension 'batch' is 7 as it is given and 8 in input"))
      << status;
  options.input_shapes = {{"batch", {7, 2}}};
  EXPECT_TRUE(
      absl::StrContains(ImportOnnx(b.Bytes(), options).status().message(),
                        "its named dimensions are 'batch'"));
}

// Nobody gives a value silently: all names are in the rejection, or in notes.
TEST(ImporterTest, OpenDimensionsAreRefusedOrNoted) {
  ModelBuilder b = Sample();
  b.Input("x2", DataType::kFloat, {-1, 5, -1});
  b.proto()
      .mutable_graph()
      ->mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(2)
      ->clear_dim_param();
  const absl::Status refused = ImportOnnx(b.Bytes(), {}).status();
  EXPECT_EQ(RejectionOf(refused), Rejection::kUnsupportedShape);
  EXPECT_EQ(refused.message(),
            "the model leaves dimension 0 ('batch') of input 'x', dimension 0 "
            "('batch') of input 'x2', dimension 2 of input 'x2' open; give the "
            "inputs' shapes");
  ImportOptions options;
  options.open_dimensions_are_one = true;
  auto model = ImportOnnx(b.Bytes(), options);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph.tensors[model->graph.inputs[1]].shape,
            (Shape{1, 5, 1}));
  ASSERT_EQ(model->graph.notes.size(), 3u);
  EXPECT_EQ(model->graph.notes[1],
            "dimension 0 ('batch') of input 'x2' has no value in the model and "
            "is taken as 1");
}

TEST(ImporterTest, WeightsComeFromTheOptions) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 2}).Input("w", DataType::kFloat, {2});
  b.Node("Add", {"x", "w"}, {"y"});
  b.Output("y");
  auto absent = Import(b);
  ASSERT_TRUE(absent.ok());
  EXPECT_EQ(absent->graph.inputs.size(), 2u);
  ImportOptions options;
  options.weights["w"] = Floats({2}, {1, 2});
  auto given = ImportOnnx(b.Bytes(), options);
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->graph.inputs.size(), 1u);
  options.weights["w"] = Floats({3}, {1, 2, 3});
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kMismatchingShape);
  options.weights["w"] = Int32s({2}, {1, 2});
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kMismatchingDatatype);
  options.weights["w"] = Floats({2}, {1, 2});
  TensorBytes& bytes = options.weights["w"].bytes;
  bytes.resize(bytes.size() - 1);
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kInvalidModel);
  options.weights = {{"nobody", Floats({}, {1})}};
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kInvalidModel);
  // Not beside initializers.
  options.weights = {{"w", Floats({2}, {1, 2})}};
  b.Constant("other", Floats({}, {1}));
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kInvalidModel);
}

TEST(ImporterTest, BytesThatAreNoModel) {
  for (const std::string& bytes :
       {std::string("hello, world"), std::string("\x0a\xff\xff\xff\xff\x7f"),
        std::string(64, '\xff'), std::string("\x3b")}) {
    EXPECT_EQ(RejectionOf(ImportOnnx(bytes, {}).status()),
              Rejection::kInvalidProtobuf);
  }
  // The empty message is a protobuf, but no model.
  EXPECT_EQ(RejectionOf(ImportOnnx("", {}).status()), Rejection::kInvalidModel);
}

TEST(ImporterTest, EveryTruncationIsRefusedOrWhole) {
  const std::string bytes = Sample().Bytes();
  int whole = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto model = ImportOnnx(bytes.substr(0, size), {});
    if (model.ok()) {
      ++whole;  // cut before the second opset_import, which nothing needs
    } else {
      EXPECT_NE(RejectionOf(model.status()), Rejection::kNone) << size;
    }
  }
  EXPECT_LE(whole, 1);
}

// Large weights are views of bytes that somebody keeps; what is small, an index
// or not aligned is copied.
TEST(ImporterTest, LargeConstantsAreViewsOfTheModel) {
  const auto import = [](const std::string& bytes, bool kept) {
    ImportOptions options;
    if (kept) options.owner = std::make_shared<int>();
    auto model = ImportOnnx(bytes, options);
    EXPECT_TRUE(model.ok()) << model.status();
    return *model->graph.tensors[model->graph.FindTensor("w")].constant;
  };
  const auto model_of = [](DataType type, int64_t count, int skew) {
    ModelBuilder b;
    b.Input("x", type, {count});
    TensorData w = TensorData::Zeros(type, {count});
    for (size_t i = 0; i < w.bytes.size(); ++i) {
      w.bytes[i] = static_cast<uint8_t>(i);
    }
    b.Constant("w", w);
    b.Node("Add", {"x", "w"}, {"y"});
    b.Output("y");
    b.proto().set_producer_name(std::string(skew, 'x'));
    return b.Bytes();
  };
  constexpr int64_t kLarge = 1 << 16;
  const std::string codes = model_of(DataType::kUint8, kLarge, 0);
  const TensorData view = import(codes, true), copy = import(codes, false);
  EXPECT_EQ(view.bytes, copy.bytes);
  EXPECT_EQ(view.bytes[300], 300 % 256);
  EXPECT_TRUE(view.bytes.is_view());
  EXPECT_FALSE(copy.bytes.is_view());
  const auto* first = reinterpret_cast<const uint8_t*>(codes.data());
  EXPECT_GT(view.bytes.data(), first);
  EXPECT_LT(view.bytes.data(), first + codes.size());
  EXPECT_FALSE(
      import(model_of(DataType::kUint8, kLarge - 1, 0), true).bytes.is_view());
  EXPECT_FALSE(
      import(model_of(DataType::kInt64, kLarge, 0), true).bytes.is_view());
  int views = 0;
  for (int skew = 1; skew <= 4; ++skew) {
    const std::string floats = model_of(DataType::kFloat, kLarge, skew);
    const TensorData w = import(floats, true);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(w.bytes.data()) % sizeof(float), 0u);
    views += w.bytes.is_view();
  }
  EXPECT_EQ(views, 1);
}

TEST(ImporterTest, EmptyOptionalNames) {
  ModelBuilder b(11);
  b.Input("x", DataType::kFloat, {2});
  b.Constant("hi", Floats({}, {6}));
  b.Node("Clip", {"x", "", "hi"}, {"y", ""});
  b.Output("y");
  auto model = Import(b);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->graph.nodes[0].inputs[1], kNoTensor);
  EXPECT_EQ(model->graph.nodes[0].outputs[1], kNoTensor);
}

}  // namespace
}  // namespace heddle::compiler
