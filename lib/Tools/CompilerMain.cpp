//===- CompilerMain.cpp - heddlec ------------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Compiler/Explain.h"
#include "Compiler/Job.h"
#include "Compiler/LineCutter.h"
#include "Compiler/Output.h"
#include "Compiler/Tuned.h"
#include "heddle/Support/Subprocess.h"
#include "heddle/Tools/Main.h"
#include "heddle/Tools/Registration.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"
#include <csignal>
#include <mutex>

using namespace mlir;

namespace heddle::tools {

static std::string_view errorPrefix(const std::string &message) {
  // Messages about the input file begin with its name, as those of the parser do.
  return message.find(": error: ") == std::string::npos ? "heddlec: error: " : "";
}

static int report(const Error &error) {
  llvm::errs() << errorPrefix(error.message) << error.message << "\n";
  return 1;
}

/// LLVM ends the process on code that it cannot select; say so in the usual form.
static void onFatalError(void *, const char *reason, bool) {
  llvm::errs() << "heddlec: error: LLVM cannot compile the kernel: " << reason << "\n";
  llvm::errs().flush();
  std::_Exit(1);
}

/// Programs that heddlec started are in groups of their own, which a terminal does not reach.
static void onInterrupt(int number) {
  killRunningProcesses();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// Pairs each kernel with the targets it is to be compiled for.
static Expected<std::vector<std::unique_ptr<Job>>> makeJobs(const Session &session,
                                                            const std::vector<InputKernel> &kernels,
                                                            ArrayRef<tuning::Record> records) {
  const CompilerOptions &options = session.options;
  std::vector<std::unique_ptr<Job>> jobs;
  auto add = [&](const InputKernel &kernel, const target::Target &target) {
    jobs.push_back(std::make_unique<Job>(session, kernel, target,
                                         recordFor(kernel, target, options, records)));
  };
  for (const InputKernel &kernel : kernels) {
    if (kernel.level != Level::Heddle && !options.schedule.empty())
      return Error{ErrorCode::InvalidArgument,
                   "expected a kernel at level heddle with --schedule, got @" + kernel.name +
                       " at level " + std::string(levelName(kernel.level))};
    if (kernel.target && !options.targets.empty() &&
        !llvm::is_contained(options.targets, kernel.target))
      return Error{ErrorCode::InvalidArgument,
                   "expected --arch to name " + std::string(kernel.target->name) +
                       ", which kernel @" + kernel.name + " is written for"};
    if (kernel.target)
      add(kernel, *kernel.target);
    else if (options.targets.empty())
      return Error{ErrorCode::InvalidArgument, "expected --arch for kernel @" + kernel.name +
                                                   ", which names no target; known are " +
                                                   target::knownTargetNames()};
    else
      for (const target::Target *target : options.targets)
        add(kernel, *target);
  }
  return jobs;
}

/// Finds ptxas when the result needs one. Packages without machine code are fine when there is
/// none at all.
static Expected<void> choosePtxas(Session &session, const std::vector<std::unique_ptr<Job>> &jobs,
                                  const std::string &buildFolder) {
  const CompilerOptions &options = session.options;
  if (isText(options.emit))
    return {};
  if (options.ptxas == "none") {
    if (options.emit == Emit::Cubin)
      return Error{ErrorCode::InvalidArgument,
                   "expected a ptxas for --emit=cubin, got --ptxas=none"};
    return {};
  }
  unsigned version = 0;
  for (const auto &job : jobs)
    version = std::max(version, job->getTarget().ptxVersion);
  auto found = findPtxas({options.ptxas, buildFolder, version,
                          std::chrono::seconds(options.ptxasSeconds), session.cache});
  if (found) {
    session.ptxas = std::move(*found);
    return {};
  }
  bool named = !options.ptxas.empty() || std::getenv("HEDDLE_PTXAS");
  if (found.error().code != ErrorCode::NotFound || named || options.emit == Emit::Cubin)
    return found.takeError();
  llvm::errs() << "heddlec: warning: " << found.error().message
               << "; the package gets PTX only, which the driver assembles\n";
  return {};
}

/// Runs the passes of each job in turn and finishes what they give on a few threads.
static Expected<void> runJobs(const CompilerOptions &options,
                              std::vector<std::unique_ptr<Job>> &jobs) {
  std::mutex mutex;
  std::optional<Error> failed; // the first of them
  auto note = [&](Expected<void> result) {
    std::lock_guard lock(mutex);
    if (!result && !failed)
      failed = result.takeError();
    return !failed;
  };
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.jobs));
  auto finish = [&](Job &job) {
    for (auto &unit : job.units)
      pool.async([&, unit = unit.get()] { note(job.finish(*unit)); });
  };
  for (auto &job : jobs) {
    if (!note(job->lower()))
      break;
    finish(*job);
  }
  pool.wait();
  // What ptxas lost with a schedule of the model is tried again with the next ones.
  for (bool again = true; again && !failed;) {
    again = false;
    for (auto &job : jobs)
      if (job->hasLosses()) {
        if (!note(job->retry()))
          break;
        again = true;
        finish(*job);
      }
    pool.wait();
  }
  return failed ? Expected<void>(std::move(*failed)) : Expected<void>();
}

static Expected<void> compile(const CompilerOptions &options, Timing &timing,
                              const std::string &buildFolder) {
  auto buffer = readSpec(options.input);
  if (!buffer)
    return buffer.takeError();
  StringRef source = (*buffer)->getBuffer();
  DialectRegistry registry;
  registerDialects(registry);
  registerTranslations(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // kernels are long, and the location says which
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  LineCutter errors(llvm::errs());
  SourceMgrDiagnosticHandler diagnostics(sources, &context, errors);
  OwningOpRef<ModuleOp> module = timing.measure(
      "parse", [&] { return parseSourceFile<ModuleOp>(sources, ParserConfig(&context)); });
  if (!module)
    return Error{ErrorCode::InvalidArgument, "cannot read " + options.input};
  auto kernels = findKernels(*module, source, options.kernel);
  if (!kernels)
    return kernels.takeError().in(options.input);
  Session session{options, timing, options.useCache ? Cache::openDefault() : Cache(), {}};
  auto records = loadRecords(options, buildFolder);
  if (!records)
    return records.takeError();
  auto jobs = makeJobs(session, *kernels, *records);
  if (!jobs)
    return jobs.takeError();
  if (auto place = checkOutput(options, jobs->size()); !place)
    return place;
  if (options.explain)
    for (const auto &job : *jobs) {
      auto text = explain(job->getKernel(), job->getTarget(), options, job->getRecord());
      if (!text)
        return text.takeError();
      llvm::errs() << *text;
    }
  if (auto chosen = choosePtxas(session, *jobs, buildFolder); !chosen)
    return chosen;
  auto ran = runJobs(options, *jobs);
  for (const auto &job : *jobs)
    if (std::string retried = explainRetries(*job); !retried.empty()) {
      llvm::errs() << (options.explain ? retried : "");
      timing.note(job->describe() + ": " + std::to_string(job->getGivenUp().size()) +
                  " schedules of the model given up after ptxas");
    }
  if (!ran)
    return ran;
  for (const auto &job : *jobs)
    llvm::errs() << (options.verbose ? summarise(*job) : "") << warningsOf(*job);
  return timing.measure("write", [&] { return writeResults(options, *jobs); });
}

int compilerMain(int argc, char **argv) {
  Timing timing;
  CompilerOptions options;
  if (std::optional<int> status = parseCommandLine(argc, argv, options))
    return *status;
  if (options.listTargets || options.listChips) {
    llvm::outs() << (options.listTargets ? listTargets() : "")
                 << (options.listChips ? listChips() : "");
    return 0;
  }
  llvm::install_fatal_error_handler(onFatalError);
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(number, onInterrupt) == SIG_IGN)
      std::signal(number, SIG_IGN); // as nohup wants it
  int anchor;
  std::string self = llvm::sys::fs::getMainExecutable(argv[0], &anchor);
  std::string buildFolder = llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)).str();
  auto compiled = compile(options, timing, buildFolder);
  if (options.timing)
    llvm::errs() << timing.report();
  if (options.useCache)
    Cache::openDefault().prune();
  return compiled ? 0 : report(compiled.error());
}

} // namespace heddle::tools
