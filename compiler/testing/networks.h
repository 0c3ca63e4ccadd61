// SPDX-License-Identifier: Apache-2.0
// Well-known quantized networks as ONNX files: their structure, with weights
// drawn from a fixed generator (network_builder.h), for benches of compiler and
// card where no trained file is at hand.
#ifndef HEDDLE_COMPILER_TESTING_NETWORKS_H_
#define HEDDLE_COMPILER_TESTING_NETWORKS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::compiler {

// resnet50, resnext50 (32x4d; Xie et al. 2017), vgg16 (Simonyan and Zisserman
// 2015) and mobilenet_v1, mobilenet_v2 at 224 x 224 (ResNet v1.5: He et al.
// 2015, stride in the 3x3; Howard et al. 2017; Sandler et al. 2018), squeezenet
// (1.1; Iandola et al. 2016), those of MLPerf Tiny (Banbury et al. 2021):
// resnet8, ds_cnn, vww, autoencoder; and fully_connected, the one layer of 2048
// to 1000; unet (64 base channels, 512 x 512; Ronneberger et al. 2015), the
// shape of yolov5s (6.0) at 640 x 640; one encoder layer of BERT-base (Devlin
// et al. 2018) with a sequence of 128 or 512, and of DeiT-tiny (Touvron et al.
// 2021): bert_128, bert_512, deit_tiny. Single layers of hard
// shapes: conv_1080p (3x3, 64 to 64), vocabulary (fp32, 128x128 to 30,522).
// Four layers of 3x3 at 80 x 80, each with a function behind it: relu_80,
// hard_swish_80, silu_80, prelu_80. Float functions in primitive operators, on
// [1, 128, 768] and [1, 64, 80, 80]: gelu, tanh_gelu, silu, layer_norm, each
// with _rows and _planes; on [1, 12, 128, 128] softmax_rows; in float16 on
// [1, 64, 80, 80] half_gelu, half_tanh_gelu, half_hard_swish.
std::vector<std::string> NetworkNames();

// The serialized model; empty for an unknown name. Equal for equal names.
std::string MakeNetwork(const std::string& name);

// MakeNetwork(name), or the bytes of the file of that name.
absl::StatusOr<std::string> NetworkOrFile(const std::string& name);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_NETWORKS_H_
