//===- InspectFormat.h - pieces of packages as text -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to heddle_inspect: what its text and its JSON have in common.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_PACKAGE_INSPECTFORMAT_H
#define HEDDLE_LIB_PACKAGE_INSPECTFORMAT_H

#include "heddle/Package/Reader.h"

#include <string>
#include <string_view>

namespace heddle::pkg::detail {

using Exprs = flatbuffers::Vector<flatbuffers::Offset<Expr>>;

std::string padded(std::string text, size_t width);
/// "[M, 64]".
std::string dimsText(const flatbuffers::Vector<const Dim *> *dims, const Kernel &kernel);
std::string exprsText(const Exprs *exprs, const Kernel &kernel);
std::string numbersText(const flatbuffers::Vector<uint32_t> *numbers);
/// "ceil_div(M, 128) x 1 x 1".
std::string crossText(const Exprs *exprs, const Kernel &kernel);
std::string crossText(const flatbuffers::Vector<uint32_t> *numbers);
/// "M (M) at most 4096".
std::string constraintText(const Constraint &constraint, const Kernel &kernel);
/// "i64 K * 2", "tensor map 0 of a".
std::string paramText(const Param &param, const Variant &variant, const Kernel &kernel);
/// "none", "128".
std::string swizzleText(Swizzle swizzle);
/// "9.0" for 90.
std::string ptxVersionText(uint32_t version);
/// UTF-8 without control characters (but newlines and tabs); what is not, as \xNN.
std::string printableText(std::string_view text);
/// Whether a variant of the kernel uses that image; every image is used by no kernel in particular.
bool usesImage(const Kernel *kernel, uint32_t image);

} // namespace heddle::pkg::detail

#endif // HEDDLE_LIB_PACKAGE_INSPECTFORMAT_H
