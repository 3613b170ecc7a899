// Fences follow from who writes and who reads each pipe.
// RUN: heddle-opt %s --warp-insert-fences | FileCheck %s
// Running it again adds nothing.
// RUN: heddle-opt %s --warp-insert-fences --warp-insert-fences | FileCheck %s
// RUN: heddle-opt %s --warp-insert-fences --warp-check-ordering | FileCheck %s

!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!q = !warp.pipe<tmem, 2, !warp.acc<128x128xf32>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!tile = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>

// Threads write, wgmma reads through the async proxy: a fence before the commit. What bulk
// copies write needs none.
// CHECK-LABEL: warp.kernel @threads_to_wgmma
warp.kernel @threads_to_wgmma(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // CHECK: %[[A:.*]] = warp.pipe "a"
  // CHECK: %[[B:.*]] = warp.pipe "b"
  %a = warp.pipe "a" : !p
  %b = warp.pipe "b" : !p
  %s = warp.pipe "sums" : !regs
  // CHECK: warp.stage @load
  // CHECK: warp.copy
  // CHECK-NEXT: warp.commit %[[A]]
  warp.stage @load {
    %x = warp.acquire %a : !p
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !tile
    warp.commit %a : !p
  }
  // CHECK: warp.stage @load_b
  // CHECK: warp.copy
  // CHECK-NEXT: warp.fence <proxy_async>
  // CHECK-NEXT: warp.commit %[[B]]
  warp.stage @load_b {
    %x = warp.acquire %b : !p
    warp.copy %m[%c0, %c0] to %x engine threads : memref<?x?xbf16>, !tile
    warp.commit %b : !p
  }
  // CHECK: warp.stage @mma
  // CHECK-NOT: warp.fence
  // CHECK: warp.kernel
  warp.stage @mma {
    %c = warp.acquire %s : !regs
    %x = warp.wait %a : !p
    %y = warp.wait %b : !p
    %r = warp.mma %x, %y, %c accumulate %yes : !tile, !tile, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %a : !p
    warp.release %b : !p
  }
}

// cp.async lands after its thread has gone by the commit: the fence is the reader's.
// CHECK-LABEL: @async_to_wgmma
warp.kernel @async_to_wgmma(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !regs
  // CHECK: warp.stage @load
  // CHECK: warp.copy
  // CHECK-NEXT: warp.commit
  warp.stage @load {
    %x = warp.acquire %a : !p
    warp.copy %m[%c0, %c0] to %x engine async : memref<?x?xbf16>, !tile
    warp.commit %a : !p
  }
  // CHECK: warp.stage @mma
  // CHECK: warp.wait
  // CHECK-NEXT: warp.fence <proxy_async>
  // CHECK-NEXT: warp.mma
  warp.stage @mma {
    %c = warp.acquire %s : !regs
    %x = warp.wait %a : !p
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %a : !p
  }
}

// Both sides are threads: no proxy is crossed.
// CHECK-LABEL: @threads_to_mma_sync
warp.kernel @threads_to_mma_sync(%m: memref<?x?xbf16>) attributes {target = "sm_120a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !regs
  // CHECK-NOT: warp.fence
  warp.stage @load {
    %x = warp.acquire %a : !p
    warp.copy %m[%c0, %c0] to %x engine threads : memref<?x?xbf16>, !tile
    warp.commit %a : !p
  }
  warp.stage @mma {
    %c = warp.acquire %s : !regs
    %x = warp.wait %a : !p
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    warp.release %a after %r : !p, !acc
  }
}

// tcgen05: after the waits that allow an instruction, and before the readers give tensor
// memory back. The packed tile leaves by a bulk copy.
// CHECK-LABEL: @tensor_memory
warp.kernel @tensor_memory(%m: memref<?x?xbf16>) attributes {target = "sm_100a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // CHECK: %[[A:.*]] = warp.pipe "a"
  // CHECK: %[[OUT:.*]] = warp.pipe "out"
  // CHECK: %[[S:.*]] = warp.pipe "sums"
  %a = warp.pipe "a" : !p
  %o = warp.pipe "out" : !p
  %s = warp.pipe "sums" : !q
  // CHECK: warp.stage @load
  // CHECK-NOT: warp.fence
  // CHECK: warp.stage @mma
  warp.stage @load {
    %x = warp.acquire %a : !p
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !tile
    warp.commit %a : !p
  }
  // One fence behind both waits serves both.
  // CHECK: warp.acquire %[[S]]
  // CHECK-NEXT: warp.wait %[[A]]
  // CHECK-NEXT: warp.fence <tmem_after>
  // CHECK-NEXT: warp.mma
  // CHECK-NEXT: warp.release
  // CHECK-NEXT: warp.commit
  warp.stage @mma {
    %c = warp.acquire %s : !q
    %x = warp.wait %a : !p
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    warp.release %a after %r : !p, !acc
    warp.commit %s, %r : !q, !acc
  }
  // CHECK: warp.stage @epilogue
  // CHECK-NEXT: warp.wait %[[S]]
  // CHECK-NEXT: warp.fence <tmem_after>
  // CHECK-NEXT: warp.acquire %[[OUT]]
  // CHECK-NEXT: warp.pack
  // CHECK: }
  // CHECK-NEXT: warp.fence <proxy_async>
  // CHECK-NEXT: warp.commit %[[OUT]]
  // CHECK-NEXT: warp.fence <tmem_before>
  // CHECK-NEXT: warp.release %[[S]]
  warp.stage @epilogue {
    %acc = warp.wait %s : !q
    %t = warp.acquire %o : !p
    warp.pack %acc columns 64 at (%c0, %c0) to %t : !acc, !tile {
    ^bb0(%e: f32, %i: index, %j: index):
      %h = arith.truncf %e : f32 to bf16
      warp.yield %h : bf16
    }
    warp.commit %o : !p
    warp.release %s : !q
  }
  // CHECK: warp.stage @store
  // CHECK-NOT: warp.fence
  warp.stage @store {
    %t = warp.wait %o : !p
    warp.copy %t to %m[%c0, %c0] engine bulk : !tile, memref<?x?xbf16>
    warp.release %o : !p
  }
}
