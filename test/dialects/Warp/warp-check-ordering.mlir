// A kernel whose ordering cannot be shown is rejected with what is missing, and where.
// RUN: heddle-opt %s --warp-check-ordering --split-input-file --verify-diagnostics

!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!tile = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// The fence may stand anywhere between the last write and the commit.
warp.kernel @complete(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 4 {
    %x = warp.acquire %a : !p
    warp.copy %m[%c0, %c0] to %x engine threads : memref<?x?xbf16>, !tile
    warp.fence <proxy_async>
    %unrelated = arith.addi %c0, %c0 : index
    warp.commit %a : !p
  }
  warp.role @mma stages ["mma"] warps 4 to 12 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %a : !p
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %a : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!tile = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @too_early(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // expected-note@+1 {{pipe "a"}}
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 4 {
    %x = warp.acquire %a : !p
    warp.fence <proxy_async>
    warp.copy %m[%c0, %c0] to %x engine threads : memref<?x?xbf16>, !tile
    // expected-error@+1 {{expected warp.fence <proxy_async> before it to order what is written to pipe "a" by threads of role "load" and read by the tensor core of role "mma", found none}}
    warp.commit %a : !p
  }
  warp.role @mma stages ["mma"] warps 4 to 12 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %a : !p
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %a : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!tile = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @async(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // expected-note@+1 {{pipe "a"}}
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 4 {
    %x = warp.acquire %a : !p
    warp.copy %m[%c0, %c0] to %x engine async : memref<?x?xbf16>, !tile
    warp.fence <proxy_async>
    warp.commit %a : !p
  }
  warp.role @mma stages ["mma"] warps 4 to 12 {
    %c = warp.acquire %s : !regs
    // expected-error@+1 {{expected warp.fence <proxy_async> after it to order what is written to pipe "a" by asynchronous copies of threads of role "load" and read by the tensor core of role "mma", found none}}
    %x = warp.wait %a : !p
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %a : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
warp.kernel @bulk_store(%m: memref<?x?xbf16>) attributes {target = "sm_120a"} {
  %c0 = arith.constant 0 : index
  %a = warp.pipe "a" : !p
  // expected-note@+1 {{pipe "b"}}
  %b = warp.pipe "b" : !p
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %a : !p
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !warp.tile<128x64xbf16>
    warp.commit %a : !p
  }
  warp.role @negate stages ["negate"] warps 1 to 5 {
    %x = warp.wait %a : !p
    %y = warp.acquire %b : !p
    warp.map %x to %y : !warp.tile<128x64xbf16>, !warp.tile<128x64xbf16> {
    ^bb0(%e: bf16, %i: index, %j: index):
      %n = arith.negf %e : bf16
      warp.yield %n : bf16
    }
    // expected-error@+1 {{expected warp.fence <proxy_async> before it to order what is written to pipe "b" by threads of role "negate" and read by the copy engine of role "store", found none}}
    warp.commit %b : !p
    warp.release %a : !p
  }
  warp.role @store stages ["store"] warps 5 to 6 {
    %y = warp.wait %b : !p
    warp.copy %y to %m[%c0, %c0] engine bulk : !warp.tile<128x64xbf16>, memref<?x?xbf16>
    warp.release %b : !p
  }
}

// -----
!q = !warp.pipe<tmem, 2, !warp.acc<128x128xf32>>
!acc = !warp.acc<128x128xf32>
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!tile = !warp.tile<128x64xbf16>
warp.kernel @tmem_before(%m: memref<?x?xf32>) attributes {target = "sm_100a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %a = warp.pipe "a" : !p
  // expected-note@+1 {{pipe "sums"}}
  %s = warp.pipe "sums" : !q
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %c = warp.acquire %s : !q
    warp.fence <tmem_after>
    %x = warp.wait %a : !p
    warp.fence <tmem_after>
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    warp.release %a after %r : !p, !acc
    warp.commit %s, %r : !q, !acc
  }
  warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
    %acc = warp.wait %s : !q
    warp.fence <tmem_after>
    warp.store %acc to %m[%c0, %c0] : !acc, memref<?x?xf32> {
    ^bb0(%e: f32, %i: index, %j: index):
      warp.yield %e : f32
    }
    // expected-error@+1 {{expected warp.fence <tmem_before> before it to order what is written to pipe "sums" by role "mma" and read by role "epilogue", found none}}
    warp.release %s : !q
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!tile = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @early_release(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %a : !p
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !tile
    warp.commit %a : !p
  }
  warp.role @mma stages ["mma"] warps 4 to 12 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %a : !p
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    // expected-error@+1 {{expected the release of pipe "a" in role "mma" to follow warp.mma_wait or to lag (run warp-lag-releases): the tensor core may still read what role "load" overwrites}}
    warp.release %a : !p
    %w = warp.mma_wait %r : !acc
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!tile = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @unwaited_read(%m: memref<?x?xf32>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !regs
  warp.role @mma stages ["mma"] warps 4 to 12 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %a : !p
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    warp.release %a after %r : !p, !acc
    // expected-error@+1 {{expected warp.mma_wait between the multiplications of role "mma" and this read of their accumulator}}
    warp.store %r to %m[%c0, %c0] : !acc, memref<?x?xf32> {
    ^bb0(%e: f32, %i: index, %j: index):
      warp.yield %e : f32
    }
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!tile = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// "after" alone does not wait where results are registers.
warp.kernel @after_alone(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 {
    scf.for %k = %c0 to %c1 step %c1 {
      %x = warp.acquire %a : !p
      warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !tile
      warp.commit %a : !p
    }
  }
  warp.role @mma stages ["mma"] warps 4 to 12 {
    %c = warp.acquire %s : !regs
    %sum = scf.for %k = %c0 to %c1 step %c1 iter_args(%acc = %c) -> (!acc) {
      %x = warp.wait %a : !p
      %r = warp.mma %x, %x, %acc accumulate %yes : !tile, !tile, !acc
      // expected-error@+1 {{expected the release of pipe "a" in role "mma" to follow warp.mma_wait or to lag (run warp-lag-releases): the tensor core may still read what role "load" overwrites}}
      warp.release %a after %r : !p, !acc
      scf.yield %r : !acc
    }
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!tile = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// Before this iteration's multiplication, the last one's group still runs.
warp.kernel @lag_too_early(%m: memref<?x?xbf16>) attributes {target = "sm_90a"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 {
    scf.for %k = %c0 to %c1 step %c1 {
      %x = warp.acquire %a : !p
      warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !tile
      warp.commit %a : !p
    }
  }
  warp.role @mma stages ["mma"] warps 4 to 12 {
    %c = warp.acquire %s : !regs
    %sum = scf.for %k = %c0 to %c1 step %c1 iter_args(%acc = %c) -> (!acc) {
      %x = warp.wait %a : !p
      // expected-error@+1 {{expected the release of pipe "a" in role "mma" that lags to follow every multiplication of the loop it is in: the tensor core may still read what role "load" overwrites}}
      warp.release %a lag 1 after %acc : !p, !acc
      %r = warp.mma %x, %x, %acc accumulate %yes : !tile, !tile, !acc
      scf.yield %r : !acc
    }
    %w = warp.mma_wait %sum : !acc
    warp.release %a : !p
  }
}

// -----
!q = !warp.pipe<tmem, 2, !warp.acc<128x128xf32>>
!acc = !warp.acc<128x128xf32>
!p = !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
!tile = !warp.tile<128x64xbf16>
warp.kernel @names_earlier(%m: memref<?x?xbf16>) attributes {target = "sm_100a"} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %a = warp.pipe "a" : !p
  %s = warp.pipe "sums" : !q
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %a : !p
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !tile
    warp.commit %a : !p
  }
  warp.role @mma stages ["mma"] warps 1 to 2 {
    %c = warp.acquire %s : !q
    %x = warp.wait %a : !p
    warp.fence <tmem_after>
    %r = warp.mma %x, %x, %c accumulate %yes : !tile, !tile, !acc
    %t = warp.mma %x, %x, %r accumulate %yes : !tile, !tile, !acc
    // expected-error@+1 {{expected the release of pipe "a" in role "mma" to name, with after, the last multiplication that reads the slot: the tensor core may still read what role "load" overwrites}}
    warp.release %a after %r : !p, !acc
    warp.commit %s, %t : !q, !acc
  }
}
