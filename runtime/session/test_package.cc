// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/test_package.h"

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::session {
namespace {

constexpr uint32_t kElementLog2 = 4;  // 16 bytes
constexpr uint32_t kElement = 1u << kElementLog2;

template <typename Command>
void Append(const Command& command, std::vector<uint32_t>* stream) {
  const size_t at = stream->size();
  stream->resize(at + Command::kWords);
  command.Encode(stream->data() + at);
}

// A box of `bytes` bytes without gaps, on both sides.
template <typename Command>
Command Box(uint32_t region, uint64_t offset, uint32_t sram, uint64_t bytes) {
  Command command;
  command.region = region;
  command.elem_log2 = kElementLog2;
  command.dram_offset = static_cast<uint32_t>(offset);
  command.sram_addr = sram;
  command.n0 = static_cast<uint32_t>(bytes / kElement);
  command.s0 = command.t0 = kElement;
  return command;
}

void Signal(uint32_t semaphore, isa::Header* header) {
  header->signal0_enable = true;
  header->signal0_sem = semaphore;
  header->signal0_count = 1;
  header->signal0_point = isa::SignalPoint::kOutputVisible;
}

void Wait(uint32_t semaphore, isa::Header* header) {
  header->wait0_enable = true;
  header->wait0_sem = semaphore;
  header->wait0_count = 1;
}

package::TensorInfo Tensor(const std::string& name, uint64_t offset,
                           uint64_t bytes) {
  package::TensorInfo tensor;
  tensor.name = name;
  tensor.type = compiler::DataType::kUint8;
  tensor.shape = {static_cast<int64_t>(bytes)};
  tensor.offset = offset;
  tensor.size = bytes;
  return tensor;
}

compiler::TensorId AddTensor(compiler::Graph* graph, const std::string& name,
                             compiler::DataType type, int64_t count) {
  compiler::Tensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.shape = {count};
  tensor.shape_known = true;
  return graph->AddTensor(std::move(tensor));
}

void AddGather(compiler::Graph* graph, compiler::TensorId data,
               compiler::TensorId indices, compiler::TensorId output) {
  compiler::Node node;
  node.op = "Gather";
  node.name = "gather";
  node.opset = 13;
  node.inputs = {data, indices};
  node.outputs = {output};
  graph->nodes.push_back(std::move(node));
}

void AddSum(compiler::Graph* graph, compiler::TensorId a, compiler::TensorId b,
            compiler::TensorId output) {
  compiler::Node node;
  node.op = "Add";
  node.name = "add" + std::to_string(graph->nodes.size());
  node.opset = 14;
  node.inputs = {a, b};
  node.outputs = {output};
  graph->nodes.push_back(std::move(node));
}

// `from` reversed so many times is `to`.
compiler::Graph Reverse(const std::string& from, const std::string& to,
                        size_t times, uint64_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  compiler::Graph graph;
  auto indices =
      compiler::TensorData::Zeros(compiler::DataType::kInt64, {count});
  for (int64_t i = 0; i < count; ++i) {
    indices.as<int64_t>()[i] = count - 1 - i;
  }
  compiler::TensorId last =
      AddTensor(&graph, from, compiler::DataType::kUint8, count);
  graph.inputs = {last};
  const compiler::TensorId reversed =
      graph.AddConstant("reversed", std::move(indices));
  for (size_t i = 0; i < times; ++i) {
    const compiler::TensorId next =
        AddTensor(&graph, i + 1 == times ? to : to + std::to_string(i),
                  compiler::DataType::kUint8, count);
    AddGather(&graph, last, reversed, next);
    last = next;
  }
  graph.outputs = {last};
  return graph;
}

package::Package Empty(const std::string& name) {
  package::Package p;
  p.model_name = name;
  p.producer = "test";
  p.config = "h256";
  p.hw_version = reg::kVersionReset;
  return p;
}

package::Segment HostSegment(compiler::Graph graph, uint32_t from,
                             uint32_t to) {
  package::Segment segment;
  segment.host = std::move(graph);
  segment.inputs = {from};
  segment.outputs = {to};
  return segment;
}

}  // namespace

package::Package CopyPackage(uint64_t bytes, uint64_t weight_bytes,
                             const std::string& config) {
  package::Package p;
  p.model_name = "copy";
  p.producer = "test";
  p.config = config;
  p.hw_version = reg::kVersionReset;
  p.weights.resize(weight_bytes);
  for (uint64_t i = 0; i < weight_bytes; ++i) {
    p.weights[i] = static_cast<uint8_t>(i % 251);
  }
  p.scratch_bytes = bytes;
  p.io_bytes = 3 * bytes + weight_bytes;
  p.inputs = {Tensor("x", 0, bytes)};
  p.outputs = {Tensor("y", bytes, bytes), Tensor("w", 3 * bytes, weight_bytes)};
  p.taps = {Tensor("t", 2 * bytes, bytes)};
  p.nodes = {"copy", "weights"};

  std::vector<uint32_t> copy;
  auto in = Box<isa::Load>(2, 0, 0, bytes);
  Signal(0, &in.header);
  Append(in, &copy);
  auto down = Box<isa::Store>(1, 0, 0, bytes);
  Wait(0, &down.header);
  Signal(1, &down.header);
  Append(down, &copy);
  auto up = Box<isa::Load>(1, 0, 65536, bytes);
  Wait(1, &up.header);
  Signal(2, &up.header);
  Append(up, &copy);
  auto out = Box<isa::Store>(2, bytes, 65536, bytes);
  Wait(2, &out.header);
  Append(out, &copy);
  Append(Box<isa::Store>(2, 2 * bytes, 65536, bytes), &copy);
  Append(isa::End(), &copy);

  std::vector<uint32_t> weights;
  auto load = Box<isa::Load>(0, 0, 0, weight_bytes);
  Signal(0, &load.header);
  Append(load, &weights);
  auto store = Box<isa::Store>(2, 3 * bytes, 0, weight_bytes);
  Wait(0, &store.header);
  Append(store, &weights);
  Append(isa::End(), &weights);

  p.streams = {std::move(copy), std::move(weights)};
  p.sources = {{0, 0, 0}, {1, 0, 1}};
  return p;
}

package::Package StreamedPackage(uint32_t windows) {
  constexpr uint64_t kBytes = 4096, kHalf = 512, kResident = 64;
  package::Package p = CopyPackage(kBytes, 2 * kHalf);
  p.streams.resize(1);
  for (uint64_t half : {0, 1}) {
    std::vector<uint32_t> stream;
    // Of the first half, a part is resident.
    const uint64_t resident = half == 0 ? kResident : 0;
    if (resident > 0) Append(Box<isa::Load>(0, 0, 0, resident), &stream);
    auto load =
        Box<isa::Load>(package::kWindowRegion, 0, resident, kHalf - resident);
    Signal(0, &load.header);
    Append(load, &stream);
    auto store = Box<isa::Store>(2, 3 * kBytes + half * kHalf, 0, kHalf);
    Wait(0, &store.header);
    Append(store, &stream);
    Append(isa::End(), &stream);
    p.streams.push_back(std::move(stream));
  }
  p.sources = {{0, 0, 0}, {1, 0, 1}, {2, 0, 1}};
  p.weight_plan.device_bytes = kResident;
  p.weight_plan.windows = windows;
  p.weight_plan.window_bytes = kHalf;
  p.weight_plan.resident = {{0, 0, 0, kResident}};
  p.weight_plan.copies = {{1, kResident, 0, kHalf - kResident},
                          {2, kHalf, 0, kHalf}};
  return p;
}

package::Package FaultingPackage() {
  package::Package p = CopyPackage();
  std::vector<uint32_t> stream;
  isa::Fill index;  // the index 7
  index.elem_log2 = 2;
  index.sram_addr = 0;
  index.value = 7;
  Signal(0, &index.header);
  Append(index, &stream);
  isa::LoadGather gather;
  gather.region = 2;
  gather.elem_log2 = kElementLog2;
  gather.sram_addr = 64;
  gather.n0 = 1;
  gather.count = 1;
  gather.index_addr = 0;
  gather.bound = 4;
  gather.s1 = kElement;
  gather.t1 = kElement;
  Wait(0, &gather.header);
  Append(gather, &stream);
  Append(isa::End(), &stream);
  p.streams[0] = std::move(stream);
  return p;
}

package::Package SegmentedPackage(uint64_t bytes) {
  constexpr uint64_t kWeightBytes = 256;
  package::Package p = Empty("segments");
  p.values = {Tensor("h", 0, bytes), Tensor("x", bytes, bytes),
              Tensor("y", 2 * bytes, bytes), Tensor("z", 3 * bytes, bytes),
              Tensor("w", 4 * bytes, kWeightBytes)};
  p.io_bytes = 4 * bytes + kWeightBytes;
  p.inputs = {p.values[0]};
  p.outputs = {p.values[3], p.values[4], p.values[1]};
  p.segments.push_back(HostSegment(Reverse("h", "x", 1, bytes), 0, 1));
  package::Segment card;
  card.card = std::make_shared<const package::Package>(CopyPackage(bytes));
  card.inputs = {1};
  card.outputs = {2, 4};
  p.segments.push_back(std::move(card));
  p.segments.push_back(HostSegment(Reverse("y", "z", 1, bytes), 2, 3));
  return p;
}

package::Package BesidePackage(size_t nodes, uint64_t bytes) {
  package::Package p = Empty("beside");
  p.values = {Tensor("x", 0, bytes), Tensor("h", bytes, bytes),
              Tensor("y", 2 * bytes, bytes), Tensor("z", 3 * bytes, bytes)};
  p.io_bytes = 4 * bytes;
  p.inputs = {p.values[0], p.values[1]};
  p.outputs = {p.values[2], p.values[3]};
  package::Package copy = CopyPackage(bytes);
  copy.outputs.resize(1);
  package::Segment card;
  card.card = std::make_shared<const package::Package>(std::move(copy));
  card.inputs = {0};
  card.outputs = {2};
  p.segments.push_back(std::move(card));
  p.segments.push_back(HostSegment(Reverse("h", "z", nodes, bytes), 1, 3));
  return p;
}

package::Package LatePackage(uint64_t bytes) {
  package::Package p = Empty("late");
  p.values = {Tensor("x", 0, bytes), Tensor("t", bytes, bytes),
              Tensor("y", 2 * bytes, bytes), Tensor("z", 3 * bytes, bytes)};
  p.io_bytes = 4 * bytes;
  p.inputs = {p.values[0]};
  p.outputs = {p.values[2], p.values[3]};
  p.segments.push_back(HostSegment(Reverse("x", "t", 1, bytes), 0, 1));
  package::Package copy = CopyPackage(bytes);
  copy.inputs[0].name = "t";
  copy.outputs.resize(1);
  package::Segment card;
  card.card = std::make_shared<const package::Package>(std::move(copy));
  card.inputs = {1};
  card.outputs = {2};
  p.segments.push_back(std::move(card));
  compiler::Graph graph = Reverse("x", "reversed x", 1, bytes);
  const auto count = static_cast<int64_t>(bytes);
  const compiler::TensorId y =
      AddTensor(&graph, "y", compiler::DataType::kUint8, count);
  const compiler::TensorId z =
      AddTensor(&graph, "z", compiler::DataType::kUint8, count);
  graph.inputs.push_back(y);
  AddSum(&graph, graph.outputs[0], y, z);
  graph.outputs = {z};
  p.segments.push_back(HostSegment(std::move(graph), 0, 3));
  p.segments.back().inputs.push_back(2);
  return p;
}

namespace {

// The host alone makes "z" of "h".
package::Package OneSegment(compiler::Graph graph, uint64_t bytes) {
  package::Package p = Empty("host");
  p.values = {Tensor("h", 0, bytes), Tensor("z", bytes, bytes)};
  p.io_bytes = 2 * bytes;
  p.inputs = {p.values[0]};
  p.outputs = {p.values[1]};
  p.segments.push_back(HostSegment(std::move(graph), 0, 1));
  return p;
}

}  // namespace

package::Package HostPackage(size_t nodes, uint64_t bytes) {
  return OneSegment(Reverse("h", "z", nodes, bytes), bytes);
}

package::Package DoublingPackage(size_t doubles, uint64_t bytes) {
  compiler::Graph graph;
  const auto add = [&](const std::string& name) {
    return AddTensor(&graph, name, compiler::DataType::kUint8,
                     static_cast<int64_t>(bytes));
  };
  std::vector<compiler::TensorId> all = {add("h")};
  graph.inputs = all;
  for (size_t i = 1; i <= doubles; ++i) {
    all.push_back(add("double" + std::to_string(i)));
    AddSum(&graph, all[i - 1], all[i - 1], all[i]);
  }
  compiler::TensorId sum = all[1];
  for (size_t i = 2; i <= doubles; ++i) {
    const compiler::TensorId next =
        add(i == doubles ? "z" : "sum" + std::to_string(i));
    AddSum(&graph, sum, all[i], next);
    sum = next;
  }
  graph.outputs = {sum};
  return OneSegment(std::move(graph), bytes);
}

package::Package LookUpPackage() {
  package::Package p = Empty("table");
  package::TensorInfo index = Tensor("i", 0, 1);
  index.type = compiler::DataType::kInt64;
  index.size = sizeof(int64_t);
  p.values = {index, Tensor("o", 64, 1)};
  p.io_bytes = 65;
  p.inputs = {p.values[0]};
  p.outputs = {p.values[1]};
  compiler::Graph graph;
  auto table = compiler::TensorData::Zeros(compiler::DataType::kUint8, {256});
  for (int i = 0; i < 256; ++i) table.bytes[i] = static_cast<uint8_t>(255 - i);
  const compiler::TensorId i =
      AddTensor(&graph, "i", compiler::DataType::kInt64, 1);
  const compiler::TensorId o =
      AddTensor(&graph, "o", compiler::DataType::kUint8, 1);
  AddGather(&graph, graph.AddConstant("table", std::move(table)), i, o);
  graph.inputs = {i};
  graph.outputs = {o};
  p.segments.push_back(HostSegment(std::move(graph), 0, 1));
  return p;
}

package::Package LongPackage() {
  constexpr int64_t kSide = 2048, kWindow = 1024, kOut = kSide - kWindow + 1;
  package::Package p = Empty("long");
  const auto image = [](const std::string& name, uint64_t at, int64_t side) {
    package::TensorInfo info =
        Tensor(name, at, static_cast<uint64_t>(side * side));
    info.shape = {1, 1, side, side};
    return info;
  };
  p.values = {image("h", 0, kSide), image("z", kSide * kSide, kOut)};
  p.io_bytes = kSide * kSide + kOut * kOut;
  p.inputs = {p.values[0]};
  p.outputs = {p.values[1]};
  compiler::Graph graph;
  for (const package::TensorInfo& value : p.values) {
    compiler::Tensor tensor;
    tensor.name = value.name;
    tensor.type = value.type;
    tensor.shape = value.shape;
    tensor.shape_known = true;
    graph.AddTensor(std::move(tensor));
  }
  compiler::Node node;
  node.op = "MaxPool";
  node.name = "pool";
  node.opset = 13;
  node.inputs = graph.inputs = {0};
  node.outputs = graph.outputs = {1};
  node.attributes["kernel_shape"] = std::vector<int64_t>{kWindow, kWindow};
  graph.nodes.push_back(std::move(node));
  p.segments.push_back(HostSegment(std::move(graph), 0, 1));
  return p;
}

namespace {

// Both sides of an If: `from` to "y", and the weights of CopyPackage() as "w".
package::Package ReversingPackage(uint64_t bytes) {
  constexpr uint64_t kWeightBytes = 256;
  package::Package p = Empty("else");
  p.values = {Tensor("a", 0, bytes), Tensor("b", bytes, bytes),
              Tensor("k", 2 * bytes, kWeightBytes)};
  p.io_bytes = 2 * bytes + kWeightBytes;
  p.inputs = {p.values[0]};
  p.outputs = {p.values[1], p.values[2]};
  compiler::Graph graph = Reverse("a", "b", 1, bytes);
  graph.outputs.push_back(graph.AddConstant(
      "k", compiler::TensorData::Zeros(compiler::DataType::kUint8,
                                       {static_cast<int64_t>(kWeightBytes)})));
  p.segments.push_back(HostSegment(std::move(graph), 0, 1));
  p.segments[0].outputs.push_back(2);
  return p;
}

package::TensorInfo One(const std::string& name, uint64_t at,
                        compiler::DataType type) {
  package::TensorInfo info = Tensor(name, at, 1);
  info.type = type;
  info.size = compiler::ElementBytes(type);
  return info;
}

package::Body BodyOf(package::Package package, std::vector<uint32_t> slots) {
  return {std::make_shared<const package::Package>(std::move(package)),
          std::move(slots)};
}

}  // namespace

package::Package LoopPackage(uint64_t bytes) {
  constexpr uint64_t kWeightBytes = 256;
  package::Package body = Empty("body");
  body.values = {
      Tensor("x", 0, bytes), One("flag", 3 * bytes, compiler::DataType::kBool),
      Tensor("y", bytes, bytes), Tensor("w", 3 * bytes + 64, kWeightBytes),
      Tensor("r", 2 * bytes, bytes)};
  body.io_bytes = 3 * bytes + 64 + kWeightBytes;
  body.inputs = {body.values[0], body.values[1]};
  body.outputs = {body.values[4]};
  package::Segment choice;
  choice.control.kind = compiler::ControlFlow::Kind::kIf;
  choice.control.name = "If 'choice'";
  choice.inputs = {1, 0};
  choice.outputs = {2, 3};
  choice.bodies = {BodyOf(CopyPackage(bytes), {0}),
                   BodyOf(ReversingPackage(bytes), {0})};
  body.segments.push_back(std::move(choice));
  body.segments.push_back(HostSegment(Reverse("y", "r", 1, bytes), 2, 4));

  package::Package p = Empty("loop");
  p.values = {One("n", 2 * bytes, compiler::DataType::kInt64),
              One("flag", 2 * bytes + 64, compiler::DataType::kBool),
              Tensor("h", 0, bytes), Tensor("z", bytes, bytes)};
  p.io_bytes = 2 * bytes + 128;
  p.inputs = {p.values[0], p.values[1], p.values[2]};
  p.outputs = {p.values[3]};
  package::Segment loop;
  loop.control.kind = compiler::ControlFlow::Kind::kLoop;
  loop.control.name = "Loop 'loop'";
  loop.control.has_trip_count = true;
  loop.control.carried = 1;
  loop.inputs = {0, 2, 1};
  loop.outputs = {3};
  loop.bodies = {BodyOf(std::move(body), {1, 2})};
  p.segments.push_back(std::move(loop));
  return p;
}

package::Package FoundPackage(FoundIf where, uint64_t bytes) {
  const auto count = static_cast<int64_t>(bytes);
  const auto list = [&](const std::string& name, uint64_t at,
                        compiler::Shape shape) {
    package::TensorInfo info = Tensor(name, at, bytes);
    info.type = compiler::DataType::kInt64;
    info.size = bytes * sizeof(int64_t);
    info.shape = std::move(shape);
    return info;
  };
  package::Package p = Empty("found");
  p.values = {
      Tensor("h", 0, bytes), One("flag", bytes, compiler::DataType::kBool),
      list("f", bytes + 64, {1, count}), list("z", 9 * bytes + 64, {count, 1})};
  p.io_bytes = 17 * bytes + 64;
  p.inputs = {p.values[0], p.values[1]};
  p.outputs = {p.values[3]};
  // One of the segments, alone with its two values.
  const auto one = [&](const char* op, uint32_t from, uint32_t to, bool in_if) {
    compiler::Graph graph;
    for (uint32_t v : {from, to}) {
      const package::TensorInfo& value = p.values[v];
      compiler::Tensor tensor;
      tensor.name = value.name;
      tensor.type = value.type;
      tensor.shape = value.shape;
      tensor.shape_known = true;
      graph.AddTensor(std::move(tensor));
    }
    compiler::Node node;
    node.op = node.name = op;
    node.opset = 13;
    node.inputs = graph.inputs = {0};
    node.outputs = graph.outputs = {1};
    graph.nodes.push_back(std::move(node));
    if (!in_if) return HostSegment(std::move(graph), from, to);
    package::Package body = Empty(op);
    body.values = {p.values[from], p.values[to]};
    body.io_bytes = p.io_bytes;
    body.inputs = {body.values[0]};
    body.outputs = {body.values[1]};
    body.segments.push_back(HostSegment(std::move(graph), 0, 1));
    package::Segment choice;
    choice.control.kind = compiler::ControlFlow::Kind::kIf;
    choice.control.name = "If 'choice'";
    choice.inputs = {1, from};
    choice.outputs = {to};
    choice.bodies = {BodyOf(body, {0}), BodyOf(body, {0})};
    return choice;
  };
  p.segments.push_back(one("NonZero", 0, 2, where == FoundIf::kFinds));
  p.segments.push_back(one("Transpose", 2, 3, where == FoundIf::kTurns));
  return p;
}

package::Package EndlessPackage(bool card, uint64_t bytes) {
  package::Package p = Empty("endless");
  p.values = {Tensor("h", 0, bytes), Tensor("z", bytes, bytes)};
  p.io_bytes = 2 * bytes;
  p.inputs = {p.values[0]};
  p.outputs = {p.values[1]};
  package::Package body = HostPackage(1, bytes);
  if (card) {
    body = CopyPackage(bytes);
    body.outputs.pop_back();
  }
  package::Segment loop;
  loop.control.kind = compiler::ControlFlow::Kind::kLoop;
  loop.control.name = "Loop 'endless'";
  loop.control.carried = 1;
  loop.inputs = {0};
  loop.outputs = {1};
  loop.bodies = {BodyOf(std::move(body), {1})};
  p.segments.push_back(std::move(loop));
  return p;
}

RandomDag MakeRandomDag(uint32_t seed) {
  constexpr uint64_t kBytes = 256;
  std::mt19937 random(seed);
  RandomDag dag;
  package::Package& p = dag.package;
  p = Empty("dag");
  package::TensorInfo index = Tensor("i", 0, 1);
  index.type = compiler::DataType::kInt64;
  index.size = sizeof(int64_t);
  p.values = {index, Tensor("v0", package::kValueAlign, kBytes)};
  p.io_bytes = package::kValueAlign + kBytes;
  p.inputs = p.values;
  const size_t count = 1 + random() % 10;
  std::vector<bool> read(count + 2, false);
  for (size_t s = 0; s < count; ++s) {
    const std::string name = "v" + std::to_string(s + 1);
    const auto made = static_cast<uint32_t>(p.values.size());
    // Mostly of the last few, so that there are chains and branches.
    const auto pick = [&] {
      const uint32_t back = random() % std::min<uint32_t>(made - 1, 4);
      read[made - 1 - back] = true;
      return made - 1 - back;
    };
    const uint32_t first = pick(), second = pick();
    p.values.push_back(Tensor(name, p.io_bytes, kBytes));
    p.io_bytes += kBytes;
    package::Segment segment;
    segment.outputs = {made};
    if (random() % 3 == 0) {
      package::Package card = CopyPackage(kBytes, 16);
      card.inputs[0].name = p.values[first].name;
      card.outputs.resize(1);
      card.outputs[0].name = name;
      segment.card = std::make_shared<const package::Package>(std::move(card));
      segment.inputs = {first};
    } else {
      const bool fails = random() % 4 == 0;
      if (fails) dag.fails.push_back(s);
      const auto bytes = static_cast<int64_t>(kBytes);
      compiler::Graph graph =
          Reverse(p.values[first].name, "reversed " + name, 1, kBytes);
      const compiler::TensorId reversed = graph.outputs[0];
      graph.nodes[0].name = "reverse" + std::to_string(s);
      compiler::TensorId other = graph.inputs[0];
      if (second != first) {
        other = AddTensor(&graph, p.values[second].name,
                          compiler::DataType::kUint8, bytes);
        graph.inputs.push_back(other);
      }
      const compiler::TensorId i =
          AddTensor(&graph, "i", compiler::DataType::kInt64, 1);
      graph.inputs.push_back(i);
      const compiler::TensorId nothing =
          AddTensor(&graph, "nothing", compiler::DataType::kUint8, 1);
      AddGather(&graph,
                graph.AddConstant(
                    "table", compiler::TensorData::Zeros(
                                 compiler::DataType::kUint8, {fails ? 1 : 2})),
                i, nothing);
      graph.nodes.back().name = "fail" + std::to_string(s);
      const compiler::TensorId sum =
          AddTensor(&graph, "sum", compiler::DataType::kUint8, bytes);
      AddSum(&graph, reversed, other, sum);
      const compiler::TensorId last =
          AddTensor(&graph, name, compiler::DataType::kUint8, bytes);
      AddSum(&graph, sum, nothing, last);
      graph.outputs = {last};
      segment.host = std::move(graph);
      segment.inputs = {first};
      if (second != first) segment.inputs.push_back(second);
      segment.inputs.push_back(0);
    }
    p.segments.push_back(std::move(segment));
  }
  for (size_t v = 2; v < p.values.size(); ++v) {
    if (!read[v]) p.outputs.push_back(p.values[v]);
  }
  return dag;
}

std::vector<std::vector<uint8_t>> RunInOrder(const package::Package& dag,
                                             const std::vector<uint8_t>& v0) {
  std::vector<std::vector<uint8_t>> values(dag.values.size());
  values[1] = v0;
  for (const package::Segment& segment : dag.segments) {
    std::vector<uint8_t>& to = values[segment.outputs[0]];
    to = values[segment.inputs[0]];
    if (segment.card != nullptr) continue;
    std::reverse(to.begin(), to.end());
    const bool twice = segment.inputs.size() == 2;  // and the index
    const auto& other = values[segment.inputs[twice ? 0 : 1]];
    for (size_t i = 0; i < to.size(); ++i) to[i] += other[i];
  }
  return values;
}

}  // namespace heddle::session
