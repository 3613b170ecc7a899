// From a spec to results: compiled for each target, run on the emulated device of that target, and
// compared with the reference. Sizes have tails in every dimension.
//
// RUN: heddlec %s --arch=sm_80,sm_89,sm_90a,sm_100a,sm_103a,sm_120a --ptxas=none -o %t.hdl
//
// RUN: heddle-run %t.hdl --kernel linear --size M=130 --device=emulator:sm_80 | FileCheck %s
// RUN: heddle-run %t.hdl --kernel linear --size M=130 --device=emulator:sm_89 | FileCheck %s
// RUN: heddle-run %t.hdl --kernel linear --size M=130 --device=emulator:sm_90a | FileCheck %s
// RUN: heddle-run %t.hdl --kernel linear --size M=130 --device=emulator:sm_100a | FileCheck %s
// RUN: heddle-run %t.hdl --kernel linear --size M=130 --device=emulator:sm_103a | FileCheck %s
// RUN: heddle-run %t.hdl --kernel linear --size M=130 --device=emulator:sm_120a | FileCheck %s
//
// Rows that cannot be copied in 16-byte pieces: the other variant takes them.
// RUN: heddle-run %t.hdl --kernel any --size M=65 --size N=33 --size K=63 --device=emulator:sm_80 | FileCheck %s
// RUN: heddle-run %t.hdl --kernel any --size M=65 --size N=33 --size K=63 --device=emulator:sm_90a | FileCheck %s --check-prefixes=CHECK,OTHER
// RUN: heddle-run %t.hdl --kernel any --size M=65 --size N=33 --size K=63 --device=emulator:sm_100a | FileCheck %s --check-prefixes=CHECK,OTHER
// RUN: heddle-run %t.hdl --kernel any --size M=65 --size N=33 --size K=63 --device=emulator:sm_120a | FileCheck %s --check-prefixes=CHECK,OTHER
//
// OTHER: entry any__unaligned
// CHECK: passed: D relative error

heddle.kernel @linear(%x: tensor<?x72xbf16>, %w: tensor<136x72xbf16>, %bias: tensor<136xf32>) -> tensor<?x136xbf16> {
  %0 = heddle.gemm %x, %w transpose_b : (tensor<?x72xbf16>, tensor<136x72xbf16>) -> tensor<?x136xf32>
  %1 = heddle.broadcast %bias along [1] : tensor<136xf32> to tensor<?x136xf32>
  %2 = arith.addf %0, %1 : tensor<?x136xf32>
  %3 = heddle.silu %2 : tensor<?x136xf32>
  %4 = arith.truncf %3 : tensor<?x136xf32> to tensor<?x136xbf16>
  heddle.return %4 : tensor<?x136xbf16>
}

heddle.kernel @any(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>) -> tensor<?x?xf32> {
  %0 = heddle.gemm %a, %b : (tensor<?x?xf16>, tensor<?x?xf16>) -> tensor<?x?xf32>
  heddle.return %0 : tensor<?x?xf32>
}
