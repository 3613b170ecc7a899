// Networks that can hang, or overwrite what has not been read, are refused with stage, pipe
// and position.
// RUN: heddle-opt %s --warp-verify-protocol --split-input-file --verify-diagnostics

!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
// Two pipes in the same order on both sides, unrolled on one: accepted.
warp.kernel @good(%m: memref<?x?xbf16>, %d: memref<?xf32>) {
  %z = arith.constant 0 : index
  %n = memref.dim %d, %z : memref<?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = warp.work_stream(%n, %n, %n) raster 1
  %p = warp.pipe "p" : !p
  %q = warp.pipe "q" : !p
  warp.stage @load {
    warp.for_each(%i, %j, %b) in %s {
      scf.for %k = %c0 to %n step %c1 {
        %x = warp.acquire %p : !p
        warp.commit %p : !p
      }
      scf.for %k = %c0 to %c2 step %c1 {
        %x = warp.acquire %q : !p
        warp.commit %q : !p
      }
    }
  }
  warp.stage @store {
    warp.for_each(%i, %j, %b) in %s {
      scf.for %k = %c0 to %n step %c1 {
        %x = warp.wait %p : !p
        warp.release %p : !p
      }
      %x = warp.wait %q : !p
      warp.release %q : !p
      %y = warp.wait %q : !p
      warp.release %q : !p
    }
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @two_producers(%m: memref<?x?xbf16>) {
  // expected-error@+1 {{expected one producer of pipe "p", got 2: stage "a", stage "b"}}
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @b {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @c {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @no_producer(%m: memref<?x?xbf16>) {
  // expected-error@+1 {{expected one producer of pipe "p", got 0}}
  %p = warp.pipe "p" : !p
  warp.stage @c {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @no_consumer(%m: memref<?x?xbf16>) {
  // expected-error@+1 {{expected a consumer of pipe "p", got none}}
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @commit_first(%m: memref<?x?xbf16>) {
  %p = warp.pipe "p" : !p
  warp.stage @a {
    // expected-error@+1 {{expected a warp.acquire of pipe "p" before it in the same kernel of stage "a", found none}}
    warp.commit %p : !p
    %x = warp.acquire %p : !p
  }
  warp.stage @c {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @no_commit(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = warp.pipe "p" : !p
  warp.stage @a {
    scf.for %k = %c0 to %c1 step %c1 {
      // expected-error@+1 {{expected a warp.commit of pipe "p" after it in the same iteration of stage "a", found none}}
      %x = warp.acquire %p : !p
    }
    warp.commit %p : !p
  }
  warp.stage @c {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @no_release(%m: memref<?x?xbf16>) {
  %c1 = arith.constant 1 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 1
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @c {
    warp.for_each(%i, %j, %b) in %s {
      // expected-error@+1 {{expected a warp.release of pipe "p" after it in the same item of stage "c", found none}}
      %x = warp.wait %p : !p
    }
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @release_first(%m: memref<?x?xbf16>) {
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @c {
    // expected-error@+1 {{expected a warp.wait of pipe "p" before it in the same kernel of stage "c", found none}}
    warp.release %p : !p
    %x = warp.wait %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @lag_outside(%m: memref<?x?xbf16>) {
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @c {
    %x = warp.wait %p : !p
    // expected-error@+1 {{expected lag in an scf.for, got it in the kernel of stage "c"}}
    warp.release %p lag 1 : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @lag_unpaid(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @c {
    scf.for %k = %c0 to %c1 step %c1 {
      %x = warp.wait %p : !p
      // expected-error@+1 {{expected a warp.release of pipe "p" after the loop of stage "c" for the slot that lags, found none}}
      warp.release %p lag 1 : !p
    }
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @condition(%m: memref<?x?xbf16>) {
  %yes = arith.constant true
  %p = warp.pipe "p" : !p
  warp.stage @a {
    scf.if %yes {
      %x = warp.acquire %p : !p
      // expected-error@+1 {{expected only loops around it in stage "a", got scf.if}}
      warp.commit %p : !p
    }
  }
  warp.stage @c {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @carried_tile(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @c {
    %x = warp.wait %p : !p
    %r = scf.for %k = %c0 to %c1 step %c1 iter_args(%y = %x) -> (!t) {
      // expected-error@+1 {{expected tiles that warp.acquire or warp.wait gave}}
      warp.copy %y to %m[%k, %k] engine threads : !t, memref<?x?xbf16>
      scf.yield %y : !t
    }
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @counts(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xbf16>
  %k0 = memref.dim %m, %c1 : memref<?x?xbf16>
  %s = warp.work_stream(%n, %n, %n) raster 1
  // expected-error@+1 {{expected equal counts on both sides of pipe "p" in each item, got 2 in stage "a" and 1 in stage "c"}}
  %p = warp.pipe "p" : !p
  warp.stage @a {
    warp.for_each(%i, %j, %b) in %s {
      %x = warp.acquire %p : !p
      warp.commit %p : !p
      %y = warp.acquire %p : !p
      warp.commit %p : !p
    }
  }
  warp.stage @c {
    warp.for_each(%i, %j, %b) in %s {
      %x = warp.wait %p : !p
      warp.release %p : !p
    }
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @levels(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xbf16>
  %k0 = memref.dim %m, %c1 : memref<?x?xbf16>
  // expected-error@+1 {{expected equal counts on both sides of pipe "p" in each kernel, got a loop in stage "a" and 1 in stage "c"}}
  %p = warp.pipe "p" : !p
  warp.stage @a {
    // expected-note@+1 {{the loop}}
    scf.for %k = %c0 to %n step %c1 {
      %x = warp.acquire %p : !p
      warp.commit %p : !p
    }
  }
  warp.stage @c {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @bounds(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xbf16>
  %k0 = memref.dim %m, %c1 : memref<?x?xbf16>
  // expected-error@+1 {{expected loops of equal bounds around pipe "p" in stage "a" and stage "c"}}
  %p = warp.pipe "p" : !p
  warp.stage @a {
    // expected-note@+1 {{loop of the producer}}
    scf.for %k = %c0 to %n step %c1 {
      %x = warp.acquire %p : !p
      warp.commit %p : !p
    }
  }
  warp.stage @c {
    // expected-note@+1 {{loop of the consumer}}
    scf.for %k = %c0 to %k0 step %c1 {
      %x = warp.wait %p : !p
      warp.release %p : !p
    }
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @runs_ahead(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xbf16>
  %k0 = memref.dim %m, %c1 : memref<?x?xbf16>
  %s = warp.work_stream(%n, %n, %n) raster 1
  %p = warp.pipe "p" : !p
  %q = warp.pipe "q" : !p
  warp.stage @a {
    warp.for_each(%i, %j, %b) in %s {
      scf.for %k = %c0 to %n step %c1 {
        // expected-error@+1 {{deadlock: stage "a" waits for an empty slot of pipe "p" (item 0, iteration 2)}}
        %x = warp.acquire %p : !p
        warp.commit %p : !p
      }
      scf.for %k = %c0 to %n step %c1 {
        %x = warp.acquire %q : !p
        warp.commit %q : !p
      }
    }
  }
  warp.stage @c {
    warp.for_each(%i, %j, %b) in %s {
      scf.for %k = %c0 to %n step %c1 {
        %x = warp.wait %p : !p
        // expected-note@+1 {{and stage "c" waits for a full slot of pipe "q" (item 0, iteration 0)}}
        %y = warp.wait %q : !p
        warp.release %p : !p
        warp.release %q : !p
      }
    }
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @cycle(%m: memref<?x?xbf16>) {
  %p = warp.pipe "p" : !p
  %q = warp.pipe "q" : !p
  warp.stage @a {
    // expected-error@+1 {{deadlock: stage "a" waits for a full slot of pipe "q" (outside of loops)}}
    %x = warp.wait %q : !p
    warp.release %q : !p
    %y = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @c {
    // expected-note@+1 {{and stage "c" waits for a full slot of pipe "p" (outside of loops)}}
    %x = warp.wait %p : !p
    warp.release %p : !p
    %y = warp.acquire %q : !p
    warp.commit %q : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
// A cycle is fine while slots back it: "a" sends before it waits.
warp.kernel @backed_cycle(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xbf16>
  %p = warp.pipe "p" : !p
  %q = warp.pipe "q" : !p
  warp.stage @a {
    scf.for %k = %c0 to %n step %c1 {
      %y = warp.acquire %p : !p
      warp.commit %p : !p
      %x = warp.wait %q : !p
      warp.release %q : !p
    }
  }
  warp.stage @c {
    scf.for %k = %c0 to %n step %c1 {
      %x = warp.wait %p : !p
      warp.release %p : !p
      %y = warp.acquire %q : !p
      warp.commit %q : !p
    }
  }
}

// -----
!p = !warp.pipe<smem, 1, !warp.tile<8x64xbf16>>
// A slot that goes back one iteration late is one that the producer lacks.
warp.kernel @lag_of_one_slot(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xbf16>
  %p = warp.pipe "p" : !p
  warp.role @a stages ["a"] warps 0 to 1 {
    scf.for %k = %c0 to %n step %c1 {
      // expected-error@+1 {{deadlock: role "a" waits for an empty slot of pipe "p" (iteration 1)}}
      %y = warp.acquire %p : !p
      warp.commit %p : !p
    }
  }
  warp.role @c stages ["c"] warps 4 to 8 {
    scf.for %k = %c0 to %n step %c1 {
      // expected-note@+1 {{and role "c" waits for a full slot of pipe "p" (iteration 1)}}
      %x = warp.wait %p : !p
      warp.release %p lag 1 : !p
    }
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 5, !warp.tile<8x64xbf16>>
// More slots at once than the small instance has: the true depth decides.
warp.kernel @deep(%m: memref<?x?xbf16>) {
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %x0 = warp.acquire %p : !p
    warp.commit %p : !p
    %x1 = warp.acquire %p : !p
    warp.commit %p : !p
    %x2 = warp.acquire %p : !p
    warp.commit %p : !p
    %x3 = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @c {
    %x0 = warp.wait %p : !p
    %x1 = warp.wait %p : !p
    %x2 = warp.wait %p : !p
    %x3 = warp.wait %p : !p
    warp.release %p : !p
    warp.release %p : !p
    warp.release %p : !p
    warp.release %p : !p
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @use_after_release(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xbf16>
  %k0 = memref.dim %m, %c1 : memref<?x?xbf16>
  %p = warp.pipe "p" : !p
  warp.stage @a {
    scf.for %k = %c0 to %n step %c1 {
      %y = warp.acquire %p : !p
      warp.commit %p : !p
    }
  }
  warp.stage @c {
    scf.for %k = %c0 to %n step %c1 {
      %x = warp.wait %p : !p
      warp.release %p : !p
      // expected-error@+1 {{overwrite before read: expected stage "c" to use a slot of pipe "p" before it releases it, got the use after it (iteration 0)}}
      warp.copy %x to %m[%k, %k] engine threads : !t, memref<?x?xbf16>
    }
  }
}

// -----
!p = !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
!t = !warp.tile<8x64xbf16>
warp.kernel @write_after_commit(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?x?xbf16>
  %k0 = memref.dim %m, %c1 : memref<?x?xbf16>
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %y = warp.acquire %p : !p
    warp.commit %p : !p
    // expected-error@+1 {{overwrite before read: expected stage "a" to use a slot of pipe "p" before it commits it, got the use after it (outside of loops)}}
    warp.copy %m[%n, %n] to %y engine threads : memref<?x?xbf16>, !t
  }
  warp.stage @c {
    %x = warp.wait %p : !p
    warp.release %p : !p
  }
}

// -----
!q = !warp.pipe<accumulator, 2, !warp.acc<64x64xf32>>
!p = !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
!acc = !warp.acc<64x64xf32>
warp.kernel @multiply_after_commit(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "p" : !p
  %q = warp.pipe "q" : !q
  warp.stage @load {
    %x = warp.acquire %p : !p
    warp.commit %p : !p
  }
  warp.stage @mma {
    %x = warp.wait %p : !p
    %c = warp.acquire %q : !q
    %r = warp.mma %x, %x, %c accumulate %yes : !warp.tile<64x64xbf16>, !warp.tile<64x64xbf16>, !acc
    warp.commit %q, %r : !q, !acc
    // expected-error@+1 {{overwrite before read: expected stage "mma" to use a slot of pipe "q" before it commits it, got the use after it (outside of loops)}}
    %s = warp.mma %x, %x, %r accumulate %yes : !warp.tile<64x64xbf16>, !warp.tile<64x64xbf16>, !acc
    warp.release %p after %s : !p, !acc
  }
  warp.stage @epilogue {
    %r = warp.wait %q : !q
    warp.release %q : !q
  }
}

// -----
// A second acquire would hide the slot that the first commit is meant to fill.
!p = !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
warp.kernel @two_acquires(%m: memref<?x?xbf16>) {
  %p = warp.pipe "p" : !p
  warp.stage @a {
    %x = warp.acquire %p : !p
    // expected-error@+1 {{expected a warp.commit of pipe "p" between two warp.acquire in the same kernel of stage "a", found none}}
    %y = warp.acquire %p : !p
    warp.commit %p : !p
    warp.commit %p : !p
  }
  warp.stage @c {
    %x = warp.wait %p : !p
    warp.release %p : !p
    %y = warp.wait %p : !p
    warp.release %p : !p
  }
}
