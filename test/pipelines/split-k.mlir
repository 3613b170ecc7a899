// CTAs that share the K of a tile: the last to come adds the parts in their order, so that results
// are the same to the last bit whichever that is. Every target, both ways to lay a tile, few CTAs (a
// CTA has several parts), scales, batches; the counters are zero again for the next launch.
//
// RUN: heddlec %s --arch=sm_80,sm_89,sm_90a,sm_100a,sm_103a,sm_120a --kernel=linear --ptxas=none --schedule tile_n=32,stages=2,store=direct,store_stages=0,split_k=3 -o %t.hdl
// RUN: heddle-run %t.hdl --size M=37 --device=emulator:sm_80,sms=5 --checks=races | FileCheck %s
// RUN: heddle-run %t.hdl --size M=37 --device=emulator:sm_89 --checks=races | FileCheck %s
// RUN: heddle-run %t.hdl --size M=37 --device=emulator:sm_90a,sms=5 --checks=races | FileCheck %s
// RUN: heddle-run %t.hdl --size M=37 --device=emulator:sm_100a,sms=5 --checks=races | FileCheck %s
// RUN: heddle-run %t.hdl --size M=37 --device=emulator:sm_103a | FileCheck %s
// RUN: heddle-run %t.hdl --size M=37 --device=emulator:sm_120a,sms=5 --checks=races | FileCheck %s
//
// Others schedules, the same bits; further launches as well.
// RUN: heddle-run %t.hdl --size M=37 --device=emulator:sm_90a,seed=1 --output D=%t.1.npy --quiet
// RUN: heddle-run %t.hdl --size M=37 --device=emulator:sm_90a,seed=9,sms=3 --output D=%t.2.npy --time 2 --quiet
// RUN: cmp %t.1.npy %t.2.npy
//
// RUN: heddlec %s --arch=sm_90a,sm_100a,sm_120a --kernel=linear --ptxas=none --schedule swap=1,tile_n=16,stages=2,store=direct,store_stages=0,split_k=2 -o %t.swap.hdl
// RUN: heddle-run %t.swap.hdl --size M=13 --device=emulator:sm_90a --checks=races | FileCheck %s
// RUN: heddle-run %t.swap.hdl --size M=13 --device=emulator:sm_100a --checks=races | FileCheck %s
// RUN: heddle-run %t.swap.hdl --size M=13 --device=emulator:sm_120a | FileCheck %s
//
// RUN: heddlec %s --arch=sm_90a --kernel=batched --ptxas=none --schedule tile=64x64x64,mma_warps=4,load_registers=0,mma_registers=0,stages=2,store=direct,store_stages=0,split_k=2,cluster_m=2 -o %t.cluster.hdl
// RUN: heddle-run %t.cluster.hdl --size M=200 --device=emulator:sm_90a,sms=6 --checks=races | FileCheck %s
//
// RUN: heddlec %s --arch=sm_89,sm_90a,sm_100a,sm_120a --kernel=blocks --ptxas=none --schedule tile_n=64,stages=2,store=direct,store_stages=0,split_k=3 -o %t.blocks.hdl
// RUN: heddle-run %t.blocks.hdl --size M=13 --device=emulator:sm_89 | FileCheck %s
// RUN: heddle-run %t.blocks.hdl --size M=13 --device=emulator:sm_90a --checks=races | FileCheck %s
// RUN: heddle-run %t.blocks.hdl --size M=13 --device=emulator:sm_100a --checks=races | FileCheck %s
// RUN: heddle-run %t.blocks.hdl --size M=13 --device=emulator:sm_120a | FileCheck %s
//
// RUN: heddlec %s --arch=sm_90a --kernel=linear --schedule tile_n=32,stages=2,store=direct,store_stages=0,split_k=3 --emit=warp -o - | FileCheck %s --check-prefix=NET
// RUN: heddle-inspect %t.hdl | FileCheck %s --check-prefix=SHOW
// RUN: not heddlec %s --arch=sm_90a --kernel=linear --schedule split_k=9,store=direct,store_stages=0 -o %t.no 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not heddlec %s --arch=sm_90a --kernel=linear --schedule tile_n=64,split_k=2,store=bulk,store_stages=2 -o %t.no 2>&1 | FileCheck %s --check-prefix=BULK
//
// CHECK: passed: D relative error
// NET: warp.work_stream({{.*}}) raster {{[0-9]+}} split 3
// NET: warp.combine %{{.*}} part %{{.*}} of 3 tile %{{.*}} of %{{.*}} : <
// SHOW: workspace of
// SHOW: counters,
// MANY: split-k): expected at least one step of K for each of 9 CTAs, got 5 of 64
// BULK: split-k): expected store=direct

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

heddle.kernel @batched(%a: tensor<2x264x?xf16>, %b: tensor<2x264x136xf16>) -> tensor<2x?x136xf32> {
  %0 = heddle.gemm %a, %b transpose_a : (tensor<2x264x?xf16>, tensor<2x264x136xf16>) -> tensor<2x?x136xf32>
  heddle.return %0 : tensor<2x?x136xf32>
}

heddle.kernel @blocks(%a: tensor<?x384xf8E4M3FN>, %b: tensor<192x384xf8E4M3FN>, %sa: tensor<?x3xf32>, %sb: tensor<2x3xf32>) -> tensor<?x192xbf16> {
  %0 = heddle.gemm %a, %b transpose_b scale_a %sa by [1, 128] scale_b %sb by [128, 128] : (tensor<?x384xf8E4M3FN>, tensor<192x384xf8E4M3FN>, tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x192xf32>
  %1 = arith.truncf %0 : tensor<?x192xf32> to tensor<?x192xbf16>
  heddle.return %1 : tensor<?x192xbf16>
}
