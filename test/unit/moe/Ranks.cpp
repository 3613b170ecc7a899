//===- Ranks.cpp - a kernel on emulated ranks -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Ranks.h"
#include "heddle/Package/Reader.h"
#include "heddle/Package/Select.h"
#include "runtime/emulator/Emulator.h"
#include "runtime/emulator/checks/RaceDetector.h"

#include <bit>
#include <cstring>

namespace heddle::moe {
namespace {

using namespace heddle::emulator;

/// Guards on both sides of a tensor.
constexpr int64_t guard = 256;
constexpr uint8_t pattern = 0xA5;
constexpr unsigned multiprocessors = 8;

const pkg::PackageFile &package() {
  static Expected<pkg::PackageFile> file = pkg::PackageFile::fromFile(HEDDLE_MOE_KERNELS);
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
  case pkg::DType::i32:
    std::memcpy(to, &value, 4);
    return;
  default:
    *to = static_cast<uint8_t>(value); // copied only
  }
}

struct Tensor {
  int64_t elements = 0, offset = 0; ///< bytes from the heap's start
  bool output = false;
};

class Ranks {
public:
  explicit Ranks(const Job &job) : job(job) {}
  Result run();

private:
  std::string choose();
  std::string prepare();
  std::string launch(unsigned number);
  std::string check(unsigned number);
  int64_t evaluate(const pkg::Expr *expr) const {
    auto value = pkg::evaluateExpr(expr, sizes());
    return value ? *value : -1;
  }
  pkg::ExprContext sizes() const { return {symbols, int64_t(multiprocessors), int64_t(job.world)}; }

  const Job &job;
  const pkg::Kernel *kernel = nullptr;
  const pkg::Variant *variant = nullptr;
  std::vector<int64_t> symbols;
  std::vector<Tensor> tensors;
  std::vector<uint64_t> addresses;
  int64_t heapBytes = 0;
  std::unique_ptr<Machine> machine;
  RaceDetector races;
  std::shared_ptr<const Module> module;
  std::vector<Device *> devices;
  std::vector<DevicePtr> heaps, blocks, faults;
  std::vector<std::vector<uint8_t>> images; ///< of heaps, before a launch
};

} // namespace

/// Sizes, addresses and the form that takes them.
std::string Ranks::choose() {
  kernel = package().findKernel(job.kernel);
  if (!kernel)
    return "no kernel " + job.kernel;
  for (const auto *name : *kernel->symbols())
    symbols.push_back(name->str() == "world" ? job.world
                      : name->str() == "T"   ? job.tokens
                                             : job.hidden);
  int64_t next = 1 << 20; // counters lie below
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

std::string Ranks::prepare() {
  MachineOptions options;
  options.seed = job.seed;
  options.limits.maxInstructions = 20'000'000;
  machine = std::make_unique<Machine>(options);
  machine->setObserver(&races);
  const target::Target &target = *target::findTarget(job.target);
  std::string text = package()->images()->Get(variant->image())->ptx()->str();
  emulator::Error error;
  module = Module::parse(text, target, &error);
  if (!module)
    return error.text();
  if (evaluate(variant->signal_bytes()) > 1 << 20)
    return "too many counters";
  for (unsigned r = 0; r < job.world; ++r) {
    devices.push_back(&machine->addDevice(target, multiprocessors));
    heaps.push_back(devices[r]->allocate(heapBytes));
  }
  for (unsigned r = 0; r < job.world; ++r) {
    std::vector<uint64_t> block(4 + job.world);
    DevicePtr abort = devices[r]->allocate(8);
    uint32_t stop = 0;
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

std::string Ranks::launch(unsigned number) {
  images.assign(job.world, {});
  for (unsigned r = 0; r < job.world; ++r) {
    images[r].resize(heapBytes);
    devices[r]->copyOut(images[r].data(), heaps[r], heapBytes);
    std::fill(images[r].begin() + (1 << 20), images[r].end(), pattern);
    for (unsigned i = 0; i < tensors.size(); ++i) {
      pkg::DType type = kernel->args()->Get(i)->dtype();
      for (int64_t e = 0; !tensors[i].output && e < tensors[i].elements; ++e)
        encode(&images[r][tensors[i].offset + e * pkg::dtypeBytes(type)], type,
               job.input(number, r, i, e));
    }
    devices[r]->copyIn(heaps[r], images[r].data(), heapBytes);
  }
  for (unsigned r = 0; r < job.world; ++r) {
    if (static_cast<int>(r) == job.missing)
      continue;
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
      uint64_t value = 0;
      switch (param->kind()) {
      case pkg::ParamKind::pointer:
        value = heaps[r] + tensors[param->index()].offset;
        break;
      case pkg::ParamKind::comm:
        value = blocks[r];
        break;
      case pkg::ParamKind::signals:
        value = 0;
        break;
      default:
        value = evaluate(param->expr());
      }
      std::memcpy(config.params.data() + entry.params[p].offset, &value, entry.params[p].bytes);
    }
    emulator::Error error;
    if (!devices[r]->enqueue(module, variant->entry()->str(), config, &error))
      return error.text();
  }
  machine->run();
  Report report = machine->takeReport();
  return report.ok ? "" : report.text();
}

/// Results, and that nothing else has changed but counters.
std::string Ranks::check(unsigned number) {
  for (unsigned r = 0; r < job.world; ++r) {
    for (unsigned i = 0; i < tensors.size(); ++i) {
      const Tensor &t = tensors[i];
      pkg::DType type = kernel->args()->Get(i)->dtype();
      for (int64_t e = 0; t.output && e < t.elements; ++e)
        if (Value value = job.output(number, r, i, e))
          encode(&images[r][t.offset + e * pkg::dtypeBytes(type)], type, *value);
    }
    std::vector<uint8_t> now(heapBytes);
    devices[r]->copyOut(now.data(), heaps[r], heapBytes);
    for (int64_t b = 1 << 20; b < heapBytes; ++b)
      if (now[b] != images[r][b])
        return "wrong byte at " + std::to_string(b) + " of rank " + std::to_string(r) +
               " after launch " + std::to_string(number) + ": expected " +
               std::to_string(images[r][b]) + ", got " + std::to_string(now[b]);
  }
  return "";
}

Result Ranks::run() {
  Result result;
  result.error = choose();
  if (!result.error.empty())
    return result;
  result.entry = variant->entry()->str();
  result.error = prepare();
  for (unsigned number = 0; number < job.launches && result.error.empty(); ++number) {
    result.error = launch(number);
    bool ends = job.missing >= 0;
    if (result.error.empty() && !ends)
      result.error = check(number);
  }
  for (unsigned r = 0; r < faults.size(); ++r) {
    FaultRecord record;
    devices[r]->copyOut(&record, faults[r], sizeof record);
    result.faults.push_back(record);
  }
  return result;
}

Result run(const Job &job) { return Ranks(job).run(); }

} // namespace heddle::moe
