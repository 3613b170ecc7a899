// Each verifier and parser of the dialect says what it expected and what it got.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected tile_m to be at least 1, got 0}}
warp.kernel @k() attributes {schedule = #warp.schedule<tile_m = 0, tile_n = 8, tile_k = 8, stages = 1, load_warps = 1, mma_warps = 1, epilogue_warps = 0, acc_stages = 1, store_stages = 0, load_registers = 0, mma_registers = 0, raster = 1, copy = bulk, store = direct, ctas_per_sm = 1>} {
  %n = arith.constant 0 : index
}

// -----
// expected-error@+1 {{expected no results, got 1}}
warp.kernel @k(%a: f32) -> f32 {
}

// -----
// expected-error@+1 {{expected target to be one of sm_80, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, got sm_70}}
warp.kernel @k(%a: f32) attributes {target = "sm_70"} {
}

// -----
// expected-error@+1 {{expected argument 0 to be a memref or f32, got 'i32'}}
warp.kernel @k(%a: i32) {
}

// -----
// expected-error@+1 {{expected argument 0 to have strides, got 'memref<8x8xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>'}}
warp.kernel @k(%a: memref<8x8xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>) {
}

// -----
// expected-error@+1 {{expected warp.dims of argument 0 to have 2 names, got 1}}
warp.kernel @k(%a: memref<?x?xf32> {warp.dims = ["M"]}) {
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected 1 to 32 warps, got 33}}
  warp.stage @s warps 33 {
  }
}

// -----
// expected-error@+1 {{expects parent op 'warp.kernel'}}
warp.stage @s {
}

// -----
warp.kernel @k(%a: f32) {
  warp.stage @s {
  }
  // expected-note@-2 {{see existing symbol definition here}}
  // expected-error@+1 {{redefinition of symbol named 's'}}
  warp.stage @s {
  }
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected warps within 0 to 32, got 4 to 4}}
  warp.role @r stages ["r"] warps 4 to 4 {
  }
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected registers to be 0 or a multiple of 8 in 24..256, got 20}}
  warp.role @r stages ["r"] warps 0 to 4 registers 20 {
  }
}

// -----
warp.kernel @k(%a: f32) {
  %n = arith.constant 1 : index
  // expected-error@+1 {{expected raster to be at least 1, got 0}}
  %s = warp.work_stream(%n, %n, %n) raster 0
}

// -----
warp.kernel @k(%a: f32) {
  %n = arith.constant 1 : index
  %s = warp.work_stream(%n, %n, %n) raster 1
  warp.stage @s {
    // expected-error@+1 {{expected three index arguments (row, column, batch), got 2}}
    warp.for_each(%i, %j) in %s {
    }
  }
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected a name}}
  %p = warp.pipe "" : !warp.pipe<smem, 1, !warp.tile<8x64xbf16>>
}

// -----
// expected-error@+1 {{expected to be inside a warp.kernel}}
%p = warp.pipe "p" : !warp.pipe<smem, 1, !warp.tile<8x64xbf16>>

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected 1 to 64 slots, got 65}}
  %p = warp.pipe "p" : !warp.pipe<smem, 65, !warp.tile<8x64xbf16>>
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected a regs pipe to have 1 slot, got 2}}
  %p = warp.pipe "p" : !warp.pipe<regs, 2, !warp.acc<64x64xf32>>
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected slots of a smem pipe to hold tiles, got '!warp.acc<64x64xf32>'}}
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.acc<64x64xf32>>
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected slots of a tmem pipe to hold accumulators, got '!warp.tile<8x64xbf16>'}}
  %p = warp.pipe "p" : !warp.pipe<tmem, 2, !warp.tile<8x64xbf16>>
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected one accumulator a slot, got 2}}
  %p = warp.pipe "p" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>, !warp.acc<64x64xf32>>
}

// -----
// expected-error@+1 {{expected an element of whole bytes, got 'i4'}}
warp.kernel @k(%a: !warp.tile<8x64xi4>) {
}

// -----
// expected-error@+1 {{expected the contiguous dimension of a tile to be a multiple of 64 elements (128 bytes), got 32}}
warp.kernel @k(%a: !warp.tile<8x32xbf16>) {
}

// -----
// expected-error@+1 {{expected the other dimension of a tile to be a multiple of 8, got 4}}
warp.kernel @k(%a: !warp.tile<64x4xbf16, mn>) {
}

// -----
// expected-error@+1 {{expected 2 dimensions, got 3}}
warp.kernel @k(%a: !warp.tile<2x8x64xbf16>) {
}

// -----
// expected-error@+1 {{expected k, mn or linear, got n}}
warp.kernel @k(%a: !warp.tile<8x64xbf16, n>) {
}

// -----
// expected-error@+1 {{expected an accumulator of f32, got 'f16'}}
warp.kernel @k(%a: !warp.acc<64x64xf16>) {
}

// -----
// expected-error@+1 {{expected accumulator rows to be a multiple of 16, got 8}}
warp.kernel @k(%a: !warp.acc<8x64xf32>) {
}

// -----
// expected-error@+1 {{expected accumulator columns to be a multiple of 8, got 12}}
warp.kernel @k(%a: !warp.acc<64x12xf32>) {
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+1 {{expected a pipe type, got 'f32'}}
  %t = warp.acquire %a : f32
}

// -----
warp.kernel @k(%a: f32) {
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected one result for each part of a slot of '!warp.pipe<smem, 2, !warp.tile<8x64xbf16>>'}}
  "warp.acquire"(%p) : (!warp.pipe<smem, 2, !warp.tile<8x64xbf16>>) -> ()
}

// -----
warp.kernel @k(%a: f32) {
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected one result for each part of a slot of '!warp.pipe<smem, 2, !warp.tile<8x64xbf16>>'}}
  %t = "warp.wait"(%p) : (!warp.pipe<smem, 2, !warp.tile<8x64xbf16>>) -> !warp.tile<8x64xf16>
}

// -----
warp.kernel @k(%a: f32) {
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected no values: tiles are filled in place}}
  warp.commit %p, %t : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>, !warp.tile<8x64xbf16>
}

// -----
warp.kernel @k(%a: f32) {
  %p = warp.pipe "p" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  // expected-error@+1 {{expected the accumulator that fills the slot of '!warp.pipe<tmem, 2, !warp.acc<64x64xf32>>'}}
  warp.commit %p : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
}

// -----
warp.kernel @k(%a: f32) {
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected lag to be 0 or 1, got 2}}
  warp.release %p lag 2 : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
}

// -----
warp.kernel @k(%a: f32) {
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected after to name an accumulator, got 'f32'}}
  warp.release %p after %a : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>, f32
}

// -----
warp.kernel @k(%a: f32) {
  // expected-error@+2 {{expected ::heddle::warp::FenceKind to be one of: proxy_async, tmem_before, tmem_after}}
  // expected-error@+1 {{failed to parse}}
  warp.fence <everything>
}

// -----
warp.kernel @copy(%m: memref<?x?xbf16>) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected one side to be a tile and the other a memref, got '!warp.tile<8x64xbf16>' and '!warp.tile<8x64xbf16>'}}
  warp.copy %t to %t : !warp.tile<8x64xbf16>, !warp.tile<8x64xbf16>
}

// -----
warp.kernel @copy(%m: memref<?x?xbf16>) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected offsets on the memref only}}
  warp.copy %m[%z, %z] to %t[%z, %z] : memref<?x?xbf16>, !warp.tile<8x64xbf16>
}

// -----
warp.kernel @copy(%m: memref<?xbf16>) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected a memref of rank 2 or more, got rank 1}}
  warp.copy %m[%z] to %t : memref<?xbf16>, !warp.tile<8x64xbf16>
}

// -----
warp.kernel @copy(%m: memref<?x?xbf16>) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected 2 offsets, got 1}}
  warp.copy %m[%z] to %t : memref<?x?xbf16>, !warp.tile<8x64xbf16>
}

// -----
warp.kernel @copy(%m: memref<?x?xf16>) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected equal element types, got 'f16' and 'bf16'}}
  warp.copy %m[%z, %z] to %t : memref<?x?xf16>, !warp.tile<8x64xbf16>
}

// -----
warp.kernel @copy(%m: memref<?x?xbf16, strided<[?, ?]>>) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected the last dimension of the memref to be contiguous for engine bulk, got 'memref<?x?xbf16, strided<[?, ?]>>'}}
  warp.copy %m[%z, %z] to %t : memref<?x?xbf16, strided<[?, ?]>>, !warp.tile<8x64xbf16>
}

// -----
warp.kernel @copy(%m: memref<?x?xbf16>) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected engine threads, which alone can transpose: the tile is k-major and the copy is transposed}}
  warp.copy %m[%z, %z] to %t transposed : memref<?x?xbf16>, !warp.tile<8x64xbf16>
}

// -----
warp.kernel @copy(%m: memref<?x?xbf16>) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  %t = warp.wait %p : !warp.pipe<smem, 2, !warp.tile<8x64xbf16>>
  // expected-error@+1 {{expected engine bulk or threads for a copy to global memory}}
  warp.copy %t to %m[%z, %z] engine async : !warp.tile<8x64xbf16>, memref<?x?xbf16>
}

// -----
warp.kernel @mma(%x: f32) {
  %t = arith.constant true
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>, !warp.tile<64x64xf32>>
  %q = warp.pipe "q" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %a, %b = warp.wait %p : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>, !warp.tile<64x64xf32>>
  %c = warp.acquire %q : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  // expected-error@+1 {{expected operands of one width, got 'bf16' and 'f32'}}
  %r = warp.mma %a, %b, %c accumulate %t : !warp.tile<64x64xbf16>, !warp.tile<64x64xf32>, !warp.acc<64x64xf32>
}

// -----
warp.kernel @mma(%x: f32) {
  %t = arith.constant true
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>, !warp.tile<64x128xbf16>>
  %q = warp.pipe "q" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %a, %b = warp.wait %p : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>, !warp.tile<64x128xbf16>>
  %c = warp.acquire %q : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  // expected-error@+1 {{expected equal K, got 64 and 128}}
  %r = warp.mma %a, %b, %c accumulate %t : !warp.tile<64x64xbf16>, !warp.tile<64x128xbf16>, !warp.acc<64x64xf32>
}

// -----
warp.kernel @mma(%x: f32) {
  %t = arith.constant true
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>, !warp.tile<32x64xbf16>>
  %q = warp.pipe "q" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %a, %b = warp.wait %p : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>, !warp.tile<32x64xbf16>>
  %c = warp.acquire %q : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  // expected-error@+1 {{expected an accumulator of 64x32, got '!warp.acc<64x64xf32>'}}
  %r = warp.mma %a, %b, %c accumulate %t : !warp.tile<64x64xbf16>, !warp.tile<32x64xbf16>, !warp.acc<64x64xf32>
}

// -----
warp.kernel @mma_wait(%x: f32) {
  %q = warp.pipe "q" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %c = warp.acquire %q : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  // expected-error@+1 {{failed to verify that all of {acc, result} have same type}}
  %r = "warp.mma_wait"(%c) : (!warp.acc<64x64xf32>) -> !warp.acc<64x32xf32>
}

// -----
warp.kernel @yield(%x: f32) {
  // expected-error@+1 {{must be the last operation in the parent block}}
  warp.yield %x : f32
  %c = arith.constant 1 : index
}

// -----
warp.kernel @read(%m: memref<?x?xf32>) {
  %z = arith.constant 0 : index
  // expected-error@+1 {{expected 2 indices, got 1}}
  %v = warp.read %m[%z] : memref<?x?xf32>
}

// -----
warp.kernel @map(%x: f32) {
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>, !warp.tile<32x64xbf16>>
  %a, %b = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>, !warp.tile<32x64xbf16>>
  // expected-error@+1 {{expected tiles of one shape, got '!warp.tile<64x64xbf16>' and '!warp.tile<32x64xbf16>'}}
  warp.map %a to %b : !warp.tile<64x64xbf16>, !warp.tile<32x64xbf16> {
  ^bb0(%e: bf16, %i: index, %j: index):
    warp.yield %e : bf16
  }
}

// -----
warp.kernel @map(%x: f32) {
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
  %a = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
  // expected-error@+1 {{expected region arguments ('bf16', index, index), got ('bf16', 'index')}}
  warp.map %a to %a : !warp.tile<64x64xbf16>, !warp.tile<64x64xbf16> {
  ^bb0(%e: bf16, %i: index):
    warp.yield %e : bf16
  }
}

// -----
warp.kernel @map(%x: f32) {
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
  %a = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
  // expected-error@+1 {{expected the region to yield 'bf16', got 'f32'}}
  warp.map %a to %a : !warp.tile<64x64xbf16>, !warp.tile<64x64xbf16> {
  ^bb0(%e: bf16, %i: index, %j: index):
    warp.yield %x : f32
  }
}

// -----
warp.kernel @store(%m: memref<?x?xf32>) {
  %z = arith.constant 0 : index
  %q = warp.pipe "q" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %c = warp.wait %q : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  // expected-error@+1 {{expected 2 offsets, got 3}}
  warp.store %c to %m[%z, %z, %z] : !warp.acc<64x64xf32>, memref<?x?xf32> {
  ^bb0(%e: f32, %i: index, %j: index):
    warp.yield %e : f32
  }
}

// -----
warp.kernel @store(%m: memref<?x?xbf16>) {
  %z = arith.constant 0 : index
  %q = warp.pipe "q" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %c = warp.wait %q : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  // expected-error@+1 {{expected the region to yield 'bf16', got 'f32'}}
  warp.store %c to %m[%z, %z] : !warp.acc<64x64xf32>, memref<?x?xbf16> {
  ^bb0(%e: f32, %i: index, %j: index):
    warp.yield %e : f32
  }
}

// -----
warp.kernel @pack(%x: f32) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<32x64xf32>>
  %q = warp.pipe "q" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %c = warp.wait %q : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %a = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<32x64xf32>>
  // expected-error@+1 {{expected the tile to have 64 rows, got 32}}
  warp.pack %c columns 0 at (%z, %z) to %a : !warp.acc<64x64xf32>, !warp.tile<32x64xf32> {
  ^bb0(%e: f32, %i: index, %j: index):
    warp.yield %e : f32
  }
}

// -----
warp.kernel @pack(%x: f32) {
  %z = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<64x64xf32>>
  %q = warp.pipe "q" : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %c = warp.wait %q : !warp.pipe<tmem, 2, !warp.acc<64x64xf32>>
  %a = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<64x64xf32>>
  // expected-error@+1 {{expected columns within the accumulator's 64, got 32 to 96}}
  warp.pack %c columns 32 at (%z, %z) to %a : !warp.acc<64x64xf32>, !warp.tile<64x64xf32> {
  ^bb0(%e: f32, %i: index, %j: index):
    warp.yield %e : f32
  }
}

// -----
// expected-error@+1 {{expected a name of letters, digits and _, got "a.b"}}
warp.kernel @"a.b"(%a: f32) {
}

// -----
// expected-error@+1 {{expected warp.name of argument 0 to be a name of letters, digits and _, got "a b"}}
warp.kernel @k(%a: f32 {warp.name = "a b"}) {
}

// -----
// expected-error@+1 {{expected arguments of different names, got x twice}}
warp.kernel @k(%a: f32 {warp.name = "x"}, %b: f32 {warp.name = "x"}) {
}

// -----
// expected-error@+1 {{expected warp.dims of argument 0 to be an array of names, got "M"}}
warp.kernel @k(%a: memref<?xf32> {warp.dims = "M"}) {
}

// -----
// expected-error@+1 {{expected warp.dims of argument 0 to hold names of letters, digits and _ that are no words of size expressions, got "M x"}}
warp.kernel @k(%a: memref<?xf32> {warp.dims = ["M x"]}) {
}

// -----
// expected-error@+1 {{no words of size expressions, got "ceil_div"}}
warp.kernel @k(%a: memref<?xf32> {warp.dims = ["ceil_div"]}) {
}

// -----
// expected-error@+1 {{got 3 : i64}}
warp.kernel @k(%a: memref<?xf32> {warp.dims = [3]}) {
}

// -----
warp.kernel @cluster_rank() {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected cluster to be [rows, columns], got 3 numbers}}
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [2, 1, 1]
}

// -----
warp.kernel @cluster_extent() {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected a cluster of 1 to 16 CTAs along rows and columns, got [0, 2]}}
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 cluster [0, 2]
}

// -----
warp.kernel @multicast_to_smem(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
  warp.stage @load {
    %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
    // expected-error@+1 {{expected the acquired slot of a pipe of link cluster to be multicast to}}
    warp.copy %m[%c0, %c0] to %t multicast row : memref<?x?xbf16>, !warp.tile<64x64xbf16>
    warp.commit %p : !warp.pipe<smem, 2, !warp.tile<64x64xbf16>>
  }
}

// -----
warp.kernel @multicast_by_threads(%m: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<cluster, 2, !warp.tile<64x64xbf16>>
  warp.stage @load {
    %t = warp.acquire %p : !warp.pipe<cluster, 2, !warp.tile<64x64xbf16>>
    // expected-error@+1 {{expected a copy by engine bulk to shared memory to be multicast, got engine threads}}
    warp.copy %m[%c0, %c0] to %t multicast row engine threads : memref<?x?xbf16>, !warp.tile<64x64xbf16>
    warp.commit %p : !warp.pipe<cluster, 2, !warp.tile<64x64xbf16>>
  }
}

// -----

!bytes = !warp.tile<128x128xf8E4M3FN>
!sums = !warp.acc<128x128xf32>
warp.kernel @scale_k(%sa: memref<?x4xf32>, %sb: memref<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !bytes, !bytes>
  warp.stage @mma {
    %a, %b = warp.wait %p : !warp.pipe<smem, 2, !bytes, !bytes>
    %zero = warp.zero : !sums
    // expected-error@+1 {{expected a scale of a to cover the tile's K, 128, got 64}}
    %r = warp.mma %a, %b, %zero accumulate %yes scales %sa[%c0, %c0] by [1, 64], %sb[%c0, %c0] by [128, 128] : !bytes, !bytes, !sums, memref<?x4xf32>, memref<2x4xf32>
  }
}

// -----

!bytes = !warp.tile<128x128xf8E4M3FN>
!sums = !warp.acc<128x128xf32>
warp.kernel @scale_rows(%sa: memref<?x4xf32>, %sb: memref<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !bytes, !bytes>
  warp.stage @mma {
    %a, %b = warp.wait %p : !warp.pipe<smem, 2, !bytes, !bytes>
    %zero = warp.zero : !sums
    // expected-error@+1 {{expected a scale of b to cover 1 or 128 rows by K, got [32, 128]}}
    %r = warp.mma %a, %b, %zero accumulate %yes scales %sa[%c0, %c0] by [1, 128], %sb[%c0, %c0] by [32, 128] : !bytes, !bytes, !sums, memref<?x4xf32>, memref<2x4xf32>
  }
}

// -----

!bytes = !warp.tile<128x128xf8E4M3FN>
!sums = !warp.acc<128x128xf32>
warp.kernel @scale_offsets(%sa: memref<?x4xf32>, %sb: memref<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !bytes, !bytes>
  warp.stage @mma {
    %a, %b = warp.wait %p : !warp.pipe<smem, 2, !bytes, !bytes>
    %zero = warp.zero : !sums
    // expected-error@+1 {{expected 2 offsets, got 1}}
    %r = warp.mma %a, %b, %zero accumulate %yes scales %sa[%c0] by [1, 128], %sb[%c0, %c0] by [128, 128] : !bytes, !bytes, !sums, memref<?x4xf32>, memref<2x4xf32>
  }
}

// -----

!bytes = !warp.tile<128x128xf8E4M3FN>
!sums = !warp.acc<128x128xf32>
warp.kernel @scale_type(%sa: memref<?x4xbf16>, %sb: memref<2x4xf32>) {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !bytes, !bytes>
  warp.stage @mma {
    %a, %b = warp.wait %p : !warp.pipe<smem, 2, !bytes, !bytes>
    %zero = warp.zero : !sums
    // expected-error@+1 {{expected scales of f32 for a, got }}
    %r = warp.mma %a, %b, %zero accumulate %yes scales %sa[%c0, %c0] by [1, 128], %sb[%c0, %c0] by [128, 128] : !bytes, !bytes, !sums, memref<?x4xbf16>, memref<2x4xf32>
  }
}

// -----

warp.kernel @groups_type(%g: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected numbers of groups as memref<?xi32> of static size, got 'memref<?xi32>'}}
  %0 = warp.groups %g masked limit %c1 : memref<?xi32>
}

// -----

warp.kernel @groups_status(%g: memref<4xi32>, %s: memref<2xi32>) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected status to be memref<1xi32>, got 'memref<2xi32>'}}
  %0 = warp.groups %g masked limit %c1 status %s : memref<4xi32>, memref<2xi32>
}

// -----

warp.kernel @groups_loop(%g: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  %0 = warp.groups %g masked limit %c1 by 64 : memref<4xi32>
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 groups %0
  warp.stage @load {
    // expected-error@+1 {{expected five index arguments (row, column, group, first, size), got 3}}
    warp.for_each(%i, %j, %b) in %s {
    }
  }
}

// -----

warp.kernel @rows_engine(%a: memref<?x64xbf16>, %rows: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %p = warp.pipe "p" : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
  warp.stage @load {
    %t = warp.acquire %p : !warp.pipe<smem, 2, !warp.tile<128x64xbf16>>
    // expected-error@+1 {{expected a load by engine async or threads, not transposed, with a list of rows}}
    warp.copy %a[%c0, %c0] to %t rows %rows : memref<?xi32> engine bulk : memref<?x64xbf16>, !warp.tile<128x64xbf16>
  }
}

// -----

warp.kernel @split_loop(%d: memref<?x64xf32>) {
  %c1 = arith.constant 1 : index
  %s = warp.work_stream(%c1, %c1, %c1) raster 8 split 4
  warp.stage @load {
    // expected-error@+1 {{expected four index arguments (row, column, batch, part), got 3}}
    warp.for_each(%i, %j, %b) in %s {
    }
  }
}

// -----

warp.kernel @combine_alone(%d: memref<?x64xf32>) {
  %c1 = arith.constant 1 : index
  %accs = warp.pipe "accs" : !warp.pipe<regs, 1, !warp.acc<64x64xf32>>
  warp.stage @mma {
    %acc = warp.acquire %accs : !warp.pipe<regs, 1, !warp.acc<64x64xf32>>
    // expected-error@+1 {{expected 2 to 64 parts, got 1}}
    warp.combine %acc part %c1 of 1 tile %c1 of %c1 : <64x64xf32> {
    ^bb0(%sum: !warp.acc<64x64xf32>):
    }
  }
}
