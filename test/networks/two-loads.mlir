// Two load stages, each with a pipe of its own, merge into one mma: A comes by bulk copies,
// B, stored [K, N], is transposed by the threads that load it.
// D = relu(A B), f32.
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
// SM80: warp.role @load_a stages ["load_a"] warps 0 to 4
// SM80: warp.role @load_b stages ["load_b"] warps 4 to 8
// SM80: warp.role @mma stages ["mma", "epilogue"] warps 8 to 12
// SM80-PTX: cp.async
// SM80-PTX: mma.sync
// SM90A: warp.role @load_a stages ["load_a"] warps 0 to 1
// SM90A: warp.role @mma stages ["mma", "epilogue"] warps 4 to 12
// SM90A: warp.role @load_b stages ["load_b"] warps 12 to 16
// SM90A-PTX: wgmma.mma_async
// SM100A: warp.role @load_a stages ["load_a"] warps 0 to 1
// SM100A: warp.role @mma stages ["mma"] warps 1 to 2
// SM100A: warp.role @epilogue stages ["epilogue"] warps 4 to 8
// SM100A: warp.role @load_b stages ["load_b"] warps 8 to 12
// SM100A-PTX: tcgen05.mma
// SM120A: warp.role @load_a stages ["load_a"] warps 0 to 1
// SM120A: warp.role @load_b stages ["load_b"] warps 1 to 5
// SM120A: warp.role @mma stages ["mma", "epilogue"] warps 5 to 9
// SM120A-PTX: cp.async.bulk.tensor
// SM120A-PTX: mma.sync
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
