//===- Tcgen05.cpp - x ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "KernelLowering.h"
std::unique_ptr<heddle::MmaFamilyLowering> heddle::createTcgen05Lowering(KernelLowering &) { return nullptr; }
