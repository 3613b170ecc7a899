// RUN: not heddle-opt %s --convert-heddle-to-warp 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not heddle-opt %s --convert-heddle-to-warp=target=sm_70 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not heddle-opt %s --convert-heddle-to-warp='target=sm_90a chip=V100' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not heddle-opt %s --convert-heddle-to-warp='target=sm_80 chip=H200' 2>&1 | FileCheck %s --check-prefix=PAIR
// RUN: not heddle-opt %s --convert-heddle-to-warp='target=sm_80 variant=fast' 2>&1 | FileCheck %s --check-prefix=VARIANT
// RUN: heddle-opt %s --convert-heddle-to-warp='target=sm_90a chip=h20' | FileCheck %s

// Schedules that ptxas could not keep in registers are not chosen, nor others with the same tile and warps.
// RUN: heddle-opt %s --convert-heddle-to-warp='target=sm_90a' | FileCheck %s --check-prefix=FIRST
// RUN: heddle-opt %s --convert-heddle-to-warp='target=sm_90a avoid=tile=64x64x64,stages=9,mma_warps=4,store_stages=4,raster=4,store=bulk;tile=8x8x64' | FileCheck %s --check-prefix=NEXT
// FIRST: schedule = #warp.schedule<tile_m = 64, tile_n = 64,
// NEXT: schedule = #warp.schedule<tile_m = {{64, tile_n = 128|128, tile_n = 64}},
// RUN: not heddle-opt %s --convert-heddle-to-warp='target=sm_90a avoid=tile=fast' 2>&1 | FileCheck %s --check-prefix=AVOID
// AVOID: bad schedule to avoid: expected schedule key 'tile' to be

// NONE: expected target to be one of sm_80, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, got ''
// TARGET: expected target to be one of sm_80, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, got 'sm_70'
// CHIP: expected chip to be one of {{.*}}H200{{.*}}, got 'V100'
// PAIR: expected a chip that runs sm_80, got H200, which runs sm_90a
// VARIANT: expected variant to be bulk or unaligned, got 'fast'
// CHECK: warp.kernel @k
heddle.kernel @k(%A: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %0 = heddle.gemm %A, %A : (tensor<128x128xf16>, tensor<128x128xf16>) -> tensor<128x128xf16>
  heddle.return %0 : tensor<128x128xf16>
}
