//===- Case.cpp - text and inputs of a case -------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include <bit>
#include <cmath>

namespace heddle::golden {

namespace {

/// splitmix64; the inputs must be the same everywhere.
struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t n) { return uint32_t(next() >> 32) % n; }
  /// About normal: a sum of uniform numbers, exact in any floating-point environment.
  float near() {
    int sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += int(below(4096)) - 2048;
    return float(sum) / 2048.0f;
  }
};

template <size_t N> uint32_t pick(Random &r, const uint32_t (&special)[N], uint32_t other) {
  return r.below(3) == 0 ? special[r.below(N)] : other;
}

uint32_t f16(float v) { // exact or toward zero; normal range only
  const uint32_t b = std::bit_cast<uint32_t>(v);
  if (v == 0)
    return 0;
  const int e = int(b >> 23 & 255) - 127 + 15;
  if (e <= 0)
    return b >> 16 & 0x8000;
  return (b >> 16 & 0x8000) | uint32_t(e) << 10 | (b >> 13 & 0x3ff);
}
uint32_t bf16(float v) { return std::bit_cast<uint32_t>(v) >> 16; }
/// Toward zero, 1-bit-sign, `m` mantissa bits, exponent bias `bias`; normal range only.
uint32_t f8(float v, unsigned m, int bias) {
  const uint32_t b = std::bit_cast<uint32_t>(v);
  const int e = int(b >> 23 & 255) - 127 + bias;
  if (v == 0 || e <= 0)
    return b >> 24 & 0x80;
  return (b >> 24 & 0x80) | uint32_t(e) << m | (b >> (23 - m) & ((1u << m) - 1));
}
float small(Random &r) { return float(int(r.below(9)) - 4); }

uint32_t word(Word kind, Random &r) {
  // One draw a statement: the order of draws must not be left to the compiler.
  const auto packed = [](auto f, unsigned bits) {
    uint32_t all = 0;
    for (unsigned at = 0; at < 32; at += bits)
      all |= f() << at;
    return all;
  };
  const auto halves = [&](auto f) { return packed(f, 16); };
  const auto bytes = [&](auto f) { return packed(f, 8); };
  switch (kind) {
  case Word::Bits:
    return pick(r, {0u, 1u, 0xffffffffu, 0x7fffffffu, 0x80000000u, 0x80000001u, 31u, 32u, 255u, 0xff80u},
                uint32_t(r.next()));
  case Word::Small:
    return r.below(64);
  case Word::F32: {
    // Ties of f16, bf16, tf32, e4m3 and of integers; limits of the narrow formats.
    uint32_t any = uint32_t(r.next());
    if (const uint32_t exponent = r.below(100); exponent < 50) // half of them near 1
      any = (any & 0x807fffff) | (100 + exponent) << 23;
    return pick(r, {0u, 0x80000000u, 0x7f800000u, 0xff800000u, 0x7fc00000u, 1u, 0x80000001u, 0x007fffffu, 0x00800000u, 0x7f7fffffu,
                    0x3f801000u, 0x3f803000u, 0x3f808000u, 0x3f818000u, 0x3f880000u, 0x3f980000u, 0x477ff000u, 0x477fe000u,
                    0x33000000u, 0x33000001u, 0x38800000u, 0x387fc000u, 0x43e00000u, 0x43e80000u, 0x43f00000u, 0x47600000u,
                    0x47700000u, 0x3f000000u, 0xbf000000u, 0x3fc00000u, 0x40200000u, 0xc0200000u, 0x4effffffu, 0x4f000000u,
                    0xcf000000u, 0xcf000001u, 0x4f7fffffu, 0x4f800000u, 0x5f000000u, 0xdf000000u, 0x3b000000u, 0x3a800000u,
                    0x3f802000u, 0x3f800800u, 0x42fe0000u, 0x43000000u, 0x3f7fffffu}, any);
  }
  case Word::F32Near:
    return std::bit_cast<uint32_t>(r.near());
  case Word::F32Ints:
    return std::bit_cast<uint32_t>(small(r));
  case Word::F64Low:
    return r.below(3) ? uint32_t(r.next()) : 0;
  case Word::F64High:
    if (const uint32_t exponent = r.below(160); exponent < 80)
      return (uint32_t(r.next()) & 0x800fffff) | (1023 - 40 + exponent) << 20;
    return pick(r, {0u, 0x80000000u, 0x7ff00000u, 0x3ff00000u, 0x3fe00000u, 0x40040000u, 0x7fefffffu}, uint32_t(r.next()));
  case Word::F16x2:
    return halves([&] { return pick(r, {0u, 0x8000u, 0x7c00u, 0xfc00u, 0x7e00u, 1u, 0x8001u, 0x3ffu, 0x400u, 0x7bffu, 0xfbffu, 0x3c00u}, r.below(65536)) & 0xffff; });
  case Word::BF16x2:
    return halves([&] { return pick(r, {0u, 0x8000u, 0x7f80u, 0xff80u, 0x7fc0u, 1u, 0x8001u, 0x7fu, 0x80u, 0x7f7fu, 0xff7fu, 0x3f80u}, r.below(65536)) & 0xffff; });
  case Word::F16x2Near:
    return halves([&] { return f16(r.near()); });
  case Word::BF16x2Near:
    return halves([&] { return bf16(r.near()); });
  case Word::F16x2Ints:
    return halves([&] { return f16(small(r)); });
  case Word::BF16x2Ints:
    return halves([&] { return bf16(small(r)); });
  case Word::E4M3x4:
    return bytes([&] { uint32_t b = r.below(256); return (b & 0x7f) == 0x7f ? b - 1 : b; });
  case Word::E5M2x4:
    return bytes([&] { uint32_t b = r.below(256); return (b & 0x7c) == 0x7c ? b ^ 0x40 : b; });
  case Word::E4M3x4Near:
    return bytes([&] { return f8(r.near(), 3, 7); });
  case Word::E5M2x4Near:
    return bytes([&] { return f8(r.near(), 2, 15); });
  case Word::E4M3x4Ints:
    return bytes([&] { return f8(small(r), 3, 7); });
  case Word::E5M2x4Ints:
    return bytes([&] { return f8(small(r), 2, 15); });
  }
  return 0;
}

} // namespace

std::string Case::text() const {
  const bool hopper = target != "sm_80";
  return std::string(".version ") + (hopper ? "8.4" : "7.8") + "\n.target " + target +
         "\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
         ".visible .entry k(.param .u64 out, .param .u64 in" +
         (map.used ? ", .param .align 64 .b8 map[128]" : "") +
         ")\n{\n.reg .pred %p<16>;\n.reg .b16 %h<32>;\n.reg .b32 %r<128>;\n.reg .f32 %f<64>;\n.reg .b64 %d<64>;\n"
         "ld.param.u64 %d62, [out];\nld.param.u64 %d63, [in];\ncvta.to.global.u64 %d62, %d62;\ncvta.to.global.u64 %d63, %d63;\n"
         "mov.u32 %r62, %tid.x;\nmov.u32 %r60, %ctaid.x;\nmov.u32 %r59, %ntid.x;\nmad.lo.u32 %r63, %r60, %r59, %r62;\nmov.u32 %r61, %laneid;\n"
         "mad.wide.u32 %d61, %r63, " + std::to_string(4 * outWords) + ", %d62;\nmad.wide.u32 %d60, %r63, " +
         std::to_string(4 * record.size()) + ", %d63;\n" + (map.used ? "mov.b64 %d59, map;\ncvta.param.u64 %d59, %d59;\n" : "") + body + "\nret;\n}\n";
}

std::vector<uint32_t> Case::input() const {
  uint64_t seed = 14695981039346656037u; // of the name
  for (char c : name)
    seed = (seed ^ uint8_t(c)) * 1099511628211u;
  Random r{seed};
  std::vector<uint32_t> words;
  const unsigned n = records ? records : threads * blocks;
  for (unsigned i = 0; i < n; ++i)
    for (Word w : record)
      words.push_back(word(w, r));
  return words;
}

Case statement(const std::string &name, const std::string &text, const std::vector<Word> &inputs,
               const std::string &target) {
  Case c;
  c.name = name;
  c.target = target;
  c.threads = 128;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string n = std::to_string(i + 1);
    c.body += "ld.global.u64 %d" + n + ", [%d60+" + std::to_string(8 * i) + "];\ncvt.u32.u64 %r" + n + ", %d" + n + ";\nmov.b32 %f" +
              n + ", %r" + n + ";\ncvt.u16.u64 %h" + n + ", %d" + n + ";\n";
    c.record.push_back(inputs[i] == Word::F64High ? Word::F64Low : inputs[i]);
    c.record.push_back(inputs[i] == Word::F64High ? Word::F64High : Word::Bits);
  }
  c.body += text + "\n";
  const auto names = [&](const char *reg) {
    const size_t at = text.find(reg);
    return at != std::string::npos && !(text.size() > at + 3 && text[at + 3] >= '0' && text[at + 3] <= '9');
  };
  if (names("%d0")) {
    c.outWords = 2;
    c.body += "st.global.u64 [%d61], %d0;";
    return c;
  }
  if (names("%p0"))
    c.body += "selp.u32 %r0, 1, 0, %p0;\n";
  else if (names("%f0"))
    c.body += "mov.b32 %r0, %f0;\n";
  else if (names("%h0"))
    c.body += "cvt.u32.u16 %r0, %h0;\n";
  c.body += "st.global.u32 [%d61], %r0;";
  return c;
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  addConversions(cases);
  addArithmetic(cases);
  addWarpCases(cases);
  addMatrix(cases);
  addMemory(cases);
  return cases;
}

} // namespace heddle::golden
