//===- EmbedObject.h - bytes as an object file -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_PIPELINES_EMBEDOBJECT_H
#define HEDDLE_PIPELINES_EMBEDOBJECT_H

#include "heddle/Support/Result.h"
#include <cstdint>
#include <span>
#include <string>

namespace heddle {

/// An object file for this machine that defines the array `symbol` with these bytes, aligned to
/// 16, and `symbol`_size, a size_t; read-only data. Thread-safe.
Expected<std::string> embedInObject(std::span<const uint8_t> bytes, const std::string &symbol);

} // namespace heddle

#endif // HEDDLE_PIPELINES_EMBEDOBJECT_H
