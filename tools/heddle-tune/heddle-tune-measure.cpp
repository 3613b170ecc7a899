//===- heddle-tune-measure.cpp ---------------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Tuning/Tools.h"

int main(int argc, char **argv) {
  return heddle::measure::measureMain(argc, argv, "heddle-tune-measure");
}
