//===- ProtocolModel.cpp - a kernel reduced to verbs and loops ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/Warp/Transforms/ProtocolModel.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace heddle::warp {

static bool isVerb(Operation *op) { return isa<AcquireOp, CommitOp, WaitOp, ReleaseOp>(op); }

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static LogicalResult addNodes(const KernelModel &model, Block &block, std::vector<Node> &nodes) {
  for (Operation &op : block) {
    if (isVerb(&op)) {
      PipeOp pipe = getPipe(&op);
      if (!pipe)
        return op.emitOpError("expected the result of a warp.pipe as operand");
      if (model.has(pipe))
        nodes.push_back({&op, {}});
    } else if (isPeerVerb(&op)) {
      nodes.push_back({&op, {}});
    } else if (isTileWork(&op)) {
      for (Value operand : op.getOperands())
        if (isa<TileType>(operand.getType()) && !getTaker(operand))
          return op.emitOpError("expected tiles that warp.acquire or warp.wait gave");
      nodes.push_back({&op, {}});
    } else if (isa<ForEachOp, scf::ForOp>(op)) {
      Node loop{&op, {}};
      if (failed(addNodes(model, op.getRegion(0).front(), loop.children)))
        return failure();
      if (!loop.children.empty())
        nodes.push_back(std::move(loop));
    } else if (op.getNumRegions()) {
      Operation *inner = nullptr;
      op.walk([&](Operation *nested) {
        if (isVerb(nested) || isPeerVerb(nested) || isTileWork(nested))
          inner = nested;
      });
      if (inner)
        return inner->emitOpError("expected only loops around it in ")
               << describeProcess(getProcess(inner)) << ", got " << op.getName();
    }
  }
  return success();
}

FailureOr<KernelModel> buildModel(KernelOp kernel) {
  KernelModel model;
  model.kernel = kernel;
  for (PipeOp pipe : getPipes(kernel)) {
    PipeUses uses = getUses(pipe);
    bool emptied = pipe.getPipe().getType().getLink() == Link::Regs && uses.commits.empty() &&
                   uses.waits.empty() && uses.releases.empty();
    if (!emptied)
      model.pipes.push_back(pipe);
  }
  for (Operation *process : getProcesses(kernel)) {
    model.processes.push_back({process, {}});
    if (failed(addNodes(model, process->getRegion(0).front(), model.processes.back().body)))
      return failure();
  }
  return model;
}

std::optional<int64_t> smallTripCount(Operation *loop) {
  auto f = dyn_cast<scf::ForOp>(loop);
  if (!f)
    return std::nullopt;
  auto lower = getConstantIntValue(f.getLowerBound()),
       upper = getConstantIntValue(f.getUpperBound()), step = getConstantIntValue(f.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return std::nullopt;
  int64_t count = *upper > *lower ? (*upper - *lower + *step - 1) / *step : 0;
  return count <= 64 ? std::optional(count) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// Where a process is: the loops it is in, by iteration, and the next node of each level.
struct Frame {
  const std::vector<Node> *nodes;
  size_t next;
  Operation *loop; ///< null at the outermost level
  int64_t iteration, count;
};

/// What has happened on a pipe in one CTA. Consumers in the order of PipeUses::consumers.
struct PipeState {
  PipeOp op;
  bool cluster; ///< whether the other CTAs fill and await its slots as well
  int64_t slots;
  SmallVector<Operation *> consumers;
  int64_t acquired = 0, committed = 0;
  SmallVector<int64_t> waited, released;
};

/// What has happened on the peer pipe from one rank to another. Each count gets to 1.
struct PeerState {
  int64_t acquired = 0, committed = 0, waited = 0, released = 0;
};

struct ProcessState {
  Operation *process;
  int64_t cta;
  SmallVector<Frame> frames;
};

enum class Step { Done, Blocked, Error };

class Machine {
public:
  Machine(const KernelModel &model, const Instance &instance, bool report);
  Outcome run();

private:
  Step step(ProcessState &p);
  Step runVerb(ProcessState &p, Operation *verb);
  Step checkUse(ProcessState &p, Operation *op);
  Step runPeerVerb(ProcessState &p, Operation *verb);
  Step checkPeerUse(ProcessState &p, Operation *op);
  LogicalResult checkPeersEnd();
  Step fail(ProcessState &p, Operation *op, const Twine &message);
  std::optional<int64_t> evaluate(const ProcessState &p, Value value) const;
  std::optional<int64_t> tripCount(const ProcessState &p, Operation *loop) const;
  PeerState &between(Operation *pipe, int64_t producer, int64_t consumer) {
    return peers[{pipe, producer * instance.ctas + consumer}];
  }
  void enter(ProcessState &p, const Node &loop);
  const Node *current(ProcessState &p);
  void reportDeadlock();
  LogicalResult checkEnd();
  std::string position(const ProcessState &p) const;
  PipeState &stateOf(Operation *verb, int64_t cta) {
    return pipes[index.at(getPipe(verb)) * instance.ctas + cta];
  }
  /// The least number in `pipe` or, for a cluster pipe, in any CTA's.
  int64_t least(Operation *verb, int64_t cta, function_ref<int64_t(const PipeState &)> number);
  size_t consumerIndex(const PipeState &pipe, Operation *process) const {
    return llvm::find(pipe.consumers, process) - pipe.consumers.begin();
  }

  const Instance &instance;
  bool report;
  std::vector<PipeState> pipes;
  DenseMap<Operation *, size_t> index;
  std::vector<ProcessState> processes;
  SmallVector<PeerPipeOp> peerPipes;
  DenseMap<std::pair<Operation *, int64_t>, PeerState> peers;
  /// The sequence number of the slot that a taker gave last.
  DenseMap<std::pair<Operation *, int64_t>, int64_t> tickets; ///< by verb and CTA
};
} // namespace

Machine::Machine(const KernelModel &model, const Instance &instance, bool report)
    : instance(instance), report(report) {
  for (PipeOp pipe : model.pipes) {
    PipeState state;
    state.op = pipe;
    state.cluster = pipe.getPipe().getType().getLink() == Link::Cluster;
    state.slots = std::min(pipe.getPipe().getType().getDepth(), instance.slots);
    state.consumers = getUses(pipe).consumers;
    state.waited.assign(state.consumers.size(), 0);
    state.released.assign(state.consumers.size(), 0);
    index[pipe] = pipes.size() / instance.ctas;
    pipes.insert(pipes.end(), instance.ctas, state);
  }
  peerPipes = getPeerPipes(model.kernel);
  for (int64_t cta = 0; cta < instance.ctas; ++cta)
    for (const ProcessModel &process : model.processes)
      processes.push_back({process.process, cta, {{&process.body, 0, nullptr, 0, 1}}});
}

/// "item 1, iteration 2"
std::string Machine::position(const ProcessState &p) const {
  std::string text;
  for (const Frame &frame : p.frames)
    if (frame.loop)
      text += (text.empty() ? "" : ", ") +
              std::string(isa<ForEachOp>(frame.loop) ? "item " : "iteration ") +
              std::to_string(frame.iteration);
  if (text.empty())
    text = "outside of loops";
  if (instance.ctas == 1)
    return text;
  return text + (instance.ranks ? ", rank " : ", CTA ") + std::to_string(p.cta);
}

void Machine::enter(ProcessState &p, const Node &loop) {
  int64_t count = isa<ForEachOp>(loop.op) ? instance.items
                                          : tripCount(p, loop.op).value_or(instance.iterations);
  if (count > 0)
    p.frames.push_back({&loop.children, 0, loop.op, 0, count});
}

/// The next verb or use, entering and leaving loops on the way; null at the end.
const Node *Machine::current(ProcessState &p) {
  while (!p.frames.empty()) {
    Frame &frame = p.frames.back();
    if (frame.next == frame.nodes->size()) {
      if (++frame.iteration < frame.count)
        frame.next = 0;
      else
        p.frames.pop_back();
      continue;
    }
    const Node &node = (*frame.nodes)[frame.next];
    if (!node.isLoop())
      return &node;
    ++frame.next; // `frame` dies when frames grow
    enter(p, node);
  }
  return nullptr;
}

int64_t Machine::least(Operation *verb, int64_t cta,
                       function_ref<int64_t(const PipeState &)> number) {
  int64_t result = number(stateOf(verb, cta));
  if (stateOf(verb, cta).cluster)
    for (int64_t other = 0; other < instance.ctas; ++other)
      result = std::min(result, number(stateOf(verb, other)));
  return result;
}

Step Machine::runVerb(ProcessState &p, Operation *verb) {
  PipeState &pipe = stateOf(verb, p.cta);
  size_t self = consumerIndex(pipe, p.process);
  if (isa<AcquireOp>(verb)) {
    int64_t freed = least(verb, p.cta, [&](const PipeState &state) {
      return *std::min_element(state.released.begin(), state.released.end());
    });
    if (pipe.acquired - freed >= pipe.slots)
      return Step::Blocked;
    tickets[{verb, p.cta}] = pipe.acquired++;
  } else if (isa<CommitOp>(verb)) {
    ++pipe.committed;
  } else if (isa<WaitOp>(verb)) {
    if (pipe.waited[self] >=
        least(verb, p.cta, [](const PipeState &state) { return state.committed; }))
      return Step::Blocked;
    tickets[{verb, p.cta}] = pipe.waited[self]++;
  } else if (auto release = cast<ReleaseOp>(verb);
             !release.getLag() || p.frames.back().iteration > 0) {
    ++pipe.released[self];
  }
  return Step::Done;
}

Step Machine::checkUse(ProcessState &p, Operation *op) {
  for (Value operand : op->getOperands()) {
    Operation *taker = isa<AccType>(operand.getType()) ? getAccTaker(operand) : getTaker(operand);
    if (!taker || !index.contains(getPipe(taker)))
      continue;
    PipeState &pipe = stateOf(taker, p.cta);
    bool write = isa<AcquireOp>(taker);
    int64_t given = write ? pipe.committed : pipe.released[consumerIndex(pipe, p.process)];
    if (tickets.lookup({taker, p.cta}) >= given)
      continue;
    if (report)
      op->emitOpError("overwrite before read: expected ")
          << describeProcess(p.process) << " to use a slot of pipe \"" << pipe.op.getName()
          << "\" before it " << (write ? "commits" : "releases") << " it, got the use after it ("
          << position(p) << ")";
    return Step::Error;
  }
  return peerPipes.empty() ? Step::Done : checkPeerUse(p, op);
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// An integer that follows from the rank, the world and the loops around; none otherwise.
std::optional<int64_t> Machine::evaluate(const ProcessState &p, Value value) const {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return constant;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    for (const Frame &frame : p.frames)
      if (auto loop = dyn_cast_or_null<scf::ForOp>(frame.loop);
          loop && value == loop.getInductionVar()) {
        auto first = evaluate(p, loop.getLowerBound()), step = evaluate(p, loop.getStep());
        return first && step ? std::optional(*first + frame.iteration * *step) : std::nullopt;
      }
    return std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (isa<RankOp>(op))
    return p.cta;
  if (isa<WorldOp>(op))
    return instance.ctas;
  if (auto nth = dyn_cast<NthPeerOp>(op)) {
    std::optional<int64_t> n = evaluate(p, nth.getN());
    return n ? std::optional((p.cta + 1 + *n) % instance.ctas) : std::nullopt;
  }
  if (!isa<arith::AddIOp, arith::SubIOp>(op))
    return std::nullopt;
  auto x = evaluate(p, op->getOperand(0)), y = evaluate(p, op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  return isa<arith::AddIOp>(op) ? *x + *y : *x - *y;
}

std::optional<int64_t> Machine::tripCount(const ProcessState &p, Operation *loop) const {
  if (std::optional<int64_t> small = smallTripCount(loop))
    return small;
  auto f = dyn_cast<scf::ForOp>(loop);
  if (!f || !instance.ranks)
    return std::nullopt;
  auto lower = evaluate(p, f.getLowerBound()), upper = evaluate(p, f.getUpperBound()),
       step = evaluate(p, f.getStep());
  if (!lower || !upper || !step || *step <= 0 || *upper - *lower > 64 * *step)
    return std::nullopt;
  return *upper > *lower ? (*upper - *lower + *step - 1) / *step : 0;
}

Step Machine::fail(ProcessState &p, Operation *op, const Twine &message) {
  if (report)
    op->emitOpError(message) << " (" << describeProcess(p.process) << ", " << position(p) << ")";
  return Step::Error;
}

/// Each verb is done once for each two ranks; a push pipe starts with the consumer's release, a
/// pull pipe with the producer's commit.
Step Machine::runPeerVerb(ProcessState &p, Operation *verb) {
  auto pipe = verb->getOperand(0).getDefiningOp<PeerPipeOp>();
  std::optional<int64_t> rank = evaluate(p, verb->getOperand(1));
  if (!rank || *rank < 0 || *rank >= instance.ctas)
    return fail(p, verb, "expected a rank below the world that follows from loops, warp.rank and "
                         "warp.world");
  if (*rank == p.cta)
    return Step::Done;
  bool produces = isa<PeerAcquireOp, PeerCommitOp, PacketSendOp>(verb), push = pipe.getFlow() == Flow::Push;
  PeerState &state =
      produces ? between(pipe, p.cta, *rank) : between(pipe, *rank, p.cta);
  auto once = [&](int64_t &count) {
    if (count++ == 0)
      return Step::Done;
    return fail(p, verb, "expected it once a launch for each other rank, got it again");
  };
  if (isa<PacketReceiveOp, PacketAddOp>(verb))
    return state.committed > state.waited ? once(state.waited) : Step::Blocked;
  if (isa<PacketSendOp>(verb))
    return once(state.committed);
  if (isa<PeerAcquireOp>(verb))
    return state.released > state.acquired ? once(state.acquired) : Step::Blocked;
  if (isa<PeerWaitOp>(verb))
    return state.committed > state.waited ? once(state.waited) : Step::Blocked;
  if (isa<PeerCommitOp>(verb)) {
    if (push && state.acquired <= state.committed)
      return fail(p, verb, "expected warp.peer_acquire of pipe \"" + pipe.getName() +
                               "\" for that rank before it, found none");
    return once(state.committed);
  }
  if (!push && state.waited <= state.released)
    return fail(p, verb, "expected warp.peer_wait of pipe \"" + pipe.getName() +
                             "\" for that rank before it, found none");
  return once(state.released);
}

/// Memory of other ranks is touched between the verbs that allow it.
Step Machine::checkPeerUse(ProcessState &p, Operation *op) {
  for (Value operand : op->getOperands()) {
    PeerPipeOp pipe = getPeerPipe(operand);
    if (!pipe)
      continue;
    auto transfer = dyn_cast<TransferOp>(op);
    bool write = transfer ? transfer.getTarget() == operand : isa<SpreadStoreOp>(op);
    std::optional<int64_t> rank = evaluate(p, operand.getDefiningOp<PeerOp>().getRank());
    bool push = pipe.getFlow() == Flow::Push;
    for (int64_t other = 0; other < instance.ctas; ++other) {
      if (other == p.cta || (rank && *rank != other))
        continue;
      if (push != write)
        return fail(p, op, Twine("expected ") + (push ? "writes to" : "reads of") +
                               " other ranks' memory of a " + (push ? "push" : "pull") +
                               " pipe, got a " + (write ? "write" : "read"));
      PeerState &state = push ? between(pipe, p.cta, other) : between(pipe, other, p.cta);
      if (push ? state.acquired > state.committed : state.waited > state.released)
        continue;
      return fail(p, op, Twine("expected it between ") +
                             (push ? "warp.peer_acquire and warp.peer_commit"
                                   : "warp.peer_wait and warp.peer_release") +
                             " of pipe \"" + pipe.getName() + "\"");
    }
  }
  return Step::Done;
}

LogicalResult Machine::checkPeersEnd() {
  for (PeerPipeOp pipe : peerPipes)
    for (int64_t from = 0; from < instance.ctas; ++from)
      for (int64_t to = 0; to < instance.ctas; ++to) {
        PeerState &s = between(pipe, from, to);
        int64_t credit = pipe.getFlow() == Flow::Packets ? 0 : 1; // packets need none
        if (from == to || (s.acquired == credit && s.committed == 1 && s.waited == 1 &&
                           s.released == credit))
          continue;
        if (report)
          pipe.emitOpError("expected one round of pipe \"")
              << pipe.getName() << "\" from each rank to each other one, got " << s.acquired
              << " acquired, " << s.committed << " committed, " << s.waited << " waited for and "
              << s.released << " released from rank " << from << " to rank " << to;
        return failure();
      }
  return success();
}

Step Machine::step(ProcessState &p) {
  const Node *node = current(p);
  Operation *op = node->op;
  Step result = isVerb(op) ? runVerb(p, op) : isPeerVerb(op) ? runPeerVerb(p, op) : checkUse(p, op);
  if (result == Step::Done)
    ++p.frames.back().next;
  return result;
}

void Machine::reportDeadlock() {
  SmallVector<std::pair<Operation *, std::string>> stuck;
  for (ProcessState &p : processes)
    if (const Node *node = current(p); node && isPeerVerb(node->op))
      stuck.push_back({node->op, describeProcess(p.process) + " waits for rank " +
                                     std::to_string(*evaluate(p, node->op->getOperand(1))) +
                                     " on pipe \"" +
                                     node->op->getOperand(0)
                                         .getDefiningOp<PeerPipeOp>()
                                         .getName()
                                         .str() +
                                     "\" (" + position(p) + ")"});
    else if (node)
      stuck.push_back(
          {node->op, describeProcess(p.process) +
                         (isa<AcquireOp>(node->op) ? " waits for an empty slot of pipe \""
                                                   : " waits for a full slot of pipe \"") +
                         stateOf(node->op, p.cta).op.getName().str() + "\" (" + position(p) + ")"});
  InFlightDiagnostic diag = stuck.front().first->emitOpError("deadlock: ") << stuck.front().second;
  for (auto &[op, text] : llvm::drop_begin(stuck))
    diag.attachNote(op->getLoc()) << "and " << text;
}

LogicalResult Machine::checkEnd() {
  for (PipeState &pipe : pipes)
    for (auto [i, consumer] : llvm::enumerate(pipe.consumers)) {
      if (pipe.waited[i] == pipe.committed && pipe.released[i] == pipe.waited[i])
        continue;
      if (report)
        pipe.op.emitOpError("expected ")
            << describeProcess(consumer) << " to release every slot of pipe \"" << pipe.op.getName()
            << "\", got " << pipe.released[i] << " released of " << pipe.committed << " committed";
      return failure();
    }
  return success();
}

Outcome Machine::run() {
  int64_t steps = 0;
  bool progress = true, unfinished = true;
  while (progress && unfinished) {
    progress = unfinished = false;
    for (ProcessState &p : processes)
      while (current(p)) {
        Step result = step(p);
        if (result == Step::Error)
          return Outcome::Failed;
        if (result == Step::Blocked) {
          unfinished = true;
          break;
        }
        progress = true;
        if (++steps > instance.maxSteps)
          return Outcome::TooLong;
      }
  }
  if (unfinished) {
    if (report)
      reportDeadlock();
    return Outcome::Failed;
  }
  return succeeded(checkEnd()) && succeeded(checkPeersEnd()) ? Outcome::Ok : Outcome::Failed;
}

Outcome runModel(const KernelModel &model, const Instance &instance, bool report) {
  return Machine(model, instance, report).run();
}

} // namespace heddle::warp
