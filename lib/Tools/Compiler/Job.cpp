//===- Job.cpp - one kernel for one target ---------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Job.h"
#include "dialects/Heddle/IR/HeddleDialect.h"
#include "dialects/Warp/IR/WarpDialect.h"
#include "heddle/Package/Writer.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace heddle::tools {

std::string Job::describe() const { return "@" + kernel.name + " for " + std::string(target.name); }

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

Expected<void> Job::saveTemp(const std::string &name, StringRef suffix, StringRef content) {
  const std::string &folder = session.options.saveTemps;
  if (folder.empty())
    return {};
  if (std::error_code ec = llvm::sys::fs::create_directories(folder))
    return Error{ErrorCode::Io, "cannot make the folder " + folder + ": " + ec.message()};
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, fileStem(name) + "." + suffix);
  return pkg::writeFileAtomically(std::string(path), std::string_view(content));
}

Expected<void> Job::runStage(ModuleOp module, Level from) {
  const CompilerOptions &options = session.options;
  PipelineOptions pipeline;
  pipeline.target = target.name;
  if (options.chip && options.chip->target == target.name)
    pipeline.chip = options.chip->name;
  pipeline.schedule = options.schedule, pipeline.sms = options.sms;
  if (record && llvm::none_of(givenUp, [&](const GivenUp &g) {
        return tuning::sameRegisters(g.schedule, record->schedule);
      }))
    pipeline.schedule = tuning::toString(record->schedule);
  for (const GivenUp &g : givenUp)
    pipeline.avoid += (pipeline.avoid.empty() ? "" : ";") + tuning::toString(g.schedule);
  pipeline.lineInfo = options.lineInfo;
  PassManager pm(module->getName());
  // The verifier between passes finds our mistakes, not the user's. Of the last stage LLVM checks
  // the result.
  pm.enableVerifier(from != Level::NVVM);
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
      if (auto saved =
              saveTemp(kernel.name, std::string(levelName(reached)) + ".mlir", print(*module));
          !saved)
        return saved;
  }
  if (goal == Level::LLVM)
    return makeUnits(*module);
  text = print(*module);
  return {};
}

/// The kernel functions of a module at Level::LLVM.
static SmallVector<LLVM::LLVMFuncOp> entriesOf(ModuleOp module) {
  return llvm::to_vector(
      llvm::make_filter_range(module.getOps<LLVM::LLVMFuncOp>(),
                              [](LLVM::LLVMFuncOp f) { return levelOf(f).has_value(); }));
}

/// Packages hold one image an entry, so that entries go through the back end side by side; as
/// PTX or cubin they stay together.
Expected<void> Job::makeUnits(ModuleOp module) {
  SmallVector<LLVM::LLVMFuncOp> entries = entriesOf(module);
  if (session.options.emit < Emit::Package || entries.size() == 1)
    return addUnit(module, kernel.name);
  for (LLVM::LLVMFuncOp entry : entries) {
    OwningOpRef<ModuleOp> part = module.clone();
    for (LLVM::LLVMFuncOp other : entriesOf(*part))
      if (other.getSymName() != entry.getSymName())
        other.erase();
    if (auto added = addUnit(*part, entry.getSymName().str()); !added)
      return added;
  }
  return {};
}

Expected<void> Job::addUnit(ModuleOp module, std::string name) {
  auto unit = std::make_unique<Unit>();
  unit->name = std::move(name);
  CompiledKernel &compiled = unit->compiled;
  compiled.name = kernel.name;
  if (kernel.level == Level::Heddle)
    compiled.spec = kernel.text; // else the interface holds what the user wrote at first
  compiled.target = &target;
  for (LLVM::LLVMFuncOp function : entriesOf(module)) {
    CompiledEntry entry;
    entry.entry = function.getSymName().str();
    entry.manifest = function->getAttrOfType<DictionaryAttr>("heddle.manifest");
    entry.interface = function->getAttrOfType<DictionaryAttr>("heddle.interface");
    function->removeAttr("heddle.manifest");
    function->removeAttr("heddle.interface");
    if (!entry.manifest && session.options.emit >= Emit::Package)
      return Error{ErrorCode::InvalidArgument,
                   "expected attribute heddle.manifest on @" + entry.entry +
                       ", which says how to launch it; without it, --emit=cubin still works"};
    compiled.entries.push_back(std::move(entry));
  }
  auto translated = session.timing.measure("translate", [&] { return translate(module, target); });
  if (!translated)
    return translated.takeError().in(describe());
  unit->program = std::move(*translated);
  units.push_back(std::move(unit));
  return {};
}

Expected<void> Job::finish(Unit &unit) {
  const CompilerOptions &options = session.options;
  session.timing.measure("llvm passes", [&] { optimise(unit.program, target); });
  if (options.emit == Emit::LLVM || !options.saveTemps.empty()) {
    unit.text = printLLVM(unit.program);
    if (auto saved = saveTemp(unit.name, "ll", unit.text); !saved || options.emit == Emit::LLVM)
      return saved;
  }
  auto ptx =
      session.timing.measure("ptx", [&] { return generatePtx(std::move(unit.program), target); });
  if (!ptx)
    return ptx.takeError().in(describe());
  if (auto saved = saveTemp(unit.name, "ptx", *ptx); !saved)
    return saved;
  unit.compiled.ptx = std::move(*ptx);
  if (options.emit == Emit::Ptx) {
    unit.text = unit.compiled.ptx;
    return {};
  }
  return session.ptxas ? assembleUnit(unit) : Expected<void>();
}

Expected<void> Job::assembleUnit(Unit &unit) {
  AssembleOptions assembling;
  assembling.lineInfo = session.options.lineInfo;
  assembling.timeout = std::chrono::seconds(session.options.ptxasSeconds);
  auto assembly = session.timing.measure("ptxas", [&] {
    return assemble(*session.ptxas, unit.compiled.ptx, target, assembling, session.cache);
  });
  if (!assembly)
    return assembly.takeError().in(describe());
  unit.reports = std::move(assembly->reports);
  unit.losses = std::move(assembly->losses);
  unit.fromCache = assembly->cached;
  for (CompiledEntry &entry : unit.compiled.entries)
    for (const PtxasReport &report : unit.reports)
      if (report.entry == entry.entry)
        entry.registers = report.registers;
  unit.compiled.cubin = std::move(assembly->cubin);
  if (auto saved = saveTemp(unit.name, "cubin", unit.compiled.cubin); !saved)
    return saved;
  return saveTemp(unit.name, "ptxas.txt", assembly->output);
}

//===----------------------------------------------------------------------===//
// Other schedules after ptxas lost something
//===----------------------------------------------------------------------===//

bool Job::hasLosses() const {
  return llvm::any_of(units, [](const auto &unit) { return !unit->losses.empty(); });
}

/// The schedule of an entry, when it is the model's choice: nobody gave one, or the entry is the
/// form for any alignment, which takes none.
std::optional<tuning::Schedule> Job::chosenByModel(const Unit &unit,
                                                   const std::string &entry) const {
  auto spec = dyn_cast<spec::KernelOp>(kernel.op);
  if (!spec)
    return std::nullopt;
  bool given = !session.options.schedule.empty() || spec.getSchedule();
  if (given && entry == kernel.name)
    return std::nullopt;
  for (const CompiledEntry &compiled : unit.compiled.entries)
    if (compiled.entry == entry && compiled.manifest)
      if (auto text = compiled.manifest.getAs<StringAttr>("schedule"))
        return tuning::parse(text.getValue(), tuning::Schedule(), nullptr);
  return std::nullopt;
}

Error Job::describeLosses() const {
  std::string text;
  for (const auto &unit : units)
    for (const Assembly::Loss &loss : unit->losses)
      text += (text.empty() ? "" : "\n") + loss.explanation;
  if (!givenUp.empty()) {
    text += "\n  the model's schedules before that were given up for the same reason:";
    for (const GivenUp &g : givenUp)
      text += "\n    " + tuning::toString(g.schedule) + "\n      " + g.cause;
    text += "\n  remedy: give a schedule with --schedule";
  }
  return Error{ErrorCode::Unsupported, std::move(text)}.in(describe());
}

Expected<void> Job::retry() {
  Error losses = describeLosses();
  if (retries++ == mostRetries)
    return losses;
  for (const auto &unit : units)
    for (const Assembly::Loss &loss : unit->losses) {
      std::optional<tuning::Schedule> schedule = chosenByModel(*unit, loss.entry);
      if (!schedule)
        return losses;
      auto [first, rest] = StringRef(loss.explanation).split('\n');
      givenUp.push_back({*schedule, loss.entry, rest.split('\n').first.trim().str()});
    }
  units.clear();
  if (!lower())
    return losses; // what was left does not fit; the diagnostics say so
  return {};
}

} // namespace heddle::tools
