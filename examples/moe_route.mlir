// The experts of each token as DeepSeek-V3 chooses them: sigmoid scores, a bias that only the choice looks at,
// the best 4 of 8 groups of experts, 8 experts of them; weights that sum to 2.5.
heddle.kernel @moe_route(%scores: tensor<?x256xf32>, %bias: tensor<256xf32>)
    -> (tensor<?x8xi32> {heddle.name = "ids"}, tensor<?x8xf32> {heddle.name = "weights"}) {
  %ids, %weights = heddle.route %scores bias %bias top 8 groups 8 keep 4 by sigmoid normalise scale 2.5
    : (tensor<?x256xf32>, tensor<256xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>)
  heddle.return %ids, %weights : tensor<?x8xi32>, tensor<?x8xf32>
}
