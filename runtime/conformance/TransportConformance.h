//===- TransportConformance.h - what every transport keeps --------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a transport between the devices it is given and tells what it does not keep. It needs
// nothing but devices, so that a new transport, or a machine, can be checked anywhere.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_CONFORMANCE_TRANSPORTCONFORMANCE_H
#define HEDDLE_RUNTIME_CONFORMANCE_TRANSPORTCONFORMANCE_H

#include "comm/Transport.h"

namespace heddle::rt {

struct ConformanceReport {
  std::vector<std::string> passed;
  std::vector<std::string> failed; ///< what was expected and what was found
  std::vector<std::string> left;   ///< what these devices cannot show, and why
};

/// `devices` reach each other by `transport`; one alone checks less. Kernels may not run on them
/// meanwhile.
ConformanceReport checkTransport(const Transport &transport,
                                 std::span<const std::shared_ptr<Device>> devices);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_CONFORMANCE_TRANSPORTCONFORMANCE_H
