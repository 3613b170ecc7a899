// Every level prints, and what it prints can be fed back and goes on from there to the same PTX.
//
// RUN: heddlec %s --arch=sm_90a --emit=ptx -o %t.direct.ptx
// RUN: heddlec %s --arch=sm_90a --emit=heddle -o %t.heddle.mlir
// RUN: heddlec %t.heddle.mlir --arch=sm_90a --emit=ptx -o %t.heddle.ptx
// RUN: cmp %t.direct.ptx %t.heddle.ptx
// RUN: heddlec %s --arch=sm_90a --emit=warp -o %t.warp.mlir
// RUN: heddlec %t.warp.mlir --emit=ptx -o %t.warp.ptx
// RUN: cmp %t.direct.ptx %t.warp.ptx
// RUN: heddlec %s --arch=sm_90a --emit=roles -o %t.roles.mlir
// RUN: heddlec %t.roles.mlir --emit=ptx -o %t.roles.ptx
// RUN: cmp %t.direct.ptx %t.roles.ptx
// RUN: heddlec %s --arch=sm_90a --emit=nvvm -o %t.nvvm.mlir
// RUN: heddlec %t.nvvm.mlir --emit=ptx -o %t.nvvm.ptx
// RUN: cmp %t.direct.ptx %t.nvvm.ptx
//
// RUN: FileCheck %s --check-prefix=WARP < %t.warp.mlir
// RUN: FileCheck %s --check-prefix=NVVM < %t.nvvm.mlir
// WARP: warp.kernel @linear
// WARP-NOT: warp.role
// WARP: warp.stage @load
// NVVM: llvm.func @linear
// NVVM-SAME: heddle.manifest
//
// The roles of one spec on two targets, one after the other.
// RUN: heddlec %s --arch=sm_90a,sm_100a --emit=roles | FileCheck %s --check-prefix=ROLES
// ROLES: // @linear for sm_90a
// ROLES: warp.role {{.*}}registers
// ROLES: // @linear for sm_100a
// ROLES: warp.role
//
// And both compile again, each for its own target.
// The instructions of every generation can be fed back.
// RUN: heddlec %s --arch=sm_80 --emit=nvvm -o %t.80.mlir && heddlec %s --arch=sm_80 --emit=ptx -o %t.80.direct.ptx
// RUN: heddlec %t.80.mlir --emit=ptx -o %t.80.ptx && cmp %t.80.direct.ptx %t.80.ptx
// RUN: heddlec %s --arch=sm_100a --emit=nvvm -o %t.100.mlir && heddlec %s --arch=sm_100a --emit=ptx -o %t.100.direct.ptx
// RUN: heddlec %t.100.mlir --emit=ptx -o %t.100.ptx && cmp %t.100.direct.ptx %t.100.ptx
// RUN: heddlec %s --arch=sm_120a --emit=nvvm -o %t.120.mlir && heddlec %s --arch=sm_120a --emit=ptx -o %t.120.direct.ptx
// RUN: heddlec %t.120.mlir --emit=ptx -o %t.120.ptx && cmp %t.120.direct.ptx %t.120.ptx
//
// RUN: heddlec %s --arch=sm_90a,sm_100a --emit=roles -o %t.both.mlir
// RUN: heddlec %t.both.mlir --emit=ptx | FileCheck %s --check-prefix=BOTH
// BOTH: .target sm_90a
// BOTH: .target sm_100a

heddle.kernel @linear(%x: tensor<?x7168xbf16>, %w: tensor<2112x7168xbf16>) -> tensor<?x2112xbf16> {
  %0 = heddle.gemm %x, %w transpose_b : (tensor<?x7168xbf16>, tensor<2112x7168xbf16>) -> tensor<?x2112xf32>
  %1 = arith.truncf %0 : tensor<?x2112xf32> to tensor<?x2112xbf16>
  heddle.return %1 : tensor<?x2112xbf16>
}
