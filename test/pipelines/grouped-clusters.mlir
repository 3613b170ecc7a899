// Groups in clusters: the CTAs of one share operands by multicast, tiles past the end of a group included.
//
// DEFINE: %{schedule} = tile=128x128x64,stages=3,store=bulk,store_stages=2
// DEFINE: %{hopper} = --arch=sm_90a --schedule %{schedule},mma_warps=8,load_warps=4,load_registers=40,mma_registers=232
// DEFINE: %{blackwell} = --arch=sm_100a --schedule %{schedule},load_warps=2,mma_warps=2,epilogue_warps=4
// DEFINE: %{arch} = sm_90a
// DEFINE: %{run} = heddle-run %t.hdl --quiet --check full --device=emulator:%{arch} --checks races --groups 300,0,1,130 --kernel
//
// RUN: heddlec %s --ptxas=none -o %t.hdl %{hopper},cluster_m=2
// RUN: %{run} masked --size M=300 | FileCheck %s
// RUN: %{run} offsets --size M=500 | FileCheck %s
// RUN: %{run} gradient --size K=500 | FileCheck %s
// RUN: heddlec %s --ptxas=none -o %t.hdl %{hopper},cluster_m=2,cluster_n=2
// RUN: %{run} masked --size M=300 | FileCheck %s
// RUN: %{run} offsets --size M=500 | FileCheck %s
// RUN: %{run} gradient --size K=500 | FileCheck %s
// REDEFINE: %{arch} = sm_100a
// RUN: heddlec %s --ptxas=none -o %t.hdl %{blackwell},cluster_n=2
// RUN: %{run} masked --size M=300 | FileCheck %s
// RUN: %{run} offsets --size M=500 | FileCheck %s
// RUN: %{run} gradient --size K=500 | FileCheck %s
//
// CHECK: passed: D relative error

heddle.kernel @masked(%a: tensor<4x?x128xbf16>, %b: tensor<4x256x128xbf16>, %groups: tensor<4xi32>) -> tensor<4x?x256xbf16> {
  %0 = heddle.gemm %a, %b transpose_b groups %groups masked : (tensor<4x?x128xbf16>, tensor<4x256x128xbf16>, tensor<4xi32>) -> tensor<4x?x256xf32>
  %3 = arith.truncf %0 : tensor<4x?x256xf32> to tensor<4x?x256xbf16>
  heddle.return %3 : tensor<4x?x256xbf16>
}
heddle.kernel @offsets(%a: tensor<?x128xbf16>, %b: tensor<4x256x128xbf16>, %groups: tensor<5xi32>) -> tensor<?x256xbf16> {
  %0 = heddle.gemm %a, %b transpose_b groups %groups along_m : (tensor<?x128xbf16>, tensor<4x256x128xbf16>, tensor<5xi32>) -> tensor<?x256xf32>
  %3 = arith.truncf %0 : tensor<?x256xf32> to tensor<?x256xbf16>
  heddle.return %3 : tensor<?x256xbf16>
}
heddle.kernel @gradient(%a: tensor<?x256xbf16>, %b: tensor<?x256xbf16>, %groups: tensor<4xi32>) -> tensor<4x256x256xbf16> {
  %0 = heddle.gemm %a, %b transpose_a groups %groups along_k : (tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<4xi32>) -> tensor<4x256x256xf32>
  %3 = arith.truncf %0 : tensor<4x256x256xf32> to tensor<4x256x256xbf16>
  heddle.return %3 : tensor<4x256x256xbf16>
}
