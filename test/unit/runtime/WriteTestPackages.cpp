//===- WriteTestPackages.cpp - the test packages as files -----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// heddle_write_test_packages FOLDER: writes vector_add.hdl (runs on every GPU and the
// emulator), wrong.hdl (the same with a reference that does not agree) and
// other_gpu.hdl (no code that anything here runs).
//
//===----------------------------------------------------------------------===//

#include "TestPackages.h"
#include "comm/GatherPackage.h"
#include "heddle/Package/Writer.h"
#include <cstdio>

using namespace heddle;
using namespace heddle::rt::test;

static bool write(const pkg::PackageT &package, const std::string &path) {
  auto written = pkg::writePackage(package, path);
  if (!written)
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return bool(written);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::string folder = argv[1];
  pkg::PackageT wrong = vectorAddPackage();
  wrong.kernels[0]->nodes[2]->op = pkg::RefOp::mul;
  pkg::PackageT other = vectorAddPackage();
  other.images[0]->target = other.kernels[0]->variants[0]->target = "sm_120a";
  bool done = write(vectorAddPackage(), folder + "/vector_add.hdl") &&
              write(wrong, folder + "/wrong.hdl") && write(other, folder + "/other_gpu.hdl") &&
              write(gatherPackage(), folder + "/all_gather.hdl") &&
              write(gatherPackage(GatherDefect::NoCredit), folder + "/no_credit.hdl");
  return done ? 0 : 1;
}
