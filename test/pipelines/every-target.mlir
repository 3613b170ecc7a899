// REQUIRES: ptxas
// Every kind of kernel, operand type, layout and epilogue compiles to machine code for every
// target, without spills, stack or serialised tensor cores: heddlec fails on any of them.
//
// RUN: heddlec %s --arch=sm_80 -o %t.80.hdl
// RUN: heddlec %s --arch=sm_89 -o %t.89.hdl
// RUN: heddlec %s --arch=sm_90a -o %t.90.hdl
// RUN: heddlec %s --arch=sm_100a -o %t.100.hdl
// RUN: heddlec %s --arch=sm_103a -o %t.103.hdl
// RUN: heddlec %s --arch=sm_120a -o %t.120.hdl

// All four layouts of bf16 operands, every size known only at run time.
heddle.kernel @bf16_nt(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xf32>
  %1 = arith.truncf %0 : tensor<?x?xf32> to tensor<?x?xbf16>
  heddle.return %1 : tensor<?x?xbf16>
}
heddle.kernel @bf16_nn(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = heddle.gemm %a, %b : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xf32>
  %1 = arith.truncf %0 : tensor<?x?xf32> to tensor<?x?xbf16>
  heddle.return %1 : tensor<?x?xbf16>
}
heddle.kernel @bf16_tt(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = heddle.gemm %a, %b transpose_a transpose_b : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xf32>
  %1 = arith.truncf %0 : tensor<?x?xf32> to tensor<?x?xbf16>
  heddle.return %1 : tensor<?x?xbf16>
}
heddle.kernel @bf16_tn(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = heddle.gemm %a, %b transpose_a : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> tensor<?x?xf32>
  %1 = arith.truncf %0 : tensor<?x?xf32> to tensor<?x?xbf16>
  heddle.return %1 : tensor<?x?xbf16>
}

// f16 to f32, sizes known.
heddle.kernel @f16(%a: tensor<4096x512xf16>, %b: tensor<512x2048xf16>) -> tensor<4096x2048xf32> {
  %0 = heddle.gemm %a, %b : (tensor<4096x512xf16>, tensor<512x2048xf16>) -> tensor<4096x2048xf32>
  heddle.return %0 : tensor<4096x2048xf32>
}

// tf32, both operands K-major, and both not.
heddle.kernel @tf32_nt(%a: tensor<?x512xf32>, %b: tensor<256x512xf32>) -> tensor<?x256xf32> {
  %0 = heddle.gemm %a, %b transpose_b precision tf32 : (tensor<?x512xf32>, tensor<256x512xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}
heddle.kernel @tf32_tn(%a: tensor<512x?xf32>, %b: tensor<512x256xf32>) -> tensor<?x256xf32> {
  %0 = heddle.gemm %a, %b transpose_a precision tf32 : (tensor<512x?xf32>, tensor<512x256xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// A batch.
heddle.kernel @batched(%a: tensor<?x?x128xbf16>, %b: tensor<?x256x128xbf16>) -> tensor<?x?x256xbf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x?x128xbf16>, tensor<?x256x128xbf16>) -> tensor<?x?x256xf32>
  %1 = arith.truncf %0 : tensor<?x?x256xf32> to tensor<?x?x256xbf16>
  heddle.return %1 : tensor<?x?x256xbf16>
}

// Rows of any stride; rows that cannot be copied in 16-byte pieces.
heddle.kernel @strided(%a: tensor<?x512xbf16> {heddle.layout = strided<[?, 1]>}, %b: tensor<256x512xbf16>) -> tensor<?x256xbf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x512xbf16>, tensor<256x512xbf16>) -> tensor<?x256xf32>
  %1 = arith.truncf %0 : tensor<?x256xf32> to tensor<?x256xbf16>
  heddle.return %1 : tensor<?x256xbf16>
}
heddle.kernel @odd(%a: tensor<7x63xbf16>, %b: tensor<65x63xbf16>) -> tensor<7x65xbf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<7x63xbf16>, tensor<65x63xbf16>) -> tensor<7x65xf32>
  %1 = arith.truncf %0 : tensor<7x65xf32> to tensor<7x65xbf16>
  heddle.return %1 : tensor<7x65xbf16>
}

// Bias, activation, scale and residual.
heddle.kernel @bias_gelu(%a: tensor<?x512xbf16>, %b: tensor<256x512xbf16>, %bias: tensor<256xf32>) -> tensor<?x256xbf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x512xbf16>, tensor<256x512xbf16>) -> tensor<?x256xf32>
  %1 = heddle.broadcast %bias along [1] : tensor<256xf32> to tensor<?x256xf32>
  %2 = arith.addf %0, %1 : tensor<?x256xf32>
  %3 = heddle.gelu %2 : tensor<?x256xf32>
  %4 = arith.truncf %3 : tensor<?x256xf32> to tensor<?x256xbf16>
  heddle.return %4 : tensor<?x256xbf16>
}
heddle.kernel @silu(%a: tensor<?x512xf16>, %b: tensor<256x512xf16>) -> tensor<?x256xf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x512xf16>, tensor<256x512xf16>) -> tensor<?x256xf32>
  %1 = heddle.silu %0 : tensor<?x256xf32>
  %2 = arith.truncf %1 : tensor<?x256xf32> to tensor<?x256xf16>
  heddle.return %2 : tensor<?x256xf16>
}
heddle.kernel @alpha_beta(%a: tensor<?x512xbf16>, %b: tensor<256x512xbf16>, %c: tensor<?x256xbf16>, %alpha: f32, %beta: f32) -> tensor<?x256xbf16> {
  %0 = heddle.gemm %a, %b transpose_b : (tensor<?x512xbf16>, tensor<256x512xbf16>) -> tensor<?x256xf32>
  %1 = heddle.splat %alpha : tensor<?x256xf32>
  %2 = arith.mulf %0, %1 : tensor<?x256xf32>
  %3 = arith.extf %c : tensor<?x256xbf16> to tensor<?x256xf32>
  %4 = heddle.splat %beta : tensor<?x256xf32>
  %5 = arith.mulf %3, %4 : tensor<?x256xf32>
  %6 = arith.addf %2, %5 : tensor<?x256xf32>
  %7 = heddle.relu %6 : tensor<?x256xf32>
  %8 = arith.truncf %7 : tensor<?x256xf32> to tensor<?x256xbf16>
  heddle.return %8 : tensor<?x256xbf16>
}
