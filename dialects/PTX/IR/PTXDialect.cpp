//===- PTXDialect.cpp - registration, and texts of the memory ops ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/PTX/IR/OpText.h"
#include "dialects/PTX/IR/PTXDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace heddle::ptx;

#include "dialects/PTX/IR/PTXDialect.cpp.inc"
#include "dialects/PTX/IR/PTXInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/PTX/IR/PTXOps.cpp.inc"

void PTXDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/PTX/IR/PTXOps.cpp.inc"
      >();
}

/// A tensor has 1 to 5 dimensions.
static LogicalResult verifyCoordinates(Operation *op, OperandRange coordinates) {
  if (coordinates.empty() || coordinates.size() > 5)
    return op->emitOpError("expected 1 to 5 coordinates, got ") << coordinates.size();
  return success();
}

LogicalResult BulkTensorLoadOp::verify() { return verifyCoordinates(*this, getCoordinates()); }
LogicalResult BulkTensorLoadMulticastOp::verify() {
  return verifyCoordinates(*this, getCoordinates());
}
LogicalResult BulkTensorStoreOp::verify() { return verifyCoordinates(*this, getCoordinates()); }

std::string BulkTensorLoadOp::getPtxText() {
  unsigned rank = getCoordinates().size();
  return llvm::formatv("cp.async.bulk.tensor.{0}d.shared::cta.global.mbarrier::complete_tx::"
                       "bytes [$0], [$1, {1}], [$2];",
                       rank, operandList(3, rank));
}

std::string BulkTensorLoadMulticastOp::getPtxText() {
  unsigned rank = getCoordinates().size();
  return llvm::formatv("cp.async.bulk.tensor.{0}d.shared::cluster.global.mbarrier::complete_tx::"
                       "bytes.multicast::cluster [$0], [$1, {1}], [$2], $3;",
                       rank, operandList(4, rank));
}

std::string MBarrierWaitClusterOp::getPtxText() {
  return llvm::formatv("{{\n\t.reg .pred p;\n\tWAIT: mbarrier.try_wait.parity.{0}.cluster.shared"
                       "::cta.b64 p, [$0], $1;\n\t@p bra DONE;\n\tbra WAIT;\n\tDONE:\n\t}",
                       getAcquire() ? "acquire" : "relaxed");
}

std::string MBarrierArriveRemoteIfOp::getPtxText() {
  return llvm::formatv("{{\n\t.reg .pred p;\n\tsetp.ne.b32 p, $1, 0;\n\t@p mbarrier.arrive.{0}."
                       "cluster.shared::cluster.b64 _, [$0];\n\t}",
                       getRelease() ? "release" : "relaxed");
}

std::string BulkTensorStoreOp::getPtxText() {
  unsigned rank = getCoordinates().size();
  return llvm::formatv("cp.async.bulk.tensor.{0}d.global.shared::cta.bulk_group [$1, {1}], [$0];",
                       rank, operandList(2, rank));
}

std::string BulkWaitReadOp::getPtxText() {
  return llvm::formatv("cp.async.bulk.wait_group.read {0};", getPending());
}

std::string BulkWaitOp::getPtxText() {
  return llvm::formatv("cp.async.bulk.wait_group {0};", getPending());
}

std::string LoadBelowOp::getPtxText() {
  return "{\n\t.reg .pred p;\n\tsetp.gt.s32 p, $2, " + std::to_string(getIndex()) +
         ";\n\tmov.f32 $0, 0f00000000;\n\t@p ld.global.nc.f32 $0, [$1+" +
         std::to_string(getOffset()) + "];\n\t}";
}
bool LoadBelowOp::isVolatile() { return false; }

std::string CvtF8x2Op::getPtxText() {
  return "cvt.rn.satfinite." + getType().str() + "x2.f32 $0, $1, $2;";
}
bool CvtF8x2Op::isVolatile() { return false; }

LogicalResult CvtF8x2Op::verify() {
  if (getType() != "e4m3" && getType() != "e5m2")
    return emitOpError("expected type e4m3 or e5m2, got ") << getType();
  return success();
}

std::string StMatrixOp::getPtxText() {
  unsigned count = getValues().size();
  return llvm::formatv("stmatrix.sync.aligned.m8n8.x{0}{1}.shared.b16 [$0], {2};", count,
                       getTransposed() ? ".trans" : "", operandList(1, count));
}

LogicalResult StMatrixOp::verify() {
  unsigned count = getValues().size();
  if (count != 1 && count != 2 && count != 4)
    return emitOpError("expected 1, 2 or 4 matrices, got ") << count;
  return success();
}
