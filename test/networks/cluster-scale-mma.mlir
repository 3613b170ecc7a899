// D = scale(A) B^T by clusters of 2 x 2 CTAs: those of a row share the tiles of A, which threads scale
// on their way, those of a column the tiles of B, which the tensor cores read as they come.
//
// RUN: heddlec %s --arch=sm_90a --emit=roles | FileCheck %s --check-prefix=ROLES
// RUN: heddlec %s --arch=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: heddlec %s --arch=sm_100a --emit=ptx -o - | FileCheck %s --check-prefix=SM100A
// What the roles level prints is what it reads: it compiles on from there.
// RUN: heddlec %s --arch=sm_90a --emit=roles > %t.roles.mlir
// RUN: heddlec %t.roles.mlir --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: mkdir -p %t.cubins
// RUN: %if ptxas %{ heddlec %s --arch=sm_90a,sm_100a,sm_103a --emit=cubin -o %t.cubins %}
// RUN: not heddlec %s --arch=sm_80 --emit=ptx -o - 2>&1 | FileCheck %s --check-prefix=NONE
//
// Each consumer arrives in both CTAs that write to its slots: 4 warps of threads, 8 of wgmma.
// ROLES: warp.pipe "raw" {{.*}}consumers = 8 : i64
// ROLES: warp.pipe "b" {{.*}}consumers = 16 : i64
// PTX: .explicitcluster
// PTX: .reqnctapercluster 4, 1, 1
// PTX: barrier.cluster.arrive
// PTX: barrier.cluster.wait
// A slot that threads have read is taken over by acquire, one that wgmma has read needs no order.
// PTX-DAG: mbarrier.try_wait.parity.acquire.cluster
// PTX-DAG: cp.async.bulk.tensor.2d.shared::cluster{{.*}}.multicast::cluster
// PTX-DAG: mbarrier.try_wait.parity.relaxed.cluster
// PTX-DAG: cp.async.bulk.tensor.2d.shared::cluster{{.*}}.multicast::cluster
// The last slots are waited for: no CTA ends while another one still arrives here.
// PTX-DAG: mbarrier.try_wait.parity.{{relaxed|acquire}}.cluster
// PTX-DAG: mbarrier.arrive.relaxed.cluster.shared::cluster
// PTX-DAG: mbarrier.arrive.release.cluster.shared::cluster
// SM100A: tcgen05.commit{{.*}}.multicast::cluster
// NONE: {{expected a target with clusters for a cluster of 2 x 2, got sm_80}}
warp.kernel @cluster_scale_mma(
    %a: memref<?x?xbf16, strided<[?, 1]>> {warp.name = "A", warp.dims = ["M", "K"]},
    %b: memref<?x?xbf16, strided<[?, 1]>> {warp.name = "B", warp.dims = ["N", "K"]},
    %factor: f32 {warp.name = "factor"},
    %d: memref<?x?xf32, strided<[?, 1]>> {warp.name = "D", warp.dims = ["M", "N"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %m = memref.dim %a, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %k = memref.dim %a, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %n = memref.dim %b, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %rows = arith.ceildivui %m, %c128 : index
  %cols = arith.ceildivui %n, %c64 : index
  %kb = arith.ceildivui %k, %c64 : index
  %items = warp.work_stream(%rows, %cols, %c1) raster 8 cluster [2, 2]
  %raw = warp.pipe "raw" : !warp.pipe<cluster, 2, !warp.tile<128x64xbf16>>
  %scaled = warp.pipe "scaled" : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
  %bs = warp.pipe "b" : !warp.pipe<cluster, 3, !warp.tile<64x64xbf16>>
  %sums = warp.pipe "sums" : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>

  warp.stage @load {
    warp.for_each(%i, %j, %z) in %items {
      %row = arith.muli %i, %c128 : index
      %col = arith.muli %j, %c64 : index
      scf.for %s = %c0 to %kb step %c1 {
        %at = arith.muli %s, %c64 : index
        %x = warp.acquire %raw : !warp.pipe<cluster, 2, !warp.tile<128x64xbf16>>
        warp.copy %a[%row, %at] to %x multicast row engine bulk : memref<?x?xbf16, strided<[?, 1]>>, !warp.tile<128x64xbf16>
        warp.commit %raw : !warp.pipe<cluster, 2, !warp.tile<128x64xbf16>>
        %y = warp.acquire %bs : !warp.pipe<cluster, 3, !warp.tile<64x64xbf16>>
        warp.copy %b[%col, %at] to %y multicast col engine bulk : memref<?x?xbf16, strided<[?, 1]>>, !warp.tile<64x64xbf16>
        warp.commit %bs : !warp.pipe<cluster, 3, !warp.tile<64x64xbf16>>
      }
    }
  }
  warp.stage @scale {
    warp.for_each(%i, %j, %z) in %items {
      scf.for %s = %c0 to %kb step %c1 {
        %x = warp.wait %raw : !warp.pipe<cluster, 2, !warp.tile<128x64xbf16>>
        %y = warp.acquire %scaled : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
        warp.map %x to %y : !warp.tile<128x64xbf16>, !warp.tile<128x64xbf16> {
        ^bb0(%e: bf16, %ei: index, %ej: index):
          %wide = arith.extf %e : bf16 to f32
          %product = arith.mulf %wide, %factor : f32
          %narrow = arith.truncf %product : f32 to bf16
          warp.yield %narrow : bf16
        }
        warp.commit %scaled : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
        warp.release %raw : !warp.pipe<cluster, 2, !warp.tile<128x64xbf16>>
      }
    }
  }
  warp.stage @mma {
    warp.for_each(%i, %j, %z) in %items {
      %first = warp.acquire %sums : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
      %sum = scf.for %s = %c0 to %kb step %c1 iter_args(%acc = %first) -> (!warp.acc<128x64xf32>) {
        %x = warp.wait %scaled : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
        %y = warp.wait %bs : !warp.pipe<cluster, 3, !warp.tile<64x64xbf16>>
        %more = arith.cmpi ne, %s, %c0 : index
        %next = warp.mma %x, %y, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>, !warp.acc<128x64xf32>
        warp.release %scaled after %next : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>, !warp.acc<128x64xf32>
        warp.release %bs after %next : !warp.pipe<cluster, 3, !warp.tile<64x64xbf16>>, !warp.acc<128x64xf32>
        scf.yield %next : !warp.acc<128x64xf32>
      }
      warp.commit %sums, %sum : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>, !warp.acc<128x64xf32>
    }
  }
  warp.stage @epilogue {
    warp.for_each(%i, %j, %z) in %items {
      %row = arith.muli %i, %c128 : index
      %col = arith.muli %j, %c64 : index
      %sum = warp.wait %sums : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
      warp.store %sum to %d[%row, %col] : !warp.acc<128x64xf32>, memref<?x?xf32, strided<[?, 1]>> {
      ^bb0(%e: f32, %ei: index, %ej: index):
        warp.yield %e : f32
      }
      warp.release %sums : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
    }
  }
}
