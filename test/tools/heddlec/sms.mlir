// A cap on multiprocessors: the model plans for it, the grid keeps it, a record without it is not
// taken, and a launch can ask for fewer still.
//
// RUN: heddlec %s --arch=sm_90a --sms 20 --explain --ptxas=none -o %t.hdl 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: heddle-inspect %t.hdl | FileCheck %s --check-prefix=GRID
// RUN: heddle-run %t.hdl --device emulator:sm_90a --quiet | FileCheck %s
// RUN: heddle-run %t.hdl --device emulator:sm_90a --sms 3 --quiet | FileCheck %s
// RUN: not heddle-run %t.hdl --device emulator:sm_90a --sms 1000 --quiet 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not heddlec %s --arch=sm_90a --sms 0 -o %t.hdl 2>&1 | FileCheck %s --check-prefix=NONE
//
// WHY: planned for H200 (20 of 132 multiprocessors)
// WHY: variant bulk: {{.*}}sms=20
// WHY: 100 % of the slots filled
// GRID: min(min(sm_count, 20), ceil_div(640, 128)
// CHECK: passed: D relative error
// MANY: expected multiprocessors from 0 (all) to 132, got 1000
// NONE: --sms

heddle.kernel @square(%a: tensor<640x128xbf16>, %b: tensor<512x128xbf16>) -> tensor<640x512xbf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<640x128xbf16>, tensor<512x128xbf16>) -> tensor<640x512xf32>
  %1 = arith.truncf %0 : tensor<640x512xf32> to tensor<640x512xbf16>
  heddle.return %1 : tensor<640x512xbf16>
}
