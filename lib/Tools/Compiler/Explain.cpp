//===- Explain.cpp - why a schedule was chosen -----------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Explain.h"
#include "Tuned.h"
#include "heddle/Kernels/Collective.h"
#include "heddle/Kernels/Gemm.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace heddle::tools {

/// How many of the candidates that were not chosen are shown.
static constexpr size_t shownCandidates = 5;

using Rejected = std::vector<std::pair<tuning::Schedule, tuning::Rejection>>;

static void printRejected(llvm::raw_ostream &stream, const Rejected &rejected) {
  llvm::MapVector<StringRef, SmallVector<size_t>> byReason;
  for (size_t i = 0; i < rejected.size(); ++i)
    byReason[rejected[i].second.name].push_back(i);
  stream << "  rejected: " << rejected.size() << " schedules\n";
  for (const auto &[reason, indices] : byReason) {
    const auto &[schedule, rejection] = rejected[indices.front()];
    stream << llvm::format("    %5zu ", indices.size()) << reason << "; e.g. "
           << tuning::toString(schedule) << "\n          " << rejection.detail << "\n";
  }
}

static void printCandidates(llvm::raw_ostream &stream,
                            const std::vector<tuning::Candidate> &candidates) {
  stream << "  candidates: " << candidates.size() << ", best first\n";
  for (size_t i = 0; i < std::min(candidates.size(), shownCandidates); ++i)
    stream << llvm::format("    %8.1f us  ", candidates[i].microseconds)
           << tuning::toString(candidates[i].schedule) << "\n                 " << candidates[i].why
           << "\n";
}

/// Where the schedule of a variant comes from.
static std::string originOf(const kernels::GemmSpec &spec, const CompilerOptions &options) {
  spec::KernelOp kernel = spec.kernel;
  if (!options.schedule.empty())
    return "given by --schedule " + options.schedule;
  if (kernel.getSchedule())
    return "given by the spec: " + kernel.getSchedule()->str();
  return "the fastest that the model predicts";
}

static std::string describeTuned(const tuning::Record &r) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "the record at " << r.where << ", measured on " << r.chip << ", " << r.date
         << llvm::format(": %.1f us", r.microseconds) << " at m=" << r.problem.m
         << " n=" << r.problem.n << " k=" << r.problem.k << " batch=" << r.problem.batch;
  if (r.modelMicroseconds > 0)
    stream << llvm::format("; the model's choice took %.1f us there", r.modelMicroseconds);
  return text;
}

/// What a kernel past the choice of a schedule says about it: the attribute of a warp.kernel, the
/// manifest of a function.
static std::string recordOf(Operation *op) {
  if (auto network = dyn_cast<warp::KernelOp>(op))
    return network.getSchedule() ? tuning::toString(warp::fromAttr(*network.getSchedule())) : "";
  if (auto manifest = op->getAttrOfType<DictionaryAttr>("heddle.manifest"))
    if (auto text = dyn_cast_or_null<StringAttr>(manifest.get("schedule")))
      return text.str();
  return "";
}

/// What the passes from a level on look at.
static StringRef checksFrom(Level level) {
  switch (level) {
  case Level::Heddle:
  case Level::Warp:
    return "the protocol of the pipes, copy engines and links of the target, warps and registers "
           "of roles, the ordering of memory, shared and tensor memory, barriers";
  case Level::Roles:
    return "the protocol of the pipes, the ordering of memory, and the roles as they are written: "
           "warps, registers, offsets, barriers, arrival counts";
  case Level::NVVM:
  case Level::LLVM:
    return "only what ptxas says about registers, stack and serialised instructions";
  }
  return "";
}

/// What a record is still for.
static StringRef useOfRecord(Level level) {
  switch (level) {
  case Level::Heddle:
  case Level::Warp:
    return "a record gives the roles their warps and registers";
  case Level::Roles:
    return "a record says how many CTAs share a multiprocessor";
  case Level::NVVM:
  case Level::LLVM:
    return "a record only goes into the package";
  }
  return "";
}

static std::string explainRecord(const InputKernel &kernel, const target::Target &target) {
  std::string text, record = recordOf(kernel.op);
  llvm::raw_string_ostream stream(text);
  stream << "@" << kernel.name << " for " << target.name << ", given at level "
         << levelName(kernel.level) << "\n  schedule record: " << (record.empty() ? "none" : record)
         << "\n"
         << "  why: a kernel at this level is written already, nothing is chosen; "
         << useOfRecord(kernel.level) << "\n  checked from here on: " << checksFrom(kernel.level)
         << "\n";
  return text;
}

std::string explainRetries(const Job &job) {
  if (job.getGivenUp().empty())
    return "";
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << job.describe() << ": given up after ptxas: " << job.getGivenUp().size()
         << " schedules of the model, of at most " << Job::mostRetries << " rounds\n";
  for (const GivenUp &g : job.getGivenUp())
    stream << "    " << tuning::toString(g.schedule) << "\n          " << g.entry << ": " << g.cause
           << "\n";
  for (const auto &unit : job.units)
    for (const CompiledEntry &entry : unit->compiled.entries)
      if (auto schedule = entry.manifest ? entry.manifest.getAs<StringAttr>("schedule") : nullptr)
        stream << (unit->losses.empty() ? "  compiled " : "  lost too ") << entry.entry << ": "
               << schedule.getValue() << "\n";
  return text;
}

/// The forms of a collective, in the order in which a launch tries them.
static Expected<std::string> explainCollective(const InputKernel &kernel, spec::KernelOp op,
                                               const target::Target &target,
                                               const CompilerOptions &options) {
  auto spec = kernels::analyzeCollective(op);
  if (failed(spec))
    return Error{ErrorCode::InvalidArgument, "cannot explain kernel @" + kernel.name};
  auto variants = kernels::scheduleCollective(*spec, target, options.schedule);
  if (failed(variants))
    return Error{ErrorCode::InvalidArgument,
                 "no schedule for kernel @" + kernel.name + " on " + std::string(target.name)};
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "@" << kernel.name << " for " << target.name << ", between ranks\n";
  for (const kernels::CollectiveVariant &v : *variants)
    stream << "  variant " << v.name << ": ctas=" << v.schedule.ctas
           << ",warps=" << v.schedule.warps << ",chunk=" << v.schedule.chunk
           << ",stages=" << v.schedule.stages << ",keep=" << warp::stringifyKeep(v.schedule.keep)
           << "\n";
  stream << "  why: a launch takes the first whose constraints on size and alignment hold\n";
  return text;
}

/// A kind whose choices are not explained yet says what it is.
static std::string explainKind(const InputKernel &kernel, StringRef kind,
                               const target::Target &target) {
  return "@" + kernel.name + " for " + std::string(target.name) + ": a kernel of kind " +
         kind.str() + ", built as its spec says\n";
}

Expected<std::string> explain(const InputKernel &kernel, const target::Target &target,
                              const CompilerOptions &options, const tuning::Record *record) {
  auto op = dyn_cast<spec::KernelOp>(kernel.op);
  if (!op)
    return explainRecord(kernel, target);
  StringRef kind = kernels::kindOf(op).name;
  if (kind == kernels::collectiveKind.name)
    return explainCollective(kernel, op, target, options);
  if (kind != kernels::gemmKind.name)
    return explainKind(kernel, kind, target);
  const target::Chip &chip = chipFor(target, options);
  auto spec = kernels::analyzeGemm(op);
  if (failed(spec))
    return Error{ErrorCode::InvalidArgument, "cannot explain kernel @" + kernel.name};
  spec->sms = options.sms;
  auto variants = kernels::scheduleGemm(
      *spec, target, chip, record ? tuning::toString(record->schedule) : options.schedule);
  if (failed(variants))
    return Error{ErrorCode::InvalidArgument,
                 "no schedule for kernel @" + kernel.name + " on " + std::string(target.name)};
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "@" << kernel.name << " for " << target.name << ", planned for " << chip.name << " ("
         << (options.sms ? std::min<unsigned>(options.sms, chip.sms) : chip.sms);
  if (options.sms)
    stream << " of " << chip.sms;
  stream << " multiprocessors)\n";
  for (const kernels::GemmVariant &variant : *variants)
    stream << "  variant " << variant.name << ": " << tuning::toString(variant.schedule) << "\n";
  stream << "  why: " << (record ? describeTuned(*record) : originOf(*spec, options)) << "\n";
  Rejected rejected;
  auto candidates = tuning::enumerate(kernels::gemmProblem(*spec), target, chip, &rejected);
  if (record && !candidates.empty())
    stream << llvm::format("  the model's own choice: %.1f us predicted, ",
                           candidates.front().microseconds)
           << tuning::toString(candidates.front().schedule) << "\n";
  printCandidates(stream, candidates);
  printRejected(stream, rejected);
  return text;
}

} // namespace heddle::tools
