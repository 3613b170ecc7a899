// Experts of a mixture of experts: each of 4 matrices multiplies the rows of its group. How many rows a group has is
// known on the device only: group g has rows offsets[g] to offsets[g + 1], of any number, and no other row is written.
heddle.kernel @gemm_grouped(%A: tensor<?x7168xbf16>, %B: tensor<4x4096x7168xbf16>, %offsets: tensor<5xi32>)
    -> (tensor<?x4096xbf16>, tensor<1xi32> {heddle.name = "state"}) {
  %0, %state = heddle.gemm %A, %B transpose_b groups %offsets along_m accumulate f32
    : (tensor<?x7168xbf16>, tensor<4x4096x7168xbf16>, tensor<5xi32>) -> (tensor<?x4096xf32>, tensor<1xi32>)
  %1 = arith.truncf %0 : tensor<?x4096xf32> to tensor<?x4096xbf16>
  heddle.return %1, %state : tensor<?x4096xbf16>, tensor<1xi32>
}
