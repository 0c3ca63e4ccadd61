// SPDX-License-Identifier: Apache-2.0
// The private simulated card for the tests of the runtime.
#ifndef HEDDLE_RUNTIME_SESSION_TEST_CARD_H_
#define HEDDLE_RUNTIME_SESSION_TEST_CARD_H_

#include <memory>
#include <string>

#include "runtime/session/session.h"

namespace heddle::session {

// Sends a line to a simulator's control socket; its answer.
std::string Control(const std::string& path, const std::string& line);

// A device of the private card with these options; every distinct text is a
// card of its own. Null after a failure, which is reported.
std::shared_ptr<Device> OpenSim(const std::string& options = "");

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_TEST_CARD_H_
