//===- ManifestReader.h - reading dictionary attributes --------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Typed access to the attributes that describe a kernel. They may have been edited by
// hand, so that everything is checked: the first thing found missing or of the wrong
// kind is kept as the error, and reading goes on with empty values.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_LIB_PIPELINES_MANIFESTREADER_H
#define HEDDLE_LIB_PIPELINES_MANIFESTREADER_H

#include "heddle/Package/Expr.h"
#include "heddle/Package/package_generated.h"
#include "heddle/Support/Result.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <optional>
#include <string>
#include <vector>

namespace heddle {

class ManifestReader {
public:
  explicit ManifestReader(std::string where) : where(std::move(where)) {}

  /// The names that expressions may use, in the order of the package.
  std::vector<std::string> symbols;

  bool has(mlir::DictionaryAttr dict, llvm::StringRef key) { return bool(dict.get(key)); }
  std::string text(mlir::DictionaryAttr dict, llvm::StringRef key);
  int64_t integer(mlir::DictionaryAttr dict, llvm::StringRef key);
  /// Missing: empty.
  std::vector<mlir::Attribute> list(mlir::DictionaryAttr dict, llvm::StringRef key);
  /// A list whose elements are dictionaries.
  std::vector<mlir::DictionaryAttr> dictionaries(mlir::DictionaryAttr dict, llvm::StringRef key);
  std::vector<int64_t> integers(mlir::DictionaryAttr dict, llvm::StringRef key);
  /// The same for what the package stores in 32 bits without a sign.
  uint32_t number(mlir::DictionaryAttr dict, llvm::StringRef key);
  std::vector<uint32_t> numbers(mlir::DictionaryAttr dict, llvm::StringRef key);

  int64_t asInteger(mlir::Attribute attr, llvm::StringRef what);
  pkg::DType dtype(llvm::StringRef name);
  /// A postfix array of symbol names, integers and operators; or one of them alone.
  std::unique_ptr<pkg::ExprT> expr(mlir::Attribute attr, llvm::StringRef what);
  /// An integer or the name of a symbol.
  pkg::Dim dim(mlir::Attribute attr, llvm::StringRef what);

  void fail(const llvm::Twine &message);
  bool failed() const { return error.has_value(); }
  Error takeError() { return std::move(*error); }

private:
  uint32_t asNumber(int64_t value, llvm::StringRef what);
  int64_t symbolIndex(llvm::StringRef name, llvm::StringRef what);
  std::string where;
  std::optional<Error> error;
};

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_MANIFESTREADER_H
