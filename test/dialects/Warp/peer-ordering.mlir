// Kernels between ranks whose ordering cannot be shown are refused.
// RUN: heddle-opt %s --warp-check-ordering --split-input-file --verify-diagnostics

!m = memref<?xf32>
!p = !warp.pipe<peer, 1, !m>
!t = !warp.tile<1x32xf32, linear>
!s = !warp.pipe<smem, 2, !t>
// The credit is not ordered before the copies.
warp.kernel @push(%x: !m, %d: !m {warp.symmetric}) attributes {target = "sm_90a"} {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
  // expected-note@+1 {{pipe "recv"}}
  %p = warp.peer_pipe "recv" push over %d : !m -> !p
  %s = warp.pipe "chunks" : !s
  warp.stage @load {
    %a = warp.acquire %s : !s
    warp.transfer %x[%z] to %a count %one engine bulk : !m, !t
    warp.commit %s : !s
  }
  warp.stage @send {
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.peer_release %p[%r] if %yes : !p
    }
    // expected-error@+1 {{expected warp.fence <proxy_global> after it to order what is written to pipe "recv" by another rank and read by the copy engine of stage "send", found none}}
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_acquire %p[%r] if %yes : !p
    }
    %b = warp.wait %s : !s
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %there = warp.peer %p[%r] : !p -> !m
      warp.transfer %b to %there[%z] count %one engine bulk : !t, !m
    }
    warp.release %s : !s
    warp.fence <bulk_done>
    warp.fence <proxy_global>
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.peer_commit %p[%r] if %yes : !p
    }
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_wait %p[%r] if %yes : !p
    }
  }
}

// -----

!m = memref<?xf32>
!p = !warp.pipe<peer, 1, !m>
!t = !warp.tile<1x32xf32, linear>
!s = !warp.pipe<smem, 2, !t>
// What is announced may not be there yet.
warp.kernel @push(%x: !m, %d: !m {warp.symmetric}) attributes {target = "sm_90a"} {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
  // expected-note@+1 {{pipe "recv"}}
  %p = warp.peer_pipe "recv" push over %d : !m -> !p
  %s = warp.pipe "chunks" : !s
  warp.stage @load {
    %a = warp.acquire %s : !s
    warp.transfer %x[%z] to %a count %one engine bulk : !m, !t
    warp.commit %s : !s
  }
  warp.stage @send {
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.peer_release %p[%r] if %yes : !p
    }
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_acquire %p[%r] if %yes : !p
    }
    warp.fence <proxy_global>
    %b = warp.wait %s : !s
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %there = warp.peer %p[%r] : !p -> !m
      warp.transfer %b to %there[%z] count %one engine bulk : !t, !m
    }
    warp.release %s : !s
    warp.fence <proxy_global>
    // expected-error@+1 {{expected warp.fence <bulk_done> before it to order what is written to pipe "recv" by the copy engine of stage "send" and read by another rank, found none}}
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.peer_commit %p[%r] if %yes : !p
    }
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_wait %p[%r] if %yes : !p
    }
  }
}

// -----

!m = memref<?xf32>
!p = !warp.pipe<peer, 1, !m>
!t = !warp.tile<1x32xf32, linear>
!s = !warp.pipe<smem, 2, !t>
// The copies are of another proxy than the flag.
warp.kernel @push(%x: !m, %d: !m {warp.symmetric}) attributes {target = "sm_90a"} {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
  // expected-note@+1 {{pipe "recv"}}
  %p = warp.peer_pipe "recv" push over %d : !m -> !p
  %s = warp.pipe "chunks" : !s
  warp.stage @load {
    %a = warp.acquire %s : !s
    warp.transfer %x[%z] to %a count %one engine bulk : !m, !t
    warp.commit %s : !s
  }
  warp.stage @send {
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.peer_release %p[%r] if %yes : !p
    }
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_acquire %p[%r] if %yes : !p
    }
    warp.fence <proxy_global>
    %b = warp.wait %s : !s
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %there = warp.peer %p[%r] : !p -> !m
      warp.transfer %b to %there[%z] count %one engine bulk : !t, !m
    }
    warp.release %s : !s
    warp.fence <bulk_done>
    // expected-error@+1 {{expected warp.fence <proxy_global> before it to order what is written to pipe "recv" by the copy engine of stage "send" and read by another rank, found none}}
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.peer_commit %p[%r] if %yes : !p
    }
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_wait %p[%r] if %yes : !p
    }
  }
}

// -----

!m = memref<?xf32>
!p = !warp.pipe<peer, 1, !m>
!t = !warp.tile<1x32xf32, linear>
!s = !warp.pipe<smem, 2, !t>
// Given back while the copy may still read.
warp.kernel @early(%x: !m {warp.symmetric}) attributes {target = "sm_90a"} {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %r = warp.nth_peer %z
  %p = warp.peer_pipe "ready" pull over %x : !m -> !p
  %s = warp.pipe "chunks" : !s
  warp.stage @load {
    warp.peer_commit %p[%r] if %yes : !p
    %ok = warp.peer_wait %p[%r] if %yes : !p
    warp.fence <proxy_global>
    %there = warp.peer %p[%r] : !p -> !m
    %a = warp.acquire %s : !s
    warp.transfer %there[%z] to %a count %one engine bulk : !m, !t
    warp.commit %s : !s
    // expected-error@+1 {{expected the release of pipe "ready" to follow a warp.wait for what the copy engine of stage "load" fills: the copy may still read what another rank overwrites}}
    warp.peer_release %p[%r] if %yes : !p
    %ok2 = warp.peer_acquire %p[%r] if %yes : !p
    warp.fence <proxy_global>
  }
  warp.stage @use {
    %b = warp.wait %s : !s
    warp.release %s : !s
  }
}

// -----

!m = memref<?xf32>
!p = !warp.pipe<peer, 1, !m>
// Another stage's credit.
warp.kernel @not_mine(%x: !m, %d: !m {warp.symmetric}) attributes {target = "sm_90a"} {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %r = warp.nth_peer %z
  %p = warp.peer_pipe "recv" push over %d : !m -> !p
  warp.stage @ask {
    warp.peer_release %p[%r] if %yes : !p
    %ok = warp.peer_acquire %p[%r] if %yes : !p
  }
  warp.stage @copy {
    %there = warp.peer %p[%r] : !p -> !m
    // expected-error@+1 {{expected warp.peer_acquire of pipe "recv" before it in stage "copy", found none}}
    warp.transfer %x[%z] to %there[%z] count %one engine threads : !m, !m
    warp.peer_commit %p[%r] if %yes : !p
    %ok = warp.peer_wait %p[%r] if %yes : !p
  }
}
