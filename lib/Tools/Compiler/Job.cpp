//===- Job.cpp - one kernel for one target ---------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Job.h"
#include "dialects/Warp/IR/WarpDialect.h"
#include "heddle/Package/Writer.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace heddle::tools {

std::string Job::describe() const { return "@" + kernel.name + " for " + std::string(target.name); }

std::string Job::fileStem() const { return kernel.name + "." + std::string(target.name); }

/// The level at which --emit is reached.
static Level levelFor(Emit emit) {
  switch (emit) {
  case Emit::Heddle:
    return Level::Heddle;
  case Emit::Warp:
    return Level::Warp;
  case Emit::Roles:
    return Level::Roles;
  case Emit::NVVM:
    return Level::NVVM;
  default:
    return Level::LLVM;
  }
}

std::string Job::print(ModuleOp module) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  OpPrintingFlags flags;
  if (session.options.lineInfo)
    flags.enableDebugInfo();
  module.print(stream, flags);
  return result + "\n";
}

Expected<void> Job::saveTemp(StringRef suffix, StringRef content) {
  const std::string &folder = session.options.saveTemps;
  if (folder.empty())
    return {};
  if (std::error_code ec = llvm::sys::fs::create_directories(folder))
    return Error{ErrorCode::Io, "cannot make the folder " + folder + ": " + ec.message()};
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, fileStem() + "." + suffix);
  return pkg::writeFileAtomically(std::string(path), std::string_view(content));
}

Expected<void> Job::runStage(ModuleOp module, Level from) {
  const CompilerOptions &options = session.options;
  PipelineOptions pipeline;
  pipeline.target = target.name;
  if (options.chip && options.chip->target == target.name)
    pipeline.chip = options.chip->name;
  pipeline.schedule = options.schedule;
  pipeline.lineInfo = options.lineInfo;
  PassManager pm(module->getName());
  addPasses(pm, from, pipeline);
  bool ok = session.timing.measure("passes", [&] { return succeeded(pm.run(module)); });
  if (!ok)
    return Error{ErrorCode::InvalidArgument, "cannot compile kernel " + describe()};
  return {};
}

Expected<void> Job::lower() {
  const CompilerOptions &options = session.options;
  Level goal = levelFor(options.emit), level = kernel.level;
  if (level > goal)
    return Error{ErrorCode::InvalidArgument,
                 "expected --emit to come at or after level " + std::string(levelName(level)) +
                     " of kernel @" + kernel.name + ", got " + std::string(emitName(options.emit))};
  OwningOpRef<ModuleOp> module = isolate(kernel);
  module->walk([&](warp::KernelOp op) { op.setTarget(target.name); });
  for (; level < goal; level = static_cast<Level>(static_cast<int>(level) + 1)) {
    if (auto stage = runStage(*module, level); !stage)
      return stage;
    auto reached = static_cast<Level>(static_cast<int>(level) + 1);
    if (!options.saveTemps.empty())
      if (auto saved = saveTemp(std::string(levelName(reached)) + ".mlir", print(*module)); !saved)
        return saved;
  }
  if (goal != Level::LLVM) {
    text = print(*module);
    return {};
  }
  if (auto entries = collectEntries(*module); !entries)
    return entries;
  auto translated = session.timing.measure("translate", [&] { return translate(*module, target); });
  if (!translated)
    return translated.takeError().in(describe());
  program = std::move(*translated);
  return {};
}

Expected<void> Job::collectEntries(ModuleOp module) {
  compiled.name = kernel.name;
  if (kernel.level == Level::Heddle)
    compiled.spec = kernel.text; // else the interface holds what the user wrote at first
  compiled.target = &target;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!levelOf(function))
      continue;
    compiled.entries.push_back({function.getSymName().str()});
    attributes.emplace_back(function->getAttrOfType<DictionaryAttr>("heddle.manifest"),
                            function->getAttrOfType<DictionaryAttr>("heddle.interface"));
    function->removeAttr("heddle.manifest");
    function->removeAttr("heddle.interface");
    if (!attributes.back().first && session.options.emit >= Emit::Package)
      return Error{ErrorCode::InvalidArgument,
                   "expected attribute heddle.manifest on @" + function.getSymName().str() +
                       ", which says how to launch it; without it, --emit=cubin still works"};
  }
  for (auto [entry, attribute] : llvm::zip(compiled.entries, attributes)) {
    entry.manifest = &attribute.first;
    entry.interface = attribute.second ? &attribute.second : nullptr;
  }
  return {};
}

Expected<void> Job::finish() {
  const CompilerOptions &options = session.options;
  Timing &timing = session.timing;
  if (levelFor(options.emit) != Level::LLVM)
    return {};
  timing.measure("llvm passes", [&] { optimise(program, target); });
  if (options.emit == Emit::LLVM || !options.saveTemps.empty()) {
    text = printLLVM(program);
    if (auto saved = saveTemp("ll", text); !saved || options.emit == Emit::LLVM)
      return saved;
  }
  auto ptx = timing.measure("ptx", [&] { return generatePtx(std::move(program), target); });
  if (!ptx)
    return ptx.takeError().in(describe());
  if (auto saved = saveTemp("ptx", *ptx); !saved)
    return saved;
  if (options.emit == Emit::Ptx)
    text = *ptx;
  compiled.ptx = std::move(*ptx);
  if (options.emit == Emit::Ptx || !session.ptxas)
    return {};
  AssembleOptions assembling;
  assembling.lineInfo = options.lineInfo;
  assembling.timeout = std::chrono::seconds(options.ptxasSeconds);
  auto assembly = timing.measure("ptxas", [&] {
    return assemble(*session.ptxas, compiled.ptx, target, assembling, session.cache);
  });
  if (!assembly)
    return assembly.takeError().in(describe());
  reports = std::move(assembly->reports);
  fromCache = assembly->cached;
  for (CompiledEntry &entry : compiled.entries)
    for (const PtxasReport &report : reports)
      if (report.entry == entry.entry)
        entry.registers = report.registers;
  compiled.cubin = std::move(assembly->cubin);
  if (auto saved = saveTemp("cubin", compiled.cubin); !saved)
    return saved;
  return saveTemp("ptxas.txt", assembly->output);
}

} // namespace heddle::tools
