//===- GemmSchedule.cpp - the schedules of a GEMM's variants ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides how many compiled forms a kernel needs on a target and with which schedule.
// One is enough when the 16-byte rules are known to hold or known not to; when they
// depend on run-time strides, a second form takes what the first refuses at launch.
//
//===----------------------------------------------------------------------===//
#include "heddle/Kernels/Gemm.h"

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
  if (target::dtypeBits(p.a) != 8)
    return success();
  if (!target.supports(p.a))
    return gemm.emitError("unsupported type: the tensor cores of ")
           << target.name << " do not take " << target::dtypeName(p.a)
           << "; targets that do: " << target::targetsSupporting(p.a);
  return gemm.emitError("unsupported type: expected operands of bf16, f16 or f32, got ")
         << target::dtypeName(p.a);
}

static LogicalResult reject(const GemmSpec &s, const Rejection &r) {
  return spec::GemmOp(s.gemm).emitError("no legal schedule (")
         << r.name << "): " << r.detail;
}

/// What was given: the option, else the attribute of the kernel.
static StringRef givenText(const GemmSpec &s, StringRef text) {
  if (!text.empty())
    return text;
  spec::KernelOp kernel = s.kernel;
  return kernel.getSchedule() ? *kernel.getSchedule() : StringRef();
}

static FailureOr<Schedule> mainSchedule(const GemmSpec &s, const GemmProblem &p,
                                        const target::Target &target, const target::Chip &chip,
                                        StringRef text) {
  Rejection error;
  std::optional<tuning::Candidate> best = tuning::choose(p, target, chip, &error);
  if (text.empty()) {
    if (!best)
      return reject(s, error);
    return best->schedule;
  }
  std::string problem;
  std::optional<Schedule> given =
      tuning::parse(text, best ? best->schedule : Schedule(), &problem);
  if (!given)
    return spec::KernelOp(s.kernel).emitError("bad schedule: ") << problem;
  if (std::optional<Rejection> r = tuning::check(*given, p, target::limitsOn(target, chip)))
    return spec::KernelOp(s.kernel).emitError("the given schedule cannot be used (")
           << r->name << "): " << r->detail;
  return *given;
}

/// The schedule of the form that takes any alignment: `main` without what needs it
/// when that is legal, else the best of its own.
static FailureOr<Schedule> fallbackSchedule(const GemmSpec &s, const GemmProblem &p,
                                            const target::Target &target,
                                            const target::Chip &chip, Schedule main, bool given) {
  if (given) {
    if (p.loadAligned == Aligned::No)
      main.copy = CopyEngine::Threads;
    if (p.storeAligned == Aligned::No)
      main.store = StorePath::Direct, main.storeStages = 0;
    if (!tuning::check(main, p, target::limitsOn(target, chip)))
      return main;
  }
  Rejection error;
  if (std::optional<tuning::Candidate> best = tuning::choose(p, target, chip, &error))
    return best->schedule;
  return reject(s, error);
}

FailureOr<SmallVector<GemmVariant>> scheduleGemm(const GemmSpec &s, const target::Target &target,
                                                 const target::Chip &chip, StringRef text) {
  GemmProblem p = gemmProblem(s);
  if (failed(checkTypes(s, p, target)))
    return failure();
  text = givenText(s, text);
  FailureOr<Schedule> main = mainSchedule(s, p, target, chip, text);
  if (failed(main))
    return failure();
  SmallVector<GemmVariant> variants;
  bool loads = main->copy != CopyEngine::Threads, stores = main->store == StorePath::Bulk;
  variants.push_back({loads || stores ? "bulk" : "unaligned", "", *main});
  bool loadMayFail = loads && p.loadAligned == Aligned::AtLaunch;
  bool storeMayFail = stores && p.storeAligned == Aligned::AtLaunch;
  if (!loadMayFail && !storeMayFail)
    return variants;
  if (p.loadAligned == Aligned::AtLaunch)
    p.loadAligned = Aligned::No;
  if (p.storeAligned == Aligned::AtLaunch)
    p.storeAligned = Aligned::No;
  FailureOr<Schedule> other = fallbackSchedule(s, p, target, chip, *main, !text.empty());
  if (failed(other))
    return failure();
  variants.push_back({"unaligned", "__unaligned", *other});
  return variants;
}

} // namespace heddle::kernels
