// heddle.route from a spec to results, on the emulated device of every target, compared with the
// reference: the same ids and, since both compute in one order, the same weights.
//
// RUN: heddlec %s --arch=sm_80,sm_89,sm_90a,sm_100a,sm_103a,sm_120a --ptxas=none -o %t.hdl
//
// RUN: heddle-run %t.hdl --kernel v3 --size T=37 --device=emulator:sm_80 | FileCheck %s
// RUN: heddle-run %t.hdl --kernel v3 --size T=37 --device=emulator:sm_89 | FileCheck %s
// RUN: heddle-run %t.hdl --kernel v3 --size T=37 --device=emulator:sm_90a --checks races | FileCheck %s
// RUN: heddle-run %t.hdl --kernel v3 --size T=37 --device=emulator:sm_100a | FileCheck %s
// RUN: heddle-run %t.hdl --kernel v3 --size T=37 --device=emulator:sm_103a | FileCheck %s
// RUN: heddle-run %t.hdl --kernel v3 --size T=37 --device=emulator:sm_120a | FileCheck %s
//
// Scores of few values: nearly every choice is a tie, which the lowest number wins.
// RUN: heddle-run %t.hdl --kernel v3 --size T=19 --random integers --device=emulator:sm_90a | FileCheck %s
// RUN: heddle-run %t.hdl --kernel v2 --size T=19 --random integers --device=emulator:sm_80 | FileCheck %s
// RUN: heddle-run %t.hdl --kernel odd --size T=19 --random integers --device=emulator:sm_80 | FileCheck %s
// RUN: heddle-run %t.hdl --kernel tiny --size T=3 --device=emulator:sm_120a | FileCheck %s
// RUN: heddle-run %t.hdl --kernel large --size T=5 --device=emulator:sm_90a | FileCheck %s
//
// No tokens at all.
// RUN: heddle-run %t.hdl --kernel v2 --size T=0 --device=emulator:sm_90a
//
// CHECK: passed: ids relative error 0 (
// CHECK: passed: weights relative error 0 (

heddle.kernel @v3(%scores: tensor<?x256xf32>, %bias: tensor<256xf32>)
    -> (tensor<?x8xi32> {heddle.name = "ids"}, tensor<?x8xf32> {heddle.name = "weights"}) {
  %ids, %weights = heddle.route %scores bias %bias top 8 groups 8 keep 4 by sigmoid normalise scale 2.5
    : (tensor<?x256xf32>, tensor<256xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %ids, %weights : tensor<?x8xi32>, tensor<?x8xf32>
}

heddle.kernel @v2(%scores: tensor<?x160xbf16>)
    -> (tensor<?x6xi32> {heddle.name = "ids"}, tensor<?x6xf32> {heddle.name = "weights"}) {
  %ids, %weights = heddle.route %scores top 6 groups 8 keep 3 scale 16.0
    : (tensor<?x160xbf16>) -> (tensor<?x6xi32>, tensor<?x6xf32>)
  heddle.return %ids, %weights : tensor<?x6xi32>, tensor<?x6xf32>
}

// Groups that start within a warp's row of 32, and a last one that is not full.
heddle.kernel @odd(%scores: tensor<?x77xf32> {heddle.layout = strided<[90, 1]>}, %bias: tensor<77xf32>)
    -> (tensor<?x5xi32> {heddle.name = "ids"}, tensor<?x5xf32> {heddle.name = "weights"}) {
  %ids, %weights = heddle.route %scores bias %bias top 5 groups 7 keep 2 normalise
    : (tensor<?x77xf32>, tensor<77xf32>) -> (tensor<?x5xi32>, tensor<?x5xf32>)
  heddle.return %ids, %weights : tensor<?x5xi32>, tensor<?x5xf32>
}

heddle.kernel @tiny(%scores: tensor<?x1xf32>)
    -> (tensor<?x1xi32> {heddle.name = "ids"}, tensor<?x1xf32> {heddle.name = "weights"}) {
  %ids, %weights = heddle.route %scores top 1 : (tensor<?x1xf32>) -> (tensor<?x1xi32>, tensor<?x1xf32>)
  heddle.return %ids, %weights : tensor<?x1xi32>, tensor<?x1xf32>
}

heddle.kernel @large(%scores: tensor<?x1000xbf16>, %bias: tensor<1000xf32>)
    -> (tensor<?x32xi32> {heddle.name = "ids"}, tensor<?x32xf32> {heddle.name = "weights"}) {
  %ids, %weights = heddle.route %scores bias %bias top 32 by sigmoid
    : (tensor<?x1000xbf16>, tensor<1000xf32>) -> (tensor<?x32xi32>, tensor<?x32xf32>)
  heddle.return %ids, %weights : tensor<?x32xi32>, tensor<?x32xf32>
}
