// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_90a --split-input-file --verify-diagnostics

heddle.kernel @beside(%rows: tensor<?x?x64xbf16>, %ids: tensor<?x2xi32>) -> tensor<?x64xbf16> {
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x64xbf16>, tensor<?x2xi32>) -> tensor<?x64xbf16>
  // expected-error@+1 {{expected nothing beside one heddle.combine in its kernel, got heddle.relu}}
  %z = heddle.relu %y : tensor<?x64xbf16>
  heddle.return %z : tensor<?x64xbf16>
}

// -----

// expected-error@+1 {{expected 3 results, those of heddle.dispatch, got 4}}
heddle.kernel @twice(%x: tensor<?x64xbf16>, %ids: tensor<?x2xi32>, %weights: tensor<?x2xf32>)
    -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>) {
  %rows, %i, %w = heddle.dispatch %x by %ids, %weights experts 4
    : (tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>)
  heddle.return %rows, %i, %w, %w : tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>
}

// -----

heddle.kernel @strides(%rows: tensor<?x?x64xbf16>, %ids: tensor<?x2xi32> {heddle.layout = strided<[4, 1]>}) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected ids to be contiguous, got heddle.layout}}
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x64xbf16>, tensor<?x2xi32>) -> tensor<?x64xbf16>
  heddle.return %y : tensor<?x64xbf16>
}

// -----

// expected-error@+1 {{expected a field of ctas, warps, chunk, stages, keep in the schedule, got tile_m}}
heddle.kernel @field(%rows: tensor<?x?x64xbf16>, %ids: tensor<?x2xi32>) -> tensor<?x64xbf16> attributes {schedule = "tile_m=3"} {
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x64xbf16>, tensor<?x2xi32>) -> tensor<?x64xbf16>
  heddle.return %y : tensor<?x64xbf16>
}

// -----

// expected-error@+1 {{expected stages to be a number from 2 to 32, got 1}}
heddle.kernel @stages(%rows: tensor<?x?x64xbf16>, %ids: tensor<?x2xi32>) -> tensor<?x64xbf16> attributes {schedule = "stages=1"} {
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x64xbf16>, tensor<?x2xi32>) -> tensor<?x64xbf16>
  heddle.return %y : tensor<?x64xbf16>
}

// -----

// expected-error@+1 {{expected stages x chunk to fit into the 232448 bytes of shared memory of sm_90a, got 525312}}
heddle.kernel @memory(%rows: tensor<?x?x64xbf16>, %ids: tensor<?x2xi32>) -> tensor<?x64xbf16> attributes {schedule = "chunk=16384,stages=32"} {
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x64xbf16>, tensor<?x2xi32>) -> tensor<?x64xbf16>
  heddle.return %y : tensor<?x64xbf16>
}
