//===- VerifyProtocol.cpp - warp-verify-protocol --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In:  a kernel of stages or of roles.
// Out: unchanged, or an error that names the stage or role, the pipe and the position.
// Not: loops of unknown length that may run no iteration with lagged releases; loops whose
//      equal length only arithmetic could show.
//
// Checked in turn: one producer and at least one consumer a pipe; verbs paired and in
// order at each level; the same loops and counts on both sides; then a small instance is
// run (ProtocolModel.h) for deadlock, use of a slot after it was given away, and slots
// that never return. Pipes are cut to 3 slots there and loops to 4 iterations, so that a
// process that runs ahead of another by a whole loop is found out; when that fails, the
// true depths decide.
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/Passes.h"
#include "dialects/Warp/Transforms/ProtocolModel.h"

namespace heddle::warp {
#define GEN_PASS_DEF_VERIFYPROTOCOLPASS
#include "dialects/Warp/Transforms/Passes.h.inc"
} // namespace heddle::warp

using namespace mlir;
using namespace heddle::warp;

namespace {
struct VerifyProtocolPass : heddle::warp::impl::VerifyProtocolPassBase<VerifyProtocolPass> {
  using Base::Base;
  void runOnOperation() override;
};
} // namespace

static std::string quoted(PipeOp pipe) { return "\"" + pipe.getName().str() + "\""; }

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

static LogicalResult checkEnds(PipeOp pipe) {
  PipeUses uses = getUses(pipe);
  std::string names;
  for (Operation *producer : uses.producers)
    names += (names.empty() ? ": " : ", ") + describeProcess(producer);
  if (uses.producers.size() != 1)
    return pipe.emitOpError("expected one producer of pipe ")
           << quoted(pipe) << ", got " << uses.producers.size() << names;
  if (uses.consumers.empty())
    return pipe.emitOpError("expected a consumer of pipe ") << quoted(pipe) << ", got none";
  return success();
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

namespace {
/// Checks that verbs pair up at each level of one process.
struct PairChecker {
  Operation *process;

  /// Lagged releases leave one slot to release after the loop: its pipe, by loop.
  using Owed = DenseMap<Operation *, ReleaseOp>;
  FailureOr<Owed> check(const std::vector<Node> &nodes, Operation *level);
};

/// Verbs not yet paired at one level, by pipe.
struct Open {
  SmallVector<Operation *> acquires, waits;
  bool lagged = false;
};
} // namespace

static StringRef levelName(Operation *loop) {
  return !loop ? "kernel" : isa<ForEachOp>(loop) ? "item" : "iteration";
}

FailureOr<PairChecker::Owed> PairChecker::check(const std::vector<Node> &nodes, Operation *level) {
  llvm::MapVector<Operation *, Open> open;
  Owed owed, outward;
  for (const Node &node : nodes) {
    if (node.isLoop()) {
      FailureOr<Owed> inner = check(node.children, node.op);
      if (failed(inner))
        return failure();
      for (auto [pipe, release] : *inner)
        owed[pipe] = release;
      continue;
    }
    if (isTileWork(node.op) || isPeerVerb(node.op))
      continue;
    PipeOp pipe = getPipe(node.op);
    Open &state = open[pipe];
    auto close = [&](SmallVector<Operation *> &takers, StringRef taker) -> LogicalResult {
      if (takers.empty())
        return node.op->emitOpError("expected a ")
               << taker << " of pipe " << quoted(pipe) << " before it in the same "
               << levelName(level) << " of " << describeProcess(process) << ", found none";
      takers.erase(takers.begin());
      return success();
    };
    if (isa<AcquireOp>(node.op)) {
      // A commit fills the slot acquired last: a second slot would hide the first.
      if (!state.acquires.empty())
        return node.op->emitOpError("expected a warp.commit of pipe ")
               << quoted(pipe) << " between two warp.acquire in the same " << levelName(level)
               << " of " << describeProcess(process) << ", found none";
      state.acquires.push_back(node.op);
    } else if (isa<WaitOp>(node.op)) {
      state.waits.push_back(node.op);
    } else if (isa<CommitOp>(node.op)) {
      if (failed(close(state.acquires, "warp.acquire")))
        return failure();
    } else {
      auto release = cast<ReleaseOp>(node.op);
      if (release.getLag() && !isa_and_nonnull<scf::ForOp>(level))
        return release.emitOpError("expected lag in an scf.for, got it in the ")
               << levelName(level) << " of " << describeProcess(process);
      if (!release.getLag() && state.waits.empty() && owed.erase(pipe))
        continue; // the last slot of a lagging loop
      if (failed(close(state.waits, "warp.wait")))
        return failure();
      if (release.getLag())
        outward[pipe] = release;
    }
  }
  for (auto &[op, state] : open) {
    for (auto [takers, closer] :
         {std::pair(&state.acquires, "warp.commit"), std::pair(&state.waits, "warp.release")})
      if (!takers->empty())
        return takers->front()->emitOpError("expected a ")
               << closer << " of pipe " << quoted(cast<PipeOp>(op)) << " after it in the same "
               << levelName(level) << " of " << describeProcess(process) << ", found none";
  }
  for (auto [pipe, release] : owed)
    return release.emitOpError("expected a warp.release of pipe ")
           << quoted(cast<PipeOp>(pipe)) << " after the loop of " << describeProcess(process)
           << " for the slot that lags, found none";
  return outward;
}

//===----------------------------------------------------------------------===//
// Counts and loops
//===----------------------------------------------------------------------===//

namespace {
/// The slots a process takes of one pipe: so many in a row, or a loop.
struct Item {
  int64_t count = 0;
  Operation *loop = nullptr;
  std::vector<Item> body;
};
using Shape = std::vector<Item>;

struct ShapeComparer {
  PipeOp pipe;
  Operation *producer, *consumer;
  SmallVector<std::pair<Operation *, Operation *>> loops; ///< around, in step

  LogicalResult compare(const Shape &a, const Shape &b);
  bool same(Value x, Value y) const;
};
} // namespace

/// Takes of `pipe` in `nodes`; loops of small constant length around plain counts are
/// counted out, so that unrolled code matches its loop.
static Shape shapeOf(const std::vector<Node> &nodes, PipeOp pipe) {
  Shape shape;
  auto add = [&](int64_t count) {
    if (count == 0)
      return;
    if (shape.empty() || shape.back().loop)
      shape.push_back({});
    shape.back().count += count;
  };
  for (const Node &node : nodes) {
    if (!node.isLoop()) {
      add(isa<AcquireOp, WaitOp>(node.op) && getPipe(node.op) == pipe);
      continue;
    }
    Shape inner = shapeOf(node.children, pipe);
    std::optional<int64_t> trips = smallTripCount(node.op);
    if (inner.empty())
      continue;
    if (trips && inner.size() == 1 && !inner.front().loop)
      add(*trips * inner.front().count);
    else
      shape.push_back({0, node.op, std::move(inner)});
  }
  return shape;
}

bool ShapeComparer::same(Value x, Value y) const {
  for (auto [p, q] : loops) {
    auto a = p->getRegion(0).getArguments(), b = q->getRegion(0).getArguments();
    for (auto [i, v] : llvm::enumerate(a)) {
      if (i < b.size() && ((x == v && y == b[i]) || (y == v && x == b[i])))
        return isa<ForEachOp>(p) || i == 0;
    }
  }
  return false;
}

static std::string describeItem(const Shape &shape, size_t i) {
  if (i >= shape.size())
    return "nothing more";
  if (shape[i].loop)
    return isa<ForEachOp>(shape[i].loop) ? "a loop over items" : "a loop";
  return std::to_string(shape[i].count);
}

LogicalResult ShapeComparer::compare(const Shape &a, const Shape &b) {
  Operation *level = loops.empty() ? nullptr : loops.back().first;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    bool both = i < a.size() && i < b.size();
    if (!both || !a[i].loop != !b[i].loop || a[i].count != b[i].count) {
      InFlightDiagnostic diag = pipe.emitOpError("expected equal counts on both sides of pipe ")
                                << quoted(pipe) << " in each " << levelName(level) << ", got "
                                << describeItem(a, i) << " in " << describeProcess(producer)
                                << " and " << describeItem(b, i) << " in "
                                << describeProcess(consumer);
      for (const Shape *s : {&a, &b})
        if (i < s->size() && (*s)[i].loop)
          diag.attachNote((*s)[i].loop->getLoc()) << "the loop";
      return diag;
    }
    if (!a[i].loop)
      continue;
    if (!runInStep(a[i].loop, b[i].loop, [&](Value x, Value y) { return same(x, y); })) {
      InFlightDiagnostic diag = pipe.emitOpError("expected loops of equal bounds around pipe ")
                                << quoted(pipe) << " in " << describeProcess(producer) << " and "
                                << describeProcess(consumer);
      diag.attachNote(a[i].loop->getLoc()) << "loop of the producer";
      diag.attachNote(b[i].loop->getLoc()) << "loop of the consumer";
      return diag;
    }
    loops.push_back({a[i].loop, b[i].loop});
    if (failed(compare(a[i].body, b[i].body)))
      return failure();
    loops.pop_back();
  }
  return success();
}

static LogicalResult checkCounts(const KernelModel &model, PipeOp pipe) {
  auto bodyOf = [&](Operation *process) -> const std::vector<Node> & {
    return llvm::find_if(model.processes, [&](auto &p) { return p.process == process; })->body;
  };
  PipeUses uses = getUses(pipe);
  Operation *producer = uses.producers.front();
  Shape given = shapeOf(bodyOf(producer), pipe);
  for (Operation *consumer : uses.consumers)
    if (consumer != producer)
      if (failed(ShapeComparer{pipe, producer, consumer, {}}.compare(
              given, shapeOf(bodyOf(consumer), pipe))))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Fails when the kernel does with its true depths, in a loop that is longer than any of
/// them.
static LogicalResult checkRun(const KernelModel &model) {
  Instance small;
  if (llvm::any_of(model.pipes,
                   [](PipeOp p) { return p.getPipe().getType().getLink() == Link::Cluster; }))
    small.ctas = 2; // of a cluster
  if (!getPeerPipes(model.kernel).empty()) {
    small.ctas = 3; // ranks, with one channel each
    small.ranks = true;
  }
  if (runModel(model, small, /*report=*/false) == Outcome::Ok)
    return success();
  Instance full = small;
  for (PipeOp pipe : model.pipes)
    full.slots = std::max(full.slots, pipe.getPipe().getType().getDepth());
  full.iterations = full.slots + 1;
  if (Outcome outcome = runModel(model, full, /*report=*/true); outcome != Outcome::TooLong)
    return success(outcome == Outcome::Ok);
  runModel(model, small, /*report=*/true);
  return failure();
}

void VerifyProtocolPass::runOnOperation() {
  FailureOr<KernelModel> model = buildModel(getOperation());
  if (failed(model))
    return signalPassFailure();
  for (PipeOp pipe : model->pipes)
    if (failed(checkEnds(pipe)))
      return signalPassFailure();
  for (ProcessModel &process : model->processes)
    if (failed(PairChecker{process.process}.check(process.body, nullptr)))
      return signalPassFailure();
  for (PipeOp pipe : model->pipes)
    if (failed(checkCounts(*model, pipe)))
      return signalPassFailure();
  if (failed(checkRun(*model)))
    return signalPassFailure();
  markAllAnalysesPreserved();
}
