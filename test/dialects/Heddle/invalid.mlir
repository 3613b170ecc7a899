// RUN: heddle-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// heddle.kernel
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected argument a to be a tensor or an f32 scalar, got 'i32'}}
heddle.kernel @arg_type(%a: i32) {
  heddle.return
}

// -----

// expected-error@+1 {{expected argument a to be a tensor or an f32 scalar, got 'f64'}}
heddle.kernel @scalar_type(%a: f64) {
  heddle.return
}

// -----

// expected-error@+1 {{expected argument a to have elements of f32, f16, bf16, f8E4M3FN, f8E5M2 or i32, got 'i8'}}
heddle.kernel @element(%a: tensor<4x4xi8>) {
  heddle.return
}

// -----

// expected-error@+1 {{expected argument a to have a tensor of rank 1 to 3, got 'tensor<*xf32>'}}
heddle.kernel @unranked(%a: tensor<*xf32>) {
  heddle.return
}

// -----

// expected-error@+1 {{expected argument a to have a tensor of rank 1 to 3, got 'tensor<2x2x2x2xf32>'}}
heddle.kernel @rank(%a: tensor<2x2x2x2xf32>) {
  heddle.return
}

// -----

// expected-error@+1 {{expected argument a to have sizes from 1 to 2147483647, got 0}}
heddle.kernel @empty(%a: tensor<0x4xf32>) {
  heddle.return
}

// -----

// expected-error@+1 {{expected argument a to have sizes from 1 to 2147483647, got 2147483648}}
heddle.kernel @huge(%a: tensor<2147483648x4xf32>) {
  heddle.return
}

// -----

// expected-error@+1 {{expected arguments and results of different names, got x twice}}
heddle.kernel @same_name(%a: tensor<4xf32> {heddle.name = "x"}, %b: tensor<4xf32> {heddle.name = "x"}) {
  heddle.return
}

// -----

// expected-error@+1 {{got D twice; give the result another with {heddle.name = "..."}}}
heddle.kernel @result_name(%D: tensor<4x4xf32>) -> tensor<4x4xf32> {
  heddle.return %D : tensor<4x4xf32>
}

// -----

heddle.kernel @no_return(%a: tensor<4x4xf32>) {
  // expected-error@+1 {{block with no terminator}}
  %0 = arith.addf %a, %a : tensor<4x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// Attributes of arguments and results
//===----------------------------------------------------------------------===//

// expected-error@+1 {{expected heddle.dims to give one name for each dimension of 'tensor<4x4xf32>', got ["M"]}}
heddle.kernel @dims_count(%a: tensor<4x4xf32> {heddle.dims = ["M"]}) {
  heddle.return
}

// -----

// expected-error@+1 {{expected heddle.dims to hold names of letters, digits and _, got "M-1"}}
heddle.kernel @dims_name(%a: tensor<4xf32> {heddle.dims = ["M-1"]}) {
  heddle.return
}

// -----

// expected-error@+1 {{expected heddle.dims without the reserved name mul}}
heddle.kernel @dims_reserved(%a: tensor<4xf32> {heddle.dims = ["mul"]}) {
  heddle.return
}

// -----

// expected-error@+1 {{unsupported layout: expected the last dimension to be contiguous (stride 1), got strided<[1, 4]>}}
heddle.kernel @column_major(%a: tensor<4x4xf32> {heddle.layout = strided<[1, 4]>}) {
  heddle.return
}

// -----

// expected-error@+1 {{unsupported layout: expected a stride of at least 1 x 8 in dimension 0 so that rows do not overlap, got 4}}
heddle.kernel @overlap(%a: tensor<4x8xf32> {heddle.layout = strided<[4, 1]>}) {
  heddle.return
}

// -----

// expected-error@+1 {{expected heddle.layout to give one stride for each dimension of 'tensor<4x8xf32>', got strided<[1]>}}
heddle.kernel @layout_rank(%a: tensor<4x8xf32> {heddle.layout = strided<[1]>}) {
  heddle.return
}

// -----

// expected-error@+1 {{expected heddle.layout without an offset, got strided<[8, 1], offset: 3>}}
heddle.kernel @layout_offset(%a: tensor<4x8xf32> {heddle.layout = strided<[8, 1], offset: 3>}) {
  heddle.return
}

// -----

// expected-error@+1 {{expected strides from 1 to 137438953472, got strided<[0, 1]>}}
heddle.kernel @layout_zero(%a: tensor<4x8xf32> {heddle.layout = strided<[0, 1]>}) {
  heddle.return
}

// -----

// expected-error@+1 {{expected strides from 1 to 137438953472, got strided<[4611686018427387904, 1]>}}
heddle.kernel @layout_huge(%a: tensor<4x8xf32> {heddle.layout = strided<[4611686018427387904, 1]>}) {
  heddle.return
}

// -----

// expected-error@+1 {{expected heddle.layout to be strided<[...]>, got 8}}
heddle.kernel @layout_kind(%a: tensor<4x8xf32> {heddle.layout = 8 : i64}) {
  heddle.return
}

// -----

// expected-error@+1 {{expected heddle.name to be a name of letters, digits and _, got "a b"}}
heddle.kernel @bad_name(%a: tensor<4x8xf32> {heddle.name = "a b"}) {
  heddle.return
}

// -----

// expected-error@+1 {{expected heddle.name, heddle.dims or heddle.layout, got heddle.lay}}
heddle.kernel @unknown(%a: tensor<4x8xf32> {heddle.lay = 1}) {
  heddle.return
}

// -----

//===----------------------------------------------------------------------===//
// heddle.return
//===----------------------------------------------------------------------===//

heddle.kernel @return_count(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{expected 1 values, got 0}}
  heddle.return
}

// -----

heddle.kernel @return_type(%a: tensor<4x4xf32>) -> tensor<4x4xf16> {
  // expected-error@+1 {{expected result D to be 'tensor<4x4xf16>', got 'tensor<4x4xf32>'}}
  heddle.return %a : tensor<4x4xf32>
}

// -----

//===----------------------------------------------------------------------===//
// heddle.gemm
//===----------------------------------------------------------------------===//

heddle.kernel @gemm_rank(%a: tensor<4xf16>, %b: tensor<4x4xf16>) {
  // expected-error@+1 {{expected a to have rank 2, or 3 with a batch, got 'tensor<4xf16>'}}
  %0 = heddle.gemm %a, %b : (tensor<4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  heddle.return
}

// -----

heddle.kernel @gemm_ranks(%a: tensor<2x4x4xf16>, %b: tensor<4x4xf16>) {
  // expected-error@+1 {{expected operands and result of one rank, got 3, 2 and 3}}
  %0 = heddle.gemm %a, %b : (tensor<2x4x4xf16>, tensor<4x4xf16>) -> tensor<2x4x4xf32>
  heddle.return
}

// -----

heddle.kernel @gemm_types(%a: tensor<4x4xf16>, %b: tensor<4x4xbf16>) {
  // expected-error@+1 {{expected operands of one element type, or two of 8 bits, got 'f16' and 'bf16'}}
  %0 = heddle.gemm %a, %b : (tensor<4x4xf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  heddle.return
}

// -----

heddle.kernel @gemm_result(%a: tensor<4x4xf16>, %b: tensor<4x4xf16>) {
  // expected-error@+1 {{expected a result of f32, f16 or bf16, got 'f64'}}
  %0 = heddle.gemm %a, %b : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf64>
  heddle.return
}

// -----

heddle.kernel @gemm_accumulate(%a: tensor<4x4xf16>, %b: tensor<4x4xf16>) {
  // expected-error@+1 {{expected accumulate f32, got 'f16'}}
  %0 = heddle.gemm %a, %b accumulate f16 : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  heddle.return
}

// -----

heddle.kernel @gemm_f32(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) {
  // expected-error@+1 {{expected precision tf32: f32 operands are multiplied in TF32}}
  %0 = heddle.gemm %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  heddle.return
}

// -----

heddle.kernel @gemm_precision(%a: tensor<4x4xf16>, %b: tensor<4x4xf16>) {
  // expected-error@+1 {{expected no precision for operands of 'f16'}}
  %0 = heddle.gemm %a, %b precision tf32 : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  heddle.return
}

// -----

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

heddle.kernel @along_count(%b: tensor<8xf32>) {
  // expected-error@+1 {{expected along to name one dimension of the result for each of 'tensor<8xf32>', got 2}}
  %0 = heddle.broadcast %b along [0, 1] : tensor<8xf32> to tensor<4x8xf32>
  heddle.return
}

// -----

heddle.kernel @along_range(%b: tensor<8xf32>) {
  // expected-error@+1 {{expected along to hold dimensions of 'tensor<4x8xf32>', got 2}}
  %0 = heddle.broadcast %b along [2] : tensor<8xf32> to tensor<4x8xf32>
  heddle.return
}

// -----

heddle.kernel @along_order(%b: tensor<8x4xf32>) {
  // expected-error@+1 {{expected along to be ascending, got 0 after 1}}
  %0 = heddle.broadcast %b along [1, 0] : tensor<8x4xf32> to tensor<4x8xf32>
  heddle.return
}

// -----

heddle.kernel @broadcast_type(%b: tensor<8xf32>) {
  // expected-error@+1 {{expected one element type, got 'f32' and 'f16'}}
  %0 = heddle.broadcast %b along [1] : tensor<8xf32> to tensor<4x8xf16>
  heddle.return
}

// -----

heddle.kernel @splat(%x: f32) {
  // expected-note@-1 {{prior use here}}
  // expected-error@+1 {{use of value '%x' expects different type than prior uses: 'f16' vs 'f32'}}
  %0 = heddle.splat %x : tensor<4x8xf16>
  heddle.return
}

// -----

heddle.kernel @relu(%x: tensor<4xf8E5M2>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type values}}
  %0 = heddle.relu %x : tensor<4xf8E5M2>
  heddle.return
}

// -----

heddle.kernel @silu(%x: tensor<4xf8E5M2>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float or 16-bit float or bfloat16 type values}}
  %0 = heddle.silu %x : tensor<4xf8E5M2>
  heddle.return
}

// -----

heddle.kernel @gelu(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected string or keyword containing one of the following enum values for attribute 'form' [erf, tanh]}}
  %0 = heddle.gelu %x form sigmoid : tensor<4xf32>
  heddle.return
}

// -----
// expected-error@+1 {{expected a name of letters, digits and _, got "a-b"}}
heddle.kernel @"a-b"(%a: tensor<4x8xf32>) {
  heddle.return
}

// -----

heddle.kernel @scale_shape(%a: tensor<?x512xf8E4M3FN>, %b: tensor<256x512xf8E4M3FN>, %s: tensor<?x5xf32>, %t: tensor<2x4xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected dimension 1 of scale_a to be 4, K 512 in blocks of 128, got 5}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<?x5xf32>, tensor<2x4xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// -----

heddle.kernel @scale_rows(%a: tensor<?x512xf8E4M3FN>, %b: tensor<256x512xf8E4M3FN>, %s: tensor<?x4xf32>, %t: tensor<3x4xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected dimension 0 of scale_b to be 2, N 256 in blocks of 128, got 3}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// -----

heddle.kernel @scale_known(%a: tensor<?x512xf8E4M3FN>, %b: tensor<256x512xf8E4M3FN>, %s: tensor<64x4xf32>, %t: tensor<2x4xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected dimension 0 of scale_a to be ?, since M is known only at run time, got 64}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<64x4xf32>, tensor<2x4xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// -----

heddle.kernel @scale_order(%a: tensor<?x512xf8E4M3FN>, %b: tensor<256x512xf8E4M3FN>, %s: tensor<?x4xf32>, %t: tensor<2x4xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected dimension 1 of scale_a to be ?, since M is known only at run time, got 4}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] transposed_scale_a scale_b %t by [128, 128] : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// -----

heddle.kernel @scale_type(%a: tensor<?x512xf8E4M3FN>, %b: tensor<256x512xf8E4M3FN>, %s: tensor<?x4xbf16>, %t: tensor<2x4xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected scale_a of f32, got 'bf16'}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<?x4xbf16>, tensor<2x4xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// -----

heddle.kernel @scale_block(%a: tensor<?x512xf8E4M3FN>, %b: tensor<256x512xf8E4M3FN>, %s: tensor<?x8xf32>, %t: tensor<2x4xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected scale_a by [1, 128] or [128, 128], got [1, 64]}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 64] scale_b %t by [128, 128] : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<?x8xf32>, tensor<2x4xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// -----

heddle.kernel @scale_rank(%a: tensor<?x512xf8E4M3FN>, %b: tensor<256x512xf8E4M3FN>, %s: tensor<4xf32>, %t: tensor<2x4xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected scale_a to have the operand's rank 2, got 'tensor<4xf32>'}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<4xf32>, tensor<2x4xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// -----

heddle.kernel @scale_k(%a: tensor<?x200xf8E4M3FN>, %b: tensor<256x200xf8E4M3FN>, %s: tensor<?x2xf32>, %t: tensor<2x2xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected K to be a multiple of 128, the block of scale_a, got 200}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] : (tensor<?x200xf8E4M3FN>, tensor<256x200xf8E4M3FN>, tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// -----

heddle.kernel @scale_alone(%a: tensor<?x512xf8E4M3FN>, %b: tensor<256x512xf8E4M3FN>, %s: tensor<?x4xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected scale_a and scale_b together, got only scale_a}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] : (tensor<?x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>, tensor<?x4xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

// -----

heddle.kernel @scale_wide(%a: tensor<?x512xbf16>, %b: tensor<256x512xbf16>, %s: tensor<?x4xf32>, %t: tensor<2x4xf32>) -> tensor<?x256xf32> {
  // expected-error@+1 {{expected scales with operands of f8E4M3FN or f8E5M2 only, got 'bf16'}}
  %0 = heddle.gemm %a, %b transpose_b scale_a %s by [1, 128] scale_b %t by [128, 128] : (tensor<?x512xbf16>, tensor<256x512xbf16>, tensor<?x4xf32>, tensor<2x4xf32>) -> tensor<?x256xf32>
  heddle.return %0 : tensor<?x256xf32>
}

//===----------------------------------------------------------------------===//
// heddle.gemm with groups
//===----------------------------------------------------------------------===//

// -----

heddle.kernel @groups_type(%a: tensor<?x64xbf16>, %b: tensor<4x32x64xbf16>, %g: tensor<5xf32>) -> tensor<?x32xf32> {
  // expected-error@+1 {{expected groups of rank 1 and type i32, got 'tensor<5xf32>'}}
  %0 = heddle.gemm %a, %b transpose_b groups %g along_m : (tensor<?x64xbf16>, tensor<4x32x64xbf16>, tensor<5xf32>) -> tensor<?x32xf32>
  heddle.return %0 : tensor<?x32xf32>
}

// -----

heddle.kernel @groups_count(%a: tensor<?x64xbf16>, %b: tensor<4x32x64xbf16>, %g: tensor<6xi32>) -> tensor<?x32xf32> {
  // expected-error@+1 {{expected 4 counts or one more offsets for as many groups, got 6}}
  %0 = heddle.gemm %a, %b transpose_b groups %g along_m : (tensor<?x64xbf16>, tensor<4x32x64xbf16>, tensor<6xi32>) -> tensor<?x32xf32>
  heddle.return %0 : tensor<?x32xf32>
}

// -----

heddle.kernel @masked_count(%a: tensor<4x?x64xbf16>, %b: tensor<4x32x64xbf16>, %g: tensor<5xi32>) -> tensor<4x?x32xf32> {
  // expected-error@+1 {{expected 4 counts for as many groups, got 5}}
  %0 = heddle.gemm %a, %b transpose_b groups %g masked : (tensor<4x?x64xbf16>, tensor<4x32x64xbf16>, tensor<5xi32>) -> tensor<4x?x32xf32>
  heddle.return %0 : tensor<4x?x32xf32>
}

// -----

heddle.kernel @groups_rank(%a: tensor<?x64xbf16>, %b: tensor<32x64xbf16>, %g: tensor<5xi32>) -> tensor<?x32xf32> {
  // expected-error@+1 {{expected b of rank 3 with groups along_m, got 2}}
  %0 = heddle.gemm %a, %b transpose_b groups %g along_m : (tensor<?x64xbf16>, tensor<32x64xbf16>, tensor<5xi32>) -> tensor<?x32xf32>
  heddle.return %0 : tensor<?x32xf32>
}

// -----

heddle.kernel @groups_many(%a: tensor<?x64xbf16>, %b: tensor<2048x32x64xbf16>, %g: tensor<2048xi32>) -> tensor<?x32xf32> {
  // expected-error@+1 {{expected 1 to 1024 groups, a static size, got 2048}}
  %0 = heddle.gemm %a, %b transpose_b groups %g along_m : (tensor<?x64xbf16>, tensor<2048x32x64xbf16>, tensor<2048xi32>) -> tensor<?x32xf32>
  heddle.return %0 : tensor<?x32xf32>
}

// -----

heddle.kernel @groups_of_k(%a: tensor<64x?xbf16>, %b: tensor<?x32xbf16>, %g: tensor<4xi32>) -> tensor<4x64x32xf32> {
  // expected-error@+1 {{expected transpose_a and no transpose_b with groups along_k: the rows of both operands are K}}
  %0 = heddle.gemm %a, %b groups %g along_k : (tensor<64x?xbf16>, tensor<?x32xbf16>, tensor<4xi32>) -> tensor<4x64x32xf32>
  heddle.return %0 : tensor<4x64x32xf32>
}

// -----

heddle.kernel @groups_scales(%a: tensor<?x64xf8E4M3FN>, %b: tensor<?x32xf8E4M3FN>, %s: tensor<64x?xf32>, %t: tensor<32x?xf32>, %g: tensor<4xi32>) -> tensor<4x64x32xf32> {
  // expected-error@+1 {{expected groups along_k aligned to a multiple of 128, which a scale covers, got 1}}
  %0 = heddle.gemm %a, %b transpose_a scale_a %s by [1, 128] scale_b %t by [1, 128] groups %g along_k : (tensor<?x64xf8E4M3FN>, tensor<?x32xf8E4M3FN>, tensor<64x?xf32>, tensor<32x?xf32>, tensor<4xi32>) -> tensor<4x64x32xf32>
  heddle.return %0 : tensor<4x64x32xf32>
}

// -----

heddle.kernel @groups_none(%a: tensor<?x64xbf16>, %b: tensor<32x64xbf16>) -> tensor<?x32xf32> {
  // expected-error@+1 {{expected groups where something is said about them, got none}}
  %0 = heddle.gemm %a, %b transpose_b expected 20 : (tensor<?x64xbf16>, tensor<32x64xbf16>) -> tensor<?x32xf32>
  heddle.return %0 : tensor<?x32xf32>
}

// -----

heddle.kernel @gather_type(%a: tensor<?x64xbf16>, %b: tensor<32x64xbf16>, %rows: tensor<?xf32>) -> tensor<?x32xf32> {
  // expected-error@+1 {{expected rows to gather of rank 1 and type i32, got 'tensor<?xf32>'}}
  %0 = heddle.gemm %a, %b transpose_b gather %rows : (tensor<?x64xbf16>, tensor<32x64xbf16>, tensor<?xf32>) -> tensor<?x32xf32>
  heddle.return %0 : tensor<?x32xf32>
}

// -----

heddle.kernel @gather_batch(%a: tensor<4x?x64xbf16>, %b: tensor<4x32x64xbf16>, %rows: tensor<?xi32>) -> tensor<4x?x32xf32> {
  // expected-error@+1 {{expected to gather rows of a matrix a that is not transposed, for a result of rank 2}}
  %0 = heddle.gemm %a, %b transpose_b gather %rows : (tensor<4x?x64xbf16>, tensor<4x32x64xbf16>, tensor<?xi32>) -> tensor<4x?x32xf32>
  heddle.return %0 : tensor<4x?x32xf32>
}
