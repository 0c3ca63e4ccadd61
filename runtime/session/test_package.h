// SPDX-License-Identifier: Apache-2.0
// Packages made by hand for the tests of the runtime.
#ifndef HEDDLE_RUNTIME_SESSION_TEST_PACKAGE_H_
#define HEDDLE_RUNTIME_SESSION_TEST_PACKAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/package/package.h"

namespace heddle::session {

// Copies input "x" (uint8[bytes]) to output "y" through SRAM and scratch in the
// first of two streams, and the weights, which are 0, 1, 2 ... mod 251, to
// output "w" (uint8[weight_bytes]) in the second. The tap "t" is a copy of "x",
// too. Nodes "copy" and "weights". Sizes are multiples of 16 up to 65520.
package::Package CopyPackage(uint64_t bytes = 4096, uint64_t weight_bytes = 256,
                             const std::string& config = "h256");

// As CopyPackage(), with 1024 bytes of weights of which 64 are resident and the
// others are copied to windows of 512 bytes: in front of the second stream and
// of a third one, which store a half of "w" each.
package::Package StreamedPackage(uint32_t windows = 1);

// As CopyPackage(), but the node "copy" faults: it gathers with an index that
// exceeds its bound.
package::Package FaultingPackage();

// The host reverses the input "h" to "x", the card copies it (CopyPackage), the
// host reverses "y" to the output "z". Outputs are "w" and "x", too.
package::Package SegmentedPackage(uint64_t bytes = 4096);

// The card copies the input "x" to the output "y", while the host reverses the
// input "h" so many times to the output "z".
package::Package BesidePackage(size_t nodes = 1, uint64_t bytes = 4096);

// The host reverses the input "x", the card copies that to the output "y", and
// the host then adds the reversed "x" to "y": the output "z" (all uint8).
package::Package LatePackage(uint64_t bytes = 4096);

// The host alone reverses "h" so many times to "z", node by node.
package::Package HostPackage(size_t nodes, uint64_t bytes = 4096);

// The host alone doubles "h" so many times, twice at least, and then adds the
// doubles: "z".
package::Package DoublingPackage(size_t doubles, uint64_t bytes);

// The host alone: output "o" (uint8[1]) is 255 - "i" (int64[1]) for 0 to 255,
// by a table.
package::Package LookUpPackage();

// The host alone: "z" (uint8[1,1,1025,1025]) is the maximum of each window of
// 1024 by 1024 of "h" (uint8[1,1,2048,2048]), which takes an hour, of one node.
package::Package LongPackage();

// A Loop: as often as "n" (int64[1]) says, the input "h" is copied by the card
// and reversed by the host, if "flag" (bool[1]) holds; if it does not, reversed
// by the host twice. The output is "z". An If is inside of the Loop.
package::Package LoopPackage(uint64_t bytes = 4096);

// A Loop that never ends: its body copies "h" on the card, or reverses it on
// the host.
package::Package EndlessPackage(bool card, uint64_t bytes = 4096);

// The host finds the elements of "h" (uint8[bytes]) that are not 0, "f"
// (int64[1,bytes] or less), and in another segment turns them to the output "z"
// (int64[bytes,1] or less). An If on the input "flag" (bool[1]) may stand for
// the one or the other segment: both bodies do the same.
enum class FoundIf { kNowhere, kFinds, kTurns };
package::Package FoundPackage(FoundIf where, uint64_t bytes = 64);

// A random network of host and card, of tensors uint8[256]. The inputs are "v0"
// and the index "i" (int64[1], 0 or 1); each segment makes one more tensor
// "v1", "v2" ...: the card a copy of its input, the host the sum of its first
// input, reversed, and its second one. Outputs are the tensors that nothing
// reads. Of the segments of the host some (`fails`) find no element at index 1.
struct RandomDag {
  package::Package package;
  std::vector<size_t> fails;
};
RandomDag MakeRandomDag(uint32_t seed);
// All values of it, if the segments run one after another.
std::vector<std::vector<uint8_t>> RunInOrder(const package::Package& dag,
                                             const std::vector<uint8_t>& v0);

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_TEST_PACKAGE_H_
