//===- Comm.h - ways to make communicators ----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_COMM_H
#define HEDDLE_RUNTIME_COMM_COMM_H

#include "Communicator.h"

namespace heddle::rt {

/// ProcessComm.cpp: this process is one rank of those that its options or its environment name.
Status createProcessComm(const std::shared_ptr<Device> &device, const heddle_comm_options *options,
                         std::unique_ptr<Communicator> &comm);

/// Far above what shares a host; bounds the work that a wrong number can cause.
inline constexpr size_t maxRanks = 1024;

/// LocalComm.cpp: rank i runs on devices[i]; devices may repeat, emulated ones not.
Status createLocalComm(std::span<const std::shared_ptr<Device>> devices,
                       const heddle_comm_options *options,
                       std::vector<std::unique_ptr<Communicator>> &comms);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMM_COMM_H
