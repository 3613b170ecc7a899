// Fences between ranks stand once for all ranks, outside of the loops that signal.
// RUN: heddle-opt %s --warp-insert-fences | FileCheck %s
// RUN: heddle-opt %s --warp-insert-fences --warp-check-ordering

!m = memref<?xf32>
!p = !warp.pipe<peer, 1, !m>
!t = !warp.tile<1x32xf32, linear>
!s = !warp.pipe<smem, 2, !t>
// CHECK-LABEL: warp.kernel @push
// CHECK: warp.peer_acquire
// CHECK: }
// CHECK-NEXT: warp.fence <proxy_global>
// CHECK: warp.release
// CHECK-NEXT: warp.fence <bulk_done>
// CHECK-NEXT: warp.fence <proxy_global>
// CHECK-NEXT: scf.for
// CHECK: warp.peer_commit
// CHECK: }
// CHECK-NEXT: scf.for
// CHECK: warp.peer_wait
// CHECK: }
// CHECK-NEXT: warp.fence <proxy_global>
warp.kernel @push(%x: !m, %d: !m {warp.symmetric}) attributes {target = "sm_90a"} {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %yes = arith.constant true
  %n = warp.world
  %others = arith.subi %n, %one : i64
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
    %b = warp.wait %s : !s
    scf.for %i = %z to %others step %one : i64 {
      %r = warp.nth_peer %i
      %there = warp.peer %p[%r] : !p -> !m
      warp.transfer %b to %there[%z] count %one engine bulk : !t, !m
    }
    warp.release %s : !s
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
