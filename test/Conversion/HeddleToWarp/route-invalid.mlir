// RUN: heddle-opt %s --convert-heddle-to-warp=target=sm_80 --split-input-file --verify-diagnostics

heddle.kernel @before(%s: tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  // expected-error@+1 {{expected nothing but heddle.route in its kernel, got heddle.relu}}
  %0 = heddle.relu %s : tensor<?x8xf32>
  %i, %w = heddle.route %0 top 2 : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  heddle.return %i, %w : tensor<?x2xi32>, tensor<?x2xf32>
}

// -----

heddle.kernel @two(%s: tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %i, %w = heddle.route %s top 2 : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  // expected-error@+1 {{expected one heddle.route in a kernel, got another}}
  %j, %x = heddle.route %s top 2 : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  heddle.return %i, %x : tensor<?x2xi32>, tensor<?x2xf32>
}

// -----

// expected-error@+1 {{expected a kernel with the results ids and weights, got 1 results}}
heddle.kernel @one(%s: tensor<?x8xf32>) -> tensor<?x2xi32> {
  %i, %w = heddle.route %s top 2 : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  heddle.return %i : tensor<?x2xi32>
}

// -----

heddle.kernel @twice(%s: tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xi32>) {
  // expected-error@+1 {{expected weights to be a result of the kernel}}
  %i, %w = heddle.route %s top 2 : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  heddle.return %i, %i : tensor<?x2xi32>, tensor<?x2xi32>
}

// -----

// expected-error@+1 {{expected no schedule: kernels with heddle.route have none}}
heddle.kernel @schedule(%s: tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) attributes {schedule = "stages=3"} {
  %i, %w = heddle.route %s top 2 : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  heddle.return %i, %w : tensor<?x2xi32>, tensor<?x2xf32>
}
