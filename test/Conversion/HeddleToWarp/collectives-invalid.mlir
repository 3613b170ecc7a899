// What a kernel of several ranks cannot be.
// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_90a --split-input-file --verify-diagnostics

heddle.kernel @more(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = heddle.all_reduce %x : tensor<?xf32> to tensor<?xf32>
  // expected-error@+1 {{expected nothing beside one collective operation in a kernel of several ranks, got heddle.relu}}
  %1 = heddle.relu %0 : tensor<?xf32>
  heddle.return %1 : tensor<?xf32>
}

// -----

// expected-error@+1 {{expected contiguous tensors, got heddle.layout}}
heddle.kernel @strided(%x: tensor<?x64xf32> {heddle.layout = strided<[?, 1]>}) -> tensor<?x64xf32> {
  %0 = heddle.all_reduce %x : tensor<?x64xf32> to tensor<?x64xf32>
  heddle.return %0 : tensor<?x64xf32>
}

// -----

// expected-error@+1 {{expected 1 arguments, those of heddle.all_reduce, got 2}}
heddle.kernel @unused(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = heddle.all_reduce %x : tensor<?xf32> to tensor<?xf32>
  heddle.return %0 : tensor<?xf32>
}

// -----

// expected-error@+1 {{expected a field of ctas, warps, chunk, stages, keep, packets in the schedule, got tile}}
heddle.kernel @field(%x: tensor<?xf32>) -> tensor<?xf32> attributes {schedule = "tile=128x128x64"} {
  %0 = heddle.all_reduce %x : tensor<?xf32> to tensor<?xf32>
  heddle.return %0 : tensor<?xf32>
}

// -----

// expected-error@+1 {{expected stages x chunk to fit into the 232448 bytes of shared memory of sm_90a, got 525312}}
heddle.kernel @large(%x: tensor<?xbf16>) -> tensor<?x?xbf16> attributes {schedule = "chunk=65536,stages=8"} {
  %0 = heddle.all_gather %x : tensor<?xbf16> to tensor<?x?xbf16>
  heddle.return %0 : tensor<?x?xbf16>
}

// -----

// expected-error@+1 {{expected a chunk of at most 64 elements a thread to sum, 8192 bytes with 1 warps, got 16384}}
heddle.kernel @sums(%x: tensor<?xf32>) -> tensor<?xf32> attributes {schedule = "warps=1"} {
  %0 = heddle.all_reduce %x : tensor<?xf32> to tensor<?xf32>
  heddle.return %0 : tensor<?xf32>
}

// -----

// expected-error@+1 {{expected chunk to be a multiple of 128 bytes, got 200}}
heddle.kernel @chunk(%x: tensor<?xf32>) -> tensor<?xf32> attributes {schedule = "chunk=200"} {
  %0 = heddle.all_reduce %x : tensor<?xf32> to tensor<?xf32>
  heddle.return %0 : tensor<?xf32>
}
