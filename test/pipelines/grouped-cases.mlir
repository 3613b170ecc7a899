// Situations in which grouped products of other systems were wrong or hung.
//
// RUN: heddlec %s --arch=sm_80,sm_90a,sm_100a --ptxas=none -o %t.hdl
//
// DEFINE: %{arch} =
// DEFINE: %{run} = heddle-run %t.hdl --quiet --check full --device=emulator:%{arch}
//
// Sixteen groups, two with nearly all rows, while 114 were expected of each: no hang, nothing wrong.
// DEFINE: %{skew} = %{run} --kernel skew --size M=4096 --groups 4001,1425,0,0,3,0,17,0,0,1,0,0,64,0,0,2
// REDEFINE: %{arch} = sm_80
// RUN: %{skew} | FileCheck %s
// REDEFINE: %{arch} = sm_90a
// RUN: %{skew} | FileCheck %s
// REDEFINE: %{arch} = sm_100a
// RUN: %{skew} | FileCheck %s
//
// One row in a layout of rows, which a tile of 128 covers; N of 768.
// DEFINE: %{row} = %{run} --kernel row --size M=1 --groups
// REDEFINE: %{arch} = sm_80
// RUN: %{row} one | FileCheck %s
// RUN: %{row} 1,0,0 | FileCheck %s
// REDEFINE: %{arch} = sm_90a
// RUN: %{row} one | FileCheck %s
// RUN: %{row} 0,0,1 | FileCheck %s
// RUN: %{row} empty | FileCheck %s
// REDEFINE: %{arch} = sm_100a
// RUN: %{row} one | FileCheck %s
//
// N of 2112 in tiles that fill the multiprocessors: 176 wide, 97 % of the slots, not 256 wide, 73 %.
// RUN: heddlec %s --arch=sm_90a --emit=warp 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: warp.kernel @qkv(
// TILES-SAME: tile_n = 176
//
// CHECK: passed: D relative error

heddle.kernel @skew(%a: tensor<16x?x64xbf16>, %b: tensor<16x64x64xbf16>, %counts: tensor<16xi32>) -> tensor<16x?x64xbf16> {
  %0 = heddle.gemm %a, %b transpose_b groups %counts masked expected 114
    : (tensor<16x?x64xbf16>, tensor<16x64x64xbf16>, tensor<16xi32>) -> tensor<16x?x64xf32>
  %1 = arith.truncf %0 : tensor<16x?x64xf32> to tensor<16x?x64xbf16>
  heddle.return %1 : tensor<16x?x64xbf16>
}

heddle.kernel @row(%a: tensor<?x128xbf16>, %b: tensor<3x768x128xbf16>, %counts: tensor<3xi32>) -> tensor<?x768xbf16> {
  %0 = heddle.gemm %a, %b transpose_b groups %counts along_m
    : (tensor<?x128xbf16>, tensor<3x768x128xbf16>, tensor<3xi32>) -> tensor<?x768xf32>
  %1 = arith.truncf %0 : tensor<?x768xf32> to tensor<?x768xbf16>
  heddle.return %1 : tensor<?x768xbf16>
}

heddle.kernel @qkv(%x: tensor<4096x7168xbf16>, %w: tensor<2112x7168xbf16>) -> tensor<4096x2112xbf16> {
  %0 = heddle.gemm %x, %w transpose_b : (tensor<4096x7168xbf16>, tensor<2112x7168xbf16>) -> tensor<4096x2112xf32>
  %1 = arith.truncf %0 : tensor<4096x2112xf32> to tensor<4096x2112xbf16>
  heddle.return %1 : tensor<4096x2112xbf16>
}
