// SPDX-License-Identifier: Apache-2.0
// Prints the names of all operators of ONNX's default domain, one per line.
#include <onnx/defs/schema.h>

#include <iostream>
#include <set>
#include <string>

int main() {
  std::set<std::string> names;
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas()) {
    if (schema.domain().empty()) names.insert(schema.Name());
  }
  for (const std::string& name : names) std::cout << name << '\n';
}
