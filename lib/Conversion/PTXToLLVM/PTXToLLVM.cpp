//===- PTXToLLVM.cpp - ptx ops to inline assembly --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: anything holding ops with ptx::AsmOpInterface, whose operands and results are
//     integers, floats, 32-bit vectors or LLVM pointers.
// Out: the same, each such op an llvm.inline_asm. `$0`, `$1`, ... of its text are the
//     results, then the operands. Tied operands share the register of their result.
//     An op that touches memory clobbers it and has side effects.
// Cannot: convert operands of other types (index, memref); convert those first.
//
//===----------------------------------------------------------------------===//
#include "heddle/Conversion/PTXToLLVM.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {

/// Pointers into these spaces are 32-bit in PTX, though 64-bit in LLVM.
bool isNarrowPointer(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && (pointer.getAddressSpace() == 3 || pointer.getAddressSpace() == 6);
}

/// The type that stands for `type` inside the assembly.
Type asmType(Type type) {
  return isNarrowPointer(type) ? IntegerType::get(type.getContext(), 32) : type;
}

/// The register class of an asm operand; empty when there is none.
StringRef constraintOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return "l";
  if (type.isF32())
    return "f";
  if (type.isF64())
    return "d";
  unsigned bits = 0;
  if (auto vector = dyn_cast<VectorType>(type))
    bits = vector.getRank() == 1 && vector.getElementType().isIntOrFloat()
               ? vector.getNumElements() * vector.getElementTypeBitWidth()
               : 0;
  else if (type.isIntOrFloat())
    bits = type.getIntOrFloatBitWidth();
  if (isa<VectorType>(type) && bits != 32)
    return "";
  switch (bits) {
  case 1:
    return "b";
  case 16:
    return "h";
  case 32:
    return "r";
  case 64:
    return "l";
  case 128:
    return "q";
  default:
    return "";
  }
}

/// The constraint string, or failure with a diagnostic on `op`.
FailureOr<std::string> constraintsOf(heddle::ptx::AsmOpInterface op) {
  SmallVector<std::string> parts;
  unsigned tied = op.getNumTied();
  if (tied > op->getNumResults() || tied > op->getNumOperands())
    return op->emitOpError("expected at most ")
           << std::min(op->getNumResults(), op->getNumOperands()) << " tied operands, got " << tied;
  for (auto [i, type] : llvm::enumerate(op->getResultTypes())) {
    StringRef reg = constraintOf(asmType(type));
    if (reg.empty())
      return op->emitOpError("expected result ") << i << " to fit a register, got " << type;
    parts.push_back(("=" + reg).str());
  }
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes())) {
    if (i < tied) {
      if (type != op->getResult(i).getType())
        return op->emitOpError("expected tied operand ")
               << i << " to be of type " << op->getResult(i).getType() << ", got " << type;
      parts.push_back(std::to_string(i));
      continue;
    }
    StringRef reg = constraintOf(asmType(type));
    if (reg.empty())
      return op->emitOpError("expected operand ") << i << " to fit a register, got " << type;
    parts.push_back(reg.str());
  }
  if (op.isVolatile())
    parts.push_back("~{memory}");
  return llvm::join(parts, ",");
}

LogicalResult convert(heddle::ptx::AsmOpInterface op) {
  FailureOr<std::string> constraints = constraintsOf(op);
  if (failed(constraints))
    return failure();
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type i32 = b.getI32Type();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isNarrowPointer(operand.getType())
                           ? LLVM::PtrToIntOp::create(b, loc, i32, operand).getResult()
                           : operand);
  SmallVector<Type> types(llvm::map_range(op->getResultTypes(), asmType));
  Type result;
  if (types.size() == 1)
    result = types.front();
  else if (types.size() > 1)
    result = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  auto asmOp = LLVM::InlineAsmOp::create(
      b, loc, result ? TypeRange(result) : TypeRange(), operands, op.getPtxText(), *constraints,
      /*has_side_effects=*/op.isVolatile(), /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
  SmallVector<Value> results;
  for (auto [i, old] : llvm::enumerate(op->getResults())) {
    Value value = asmOp.getRes();
    if (types.size() > 1)
      value = LLVM::ExtractValueOp::create(b, loc, value, i);
    if (isNarrowPointer(old.getType()))
      value = LLVM::IntToPtrOp::create(b, loc, old.getType(), value);
    results.push_back(value);
  }
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

struct ConvertPTXToLLVMPass : PassWrapper<ConvertPTXToLLVMPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ConvertPTXToLLVMPass)
  StringRef getArgument() const final { return "convert-ptx-to-llvm"; }
  StringRef getDescription() const final { return "Turn ptx ops into inline assembly"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<LLVM::LLVMDialect>();
  }
  void runOnOperation() final {
    SmallVector<heddle::ptx::AsmOpInterface> ops;
    getOperation()->walk([&](heddle::ptx::AsmOpInterface op) { ops.push_back(op); });
    for (heddle::ptx::AsmOpInterface op : ops)
      if (failed(convert(op)))
        return signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> heddle::createConvertPTXToLLVMPass() {
  return std::make_unique<ConvertPTXToLLVMPass>();
}

void heddle::registerConvertPTXToLLVMPass() {
  registerPass([] { return createConvertPTXToLLVMPass(); });
}
