// The kernels that the mutants are made of. The sizes of the first two are known only at run time,
// so that one form takes tensor copies and another any alignment.
heddle.kernel @plain(%A: tensor<?x?xbf16>, %B: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %d = heddle.gemm %A, %B transpose_b accumulate f32
    : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xbf16>
  heddle.return %d : tensor<?x?xbf16>
}

// Both operands lie with K outermost; the sum leaves as f32 with a bias and a residual.
heddle.kernel @residual(%A: tensor<?x?xf16>, %B: tensor<?x?xf16>, %bias: tensor<?xf32>, %C: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %0 = heddle.gemm %A, %B transpose_a accumulate f32
    : (tensor<?x?xf16>, tensor<?x?xf16>) -> tensor<?x?xf32>
  %1 = heddle.broadcast %bias along [1] : tensor<?xf32> to tensor<?x?xf32>
  %2 = arith.addf %0, %1 : tensor<?x?xf32>
  %3 = arith.addf %2, %C : tensor<?x?xf32>
  heddle.return %3 : tensor<?x?xf32>
}

// With known row lengths every target that has tensor copies stores by them.
heddle.kernel @known(%A: tensor<?x448xbf16>, %B: tensor<256x448xbf16>) -> tensor<?x256xbf16> {
  %d = heddle.gemm %A, %B transpose_b accumulate f32
    : (tensor<?x448xbf16>, tensor<256x448xbf16>) -> tensor<?x256xbf16>
  heddle.return %d : tensor<?x256xbf16>
}
