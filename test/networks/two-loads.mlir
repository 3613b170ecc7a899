// Two load stages, each with a pipe of its own, merge into one mma: A comes by bulk copies,
// B, stored [K, N], is transposed by the threads that load it.
// D = relu(A B), f32.
warp.kernel @two_loads(
    %a: memref<?x?xbf16, strided<[?, 1]>> {warp.name = "A", warp.dims = ["M", "K"]},
    %b: memref<?x?xbf16, strided<[?, 1]>> {warp.name = "B", warp.dims = ["K", "N"]},
    %d: memref<?x?xf32, strided<[?, 1]>> {warp.name = "D", warp.dims = ["M", "N"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x?xbf16, strided<[?, 1]>>
  %k = memref.dim %a, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %n = memref.dim %b, %c1 : memref<?x?xbf16, strided<[?, 1]>>
  %rows = arith.ceildivui %m, %c128 : index
  %cols = arith.ceildivui %n, %c64 : index
  %kb = arith.ceildivui %k, %c64 : index
  %items = warp.work_stream(%rows, %cols, %c1) raster 8
  %as = warp.pipe "a" : !warp.pipe<smem, 3, !warp.tile<128x64xbf16>>
  %bs = warp.pipe "b" : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
  %sums = warp.pipe "sums" : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>

  warp.stage @load_a {
    warp.for_each(%i, %j, %z) in %items {
      %row = arith.muli %i, %c128 : index
      scf.for %s = %c0 to %kb step %c1 {
        %at = arith.muli %s, %c64 : index
        %x = warp.acquire %as : !warp.pipe<smem, 3, !warp.tile<128x64xbf16>>
        warp.copy %a[%row, %at] to %x engine bulk : memref<?x?xbf16, strided<[?, 1]>>, !warp.tile<128x64xbf16>
        warp.commit %as : !warp.pipe<smem, 3, !warp.tile<128x64xbf16>>
      }
    }
  }
  warp.stage @load_b {
    warp.for_each(%i, %j, %z) in %items {
      %col = arith.muli %j, %c64 : index
      scf.for %s = %c0 to %kb step %c1 {
        %at = arith.muli %s, %c64 : index
        %y = warp.acquire %bs : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
        warp.copy %b[%at, %col] to %y transposed engine threads : memref<?x?xbf16, strided<[?, 1]>>, !warp.tile<64x64xbf16>
        warp.commit %bs : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
      }
    }
  }
  warp.stage @mma {
    warp.for_each(%i, %j, %z) in %items {
      %first = warp.acquire %sums : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
      %sum = scf.for %s = %c0 to %kb step %c1 iter_args(%acc = %first) -> (!warp.acc<128x64xf32>) {
        %x = warp.wait %as : !warp.pipe<smem, 3, !warp.tile<128x64xbf16>>
        %y = warp.wait %bs : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
        %more = arith.cmpi ne, %s, %c0 : index
        %next = warp.mma %x, %y, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<64x64xbf16>, !warp.acc<128x64xf32>
        warp.release %as after %next : !warp.pipe<smem, 3, !warp.tile<128x64xbf16>>, !warp.acc<128x64xf32>
        warp.release %bs after %next : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>, !warp.acc<128x64xf32>
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
        %r = arith.maximumf %e, %zero : f32
        warp.yield %r : f32
      }
      warp.release %sums : !warp.pipe<accumulator, 2, !warp.acc<128x64xf32>>
    }
  }
}
