// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/order.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace heddle::compiler {
namespace {

constexpr size_t kWindow = 64;  // tasks: bits of a mask
// Sets of so many tasks done of which the best are looked at; in regions that
// are longer than a window.
constexpr size_t kStates = 256, kFewStates = 16;
// Windows of so few tasks are searched without putting chains together.
constexpr size_t kSmall = 12;

uint64_t Bit(int i) { return uint64_t{1} << i; }

// First and last place of each tensor in an order.
struct Span {
  int first = -1, last = -1;
  int users = 0;
};

std::vector<Span> SpansOf(const OrderProblem& problem,
                          const std::vector<int>& order) {
  std::vector<Span> spans(problem.bytes.size());
  for (size_t place = 0; place < order.size(); ++place) {
    for (int tensor : problem.tasks[order[place]].uses) {
      Span& s = spans[tensor];
      if (s.first < 0) s.first = static_cast<int>(place);
      s.last = static_cast<int>(place);
      ++s.users;
    }
  }
  return spans;
}

// The best order of the tasks at places [begin, end) of an order, all others
// staying where they are.
class Window {
 public:
  Window(const OrderProblem& problem, const std::vector<int>& order,
         const std::vector<Span>& spans, size_t begin, size_t end,
         size_t states)
      : problem_(problem),
        states_(states),
        tasks_(order.begin() + begin, order.begin() + end),
        count_(static_cast<int>(end - begin)),
        before_(count_, 0),
        uses_(count_) {
    std::unordered_map<int, int> place, local;
    for (int i = 0; i < count_; ++i) place[tasks_[i]] = i;
    for (int i = 0; i < count_; ++i) {
      const OrderTask& task = problem.tasks[tasks_[i]];
      for (int other : task.after) {
        const auto found = place.find(other);
        if (found == place.end()) continue;
        before_[i] |= Bit(found->second) | before_[found->second];
      }
      for (int tensor : task.uses) {
        const auto [it, fresh] =
            local.try_emplace(tensor, static_cast<int>(tensors_.size()));
        if (fresh) {
          const Span& s = spans[tensor];
          Tensor t;
          t.bytes = problem.bytes[tensor];
          t.starts = s.first >= static_cast<int>(begin);
          t.ends = s.last < static_cast<int>(end);
          // (bytes that two tasks share, and no third)
          t.handed = s.users == 2 ? problem.handed[tensor] : 0;
          if (!t.starts) live_ += t.bytes;
          tensors_.push_back(t);
        }
        tensors_[it->second].users |= Bit(i);
        uses_[i].push_back(it->second);
      }
    }
  }

  // The tasks in the order found.
  std::vector<int> Solve() {
    MakeRuns();
    std::vector<int> all(count_);
    std::iota(all.begin(), all.end(), 0);
    if (runs_.size() < 2) return Named(all);
    const State at = CostOfPlaces(all);
    std::vector<int> best = all;
    State best_cost = at;
    const auto consider = [&](const std::vector<int>& places) {
      if (places.empty()) return;
      const State cost = CostOfPlaces(places);
      if (cost.cost < best_cost.cost) {
        best = places;
        best_cost = cost;
      }
    };
    // The least peak; then the best order that has it.
    consider(Search(UINT64_MAX, false));
    consider(Search(best_cost.cost.peak, true));
    return Named(best);
  }

 private:
  struct Tensor {
    uint64_t bytes = 0, handed = 0;
    bool starts = false, ends = false;  // in the window
    uint64_t users = 0;
  };
  struct State {
    uint64_t done = 0;  // tasks
    uint64_t live = 0;
    OrderCost cost;
    int last = -1;  // task
    // How it came here.
    int from = -1, run = -1;
  };

  std::vector<int> Named(const std::vector<int>& places) const {
    std::vector<int> names;
    for (int i : places) names.push_back(tasks_[i]);
    return names;
  }

  void Step(int task, State* s) const {
    uint64_t during = s->live, after = 0;
    uint64_t handed = 0;
    for (int index : uses_[task]) {
      const Tensor& t = tensors_[index];
      if (t.starts && (t.users & s->done) == 0) during += t.bytes;
      if (t.ends && (t.users & ~(s->done | Bit(task))) == 0) after += t.bytes;
      if (s->last >= 0 && t.starts && t.ends &&
          t.users == (Bit(task) | Bit(s->last))) {
        handed += t.handed;
      }
    }
    const uint64_t most = during + problem_.tasks[tasks_[task]].own;
    s->cost.peak = std::max(s->cost.peak, most);
    s->cost.area += during;
    s->cost.handed += handed;
    s->live = during - after;
    s->done |= Bit(task);
    s->last = task;
  }

  State CostOfPlaces(const std::vector<int>& places) const {
    State s;
    s.live = live_;
    for (int task : places) Step(task, &s);
    return s;
  }

  // The tasks as runs that stay together.
  void MakeRuns() {
    std::vector<int> next(count_, -1);
    std::vector<bool> inner(count_, false);  // not the first of its chain
    if (count_ > static_cast<int>(kSmall)) {
      // What comes directly before and behind each: not before another one that
      // does.
      std::vector<uint64_t> preds(count_), succs(count_, 0);
      for (int i = 0; i < count_; ++i) {
        uint64_t direct = before_[i];
        for (int k = i; k-- > 0;) {
          if (direct & Bit(k)) direct &= ~before_[k];
        }
        preds[i] = direct;
        for (int k = 0; k < i; ++k) {
          if (direct & Bit(k)) succs[k] |= Bit(i);
        }
      }
      for (int i = 0; i < count_; ++i) {
        for (int k = 0; k < i; ++k) {
          if (preds[i] != Bit(k) || succs[k] != Bit(i)) continue;
          next[k] = i;
          inner[i] = true;
        }
      }
    }
    for (int i = 0; i < count_; ++i) {
      if (inner[i]) continue;
      std::vector<int> chain;
      uint64_t all = 0;
      for (int k = i; k >= 0; k = next[k]) all |= Bit(k);
      uint64_t done = 0;
      for (int k = i; k >= 0; k = next[k]) {
        // What a tensor that others read frees depends on where they are.
        const bool alone =
            std::any_of(uses_[k].begin(), uses_[k].end(), [&](int index) {
              const Tensor& t = tensors_[index];
              return (t.users & ~all) != 0 && (t.users & (Bit(k) - 1)) != 0;
            });
        if (!alone) chain.push_back(k);
        if ((alone || next[k] < 0) && !chain.empty()) {
          CutChain(chain, all, done);
          for (int task : chain) done |= Bit(task);
          chain.clear();
        }
        if (!alone) continue;
        runs_.push_back({k});
        done |= Bit(k);
      }
    }
    run_before_.assign(runs_.size(), 0);
    for (size_t r = 0; r < runs_.size(); ++r) {
      uint64_t own = 0;
      for (int i : runs_[r]) {
        own |= Bit(i);
        run_before_[r] |= before_[i];
      }
      run_before_[r] &= ~own;
    }
  }

  // Cuts a chain where its live bytes are lowest, and on both sides of that
  // where they are lowest between the highest there and the end.
  // `all`: the tasks of the chain of which this is a part; `done`: those
  // before.
  void CutChain(const std::vector<int>& chain, uint64_t all, uint64_t done) {
    const size_t n = chain.size();
    std::vector<int64_t> during(n), after(n + 1, 0);
    int64_t live = 0;
    for (size_t k = 0; k < n; ++k) {
      int64_t gone = 0;
      for (int index : uses_[chain[k]]) {
        const Tensor& t = tensors_[index];
        const bool mine = (t.users & ~all) == 0 && t.ends;
        const uint64_t first = t.users & -t.users;
        if (t.starts && (first & all) && (t.users & done) == 0) live += t.bytes;
        if (mine && (t.users & ~(done | Bit(chain[k]))) == 0) gone += t.bytes;
      }
      during[k] = live + problem_.tasks[tasks_[chain[k]]].own;
      live -= gone;
      after[k + 1] = live;
      done |= Bit(chain[k]);
    }
    const size_t low =
        std::min_element(after.begin(), after.end()) - after.begin();
    std::vector<size_t> cuts = {0, low, n};
    for (size_t from = low; from < n;) {
      const size_t top = std::max_element(during.begin() + from, during.end()) -
                         during.begin();
      size_t cut = top + 1;
      for (size_t k = cut; k <= n; ++k) {
        if (after[k] <= after[cut]) cut = k;
      }
      cuts.push_back(cut);
      from = cut;
    }
    for (size_t to = low; to > 0;) {
      const size_t top = std::max_element(during.begin(), during.begin() + to) -
                         during.begin();
      size_t cut = top;
      for (size_t k = cut + 1; k-- > 0;) {
        if (after[k] <= after[cut]) cut = k;
      }
      cuts.push_back(cut);
      to = cut;
    }
    std::sort(cuts.begin(), cuts.end());
    for (size_t k = 0; k + 1 < cuts.size(); ++k) {
      if (cuts[k] == cuts[k + 1]) continue;
      runs_.emplace_back(chain.begin() + cuts[k], chain.begin() + cuts[k + 1]);
    }
  }

  // Dynamic programming over the sets of runs that are done. With `last`, over
  // these and the task done last, for the least area (and the most that is
  // handed on) with a peak of at most `limit`; else for the least peak. Empty
  // if none was found.
  std::vector<int> Search(uint64_t limit, bool last) const {
    const auto better = [last](const State& a, const State& b) {
      if (!last) return a.cost.peak < b.cost.peak;
      if (a.cost.area != b.cost.area) return a.cost.area < b.cost.area;
      return a.cost.handed > b.cost.handed;
    };
    std::vector<std::vector<State>> levels(runs_.size() + 1);
    State start;
    start.live = live_;
    levels[0].push_back(start);
    std::unordered_map<uint64_t, std::vector<int>> known;
    for (size_t level = 0; level < runs_.size(); ++level) {
      std::vector<State>& now = levels[level];
      if (now.size() > states_) {
        std::stable_sort(now.begin(), now.end(),
                         [&](const State& a, const State& b) {
                           if (better(a, b)) return true;
                           if (better(b, a)) return false;
                           return a.live < b.live;
                         });
        now.resize(states_);
      }
      known.clear();
      for (size_t from = 0; from < now.size(); ++from) {
        for (size_t r = 0; r < runs_.size(); ++r) {
          State s = now[from];
          if ((s.done & Bit(runs_[r][0])) || (run_before_[r] & ~s.done)) {
            continue;
          }
          for (int task : runs_[r]) Step(task, &s);
          if (s.cost.peak > limit) continue;
          s.from = static_cast<int>(from);
          s.run = static_cast<int>(r);
          std::vector<int>& same = known[s.done];
          bool fresh = true;
          for (int index : same) {
            State& other = levels[level + 1][index];
            if (last && other.last != s.last) continue;
            if (better(s, other)) other = s;
            fresh = false;
            break;
          }
          if (!fresh) continue;
          same.push_back(static_cast<int>(levels[level + 1].size()));
          levels[level + 1].push_back(s);
        }
      }
    }
    const std::vector<State>& ends = levels.back();
    if (ends.empty()) return {};
    const State* at = &*std::min_element(ends.begin(), ends.end(), better);
    std::vector<int> places;
    for (size_t level = runs_.size(); level > 0; --level) {
      const std::vector<int>& run = runs_[at->run];
      places.insert(places.end(), run.rbegin(), run.rend());
      at = &levels[level - 1][at->from];
    }
    std::reverse(places.begin(), places.end());
    return places;
  }

  const OrderProblem& problem_;
  const size_t states_;
  const std::vector<int> tasks_;
  const int count_;
  std::vector<uint64_t> before_;  // all that must come before, in the window
  std::vector<std::vector<int>> uses_;
  std::vector<Tensor> tensors_;
  uint64_t live_ = 0;  // at the begin, of tensors that the window uses
  std::vector<std::vector<int>> runs_;
  std::vector<uint64_t> run_before_;
};

// Places of the tasks that all others are before or behind, and the end.
std::vector<size_t> CutsOf(const OrderProblem& problem) {
  const int count = static_cast<int>(problem.tasks.size());
  std::vector<int> latest(count, -1);      // that must come before
  std::vector<int> soonest(count, count);  // that must come behind
  for (int i = 0; i < count; ++i) {
    for (int other : problem.tasks[i].after) {
      latest[i] = std::max(latest[i], other);
      soonest[other] = std::min(soonest[other], i);
    }
  }
  // All behind p need p: each needs one from p on.
  std::vector<int> behind(count + 1, count);
  for (int i = count; i-- > 0;) behind[i] = std::min(behind[i + 1], latest[i]);
  std::vector<size_t> cuts;
  int before = -1;
  for (int p = 0; p < count; ++p) {
    if (before <= p && behind[p + 1] >= p) cuts.push_back(p);
    before = std::max(before, soonest[p]);
  }
  cuts.push_back(count);
  return cuts;
}

}  // namespace

OrderCost CostOf(const OrderProblem& problem, const std::vector<int>& order) {
  const std::vector<Span> spans = SpansOf(problem, order);
  OrderCost cost;
  uint64_t live = 0;
  for (size_t place = 0; place < order.size(); ++place) {
    const int at = static_cast<int>(place);
    const OrderTask& task = problem.tasks[order[place]];
    uint64_t ends = 0;
    for (int tensor : task.uses) {
      const Span& s = spans[tensor];
      if (s.first == at) live += problem.bytes[tensor];
      if (s.last == at) ends += problem.bytes[tensor];
      if (s.last == at && s.first == at - 1 && s.users == 2) {
        cost.handed += problem.handed[tensor];
      }
    }
    cost.peak = std::max(cost.peak, live + task.own);
    cost.area += live;
    live -= ends;
  }
  return cost;
}

std::vector<int> ImproveOrder(const OrderProblem& problem) {
  std::vector<int> order(problem.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<Span> spans = SpansOf(problem, order);
  const auto improve = [&](size_t from, size_t to, size_t states) {
    const std::vector<int> better =
        Window(problem, order, spans, from, to, states).Solve();
    if (std::equal(better.begin(), better.end(), order.begin() + from)) return;
    std::copy(better.begin(), better.end(), order.begin() + from);
    // Tensors that begin or end in the window do it elsewhere in it now.
    for (size_t place = to; place-- > from;) {
      for (int tensor : problem.tasks[order[place]].uses) {
        Span& s = spans[tensor];
        if (s.first >= static_cast<int>(from)) s.first = place;
      }
    }
    for (size_t place = from; place < to; ++place) {
      for (int tensor : problem.tasks[order[place]].uses) {
        Span& s = spans[tensor];
        if (s.last < static_cast<int>(to)) s.last = place;
      }
    }
  };
  size_t begin = 0;
  for (size_t cut : CutsOf(problem)) {
    // With the tasks that part it from others, which stay at the ends.
    const size_t from = begin > 0 ? begin - 1 : 0;
    const size_t to = std::min(cut + 1, order.size());
    if (cut - begin >= 2 && to - from <= kWindow) improve(from, to, kStates);
    if (to - from > kWindow) {
      for (size_t at = from;; at += kWindow / 2) {
        improve(at, std::min(at + kWindow, to), kFewStates);
        if (at + kWindow >= to) break;
      }
    }
    begin = cut + 1;
  }
  return order;
}

OrderProblem OrderProblemOf(const DeviceGraph& graph, uint64_t sram_bytes) {
  struct Access {
    int op;
    bool write;
    uint64_t begin, end;  // bytes of the storage
  };
  // From so many accesses on, each waits for all before.
  constexpr size_t kAccesses = 256;
  OrderProblem problem;
  problem.tasks.resize(graph.ops.size());
  for (const Storage& s : graph.storages) {
    const uint64_t bytes = s.dram_dense() ? 0 : s.SramBytes();
    problem.handed.push_back(bytes);
    problem.bytes.push_back(bytes <= sram_bytes ? bytes : 0);
  }
  std::vector<std::vector<Access>> accesses(graph.storages.size());
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const DeviceOp& op = *graph.ops[i];
    OrderTask& task = problem.tasks[i];
    task.own = op.temporary_bytes;
    for (const ConstantGroup& g : op.groups) {
      task.own = std::max(task.own, op.temporary_bytes + g.bytes);
    }
    const auto touch = [&](int value, bool write) {
      const Value& v = graph.values[value];
      const Storage& s = graph.storages[v.storage];
      if (s.constant != nullptr) return;
      task.uses.push_back(v.storage);
      const uint64_t bytes =
          v.extent.n * GeometryOf(v.extent, s.layout, ElementBytes(s.type),
                                  v.extent.h, s.halo)
                           .bytes;
      const Access access{static_cast<int>(i), write, v.offset,
                          v.offset + bytes};
      if (s.is_input) return;
      std::vector<Access>& others = accesses[v.storage];
      if (others.size() > kAccesses) {
        if (others.back().op != access.op) {
          task.after.push_back(others.back().op);
        }
      } else {
        for (const Access& o : others) {
          const bool meet = access.begin < o.end && o.begin < access.end;
          if (o.op != access.op &&
              (others.size() == kAccesses || (meet && (write || o.write)))) {
            task.after.push_back(o.op);
          }
        }
      }
      others.push_back(access);
    };
    for (const OpInput& in : op.inputs) touch(in.value, false);
    touch(op.output, true);
    for (std::vector<int>* list : {&task.after, &task.uses}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }
  return problem;
}

void ApplyOrder(const std::vector<int>& order, DeviceGraph* graph) {
  std::vector<std::unique_ptr<DeviceOp>> ops;
  for (int i : order) ops.push_back(std::move(graph->ops[i]));
  graph->ops = std::move(ops);
}

}  // namespace heddle::compiler
