// SPDX-License-Identifier: Apache-2.0
// The compiler with all features of its schedule, with each one switched off,
// and with none: the rows of the tables of what each one brings.
#ifndef HEDDLE_COMPILER_TESTING_FEATURE_VARIANTS_H_
#define HEDDLE_COMPILER_TESTING_FEATURE_VARIANTS_H_

#include "compiler/compiler.h"

namespace heddle::compiler {

struct FeatureVariant {
  const char* name;
  void (*change)(Features*);
};

// The first changes nothing.
inline constexpr FeatureVariant kFeatureVariants[] = {
    {"all features", [](Features*) {}},
    {"no fuse_residual", [](Features* f) { f->fuse_residual = false; }},
    {"no fuse_table", [](Features* f) { f->fuse_table = false; }},
    {"no fuse_pool", [](Features* f) { f->fuse_pool = false; }},
    {"no cost_tiles", [](Features* f) { f->cost_tiles = false; }},
    {"no keep_weights", [](Features* f) { f->keep_weights = false; }},
    {"prefetch of one operation", [](Features* f) { f->prefetch = 1; }},
    {"no prefetch", [](Features* f) { f->prefetch = 0; }},
    {"no cascade", [](Features* f) { f->cascade = false; }},
    {"no short_first", [](Features* f) { f->short_first = false; }},
    {"no fuse_elementwise", [](Features* f) { f->fuse_elementwise = false; }},
    {"no order", [](Features* f) { f->order = false; }},
    {"no recompute", [](Features* f) { f->recompute = false; }},
    {"none",
     [](Features* f) {
       *f = {false, false, false, false, false, 0,
             false, false, false, false, false, false};
     }},
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_FEATURE_VARIANTS_H_
