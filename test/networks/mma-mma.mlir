// A hand-off between two multiplications through shared memory:
// D = bf16(A B^T) C^T. For each block of 64 columns of A B^T, the first mma sums over K,
// the handoff rounds the sums to bf16 and packs them into a tile, and the second mma
// multiplies the tile with a block of C.
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
