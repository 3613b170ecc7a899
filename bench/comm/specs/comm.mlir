// What bench/comm times, beside NCCL. Sizes are elements of a rank's part.
heddle.kernel @all_gather(%x: tensor<?xbf16>) -> tensor<?x?xbf16> {
  %0 = heddle.all_gather %x : tensor<?xbf16> to tensor<?x?xbf16>
  heddle.return %0 : tensor<?x?xbf16>
}
heddle.kernel @all_to_all(%x: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = heddle.all_to_all %x : tensor<?x?xbf16> to tensor<?x?xbf16>
  heddle.return %0 : tensor<?x?xbf16>
}
heddle.kernel @reduce_scatter(%x: tensor<?x?xbf16>) -> tensor<?xbf16> {
  %0 = heddle.reduce_scatter %x : tensor<?x?xbf16> to tensor<?xbf16>
  heddle.return %0 : tensor<?xbf16>
}
heddle.kernel @all_reduce(%x: tensor<?xbf16>) -> tensor<?xbf16> {
  %0 = heddle.all_reduce %x : tensor<?xbf16> to tensor<?xbf16>
  heddle.return %0 : tensor<?xbf16>
}
