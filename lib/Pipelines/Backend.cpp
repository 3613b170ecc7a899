//===- Backend.cpp - from the llvm dialect to PTX --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Pipelines/Backend.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

namespace heddle {

LLVMProgram::LLVMProgram() = default;
LLVMProgram::LLVMProgram(LLVMProgram &&) = default;
LLVMProgram::~LLVMProgram() = default;
LLVMProgram &LLVMProgram::operator=(LLVMProgram &&other) {
  module = std::move(other.module); // before the context that owned it goes
  context = std::move(other.context);
  return *this;
}

void registerTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
}

static const llvm::Target *findBackend(const llvm::Triple &triple, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(triple, error);
}

static Expected<std::unique_ptr<llvm::TargetMachine>> makeMachine(const target::Target &target) {
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *backend = findBackend(triple, error);
  if (!backend)
    return Error{ErrorCode::NotFound, "LLVM was built without NVPTX: " + error};
  // Below Aggressive the register allocator leaves moves in wgmma loops, which ptxas
  // answers by waiting after every instruction (C7517).
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, std::string(target.name), "+ptx" + std::to_string(target.ptxVersion),
      llvm::TargetOptions(), std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return Error{ErrorCode::Unsupported,
                 "LLVM cannot generate code for " + std::string(target.name)};
  return machine;
}

/// wgmma and its like are `.aligned`: all threads of a warp must reach them together.
static void markAssemblyConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm()) {
        call->addFnAttr(llvm::Attribute::Convergent);
        call->addFnAttr(llvm::Attribute::NoUnwind);
      }
}

Expected<LLVMProgram> translate(mlir::ModuleOp module, const target::Target &target) {
  auto machine = makeMachine(target);
  if (!machine)
    return machine.takeError();
  LLVMProgram program;
  program.context = std::make_unique<llvm::LLVMContext>();
  program.module = mlir::translateModuleToLLVMIR(module, *program.context, "heddle");
  if (!program.module)
    return Error{ErrorCode::InvalidArgument, "translation to LLVM IR failed"};
  program.module->setTargetTriple((*machine)->getTargetTriple());
  program.module->setDataLayout((*machine)->createDataLayout());
  markAssemblyConvergent(*program.module);
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (llvm::verifyModule(*program.module, &stream))
    return Error{ErrorCode::InvalidArgument, "invalid LLVM IR: " + errors};
  return program;
}

/// Few passes, since compile time counts: the code generator brings its own CSE, GVN and loop
/// strength reduction, and one round of InstCombine finds nearly all of what two find.
static llvm::FunctionPassManager makePasses() {
  llvm::FunctionPassManager fpm;
  fpm.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  fpm.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  fpm.addPass(llvm::InstCombinePass(
      llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  fpm.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  fpm.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  fpm.addPass(llvm::EarlyCSEPass());
  fpm.addPass(llvm::ADCEPass());
  fpm.addPass(llvm::SimplifyCFGPass());
  return fpm;
}

void optimise(LLVMProgram &program, const target::Target &target) {
  auto machine = makeMachine(target);
  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder builder(machine ? machine->get() : nullptr);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cam, mam);
  llvm::ModulePassManager mpm;
  mpm.addPass(llvm::createModuleToFunctionPassAdaptor(makePasses()));
  mpm.run(*program.module, mam);
}

std::string printLLVM(const LLVMProgram &program) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  program.module->print(stream, nullptr);
  return text;
}

namespace {
/// Keeps errors of the code generator; without it they would end the process.
struct ErrorCollector : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &errors) : errors(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(errors);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    stream << (errors.empty() ? "" : "; ");
    info.print(printer);
    return true;
  }
  std::string &errors;
};

/// Leaves out straight-line strength reduction: it changes next to nothing in our kernels, and
/// takes seconds on one with many stores at constant distances.
struct PassFilter : llvm::OptPassGate {
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != "slsr" && pass != "Straight line strength reduction";
  }
};
} // namespace

Expected<std::string> generatePtx(LLVMProgram program, const target::Target &target) {
  auto machine = makeMachine(target);
  if (!machine)
    return machine.takeError();
  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return Error{ErrorCode::Unsupported, "LLVM cannot emit PTX"};
  std::string errors;
  program.context->setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  static PassFilter filter;
  program.context->setOptPassGate(filter);
  passes.run(*program.module);
  if (!errors.empty())
    return Error{ErrorCode::InvalidArgument, "LLVM cannot generate code: " + errors};
  return std::string(ptx);
}

} // namespace heddle
