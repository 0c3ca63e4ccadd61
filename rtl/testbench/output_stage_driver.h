// SPDX-License-Identifier: Apache-2.0
// Drives hd_output_stage as the matrix engine does: commands in two slots,
// parameters and tables from the weight loader, vectors in nest order from the
// accumulators, an SRAM with random grants. Beside it runs the reference: the
// functional model's output stage on the same accumulators.
#ifndef HEDDLE_RTL_TESTBENCH_OUTPUT_STAGE_DRIVER_H_
#define HEDDLE_RTL_TESTBENCH_OUTPUT_STAGE_DRIVER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/sram_model.h"
#include "simulator/model/core.h"
#include "simulator/model/geometry.h"
#include "simulator/model/numerics.h"
#include "simulator/model/output_stage.h"

namespace heddle::testbench {

// Accumulator (mode maxpool: code) of channel o, pixel (y, x); y counts from 0.
using AccFunction = std::function<int32_t(uint32_t o, uint32_t y, uint32_t x)>;

struct OutputJob {
  isa::Conv c;
  uint32_t srows = 1, scols = 1;
  AccFunction acc;
  uint32_t passes = 1;  // cycles between issues, at least
};

struct OutputTiming {
  uint32_t stall_percent = 0;    // grants refused at random
  uint32_t issue_percent = 100;  // a possible issue is taken so often
  uint32_t gap_percent = 0;      // a command is offered late so often
};

template <typename Dut>
class OutputStageDriver {
 public:
  static constexpr uint32_t kDelay = 5;        // hd_matrix_pkg::VECTOR_DELAY
  static constexpr uint32_t kTableDelay = 32;  // hd_matrix_pkg::TABLE_DELAY
  // $bits(hd_matrix_pkg::mder_t): the fields used here are its first, that is
  // highest, ones. If every test hangs, the struct has changed its size.
  static constexpr uint32_t kDerBits = 658;

  OutputStageDriver(const isa::Config& config, const OutputTiming& timing,
                    uint64_t seed)
      : config_(config),
        timing_(timing),
        k_(config.lanes_out),
        sram_(config.sram_bytes, config.sram_banks, 3, timing.stall_percent,
              seed),
        reference_(config, nullptr, model::Options()),
        random_(seed) {}

  void SetSram(const std::vector<uint8_t>& bytes) {
    std::copy(bytes.begin(), bytes.end(), sram_.data());
    std::copy(bytes.begin(), bytes.end(), reference_.sram.begin());
  }
  model::Core& reference() { return reference_; }
  const SramModel& sram() const { return sram_; }
  Dut& dut() { return *dut_; }

  // Computes the job in the reference and queues it for the hardware.
  void Add(const OutputJob& job) {
    auto work = std::make_unique<Work>();
    work->job = job;
    const isa::Conv& c = job.c;
    work->dwise = c.mode == isa::MatrixMode::kDepthwise ||
                  c.mode == isa::MatrixMode::kMaxpool;
    work->cobs =
        work->dwise ? model::OutBlocks(c) : model::CeilDiv<uint32_t>(c.co, k_);
    if (!c.acc_hold) {
      for (uint32_t cb = 0; cb < model::OutBlocks(c); ++cb) {
        work->params.push_back(c.mode == isa::MatrixMode::kMaxpool
                                   ? model::BlockParams()
                                   : model::ReadParams(c, cb, reference_));
      }
    }
    if (c.lut) {
      work->table.resize(256);
      std::copy_n(
          reference_.sram.begin() + size_t{c.lut_addr} * isa::kWordBytes, 256,
          work->table.begin());
    }
    PlanBlocks(work.get());
    RunReference(c, job.acc, work->params);
    jobs_.push_back(std::move(work));
  }

  // Gives the hardware another command than the reference had (bounds tests).
  void ReplaceLast(const isa::Conv& c) {
    Work* work = jobs_.back().get();
    work->job.c = c;
    work->cobs = model::CeilDiv<uint32_t>(c.co, k_);
    work->params.resize(model::OutBlocks(c));
    work->table.clear();
    PlanBlocks(work);
  }

  // Runs until everything is done or `limit` cycles have passed since the last
  // progress. False if it hangs or a rule is broken (see error()).
  bool Run(uint64_t limit = 20000) {
    uint64_t last = cycle_;
    uint64_t seen = progress_;
    while (done_ < jobs_.size() || dut_->busy_o) {
      Cycle();
      if (progress_ != seen) {
        seen = progress_;
        last = cycle_;
      }
      if (!error_.empty()) return false;
      if (dut_->fault_o) {
        error_ = "fault at " + std::to_string(dut_->fault_addr_o);
        return false;
      }
      if (cycle_ - last > limit) {
        error_ = "hangs: " + std::to_string(done_) + " of " +
                 std::to_string(jobs_.size()) + " commands done, vector " +
                 std::to_string(issued_);
        return false;
      }
    }
    return true;
  }
  size_t done() const { return done_; }
  const std::string& error() const { return error_; }
  uint64_t cycle() const { return cycle_; }
  uint64_t first_issue() const { return first_issue_; }
  uint64_t last_issue() const { return last_issue_; }
  uint64_t issued() const { return issued_; }

  // First byte in which the SRAM differs from the reference, or -1.
  int64_t Difference() const {
    for (size_t i = 0; i < reference_.sram.size(); ++i) {
      if (const_cast<SramModel&>(sram_).data()[i] != reference_.sram[i]) {
        return static_cast<int64_t>(i);
      }
    }
    return -1;
  }

  void Cycle() {
    DriveCommand();
    DriveLoader();
    DriveVectors();
    dut_->stop_i = dut_->fault_o;
    std::memcpy(dut_->rdata_i.data(), sram_.ReadData(2), 16);
    dut_->gnt_i = 0;
    dut_.Settle();
    Issue();
    dut_.Settle();
    Grants();
    dut_.Settle();
    if (dut_->take_o) {
      if (!dut_->avail_i) error_ = "took what was not there";
      ++taken_;
      ++progress_;
    }
    if (dut_->res_read_o && ++read_ > taken_) error_ = "res_read_o too early";
    if (dut_->done_o) {
      ++done_;
      ++progress_;
      if (done_ > read_) error_ = "done_o before res_read_o";
    }
    if (!sram_.violations().empty()) error_ = sram_.violations()[0];
    dut_.Tick();
    sram_.EndCycle();
    ++cycle_;
  }

 private:
  // One run of the nest inside a block: its vectors use one set of parameters.
  struct Block {
    uint32_t cob, y0, y1, x0, x1;
    bool first_of_job;
  };
  struct Work {
    OutputJob job;
    bool dwise = false;
    uint32_t cobs = 0;
    std::vector<model::BlockParams> params;
    std::vector<uint8_t> table;
    std::vector<Block> blocks;
  };
  struct Vector {
    uint64_t at;
    std::vector<uint32_t> acc;
    bool bank;
    bool last_of_block;
    bool last_of_job;
  };

  void PlanBlocks(Work* w) {
    const isa::Conv& c = w->job.c;
    if (c.acc_hold) return;
    auto stripes = [&](uint32_t cob) {
      for (uint32_t y = 0; y < c.out_rows; y += w->job.srows) {
        for (uint32_t x = 0; x < c.ow; x += w->job.scols) {
          auto add = [&](uint32_t b) {
            w->blocks.push_back({b, y, std::min(c.out_rows, y + w->job.srows),
                                 x, std::min(c.ow, x + w->job.scols),
                                 w->blocks.empty()});
          };
          if (Outer(c)) {
            add(cob);
          } else {
            for (uint32_t b = 0; b < w->cobs; ++b) add(b);
          }
        }
      }
    };
    if (Outer(c)) {
      for (uint32_t b = 0; b < w->cobs; ++b) stripes(b);
    } else {
      stripes(0);
    }
  }
  static bool Outer(const isa::Conv& c) {
    return c.pool == isa::PoolKind::kAverage;
  }

  void RunReference(const isa::Conv& c, const AccFunction& acc,
                    const std::vector<model::BlockParams>& params) {
    if (c.acc_hold) return;
    model::ScopedFpEnvironment environment;
    for (uint32_t cb = 0; cb < model::OutBlocks(c); ++cb) {
      std::vector<int32_t> codes(size_t{c.ow} * model::kBlock);
      int32_t sums[model::kBlock] = {};
      for (uint32_t y = 0; y < c.out_rows; ++y) {
        const uint32_t oy = c.out_row0 + y;
        const int64_t row = model::Slot(oy, c.out_row0, c.out_wrap);
        for (uint32_t x = 0; x < c.ow; ++x) {
          for (uint32_t l = 0; l < model::kBlock; ++l) {
            const int32_t a = acc(cb * model::kBlock + l, y, x);
            int32_t* code = &codes[x * model::kBlock + l];
            if (c.mode == isa::MatrixMode::kMaxpool) {
              *code = a;
            } else if (model::IsWide(c)) {
              reference_.Set(model::OutputAddress(c, cb, row, x) + 4 * l,
                             model::WideOutput(c, a, params[cb].bias[l],
                                               params[cb].scale[l]));
            } else {
              *code = model::Requantise(c, a, params[cb].bias[l],
                                        params[cb].scale[l]);
            }
          }
        }
        if (!model::IsWide(c)) {
          model::FinishRow(c, cb, oy, codes.data(), sums, &reference_);
        }
      }
    }
  }

  // Fields of mder_t from its top; the stage uses no others.
  template <typename Port>
  static void SetDer(Port* port, uint32_t* high, uint32_t bits,
                     uint32_t value) {
    for (uint32_t i = 0; i < bits; ++i) {
      const uint32_t at = *high - i - 1;
      const uint32_t bit = value >> (bits - 1 - i) & 1;
      uint32_t* word = &(*port)[at / 32];
      *word = (*word & ~(1u << (at % 32))) | bit << (at % 32);
    }
    *high -= bits;
  }

  void DriveCommand() {
    // Two slots; offered_ commands are in them.
    if (offered_ < jobs_.size() && offered_ < taken_ + 2 &&
        random_() % 100 >= timing_.gap_percent) {
      const Work& w = *jobs_[offered_];
      uint32_t high = kDerBits;
      uint32_t words[isa::Conv::kWords];
      w.job.c.Encode(words);
      auto* der = offered_ % 2 == 0 ? &dut_->der0_i : &dut_->der1_i;
      auto* cmd = offered_ % 2 == 0 ? &dut_->cmd0_i : &dut_->cmd1_i;
      for (uint32_t i = 0; i < isa::Conv::kWords; ++i) (*cmd)[i] = words[i];
      for (uint32_t i = 0; i < (kDerBits + 31) / 32; ++i) {
        (*der)[i] = static_cast<uint32_t>(random_());
      }
      (*der)[kDerBits / 32] &= (1u << kDerBits % 32) - 1;
      SetDer(der, &high, 1, w.dwise);
      SetDer(der, &high, 1, Outer(w.job.c));
      SetDer(der, &high, 16, w.job.srows);
      SetDer(der, &high, 16, w.job.scols);
      SetDer(der, &high, 16, w.cobs);
      SetDer(der, &high, 16, model::OutBlocks(w.job.c));
      ++offered_;
    }
    dut_->avail_i = taken_ < offered_;
    dut_->sel_i = taken_ % 2;
    dut_->hold_done_i = 0;
    // A command that holds is finished when everything before it is issued.
    if (issue_job_ < offered_ && jobs_[issue_job_]->job.c.acc_hold &&
        vectors_.empty() && random_() % 8 == 0) {
      dut_->hold_done_i = 1;
      ++issue_job_;
      load_job_ = std::max(load_job_, issue_job_);
    }
  }

  // Tables and parameters, at most one block ahead of the issue.
  void DriveLoader() {
    dut_->lld_i = 0;
    dut_->pld_i = 0;
    while (load_job_ < offered_ && jobs_[load_job_]->job.c.acc_hold &&
           load_job_ < issue_job_) {
      ++load_job_;
    }
    if (load_job_ >= offered_ || jobs_[load_job_]->job.c.acc_hold) return;
    if (loaded_ >= issue_block_ + 2) return;
    const Work& w = *jobs_[load_job_];
    const Block& b = w.blocks[load_block_];
    if (b.first_of_job && !w.table.empty() && table_word_ < 16) {
      if (cycle_ < table_free_[tables_ % 2]) return;
      dut_->lld_i = 1;
      dut_->lset_i = tables_ % 2;
      dut_->lidx_i = table_word_;
      std::memcpy(dut_->ldata_i.data(), &w.table[16 * table_word_], 16);
      ++table_word_;
      return;
    }
    if (cycle_ < set_free_[loaded_ % 2]) return;
    const uint32_t words = w.dwise ? 8 : k_ / 2;
    const uint32_t first = w.dwise ? b.cob : b.cob * (k_ / 16);
    uint32_t data[8];
    for (uint32_t i = 0; i < 8; ++i) {
      const uint32_t word = param_word_ + i / 4;
      const uint32_t block = first + word / 8;
      data[i] = static_cast<uint32_t>(random_());
      if (block >= w.params.size()) continue;
      const model::BlockParams& p = w.params[block];
      const uint32_t l = word % 4 * 4 + i % 4;
      data[i] = word % 8 < 4 ? static_cast<uint32_t>(p.bias[l])
                             : model::Bits(p.scale[l]);
    }
    dut_->pld_i = 1;
    dut_->pset_i = loaded_ % 2;
    dut_->pidx_i = param_word_;
    std::memcpy(dut_->pdata_i.data(), data, 32);
    param_word_ += 2;
    if (param_word_ < words) return;
    set_free_[loaded_ % 2] = ~uint64_t{0};  // until its last vector is there
    param_word_ = 0;
    ++loaded_;
    if (++load_block_ == w.blocks.size()) {
      if (!w.table.empty()) {
        table_free_[tables_ % 2] = ~uint64_t{0};
        ++tables_;
      }
      table_word_ = 0;
      load_block_ = 0;
      ++load_job_;
    }
  }

  void DriveVectors() {
    dut_->valid_i = 0;
    if (vectors_.empty() || vectors_.front().at != cycle_) return;
    const Vector& v = vectors_.front();
    dut_->valid_i = 1;
    dut_->pbank_i = v.bank;
    for (uint32_t i = 0; i < k_; ++i) dut_->acc_i[i] = v.acc[i];
    if (v.last_of_block) set_free_[v.bank] = cycle_ + 3;
    if (v.last_of_job) {
      table_free_[tables_used_ % 2] = cycle_ + kTableDelay;
      ++tables_used_;
    }
    vectors_.pop_front();
  }

  void Issue() {
    dut_->issue_i = 0;
    if (issue_job_ >= offered_ || jobs_[issue_job_]->job.c.acc_hold) return;
    if (issue_block_ >= loaded_ || cycle_ < next_issue_) return;
    if (!dut_->room_o || random_() % 100 >= timing_.issue_percent) return;
    const Work& w = *jobs_[issue_job_];
    const Block& b = w.blocks[in_job_];
    if (!issuing_) {
      issuing_ = true;
      y_ = b.y0;
      x_ = b.x0;
    }
    Vector v;
    v.at = cycle_ + kDelay;
    v.bank = issue_block_ % 2;
    const uint32_t channels = w.dwise ? 16 : k_;
    for (uint32_t l = 0; l < k_; ++l) {
      const uint32_t o = b.cob * channels + l;
      v.acc.push_back(l < channels &&
                              o < model::OutBlocks(w.job.c) * model::kBlock
                          ? static_cast<uint32_t>(w.job.acc(o, y_, x_))
                          : static_cast<uint32_t>(random_()));
    }
    bool end = false;
    if (++x_ == b.x1) {
      x_ = b.x0;
      end = ++y_ == b.y1;
    }
    v.last_of_block = end;
    v.last_of_job = end && in_job_ + 1 == w.blocks.size() && !w.table.empty();
    dut_->issue_i = 1;
    next_issue_ = cycle_ + w.job.passes;
    if (issued_ == 0) first_issue_ = cycle_;
    last_issue_ = cycle_;
    ++issued_;
    ++progress_;
    if (end) {
      issuing_ = false;
      ++issue_block_;
      if (++in_job_ == w.blocks.size()) {
        in_job_ = 0;
        ++issue_job_;
      }
    }
    vectors_.push_back(std::move(v));
  }

  void Grants() {
    uint32_t granted = 0;
    const uint32_t req = dut_->req_o;
    const uint64_t addr = dut_->addr_o;
    for (uint32_t i = 0; i < 3; ++i) {
      if ((req >> i & 1) == 0) continue;
      if (i == 1 && (req & 1) != 0 && (granted & 1) == 0) continue;
      SramRequest r;
      r.addr = addr >> (16 * i) & 0xffff;
      r.write = i < 2;
      uint32_t word[4];
      if (i < 2) {
        std::memcpy(word, &dut_->wdata_o.data()[4 * i], 16);
        r.wdata = word;
      }
      r.urgent = timing_.stall_percent < 60 && (dut_->urgent_o >> i & 1) != 0;
      if (sram_.Grant(i, r)) granted |= 1u << i;
    }
    dut_->gnt_i = granted;
    if (granted != 0) ++progress_;
  }

  const isa::Config config_;
  const OutputTiming timing_;
  const uint32_t k_;
  SramModel sram_;
  model::Core reference_;
  std::mt19937_64 random_;
  rtl::Clocked<Dut> dut_;
  std::vector<std::unique_ptr<Work>> jobs_;
  std::deque<Vector> vectors_;
  std::string error_;
  uint64_t cycle_ = 0, progress_ = 0;
  size_t offered_ = 0, taken_ = 0, read_ = 0, done_ = 0;
  // Loader.
  size_t load_job_ = 0, load_block_ = 0;
  uint64_t loaded_ = 0;  // blocks of all jobs
  uint32_t table_word_ = 0, param_word_ = 0;
  uint64_t tables_ = 0, tables_used_ = 0;
  uint64_t set_free_[2] = {}, table_free_[2] = {};
  // Issue.
  size_t issue_job_ = 0, in_job_ = 0;
  uint64_t issue_block_ = 0, next_issue_ = 0;
  bool issuing_ = false;
  uint32_t y_ = 0, x_ = 0;
  uint64_t issued_ = 0, first_issue_ = 0, last_issue_ = 0;
};

}  // namespace heddle::testbench

#endif  // HEDDLE_RTL_TESTBENCH_OUTPUT_STAGE_DRIVER_H_
