// SPDX-License-Identifier: Apache-2.0
// The steps of ops/recurrent.cc, ops/lstm.cc and ops/gru.cc. Gates whose
// products begin with their inputs and take one state are one product, where
// the batch is 1: results have chains of their own, so that changes no byte.
#include "compiler/direct/recurrent.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status_macros.h"
#include "compiler/direct/chain.h"
#include "compiler/ops/accumulate.h"
#include "compiler/ops/activations.h"
#include "compiler/ops/gemm.h"
#include "compiler/ops/half.h"
#include "compiler/ops/microprogram.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

enum Place { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP };
using Floats = std::vector<float>;

// out = a and b in a function of the lanes; `out` may be either.
void Combine(LaneFunction function, const float* a, const float* b,
             int64_t count, float* out) {
  LaneOperands operands;
  operands.streams[0].data = reinterpret_cast<const uint32_t*>(a);
  operands.streams[1].data = reinterpret_cast<const uint32_t*>(b);
  Compute(function, operands, count, reinterpret_cast<uint32_t*>(out));
}
void Add(const float* a, const float* b, int64_t count, float* out) {
  Combine(LaneFunction::kSum, a, b, count, out);
}
void Multiply(const float* a, const float* b, int64_t count, float* out) {
  Combine(LaneFunction::kProduct, a, b, count, out);
}
// out = 1 - x
void Rest(const float* x, int64_t count, float* out) {
  static constexpr uint32_t kOne = 0x3f800000u;
  LaneOperands operands;
  operands.streams[0] = {&kOne, true};
  operands.streams[1].data = reinterpret_cast<const uint32_t*>(x);
  Compute(LaneFunction::kDifference, operands, count,
          reinterpret_cast<uint32_t*>(out));
}

// y = rows of a times b, [k, n], beginning with what y has.
void Product(int64_t rows, int64_t k, int64_t n, const float* a, const float* b,
             float* y) {
  MultiplyF32(rows, k, n, a, b, y);
  for (int64_t i = 0; i < rows * n; ++i) y[i] = model::Canonical(y[i]);
}

struct Geometry {
  int64_t steps = 0, batch = 0, features = 0, hidden = 0, directions = 1;
  int64_t gates = 0;
  bool batch_first = false, reverse = false;
  bool cell = false;      // LSTM
  bool separate = false;  // the last gate's recurrent bias is no input's
  bool coupled = false;   // LSTM's forget gate is the rest of its input gate
  // The gates in blocks of so many, each of which is one product.
  std::vector<int64_t> blocks;

  int64_t count() const { return batch * hidden; }  // of a state
};

// A direction's matrices, each block [columns of x, or of the state; gates].
struct Matrices {
  std::vector<Floats> w, r;
};

Matrices Prepare(const Geometry& g, const float* w, const float* r, int64_t d) {
  Matrices m;
  int64_t gate = 0;
  for (int64_t gates : g.blocks) {
    const int64_t first = (d * g.gates + gate) * g.hidden;
    const int64_t rows = gates * g.hidden;
    m.w.push_back(Transposed(w + first * g.features, g.features, rows, true));
    m.r.push_back(Transposed(r + first * g.hidden, g.hidden, rows, true));
    gate += gates;
  }
  return m;
}

class RecurrentKernel : public DirectKernel {
 public:
  static std::unique_ptr<DirectKernel> Make(const Graph& graph,
                                            const Node& node) {
    auto kernel = std::make_unique<RecurrentKernel>();
    if (!kernel->Read(graph, node)) return nullptr;
    return kernel;
  }

  Results Run(const Inputs& inputs) const override;

 private:
  struct State {
    Floats h, c;  // empty: 0, which is no product
  };
  // One direction of a run.
  struct Direction {
    int64_t number;
    const Matrices* matrices;
    Floats inputs;          // by block: [steps * batch, columns]
    Floats recurrent_bias;  // of the last gate, spread; empty: none
    Floats peepholes[3];    // spread over the batch
    Floats z, t, scratch;   // gates of a step; what steps compute
  };

  bool Read(const Graph& graph, const Node& node);
  absl::Status Activate(const Direction& d, size_t which, float* x,
                        int64_t count, Floats* scratch,
                        bool clipped = true) const;
  void PrepareInputs(const Widened& in, Direction* d) const;
  // The gates of a step in d->z, gate by gate; not those from `until` on.
  void Gates(int64_t step, const Floats& h, int64_t until, Direction* d) const;
  // A gate's input of a step.
  const float* InputOf(int64_t gate, int64_t step, const Direction& d) const;
  const Floats& LastR(const Direction& d) const { return d.matrices->r.back(); }

  absl::Status LstmStep(int64_t step, State* state, Direction* d) const;
  absl::Status GruStep(int64_t step, State* state, Direction* d) const;
  absl::Status RnnStep(int64_t step, State* state, Direction* d) const;
  absl::Status Step(int64_t step, State* state, Direction* d) const {
    return g_.cell         ? LstmStep(step, state, d)
           : g_.gates == 3 ? GruStep(step, state, d)
                           : RnnStep(step, state, d);
  }

  Geometry g_;
  float clip_ = 0;
  std::vector<Chain> chains_;       // of all directions
  std::vector<Matrices> matrices_;  // of constant W and R
  bool constant_lengths_ = false;
  std::vector<bool> has_output_;
};

bool RecurrentKernel::Read(const Graph& graph, const Node& node) {
  const auto shape = [&](size_t i) -> const Shape& {
    return graph.tensors[node.inputs[i]].shape;
  };
  const Shape &x = shape(kX), &r = shape(kR);
  if (x.size() != 3 || r.size() != 3) return false;
  g_.batch_first = node.IntAttribute("layout", 0) == 1;
  const std::string direction = node.StringAttribute("direction", "forward");
  g_.directions = direction == "bidirectional" ? 2 : 1;
  g_.reverse = direction == "reverse";
  g_.steps = x[g_.batch_first ? 1 : 0];
  g_.batch = x[g_.batch_first ? 0 : 1];
  g_.features = x[2];
  g_.hidden = r[2];
  std::vector<std::string> defaults = {"Sigmoid", "Tanh"};
  int64_t alike = 1;
  if (node.op == "LSTM") {
    defaults.push_back("Tanh");
    g_.gates = alike = 4;
    g_.cell = true;
    g_.coupled = node.IntAttribute("input_forget", 0) != 0;
  } else if (node.op == "GRU") {
    g_.gates = 3;
    alike = 2;
    g_.separate = node.IntAttribute("linear_before_reset", 0) != 0;
  } else {
    defaults = {"Tanh"};
    g_.gates = 1;
  }
  if (g_.batch > 1) alike = 1;
  g_.blocks = {alike};
  g_.blocks.insert(g_.blocks.end(), static_cast<size_t>(g_.gates - alike), 1);
  // What the operator's inference has not accepted.
  const int64_t rows = g_.gates * g_.hidden;
  const Shape state = g_.batch_first
                          ? Shape{g_.batch, g_.directions, g_.hidden}
                          : Shape{g_.directions, g_.batch, g_.hidden};
  const Shape shapes[] = {x,
                          {g_.directions, rows, g_.features},
                          {g_.directions, rows, g_.hidden},
                          {g_.directions, 2 * rows},
                          {g_.batch},
                          state,
                          state,
                          {g_.directions, 3 * g_.hidden}};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i >= std::size(shapes)) return false;
    if (HasInput(node, i) && shape(i) != shapes[i]) return false;
  }
  clip_ = node.FloatAttribute("clip", 0);
  const auto activations =
      ActivationsOf(node, defaults, static_cast<size_t>(g_.directions));
  if (!activations.ok()) return false;
  for (const Activation& activation : *activations) {
    auto chain = Chain::Make([&](Expansion* e, TensorId v) {
      return heddle::compiler::Activate(e, activation, v);
    });
    if (!chain.ok()) return false;
    chains_.push_back(*std::move(chain));
  }
  const Tensor& w = graph.tensors[node.inputs[kW]];
  const Tensor& recurrent = graph.tensors[node.inputs[kR]];
  if (w.is_constant() && recurrent.is_constant()) {
    const Widened wide({w.constant.get(), recurrent.constant.get()});
    for (int64_t d = 0; d < g_.directions; ++d) {
      matrices_.push_back(
          Prepare(g_, wide[0]->as<float>(), wide[1]->as<float>(), d));
    }
  }
  constant_lengths_ = HasInput(node, kLengths) &&
                      graph.tensors[node.inputs[kLengths]].is_constant();
  for (TensorId y : node.outputs) has_output_.push_back(y != kNoTensor);
  return true;
}

absl::Status RecurrentKernel::Activate(const Direction& d, size_t which,
                                       float* x, int64_t count, Floats* scratch,
                                       bool clipped) const {
  if (clipped && clip_ != 0) {
    for (int64_t i = 0; i < count; ++i) {
      x[i] = model::FMin(model::FMax(x[i], -clip_), clip_);
    }
  }
  const size_t each = chains_.size() / static_cast<size_t>(g_.directions);
  return chains_[static_cast<size_t>(d.number) * each + which].Run(x, count,
                                                                   scratch);
}

void RecurrentKernel::PrepareInputs(const Widened& in, Direction* d) const {
  const int64_t rows = g_.steps * g_.batch, all = g_.gates * g_.hidden;
  // [steps, batch, features]
  Floats turned;
  const float* x = in[kX]->as<float>();
  if (g_.batch_first) {
    turned.resize(static_cast<size_t>(rows * g_.features));
    for (int64_t b = 0; b < g_.batch; ++b) {
      for (int64_t s = 0; s < g_.steps; ++s) {
        std::copy_n(x + (b * g_.steps + s) * g_.features, g_.features,
                    turned.data() + (s * g_.batch + b) * g_.features);
      }
    }
    x = turned.data();
  }
  Floats bias;
  if (in[kB] != nullptr) {
    const float* const w = in[kB]->as<float>() + d->number * 2 * all;
    const float* const r = w + all;
    const int64_t summed = all - (g_.separate ? g_.hidden : 0);
    bias.assign(w, w + all);
    Add(w, r, summed, bias.data());
    for (int64_t b = 0; b < g_.batch && g_.separate; ++b) {
      d->recurrent_bias.insert(d->recurrent_bias.end(), r + summed, r + all);
    }
  }
  d->inputs.assign(static_cast<size_t>(rows * all), 0);
  float* to = d->inputs.data();
  int64_t column = 0;
  for (size_t block = 0; block < g_.blocks.size(); ++block) {
    const int64_t columns = g_.blocks[block] * g_.hidden;
    for (int64_t row = 0; row < rows && !bias.empty(); ++row) {
      std::copy_n(bias.data() + column, columns, to + row * columns);
    }
    Product(rows, g_.features, columns, x, d->matrices->w[block].data(), to);
    to += rows * columns;
    column += columns;
  }
  if (in[kP] == nullptr || !g_.cell) return;
  for (int64_t p = 0; p < 3; ++p) {
    const float* const row =
        in[kP]->as<float>() + (3 * d->number + p) * g_.hidden;
    for (int64_t b = 0; b < g_.batch; ++b) {
      d->peepholes[p].insert(d->peepholes[p].end(), row, row + g_.hidden);
    }
  }
}

const float* RecurrentKernel::InputOf(int64_t gate, int64_t step,
                                      const Direction& d) const {
  const float* from = d.inputs.data();
  for (int64_t gates : g_.blocks) {
    if (gate < gates) {
      return from + (step * gates + gate) * g_.count();
    }
    from += g_.steps * gates * g_.count();
    gate -= gates;
  }
  return from;
}

void RecurrentKernel::Gates(int64_t step, const Floats& h, int64_t until,
                            Direction* d) const {
  int64_t gate = 0;
  for (size_t block = 0; block < g_.blocks.size() && gate < until; ++block) {
    const int64_t gates = g_.blocks[block];
    float* const z = d->z.data() + gate * g_.count();
    std::copy_n(InputOf(gate, step, *d), gates * g_.count(), z);
    if (!h.empty()) {
      Product(g_.batch, g_.hidden, gates * g_.hidden, h.data(),
              d->matrices->r[block].data(), z);
    }
    gate += gates;
  }
}

absl::Status RecurrentKernel::LstmStep(int64_t step, State* state,
                                       Direction* d) const {
  enum Gate { kInput, kOutput, kForget, kCell };
  const int64_t n = g_.count();
  Gates(step, state->h, g_.gates, d);
  float* const z = d->z.data();
  float* const t = d->t.data();
  const bool peeps = !d->peepholes[0].empty();
  const auto gate = [&](Gate which, const Floats& cell) {
    float* const x = z + which * n;
    if (peeps && !cell.empty()) {
      Multiply(cell.data(), d->peepholes[which].data(), n, t);
      Add(x, t, n, x);
    }
    return Activate(*d, 0, x, n, &d->scratch);
  };
  const bool forgets = !state->c.empty() && !g_.coupled;
  if (peeps) {
    RETURN_IF_ERROR(gate(kInput, state->c));
    if (forgets) RETURN_IF_ERROR(gate(kForget, state->c));
  } else {
    RETURN_IF_ERROR(Activate(*d, 0, z, (forgets ? 3 : 2) * n, &d->scratch));
  }
  float* const cell = z + kCell * n;
  RETURN_IF_ERROR(Activate(*d, 1, cell, n, &d->scratch));
  Multiply(z + kInput * n, cell, n, cell);
  if (state->c.empty()) {
    state->c.assign(cell, cell + n);
  } else {
    float* const forget = z + kForget * n;
    if (g_.coupled) Rest(z + kInput * n, n, forget);
    Multiply(forget, state->c.data(), n, forget);
    Add(forget, cell, n, state->c.data());
  }
  if (peeps) RETURN_IF_ERROR(gate(kOutput, state->c));
  std::copy(state->c.begin(), state->c.end(), t);
  RETURN_IF_ERROR(Activate(*d, 2, t, n, &d->scratch, false));
  state->h.resize(static_cast<size_t>(n));
  Multiply(z + kOutput * n, t, n, state->h.data());
  return absl::OkStatus();
}

absl::Status RecurrentKernel::GruStep(int64_t step, State* state,
                                      Direction* d) const {
  enum Gate { kUpdate, kReset, kHidden };
  const int64_t n = g_.count();
  Floats& h = state->h;
  Gates(step, h, kHidden, d);
  float* const update = d->z.data();
  float* const reset = update + n;
  float* const next = update + kHidden * n;
  float* const t = d->t.data();
  RETURN_IF_ERROR(Activate(*d, 0, update, 2 * n, &d->scratch));
  std::copy_n(InputOf(kHidden, step, *d), n, next);
  if (g_.separate) {
    if (!h.empty() || !d->recurrent_bias.empty()) {
      if (d->recurrent_bias.empty()) {
        std::fill_n(t, n, 0.0f);
      } else {
        std::copy_n(d->recurrent_bias.data(), n, t);
      }
      if (!h.empty()) {
        Product(g_.batch, g_.hidden, g_.hidden, h.data(), LastR(*d).data(), t);
      }
      Multiply(reset, t, n, t);
      Add(next, t, n, next);
    }
  } else if (!h.empty()) {
    Multiply(reset, h.data(), n, t);
    Product(g_.batch, g_.hidden, g_.hidden, t, LastR(*d).data(), next);
  }
  RETURN_IF_ERROR(Activate(*d, 1, next, n, &d->scratch));
  Rest(update, n, t);
  Multiply(t, next, n, next);
  if (h.empty()) {
    h.assign(next, next + n);
  } else {
    Multiply(update, h.data(), n, t);
    Add(next, t, n, h.data());
  }
  return absl::OkStatus();
}

absl::Status RecurrentKernel::RnnStep(int64_t step, State* state,
                                      Direction* d) const {
  Gates(step, state->h, g_.gates, d);
  RETURN_IF_ERROR(Activate(*d, 0, d->z.data(), g_.count(), &d->scratch));
  state->h.assign(d->z.begin(), d->z.begin() + g_.count());
  return absl::OkStatus();
}

// [directions, batch, hidden], or batch first: a direction's rows.
template <typename Row>
void ForRows(const Geometry& g, int64_t d, Row row) {
  for (int64_t b = 0; b < g.batch; ++b) {
    const int64_t at = g.batch_first ? b * g.directions + d : d * g.batch + b;
    row(b * g.hidden, at * g.hidden);
  }
}

Results RecurrentKernel::Run(const Inputs& inputs) const {
  const model::ScopedFpEnvironment environment;
  // Constant matrices are here already.
  Inputs given = inputs;
  if (!matrices_.empty()) given[kW] = given[kR] = nullptr;
  const Widened in(given);
  const TensorData* const lengths = At(inputs, kLengths);
  const auto active = [&](int64_t b, int64_t step) {
    return lengths == nullptr || lengths->as<int32_t>()[b] > step;
  };
  const int64_t n = g_.count();
  const Shape last = g_.batch_first ? Shape{g_.batch, g_.directions, g_.hidden}
                                    : Shape{g_.directions, g_.batch, g_.hidden};
  TensorData y = TensorData::Zeros(
      DataType::kFloat,
      g_.batch_first ? Shape{g_.batch, g_.steps, g_.directions, g_.hidden}
                     : Shape{g_.steps, g_.directions, g_.batch, g_.hidden});
  TensorData h = TensorData::Zeros(DataType::kFloat, last), c = h;
  for (int64_t number = 0; number < g_.directions; ++number) {
    Direction d;
    d.number = number;
    Matrices own;
    if (matrices_.empty()) {
      own = Prepare(g_, in[kW]->as<float>(), in[kR]->as<float>(), number);
    }
    d.matrices = matrices_.empty() ? &own : &matrices_[number];
    PrepareInputs(in, &d);
    d.z.resize(static_cast<size_t>(g_.gates * n));
    d.t.resize(static_cast<size_t>(n));
    State state;
    const auto initial = [&](size_t place, Floats* to) {
      if (in[place] == nullptr) return;
      to->resize(static_cast<size_t>(n));
      ForRows(g_, number, [&](int64_t own_row, int64_t row) {
        std::copy_n(in[place]->as<float>() + row, g_.hidden,
                    to->data() + own_row);
      });
    };
    initial(kInitialH, &state.h);
    if (g_.cell) initial(kInitialC, &state.c);
    for (int64_t i = 0; i < g_.steps; ++i) {
      const int64_t at = g_.reverse || number == 1 ? g_.steps - 1 - i : i;
      int64_t entries = 0;
      for (int64_t b = 0; b < g_.batch; ++b) entries += active(b, at);
      // (Of computed lengths the expansion does not know.)
      if (entries == 0 && constant_lengths_) continue;
      State before;
      if (entries < g_.batch) before = state;
      RETURN_IF_ERROR(Step(at, &state, &d));
      for (int64_t b = 0; b < g_.batch; ++b) {
        const int64_t row = b * g_.hidden;
        if (active(b, at)) {
          const int64_t to = g_.batch_first
                                 ? (b * g_.steps + at) * g_.directions + number
                                 : (at * g_.directions + number) * g_.batch + b;
          std::copy_n(state.h.data() + row, g_.hidden,
                      y.as<float>() + to * g_.hidden);
          continue;
        }
        const auto keep = [&](const Floats& from, Floats* to) {
          if (to->empty()) return;
          if (from.empty()) {
            std::fill_n(to->data() + row, g_.hidden, 0.0f);
          } else {
            std::copy_n(from.data() + row, g_.hidden, to->data() + row);
          }
        };
        keep(before.h, &state.h);
        keep(before.c, &state.c);
      }
    }
    ForRows(g_, number, [&](int64_t own_row, int64_t row) {
      if (!state.h.empty()) {
        std::copy_n(state.h.data() + own_row, g_.hidden, h.as<float>() + row);
      }
      if (!state.c.empty()) {
        std::copy_n(state.c.data() + own_row, g_.hidden, c.as<float>() + row);
      }
    });
  }
  TensorData* const all[] = {&y, &h, &c};
  std::vector<TensorData> results(has_output_.size());
  for (size_t i = 0; i < results.size() && i < std::size(all); ++i) {
    if (has_output_[i]) {
      results[i] = Narrowed(std::move(*all[i]), inputs[kX]->type);
    }
  }
  return results;
}

}  // namespace

std::unique_ptr<DirectKernel> MakeRecurrent(const Graph& graph,
                                            const Node& node) {
  return RecurrentKernel::Make(graph, node);
}

}  // namespace heddle::compiler
