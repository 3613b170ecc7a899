// RUN: heddle-opt %s --convert-warp-to-nvvm --split-input-file --verify-diagnostics

// What the tcgen05 lowering does not take, found before anything is built.

// A type that the tensor cores lack.
warp.kernel @type(%d: memref<128x48xf32>) attributes {tmem_columns = 512 : i64, tmem_address = 64 : i64, target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<128x128xi8>, !warp.tile<48x128xi8>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<128x128xi8>, !warp.tile<48x128xi8>>
    // expected-error @below {{expected bf16, f16, f32 (tf32) or 8-bit float operands for tcgen05, got 'i8'}}
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x128xi8>, !warp.tile<48x128xi8>, !warp.acc<128x48xf32>
  }
}

// -----

// Operands of one width but of two types cannot meet in an instruction.
warp.kernel @kinds(%d: memref<128x48xf32>) attributes {tmem_columns = 512 : i64, tmem_address = 64 : i64, target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xf16>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xf16>>
    // expected-error @below {{expected operands of one type, or two 8-bit float types, for tcgen05, got 'bf16' and 'f16'}}
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<48x64xf16>, !warp.acc<128x48xf32>
  }
}

// -----

// 8-bit operands have K contiguous.
warp.kernel @major(%d: memref<128x48xf32>) attributes {tmem_columns = 512 : i64, tmem_address = 64 : i64, target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<128x128xf8E5M2, mn>, !warp.tile<48x128xf8E5M2>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<128x128xf8E5M2, mn>, !warp.tile<48x128xf8E5M2>>
    // expected-error @below {{expected K-major operands: of 16-bit types only are tiles of the other order multiplied}}
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x128xf8E5M2, mn>, !warp.tile<48x128xf8E5M2>, !warp.acc<128x48xf32>
  }
}

// -----

// Half the lanes.
warp.kernel @lanes(%d: memref<128x48xf32>) attributes {tmem_columns = 512 : i64, tmem_address = 64 : i64, target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<64x64xbf16>, !warp.tile<48x64xbf16>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<tmem, 1, !warp.acc<64x48xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<tmem, 1, !warp.acc<64x48xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<64x64xbf16>, !warp.tile<48x64xbf16>>
    // expected-error @below {{expected 128 accumulator rows for tcgen05, got 64}}
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<64x64xbf16>, !warp.tile<48x64xbf16>, !warp.acc<64x48xf32>
  }
}

// -----

// Columns come in sixteens.
warp.kernel @columns(%d: memref<128x48xf32>) attributes {tmem_columns = 512 : i64, tmem_address = 64 : i64, target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<40x64xbf16>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<tmem, 1, !warp.acc<128x40xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<tmem, 1, !warp.acc<128x40xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<40x64xbf16>>
    // expected-error @below {{expected accumulator columns to be a multiple of 16 up to 256 for tcgen05, got 40}}
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<40x64xbf16>, !warp.acc<128x40xf32>
  }
}

// -----

// One thread issues the multiplications; threads that store have another role.
warp.kernel @issuer(%d: memref<128x48xf32>) attributes {tmem_columns = 512 : i64, tmem_address = 64 : i64, target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
    // expected-error @below {{expected a role whose work one thread can issue, got one with work for threads}}
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>, !warp.acc<128x48xf32>
    warp.store %next to %d[%c0, %c0] : !warp.acc<128x48xf32>, memref<128x48xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      warp.yield %x : f32
    }
  }
}

// -----

// Accumulators in registers are of other generations.
warp.kernel @registers(%d: memref<128x48xf32>) attributes {tmem_columns = 512 : i64, tmem_address = 64 : i64, target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<regs, 1, !warp.acc<128x48xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<regs, 1, !warp.acc<128x48xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
    // expected-error @below {{expected accumulators in tensor memory, got a pipe of link regs}}
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>, !warp.acc<128x48xf32>
  }
}

// -----

// Tensor memory has been allotted.
warp.kernel @unplaced(%d: memref<128x48xf32>) attributes {target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
    // expected-error @below {{expected a kernel with attribute tmem_columns: run warp-allocate first}}
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>, !warp.acc<128x48xf32>
  }
}

// -----

// A warp reaches the quarter of tensor memory that its place in the CTA gives it.
warp.kernel @quarters(%d: memref<128x48xf32>) attributes {tmem_columns = 512 : i64, tmem_address = 64 : i64, target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>, !warp.acc<128x48xf32>
  }
  // expected-error @below {{expected whole warpgroups to read tensor memory, got warps 2 to 6}}
  warp.role @epilogue stages ["epilogue"] warps 2 to 6 {
    %acc = warp.wait %accs : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
  }
}

// -----

// Eight warps share columns by sixteens.
warp.kernel @shares(%d: memref<128x48xf32>) attributes {tmem_columns = 512 : i64, tmem_address = 64 : i64, target = "sm_100a", num_warps = 12 : i64, shared_bytes = 100000 : i64} {
  %c0 = arith.constant 0 : index
  %ops = warp.pipe "operands" {offset = 1024 : i64, barriers = 0 : i64, producers = 1 : i64, consumers = 1 : i64} : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
  %accs = warp.pipe "accumulator" {offset = 0 : i64, barriers = 16 : i64, producers = 1 : i64, consumers = 4 : i64} : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
  warp.role @mma stages ["mma"] warps 0 to 1 {
    %more = arith.constant true
    %acc = warp.acquire %accs : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
    %a, %b = warp.wait %ops : !warp.pipe<smem, 1, !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>>
    %next = warp.mma %a, %b, %acc accumulate %more : !warp.tile<128x64xbf16>, !warp.tile<48x64xbf16>, !warp.acc<128x48xf32>
  }
  warp.role @epilogue stages ["epilogue"] warps 4 to 12 {
    %acc = warp.wait %accs : !warp.pipe<tmem, 1, !warp.acc<128x48xf32>>
    // expected-error @below {{expected columns in multiples of 32 for 8 warps that read tensor memory, got 0 to 48}}
    warp.store %acc to %d[%c0, %c0] : !warp.acc<128x48xf32>, memref<128x48xf32> {
    ^bb0(%x: f32, %i: index, %j: index):
      warp.yield %x : f32
    }
  }
}
