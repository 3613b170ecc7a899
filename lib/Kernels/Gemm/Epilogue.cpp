//===- Epilogue.cpp - one element of the result as scalar operations ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Epilogue.h"
#include "dialects/Warp/IR/WarpDialect.h"

using namespace mlir;

namespace heddle::kernels {

static Value load(OpBuilder &b, const ElementNode &node, ValueRange point, ValueRange arguments) {
  SmallVector<Value> indices;
  for (int64_t dim : node.indexMap)
    indices.push_back(point[dim]);
  Type element = cast<MemRefType>(arguments[node.arg].getType()).getElementType();
  Value x = warp::ReadOp::create(b, node.loc, element, arguments[node.arg], indices);
  return x.getType().isF32() ? x : arith::ExtFOp::create(b, node.loc, b.getF32Type(), x);
}

static Value compute(OpBuilder &b, const ElementNode &node, ValueRange inputs) {
  OperationState state(node.loc, node.op);
  state.addOperands(inputs);
  state.addTypes(b.getF32Type());
  if (node.approximate)
    state.addAttribute("fastmath",
                       arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::afn));
  return b.create(state)->getResult(0);
}

Value emitElement(OpBuilder &b, const ElementGraph &graph, Value product, ValueRange point,
                  ValueRange arguments, Type type) {
  using Kind = ElementNode::Kind;
  Type f32 = b.getF32Type();
  SmallVector<Value> values;
  for (auto [i, node] : llvm::enumerate(graph.nodes)) {
    SmallVector<Value> in;
    for (unsigned id : node.inputs)
      in.push_back(values[id]);
    switch (node.kind) {
    case Kind::Load:
      values.push_back(load(b, node, point, arguments));
      break;
    case Kind::Scalar:
      values.push_back(arguments[node.arg]);
      break;
    case Kind::Constant:
      values.push_back(arith::ConstantOp::create(
          b, node.loc, b.getF32FloatAttr(static_cast<float>(node.value))));
      break;
    case Kind::Product:
      values.push_back(product);
      break;
    case Kind::Round: {
      Value narrow = arith::TruncFOp::create(b, node.loc, node.type, in[0]);
      if (i == graph.root && node.type == type)
        return narrow; // the last node, since inputs come first
      values.push_back(arith::ExtFOp::create(b, node.loc, f32, narrow));
      break;
    }
    case Kind::Compute:
      values.push_back(compute(b, node, in));
      break;
    case Kind::Compare:
      values.push_back(arith::CmpFOp::create(b, node.loc, node.predicate, in[0], in[1]));
      break;
    case Kind::Select:
      values.push_back(arith::SelectOp::create(b, node.loc, in[0], in[1], in[2]));
      break;
    }
  }
  Value root = values[graph.root];
  if (!type.isF32())
    root = arith::TruncFOp::create(b, root.getLoc(), type, root);
  return root;
}

} // namespace heddle::kernels
