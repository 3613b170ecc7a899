// Ops between ranks: they print as they parse, and say what is wrong with them.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics | FileCheck %s

!m = memref<?x?x64xbf16>
!p = !warp.pipe<peer, 1, !m>
!t = !warp.tile<1x1024xbf16, linear>
// Each op once.
// CHECK-LABEL: warp.kernel @ops
warp.kernel @ops(%x: memref<?x64xbf16>, %d: !m {warp.symmetric}) attributes {
    comm_schedule = #warp.comm_schedule<ctas = 4, warps = 2, chunk = 2048, stages = 2, keep = stream>} {
  // CHECK: %[[ME:.*]] = warp.rank
  %me = warp.rank
  // CHECK: %[[N:.*]] = warp.world
  %n = warp.world
  // CHECK: warp.channel
  %c = warp.channel
  // CHECK: warp.channels
  %cs = warp.channels
  // CHECK: %[[R:.*]] = warp.nth_peer %[[ME]]
  %r = warp.nth_peer %me
  %yes = arith.constant true
  // CHECK: %[[P:.*]] = warp.peer_pipe "recv" push over %{{.*}} : memref<?x?x64xbf16> -> <peer, 1, memref<?x?x64xbf16>>
  %p = warp.peer_pipe "recv" push over %d : !m -> !p
  // CHECK: warp.peer_pipe "meet" pull -> <peer, 1>
  %q = warp.peer_pipe "meet" pull -> !warp.pipe<peer, 1>
  %s = warp.pipe "chunks" : !warp.pipe<smem, 2, !t>
  warp.stage @a {
    %a = warp.acquire %s : !warp.pipe<smem, 2, !t>
    // CHECK: warp.transfer %{{.*}}[%[[ME]]] to %{{.*}} count %[[N]] engine bulk : memref<?x64xbf16>, !warp.tile<1x1024xbf16, linear>
    warp.transfer %x[%me] to %a count %n engine bulk : memref<?x64xbf16>, !t
    warp.commit %s : !warp.pipe<smem, 2, !t>
  }
  warp.stage @b {
    // CHECK: warp.peer_release %[[P]][%[[R]]] if
    warp.peer_release %p[%r] if %yes : !p
    // CHECK: %[[OK:.*]] = warp.peer_acquire %[[P]][%[[R]]] if
    %ok = warp.peer_acquire %p[%r] if %yes : !p
    // CHECK: warp.peer %[[P]][%[[R]]]
    %there = warp.peer %p[%r] : !p -> !m
    %b = warp.wait %s : !warp.pipe<smem, 2, !t>
    // CHECK: warp.transfer %{{.*}} to %{{.*}}[%[[ME]]] count %[[N]] engine bulk keep stream
    warp.transfer %b to %there[%me] count %n engine bulk keep stream : !t, !m
    // CHECK: warp.transfer %{{.*}} engine threads width 8
    warp.transfer %x[%me] to %there[%me] count %n engine threads width 8 : memref<?x64xbf16>, !m
    // CHECK: warp.spread_zero : <1024, 8>
    %z = warp.spread_zero : !warp.spread<1024, 8>
    // CHECK: warp.spread_add %{{.*}} count %[[N]] to
    %z1 = warp.spread_add %b count %n to %z : !t, !warp.spread<1024, 8>
    // CHECK: warp.spread_add %{{.*}}[%[[ME]]] count %[[N]] to
    %z2 = warp.spread_add %x[%me] count %n to %z1 : memref<?x64xbf16>, !warp.spread<1024, 8>
    // CHECK: warp.spread_store %{{.*}} to %{{.*}}[%[[ME]]] count %[[N]]
    warp.spread_store %z2 to %there[%me] count %n : !warp.spread<1024, 8>, !m
    warp.release %s : !warp.pipe<smem, 2, !t>
    // CHECK: warp.peer_commit %[[P]][%[[R]]] if %[[OK]]
    warp.peer_commit %p[%r] if %ok : !p
    // CHECK: warp.peer_wait %[[P]][%[[R]]] if %[[OK]]
    %done = warp.peer_wait %p[%r] if %ok : !p
  }
}

// Packets.
// CHECK-LABEL: warp.kernel @packets
warp.kernel @packets(%x: memref<?xbf16>) {
  %n = warp.world
  %yes = arith.constant true
  // CHECK: %[[P:.*]] = warp.peer_pipe "packets" packets of 256 -> <peer, 1>
  %p = warp.peer_pipe "packets" packets of 256 -> !warp.pipe<peer, 1>
  warp.stage @a {
    // CHECK: warp.packet_send %[[P]][%[[N:.*]]] from %{{.*}}[%[[N]]] count %[[N]] if
    warp.packet_send %p[%n] from %x[%n] count %n if %yes : !warp.pipe<peer, 1>, memref<?xbf16>
    // CHECK: warp.packet_receive %[[P]][%[[N]]] to %{{.*}}[%[[N]]] count %[[N]] if
    %a = warp.packet_receive %p[%n] to %x[%n] count %n if %yes : !warp.pipe<peer, 1>, memref<?xbf16>
    %z = warp.spread_zero : !warp.spread<128, 4>
    // CHECK: warp.packet_add %[[P]][%[[N]]] self %{{.*}}[%[[N]]] count %[[N]] to %{{.*}} if
    %s, %b = warp.packet_add %p[%n] self %x[%n] count %n to %z if %a : !warp.pipe<peer, 1>, memref<?xbf16>, !warp.spread<128, 4>
  }
}

// -----

warp.kernel @capacity() {
  // expected-error@+1 {{expected a capacity of packets, and of them only}}
  %p = warp.peer_pipe "p" packets -> !warp.pipe<peer, 1>
}

// -----

warp.kernel @verbs(%x: memref<?xbf16>) {
  %n = warp.world
  %yes = arith.constant true
  %p = warp.peer_pipe "p" packets of 256 -> !warp.pipe<peer, 1>
  // expected-error@+1 {{expected a pipe that is none of packets}}
  warp.peer_commit %p[%n] if %yes : !warp.pipe<peer, 1>
}

// -----

// Only symmetric memory can be reached on other ranks.
warp.kernel @local(%d: memref<?xf32>) {
  // expected-error@+1 {{expected argument arg0 to be warp.symmetric}}
  %p = warp.peer_pipe "p" push over %d : memref<?xf32> -> !warp.pipe<peer, 1, memref<?xf32>>
}

// -----

warp.kernel @depth(%d: memref<?xf32> {warp.symmetric}) {
  // expected-error@+1 {{expected a peer pipe to have 1 slot, got 2}}
  %p = warp.peer_pipe "p" push over %d : memref<?xf32> -> !warp.pipe<peer, 2, memref<?xf32>>
}

// -----

warp.kernel @elements(%d: memref<?xf32> {warp.symmetric}) {
  // expected-error@+1 {{expected the pipe to hold the memory it is over}}
  %p = warp.peer_pipe "p" push over %d : memref<?xf32> -> !warp.pipe<peer, 1, memref<?xf16>>
}

// -----

// expected-error@+2 {{failed to parse Warp_PipeType parameter 'elements'}}
// expected-error@+1 {{expected a linear tile of a multiple of 128 bytes, got 1x5 of 4}}
!p = !warp.pipe<smem, 2, !warp.tile<1x5xf32, linear>>

// -----

!t = !warp.tile<8x64xbf16>
warp.kernel @panels(%x: memref<?x64xbf16>) {
  %n = warp.world
  %s = warp.pipe "s" : !warp.pipe<smem, 2, !t>
  warp.stage @a {
    %a = warp.acquire %s : !warp.pipe<smem, 2, !t>
    // expected-error@+1 {{expected the target to be a linear tile}}
    warp.transfer %x[%n] to %a count %n engine bulk : memref<?x64xbf16>, !t
  }
}

// -----

warp.kernel @width(%x: memref<?xf32>) {
  %n = warp.world
  // expected-error@+1 {{expected a width of 1, 2, 4, 8 or 16 bytes, got 32}}
  warp.transfer %x[%n] to %x[%n] count %n engine threads width 8 : memref<?xf32>, memref<?xf32>
}

// -----

warp.kernel @offset(%x: memref<?xf32>) {
  %n = warp.world
  // expected-error@+1 {{expected an offset in the source}}
  warp.transfer %x to %x[%n] count %n engine threads : memref<?xf32>, memref<?xf32>
}

// -----

warp.kernel @bytes(%x: memref<?xf8E4M3FN>) {
  %n = warp.world
  %z = warp.spread_zero : !warp.spread<1024, 8>
  // expected-error@+1 {{expected elements of f32, f16 or bf16, got 'f8E4M3FN'}}
  %y = warp.spread_add %x[%n] count %n to %z : memref<?xf8E4M3FN>, !warp.spread<1024, 8>
}
