// REQUIRES: ptxas, nvdisasm
// The machine code of one spec on each target: the tensor-core instruction of its generation, no
// local memory, and copies and stores as wide as meant.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: heddlec %s --arch=sm_80,sm_89,sm_90a,sm_100a,sm_103a,sm_120a --emit=cubin -o %t
// RUN: %nvdisasm %t/linear.sm_80.cubin | FileCheck %s --implicit-check-not='{{(LDL|STL)[. ]}}' --check-prefixes=SYNC,ASYNC
// RUN: %nvdisasm %t/linear.sm_89.cubin | FileCheck %s --implicit-check-not='{{(LDL|STL)[. ]}}' --check-prefixes=SYNC,ASYNC
// RUN: %nvdisasm %t/linear.sm_90a.cubin | FileCheck %s --implicit-check-not='{{(LDL|STL)[. ]}}' --check-prefixes=WGMMA
// RUN: %nvdisasm %t/linear.sm_100a.cubin | FileCheck %s --implicit-check-not='{{(LDL|STL)[. ]}}' --check-prefixes=TCGEN
// RUN: %nvdisasm %t/linear.sm_103a.cubin | FileCheck %s --implicit-check-not='{{(LDL|STL)[. ]}}' --check-prefixes=TCGEN
// RUN: %nvdisasm %t/linear.sm_120a.cubin | FileCheck %s --implicit-check-not='{{(LDL|STL)[. ]}}' --check-prefixes=BULK

// ASYNC-DAG: LDGSTS{{.*}}.128
// SYNC-DAG: LDSM.16.{{M|MT}}88.4
// SYNC-DAG: HMMA.16816.F32.BF16

// WGMMA-DAG: UTMALDG.2D
// WGMMA-DAG: HGMMA.64x{{[0-9]+}}x16.F32.BF16
// WGMMA-DAG: STSM.16.M88.4
// WGMMA-DAG: UTMASTG.2D

// TCGEN-DAG: UTMALDG.2D
// TCGEN-DAG: UTCHMMA
// TCGEN-DAG: LDTM.x32
// TCGEN-DAG: UTMASTG.2D

// BULK-DAG: UTMALDG.2D
// BULK-DAG: HMMA.16816.F32.BF16

heddle.kernel @linear(%x: tensor<?x7168xbf16>, %w: tensor<4096x7168xbf16>) -> tensor<?x4096xbf16> {
  %0 = heddle.gemm %x, %w transpose_b : (tensor<?x7168xbf16>, tensor<4096x7168xbf16>) -> tensor<?x4096xf32>
  %1 = arith.truncf %0 : tensor<?x4096xf32> to tensor<?x4096xbf16>
  heddle.return %1 : tensor<?x4096xbf16>
}
