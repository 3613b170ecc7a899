// Groups with 8-bit operands and block scales: machine code without spills, and right results on the emulated
// device of each target that multiplies them.
// REQUIRES: ptxas
//
// RUN: heddlec %s --arch=sm_89,sm_90a,sm_100a,sm_103a,sm_120a -o %t.hdl
//
// DEFINE: %{arch} =
// DEFINE: %{run} = heddle-run %t.hdl --quiet --check full --device=emulator:%{arch}
// DEFINE: %{rows} = %{run} --kernel rows --size M=300 --groups
// DEFINE: %{masked} = %{run} --kernel masked --size M=150 --size M_blocks=2 --groups
// DEFINE: %{gradient} = %{run} --kernel gradient --size K=640 --size K_blocks=5 --groups
//
// REDEFINE: %{arch} = sm_89
// RUN: %{rows} 130,0,1,100 | FileCheck %s
// RUN: %{masked} 130,0,1,150 | FileCheck %s
// RUN: %{gradient} 130,0,1,127 | FileCheck %s
// REDEFINE: %{arch} = sm_90a
// RUN: %{rows} 130,0,1,100 | FileCheck %s
// RUN: %{rows} raw:3,100,100,101,299 | FileCheck %s
// RUN: %{masked} 130,0,1,150 | FileCheck %s
// RUN: %{gradient} 130,0,1,127 | FileCheck %s
// REDEFINE: %{arch} = sm_100a
// RUN: %{rows} 130,0,1,100 | FileCheck %s
// RUN: %{masked} 130,0,1,150 | FileCheck %s
// RUN: %{gradient} 130,0,1,127 | FileCheck %s
// REDEFINE: %{arch} = sm_103a
// RUN: %{rows} 130,0,1,100 | FileCheck %s
// REDEFINE: %{arch} = sm_120a
// RUN: %{rows} 130,0,1,100 | FileCheck %s
// RUN: %{masked} 130,0,1,150 | FileCheck %s
// RUN: %{gradient} 130,0,1,127 | FileCheck %s
//
// CHECK: passed: D relative error

heddle.kernel @rows(%a: tensor<?x256xf8E4M3FN>, %sa: tensor<?x2xf32>, %b: tensor<4x192x256xf8E4M3FN>, %sb: tensor<4x2x2xf32>,
                    %groups: tensor<5xi32>) -> tensor<?x192xbf16> {
  %0 = heddle.gemm %a, %b transpose_b scale_a %sa by [1, 128] scale_b %sb by [128, 128] groups %groups along_m
    : (tensor<?x256xf8E4M3FN>, tensor<4x192x256xf8E4M3FN>, tensor<?x2xf32>, tensor<4x2x2xf32>, tensor<5xi32>) -> tensor<?x192xf32>
  %1 = arith.truncf %0 : tensor<?x192xf32> to tensor<?x192xbf16>
  heddle.return %1 : tensor<?x192xbf16>
}

heddle.kernel @masked(%a: tensor<4x?x256xf8E4M3FN>, %sa: tensor<4x?x2xf32>, %b: tensor<4x192x256xf8E4M3FN>, %sb: tensor<4x2x2xf32>,
                      %groups: tensor<4xi32>) -> tensor<4x?x192xbf16> {
  %0 = heddle.gemm %a, %b transpose_b scale_a %sa by [128, 128] scale_b %sb by [128, 128] groups %groups masked expected 64
    : (tensor<4x?x256xf8E4M3FN>, tensor<4x192x256xf8E4M3FN>, tensor<4x?x2xf32>, tensor<4x2x2xf32>, tensor<4xi32>) -> tensor<4x?x192xf32>
  %1 = arith.truncf %0 : tensor<4x?x192xf32> to tensor<4x?x192xbf16>
  heddle.return %1 : tensor<4x?x192xbf16>
}

heddle.kernel @gradient(%x: tensor<?x136xf8E4M3FN>, %sx: tensor<136x?xf32>, %dy: tensor<?x72xf8E5M2>, %sdy: tensor<72x?xf32>,
                        %groups: tensor<4xi32>) -> tensor<4x136x72xf32> {
  %0 = heddle.gemm %x, %dy transpose_a scale_a %sx by [1, 128] scale_b %sdy by [1, 128] groups %groups along_k aligned 128
    : (tensor<?x136xf8E4M3FN>, tensor<?x72xf8E5M2>, tensor<136x?xf32>, tensor<72x?xf32>, tensor<4xi32>) -> tensor<4x136x72xf32>
  heddle.return %0 : tensor<4x136x72xf32>
}
