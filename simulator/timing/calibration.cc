// SPDX-License-Identifier: Apache-2.0
#include "simulator/timing/calibration.h"

namespace heddle::timing {
namespace {

constexpr Calibration kCalibrations[isa::kNumConfigs] = {
#include "simulator/timing/calibration.inc"
};

}  // namespace

const CalibrationField kCalibrationFields[] = {
    {"fetch_first", &Calibration::fetch_first},
    {"fetch_again", &Calibration::fetch_again},
    {"dispatch", &Calibration::dispatch},
    {"dispatch_conv", &Calibration::dispatch_conv},
    {"finish", &Calibration::finish},
    {"load_prepare", &Calibration::load_prepare},
    {"load_tail", &Calibration::load_tail},
    {"fill_tail", &Calibration::fill_tail},
    {"gather_row", &Calibration::gather_row},
    {"store_prepare", &Calibration::store_prepare},
    {"store_tail", &Calibration::store_tail},
    {"scatter_row", &Calibration::scatter_row},
    {"conv_start", &Calibration::conv_start},
    {"conv_divide", &Calibration::conv_divide},
    {"conv_gap", &Calibration::conv_gap},
    {"block_gap", &Calibration::block_gap},
    {"conv_tail", &Calibration::conv_tail},
    {"pool_tail", &Calibration::pool_tail},
    {"wide_tail", &Calibration::wide_tail},
    {"packed_words", &Calibration::packed_words},
    {"row_words", &Calibration::row_words},
    {"column_words", &Calibration::column_words},
    {"vector_setup", &Calibration::vector_setup},
    {"vector_program", &Calibration::vector_program},
    {"lane_latency", &Calibration::lane_latency},
    {"lane_divide", &Calibration::lane_divide},
    {"line_latency", &Calibration::line_latency},
    {"vector_tail", &Calibration::vector_tail},
    {"gate", &Calibration::gate},
    {"vector_load", &Calibration::vector_load},
    {"vector_store", &Calibration::vector_store},
    {"matrix_vector", &Calibration::matrix_vector},
    {"weights_load", &Calibration::weights_load},
    {"stride_load", &Calibration::stride_load},
};
const size_t kNumCalibrationFields =
    sizeof(kCalibrationFields) / sizeof(kCalibrationFields[0]);

const Calibration& CalibrationOf(const isa::Config& config) {
  // (a configuration with less SRAM is a copy of its original)
  for (size_t i = 0; i < isa::kNumConfigs; ++i) {
    if (isa::kConfigs[i].id == config.id) return kCalibrations[i];
  }
  return kCalibrations[0];
}

}  // namespace heddle::timing
