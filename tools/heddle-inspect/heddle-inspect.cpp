//===- heddle-inspect.cpp - shows what a package holds --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Inspect.h"

#include <iostream>

int main(int argc, char **argv) {
  return heddle::pkg::inspectMain(argc, argv, std::cout, std::cerr);
}
