// RUN: heddle-opt %s --split-input-file --verify-diagnostics
// Dimensions that must agree: an error names both places.

// expected-note@+2 {{dimension 1 of a is 7168}}
// expected-note@+1 {{dimension 1 of b is 7000}}
heddle.kernel @k(%a: tensor<?x7168xf16>, %b: tensor<64x7000xf16>) -> tensor<?x64xf32> {
  // expected-error@+1 {{expected dimension 1 of a and dimension 1 of b to agree, got 7168 and 7000}}
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x7168xf16>, tensor<64x7000xf16>) -> tensor<?x64xf32>
  heddle.return %0 : tensor<?x64xf32>
}

// -----

// expected-note@+2 {{dimension 1 of a is 128}}
// expected-note@+1 {{dimension 0 of b is ?}}
heddle.kernel @static_dynamic(%a: tensor<?x128xf16>, %b: tensor<?x64xf16>) -> tensor<?x64xf32> {
  // expected-error@+1 {{expected dimension 1 of a and dimension 0 of b to agree, got 128 and ?; write both static or both as ?}}
  %0 = heddle.gemm %a, %b : (tensor<?x128xf16>, tensor<?x64xf16>) -> tensor<?x64xf32>
  heddle.return %0 : tensor<?x64xf32>
}

// -----

// expected-note@+1 {{dimension 0 of a is 32}}
heddle.kernel @m(%a: tensor<32x128xf16>, %b: tensor<128x64xf16>) -> tensor<16x64xf32> {
  // expected-error@+2 {{expected dimension 0 of a and dimension 0 of the result of heddle.gemm to agree, got 32 and 16}}
  // expected-note@+1 {{dimension 0 of the result of heddle.gemm is 16}}
  %0 = heddle.gemm %a, %b : (tensor<32x128xf16>, tensor<128x64xf16>) -> tensor<16x64xf32>
  heddle.return %0 : tensor<16x64xf32>
}

// -----

// expected-note@+2 {{dimension 0 of a is 3}}
// expected-note@+1 {{dimension 0 of b is 4}}
heddle.kernel @batch(%a: tensor<3x32x128xf16>, %b: tensor<4x128x64xf16>) -> tensor<3x32x64xf32> {
  // expected-error@+1 {{expected dimension 0 of a and dimension 0 of b to agree, got 3 and 4}}
  %0 = heddle.gemm %a, %b : (tensor<3x32x128xf16>, tensor<4x128x64xf16>) -> tensor<3x32x64xf32>
  heddle.return %0 : tensor<3x32x64xf32>
}

// -----

// expected-note@+1 {{dimension 0 of bias is 32}}
heddle.kernel @bias(%a: tensor<32x128xf16>, %b: tensor<128x64xf16>, %bias: tensor<32xf32>) -> tensor<32x64xf32> {
  %0 = heddle.gemm %a, %b : (tensor<32x128xf16>, tensor<128x64xf16>) -> tensor<32x64xf32>
  // expected-error@+2 {{expected dimension 0 of bias and dimension 1 of the result of heddle.broadcast to agree, got 32 and 64}}
  // expected-note@+1 {{dimension 1 of the result of heddle.broadcast is 64}}
  %1 = heddle.broadcast %bias along [1] : tensor<32xf32> to tensor<32x64xf32>
  %2 = arith.addf %0, %1 : tensor<32x64xf32>
  heddle.return %2 : tensor<32x64xf32>
}

// -----

// Two dimensions that are one size cannot have two names.
// expected-note@+1 {{M is dimension 0 of a}}
heddle.kernel @names(%a: tensor<?x128xf16> {heddle.dims = ["M", "K"]}, %b: tensor<128x64xf16>,
                     // expected-note@+1 {{rows is dimension 0 of c}}
                     %c: tensor<?x64xf32> {heddle.dims = ["rows", "N"]}) -> tensor<?x64xf32> {
  %0 = heddle.gemm %a, %b : (tensor<?x128xf16>, tensor<128x64xf16>) -> tensor<?x64xf32>
  // expected-error@+1 {{to have one name, got M and rows}}
  %1 = arith.addf %0, %c : tensor<?x64xf32>
  heddle.return %1 : tensor<?x64xf32>
}

// -----

// Dimensions of one name must be one size.
// expected-note@+1 {{dimension 0 of a is 16}}
heddle.kernel @one_name(%a: tensor<16xf32> {heddle.dims = ["M"]},
                        // expected-error@+2 {{expected dimension 0 of a and dimension 0 of c to agree, got 16 and 32}}
                        // expected-note@+1 {{dimension 0 of c is 32}}
                        %c: tensor<32xf32> {heddle.dims = ["M"]}) {
  heddle.return
}
