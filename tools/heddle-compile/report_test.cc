// SPDX-License-Identifier: Apache-2.0
// Hostile names in every form of the report; numbers that must agree.
#include "tools/heddle-compile/report.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/report/package_report.h"
#include "compiler/stream/job_cycles.h"
#include "compiler/testing/control_models.h"
#include "compiler/testing/model_builder.h"
#include "tools/heddle-compile/html_report.h"
#include "tools/heddle-compile/shape_set_report.h"

namespace heddle::compile {
namespace {

using compiler::DataType;
using nlohmann::ordered_json;

constexpr char kHostile[] =
    "</script><script>alert(1)</script><img src=x "
    "onerror=alert(1)>&\x1b[2J\xff";

struct Compiled {
  package::Package package;
  compiler::CompileReport report;
};

Compiled Compile() {
  compiler::ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4});
  b.Node("Relu", {"x"}, {"r"})->set_name(kHostile);
  b.Node("Add", {"r", "x"}, {"y"});
  b.Output("y");
  b.proto().mutable_graph()->set_name(kHostile);
  compiler::CompileOptions options;
  options.details = true;
  auto result = compiler::CompileOnnx(b.Bytes(), options);
  EXPECT_TRUE(result.ok()) << result.status();
  auto package = package::Parse(result->package);
  EXPECT_TRUE(package.ok()) << package.status();
  return {*std::move(package), std::move(result->report)};
}

// One mismatched scale keeps a quantized convolution in floating point.
Compiled CompileFloatGroup() {
  compiler::ModelBuilder b;
  const auto zero = compiler::Uint8s({}, {3});
  b.Input("x", DataType::kFloat, {1, 1, 8, 8});
  b.Quantize("x", "xq", 0.25f, zero);
  b.Dequantize("xq", "xd", compiler::Floats({}, {0.25f}), zero);
  b.Constant("w", compiler::Int8s({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  b.Dequantize("w", "wd", compiler::Floats({}, {0.5f}),
               compiler::Int8s({}, {0}));
  b.Constant("b", compiler::Int32s({1}, {5}));
  b.Dequantize("b", "bd", compiler::Floats({}, {0.2f}),
               compiler::Int32s({}, {0}));
  b.Node("Conv", {"xd", "wd", "bd"}, {"c"})->set_name("conv");
  b.Quantize("c", "yq", 0.5f, zero);
  b.Dequantize("yq", "y", compiler::Floats({}, {0.5f}), zero);
  b.Output("y");
  compiler::CompileOptions options;
  options.details = true;
  auto result = compiler::CompileOnnx(b.Bytes(), options);
  EXPECT_TRUE(result.ok()) << result.status();
  auto package = package::Parse(result->package);
  EXPECT_TRUE(package.ok()) << package.status();
  return {*std::move(package), std::move(result->report)};
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) {
    ++count;
  }
  return count;
}

TEST(HtmlReport, NamesAreNoMarkup) {
  const Compiled c = Compile();
  const std::string html = HtmlReport("m.onnx", c.package, c.report);
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(Count(html, "<script"), 2u) << "data and program";
  EXPECT_EQ(Count(html, "</script"), 2u);
  EXPECT_NE(html.find("\\u003c/script\\u003e"), std::string::npos);
  // The data are whole JSON.
  const std::string mark = "id=\"data\">";
  const size_t begin = html.find(mark) + mark.size();
  const ordered_json data = ordered_json::parse(
      html.substr(begin, html.find("</script>", begin) - begin));
  EXPECT_EQ(data["file"], "m.onnx");
  EXPECT_NE(html.find("document.title = D.file"), std::string::npos);
  EXPECT_EQ(data["layers"].size(), c.report.layers.size());
  EXPECT_EQ(data["timeline"].size(), c.report.commands_in_time.size() - 1);
  EXPECT_EQ(data["hardware"]["matrix_macs_per_cycle"], 256);
  EXPECT_FALSE(data["buffers"].empty());
}

// Cycles alone say little: the page has time and rate of commands and job.
TEST(HtmlReport, ShowsTimeAtTheClock) {
  const Compiled c = Compile();
  const std::string html = HtmlReport("m.onnx", c.package, c.report);
  for (const char* part :
       {"rate(D.estimated_cycles)", "rate(D.estimated_job_cycles)",
        "ms(l.estimated_cycles, D.estimated_cycles)",
        "'ms at ' + num(D.clock_mhz)"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
}

TEST(FloatGroups, AreInEveryForm) {
  const Compiled c = CompileFloatGroup();
  const std::string why =
      "its bias 'b' has scale 0.2 where input and weights give 0.125";
  const std::string text = TextReport(c.package, c.report);
  EXPECT_NE(text.find("float: Conv 'conv' is quantized in the model but "
                      "computes in float, "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" cycles*: " + why + "\n"), std::string::npos) << text;
  const ordered_json json =
      ordered_json::parse(JsonReport(c.package, c.report));
  ASSERT_EQ(json["float_groups"].size(), 1u);
  const ordered_json& group = json["float_groups"][0];
  EXPECT_EQ(group["node"], "conv");
  EXPECT_EQ(group["op"], "Conv");
  EXPECT_EQ(group["reason"], why);
  EXPECT_GT(group["estimated_cycles"].get<uint64_t>(), 0u);
  EXPECT_LE(group["estimated_cycles"].get<uint64_t>(),
            c.report.estimated_cycles);
  const std::string html = HtmlReport("m.onnx", c.package, c.report);
  EXPECT_NE(html.find(why), std::string::npos);
  EXPECT_NE(html.find("for (const f of D.float_groups)"), std::string::npos)
      << "the page shows them";
}

// A cell whose text the model or the plan makes as long as it likes must wrap,
// or the table is wider than the window.
TEST(HtmlReport, LongCellsWrap) {
  const Compiled c = Compile();
  const std::string html = HtmlReport("m.onnx", c.package, c.report);
  EXPECT_NE(html.find("td.long { white-space: normal; overflow-wrap: anywhere; "
                      "max-width:"),
            std::string::npos);
  for (const char* field : {"l.name", "l.op"}) {
    const std::string cell = std::string("el('td', tr, ") + field;
    const size_t at = html.find(cell);
    ASSERT_NE(at, std::string::npos) << cell;
    const std::string call = html.substr(at, html.find('\n', at) - at);
    EXPECT_NE(call.find("class: 'long "), std::string::npos) << call;
  }
}

TEST(HtmlReport, LoadsNothing) {
  const Compiled c = Compile();
  std::string html = HtmlReport("m.onnx", c.package, c.report);
  const size_t begin = html.find("id=\"data\">");
  html.erase(begin, html.find("</script>", begin) - begin);
  // The name of SVG's elements is no address that anything opens.
  const std::string space = "http://www.w3.org/2000/svg";
  html.replace(html.find(space), space.size(), "");
  for (const char* text : {"http:", "https:", "src=", "@import", "url("}) {
    EXPECT_EQ(html.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(Count(html, "innerHTML"), 0u);
}

TEST(TextReport, NamesControlNothing) {
  const Compiled c = Compile();
  const std::string text = TextReport(c.package, c.report);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("calibrated on single commands"), std::string::npos);
  EXPECT_NE(text.find(" per second at 1000 MHz\njob* "), std::string::npos);
  EXPECT_NE(text.find(" with its copies, 0.0"), std::string::npos);
  EXPECT_NE(text.find(" cycles*       ms* "), std::string::npos) << text;
}

TEST(Report, SaysWhatIsCopiedInEachRun) {
  Compiled c = Compile();
  EXPECT_EQ(TextReport(c.package, c.report).find("host memory"),
            std::string::npos);
  EXPECT_EQ(ReportAsJson(c.package, c.report)["weight_plan"]["copied_bytes"],
            0);
  c.package.weights = std::vector<uint8_t>(3 << 20);
  c.package.weight_plan.device_bytes = 1 << 19;
  c.package.weight_plan.windows = 2;
  c.package.weight_plan.window_bytes = 1 << 18;
  c.report.copy_wait_cycles = 1234;
  c.package.weight_plan.resident = {{0, 0, 0, 1 << 19}};
  c.package.weight_plan.copies = {{0, 1 << 19, 0, 1 << 18},
                                  {1, 1 << 20, 0, 77}};
  EXPECT_NE(TextReport(c.package, c.report)
                .find("  on the card     524288 bytes resident, and 2 windows "
                      "of 262144 bytes\n"
                      "  host memory     262221 bytes copied in each run, "
                      "in 2 pieces, while the card computes: 1234 cycles* "
                      "more than the estimate below\n"),
            std::string::npos)
      << TextReport(c.package, c.report);
  const ordered_json plan = ReportAsJson(c.package, c.report)["weight_plan"];
  EXPECT_EQ(plan["device_bytes"], 1 << 19);
  EXPECT_EQ(plan["windows"], 2);
  EXPECT_EQ(plan["window_bytes"], 1 << 18);
  EXPECT_EQ(plan["wait_cycles"], 1234);
  EXPECT_EQ(plan["resident_bytes"], 1 << 19);
  EXPECT_EQ(plan["copied_bytes"], (1 << 18) + 77);
  EXPECT_EQ(plan["overlapped"], true);
  EXPECT_EQ(plan["copies"][1]["stream"], 1);
  EXPECT_EQ(plan["copies"][1]["from"], 1 << 20);
  // The card has region 0, not all weights.
  const uint64_t bytes = DeviceBytes(c.package);
  c.package.weight_plan = {};
  EXPECT_EQ(DeviceBytes(c.package) - bytes, 2u << 20);
}

TEST(Report, SaysWhereBodiesRun) {
  compiler::CompileOptions options;
  options.host_nodes = true;
  options.placement = compiler::Placement::kCard;
  auto result =
      compiler::CompileOnnx(compiler::RepeatedModel().Bytes(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  const auto package = package::Parse(result->package);
  ASSERT_TRUE(package.ok()) << package.status();
  const std::string text = TextReport(*package, result->report);
  for (const char* line :
       {"\n1                    host ", "\n2                    host Loop ",
        "\n2 body.1             card ", "Cycles count each body once",
        "trip count 'most'"}) {
    EXPECT_EQ(Count(text, line), 1u) << line << text;
  }
  const ordered_json json =
      ordered_json::parse(JsonReport(*package, result->report));
  const auto& loop = json["segments"][1];
  EXPECT_EQ(loop["control"], "Loop");
  EXPECT_EQ(loop["bodies"][0]["name"], "body");
  EXPECT_EQ(loop["bodies"][0]["segments"][0]["on"], "card");
  EXPECT_EQ(json["segments"][0].count("control"), 0u);
  // The card has the body.
  EXPECT_GT(DeviceBytes(*package), 0u);
}

// A table of the specialisations in every form; names stay harmless there, too.
TEST(ShapeSets, AreInEveryForm) {
  compiler::ModelBuilder b;
  b.Input("x", DataType::kFloat, {-1, 4});
  b.proto()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param(kHostile);
  b.Node("Relu", {"x"}, {"y"});
  b.Output("y");
  compiler::CompileOptions options;
  options.details = true;
  auto set =
      compiler::CompileShapeSet(b.Bytes(), options, {{kHostile, {2, 4}}});
  ASSERT_TRUE(set.ok()) << set.status();
  const auto package = package::Parse(set->largest.package);
  ASSERT_TRUE(package.ok());
  const std::string text = ShapeSetText(*set);
  EXPECT_NE(text.find("2 specialisations in "), std::string::npos) << text;
  EXPECT_NE(text.find("=4:\n"), std::string::npos) << "the largest: " << text;
  EXPECT_NE(text.find("between the values is padded"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const ordered_json json =
      ordered_json::parse(JsonReport(*package, set->largest.report, &*set));
  EXPECT_EQ(json["inputs"][0]["shape"][0], 4);
  EXPECT_EQ(json["shape_set"]["specialisations"].size(), 2u);
  EXPECT_EQ(json["shape_set"]["bytes"], set->package.size());
  const std::string html =
      HtmlReport("m.onnx", *package, set->largest.report, &*set);
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  EXPECT_NE(html.find("shapeNotes()"), std::string::npos);
  EXPECT_NE(html.find("separate_bytes"), std::string::npos);
}

// What a package does not hold is nowhere, not even as zeros.
TEST(Report, OfAPackageLeavesOutWhatItDoesNotHold) {
  const Compiled c = Compile();
  const auto report = compiler::ReportOfPackage(c.package, true);
  ASSERT_TRUE(report.ok()) << report.status();
  const std::string text = TextReport(c.package, *report);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find(compiler::kNotInPackage), std::string::npos) << text;
  for (const char* part : {"operator ", "shape ", "SRAM peak", "Relu"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part << text;
  }
  EXPECT_NE(text.find("\nSRAM touched      "), std::string::npos) << text;
  const std::string html = HtmlReport("m.hpk", c.package, *report);
  EXPECT_EQ(html.find("alert(1)</script>"), std::string::npos);
  const std::string mark = "id=\"data\">";
  const size_t begin = html.find(mark) + mark.size();
  const ordered_json data = ordered_json::parse(
      html.substr(begin, html.find("</script>", begin) - begin));
  EXPECT_EQ(data["not_in_package"], compiler::kNotInPackage);
  EXPECT_EQ(data["timeline"].size(), c.report.commands_in_time.size() - 1);
  for (const char* key : {"buffers", "float_groups", "sram_peak_bytes"}) {
    EXPECT_FALSE(data.contains(key)) << key;
  }
  ASSERT_EQ(data["layers"].size(), c.report.layers.size());
  for (const char* key : {"op", "shape", "sources", "tiles"}) {
    EXPECT_FALSE(data["layers"][0].contains(key)) << key;
  }
  EXPECT_EQ(data["layers"][0]["estimated_cycles"],
            c.report.layers[0].estimated_cycles);
}

// Nor how long what runs, if it has no profile of the host.
TEST(Report, OfSegmentsWithoutAProfileHasNoTimes) {
  compiler::CompileOptions options;
  options.host_nodes = true;
  options.placement = compiler::Placement::kCard;
  auto result =
      compiler::CompileOnnx(compiler::RepeatedModel().Bytes(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  auto package = package::Parse(result->package);
  ASSERT_TRUE(package.ok()) << package.status();
  for (const bool has_profile : {true, false}) {
    if (!has_profile) package->host_profile.clear();
    const auto report = compiler::ReportOfPackage(*package, true);
    ASSERT_TRUE(report.ok()) << report.status();
    const std::string text = TextReport(*package, *report);
    EXPECT_EQ(Count(text, "\n2 body.1             card "), 1u) << text;
    EXPECT_EQ(Count(text, "crossing us*"), has_profile ? 1u : 0u) << text;
    EXPECT_EQ(Count(text, "follow\nthe host profile"), has_profile ? 1u : 0u);
    EXPECT_EQ(Count(text, "nodes "), 0u) << text;
    EXPECT_EQ(Count(text, "\nhost: Loop "), 1u) << text;
    const ordered_json json =
        ordered_json::parse(JsonReport(*package, *report));
    const auto& body = json["segments"][1]["bodies"][0]["segments"][0];
    EXPECT_EQ(body.contains("estimated_us"), has_profile);
    EXPECT_FALSE(body.contains("nodes"));
    EXPECT_FALSE(json["host_operators"][0].contains("reason"));
  }
}

TEST(JsonReport, AgreesWithItself) {
  const Compiled c = Compile();
  const ordered_json json =
      ordered_json::parse(JsonReport(c.package, c.report));
  uint64_t cycles = 0;
  for (const auto& layer : json["layers"]) {
    cycles += layer["estimated_cycles"].get<uint64_t>();
  }
  EXPECT_EQ(json["estimated_cycles"], cycles);
  EXPECT_EQ(json["calibrated"], true);
  EXPECT_DOUBLE_EQ(json["estimated_ms"].get<double>(),
                   static_cast<double>(cycles) / 1e6);
  EXPECT_DOUBLE_EQ(json["estimated_per_second"].get<double>(),
                   1e9 / static_cast<double>(cycles));
  // Of one input and one output of 16 bytes.
  EXPECT_EQ(json["estimated_job_cycles"],
            compiler::JobCycles(cycles, 1, 32, 2));
  EXPECT_DOUBLE_EQ(json["estimated_job_ms"].get<double>(),
                   json["estimated_job_cycles"].get<double>() / 1e6);
  EXPECT_EQ(json["limits"]["bound_by"], "DRAM");
  EXPECT_GE(json["limits"]["distance"].get<double>(), 1);
  for (const auto& engine : json["engines"]) {
    uint64_t sum = 0;
    for (const char* key :
         {"busy", "wait_for_load", "wait_for_store", "wait_for_matrix",
          "wait_for_vector", "wait_for_commands", "finished"}) {
      sum += engine[key].get<uint64_t>();
    }
    EXPECT_EQ(sum, cycles) << engine["name"];
  }
}

}  // namespace
}  // namespace heddle::compile
