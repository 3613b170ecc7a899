//===- CSource.h - packages as C code -------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Embeds a package in a program: a header (C11 and C++) and a C11 source file with the
// package's bytes, a function that loads it, and a typed launch function for each
// kernel, over the runtime's C interface. For a file stem `qkv` and a kernel `qkv`:
//
//   extern const unsigned char qkv_hdl[];
//   extern const size_t qkv_hdl_size;
//   heddle_status qkv_load(heddle_device device, heddle_module *module);
//   heddle_status qkv_launch(heddle_module module, heddle_stream stream, int64_t M,
//                            const void *a, const void *b, void *d);
//
// A launch function takes the run-time sizes first, then the arguments: inputs as
// `const void *`, outputs as `void *`, scalars as numbers. Names that C does not take
// (`a.b`, `int`) are changed (`a_b`, `int_`).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_CSOURCE_H
#define HEDDLE_PACKAGE_CSOURCE_H

#include "heddle/Package/Reader.h"
#include "heddle/Support/Result.h"

#include <string>
#include <string_view>

namespace heddle::pkg {

struct CSource {
  std::string header; ///< goes to <stem>.h
  std::string source; ///< goes to <stem>.c, beside it
};

/// `stem` is the name of the files without folder and extension. With `bytesInSource` false the
/// source leaves out `<stem>_hdl` and `<stem>_hdl_size`, which an object file then defines.
Expected<CSource> generateCSource(const PackageFile &package, std::string_view stem,
                                  bool bytesInSource = true);

/// The name of the array that holds the package, `<stem>_hdl` as a C identifier; its size is in
/// the `size_t` of that name with `_size` behind it.
std::string bytesSymbol(std::string_view stem);

/// Generates and writes `<folder>/<stem>.h` and `.c` for a path of either of them, or without
/// extension; each atomically.
Expected<void> writeCSource(const PackageFile &package, const std::string &path);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_CSOURCE_H
