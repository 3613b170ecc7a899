// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_80 --split-input-file --verify-diagnostics

heddle.kernel @fp8(%A: tensor<64x64xf8E4M3FN>, %B: tensor<64x64xf8E4M3FN>) -> tensor<64x64xf32> {
  // expected-error@+1 {{unsupported type: the tensor cores of sm_80 do not take f8E4M3FN; targets that do: sm_89, sm_90a, sm_100a, sm_103a, sm_120a}}
  %0 = heddle.gemm %A, %B transpose_b : (tensor<64x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>) -> tensor<64x64xf32>
  heddle.return %0 : tensor<64x64xf32>
}

// -----

// expected-error@+1 {{expected a heddle.gemm in the kernel, got none; kernels without a product are not supported}}
heddle.kernel @no_product(%A: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = heddle.relu %A : tensor<64x64xf32>
  heddle.return %0 : tensor<64x64xf32>
}

// -----

heddle.kernel @two_products(%A: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-note@+1 {{the first is here}}
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  // expected-error@+1 {{expected one heddle.gemm in a kernel, got 2}}
  %1 = heddle.gemm %0, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  heddle.return %1 : tensor<64x64xf16>
}

// -----

heddle.kernel @before(%A: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %0 = heddle.relu %A : tensor<64x64xf16>
  // expected-error@+1 {{expected operand a to be an argument of the kernel, got the result of heddle.relu; work on an operand before the product is not supported}}
  %1 = heddle.gemm %0, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  heddle.return %1 : tensor<64x64xf16>
}

// -----

// expected-error@+1 {{expected a kernel with one result, got 2}}
heddle.kernel @two_results(%A: tensor<64x64xf16>) -> (tensor<64x64xf16>, tensor<64x64xf16>) {
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  heddle.return %0, %0 : tensor<64x64xf16>, tensor<64x64xf16>
}

// -----

heddle.kernel @unused(%A: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error@+1 {{expected the result of the kernel to be computed from the product}}
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
  heddle.return %A : tensor<64x64xf16>
}

// -----

heddle.kernel @unknown_op(%A: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  // expected-error@+1 {{unsupported operation math.sin in an epilogue; expected arith.addf,}}
  %1 = math.sin %0 : tensor<64x64xf32>
  heddle.return %1 : tensor<64x64xf32>
}

// -----

heddle.kernel @predicate(%A: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  // expected-error@+1 {{expected a comparison olt, ole, ogt, oge, oeq or une, got ord}}
  %1 = arith.cmpf ord, %0, %0 : tensor<64x64xf32>
  %2 = arith.select %1, %0, %0 : tensor<64x64xi1>, tensor<64x64xf32>
  heddle.return %2 : tensor<64x64xf32>
}

// -----

heddle.kernel @f64(%A: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  %1 = arith.extf %0 : tensor<64x64xf32> to tensor<64x64xf64>
  // expected-error@+1 {{unsupported type in an epilogue: expected f32, f16 or bf16, got 'f64'}}
  %2 = math.exp %1 : tensor<64x64xf64>
  %3 = arith.truncf %2 : tensor<64x64xf64> to tensor<64x64xf32>
  heddle.return %3 : tensor<64x64xf32>
}

// -----

// expected-error@+1 {{unsupported type in an epilogue: expected f32, f16 or bf16, got 'f8E5M2'}}
heddle.kernel @f8_residual(%A: tensor<64x64xf16>, %C: tensor<64x64xf8E5M2>) -> tensor<64x64xf32> {
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  %1 = arith.extf %C : tensor<64x64xf8E5M2> to tensor<64x64xf32>
  %2 = arith.addf %0, %1 : tensor<64x64xf32>
  heddle.return %2 : tensor<64x64xf32>
}

// -----

heddle.kernel @higher_rank(%A: tensor<64x64xf16>) -> tensor<2x64x64xf32> {
  // expected-error@+1 {{expected the product to be used element by element in the result}}
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  %1 = heddle.broadcast %0 along [1, 2] : tensor<64x64xf32> to tensor<2x64x64xf32>
  heddle.return %1 : tensor<2x64x64xf32>
}

// -----

heddle.kernel @dense(%A: tensor<2x2xf16>) -> tensor<2x2xf32> {
  %0 = heddle.gemm %A, %A : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf32>
  // expected-error@+1 {{expected a constant with one value everywhere; pass other tensors as arguments of the kernel}}
  %1 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %2 = arith.addf %0, %1 : tensor<2x2xf32>
  heddle.return %2 : tensor<2x2xf32>
}

// -----

// expected-error@+1 {{bad schedule:}}
heddle.kernel @schedule_text(%A: tensor<64x64xf16>) -> tensor<64x64xf32> attributes {schedule = "tiles=3"} {
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  heddle.return %0 : tensor<64x64xf32>
}

// -----

// expected-error@+1 {{the given schedule cannot be used (shared-memory): expected at most 166912 bytes of shared memory a CTA, got}}
heddle.kernel @schedule_fit(%A: tensor<64x64xf16>) -> tensor<64x64xf32> attributes {schedule = "tile=128x128x64,stages=20"} {
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  heddle.return %0 : tensor<64x64xf32>
}

// -----

// expected-error@+1 {{the given schedule cannot be used (copy-engine): expected a copy engine that sm_80 has, got bulk tensor copies}}
heddle.kernel @schedule_engine(%A: tensor<64x64xf16>) -> tensor<64x64xf32> attributes {schedule = "copy=bulk"} {
  %0 = heddle.gemm %A, %A : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  heddle.return %0 : tensor<64x64xf32>
}
