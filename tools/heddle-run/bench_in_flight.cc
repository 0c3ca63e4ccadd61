// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/bench_in_flight.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::run {
namespace {

using Clock = std::chrono::steady_clock;
using compiler::TensorData;

double Ms(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// One of those that are in flight: its storage, and how it ended.
struct Place {
  std::vector<std::vector<uint8_t>> outputs;
  std::shared_ptr<session::Run> run;
  Clock::time_point start, end;
  absl::Status status;
};

// Places whose inference has ended, as callbacks of the runtime tell.
class Ended {
 public:
  explicit Ended(size_t most) { places_.reserve(most); }
  void Add(Place* place) {
    std::lock_guard<std::mutex> lock(mutex_);
    places_.push_back(place);  // has room
    changed_.notify_one();
  }
  Place* Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return !places_.empty(); });
    Place* place = places_.front();
    places_.erase(places_.begin());
    return place;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place*> places_;
};

absl::Status CheckBytes(const package::Package& package,
                        const std::vector<TensorData>& expected,
                        const Place& place) {
  for (size_t i = 0; i < expected.size(); ++i) {
    // Of an output whose size the values decide, the rest is not defined.
    const compiler::TensorBytes& bytes = expected[i].bytes;
    if (std::equal(bytes.data(), bytes.data() + bytes.size(),
                   place.outputs[i].data())) {
      continue;
    }
    return absl::DataLossError(
        absl::StrCat("output '", package.outputs[i].name,
                     "' of an inference differs from that of the first "
                     "inference with the same inputs"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<InFlightBench> BenchInFlight(
    session::Graph* graph, const std::vector<TensorData>& inputs,
    const std::vector<TensorData>& expected, const BenchLimit& limit,
    size_t in_flight, const std::function<void(size_t, double)>& said) {
  const package::Package& package = graph->package();
  std::vector<session::TensorBuffer> in;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // The session only reads inputs.
    in.push_back({package.inputs[i].name,
                  const_cast<uint8_t*>(inputs[i].bytes.data()),
                  inputs[i].bytes.size()});
  }
  std::vector<Place> places(limit.runs > 0 ? std::min(limit.runs, in_flight)
                                           : in_flight);
  Ended ended(places.size());
  const auto start = [&](Place* place) {
    std::vector<session::TensorBuffer> out;
    place->outputs.resize(package.outputs.size());
    for (size_t i = 0; i < package.outputs.size(); ++i) {
      place->outputs[i].assign(package.outputs[i].size, 0);
      out.push_back({package.outputs[i].name, place->outputs[i].data(),
                     package.outputs[i].size});
    }
    place->start = Clock::now();
    auto run =
        graph->Start(in, out, [place, &ended](const absl::Status& status) {
          place->end = Clock::now();
          place->status = status;
          ended.Add(place);
        });
    if (run.ok()) place->run = *std::move(run);
    return run.status();
  };
  InFlightBench bench;
  bench.ms.reserve(limit.runs);
  absl::Status status;
  size_t flying = 0, begun = 0;
  const auto begin = Clock::now();
  const auto passed = [begin] { return Ms(Clock::now() - begin) / 1000; };
  for (Place& place : places) {
    status = start(&place);
    if (!status.ok()) break;
    ++flying;
    ++begun;
  }
  // Whatever happens, what is in flight has its storage until it has ended.
  while (flying > 0) {
    Place* place = ended.Take();
    --flying;
    place->run.reset();
    if (!status.ok()) continue;
    const bool lost = absl::IsUnavailable(place->status);
    if (lost) {
      ++bench.lost;
    } else {
      status = place->status;
      if (status.ok()) status = CheckBytes(package, expected, *place);
      bench.ms.push_back(Ms(place->end - place->start));
      said(bench.ms.size(), passed());
    }
    if (!status.ok() || (!lost && limit.Reached(begun, passed()))) continue;
    status = start(place);
    if (!status.ok()) continue;
    ++flying;
    if (!lost) ++begun;
  }
  bench.seconds = passed();
  if (!status.ok()) return status;
  return bench;
}

}  // namespace heddle::run
