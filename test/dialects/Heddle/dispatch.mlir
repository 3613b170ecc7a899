// Tokens between ranks: what prints parses, and what is wrong is said.
// RUN: heddle-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: heddle.kernel @there
heddle.kernel @there(%x: tensor<?x7168xbf16>, %ids: tensor<?x8xi32>, %weights: tensor<?x8xf32>)
    -> (tensor<?x?x7168xbf16>, tensor<?x?x8xi32>, tensor<?x?x8xf32>) {
  // CHECK: heddle.dispatch %x by %ids, %weights experts 32 : (tensor<?x7168xbf16>, tensor<?x8xi32>, tensor<?x8xf32>) -> (tensor<?x?x7168xbf16>, tensor<?x?x8xi32>, tensor<?x?x8xf32>)
  %rows, %i, %w = heddle.dispatch %x by %ids, %weights experts 32
    : (tensor<?x7168xbf16>, tensor<?x8xi32>, tensor<?x8xf32>)
    -> (tensor<?x?x7168xbf16>, tensor<?x?x8xi32>, tensor<?x?x8xf32>)
  heddle.return %rows, %i, %w : tensor<?x?x7168xbf16>, tensor<?x?x8xi32>, tensor<?x?x8xf32>
}
// CHECK-LABEL: heddle.kernel @back
heddle.kernel @back(%rows: tensor<?x?x7168xbf16>, %ids: tensor<?x8xi32>) -> tensor<?x7168xbf16> {
  // CHECK: heddle.combine %rows by %ids experts 32 : (tensor<?x?x7168xbf16>, tensor<?x8xi32>) -> tensor<?x7168xbf16>
  %y = heddle.combine %rows by %ids experts 32 : (tensor<?x?x7168xbf16>, tensor<?x8xi32>) -> tensor<?x7168xbf16>
  heddle.return %y : tensor<?x7168xbf16>
}
// CHECK-LABEL: heddle.kernel @lists
heddle.kernel @lists(%ids: tensor<?x?x8xi32>) -> (tensor<33xi32>, tensor<?x?x8xi32>) {
  // CHECK: heddle.expert_lists %ids experts 32 : tensor<?x?x8xi32> -> (tensor<33xi32>, tensor<?x?x8xi32>)
  %offsets, %list = heddle.expert_lists %ids experts 32 : tensor<?x?x8xi32> -> (tensor<33xi32>, tensor<?x?x8xi32>)
  heddle.return %offsets, %list : tensor<33xi32>, tensor<?x?x8xi32>
}

// -----

heddle.kernel @d0(%x: tensor<64xbf16>, %ids: tensor<?x2xi32>, %weights: tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>) {
  // expected-error@+1 {{expected x of tokens x elements, got 'tensor<64xbf16>'}}
  %r, %i, %w = heddle.dispatch %x by %ids, %weights experts 4 : (tensor<64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>)
  heddle.return %r, %i, %w : tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>
}

// -----

heddle.kernel @d1(%x: tensor<?x64xbf16>, %ids: tensor<?x33xi32>, %weights: tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>) {
  // expected-error@+1 {{expected ids of tokens x 1 to 32, got 'tensor<?x33xi32>'}}
  %r, %i, %w = heddle.dispatch %x by %ids, %weights experts 4 : (tensor<?x64xbf16>, tensor<?x33xi32>, tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>)
  heddle.return %r, %i, %w : tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>
}

// -----

heddle.kernel @d2(%x: tensor<?x64xbf16>, %ids: tensor<?x?xi32>, %weights: tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>) {
  // expected-error@+1 {{expected ids of tokens x 1 to 32, got 'tensor<?x?xi32>'}}
  %r, %i, %w = heddle.dispatch %x by %ids, %weights experts 4 : (tensor<?x64xbf16>, tensor<?x?xi32>, tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>)
  heddle.return %r, %i, %w : tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>
}

// -----

heddle.kernel @d3(%x: tensor<?x64xbf16>, %ids: tensor<5x2xi32>, %weights: tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>) {
  // expected-error@+1 {{expected as many rows of ids as tokens, got 'tensor<5x2xi32>'}}
  %r, %i, %w = heddle.dispatch %x by %ids, %weights experts 4 : (tensor<?x64xbf16>, tensor<5x2xi32>, tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>)
  heddle.return %r, %i, %w : tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>
}

// -----

heddle.kernel @d4(%x: tensor<?x64xbf16>, %ids: tensor<?x2xi32>, %weights: tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>) {
  // expected-error@+1 {{expected 1 to 65536 experts a rank, got 0}}
  %r, %i, %w = heddle.dispatch %x by %ids, %weights experts 0 : (tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>)
  heddle.return %r, %i, %w : tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>
}

// -----

heddle.kernel @d5(%x: tensor<?x64xbf16>, %ids: tensor<?x2xi32>, %weights: tensor<?x3xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>) {
  // expected-error@+1 {{expected a weight for each id, got 'tensor<?x3xf32>' and 'tensor<?x2xi32>'}}
  %r, %i, %w = heddle.dispatch %x by %ids, %weights experts 4 : (tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x3xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>)
  heddle.return %r, %i, %w : tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>
}

// -----

heddle.kernel @d6(%x: tensor<?x64xbf16>, %ids: tensor<?x2xi32>, %weights: tensor<?x2xf32>) -> (tensor<2x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>) {
  // expected-error@+1 {{expected rows like 'tensor<?x64xbf16>' with the number of ranks, a ?, in front, got 'tensor<2x?x64xbf16>'}}
  %r, %i, %w = heddle.dispatch %x by %ids, %weights experts 4 : (tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<2x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>)
  heddle.return %r, %i, %w : tensor<2x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x?x2xf32>
}

// -----

heddle.kernel @d7(%x: tensor<?x64xbf16>, %ids: tensor<?x2xi32>, %weights: tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x4xi32>, tensor<?x?x2xf32>) {
  // expected-error@+1 {{expected the rows' ids like 'tensor<?x2xi32>' with the number of ranks, a ?, in front, got 'tensor<?x?x4xi32>'}}
  %r, %i, %w = heddle.dispatch %x by %ids, %weights experts 4 : (tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x4xi32>, tensor<?x?x2xf32>)
  heddle.return %r, %i, %w : tensor<?x?x64xbf16>, tensor<?x?x4xi32>, tensor<?x?x2xf32>
}

// -----

heddle.kernel @d8(%x: tensor<?x64xbf16>, %ids: tensor<?x2xi32>, %weights: tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x2xf32>) {
  // expected-error@+1 {{expected the rows' weights like 'tensor<?x2xf32>' with the number of ranks, a ?, in front, got 'tensor<?x2xf32>'}}
  %r, %i, %w = heddle.dispatch %x by %ids, %weights experts 4 : (tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>) -> (tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x2xf32>)
  heddle.return %r, %i, %w : tensor<?x?x64xbf16>, tensor<?x?x2xi32>, tensor<?x2xf32>
}

// -----

heddle.kernel @c9(%rows: tensor<?x?x64xbf16>, %ids: tensor<?x2xi32>) -> tensor<?xbf16> {
  // expected-error@+1 {{expected a result of tokens x elements, got 'tensor<?xbf16>'}}
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x64xbf16>, tensor<?x2xi32>) -> tensor<?xbf16>
  heddle.return %y : tensor<?xbf16>
}

// -----

heddle.kernel @c10(%rows: tensor<?x?x64xf8E4M3FN>, %ids: tensor<?x2xi32>) -> tensor<?x64xf8E4M3FN> {
  // expected-error@+1 {{expected elements of f32, f16 or bf16 to sum, got 'f8E4M3FN'}}
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x64xf8E4M3FN>, tensor<?x2xi32>) -> tensor<?x64xf8E4M3FN>
  heddle.return %y : tensor<?x64xf8E4M3FN>
}

// -----

heddle.kernel @c11(%rows: tensor<?x?x64xbf16>, %ids: tensor<?x2xi32>) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected 1 to 65536 experts a rank, got 65537}}
  %y = heddle.combine %rows by %ids experts 65537 : (tensor<?x?x64xbf16>, tensor<?x2xi32>) -> tensor<?x64xbf16>
  heddle.return %y : tensor<?x64xbf16>
}

// -----

heddle.kernel @c12(%rows: tensor<?x?x32xbf16>, %ids: tensor<?x2xi32>) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected rows like 'tensor<?x64xbf16>' with the number of ranks, a ?, in front, got 'tensor<?x?x32xbf16>'}}
  %y = heddle.combine %rows by %ids experts 4 : (tensor<?x?x32xbf16>, tensor<?x2xi32>) -> tensor<?x64xbf16>
  heddle.return %y : tensor<?x64xbf16>
}

// -----

heddle.kernel @lists(%ids: tensor<2x?x8xi32>) -> (tensor<5xi32>, tensor<2x?x8xi32>) {
  // expected-error@+1 {{expected ids of ranks, a ?, x tokens x a number that is known, got 'tensor<2x?x8xi32>'}}
  %o, %l = heddle.expert_lists %ids experts 4 : tensor<2x?x8xi32> -> (tensor<5xi32>, tensor<2x?x8xi32>)
  heddle.return %o, %l : tensor<5xi32>, tensor<2x?x8xi32>
}

// -----

heddle.kernel @lists(%ids: tensor<?x?x?xi32>) -> (tensor<5xi32>, tensor<?x?x?xi32>) {
  // expected-error@+1 {{expected ids of ranks, a ?, x tokens x a number that is known, got 'tensor<?x?x?xi32>'}}
  %o, %l = heddle.expert_lists %ids experts 4 : tensor<?x?x?xi32> -> (tensor<5xi32>, tensor<?x?x?xi32>)
  heddle.return %o, %l : tensor<5xi32>, tensor<?x?x?xi32>
}

// -----

heddle.kernel @lists(%ids: tensor<?x?x8xi32>) -> (tensor<5xi32>, tensor<?x?x8xi32>) {
  // expected-error@+1 {{expected 1 to 65536 experts a rank, got 0}}
  %o, %l = heddle.expert_lists %ids experts 0 : tensor<?x?x8xi32> -> (tensor<5xi32>, tensor<?x?x8xi32>)
  heddle.return %o, %l : tensor<5xi32>, tensor<?x?x8xi32>
}

// -----

heddle.kernel @lists(%ids: tensor<?x?x8xi32>) -> (tensor<4xi32>, tensor<?x?x8xi32>) {
  // expected-error@+1 {{expected 5 offsets of 4 experts, got 'tensor<4xi32>'}}
  %o, %l = heddle.expert_lists %ids experts 4 : tensor<?x?x8xi32> -> (tensor<4xi32>, tensor<?x?x8xi32>)
  heddle.return %o, %l : tensor<4xi32>, tensor<?x?x8xi32>
}

// -----

heddle.kernel @lists(%ids: tensor<?x?x8xi32>) -> (tensor<5xi32>, tensor<?x?x4xi32>) {
  // expected-error@+1 {{expected a list like the ids, 'tensor<?x?x8xi32>', got 'tensor<?x?x4xi32>'}}
  %o, %l = heddle.expert_lists %ids experts 4 : tensor<?x?x8xi32> -> (tensor<5xi32>, tensor<?x?x4xi32>)
  heddle.return %o, %l : tensor<5xi32>, tensor<?x?x4xi32>
}
