// What the tests of dispatch and combine run: few channels and slots, so that rings wrap.
heddle.kernel @dispatch(%x: tensor<?x72xbf16>, %ids: tensor<?x3xi32>, %weights: tensor<?x3xf32>)
    -> (tensor<?x?x72xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32>)
    attributes {schedule = "ctas=3,stages=3,warps=2"} {
  %rows, %i, %w = heddle.dispatch %x by %ids, %weights experts 4
    : (tensor<?x72xbf16>, tensor<?x3xi32>, tensor<?x3xf32>)
    -> (tensor<?x?x72xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32>)
  heddle.return %rows, %i, %w : tensor<?x?x72xbf16>, tensor<?x?x3xi32>, tensor<?x?x3xf32>
}
heddle.kernel @combine(%rows: tensor<?x?x72xbf16>, %ids: tensor<?x3xi32>) -> tensor<?x72xbf16>
    attributes {schedule = "ctas=3,stages=3,warps=2"} {
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x72xbf16>, tensor<?x3xi32>) -> tensor<?x72xbf16>
  heddle.return %y : tensor<?x72xbf16>
}

// Rows of a size that is known at launch only, longer than a piece.
heddle.kernel @dispatch_pieces(%x: tensor<?x?xbf16>, %ids: tensor<?x4xi32>, %weights: tensor<?x4xf32>)
    -> (tensor<?x?x?xbf16>, tensor<?x?x4xi32>, tensor<?x?x4xf32>)
    attributes {schedule = "ctas=2,stages=2,warps=1,chunk=128,keep=stream"} {
  %rows, %i, %w = heddle.dispatch %x by %ids, %weights experts 1
    : (tensor<?x?xbf16>, tensor<?x4xi32>, tensor<?x4xf32>)
    -> (tensor<?x?x?xbf16>, tensor<?x?x4xi32>, tensor<?x?x4xf32>)
  heddle.return %rows, %i, %w : tensor<?x?x?xbf16>, tensor<?x?x4xi32>, tensor<?x?x4xf32>
}
heddle.kernel @combine_pieces(%rows: tensor<?x?x?xbf16>, %ids: tensor<?x4xi32>) -> tensor<?x?xbf16>
    attributes {schedule = "ctas=2,stages=2,warps=1,chunk=128"} {
  %y = heddle.combine %rows by %ids experts 1 : (tensor<?x?x?xbf16>, tensor<?x4xi32>) -> tensor<?x?xbf16>
  heddle.return %y : tensor<?x?xbf16>
}

heddle.kernel @dispatch_bytes(%x: tensor<?x48xf8E4M3FN>, %ids: tensor<?x1xi32>, %weights: tensor<?x1xf32>)
    -> (tensor<?x?x48xf8E4M3FN>, tensor<?x?x1xi32>, tensor<?x?x1xf32>) attributes {schedule = "ctas=2,stages=2"} {
  %rows, %i, %w = heddle.dispatch %x by %ids, %weights experts 3
    : (tensor<?x48xf8E4M3FN>, tensor<?x1xi32>, tensor<?x1xf32>)
    -> (tensor<?x?x48xf8E4M3FN>, tensor<?x?x1xi32>, tensor<?x?x1xf32>)
  heddle.return %rows, %i, %w : tensor<?x?x48xf8E4M3FN>, tensor<?x?x1xi32>, tensor<?x?x1xf32>
}
heddle.kernel @combine_wide(%rows: tensor<?x?x40xf32>, %ids: tensor<?x2xi32>) -> tensor<?x40xf32>
    attributes {schedule = "ctas=2,stages=2,warps=1"} {
  %y = heddle.combine %rows by %ids experts 2 : (tensor<?x?x40xf32>, tensor<?x2xi32>) -> tensor<?x40xf32>
  heddle.return %y : tensor<?x40xf32>
}

heddle.kernel @lists(%ids: tensor<?x?x3xi32>) -> (tensor<5xi32>, tensor<?x?x3xi32>) {
  %offsets, %list = heddle.expert_lists %ids experts 4 : tensor<?x?x3xi32> -> (tensor<5xi32>, tensor<?x?x3xi32>)
  heddle.return %offsets, %list : tensor<5xi32>, tensor<?x?x3xi32>
}
