// RUN: heddle-opt %s | heddle-opt | FileCheck %s
// RUN: heddle-opt %s --mlir-print-op-generic | heddle-opt | FileCheck %s

// CHECK-LABEL: heddle.kernel @all
heddle.kernel @all(%s: tensor<?x256xf32>, %b: tensor<256xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // CHECK: heddle.route %s bias %b top 8 groups 8 keep 4 by sigmoid normalise scale 2.500000e+00 : (tensor<?x256xf32>, tensor<256xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  %ids, %weights = heddle.route %s bias %b top 8 groups 8 keep 4 by sigmoid normalise scale 2.5
    : (tensor<?x256xf32>, tensor<256xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %ids, %weights : tensor<?x8xi32>, tensor<?x8xf32>
}

// CHECK-LABEL: heddle.kernel @least
heddle.kernel @least(%s: tensor<7x5xbf16>) -> (tensor<7x1xi32>, tensor<7x1xf32>) {
  // CHECK: heddle.route %s top 1 : (tensor<7x5xbf16>) -> (tensor<7x1xi32>, tensor<7x1xf32>)
  %ids, %weights = heddle.route %s top 1 : (tensor<7x5xbf16>) -> (tensor<7x1xi32>, tensor<7x1xf32>)
  heddle.return %ids, %weights : tensor<7x1xi32>, tensor<7x1xf32>
}
