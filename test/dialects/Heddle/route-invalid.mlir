// RUN: heddle-opt %s --split-input-file --verify-diagnostics

heddle.kernel @c0(%s: tensor<?x?xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{expected scores of tokens x experts with the number of experts known, got 'tensor<?x?xf32>'}}
  %i, %w = heddle.route %s top 8 : (tensor<?x?xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c1(%s: tensor<64xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{expected scores of tokens x experts with the number of experts known, got 'tensor<64xf32>'}}
  %i, %w = heddle.route %s top 8 : (tensor<64xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c2(%s: tensor<?x64xf16>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float or bfloat16 type values, but got 'tensor<?x64xf16>'}}
  %i, %w = heddle.route %s top 8 : (tensor<?x64xf16>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c3(%s: tensor<?x2049xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{expected at most 2048 experts, got 2049}}
  %i, %w = heddle.route %s top 8 : (tensor<?x2049xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c4(%s: tensor<?x64xf32>) -> (tensor<?x33xi32>, tensor<?x33xf32>) {
  // expected-error@+1 {{expected top to be from 1 to 32, got 33}}
  %i, %w = heddle.route %s top 33 : (tensor<?x64xf32>) -> (tensor<?x33xi32>, tensor<?x33xf32>)
  heddle.return %i, %w : tensor<?x33xi32>, tensor<?x33xf32>
}

// -----

heddle.kernel @c5(%s: tensor<?x4xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{expected top to be from 1 to 4, got 8}}
  %i, %w = heddle.route %s top 8 : (tensor<?x4xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c6(%s: tensor<?x64xf32>) -> (tensor<?x1xi32>, tensor<?x1xf32>) {
  // expected-error@+1 {{expected top to be from 1 to 32, got 0}}
  %i, %w = heddle.route %s top 0 : (tensor<?x64xf32>) -> (tensor<?x1xi32>, tensor<?x1xf32>)
  heddle.return %i, %w : tensor<?x1xi32>, tensor<?x1xf32>
}

// -----

heddle.kernel @c7(%s: tensor<?x64xf32>, %b: tensor<32xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{expected a bias for each of the 64 experts, got 'tensor<32xf32>'}}
  %i, %w = heddle.route %s bias %b top 8 : (tensor<?x64xf32>, tensor<32xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c8(%s: tensor<?x64xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{expected groups to be from 1 to 32 and to divide the 64 experts, got 7}}
  %i, %w = heddle.route %s top 8 groups 7 keep 4 : (tensor<?x64xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c9(%s: tensor<?x64xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{expected groups to be from 1 to 32 and to divide the 64 experts, got 64}}
  %i, %w = heddle.route %s top 8 groups 64 keep 4 : (tensor<?x64xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c10(%s: tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  // expected-error@+1 {{expected at least 2 experts a group, since its best two count, got 1}}
  %i, %w = heddle.route %s top 2 groups 8 keep 4 : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  heddle.return %i, %w : tensor<?x2xi32>, tensor<?x2xf32>
}

// -----

heddle.kernel @c11(%s: tensor<?x64xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{expected keep to be from 1 to the 8 groups, got 9}}
  %i, %w = heddle.route %s top 8 groups 8 keep 9 : (tensor<?x64xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c12(%s: tensor<?x64xf32>) -> (tensor<?x9xi32>, tensor<?x9xf32>) {
  // expected-error@+1 {{expected the 1 groups that stay to have at least top 9 experts, got 8}}
  %i, %w = heddle.route %s top 9 groups 8 keep 1 : (tensor<?x64xf32>) -> (tensor<?x9xi32>, tensor<?x9xf32>)
  heddle.return %i, %w : tensor<?x9xi32>, tensor<?x9xf32>
}

// -----

heddle.kernel @c13(%s: tensor<?x64xf32>) -> (tensor<?x4xi32>, tensor<?x8xf32>) {
  // expected-error@+1 {{expected ids of shape ?x8, got 'tensor<?x4xi32>'}}
  %i, %w = heddle.route %s top 8 : (tensor<?x64xf32>) -> (tensor<?x4xi32>, tensor<?x8xf32>)
  heddle.return %i, %w : tensor<?x4xi32>, tensor<?x8xf32>
}

// -----

heddle.kernel @c14(%s: tensor<?x64xf32>) -> (tensor<?x8xi32>, tensor<5x8xf32>) {
  // expected-error@+1 {{expected weights of shape ?x8, got 'tensor<5x8xf32>'}}
  %i, %w = heddle.route %s top 8 : (tensor<?x64xf32>) -> (tensor<?x8xi32>, tensor<5x8xf32>)
  heddle.return %i, %w : tensor<?x8xi32>, tensor<5x8xf32>
}
