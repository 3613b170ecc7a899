// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_90a | FileCheck %s

// What callers and checkers need: arguments in order with the result last, run-time sizes, the
// reference program, operations and constraints. Dimension 2 of the reference is k.
// CHECK: heddle.interface = {
// CHECK-SAME: args = [{dtype = "bf16", kind = "tensor", name = "A", output = false, shape = ["M", 64], strides = []},
// CHECK-SAME: {dtype = "bf16", kind = "tensor", name = "B", output = false, shape = [64, "N"], strides = []},
// CHECK-SAME: {dtype = "f32", kind = "tensor", name = "bias", output = false, shape = ["N"], strides = []},
// CHECK-SAME: {dtype = "f32", kind = "scalar", name = "alpha"},
// CHECK-SAME: {dtype = "bf16", kind = "tensor", name = "out", output = true, shape = ["M", "N"], strides = []}]
// CHECK-SAME: constraints = [{expr = ["M"], kind = "at_least", value = 0 : i64, what = "size M"}, {expr = ["M"], kind = "at_most", value = 2147483647 : i64, what = "size M"}, {expr = ["N"], kind = "at_least"
// CHECK-SAME: flops = [2, "M", "mul", "N", "mul", 64, "mul"]
// CHECK-SAME: kernel = "k"
// CHECK-SAME: nodes = [{arg = 0 : i64, index_map = array<i64: 0, 2>, op = "load"},
// CHECK-SAME: {arg = 1 : i64, index_map = array<i64: 2, 1>, op = "load"},
// CHECK-SAME: {extent = [64], inputs = array<i64: 0, 1>, op = "contract"},
// CHECK-SAME: {arg = 3 : i64, index_map = array<i64>, op = "load"},
// CHECK-SAME: {inputs = array<i64: 2, 3>, op = "mul"},
// CHECK-SAME: {arg = 2 : i64, index_map = array<i64: 1>, op = "load"},
// CHECK-SAME: {inputs = array<i64: 4, 5>, op = "add"},
// CHECK-SAME: {dtype = "bf16", inputs = array<i64: 6>, op = "round"}]
// CHECK-SAME: outputs = [{arg = 4 : i64, node = 7 : i64}]
// CHECK-SAME: spec = "heddle.kernel @k(%A: tensor<?x64xbf16>,
// CHECK-SAME: symbols = ["M", "N"]
heddle.kernel @k(%A: tensor<?x64xbf16>, %B: tensor<64x?xbf16>, %bias: tensor<?xf32>, %alpha: f32)
    -> (tensor<?x?xbf16> {heddle.name = "out"}) {
  %0 = heddle.gemm %A, %B : (tensor<?x64xbf16>, tensor<64x?xbf16>) -> tensor<?x?xf32>
  %1 = heddle.splat %alpha : tensor<?x?xf32>
  %2 = arith.mulf %0, %1 : tensor<?x?xf32>
  %3 = heddle.broadcast %bias along [1] : tensor<?xf32> to tensor<?x?xf32>
  %4 = arith.addf %2, %3 : tensor<?x?xf32>
  %5 = arith.truncf %4 : tensor<?x?xf32> to tensor<?x?xbf16>
  heddle.return %5 : tensor<?x?xbf16>
}
