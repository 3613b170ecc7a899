//===- Input.cpp - reading a spec ------------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Input.h"
#include "dialects/Warp/IR/WarpDialect.h"
#include "heddle/Support/Names.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace heddle::tools {

/// Far above any program.
static constexpr size_t mostSpecBytes = size_t{64} << 20;

Expected<std::unique_ptr<llvm::MemoryBuffer>> readSpec(const std::string &path) {
  if (path != "-" && llvm::sys::fs::is_directory(path))
    return Error{ErrorCode::Io, path + ": error: expected a file, got a folder"};
  auto unreadable = [&](const std::string &cause) {
    return Error{ErrorCode::Io, path + ": error: cannot read the spec: " + cause};
  };
  auto file = path == "-" ? llvm::Expected<llvm::sys::fs::file_t>(llvm::sys::fs::getStdinHandle())
                          : llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return unreadable(llvm::errorToErrorCode(file.takeError()).message());
  // By hand: pipes and devices may have no end.
  llvm::SmallString<0> content;
  for (;;) {
    constexpr size_t chunk = 1 << 16;
    size_t before = content.size();
    content.resize_for_overwrite(before + chunk);
    auto got = llvm::sys::fs::readNativeFile(*file, {content.data() + before, chunk});
    content.truncate(before + (got ? *got : 0));
    if (!got || *got == 0 || content.size() > mostSpecBytes) {
      if (path != "-")
        llvm::sys::fs::closeFile(*file);
      if (!got)
        return unreadable(llvm::errorToErrorCode(got.takeError()).message());
      break;
    }
  }
  if (content.size() > mostSpecBytes)
    return Error{ErrorCode::InvalidArgument, path + ": error: expected a spec of at most " +
                                                 std::to_string(mostSpecBytes >> 20) + " MiB"};
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(content, path == "-" ? "<stdin>" : path);
  StringRef text = buffer->getBuffer();
  if (text.trim().empty())
    return Error{ErrorCode::InvalidArgument, path + ": error: expected a spec, got an empty file"};
  for (size_t at = 0; at < text.size(); ++at)
    if (unsigned char c = text[at];
        c < 32 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v')
      return Error{ErrorCode::InvalidArgument, path + ": error: expected text, got byte 0x" +
                                                   llvm::toHex(text.substr(at, 1)) + " at offset " +
                                                   std::to_string(at)};
  return buffer;
}

/// The text of the op that starts at its location: up to the brace that closes its body.
static std::string sourceText(Operation *op, StringRef source) {
  auto location = dyn_cast<FileLineColLoc>(op->getLoc());
  if (!location)
    return "";
  StringRef rest = source;
  for (unsigned line = 1; line < location.getLine(); ++line)
    rest = rest.drop_front(std::min(rest.size(), rest.find('\n') + 1));
  rest = rest.drop_front(std::min<size_t>(rest.size(), location.getColumn() - 1));
  int depth = 0;
  bool inString = false, inComment = false;
  // Braces of attributes come before those of the body; the op ends with the last line that
  // brings the depth back to zero and is not followed by another brace.
  for (size_t at = 0; at < rest.size(); ++at) {
    char c = rest[at];
    if (inComment) {
      inComment = c != '\n';
      continue;
    }
    if (inString) {
      if (c == '\\')
        ++at;
      inString = c != '"';
      continue;
    }
    inString = c == '"';
    inComment = c == '/' && rest.substr(at, 2) == "//";
    if (c == '{' || c == '(' || c == '[')
      ++depth;
    if (c == ')' || c == ']')
      --depth;
    if (c == '}' && --depth == 0) {
      StringRef after = rest.drop_front(at + 1).take_until([](char x) { return x == '\n'; }).trim();
      if (after.empty() || after.starts_with("//") || after.starts_with("}"))
        return rest.take_front(at + 1).str();
    }
  }
  return "";
}

/// What the kernel says it is for.
static Expected<const target::Target *> targetOf(Operation *op, const std::string &name) {
  StringAttr text;
  if (auto kernel = dyn_cast<warp::KernelOp>(op))
    text = kernel.getTargetAttr();
  else if (auto manifest = op->getAttrOfType<DictionaryAttr>("heddle.manifest"))
    text = dyn_cast_or_null<StringAttr>(manifest.get("target"));
  if (!text)
    return nullptr;
  if (const target::Target *found = target::findTarget(text.getValue()))
    return found;
  return Error{ErrorCode::InvalidArgument, "expected the target of kernel @" + name +
                                               " to be one of " + target::knownTargetNames() +
                                               ", got " + text.str()};
}

Expected<std::vector<InputKernel>> findKernels(ModuleOp module, StringRef source,
                                               const std::string &name) {
  std::vector<InputKernel> kernels;
  std::vector<std::string> names;
  std::optional<Error> error;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ModuleOp>(op))
      return WalkResult::advance();
    std::optional<Level> level = levelOf(op);
    if (!level)
      return WalkResult::skip();
    std::string found = SymbolTable::getSymbolName(op).str();
    names.push_back("@" + found);
    if (name.empty() || name == found) {
      if (!isIdentifier(found)) { // the other kernel ops verify it
        op->emitError("expected a kernel to have a name of letters, digits and _, got \"")
            << found << "\"";
        error = Error{ErrorCode::InvalidArgument, "cannot compile @" + found};
      }
      auto target = targetOf(op, found);
      if (!target)
        error = target.takeError();
      else
        kernels.push_back({op, found, *level, sourceText(op, source), *target});
    }
    return WalkResult::skip();
  });
  if (error)
    return std::move(*error);
  if (names.empty())
    return Error{
        ErrorCode::NotFound,
        "expected a kernel (heddle.kernel, warp.kernel or llvm.func with nvvm.kernel), got none"};
  if (kernels.empty())
    return Error{ErrorCode::NotFound,
                 "expected --kernel to be one of " + llvm::join(names, ", ") + ", got @" + name};
  return kernels;
}

OwningOpRef<ModuleOp> isolate(const InputKernel &kernel) {
  auto parent = cast<ModuleOp>(kernel.op->getParentOp());
  OwningOpRef<ModuleOp> module = ModuleOp::create(parent.getLoc());
  module.get()->setDiscardableAttrs(parent->getDiscardableAttrDictionary());
  OpBuilder builder(module->getBodyRegion());
  for (Operation &op : *parent.getBody())
    if (&op == kernel.op || (!levelOf(&op) && !isa<ModuleOp>(op)))
      builder.clone(op);
  return module;
}

} // namespace heddle::tools
