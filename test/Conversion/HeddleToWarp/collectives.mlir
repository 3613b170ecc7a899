// Collectives become networks between ranks; which forms there are depends on features of the
// target and on what is known of the sizes.
// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_90a | FileCheck %s --check-prefixes=CHECK,BULK
// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_80 | FileCheck %s --check-prefixes=CHECK,THREADS

// A few bytes go as packets; everything is sent before anything is waited for.
// CHECK-LABEL: warp.kernel @gather__packets
// CHECK-SAME: warp.symmetric
// CHECK: warp.peer_pipe "packets" packets of 4096 -> <peer, 1>
// CHECK: warp.stage @exchange
// CHECK: warp.packet_send
// CHECK: warp.transfer
// CHECK: warp.packet_receive
// Copies: credit first, then the data, then one flag a rank, then everybody else's flags.
// CHECK-LABEL: warp.kernel @gather(
// CHECK: %[[RECV:.*]] = warp.peer_pipe "recv" push over
// BULK: warp.stage @load
// BULK: warp.stage @send
// THREADS-NOT: warp.pipe
// THREADS: warp.stage @copy
// CHECK: warp.peer_release %[[RECV]]
// CHECK: warp.peer_acquire %[[RECV]]
// BULK: warp.transfer {{.*}} engine bulk
// THREADS: warp.transfer {{.*}} engine threads width 8
// CHECK: warp.peer_commit %[[RECV]]
// CHECK: warp.peer_wait %[[RECV]]
// CHECK-LABEL: warp.kernel @gather__unaligned(
// CHECK: warp.transfer {{.*}} engine threads : memref
heddle.kernel @gather(%x: tensor<?xbf16>) -> tensor<?x?xbf16> {
  %0 = heddle.all_gather %x : tensor<?xbf16> to tensor<?x?xbf16>
  heddle.return %0 : tensor<?x?xbf16>
}

// A part of 7 x 2 bytes never is a multiple of 16: only the form for that is built.
// CHECK-NOT: warp.kernel @odd__packets
// CHECK-LABEL: warp.kernel @odd(
// CHECK-SAME: heddle.variant = "unaligned"
// CHECK-NOT: warp.kernel @odd__
heddle.kernel @odd(%x: tensor<7xbf16>) -> tensor<?x7xbf16> {
  %0 = heddle.all_gather %x : tensor<7xbf16> to tensor<?x7xbf16>
  heddle.return %0 : tensor<?x7xbf16>
}

// Sums pull: a rank says that its operand is ready, and stays until it has been read.
// CHECK-LABEL: warp.kernel @reduce__packets
// CHECK: warp.packet_add
// CHECK-LABEL: warp.kernel @reduce(
// CHECK-SAME: bytes times ranks beyond two, for one shot
// CHECK: %[[READY:.*]] = warp.peer_pipe "ready" pull over
// CHECK: warp.peer_commit %[[READY]]
// CHECK: warp.peer_wait %[[READY]]
// CHECK: warp.spread_add
// CHECK: warp.peer_release %[[READY]]
// CHECK: warp.peer_acquire %[[READY]]
// Two shots: what a rank has summed it stores to all.
// CHECK-LABEL: warp.kernel @reduce__two_shot
// CHECK: warp.peer_pipe "ready" pull over
// CHECK: %[[RECV:.*]] = warp.peer_pipe "recv" push over
// CHECK: %[[THERE:.*]] = warp.peer %[[RECV]]
// CHECK: warp.spread_store {{.*}} to %[[THERE]]
// CHECK: warp.peer_commit %[[RECV]]
heddle.kernel @reduce(%x: tensor<?xbf16>) -> tensor<?xbf16> {
  %0 = heddle.all_reduce %x : tensor<?xbf16> to tensor<?xbf16>
  heddle.return %0 : tensor<?xbf16>
}

// CHECK-LABEL: warp.kernel @meet(
// CHECK: warp.peer_pipe "ready" pull -> <peer, 1>
heddle.kernel @meet() {
  heddle.barrier
  heddle.return
}
