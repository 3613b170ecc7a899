// Products of groups of rows whose bounds are on the device: right on the emulated device of each target,
// checked for races, with nothing written outside of the groups' rows (heddle-run looks for that).
//
// RUN: heddlec %s --arch=sm_80,sm_89,sm_90a,sm_100a,sm_103a,sm_120a --ptxas=none -o %t.hdl
//
// DEFINE: %{arch} =
// DEFINE: %{kernel} =
// DEFINE: %{run} = heddle-run %t.hdl --quiet --check full --device=emulator:%{arch} --checks races --kernel %{kernel}
//
// Groups in spaces of their own, the largest with fewer rows than a tile; empty ones; a state that says 0.
// REDEFINE: %{kernel} = masked
// REDEFINE: %{arch} = sm_80
// RUN: %{run} --size M=33 --groups 33,0,1,20 | FileCheck %s
// REDEFINE: %{arch} = sm_89
// RUN: %{run} --size M=33 --groups 33,0,1,20 | FileCheck %s
// REDEFINE: %{arch} = sm_90a
// RUN: %{run} --size M=33 --groups 33,0,1,20 | FileCheck %s
// RUN: %{run} --size M=140 --groups full | FileCheck %s
// RUN: %{run} --size M=140 --groups empty | FileCheck %s
// RUN: %{run} --size M=0 --groups empty | FileCheck %s --check-prefix=NONE
// REDEFINE: %{arch} = sm_100a
// RUN: %{run} --size M=33 --groups 33,0,1,20 | FileCheck %s
// REDEFINE: %{arch} = sm_103a
// RUN: %{run} --size M=140 --groups all | FileCheck %s
// REDEFINE: %{arch} = sm_120a
// RUN: %{run} --size M=33 --groups 33,0,1,20 | FileCheck %s
//
// Groups that follow each other without alignment, so that tiles hold rows of several.
// REDEFINE: %{kernel} = offsets
// REDEFINE: %{arch} = sm_80
// RUN: %{run} --size M=200 --groups 130,0,1,50 | FileCheck %s
// REDEFINE: %{arch} = sm_89
// RUN: %{run} --size M=200 --groups 130,0,1,50 | FileCheck %s
// REDEFINE: %{arch} = sm_90a
// RUN: %{run} --size M=200 --groups 130,0,1,50 | FileCheck %s
// RUN: %{run} --size M=200 --groups raw:7,7,150,150,199 | FileCheck %s
// RUN: %{run} --size M=1 --groups one | FileCheck %s
// REDEFINE: %{arch} = sm_100a
// RUN: %{run} --size M=200 --groups 130,0,1,50 | FileCheck %s
// REDEFINE: %{arch} = sm_103a
// RUN: %{run} --size M=200 --groups all | FileCheck %s
// REDEFINE: %{arch} = sm_120a
// RUN: %{run} --size M=200 --groups 130,0,1,50 | FileCheck %s
//
// From counts, each group at a multiple of 16 rows: the gaps stay as they were.
// REDEFINE: %{kernel} = counts
// REDEFINE: %{arch} = sm_80
// RUN: %{run} --size M=300 --groups skew | FileCheck %s
// REDEFINE: %{arch} = sm_90a
// RUN: %{run} --size M=300 --groups skew | FileCheck %s
// RUN: %{run} --size M=300 --groups full | FileCheck %s
// REDEFINE: %{arch} = sm_100a
// RUN: %{run} --size M=300 --groups skew | FileCheck %s
// REDEFINE: %{arch} = sm_120a
// RUN: %{run} --size M=300 --groups skew | FileCheck %s
//
// Weight gradients: K is divided, an empty group in the middle gives zeros.
// REDEFINE: %{kernel} = gradient
// REDEFINE: %{arch} = sm_80
// RUN: %{run} --size K=200 --groups 70,0,1,129 | FileCheck %s
// REDEFINE: %{arch} = sm_89
// RUN: %{run} --size K=200 --groups 70,0,1,129 | FileCheck %s
// REDEFINE: %{arch} = sm_90a
// RUN: %{run} --size K=200 --groups 70,0,1,129 | FileCheck %s
// RUN: %{run} --size K=200 --groups empty | FileCheck %s
// REDEFINE: %{arch} = sm_100a
// RUN: %{run} --size K=200 --groups 70,0,1,129 | FileCheck %s
// REDEFINE: %{arch} = sm_103a
// RUN: %{run} --size K=200 --groups all | FileCheck %s
// REDEFINE: %{arch} = sm_120a
// RUN: %{run} --size K=200 --groups 70,0,1,129 | FileCheck %s
//
// Numbers that are no bounds: groups from there on are empty, and the state names the first of them.
// REDEFINE: %{kernel} = masked
// REDEFINE: %{arch} = sm_90a
// RUN: %{run} --size M=33 --groups raw:5,-1,7,9 | FileCheck %s
// RUN: %{run} --size M=33 --groups raw:5,6,34,9 | FileCheck %s
// RUN: %{run} --size M=33 --groups raw:2147483647,-2147483648,3,4 | FileCheck %s
// REDEFINE: %{arch} = sm_80
// RUN: %{run} --size M=33 --groups raw:5,6,34,9 | FileCheck %s
// REDEFINE: %{kernel} = offsets
// RUN: %{run} --size M=100 --groups raw:0,50,40,60,100 | FileCheck %s
// RUN: %{run} --size M=100 --groups raw:-5,50,60,70,100 | FileCheck %s
// REDEFINE: %{arch} = sm_90a
// RUN: %{run} --size M=100 --groups raw:0,50,60,70,101 | FileCheck %s
// REDEFINE: %{kernel} = counts
// RUN: %{run} --size M=100 --groups raw:30,50,2147483647,2147483647 | FileCheck %s
// RUN: %{run} --size M=100 --groups raw:30,50,7,30 | FileCheck %s
//
// Rows of A by a list.
// REDEFINE: %{arch} = sm_80
// REDEFINE: %{kernel} = tokens
// RUN: %{run} --size M=200 --size T=50 --groups 130,0,1,50 | FileCheck %s
// REDEFINE: %{kernel} = listed
// RUN: %{run} --size M=70 --size T=500 --size N=40 --size K=72 | FileCheck %s
// RUN: %{run} --size M=70 --size T=5 --size N=33 --size K=63 | FileCheck %s
// REDEFINE: %{arch} = sm_89
// REDEFINE: %{kernel} = tokens
// RUN: %{run} --size M=200 --size T=50 --groups 130,0,1,50 | FileCheck %s
// REDEFINE: %{arch} = sm_90a
// REDEFINE: %{kernel} = tokens
// RUN: %{run} --size M=200 --size T=50 --groups 130,0,1,50 | FileCheck %s
// REDEFINE: %{kernel} = listed
// RUN: %{run} --size M=70 --size T=500 --size N=40 --size K=72 | FileCheck %s
// RUN: %{run} --size M=70 --size T=5 --size N=33 --size K=63 | FileCheck %s
// REDEFINE: %{arch} = sm_100a
// REDEFINE: %{kernel} = tokens
// RUN: %{run} --size M=200 --size T=50 --groups 130,0,1,50 | FileCheck %s
// REDEFINE: %{kernel} = listed
// RUN: %{run} --size M=70 --size T=500 --size N=40 --size K=72 | FileCheck %s
// RUN: %{run} --size M=70 --size T=5 --size N=33 --size K=63 | FileCheck %s
// REDEFINE: %{arch} = sm_103a
// REDEFINE: %{kernel} = tokens
// RUN: %{run} --size M=200 --size T=50 --groups 130,0,1,50 | FileCheck %s
// REDEFINE: %{arch} = sm_120a
// REDEFINE: %{kernel} = tokens
// RUN: %{run} --size M=200 --size T=50 --groups 130,0,1,50 | FileCheck %s
//
// NONE: passed: D0 is empty
// NONE: passed: state is empty
// CHECK: passed: D{{[0-9]?}} relative error
// CHECK-NOT: wrong

heddle.kernel @masked(%a: tensor<4x?x128xbf16>, %b: tensor<4x72x128xbf16>, %groups: tensor<4xi32>, %bias: tensor<4x72xf32>)
    -> (tensor<4x?x72xbf16>, tensor<1xi32> {heddle.name = "state"}) {
  %0, %state = heddle.gemm %a, %b transpose_b groups %groups masked expected 20
    : (tensor<4x?x128xbf16>, tensor<4x72x128xbf16>, tensor<4xi32>) -> (tensor<4x?x72xf32>, tensor<1xi32>)
  %1 = heddle.broadcast %bias along [0, 2] : tensor<4x72xf32> to tensor<4x?x72xf32>
  %2 = arith.addf %0, %1 : tensor<4x?x72xf32>
  %3 = arith.truncf %2 : tensor<4x?x72xf32> to tensor<4x?x72xbf16>
  heddle.return %3, %state : tensor<4x?x72xbf16>, tensor<1xi32>
}

heddle.kernel @offsets(%a: tensor<?x128xf16>, %b: tensor<4x128x72xf16>, %groups: tensor<5xi32>, %weight: tensor<?xf32>)
    -> tensor<?x72xf16> {
  %0 = heddle.gemm %a, %b groups %groups along_m
    : (tensor<?x128xf16>, tensor<4x128x72xf16>, tensor<5xi32>) -> tensor<?x72xf32>
  %1 = heddle.broadcast %weight along [0] : tensor<?xf32> to tensor<?x72xf32>
  %2 = arith.mulf %0, %1 : tensor<?x72xf32>
  %3 = arith.truncf %2 : tensor<?x72xf32> to tensor<?x72xf16>
  heddle.return %3 : tensor<?x72xf16>
}

heddle.kernel @counts(%a: tensor<?x64xf32>, %b: tensor<4x136x64xf32>, %groups: tensor<4xi32>)
    -> (tensor<?x136xf32>, tensor<1xi32> {heddle.name = "state"}) {
  %0, %state = heddle.gemm %a, %b transpose_b groups %groups along_m aligned 16 precision tf32
    : (tensor<?x64xf32>, tensor<4x136x64xf32>, tensor<4xi32>) -> (tensor<?x136xf32>, tensor<1xi32>)
  heddle.return %0, %state : tensor<?x136xf32>, tensor<1xi32>
}

heddle.kernel @gradient(%x: tensor<?x136xbf16>, %dy: tensor<?x72xbf16>, %groups: tensor<4xi32>) -> tensor<4x136x72xf32> {
  %0 = heddle.gemm %x, %dy transpose_a groups %groups along_k
    : (tensor<?x136xbf16>, tensor<?x72xbf16>, tensor<4xi32>) -> tensor<4x136x72xf32>
  heddle.return %0 : tensor<4x136x72xf32>
}

// Rows of A by a list: tokens stay where they are. -1 and what is past the end stand for rows of zeros.
heddle.kernel @tokens(%a: tensor<?x128xbf16>, %b: tensor<4x72x128xbf16>, %rows: tensor<?xi32>, %groups: tensor<4xi32>)
    -> tensor<?x72xbf16> {
  %0 = heddle.gemm %a, %b transpose_b gather %rows groups %groups along_m
    : (tensor<?x128xbf16>, tensor<4x72x128xbf16>, tensor<?xi32>, tensor<4xi32>) -> tensor<?x72xf32>
  %1 = arith.truncf %0 : tensor<?x72xf32> to tensor<?x72xbf16>
  heddle.return %1 : tensor<?x72xbf16>
}

// The same without groups, with any alignment of rows.
heddle.kernel @listed(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %rows: tensor<?xi32>) -> tensor<?x?xf32> {
  %0 = heddle.gemm %a, %b transpose_b gather %rows : (tensor<?x?xf16>, tensor<?x?xf16>, tensor<?xi32>) -> tensor<?x?xf32>
  heddle.return %0 : tensor<?x?xf32>
}
