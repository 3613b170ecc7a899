// A hand-off between two multiplications through shared memory:
// D = bf16(A B^T) C^T. For each block of 64 columns of A B^T, the first mma sums over K,
// the handoff rounds the sums to bf16 and packs them into a tile, and the second mma
// multiplies the tile with a block of C.
//
// RUN: heddlec %s --arch=sm_80 --emit=roles | FileCheck %s --check-prefix=SM80
// RUN: heddlec %s --arch=sm_90a --emit=roles | FileCheck %s --check-prefix=SM90A
// RUN: heddlec %s --arch=sm_100a --emit=roles | FileCheck %s --check-prefix=SM100A
// RUN: heddlec %s --arch=sm_120a --emit=roles | FileCheck %s --check-prefix=SM120A
// What the roles level prints is what it reads: it compiles on from there.
// RUN: heddlec %s --arch=sm_90a --emit=roles > %t.roles.mlir
// RUN: heddlec %t.roles.mlir --emit=ptx -o - | FileCheck %s --check-prefix=SM90A-PTX
// RUN: heddlec %s --arch=sm_80 --emit=ptx -o - | FileCheck %s --check-prefix=SM80-PTX
// RUN: heddlec %s --arch=sm_100a --emit=ptx -o - | FileCheck %s --check-prefix=SM100A-PTX
// RUN: heddlec %s --arch=sm_120a --emit=ptx -o - | FileCheck %s --check-prefix=SM120A-PTX
// RUN: mkdir -p %t.cubins
// RUN: %if ptxas %{ heddlec %s --arch=sm_80,sm_89,sm_90a,sm_100a,sm_103a,sm_120a --emit=cubin -o %t.cubins %}
//
// SM80: warp.role @load stages ["load"] warps 0 to 4
// SM80: warp.role @mma1 stages ["mma1", "handoff"] warps 4 to 8
// SM80: warp.role @mma2 stages ["mma2", "epilogue"] warps 8 to 12
// SM80-PTX: cp.async
// SM80-PTX: mma.sync
// SM90A: warp.role @load stages ["load"] warps 0 to 1
// SM90A: warp.role @mma1 stages ["mma1", "handoff"] warps 4 to 12
// SM90A: warp.role @mma2 stages ["mma2", "epilogue"] warps 12 to 20
// SM90A-PTX: wgmma.mma_async
// SM100A: warp.role @load stages ["load"] warps 0 to 1
// SM100A: warp.role @mma1 stages ["mma1"] warps 1 to 2
// SM100A: warp.role @mma2 stages ["mma2"] warps 2 to 3
// SM100A: warp.role @handoff stages ["handoff"] warps 4 to 8
// SM100A: warp.role @epilogue stages ["epilogue"] warps 8 to 12
// SM100A-PTX: tcgen05.mma
// SM120A: warp.role @load stages ["load"] warps 0 to 1
// SM120A: warp.role @mma1 stages ["mma1", "handoff"] warps 1 to 5
// SM120A: warp.role @mma2 stages ["mma2", "epilogue"] warps 5 to 9
// SM120A-PTX: cp.async.bulk.tensor
// SM120A-PTX: mma.sync
warp.kernel @mma_mma(
    %a: memref<?x?xbf16, strided<[?, 1]>> {warp.name = "A", warp.dims = ["M", "K"]},
    %b: memref<?x?xbf16, strided<[?, 1]>> {warp.name = "B", warp.dims = ["N", "K"]},
    %c: memref<?x?xbf16, strided<[?, 1]>> {warp.name = "C", warp.dims = ["P", "N"]},
    %d: memref<?x?xf32, strided<[?, 1]>> {warp.name = "D", warp.dims = ["M", "P"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %m = memref.dim %a, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %k = memref.dim %a, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %n = memref.dim %b, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %p = memref.dim %c, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %rows = arith.ceildivui %m, %c128 : index
  %cols = arith.ceildivui %p, %c64 : index
  %kb = arith.ceildivui %k, %c64 : index
  %nb = arith.ceildivui %n, %c64 : index
  %items = warp.work_stream(%rows, %cols, %c1) raster 8
  %ab = warp.pipe "ab" : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
  %cs = warp.pipe "c" : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
  %mid = warp.pipe "mid" : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
  %first = warp.pipe "first" : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
  %second = warp.pipe "second" : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>

  warp.stage @load {
    warp.for_each(%i, %j, %z) in %items {
      %row = arith.muli %i, %c128 : index
      %col = arith.muli %j, %c64 : index
      scf.for %t = %c0 to %nb step %c1 {
        %nat = arith.muli %t, %c64 : index
        scf.for %s = %c0 to %kb step %c1 {
          %at = arith.muli %s, %c64 : index
          %x, %y = warp.acquire %ab : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
          warp.copy %a[%row, %at] to %x engine bulk : memref<?x?xbf16, strided<[?, 1]>>, !warp.tile<128x64xbf16>
          warp.copy %b[%nat, %at] to %y engine bulk : memref<?x?xbf16, strided<[?, 1]>>, !warp.tile<64x64xbf16>
          warp.commit %ab : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
        }
        %w = warp.acquire %cs : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
        warp.copy %c[%col, %nat] to %w engine bulk : memref<?x?xbf16, strided<[?, 1]>>, !warp.tile<64x64xbf16>
        warp.commit %cs : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
      }
    }
  }
  warp.stage @mma1 {
    warp.for_each(%i, %j, %z) in %items {
      scf.for %t = %c0 to %nb step %c1 {
        %init = warp.acquire %first : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
        %sum = scf.for %s = %c0 to %kb step %c1 iter_args(%acc = %init) -> (!warp.acc<128x64xf32>) {
          %x, %y = warp.wait %ab : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>
          %more = arith.cmpi ne, %s, %c0 : index
          %next = warp.mma %x, %y, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>, !warp.acc<128x64xf32>
          warp.release %ab after %next : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>>, !warp.acc<128x64xf32>
          scf.yield %next : !warp.acc<128x64xf32>
        }
        warp.commit %first, %sum : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>, !warp.acc<128x64xf32>
      }
    }
  }
  warp.stage @handoff {
    warp.for_each(%i, %j, %z) in %items {
      scf.for %t = %c0 to %nb step %c1 {
        %sum = warp.wait %first : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
        %tile = warp.acquire %mid : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
        warp.pack %sum columns 0 at (%c0, %c0) to %tile : !warp.acc<128x64xf32>, !warp.tile<128x64xbf16> {
        ^bb0(%e: f32, %ei: index, %ej: index):
          %r = arith.truncf %e : f32 to bf16
          warp.yield %r : bf16
        }
        warp.commit %mid : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
        warp.release %first : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
      }
    }
  }
  warp.stage @mma2 {
    warp.for_each(%i, %j, %z) in %items {
      %init = warp.acquire %second : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
      %sum = scf.for %t = %c0 to %nb step %c1 iter_args(%acc = %init) -> (!warp.acc<128x64xf32>) {
        %x = warp.wait %mid : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
        %y = warp.wait %cs : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
        %more = arith.cmpi ne, %t, %c0 : index
        %next = warp.mma %x, %y, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>, !warp.acc<128x64xf32>
        warp.release %mid after %next : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>, !warp.acc<128x64xf32>
        warp.release %cs after %next : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>, !warp.acc<128x64xf32>
        scf.yield %next : !warp.acc<128x64xf32>
      }
      warp.commit %second, %sum : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>, !warp.acc<128x64xf32>
    }
  }
  warp.stage @epilogue {
    warp.for_each(%i, %j, %z) in %items {
      %row = arith.muli %i, %c128 : index
      %col = arith.muli %j, %c64 : index
      %sum = warp.wait %second : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
      warp.store %sum to %d[%row, %col] : !warp.acc<128x64xf32>, memref<?x?xf32, strided<[?, 1]>> {
      ^bb0(%e: f32, %ei: index, %ej: index):
        warp.yield %e : f32
      }
      warp.release %second : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
    }
  }
}
