//===- TensorMap.h - 128-byte tensor maps and box addresses ---------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encoding, checking and walking of tensor maps for cp{.reduce}.async.bulk.tensor in
// tile and im2col mode (CUDA driver API, "Tensor Map Object Management"; PTX ISA 9.0, "Tensors",
// "Swizzling modes"). The 128 bytes have a private layout with a magic number: a real
// driver's map is refused by name, as its layout is not public.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_TENSOR_TENSORMAP_H
#define HEDDLE_EMULATOR_TENSOR_TENSORMAP_H

#include "Types.h"

#include <array>

namespace heddle::emulator::tensor {

/// Numbered as CUtensorMapDataType.
enum class MapType : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz,
  U4x16Align8,
  U4x16Align16,
  U6x16Align16,
};
/// Numbered as CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion and
/// CUtensorMapFloatOOBfill.
enum class MapInterleave : uint8_t { None, B16, B32 };
enum class MapSwizzle : uint8_t { None, B32, B64, B128, B128Atom32, B128Atom32Flip8, B128Atom64 };
enum class MapL2 : uint8_t { None, B64, B128, B256 };
enum class MapFill : uint8_t { Zero, NaN };

struct TensorMap {
  MapType type = MapType::BF16;
  unsigned rank = 0; ///< 1..5; index 0 is the innermost dimension
  uint64_t address = 0;
  std::array<uint64_t, 5> dims{};    ///< elements
  std::array<uint64_t, 5> strides{}; ///< bytes; strides[i] belongs to dims[i], [0] is implied
  std::array<uint32_t, 5> box{};     ///< elements
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1};
  MapInterleave interleave = MapInterleave::None;
  MapSwizzle swizzle = MapSwizzle::None;
  MapL2 l2 = MapL2::None;
  MapFill fill = MapFill::Zero;
  /// im2col: box[0] channels a pixel, box[1] pixels a column; the corners of the box of base pixels
  /// relative to those of the tensor, for dimensions 1 to rank - 2.
  bool im2col = false;
  std::array<int32_t, 3> lower{}, upper{};
};
using TensorMapBytes = std::array<uint8_t, 128>;

/// Bytes of one element (U4x16 types: 8 or 16 bytes per 16 elements; asks for bits).
unsigned mapTypeBits(MapType type);
/// The rules of cuTensorMapEncodeTiled; names the rule that is broken.
Problem checkTensorMap(const TensorMap &map);
/// Checks and encodes.
Problem encodeTensorMap(const TensorMap &map, TensorMapBytes &out);
/// Decodes what encodeTensorMap made; refuses anything else.
Problem decodeTensorMap(const uint8_t *bytes, TensorMap &out);

/// A piece of a box: `bytes` bytes contiguous on both sides.
struct BoxRun {
  uint64_t global; ///< device address, when inside
  uint32_t shared; ///< offset from the box's shared address
  uint32_t bytes;
  bool fill; ///< outside the tensor: shared memory gets the fill value, no global access
};
/// Bytes the box occupies in shared memory and counts on the mbarrier.
uint32_t boxBytes(const TensorMap &map);
/// The runs of the box at `coords` (map.rank of them, signed) when it lies at shared address
/// `sharedAddress`; the swizzle pattern follows the bits of the shared address. Runs are
/// at most 16 bytes when swizzled by 16-byte atoms unless neighbours merge. Stores skip
/// the runs with `fill`.
Problem boxRuns(const TensorMap &map, const int32_t *coords, uint32_t sharedAddress,
                std::vector<BoxRun> &out);
/// tile::gather4 and ::scatter4: the rows coords[1..4] from column coords[0] on, one after the
/// other. The map has rank 2 and a box of one row.
Problem gatherRuns(const TensorMap &map, const int32_t *coords, uint32_t sharedAddress,
                   std::vector<BoxRun> &out);
/// im2col: map.box[1] pixels from the base pixel `coords` on, walking the box of base pixels along
/// its dimensions in turn; each pixel is read at its place plus `offsets` (rank - 2 of them).
Problem im2colRuns(const TensorMap &map, const int32_t *coords, const uint16_t *offsets,
                   uint32_t sharedAddress, std::vector<BoxRun> &out);
/// A field of tensormap.replace; numbered in the order PTX lists them.
enum class MapField : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElemType,
  Interleave,
  Swizzle,
  SwizzleAtomicity,
  Fill,
};
/// Changes one field of the 128 bytes, with the value's encoding of PTX; the map as a whole is
/// checked when a copy uses it. `ordinal` is the dimension (a stride's: the dimension less one).
Problem replaceField(uint8_t *bytes, MapField field, unsigned ordinal, uint64_t value);
/// The byte pattern a fill writes: zero, or the NaN of the map's type.
void fillBytes(const TensorMap &map, uint8_t *out, uint32_t bytes);

/// Element-wise reductions of cp.reduce.async.bulk{.tensor}.
enum class ReduceOp : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };
Problem checkReduce(MapType type, ReduceOp op);
/// target[i] = op(target[i], source[i]) over bytes/size elements.
void reduceElements(MapType type, ReduceOp op, uint8_t *target, const uint8_t *source,
                    uint32_t bytes);

} // namespace heddle::emulator::tensor

#endif // HEDDLE_EMULATOR_TENSOR_TENSORMAP_H
