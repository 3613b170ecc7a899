//===- EmbedObject.cpp - bytes as an object file ---------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Pipelines/EmbedObject.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <mutex>

namespace heddle {

static void addConstant(llvm::Module &module, llvm::Constant *value, const std::string &name,
                        unsigned alignment) {
  auto *global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::ExternalLinkage, value, name);
  global->setAlignment(llvm::Align(alignment));
}

static Expected<std::unique_ptr<llvm::TargetMachine>> makeHostMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return Error{ErrorCode::Unsupported, "cannot make object files for this machine: " + error};
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, "generic", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
}

Expected<std::string> embedInObject(std::span<const uint8_t> bytes, const std::string &symbol) {
  auto machine = makeHostMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Module module(symbol, context);
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  llvm::StringRef text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  addConstant(module, llvm::ConstantDataArray::getString(context, text, /*AddNull=*/false), symbol,
              16);
  llvm::IntegerType *sizeType = module.getDataLayout().getIntPtrType(context);
  addConstant(module, llvm::ConstantInt::get(sizeType, bytes.size()), symbol + "_size",
              sizeType->getBitWidth() / 8);
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Error{ErrorCode::Unsupported, "LLVM cannot make object files for this machine"};
  passes.run(module);
  return std::string(object);
}

} // namespace heddle
