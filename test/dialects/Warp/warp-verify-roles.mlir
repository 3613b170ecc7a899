// Hand-made or edited roles are held to what their instructions and the CTA can do.
// RUN: heddle-opt %s --warp-verify-roles --split-input-file --verify-diagnostics

!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @good(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
// 40 + 240 + 240 hangs an H200, also when somebody writes it into the roles.
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// expected-error@+1 {{expected the warpgroups to share 504 registers (168 at launch x 3 warpgroups), got 520 (40 + 240 + 240)}}
warp.kernel @pool(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 240 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @no_setmaxnreg(%m: memref<?x?xbf16>) attributes {target = "sm_89", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  // expected-error@+1 {{expected 0 registers, since sm_89 cannot move registers between warps, got 40}}
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// expected-error@+1 {{expected whole warpgroups of 4 warps to move registers, got 13 warps}}
warp.kernel @partial_group(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 13 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @overlap(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 5 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  // expected-error@+1 {{expected warps of its own, got 4 to 12, where role "load" has 0 to 5}}
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @outside(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 8 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  // expected-error@+1 {{expected warps within the kernel's num_warps, 8, got 4 to 12}}
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @unaligned(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  // expected-error@+1 {{expected the first warp to be a multiple of 4, a whole warpgroup, got 1}}
  warp.role @mma stages ["mma"] warps 1 to 9 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @divide(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  // expected-error@+1 {{expected warps that can divide '!warp.acc<128x128xf32>' into 64 rows a warpgroup of 4 warps, got 6 warps}}
  warp.role @mma stages ["mma"] warps 4 to 10 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// expected-error@+1 {{expected attribute num_warps (run warp-assign-roles), got none}}
warp.kernel @no_num_warps(%m: memref<?x?xbf16>) attributes {target = "sm_90a", shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
// One arrival too many never comes, one too few lets a slot be refilled while it is read.
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @consumers(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // expected-error@+1 {{expected consumers of pipe "operands" to be 8, the arrivals of 1 role, got 9}}
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 9 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @producers(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // expected-error@+1 {{expected producers of pipe "operands" to be 1, the arrivals of role "load", got 32}}
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 32 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @unplaced(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // expected-error@+1 {{expected pipe "operands" to have offset, barriers, producers and consumers (run warp-allocate)}}
  %p = warp.pipe "operands" {} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// expected-error@+1 {{expected attribute shared_bytes (run warp-allocate), got none}}
warp.kernel @no_bytes(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// expected-error@+1 {{expected at most 232448 bytes of shared memory on sm_90a, got 240000}}
warp.kernel @too_much(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 240000 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @beyond(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 65536 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // expected-error@+1 {{expected the slots of "operands" within the kernel's shared_bytes, 65536, got 1024 to 66560}}
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @swizzle(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // expected-error@+1 {{expected slots at a multiple of 1024 bytes, the period of the swizzle, got 512}}
  %p = warp.pipe "operands" {offset = 512 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @barriers(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // expected-error@+1 {{expected barriers at a multiple of 8 bytes, got 4}}
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 4 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!regs = !warp.pipe<regs, 1, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @over_barriers(%m: memref<?x?xbf16>) attributes {target = "sm_90a", num_warps = 12 : i64, shared_bytes = 66560 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  // expected-error@+1 {{expected the slots of "operands" apart from the barriers of "operands", got bytes 0 to 65536 and 0 to 64}}
  %p = warp.pipe "operands" {offset = 0 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 8 : i64} : !ops
  %s = warp.pipe "sums" : !regs
  warp.role @load stages ["load"] warps 0 to 1 registers 40 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 4 to 12 registers 232 {
    %c = warp.acquire %s : !regs
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    %w = warp.mma_wait %r : !acc
    warp.release %p : !ops
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!tmem = !warp.pipe<tmem, 2, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @good_tmem(%m: memref<?x?xbf16>) attributes {target = "sm_100a", num_warps = 8 : i64, shared_bytes = 66560 : i64, tmem_columns = 256 : i64, tmem_address = 96 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %s = warp.pipe "sums" {offset = 0 : i64, barriers = 64 : i64, producers = 1 : i64, consumers = 4 : i64} : !tmem
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 1 to 2 {
    %c = warp.acquire %s : !tmem
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    warp.release %p after %r : !ops, !acc
    warp.commit %s, %r : !tmem, !acc
  }
  warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
    %r = warp.wait %s : !tmem
    warp.store %r to %m[%c0, %c0] : !acc, memref<?x?xbf16> {
    ^bb0(%e: f32, %i: index, %j: index):
      %h = arith.truncf %e : f32 to bf16
      warp.yield %h : bf16
    }
    warp.release %s : !tmem
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!tmem = !warp.pipe<tmem, 2, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// expected-error@+1 {{expected tmem_columns to be a power of two in 32..512 on sm_100a, got 192}}
warp.kernel @columns(%m: memref<?x?xbf16>) attributes {target = "sm_100a", num_warps = 8 : i64, shared_bytes = 66560 : i64, tmem_columns = 192 : i64, tmem_address = 96 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %s = warp.pipe "sums" {offset = 0 : i64, barriers = 64 : i64, producers = 1 : i64, consumers = 4 : i64} : !tmem
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 1 to 2 {
    %c = warp.acquire %s : !tmem
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    warp.release %p after %r : !ops, !acc
    warp.commit %s, %r : !tmem, !acc
  }
  warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
    %r = warp.wait %s : !tmem
    warp.store %r to %m[%c0, %c0] : !acc, memref<?x?xbf16> {
    ^bb0(%e: f32, %i: index, %j: index):
      %h = arith.truncf %e : f32 to bf16
      warp.yield %h : bf16
    }
    warp.release %s : !tmem
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!tmem = !warp.pipe<tmem, 2, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @column_range(%m: memref<?x?xbf16>) attributes {target = "sm_100a", num_warps = 8 : i64, shared_bytes = 66560 : i64, tmem_columns = 256 : i64, tmem_address = 96 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  // expected-error@+1 {{expected columns within the kernel's tmem_columns, 256, got 128 to 384}}
  %s = warp.pipe "sums" {offset = 128 : i64, barriers = 64 : i64, producers = 1 : i64, consumers = 4 : i64} : !tmem
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 1 to 2 {
    %c = warp.acquire %s : !tmem
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    warp.release %p after %r : !ops, !acc
    warp.commit %s, %r : !tmem, !acc
  }
  warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
    %r = warp.wait %s : !tmem
    warp.store %r to %m[%c0, %c0] : !acc, memref<?x?xbf16> {
    ^bb0(%e: f32, %i: index, %j: index):
      %h = arith.truncf %e : f32 to bf16
      warp.yield %h : bf16
    }
    warp.release %s : !tmem
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!tmem = !warp.pipe<tmem, 2, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// expected-error@+1 {{expected attributes tmem_columns and tmem_address (run warp-allocate), got none}}
warp.kernel @no_columns(%m: memref<?x?xbf16>) attributes {target = "sm_100a", num_warps = 8 : i64, shared_bytes = 66560 : i64, tmem_address = 96 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %s = warp.pipe "sums" {offset = 0 : i64, barriers = 64 : i64, producers = 1 : i64, consumers = 4 : i64} : !tmem
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 1 to 2 {
    %c = warp.acquire %s : !tmem
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    warp.release %p after %r : !ops, !acc
    warp.commit %s, %r : !tmem, !acc
  }
  warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
    %r = warp.wait %s : !tmem
    warp.store %r to %m[%c0, %c0] : !acc, memref<?x?xbf16> {
    ^bb0(%e: f32, %i: index, %j: index):
      %h = arith.truncf %e : f32 to bf16
      warp.yield %h : bf16
    }
    warp.release %s : !tmem
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!tmem = !warp.pipe<tmem, 2, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
// expected-error@+1 {{expected tmem_address apart from the barriers of "sums", got bytes 64 to 68 and 64 to 96}}
warp.kernel @address(%m: memref<?x?xbf16>) attributes {target = "sm_100a", num_warps = 8 : i64, shared_bytes = 66560 : i64, tmem_columns = 256 : i64, tmem_address = 64 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %s = warp.pipe "sums" {offset = 0 : i64, barriers = 64 : i64, producers = 1 : i64, consumers = 4 : i64} : !tmem
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 1 to 2 {
    %c = warp.acquire %s : !tmem
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    warp.release %p after %r : !ops, !acc
    warp.commit %s, %r : !tmem, !acc
  }
  warp.role @epilogue stages ["epilogue"] warps 4 to 8 {
    %r = warp.wait %s : !tmem
    warp.store %r to %m[%c0, %c0] : !acc, memref<?x?xbf16> {
    ^bb0(%e: f32, %i: index, %j: index):
      %h = arith.truncf %e : f32 to bf16
      warp.yield %h : bf16
    }
    warp.release %s : !tmem
  }
}

// -----
!ops = !warp.pipe<smem, 4, !warp.tile<128x64xbf16>>
!tmem = !warp.pipe<tmem, 2, !warp.acc<128x128xf32>>
!a = !warp.tile<128x64xbf16>
!acc = !warp.acc<128x128xf32>
warp.kernel @quarters(%m: memref<?x?xbf16>) attributes {target = "sm_100a", num_warps = 8 : i64, shared_bytes = 66560 : i64, tmem_columns = 256 : i64, tmem_address = 96 : i64} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !ops
  %s = warp.pipe "sums" {offset = 0 : i64, barriers = 64 : i64, producers = 1 : i64, consumers = 4 : i64} : !tmem
  warp.role @load stages ["load"] warps 0 to 1 {
    %x = warp.acquire %p : !ops
    warp.copy %m[%c0, %c0] to %x engine bulk : memref<?x?xbf16>, !a
    warp.commit %p : !ops
  }
  warp.role @mma stages ["mma"] warps 1 to 2 {
    %c = warp.acquire %s : !tmem
    %x = warp.wait %p : !ops
    %r = warp.mma %x, %x, %c accumulate %yes : !a, !a, !acc
    warp.release %p after %r : !ops, !acc
    warp.commit %s, %r : !tmem, !acc
  }
  // expected-error@+1 {{expected a multiple of 4 warps, one for each quarter of tensor memory, got 3}}
  warp.role @epilogue stages ["epilogue"] warps 4 to 7 {
    %r = warp.wait %s : !tmem
    warp.store %r to %m[%c0, %c0] : !acc, memref<?x?xbf16> {
    ^bb0(%e: f32, %i: index, %j: index):
      %h = arith.truncf %e : f32 to bf16
      warp.yield %h : bf16
    }
    warp.release %s : !tmem
  }
}
