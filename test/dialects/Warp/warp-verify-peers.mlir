// Protocols between ranks that can hang or touch memory too early are refused with rank, role
// and pipe.
// RUN: heddle-opt %s --warp-verify-protocol --split-input-file --verify-diagnostics

!m = memref<?xf32>
!p = !warp.pipe<peer, 1, !m>
// Every rank gives credit, takes it, writes, tells and waits: accepted.
warp.kernel @good(%x: !m, %d: !m {warp.symmetric}) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
  %p = warp.peer_pipe "recv" push over %d : !m -> !p
  warp.stage @copy {
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.peer_release %p[%r] if %yes : !p
    }
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_acquire %p[%r] if %yes : !p
      %there = warp.peer %p[%r] : !p -> !m
      warp.transfer %x[%z] to %there[%z] count %one engine threads : !m, !m
      warp.peer_commit %p[%r] if %ok : !p
    }
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_wait %p[%r] if %yes : !p
    }
  }
}

// -----

!p = !warp.pipe<peer, 1>
// Nobody gives credit.
warp.kernel @no_credit() {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
  %p = warp.peer_pipe "recv" push -> !p
  warp.stage @copy {
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      // expected-error@+3 {{deadlock: stage "copy" waits for rank 1 on pipe "recv" (iteration 0, rank 0)}}
      // expected-note@+2 {{and stage "copy" waits for rank 2 on pipe "recv" (iteration 0, rank 1)}}
      // expected-note@+1 {{and stage "copy" waits for rank 0 on pipe "recv" (iteration 0, rank 2)}}
      %ok = warp.peer_acquire %p[%r] if %yes : !p
      warp.peer_commit %p[%r] if %yes : !p
      %ok2 = warp.peer_wait %p[%r] if %yes : !p
    }
  }
}

// -----

!p = !warp.pipe<peer, 1>
// Each waits for the next before it tells anybody: a ring of waits.
warp.kernel @ring() {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
  %p = warp.peer_pipe "ready" pull -> !p
  warp.stage @copy {
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      // expected-error@+3 {{deadlock: stage "copy" waits for rank 1 on pipe "ready" (iteration 0, rank 0)}}
      // expected-note@+2 {{and stage "copy" waits for rank 2 on pipe "ready" (iteration 0, rank 1)}}
      // expected-note@+1 {{and stage "copy" waits for rank 0 on pipe "ready" (iteration 0, rank 2)}}
      %ok = warp.peer_wait %p[%r] if %yes : !p
      warp.peer_commit %p[%r] if %yes : !p
      warp.peer_release %p[%r] if %yes : !p
      %ok2 = warp.peer_acquire %p[%r] if %yes : !p
    }
  }
}

// -----

!p = !warp.pipe<peer, 1>
// The last rank is left out.
warp.kernel @one_left() {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  // expected-error@+1 {{expected one round of pipe "ready" from each rank to each other one, got 0 acquired, 0 committed, 0 waited for and 0 released from rank 0 to rank 2}}
  %p = warp.peer_pipe "ready" pull -> !p
  warp.stage @copy {
    %r = warp.nth_peer %z
    %back = warp.nth_peer %one
    warp.peer_commit %p[%r] if %yes : !p
    %ok = warp.peer_wait %p[%back] if %yes : !p
    warp.peer_release %p[%back] if %yes : !p
    %ok2 = warp.peer_acquire %p[%r] if %yes : !p
  }
}

// -----

!m = memref<?xf32>
!p = !warp.pipe<peer, 1, !m>
// Written after it was announced.
warp.kernel @late_write(%x: !m, %d: !m {warp.symmetric}) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
  %p = warp.peer_pipe "recv" push over %d : !m -> !p
  warp.stage @copy {
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.peer_release %p[%r] if %yes : !p
    }
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_acquire %p[%r] if %yes : !p
      %there = warp.peer %p[%r] : !p -> !m
      warp.peer_commit %p[%r] if %ok : !p
      // expected-error@+1 {{expected it between warp.peer_acquire and warp.peer_commit of pipe "recv"}}
      warp.transfer %x[%z] to %there[%z] count %one engine threads : !m, !m
      %ok2 = warp.peer_wait %p[%r] if %yes : !p
    }
  }
}

// -----

!m = memref<?xf32>
!p = !warp.pipe<peer, 1, !m>
// A pull pipe's memory belongs to its owner.
warp.kernel @wrong_way(%x: !m {warp.symmetric}) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
  %p = warp.peer_pipe "ready" pull over %x : !m -> !p
  warp.stage @copy {
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.peer_commit %p[%r] if %yes : !p
    }
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %ok = warp.peer_wait %p[%r] if %yes : !p
      %there = warp.peer %p[%r] : !p -> !m
      // expected-error@+1 {{expected reads of other ranks' memory of a pull pipe, got a write}}
      warp.transfer %x[%z] to %there[%z] count %one engine threads : !m, !m
      warp.peer_release %p[%r] if %yes : !p
      %ok2 = warp.peer_acquire %p[%r] if %yes : !p
    }
  }
}

// -----

!p = !warp.pipe<peer, 1>
// Whom it tells depends on what it was given.
warp.kernel @unknown(%x: memref<?xf32>) {
  %zero = arith.constant 0 : index
  %d = memref.dim %x, %zero : memref<?xf32>
  %r = arith.index_cast %d : index to i64
  %yes = arith.constant true
  %p = warp.peer_pipe "ready" pull -> !p
  warp.stage @copy {
    // expected-error@+1 {{expected a rank below the world that follows from loops, warp.rank and warp.world}}
    warp.peer_commit %p[%r] if %yes : !p
  }
}

// -----

!p = !warp.pipe<peer, 1>
// Whoever only sends does not know when it may send again.
warp.kernel @deaf(%x: memref<?xf32>) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
  // expected-error@+1 {{expected one round of pipe "packets" from each rank to each other one, got 0 acquired, 1 committed, 0 waited for and 0 released from rank 0 to rank 1}}
  %p = warp.peer_pipe "packets" packets of 128 -> !p
  warp.stage @send {
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      warp.packet_send %p[%r] from %x[%z] count %one if %yes : !p, memref<?xf32>
    }
  }
}
