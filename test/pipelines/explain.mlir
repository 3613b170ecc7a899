// Why this schedule, and what was rejected for which named reason.
//
// RUN: heddlec %s --chip=H800 --explain --emit=warp -o /dev/null 2>&1 | FileCheck %s
// CHECK: @linear for sm_90a, planned for H800 (132 multiprocessors)
// CHECK-NEXT: variant bulk: tile=
// CHECK: why: the fastest that the model predicts
// CHECK: candidates: {{[0-9]+}}, best first
// CHECK: rejected: {{[0-9]+}} schedules
// CHECK: {{[0-9]+}} {{[a-z-]+}}; e.g. tile=
// CHECK-NEXT: expected {{.*}}, got
//
// RUN: heddlec %s --arch=sm_90a --schedule tile=128x128x64,stages=4 --explain --emit=warp -o /dev/null 2>&1 | FileCheck %s --check-prefix=GIVEN
// GIVEN: variant bulk: tile=128x128x64,stages=4
// GIVEN: why: given by --schedule
//
// A schedule that cannot fit: which limit, need and have, at the kernel.
// RUN: not heddlec %s --arch=sm_90a --schedule tile=256x256x64,stages=8 --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: explain.mlir:[[#]]:1: error: the given schedule cannot be used ({{[a-z-]+}}):
// LIMIT: heddlec: error: cannot compile kernel @linear for sm_90a
// What setmaxnreg cannot ask for is said before what the accumulators would need.
// RUN: not heddlec %s --arch=sm_90a --schedule mma_registers=7 --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=SEVEN
// SEVEN: the given schedule cannot be used (register-pool): expected mma registers to be a multiple of 8 from 24 to 256, got 7
// RUN: not ls %t.ptx

heddle.kernel @linear(%x: tensor<?x7168xbf16>, %w: tensor<2112x7168xbf16>) -> tensor<?x2112xbf16> {
  %0 = heddle.gemm %x, %w transpose_b : (tensor<?x7168xbf16>, tensor<2112x7168xbf16>) -> tensor<?x2112xf32>
  %1 = arith.truncf %0 : tensor<?x2112xf32> to tensor<?x2112xbf16>
  heddle.return %1 : tensor<?x2112xbf16>
}
