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
        if (isVerb(nested) || isTileWork(nested))
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
  return instance.ctas > 1 ? text + ", CTA " + std::to_string(p.cta) : text;
}

void Machine::enter(ProcessState &p, const Node &loop) {
  int64_t count = isa<ForEachOp>(loop.op) ? instance.items
                                          : smallTripCount(loop.op).value_or(instance.iterations);
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
  return Step::Done;
}

Step Machine::step(ProcessState &p) {
  const Node *node = current(p);
  Operation *op = node->op;
  Step result = isVerb(op) ? runVerb(p, op) : checkUse(p, op);
  if (result == Step::Done)
    ++p.frames.back().next;
  return result;
}

void Machine::reportDeadlock() {
  SmallVector<std::pair<Operation *, std::string>> stuck;
  for (ProcessState &p : processes)
    if (const Node *node = current(p))
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
  return succeeded(checkEnd()) ? Outcome::Ok : Outcome::Failed;
}

Outcome runModel(const KernelModel &model, const Instance &instance, bool report) {
  return Machine(model, instance, report).run();
}

} // namespace heddle::warp
