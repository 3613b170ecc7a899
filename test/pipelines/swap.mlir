// Few rows of A as the columns of tiles: rows of tiles are B's, the result leaves transposed. All
// ways to store, every target, batches, both layouts, scales.
//
// RUN: heddlec %s --arch=sm_80,sm_89,sm_90a,sm_100a,sm_103a,sm_120a --kernel=linear --ptxas=none --schedule swap=1,tile_n=16,stages=3,store=direct,store_stages=0 -o %t.hdl
// RUN: heddle-run %t.hdl --size M=13 --device=emulator:sm_80 --checks=races | FileCheck %s
// RUN: heddle-run %t.hdl --size M=13 --device=emulator:sm_89 | FileCheck %s
// RUN: heddle-run %t.hdl --size M=13 --device=emulator:sm_90a --checks=races | FileCheck %s
// RUN: heddle-run %t.hdl --size M=13 --device=emulator:sm_100a --checks=races | FileCheck %s
// RUN: heddle-run %t.hdl --size M=13 --device=emulator:sm_103a | FileCheck %s
// RUN: heddle-run %t.hdl --size M=13 --device=emulator:sm_120a --checks=races | FileCheck %s
//
// Through shared memory: the slots of the store have the columns of the result contiguous.
// RUN: heddlec %s --arch=sm_90a,sm_100a,sm_120a --kernel=linear --ptxas=none --schedule swap=1,tile_m=128,tile_n=32,stages=3,store=bulk,store_stages=2 -o %t.bulk.hdl
// RUN: heddle-run %t.bulk.hdl --size M=45 --device=emulator:sm_90a --checks=races | FileCheck %s
// RUN: heddle-run %t.bulk.hdl --size M=45 --device=emulator:sm_100a --checks=races | FileCheck %s
// RUN: heddle-run %t.bulk.hdl --size M=45 --device=emulator:sm_120a --checks=races | FileCheck %s
// RUN: heddlec %s --arch=sm_90a --kernel=linear --schedule swap=1,tile_m=128,tile_n=32,stages=3,store=bulk,store_stages=2 --emit=warp -o - | FileCheck %s --check-prefix=NET
//
// RUN: heddlec %s --arch=sm_90a,sm_100a --kernel=batched --ptxas=none --schedule swap=1,tile_m=128,tile_n=64,store=bulk,store_stages=1 -o %t.batch.hdl
// RUN: heddle-run %t.batch.hdl --size M=70 --device=emulator:sm_90a --checks=races | FileCheck %s
// RUN: heddle-run %t.batch.hdl --size M=70 --device=emulator:sm_100a | FileCheck %s
//
// RUN: heddlec %s --arch=sm_89,sm_90a,sm_100a,sm_120a --kernel=blocks --ptxas=none --schedule swap=1,tile_m=128,tile_n=16,stages=3 -o %t.blocks.hdl
// RUN: heddle-run %t.blocks.hdl --size M=13 --device=emulator:sm_89 | FileCheck %s
// RUN: heddle-run %t.blocks.hdl --size M=13 --device=emulator:sm_90a --checks=races | FileCheck %s
// RUN: heddle-run %t.blocks.hdl --size M=13 --device=emulator:sm_100a | FileCheck %s
// RUN: heddle-run %t.blocks.hdl --size M=13 --device=emulator:sm_120a | FileCheck %s
//
// RUN: not heddlec %s --arch=sm_90a --kernel=blocks --schedule swap=2 -o %t.no 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not heddlec %s --arch=sm_90a --kernel=batched --schedule swap=1,tile_n=32,store=bulk,store_stages=2 -o %t.no 2>&1 | FileCheck %s --check-prefix=MAJOR
//
// CHECK: passed: D relative error
// TWO: expected schedule key 'swap' to be a number from 0 to 1, got '2'
// MAJOR: k-swizzle
//
// NET: warp.copy %arg1[{{.*}}] to %[[SLOT:[0-9]+]]#0 : memref<136x264xbf16>, !warp.tile<128x64xbf16>
// NET: warp.copy %arg0[{{.*}}] to %[[SLOT]]#1 : memref<?x264xbf16>, !warp.tile<32x64xbf16>
// NET: warp.pack {{.*}}<128x32xbf16, mn>
// NET: warp.copy %{{.*}} to %arg4[{{.*}}] transposed

heddle.kernel @linear(%x: tensor<?x264xbf16>, %w: tensor<136x264xbf16>, %bias: tensor<136xf32>, %r: tensor<?x136xbf16>) -> tensor<?x136xbf16> {
  %0 = heddle.gemm %x, %w transpose_b : (tensor<?x264xbf16>, tensor<136x264xbf16>) -> tensor<?x136xf32>
  %1 = heddle.broadcast %bias along [1] : tensor<136xf32> to tensor<?x136xf32>
  %2 = arith.addf %0, %1 : tensor<?x136xf32>
  %3 = heddle.silu %2 : tensor<?x136xf32>
  %4 = arith.extf %r : tensor<?x136xbf16> to tensor<?x136xf32>
  %5 = arith.addf %3, %4 : tensor<?x136xf32>
  %6 = arith.truncf %5 : tensor<?x136xf32> to tensor<?x136xbf16>
  heddle.return %6 : tensor<?x136xbf16>
}

heddle.kernel @batched(%a: tensor<2x72x?xf16>, %b: tensor<2x72x136xf16>) -> tensor<2x?x136xf32> {
  %0 = heddle.gemm %a, %b transpose_a : (tensor<2x72x?xf16>, tensor<2x72x136xf16>) -> tensor<2x?x136xf32>
  heddle.return %0 : tensor<2x?x136xf32>
}

heddle.kernel @blocks(%a: tensor<?x384xf8E4M3FN>, %b: tensor<192x384xf8E4M3FN>, %sa: tensor<?x3xf32>, %sb: tensor<2x3xf32>) -> tensor<?x192xbf16> {
  %0 = heddle.gemm %a, %b transpose_b scale_a %sa by [1, 128] scale_b %sb by [128, 128] : (tensor<?x384xf8E4M3FN>, tensor<192x384xf8E4M3FN>, tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x192xf32>
  %1 = arith.truncf %0 : tensor<?x192xf32> to tensor<?x192xbf16>
  heddle.return %1 : tensor<?x192xbf16>
}
