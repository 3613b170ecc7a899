//===- GemmSchedule.cpp - the schedules of a GEMM's variants ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides how many compiled forms a kernel needs on a target and with which schedule.
// One is enough when the 16-byte rules are known to hold or known not to; when they
// depend on run-time strides, a second form takes what the first refuses at launch. A
// schedule that is given is the first form's; one with copy=threads needs no second.
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/Gemm.h"
#include <algorithm>

using namespace mlir;

namespace heddle::kernels {
using Aligned = tuning::GemmProblem::Aligned;
using target::CopyEngine;
using tuning::GemmProblem;
using tuning::Rejection;
using tuning::Schedule;
using tuning::StorePath;

static LogicalResult checkTypes(const GemmSpec &s, const GemmProblem &p,
                                const target::Target &target) {
  spec::GemmOp gemm = s.gemm;
  for (target::DType type : {p.a, p.b})
    if (target::dtypeBits(type) == 8 && !target.supports(type))
      return gemm.emitError("unsupported type: the tensor cores of ")
             << target.name << " do not take " << target::dtypeName(type)
             << "; targets that do: " << target::targetsSupporting(type);
  return success();
}

static LogicalResult reject(const GemmSpec &s, const Rejection &r) {
  return spec::GemmOp(s.gemm).emitError("no legal schedule (") << r.name << "): " << r.detail;
}

/// What was given: the option, else the attribute of the kernel.
static StringRef givenText(const GemmSpec &s, StringRef text) {
  if (!text.empty())
    return text;
  spec::KernelOp kernel = s.kernel;
  return kernel.getSchedule() ? *kernel.getSchedule() : StringRef();
}

/// Copies and stores element by element keep addresses and values of many elements in
/// registers, which a big tile's accumulators would take: ptxas spills at 48 elements or
/// accumulators a thread and 128 registers, and needs up to 190 at 32. Forms that work so
/// are there to be right, so they get tiles that always fit.
constexpr int64_t mostElements = 32;     // a thread
constexpr int64_t mostBytes = 64;        // a thread, of operands of one byte
constexpr int64_t mostThreads = 256;     // a multiprocessor
constexpr int64_t mostAccumulators = 64; // a thread, when only stores are element by element

static bool isModest(const Schedule &s, const GemmProblem &p, const target::Target &target) {
  if (target.has(target::Feature::TensorMemory))
    return true; // accumulators are not in registers
  int64_t accumulators = s.tileM * s.tileN / (32 * s.mmaWarps);
  if (s.copy != CopyEngine::Threads)
    return accumulators <= mostAccumulators;
  int64_t copied = std::max(s.tileM, s.tileN) * s.tileK / (32 * s.loadWarps);
  int64_t mostCopied = target::dtypeBits(p.a) == 8 ? mostBytes : mostElements;
  return accumulators <= mostElements && copied <= mostCopied &&
         s.threads() * s.ctasPerSM <= mostThreads;
}

using Avoid = ArrayRef<Schedule>;

/// The best schedule; of those whose copies are by threads the best modest one.
static std::optional<tuning::Candidate> chooseFor(const GemmProblem &p,
                                                  const target::Target &target,
                                                  const target::Chip &chip, bool modest,
                                                  Avoid avoid, Rejection &error) {
  auto allowed = [&](const Schedule &s) {
    return llvm::none_of(avoid, [&](const Schedule &a) { return tuning::sameRegisters(a, s); });
  };
  auto suits = [&](const Schedule &s) {
    return isModest(s, p, target) || (!modest && s.copy != CopyEngine::Threads);
  };
  std::optional<tuning::Candidate> best = tuning::choose(p, target, chip, &error);
  if (!best || (suits(best->schedule) && allowed(best->schedule)))
    return best;
  std::vector<tuning::Candidate> all = tuning::enumerate(p, target, chip);
  for (tuning::Candidate &c : all)
    if (allowed(c.schedule) && (avoid.empty() ? isModest(c.schedule, p, target) : suits(c.schedule)))
      return std::move(c);
  for (tuning::Candidate &c : all)
    if (allowed(c.schedule))
      return std::move(c);
  error = {"registers", "expected a schedule that is not to be avoided, got none among " +
                            std::to_string(all.size())};
  return std::nullopt;
}

static FailureOr<Schedule> mainSchedule(const GemmSpec &s, const GemmProblem &p,
                                        const target::Target &target, const target::Chip &chip,
                                        StringRef text, Avoid avoid) {
  Rejection error;
  std::optional<tuning::Candidate> best =
      chooseFor(p, target, chip, /*modest=*/false, text.empty() ? avoid : Avoid(), error);
  if (text.empty()) {
    if (!best)
      return reject(s, error);
    return best->schedule;
  }
  std::string problem;
  std::optional<Schedule> given = tuning::parse(text, best ? best->schedule : Schedule(), &problem);
  if (!given)
    return spec::KernelOp(s.kernel).emitError("bad schedule: ") << problem;
  if (std::optional<Rejection> r = tuning::check(*given, p, target::limitsOn(target, chip)))
    return spec::KernelOp(s.kernel).emitError("the given schedule cannot be used (")
           << r->name << "): " << r->detail;
  return *given;
}

static FailureOr<Schedule> fallbackSchedule(const GemmSpec &s, const GemmProblem &p,
                                            const target::Target &target, const target::Chip &chip,
                                            Avoid avoid) {
  Rejection error;
  if (std::optional<tuning::Candidate> best =
          chooseFor(p, target, chip, /*modest=*/true, avoid, error))
    return best->schedule;
  return reject(s, error);
}

FailureOr<SmallVector<GemmVariant>> scheduleGemm(const GemmSpec &s, const target::Target &target,
                                                 const target::Chip &chip, StringRef text,
                                                 Avoid avoid) {
  GemmProblem p = gemmProblem(s);
  if (failed(checkTypes(s, p, target)))
    return failure();
  text = givenText(s, text);
  // What is left to choose is planned for the multiprocessors that were given.
  std::string ignored;
  if (std::optional<Schedule> given = tuning::parse(text, Schedule(), &ignored); given && !p.sms)
    p.sms = given->sms;
  FailureOr<Schedule> main = mainSchedule(s, p, target, chip, text, avoid);
  if (failed(main))
    return failure();
  SmallVector<GemmVariant> variants;
  bool loads = main->copy != CopyEngine::Threads, stores = main->store == StorePath::Bulk;
  variants.push_back({loads || stores ? "bulk" : "unaligned", "", *main});
  bool loadMayFail = loads && p.loadAligned == Aligned::AtLaunch;
  // Threads, too, store several elements at once where loads need aligned rows anyway.
  bool storeMayFail = (loads || stores) && p.storeAligned == Aligned::AtLaunch;
  if (!loadMayFail && !storeMayFail)
    return variants;
  if (p.loadAligned == Aligned::AtLaunch)
    p.loadAligned = Aligned::No;
  if (p.storeAligned == Aligned::AtLaunch)
    p.storeAligned = Aligned::No;
  FailureOr<Schedule> other = fallbackSchedule(s, p, target, chip, avoid);
  if (failed(other))
    return failure();
  variants.push_back({"unaligned", "__unaligned", *other});
  return variants;
}

} // namespace heddle::kernels
