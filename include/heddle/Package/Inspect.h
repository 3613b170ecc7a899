//===- Inspect.h - packages for people to read ----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What heddle-inspect does: a package as text and as JSON, and its images as files.
// Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PACKAGE_INSPECT_H
#define HEDDLE_PACKAGE_INSPECT_H

#include "heddle/Package/Reader.h"
#include "heddle/Support/Result.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace heddle::pkg {

/// The package, or only the kernel of that name (and its images), as text for a terminal.
std::string describePackage(const PackageFile &package, const Kernel *only = nullptr);

/// The same as JSON: everything but PTX and cubins, of which it gives the sizes. Expressions are
/// text, as printExpr gives it.
std::string packageJson(const PackageFile &package, const Kernel *only = nullptr);

/// The kernels' specs, as the user wrote them; control characters are escaped.
std::string packageSpecs(const PackageFile &package, const Kernel *only = nullptr);

enum class ImageForm : uint8_t { Ptx, Cubin };

/// Writes each image of a form to `<folder>/<stem>.<target>.ptx` (or `.cubin`); an index follows
/// the target where it repeats. Makes the folder. Gives the paths written.
Expected<std::vector<std::string>> extractImages(const PackageFile &package, ImageForm form,
                                                 const std::string &folder, const std::string &stem,
                                                 const Kernel *only = nullptr);

/// The whole of heddle-inspect; the result is its exit status: 0, 1 for an error, 2 for a wrong
/// command line.
int inspectMain(int argc, const char *const *argv, std::ostream &out, std::ostream &err);

} // namespace heddle::pkg

#endif // HEDDLE_PACKAGE_INSPECT_H
