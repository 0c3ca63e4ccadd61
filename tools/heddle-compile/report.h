// SPDX-License-Identifier: Apache-2.0
// The report of a compilation or of a package, as text and as JSON.
//
// JSON, keys stable within a schema version:
//   {"schema": "heddle-compile/1", "model", "config", "macs", "weight_bytes",
//    "weight_plan": {"device_bytes", "resident_bytes", "copied_bytes" (from
//                    host memory, per run), "windows", "window_bytes" (each),
//                    "overlapped" (copies with what the card computes),
//                    "wait_cycles" (of copies, which the other cycles do not
//                    count; estimated),
//                    "copies": [{"stream", "from", "to", "bytes"}]},
//    "scratch_bytes", "io_bytes", "stream_bytes", "device_bytes", "commands",
//    "sram_bytes", "sram_peak_bytes", "dram_bytes",
//    "operators": {ENGINE: number of operations},
//    "host_operators": [{"node", "op", "reason"}] (what the card lacks),
//    "segments": [{"on": "card"|"host", "nodes", "bytes_in", "bytes_out",
//                  "estimated_cycles" (of the card; the host's are not known),
//                  "host_bytes" (of tensors inside a host segment at once)}]
//                (in order; empty if the card does it all),
//    "calibrated": true, "estimated_cycles", "clock_mhz", "estimated_ms",
//    "estimated_per_second" (inferences, of the commands),
//    "estimated_job_cycles" (with the copies; 0: there is no one figure),
//    "estimated_job_ms", "estimated_utilisation",
//    "limits": {"compute_bound_cycles", "dram_bound_cycles",
//               "layer_bound_cycles", "bound_by": "compute"|"DRAM",
//               "distance": estimated cycles / the larger of the first two},
//    "engines": [{"name", "commands", "bytes", "busy", "wait_for_load",
//                 "wait_for_store", "wait_for_matrix", "wait_for_vector",
//                 "wait_for_commands", "finished"}] (cycles; the last seven add
//                 up to estimated_cycles),
//    "inputs"|"outputs"|"taps": [{"name", "type", "shape", "bytes"}],
//    "notes": sentences on what the model says and the compiler does not use;
//             of a package where it states other cycles,
//    "shape_set": only of a package of several shapes, of which the rest of the
//                 report is the largest: {"bytes", "separate_bytes" (as many
//                 packages), "padding": sentences on dimensions with gaps,
//                 "specialisations": [{"values": {SYMBOL: value}, "bytes",
//                  "added_bytes", "estimated_cycles", "host_operators"}]},
//    "float_groups": [{"node", "op", "reason", "estimated_cycles"}] (quantized
//                     in the model, yet computed in floating point),
//    "layers": [{"name", "op", "engine", "shape", "macs", "dram_bytes",
//                "estimated_cycles", "first_cycle", "last_cycle",
//                "utilisation", "bound", "commands", "sources", "tiles"}],
//    "buffers": [{"name", "kind", "address", "bytes", "first_layer",
//                 "last_layer", "first_cycle", "last_cycle"}]}
// Of an existing package (compiler/report/package_report.h) the same, without
// what is not in one: "op", "shape", "sources" and "tiles" of layers, "nodes"
// and "host_bytes" of segments, reasons of host operators, "wait_cycles",
// "float_groups" and "buffers"; times of segments only with a host profile. It
// has "sram_touched_bytes" (up to the last byte that a command may touch)
// instead of "sram_peak_bytes", and "not_in_package", a sentence.
// What the cycles of layers mean: compiler/base/report.h, LayerReport.
#ifndef HEDDLE_TOOLS_HEDDLE_COMPILE_REPORT_H_
#define HEDDLE_TOOLS_HEDDLE_COMPILE_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "compiler/shapes/compile_shape_set.h"

namespace heddle::compile {

// Page-rounded device memory of the package.
uint64_t DeviceBytes(const package::Package& package);
// [{"name", "type", "shape", "bytes"}]
nlohmann::ordered_json TensorsJson(
    const std::vector<package::TensorInfo>& tensors);
std::string TextReport(const package::Package& package,
                       const compiler::CompileReport& report);
nlohmann::ordered_json ReportAsJson(const package::Package& package,
                                    const compiler::CompileReport& report);
// `set`: the package is the largest of these; or null.
std::string JsonReport(const package::Package& package,
                       const compiler::CompileReport& report,
                       const compiler::ShapeSetReport* set = nullptr);

}  // namespace heddle::compile

#endif  // HEDDLE_TOOLS_HEDDLE_COMPILE_REPORT_H_
