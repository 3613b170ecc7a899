// Where strides are known to suit 16-byte copies, an address that does not is refused: which operand, what
// alignment, and what was found. What no copy brings (C, a bias) may be anywhere.
//
// RUN: heddlec %s --arch=sm_80,sm_90a --ptxas=none -o %t.hdl
// RUN: not heddle-run --device emulator:sm_90a,sms=2 %t.hdl --offset A=1 2>&1 | FileCheck %s --check-prefix=ADDRESS-A
// ADDRESS-A: misaligned: kernel al: expected address of A to be aligned to 16 bytes, got 0x{{[0-9a-f]+}}2 (
// RUN: not heddle-run --device emulator:sm_90a,sms=2 %t.hdl --offset B=4 2>&1 | FileCheck %s --check-prefix=ADDRESS-B
// ADDRESS-B: misaligned: kernel al: expected address of B to be aligned to 16 bytes, got 0x{{[0-9a-f]+}}8 (
// RUN: not heddle-run --device emulator:sm_90a,sms=2 %t.hdl --offset D=1 2>&1 | FileCheck %s --check-prefix=ADDRESS-D
// ADDRESS-D: misaligned: kernel al: expected address of D to be aligned to {{4|16}} bytes, got 0x{{[0-9a-f]+}}2 (
// RUN: not heddle-run --device emulator:sm_80,sms=2 %t.hdl --offset A=1 2>&1 | FileCheck %s --check-prefix=ADDRESS-A
// RUN: heddle-run --device emulator:sm_90a,sms=2 %t.hdl --offset C=1 --offset bias=3 | FileCheck %s --check-prefix=PASSED
// RUN: heddle-run --device emulator:sm_80,sms=2 %t.hdl --offset C=1 --offset bias=3 | FileCheck %s --check-prefix=PASSED
// PASSED: passed: D
//
// A schedule whose copies are by threads takes operands anywhere, more slowly.
// RUN: heddlec %s --arch=sm_80 --schedule copy=threads,store=direct,tile=64x64x64,mma_warps=4 --ptxas=none -o %t.threads.hdl
// RUN: heddle-run --device emulator:sm_80,sms=2 %t.threads.hdl --offset A=1 --offset B=3 | FileCheck %s --check-prefix=PASSED

heddle.kernel @al(%A: tensor<64x64xbf16>, %B: tensor<64x64xbf16>, %C: tensor<64x64xbf16>, %bias: tensor<64xbf16>) -> tensor<64x64xbf16> {
  %0 = heddle.gemm %A, %B transpose_b : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
  %1 = heddle.broadcast %bias along [1] : tensor<64xbf16> to tensor<64x64xbf16>
  %2 = arith.extf %1 : tensor<64x64xbf16> to tensor<64x64xf32>
  %3 = arith.extf %C : tensor<64x64xbf16> to tensor<64x64xf32>
  %4 = arith.addf %0, %2 : tensor<64x64xf32>
  %5 = arith.addf %4, %3 : tensor<64x64xf32>
  %6 = arith.truncf %5 : tensor<64x64xf32> to tensor<64x64xbf16>
  heddle.return %6 : tensor<64x64xbf16>
}
