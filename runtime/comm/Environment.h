//===- Environment.h - who this process is among several ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launchers tell each process its number in environment variables. Read once, when a
// communicator is made.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_RUNTIME_COMM_ENVIRONMENT_H
#define HEDDLE_RUNTIME_COMM_ENVIRONMENT_H

#include "core/Status.h"
#include "heddle-rt/heddle.h"

namespace heddle::rt {

struct Membership {
  unsigned rank = 0, world = 1;
  std::string address; ///< of rank 0
  uint16_t port = 0;
  std::string secret;      ///< empty: loopback only
  uint32_t patienceMs = 0; ///< until all ranks must have come
  std::string source;      ///< "RANK and WORLD_SIZE", for messages
};

/// What the options say, else the environment: RANK and WORLD_SIZE (torchrun), OMPI_COMM_WORLD_RANK
/// and _SIZE, PMI_RANK and PMI_SIZE, SLURM_PROCID and SLURM_NTASKS, in this order.
Status findMembership(const heddle_comm_options &options, Membership &membership);

} // namespace heddle::rt

#endif // HEDDLE_RUNTIME_COMM_ENVIRONMENT_H
