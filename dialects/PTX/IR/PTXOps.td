//===- PTXOps.td - all op families of the ptx dialect -*- tablegen -*- ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PTX_OPS_TD
#define HEDDLE_PTX_OPS_TD
include "PTXDialect.td"
include "SyncOps.td"
include "MemoryOps.td"
include "WgmmaOps.td"
include "MathOps.td"
include "MmaOps.td"
include "Tcgen05Ops.td"
include "PeerOps.td"
#endif
