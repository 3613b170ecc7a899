//===- HeddleOps.td - all op families of the heddle dialect -*- tablegen -*-===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_HEDDLE_OPS_TD
#define HEDDLE_HEDDLE_OPS_TD
include "KernelOps.td"
include "GemmOps.td"
include "MoeOps.td"
include "ElementwiseOps.td"
include "CollectiveOps.td"
#endif
