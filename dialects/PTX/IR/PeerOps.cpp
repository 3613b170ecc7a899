//===- PeerOps.cpp - texts of flags and rows of other ranks ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/PTX/IR/PTXDialect.h"

using namespace heddle::ptx;

/// The first look is all there is when the other rank was here before. Polls do not acquire: each
/// would empty the L1. The counter only grows, so that the load that does sees no less.
std::string PeerWaitOp::getPtxText() {
  return R"ptx({
	.reg .pred p;
	.reg .b32 n, s;
	.reg .b64 start, now, limit, stop;
	mov.b32 $0, 0;
	mov.b64 $1, 0;
	setp.eq.u32 p, $5, 0;
	@p bra DONE;
	ld.acquire.sys.global.u64 $1, [$2];
	setp.ge.u64 p, $1, $3;
	@p bra DONE;
	mov.u64 start, %globaltimer;
	ld.global.u64 limit, [$4+8];
	ld.global.u64 stop, [$4+16];
	mov.b32 n, 0;
	POLL: ld.relaxed.sys.global.u64 $1, [$2];
	setp.ge.u64 p, $1, $3;
	@p bra HERE;
	add.u32 n, n, 1;
	and.b32 s, n, 63;
	setp.ne.u32 p, s, 0;
	@p bra POLL;
	mov.b32 $0, 2;
	ld.relaxed.sys.u32 s, [stop];
	setp.ne.u32 p, s, 0;
	@p bra DONE;
	mov.b32 $0, 0;
	mov.u64 now, %globaltimer;
	sub.u64 now, now, start;
	setp.lt.u64 p, now, limit;
	@p bra POLL;
	mov.b32 $0, 1;
	bra DONE;
	HERE: ld.acquire.sys.global.u64 $1, [$2];
	DONE:
	})ptx";
}

std::string PacketWaitOp::getPtxText() {
  return R"ptx({
	.reg .pred p;
	.reg .b32 n, s, t;
	.reg .b64 a, b, start, now, limit, stop;
	mov.b32 $0, 0;
	mov.b32 $1, 0;
	mov.b32 $2, 0;
	mov.b64 start, 0;
	setp.eq.u32 p, $6, 0;
	@p bra DONE;
	mov.b32 n, 0;
	POLL: ld.relaxed.sys.global.v2.b64 {a, b}, [$3];
	mov.b64 {$0, s}, a;
	mov.b64 {$1, t}, b;
	setp.eq.u32 p, s, $4;
	setp.eq.and.u32 p, t, $4, p;
	@p bra DONE;
	add.u32 n, n, 1;
	and.b32 s, n, 63;
	setp.ne.u32 p, s, 0;
	@p bra POLL;
	mov.u64 now, %globaltimer;
	setp.eq.u64 p, start, 0;
	@p mov.b64 start, now;
	mov.b32 $2, 2;
	ld.global.u64 limit, [$5+8];
	ld.global.u64 stop, [$5+16];
	ld.relaxed.sys.u32 s, [stop];
	setp.ne.u32 p, s, 0;
	@p bra DONE;
	mov.b32 $2, 0;
	sub.u64 now, now, start;
	setp.lt.u64 p, now, limit;
	@p bra POLL;
	mov.b32 $2, 1;
	DONE:
	})ptx";
}

std::string RecordFaultOp::getPtxText() {
  return R"ptx({
	.reg .pred p;
	.reg .b32 old;
	.reg .b64 r;
	setp.eq.u32 p, $0, 0;
	@p bra DONE;
	ld.global.u64 r, [$1+24];
	atom.relaxed.sys.cas.b32 old, [r], 0, $0;
	setp.ne.u32 p, old, 0;
	@p bra DONE;
	st.b32 [r+4], $2;
	st.b32 [r+8], $3;
	st.b32 [r+12], $4;
	st.b64 [r+16], $5;
	st.b64 [r+24], $6;
	st.b64 [r+32], $7;
	st.b32 [r+40], $8;
	DONE:
	})ptx";
}

/// `copy` with its operands, under the predicate that `bytes` is not 0.
static std::string unlessEmpty(const char *bytes, bool stream, const std::string &copy,
                               const std::string &operands) {
  std::string text = "{\n\t.reg .pred p;\n\t";
  if (stream)
    text +=
        ".reg .b64 policy;\n\tcreatepolicy.fractional.L2::evict_first.b64 policy, 0f3F800000;\n\t";
  text += "setp.ne.u32 p, " + std::string(bytes) + ", 0;\n\t@p " + copy;
  return text + (stream ? ".L2::cache_hint " + operands + ", policy" : " " + operands) + ";\n\t}";
}

std::string BulkLoadOp::getPtxText() {
  return unlessEmpty("$2", getStream(),
                     "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes",
                     "[$0], [$1], $2, [$3]");
}

std::string BulkStoreOp::getPtxText() {
  return unlessEmpty("$2", getStream(), "cp.async.bulk.global.shared::cta.bulk_group",
                     "[$0], [$1], $2");
}
