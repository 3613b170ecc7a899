// y[i] = x[i] * alpha for the first 128 elements, at the level of nvvm.
llvm.func @scale(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %alpha: f32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>} {
  %i = nvvm.read.ptx.sreg.tid.x : i32
  %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %0 = llvm.load %from : !llvm.ptr<1> -> f32
  %1 = arith.mulf %0, %alpha : f32
  llvm.store %1, %to : f32, !llvm.ptr<1>
  llvm.return
}
