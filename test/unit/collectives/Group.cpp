//===- Group.cpp - a collective on emulated ranks ------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Group.h"
#include "heddle/Package/Reader.h"
#include "heddle/Package/Select.h"
#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/checks/RaceDetector.h"

#include <bit>
#include <cstring>

namespace heddle::collectives {
namespace {

using namespace heddle::emulator;

/// Guards on both sides of a tensor.
constexpr int64_t guard = 256;
constexpr uint8_t pattern = 0xA5;
/// Where the counters of a heap end and tensors start.
constexpr int64_t countersEnd = 1 << 20;

const pkg::PackageFile &package() {
  static Expected<pkg::PackageFile> file = pkg::PackageFile::fromFile(HEDDLE_COLLECTIVE_KERNELS);
  return *file;
}

/// A small integer as an element.
void encode(uint8_t *to, pkg::DType type, int value) {
  auto f = static_cast<float>(value);
  uint32_t bits = std::bit_cast<uint32_t>(f);
  uint16_t half = 0;
  if (value != 0) // a normal number of few bits
    half = static_cast<uint16_t>((bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 |
                                 (bits >> 13 & 1023));
  switch (type) {
  case pkg::DType::bf16:
    bits >>= 16;
    std::memcpy(to, &bits, 2);
    return;
  case pkg::DType::f16:
    std::memcpy(to, &half, 2);
    return;
  case pkg::DType::f32:
    std::memcpy(to, &bits, 4);
    return;
  default:
    *to = static_cast<uint8_t>(value); // copied only
  }
}

int inputValue(unsigned launch, unsigned rank, int64_t i) {
  return static_cast<int>((uint64_t(i) * 2654435761u + rank * 40503u + launch * 977u) >> 7) % 9 - 4;
}

/// Copies bytes in a kernel, so that the rank's stream orders it with the collectives before and
/// after it, and other ranks do not.
const char *const moveText = R"ptx(
.address_size 64
.visible .entry move(.param .u64 to, .param .u64 from, .param .u64 bytes)
{
	.reg .pred p;
	.reg .b32 r, v;
	.reg .b64 a, b, n, i, x, y;
	ld.param.u64 a, [to];
	ld.param.u64 b, [from];
	ld.param.u64 n, [bytes];
	mov.u32 r, %tid.x;
	cvt.u64.u32 i, r;
NEXT:
	setp.ge.u64 p, i, n;
	@p bra END;
	add.u64 x, a, i;
	add.u64 y, b, i;
	ld.global.u8 v, [y];
	st.global.u8 [x], v;
	add.u64 i, i, 128;
	bra NEXT;
END:
	ret;
}
)ptx";

struct Tensor {
  int64_t elements = 0, offset = 0; ///< bytes from the heap's start
  bool output = false;
};

class Group {
public:
  explicit Group(const Job &job) : job(job) {}
  Result run();

private:
  std::string choose();
  std::string prepare();
  std::string stage(unsigned number);
  std::string move(unsigned rank, DevicePtr to, DevicePtr from, int64_t bytes);
  std::string launch(unsigned rank);
  std::string runAll();
  std::string check(unsigned number);
  std::string checkRest();
  int64_t evaluate(const pkg::Expr *expr) const {
    auto value = pkg::evaluateExpr(expr, sizes());
    return value ? *value : -1;
  }
  pkg::ExprContext sizes() const {
    return {symbols, int64_t(job.multiprocessors), int64_t(job.world)};
  }
  int expected(unsigned number, unsigned rank, int64_t i) const;

  const Job &job;
  const pkg::Kernel *kernel = nullptr;
  const pkg::Variant *variant = nullptr;
  std::vector<int64_t> symbols;
  std::vector<Tensor> tensors;
  std::vector<uint64_t> addresses;
  int64_t heapBytes = 0;
  std::unique_ptr<Machine> machine;
  RaceDetector races;
  std::shared_ptr<const Module> module, mover;
  std::vector<Device *> devices;
  std::vector<DevicePtr> heaps, blocks, faults;
  /// By rank and launch: what goes into the operand, what comes out of the result.
  std::vector<std::vector<DevicePtr>> inputs, results;
};

} // namespace

/// Sizes, addresses and the form that takes them.
std::string Group::choose() {
  kernel = package().findKernel(job.kernel);
  if (!kernel)
    return "no kernel " + job.kernel;
  for (unsigned i = 0; kernel->symbols() && i < kernel->symbols()->size(); ++i)
    symbols.push_back(kernel->symbols()->Get(i)->str() == "world" ? job.world : job.size);
  int64_t next = countersEnd;
  for (const pkg::Arg *arg : *kernel->args()) {
    Tensor t;
    t.elements = 1, t.output = arg->output();
    for (const pkg::Dim *dim : *arg->shape())
      t.elements *= dim->symbol() < 0 ? dim->value() : symbols[dim->symbol()];
    int64_t bytes = pkg::dtypeBytes(arg->dtype());
    t.offset = next + guard + job.shift * bytes;
    next = (t.offset + t.elements * bytes + guard + 511) / 512 * 512;
    addresses.push_back(t.offset); // heaps start at multiples of 512
    tensors.push_back(t);
  }
  heapBytes = next;
  pkg::LaunchContext context{sizes(), addresses};
  if (auto held = pkg::checkKernelConstraints(*kernel, context); !held)
    return held.error().message;
  for (const pkg::Variant *v : *kernel->variants()) {
    std::string entry = v->entry()->str();
    bool named = job.form.empty() || entry == job.kernel + job.form;
    if (v->target()->str() == job.target && named && !pkg::violated(*v, context)) {
      variant = v;
      return "";
    }
  }
  return "no form fits";
}

std::string Group::prepare() {
  MachineOptions options;
  options.seed = job.seed;
  options.limits.maxInstructions = 20'000'000;
  machine = std::make_unique<Machine>(options);
  if (job.races)
    machine->setObserver(&races);
  const target::Target &target = *target::findTarget(job.target);
  std::string text = package()->images()->Get(variant->image())->ptx()->str();
  if (job.change)
    text = job.change(text, variant->entry()->str());
  if (text.empty())
    return "the change could not be made";
  emulator::Error error;
  module = Module::parse(text, target, &error);
  if (!module)
    return error.text();
  std::string move = ".version 8.0\n.target " + job.target + moveText;
  mover = Module::parse(move, target, &error);
  if (!mover)
    return error.text();
  if (evaluate(variant->signal_bytes()) > countersEnd)
    return "too many counters";
  for (unsigned r = 0; r < job.world; ++r) {
    devices.push_back(&machine->addDevice(target, job.multiprocessors));
    heaps.push_back(devices[r]->allocate(heapBytes));
  }
  for (unsigned r = 0; r < job.world; ++r) {
    std::vector<uint64_t> block(4 + job.world);
    DevicePtr abort = devices[r]->allocate(8);
    uint32_t stop = job.aborted;
    devices[r]->copyIn(abort, &stop, 4);
    faults.push_back(devices[r]->allocate(64));
    block[0] = r | uint64_t(job.world) << 32;
    block[1] = job.deadline, block[2] = abort, block[3] = faults[r];
    for (unsigned other = 0; other < job.world; ++other)
      block[4 + other] = heaps[other];
    blocks.push_back(devices[r]->allocate(8 * block.size()));
    devices[r]->copyIn(blocks[r], block.data(), 8 * block.size());
  }
  return "";
}

std::string Group::move(unsigned rank, DevicePtr to, DevicePtr from, int64_t bytes) {
  LaunchConfig config;
  config.grid = {1, 1, 1}, config.block = {128, 1, 1};
  const uint64_t values[3] = {to, from, static_cast<uint64_t>(bytes)};
  config.params.resize(sizeof values);
  std::memcpy(config.params.data(), values, sizeof values);
  config.roles = {{"move", 0, 4}};
  emulator::Error error;
  return devices[rank]->enqueue(mover, "move", config, &error) ? "" : error.text();
}

/// What the operand of each rank will be in a launch.
std::string Group::stage(unsigned number) {
  for (unsigned r = 0; r < job.world; ++r) {
    DevicePtr in = 0, out = 0;
    if (!tensors.empty()) {
      pkg::DType type = kernel->args()->Get(0)->dtype();
      int64_t bytes = pkg::dtypeBytes(type);
      std::vector<uint8_t> data(tensors[0].elements * bytes);
      for (int64_t e = 0; e < tensors[0].elements; ++e)
        encode(&data[e * bytes], type, inputValue(number, r, e));
      in = devices[r]->allocate(data.size());
      devices[r]->copyIn(in, data.data(), data.size());
      out = devices[r]->allocate(tensors[1].elements * bytes);
      if (!in || !out)
        return "no memory";
    }
    inputs[r].push_back(in), results[r].push_back(out);
  }
  return "";
}

std::string Group::launch(unsigned r) {
  LaunchConfig config;
  config.grid = {uint32_t(evaluate(variant->grid()->Get(0))), 1, 1};
  config.block = {variant->block()->Get(0), 1, 1};
  config.dynamicShared = variant->shared_bytes();
  for (const pkg::Role *role : *variant->roles())
    config.roles.push_back({role->name()->str(), role->first_warp(), role->warps()});
  const EntryInfo &entry = *module->entry(variant->entry()->str());
  config.params.resize(entry.paramBytes);
  for (unsigned p = 0; p < variant->params()->size(); ++p) {
    const pkg::Param *param = variant->params()->Get(p);
    uint64_t value = 0; // of signals: the counters start with the heap
    switch (param->kind()) {
    case pkg::ParamKind::pointer:
      value = heaps[r] + tensors[param->index()].offset;
      break;
    case pkg::ParamKind::comm:
      value = blocks[r];
      break;
    case pkg::ParamKind::signals:
      break;
    default:
      value = evaluate(param->expr());
    }
    std::memcpy(config.params.data() + entry.params[p].offset, &value, entry.params[p].bytes);
  }
  emulator::Error error;
  return devices[r]->enqueue(module, variant->entry()->str(), config, &error) ? "" : error.text();
}

/// Queues all launches of all ranks, then lets them run together.
std::string Group::runAll() {
  for (unsigned r = 0; r < job.world; ++r) {
    std::vector<uint8_t> heap(heapBytes);
    std::fill(heap.begin() + countersEnd, heap.end(), pattern);
    devices[r]->copyIn(heaps[r], heap.data(), heapBytes);
    for (unsigned number = 0; number < job.launches; ++number) {
      if (static_cast<int>(r) == job.missing)
        continue;
      std::string error;
      auto step = [&](std::string problem) {
        if (error.empty())
          error = std::move(problem);
      };
      int64_t bytes = tensors.empty() ? 0 : pkg::dtypeBytes(kernel->args()->Get(0)->dtype());
      if (bytes)
        step(move(r, heaps[r] + tensors[0].offset, inputs[r][number], tensors[0].elements * bytes));
      step(launch(r));
      if (bytes)
        step(
            move(r, results[r][number], heaps[r] + tensors[1].offset, tensors[1].elements * bytes));
      if (!error.empty())
        return error;
    }
  }
  machine->run();
  Report report = machine->takeReport();
  return report.ok ? "" : report.text();
}

/// Element i of the result of `rank`, from what the operation means.
int Group::expected(unsigned number, unsigned rank, int64_t i) const {
  int64_t n = job.size;
  auto sum = [&](int64_t at) {
    int total = 0;
    for (unsigned r = 0; r < job.world; ++r)
      total += inputValue(number, r, at);
    return total;
  };
  if (job.kernel.starts_with("gather"))
    return inputValue(number, static_cast<unsigned>(i / n), i % n);
  if (job.kernel == "swap")
    return inputValue(number, static_cast<unsigned>(i / n), rank * n + i % n);
  if (job.kernel == "scatter")
    return sum(rank * n + i);
  if (job.kernel == "spread")
    return inputValue(number, 1, i);
  return sum(i);
}

std::string Group::check(unsigned number) {
  for (unsigned r = 0; r < job.world && !tensors.empty(); ++r) {
    pkg::DType type = kernel->args()->Get(1)->dtype();
    int64_t bytes = pkg::dtypeBytes(type);
    std::vector<uint8_t> got(tensors[1].elements * bytes);
    devices[r]->copyOut(got.data(), results[r][number], got.size());
    for (int64_t e = 0; e < tensors[1].elements; ++e) {
      uint8_t want[4];
      encode(want, type, expected(number, r, e));
      if (std::memcmp(want, &got[e * bytes], bytes) != 0)
        return "wrong element " + std::to_string(e) + " of rank " + std::to_string(r) +
               " in launch " + std::to_string(number);
    }
  }
  return "";
}

/// What lies around the tensors is as it was.
std::string Group::checkRest() {
  for (unsigned r = 0; r < job.world; ++r) {
    std::vector<uint8_t> heap(heapBytes);
    devices[r]->copyOut(heap.data(), heaps[r], heapBytes);
    for (unsigned i = 0; i < tensors.size(); ++i) {
      int64_t bytes = tensors[i].elements * pkg::dtypeBytes(kernel->args()->Get(i)->dtype());
      std::fill_n(heap.begin() + tensors[i].offset, bytes, pattern);
    }
    for (int64_t b = countersEnd; b < heapBytes; ++b)
      if (heap[b] != pattern)
        return "byte " + std::to_string(b) + " of rank " + std::to_string(r) +
               " is no tensor's and was written";
  }
  return "";
}

Result Group::run() {
  Result result;
  result.error = choose();
  if (!result.error.empty())
    return result;
  result.entry = variant->entry()->str();
  result.error = prepare();
  auto step = [&](auto what) {
    if (result.error.empty())
      result.error = what();
  };
  inputs.resize(job.world), results.resize(job.world);
  for (unsigned number = 0; number < job.launches; ++number)
    step([&] { return stage(number); });
  step([&] { return runAll(); });
  step([&] { return checkRest(); });
  bool whole = job.missing < 0 && !job.aborted;
  for (unsigned number = 0; number < job.launches && whole; ++number)
    step([&] { return check(number); });
  for (unsigned r = 0; r < faults.size(); ++r) {
    FaultRecord record;
    devices[r]->copyOut(&record, faults[r], sizeof record);
    result.faults.push_back(record);
  }
  return result;
}

Result run(const Job &job) { return Group(job).run(); }

} // namespace heddle::collectives
