// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_90a | FileCheck %s
// RUN: heddle-opt %s --convert-heddle-to-warp='target=sm_90a variant=unaligned' | FileCheck %s --check-prefix=ONLY
// How many compiled forms a kernel gets, by what is known of 16-byte rows.

// Rows known to be aligned: one form.
// CHECK-LABEL: warp.kernel @aligned(
// CHECK-SAME: heddle.variant = "bulk"
// CHECK-NOT: @aligned__unaligned
heddle.kernel @aligned(%A: tensor<?x64xbf16>, %B: tensor<64x64xbf16>) -> tensor<?x64xbf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  heddle.return %d : tensor<?x64xbf16>
}

// K is known at launch: a second form takes what the first refuses.
// CHECK-LABEL: warp.kernel @at_launch(
// CHECK-SAME: heddle.variant = "bulk"
// CHECK-SAME: copy = bulk
// CHECK-LABEL: warp.kernel @at_launch__unaligned(
// CHECK-SAME: heddle.variant = "unaligned"
// CHECK-SAME: copy = threads, store = direct
// ONLY-NOT: warp.kernel @at_launch(
// ONLY: warp.kernel @at_launch__unaligned(
heddle.kernel @at_launch(%A: tensor<?x?xbf16>, %B: tensor<64x?xbf16>) -> tensor<?x64xbf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<?x?xbf16>, tensor<64x?xbf16>) -> tensor<?x64xbf16>
  heddle.return %d : tensor<?x64xbf16>
}

// Rows of 100 bytes can never be copied in bulk: one form, by threads.
// CHECK-LABEL: warp.kernel @never(
// CHECK-SAME: heddle.variant = "unaligned"
// CHECK-SAME: copy = threads
// CHECK-NOT: @never__unaligned
heddle.kernel @never(%A: tensor<?x50xbf16>, %B: tensor<64x50xbf16>) -> tensor<?x64xbf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<?x50xbf16>, tensor<64x50xbf16>) -> tensor<?x64xbf16>
  heddle.return %d : tensor<?x64xbf16>
}

// A result that cannot be stored in bulk is stored by threads; loads are not affected.
// CHECK-LABEL: warp.kernel @odd_result(
// CHECK-SAME: copy = bulk, store = direct
// CHECK-NOT: @odd_result__unaligned
heddle.kernel @odd_result(%A: tensor<?x64xbf16>, %B: tensor<63x64xbf16>) -> tensor<?x63xbf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<?x64xbf16>, tensor<63x64xbf16>) -> tensor<?x63xbf16>
  heddle.return %d : tensor<?x63xbf16>
}

// A result whose rows are known at launch: the second form differs in how it stores.
// CHECK-LABEL: warp.kernel @result_at_launch(
// CHECK-SAME: heddle.variant = "bulk"
// CHECK-SAME: copy = bulk
// CHECK-LABEL: warp.kernel @result_at_launch__unaligned(
// CHECK-SAME: copy = bulk, store = direct
heddle.kernel @result_at_launch(%A: tensor<?x64xbf16>, %B: tensor<?x64xbf16>) -> tensor<?x?xbf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x?xbf16>
  heddle.return %d : tensor<?x?xbf16>
}

// A run-time row stride, and one that is known.
// CHECK-LABEL: warp.kernel @strides(
// CHECK-SAME: memref<?x64xbf16, strided<[?, 1]>>
// CHECK-SAME: memref<64x64xbf16, strided<[72, 1]>>
// CHECK-SAME: shape = ["M", 64], strides = ["A.stride0", 1]
// CHECK-SAME: expr = ["A.stride0", 64, "sub"], kind = "at_least", value = 0 : i64, what = "stride 0 of A less dimension 1"
// CHECK-SAME: symbols = ["M", "A.stride0"]
// CHECK-LABEL: warp.kernel @strides__unaligned(
heddle.kernel @strides(%A: tensor<?x64xbf16> {heddle.layout = strided<[?, 1]>},
                       %B: tensor<64x64xbf16> {heddle.layout = strided<[72, 1]>}) -> tensor<?x64xbf16> {
  %d = heddle.gemm %A, %B transpose_b : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  heddle.return %d : tensor<?x64xbf16>
}
