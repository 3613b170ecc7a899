// REQUIRES: ptxas
// 8-bit operands compile to machine code, without spills or serialised tensor cores, for every
// target that multiplies them, and give right results on its emulated device.
//
// RUN: heddlec %s --arch=sm_89,sm_90a,sm_100a,sm_103a,sm_120a -o %t.hdl
// RUN: not heddlec %s --arch=sm_80 -o %t.80.hdl 2>&1 | FileCheck %s --check-prefix=AMPERE
// AMPERE: unsupported type: the tensor cores of sm_80 do not take f8E4M3FN; targets that do: sm_89, sm_90a, sm_100a, sm_103a, sm_120a
//
// DEFINE: %{kernel} =
// DEFINE: %{sizes} =
// DEFINE: %{run} = heddle-run %t.hdl --kernel %{kernel} %{sizes}
//
// REDEFINE: %{kernel} = tensor
// REDEFINE: %{sizes} = --size M=65 --scalar alpha=0.5
// RUN: %{run} --device=emulator:sm_89 | FileCheck %s
// RUN: %{run} --device=emulator:sm_90a | FileCheck %s
// RUN: %{run} --device=emulator:sm_100a | FileCheck %s
// RUN: %{run} --device=emulator:sm_120a | FileCheck %s
//
// REDEFINE: %{kernel} = rows
// REDEFINE: %{sizes} = --size M=65 --size N=40 --size K=80
// RUN: %{run} --device=emulator:sm_89 | FileCheck %s
// RUN: %{run} --device=emulator:sm_90a | FileCheck %s
// RUN: %{run} --device=emulator:sm_103a | FileCheck %s
//
// REDEFINE: %{kernel} = blocks
// REDEFINE: %{sizes} = --size M=65
// RUN: %{run} --device=emulator:sm_89 | FileCheck %s
// RUN: %{run} --device=emulator:sm_90a | FileCheck %s
// RUN: %{run} --device=emulator:sm_100a | FileCheck %s
// RUN: %{run} --device=emulator:sm_120a | FileCheck %s
//
// REDEFINE: %{kernel} = gradient
// REDEFINE: %{sizes} = --size M=65 --size K=256 --size K_blocks=2
// RUN: %{run} --device=emulator:sm_89 | FileCheck %s
// RUN: %{run} --device=emulator:sm_90a | FileCheck %s
// RUN: %{run} --device=emulator:sm_103a | FileCheck %s
//
// REDEFINE: %{kernel} = result
// REDEFINE: %{sizes} = --size M=65 --scalar scale=0.0625
// RUN: %{run} --device=emulator:sm_89 | FileCheck %s
// RUN: %{run} --device=emulator:sm_90a | FileCheck %s
// RUN: %{run} --device=emulator:sm_103a | FileCheck %s
// RUN: %{run} --device=emulator:sm_120a | FileCheck %s
// CHECK: passed: D relative error
//
// Sizes that scales do not fit are refused before anything runs.
// REDEFINE: %{kernel} = gradient
// REDEFINE: %{sizes} = --size M=65 --size K=200 --size K_blocks=2
// RUN: not %{run} --device=emulator:sm_90a 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// MULTIPLE: size K, which scales divide into blocks
// REDEFINE: %{sizes} = --size M=65 --size K=256 --size K_blocks=3
// RUN: not %{run} --device=emulator:sm_90a 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: K_blocks x 128 less K

// One scale for everything.
heddle.kernel @tensor(%a: tensor<?x200xf8E4M3FN>, %b: tensor<72x200xf8E4M3FN>, %alpha: f32) -> tensor<?x72xbf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x200xf8E4M3FN>, tensor<72x200xf8E4M3FN>) -> tensor<?x72xf32>
  %1 = heddle.splat %alpha : tensor<?x72xf32>
  %2 = arith.mulf %0, %1 : tensor<?x72xf32>
  %3 = arith.truncf %2 : tensor<?x72xf32> to tensor<?x72xbf16>
  heddle.return %3 : tensor<?x72xbf16>
}

// One scale a row of A and one a column of B; operands of both types, neither K-major in memory.
heddle.kernel @rows(%a: tensor<?x?xf8E4M3FN>, %b: tensor<?x?xf8E5M2>, %r: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = heddle.gemm %a, %b transpose_a : (tensor<?x?xf8E4M3FN>, tensor<?x?xf8E5M2>) -> tensor<?x?xf32>
  %1 = heddle.broadcast %r along [0] : tensor<?xf32> to tensor<?x?xf32>
  %2 = heddle.broadcast %c along [1] : tensor<?xf32> to tensor<?x?xf32>
  %3 = arith.mulf %0, %1 : tensor<?x?xf32>
  %4 = arith.mulf %3, %2 : tensor<?x?xf32>
  heddle.return %4 : tensor<?x?xf32>
}

// 1 x 128 and 128 x 128; the last block of B has but 32 rows.
heddle.kernel @blocks(%a: tensor<?x384xf8E4M3FN>, %b: tensor<160x384xf8E4M3FN>, %s: tensor<?x3xf32>, %t: tensor<2x3xf32>) -> tensor<?x160xbf16> {
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] : (tensor<?x384xf8E4M3FN>, tensor<160x384xf8E4M3FN>, tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x160xf32>
  %1 = arith.truncf %0 : tensor<?x160xf32> to tensor<?x160xbf16>
  heddle.return %1 : tensor<?x160xbf16>
}

// 1 x 128 for both, K known only at run time, scales with rows contiguous.
heddle.kernel @gradient(%a: tensor<?x?xf8E4M3FN>, %b: tensor<96x?xf8E4M3FN>, %s: tensor<?x?xf32>, %t: tensor<?x96xf32>) -> tensor<?x96xf32> {
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] transposed_scale_a scale_b %t by [1, 128] transposed_scale_b : (tensor<?x?xf8E4M3FN>, tensor<96x?xf8E4M3FN>, tensor<?x?xf32>, tensor<?x96xf32>) -> tensor<?x96xf32>
  heddle.return %0 : tensor<?x96xf32>
}

// A result of 8 bits for the next product, with one scale.
heddle.kernel @result(%a: tensor<?x256xf8E4M3FN>, %b: tensor<144x256xf8E4M3FN>, %scale: f32) -> tensor<?x144xf8E4M3FN> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x256xf8E4M3FN>, tensor<144x256xf8E4M3FN>) -> tensor<?x144xf32>
  %1 = heddle.splat %scale : tensor<?x144xf32>
  %2 = arith.mulf %0, %1 : tensor<?x144xf32>
  %3 = arith.truncf %2 : tensor<?x144xf32> to tensor<?x144xf8E4M3FN>
  heddle.return %3 : tensor<?x144xf8E4M3FN>
}
