//===- Plan.cpp - heddle-tune plan -----------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each kernel and size: the model's candidates, best first, compiled as heddlec does until K
// of them went through ptxas without a loss. A schedule that several sizes want is compiled once.
//
//===----------------------------------------------------------------------===//
#include "../Compiler/Job.h"
#include "../Compiler/LineCutter.h"
#include "PlanOptions.h"
#include "heddle/Kernels/Gemm.h"
#include "heddle/Package/Checksum.h"
#include "heddle/Package/Writer.h"
#include "heddle/Support/Subprocess.h"
#include "heddle/Tools/Main.h"
#include "heddle/Tools/Registration.h"
#include "heddle/Tuning/Tools.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ThreadPool.h"
#include <csignal>
#include <map>
#include <mutex>

using namespace mlir;

namespace heddle::tools {

namespace {

/// A schedule of a kernel on its way to a package. Jobs refer to what is in here.
struct Build {
  CompilerOptions options;
  std::unique_ptr<Session> session;
  std::unique_ptr<Job> job;
  std::string package; ///< the file's name
  std::string lost;    ///< why there is none
};

struct Want {
  tuning::Planned planned;
  Build *build;
};

class Planner {
public:
  Planner(const PlanOptions &options, std::string buildFolder)
      : options(options), buildFolder(std::move(buildFolder)) {}
  Expected<void> run();

private:
  Expected<void> findAssembler();
  Expected<void> planKernel(const InputKernel &kernel);
  Expected<void> planSize(const InputKernel &kernel, const kernels::GemmSpec &spec,
                          const tuning::Sizes &sizes);
  Build &buildFor(const InputKernel &kernel, const tuning::Schedule &schedule);
  Expected<void> compileAll();
  Expected<void> write(Build &build);
  Expected<void> writeIndex();
  void explain(const tuning::Planned &head, size_t legal,
               const std::vector<std::pair<tuning::Schedule, tuning::Rejection>> &rejected);

  const target::Target &target() const { return *options.compiler.targets.front(); }

  const PlanOptions &options;
  std::string buildFolder;
  Timing timing;
  Cache cache;
  std::optional<Ptxas> ptxas;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Build>> builds;
  std::vector<Want> wants;
};

} // namespace

static Error invalid(std::string message) {
  return Error{ErrorCode::InvalidArgument, std::move(message)};
}

Expected<void> Planner::findAssembler() {
  auto found = findPtxas({options.compiler.ptxas, buildFolder, target().ptxVersion,
                          std::chrono::seconds(options.compiler.ptxasSeconds), cache});
  if (!found)
    return found.takeError();
  ptxas = std::move(*found);
  return {};
}

/// The sizes of a kernel that are known at run time only.
static SmallVector<std::string> runTimeSizes(const kernels::GemmSpec &spec) {
  SmallVector<std::string> names;
  for (const spec::Size *size : spec.shapes.all())
    if (size->isDynamic())
      names.push_back(size->name);
  return names;
}

static Expected<void> checkSizes(const InputKernel &kernel, const kernels::GemmSpec &spec,
                                 const tuning::Sizes &sizes) {
  SmallVector<std::string> names = runTimeSizes(spec);
  for (const std::string &name : names)
    if (!sizes.count(name))
      return invalid("expected --size to give " + name + " of kernel @" + kernel.name + ", got '" +
                     tuning::toString(sizes) + "'");
  for (const auto &[name, value] : sizes)
    if (!llvm::is_contained(names, name))
      return invalid("expected --size to name a run-time size of kernel @" + kernel.name + " (" +
                     (names.empty() ? "it has none" : llvm::join(names, ", ")) + "), got " + name);
  return {};
}

Build &Planner::buildFor(const InputKernel &kernel, const tuning::Schedule &schedule) {
  std::string text = tuning::toString(schedule);
  std::unique_ptr<Build> &build = builds[{kernel.name, text}];
  if (build)
    return *build;
  build = std::make_unique<Build>();
  build->options = options.compiler;
  build->options.schedule = text;
  build->session.reset(new Session{build->options, timing, cache, ptxas});
  build->job = std::make_unique<Job>(*build->session, kernel, target());
  return *build;
}

void Planner::explain(const tuning::Planned &head, size_t legal,
                      const std::vector<std::pair<tuning::Schedule, tuning::Rejection>> &rejected) {
  llvm::MapVector<StringRef, size_t> byReason;
  for (const auto &[schedule, why] : rejected)
    ++byReason[why.name];
  llvm::errs() << "@" << head.kernel << " " << tuning::toString(head.sizes) << " on " << head.chip
               << ": " << legal << " legal schedules, " << rejected.size() << " rejected\n";
  for (const auto &[reason, count] : byReason)
    llvm::errs() << llvm::format("  %6zu ", count) << reason << "\n";
}

Expected<void> Planner::planSize(const InputKernel &kernel, const kernels::GemmSpec &spec,
                                 const tuning::Sizes &sizes) {
  if (spec.groups)
    return invalid("expected a kernel without groups, whose bounds no size tells, got @" +
                   kernel.name + "; give its schedule, or the rows a group has with expected");
  if (auto good = checkSizes(kernel, spec, sizes); !good)
    return good;
  auto valueOf = [&](const spec::Size &size) {
    return size.isDynamic() ? sizes.at(size.name) : size.value;
  };
  tuning::GemmProblem problem = kernels::gemmProblem(spec);
  problem.m = valueOf(spec.m()), problem.n = valueOf(spec.n()), problem.k = valueOf(spec.k());
  if (spec.batched)
    problem.batch = valueOf(*spec.tensors[spec.d].sizes[0]);
  problem.sms = options.compiler.sms;
  std::vector<std::pair<tuning::Schedule, tuning::Rejection>> rejected;
  auto candidates = tuning::enumerate(problem, target(), *options.compiler.chip, &rejected);
  tuning::Planned planned;
  planned.kernel = kernel.name, planned.chip = options.compiler.chip->name;
  planned.target = target().name, planned.sizes = sizes, planned.problem = problem;
  if (options.explain)
    explain(planned, candidates.size(), rejected);
  if (candidates.empty())
    return invalid("no legal schedule for kernel @" + kernel.name + " with " +
                   tuning::toString(sizes) + "; --explain counts the reasons");
  for (size_t i = 0; i < std::min(candidates.size(), options.candidates); ++i) {
    planned.schedule = candidates[i].schedule, planned.predicted = candidates[i].microseconds;
    planned.rank = int(i);
    wants.push_back({planned, &buildFor(kernel, planned.schedule)});
  }
  return {};
}

Expected<void> Planner::planKernel(const InputKernel &kernel) {
  auto op = dyn_cast<spec::KernelOp>(kernel.op);
  if (!op)
    return invalid("expected kernel @" + kernel.name + " at level heddle, got level " +
                   std::string(levelName(kernel.level)));
  auto spec = kernels::analyzeGemm(op);
  if (failed(spec))
    return invalid("cannot plan kernel @" + kernel.name);
  if (options.sizes.empty())
    return planSize(kernel, *spec, {});
  for (const tuning::Sizes &sizes : options.sizes)
    if (auto planned = planSize(kernel, *spec, sizes); !planned)
      return planned;
  return {};
}

/// Named by its bytes, so that results stay with what was measured.
Expected<void> Planner::write(Build &build) {
  Packager packager("heddle-tune " HEDDLE_VERSION);
  for (auto &unit : build.job->units)
    if (auto added = packager.add(std::move(unit->compiled)); !added)
      return added.takeError();
  auto bytes = pkg::packageBytes(packager.package());
  if (!bytes)
    return bytes.takeError();
  std::string hash;
  llvm::raw_string_ostream(hash) << llvm::format_hex_no_prefix(pkg::checksum(*bytes), 16);
  build.package = build.job->getKernel().name + "." + hash + ".hdl";
  llvm::SmallString<128> path(options.compiler.output);
  llvm::sys::path::append(path, build.package);
  return pkg::writeFileAtomically(std::string(path), std::span<const uint8_t>(*bytes));
}

Expected<void> Planner::compileAll() {
  std::mutex mutex;
  std::optional<Error> failed;
  size_t done = 0;
  bool show = !options.quiet && llvm::errs().is_displayed();
  auto finish = [&](Build &build) {
    Expected<void> result;
    for (auto &unit : build.job->units)
      if (result)
        result = build.job->finish(*unit);
    if (result && build.job->hasLosses())
      for (auto &unit : build.job->units)
        for (const Assembly::Loss &loss : unit->losses)
          build.lost =
              StringRef(loss.explanation).split('\n').second.trim().split('\n').first.str();
    if (result && build.lost.empty() && !build.job->hasLosses())
      result = write(build);
    build.job->units.clear();
    std::lock_guard lock(mutex);
    if (!result && !failed)
      failed = result.takeError();
    ++done;
    if (show)
      llvm::errs() << llvm::format("\r[%zu/%zu] compiled", done, builds.size());
  };
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.compiler.jobs));
  for (auto &[key, build] : builds) {
    auto lowered = build->job->lower();
    std::lock_guard lock(mutex);
    if (!lowered && !failed)
      failed = lowered.takeError();
    if (failed)
      break;
    pool.async([&finish, &one = *build] { finish(one); });
  }
  pool.wait();
  if (show)
    llvm::errs() << "\n";
  return failed ? Expected<void>(std::move(*failed)) : Expected<void>();
}

Expected<void> Planner::writeIndex() {
  std::string text;
  size_t written = 0;
  for (Want &want : wants) {
    if (want.build->package.empty())
      continue;
    want.planned.package = want.build->package;
    text += tuning::toJson(want.planned) + "\n";
    ++written;
  }
  size_t lost = 0;
  for (const auto &[key, build] : builds) {
    if (!build->package.empty())
      continue;
    ++lost;
    if (options.explain)
      llvm::errs() << "@" << key.first << ": rejected by ptxas: " << key.second << "\n          "
                   << build->lost << "\n";
  }
  llvm::outs() << written << " candidates in " << builds.size() - lost << " packages";
  if (lost)
    llvm::outs() << "; " << lost << " schedules rejected: registers (ptxas spills or serialises)";
  llvm::outs() << "\n";
  if (!written)
    return Error{ErrorCode::Unsupported,
                 "no candidate is left after ptxas; more of them (--candidates) may help"};
  llvm::SmallString<128> path(options.compiler.output);
  llvm::sys::path::append(path, "index.jsonl");
  return pkg::writeFileAtomically(std::string(path), std::string_view(text));
}

Expected<void> Planner::run() {
  auto buffer = readSpec(options.compiler.input);
  if (!buffer)
    return buffer.takeError();
  StringRef source = (*buffer)->getBuffer();
  DialectRegistry registry;
  registerDialects(registry);
  registerTranslations(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  LineCutter errors(llvm::errs());
  SourceMgrDiagnosticHandler diagnostics(sources, &context, errors);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return invalid("cannot read " + options.compiler.input);
  auto kernels = findKernels(*module, source, options.compiler.kernel);
  if (!kernels)
    return kernels.takeError().in(options.compiler.input);
  cache = options.compiler.useCache ? Cache::openDefault() : Cache();
  if (auto found = findAssembler(); !found)
    return found;
  for (const InputKernel &kernel : *kernels)
    if (auto planned = planKernel(kernel); !planned)
      return planned;
  if (std::error_code ec = llvm::sys::fs::create_directories(options.compiler.output))
    return Error{ErrorCode::Io,
                 "cannot make the folder " + options.compiler.output + ": " + ec.message()};
  if (auto compiled = compileAll(); !compiled)
    return compiled;
  return writeIndex();
}

static void onInterrupt(int number) {
  killRunningProcesses();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

static int planMain(int argc, char **argv, const std::string &buildFolder) {
  PlanOptions options;
  if (std::optional<int> status = parsePlanOptions(argc, argv, options))
    return *status;
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(number, onInterrupt) == SIG_IGN)
      std::signal(number, SIG_IGN); // as nohup wants it
  auto planned = Planner(options, buildFolder).run();
  if (planned)
    return 0;
  const std::string &message = planned.error().message;
  llvm::errs() << (StringRef(message).contains(": error: ") ? "" : "heddle-tune plan: error: ")
               << message << "\n";
  return 1;
}

int tuneMain(int argc, char **argv) {
  StringRef command = argc > 1 ? argv[1] : "";
  if (command == "plan") {
    int anchor;
    std::string self = llvm::sys::fs::getMainExecutable(argv[0], &anchor);
    return planMain(argc - 1, argv + 1,
                    llvm::sys::path::parent_path(llvm::sys::path::parent_path(self)).str());
  }
  if (command == "measure")
    return measure::measureMain(argc - 1, argv + 1, "heddle-tune measure");
  if (command == "record")
    return measure::recordMain(argc - 1, argv + 1, "heddle-tune record");
  if (command == "--help" || command == "-h") {
    printTuneHelp();
    return 0;
  }
  if (command == "--version") {
    llvm::outs() << "heddle-tune " HEDDLE_VERSION "\n";
    return 0;
  }
  llvm::errs() << "heddle-tune: error: expected plan, measure or record, got '" << command
               << "'; --help explains them\n";
  return 2;
}

} // namespace heddle::tools
