// The same kernel, with the manifest that says how to launch it.
llvm.func @scale(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %alpha: f32)
    attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128>, heddle.manifest = {
      symbols = ["N"],
      args = [{name = "x", kind = "tensor", dtype = "f32", shape = ["N"], strides = []},
              {name = "y", kind = "tensor", dtype = "f32", shape = ["N"], strides = [], output},
              {name = "alpha", kind = "scalar", dtype = "f32"}],
      params = [{kind = "pointer", arg = 0}, {kind = "pointer", arg = 1}, {kind = "f32", arg = 2}],
      maps = [], grid = [["N", 128, "ceil_div"], 1, 1], cluster = [1, 1, 1], block = 128,
      shared_bytes = 0, schedule = "tile=128,stages=1",
      roles = [{name = "scale", first = 0, warps = 4, registers = 0}],
      constraints = [{kind = "multiple_of", expr = ["N"], value = 128, what = "size N"}]}} {
  %i = nvvm.read.ptx.sreg.tid.x : i32
  %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %0 = llvm.load %from : !llvm.ptr<1> -> f32
  %1 = arith.mulf %0, %alpha : f32
  llvm.store %1, %to : f32, !llvm.ptr<1>
  llvm.return
}
