//===- MeasureMain.cpp - heddle-tune measure ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Bench.h"
#include "Supervisor.h"
#include "heddle/Support/CommandLine.h"
#include "heddle/Tuning/Tools.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <set>
#include <unistd.h>

namespace heddle::measure {

using nlohmann::json;
using tuning::Measured;
using tuning::Outcome;
using tuning::Planned;

namespace {

constexpr const char *footer =
    R"(Each kernel and size of DIR/index.jsonl is measured in a child process: every candidate runs once and
its result is checked against the reference, then all are timed in rounds, interleaved. A hang costs
its deadline only. What was measured is in the results already and is skipped, so that a run that was
cut short goes on where it stopped.
Examples:
  heddle-tune measure plan --device cuda:0
  heddle-tune measure plan --device cuda:0 --budget 300      start nothing new after five minutes
  heddle-tune measure plan --device emulator:sm_90a --rounds 1   checks only: its times are not recorded
Exit codes: 0 done, or the budget is over; 2 bad command line or plan; 3 no driver or no such
device; 4 a package is damaged or has no code for the device; 6 the device failed.)";

struct Device {
  std::string name;
  bool emulated = false;
};

/// What is known of one candidate while its group runs.
struct State {
  std::optional<Measured> end; ///< set when nothing more is to be done
  double error = 0;
  std::vector<double> times;
  int launches = 0;
};

std::string today() {
  char text[16];
  std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  std::strftime(text, sizeof(text), "%Y-%m-%d", &utc);
  return text;
}

/// One write a line, so that a line is there or not.
bool append(const std::string &path, const std::string &line) {
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  std::string text = line + "\n";
  bool good = file >= 0 && ::write(file, text.data(), text.size()) == ssize_t(text.size());
  return (file < 0 || ::close(file) == 0) && good;
}

class Measuring {
public:
  Measuring(const MeasureOptions &options, const char *name) : options(options), name(name) {}
  int run();

private:
  using Group = std::vector<const Planned *>;
  int fail(const std::string &message, int code) const {
    // Messages about a line of a file begin with its place.
    bool located = message.find(": error: ") != std::string::npos;
    std::fprintf(stderr, "%s%s%s\n", located ? "" : name,
                 located ? "" : ": error: ", message.c_str());
    return code;
  }
  int readFiles();
  int openDevice();
  std::optional<int> runOnce(const Group &group, std::vector<State> &states);
  int runGroup(const Group &group);
  int keep(const State &state) const;
  void report(const Group &group, const std::vector<State> &states) const;
  void progress(const std::string &text) const {
    if (!options.quiet && ::isatty(2))
      std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }
  Measured start(const Planned &p) const {
    Measured m;
    m.package = p.package, m.sizes = tuning::toString(p.sizes), m.date = today();
    m.device = device.name, m.emulated = device.emulated;
    return m;
  }
  void end(State &state, const Planned &p, Outcome outcome, std::string detail) const {
    state.end = start(p);
    state.end->outcome = outcome, state.end->detail = std::move(detail);
  }

  const MeasureOptions &options;
  const char *name;
  std::vector<Planned> plan;
  std::vector<Measured> known;
  Device device;
  size_t done = 0, total = 0;
};

int Measuring::readFiles() {
  std::string index = options.folder + "/index.jsonl";
  auto text = tuning::readText(index);
  if (!text)
    return fail(text.error().message + "; heddle-tune plan -o " + options.folder + " makes it",
                run::ExitUsage);
  auto planned = tuning::parsePlan(*text, index);
  if (!planned)
    return fail(planned.error().message, run::ExitUsage);
  plan = std::move(*planned);
  auto results = tuning::readText(options.results);
  if (!results && results.error().code == ErrorCode::NotFound)
    return 0;
  if (!results)
    return fail(results.error().message, run::ExitUsage);
  auto measured = tuning::parseResults(*results, options.results);
  if (!measured)
    return fail(measured.error().message, run::ExitUsage);
  known = std::move(*measured);
  return 0;
}

std::chrono::milliseconds deadlineOf(const MeasureOptions &options) {
  return std::chrono::milliseconds(int64_t(options.deadline * 1000));
}

int Measuring::openDevice() {
  std::string problem;
  int code = run::ExitDevice;
  ChildEnd end =
      superviseChild([&](int fd) { return probeDevice(options, fd); }, deadlineOf(options),
                     [&](std::string_view line) {
                       json message = json::parse(line);
                       if (message["step"] == "device")
                         device = {message["device"], message["emulated"]};
                       else if (message["step"] == "fatal")
                         problem = message["detail"], code = message["code"];
                     });
  if (!device.name.empty())
    return 0;
  return fail(problem.empty() ? "cannot open " + options.device + ": the process " + end.describe()
                              : problem,
              code);
}

/// Runs the candidates that have no end yet in one child. An exit code when nothing can be
/// measured; else something has changed.
std::optional<int> Measuring::runOnce(const Group &group, std::vector<State> &states) {
  std::vector<size_t> open;
  Group candidates;
  for (size_t i = 0; i < group.size(); ++i)
    if (!states[i].end) {
      open.push_back(i), candidates.push_back(group[i]);
      states[i].times.clear();
    }
  std::optional<size_t> current;
  std::string problem;
  int code = 0;
  bool finished = false;
  ChildEnd ended = superviseChild(
      [&](int fd) { return runBench(options, candidates, fd); }, deadlineOf(options),
      [&](std::string_view line) {
        json message = json::parse(line);
        const std::string step = message["step"];
        if (step == "fatal")
          problem = message["detail"], code = message["code"];
        finished |= step == "done";
        if (!message.contains("candidate"))
          return;
        size_t which = open[message["candidate"].get<size_t>()];
        State &state = states[which];
        if (step == "begin")
          current = which;
        else if (step == "checked")
          state.error = message["error"];
        else if (step == "time") {
          state.times.push_back(message["us"]), state.launches = message["launches"];
        } else if (step == "failed") {
          std::string outcome = message["outcome"];
          Outcome how = Outcome::Failed;
          for (Outcome o : {Outcome::Wrong, Outcome::Refused, Outcome::Crashed})
            how = outcome == tuning::outcomeName(o) ? o : how;
          end(state, *group[which], how, message["detail"]);
        }
        progress("[" + std::to_string(done) + "/" + std::to_string(total) + "] " +
                 group.front()->kernel + " " + tuning::toString(group.front()->sizes) + ": " +
                 step + " " + std::to_string(which + 1) + "/" + std::to_string(group.size()) +
                 (state.times.empty() ? "" : ", round " + std::to_string(state.times.size())));
      });
  if (code)
    return fail(problem, code);
  if (finished)
    for (size_t i : open) {
      State &state = states[i];
      if (state.end || state.times.empty())
        continue;
      std::vector<double> sorted = state.times;
      std::sort(sorted.begin(), sorted.end());
      state.end = start(*group[i]);
      state.end->microseconds = sorted[sorted.size() / 2];
      state.end->spread = (sorted.back() - sorted.front()) / state.end->microseconds;
      state.end->rounds = int(sorted.size()), state.end->launches = state.launches;
      state.end->relativeError = state.error;
    }
  else if (!current)
    return fail("the process that measures " + ended.describe() + " before the first candidate",
                run::ExitDevice);
  else if (!states[*current].end)
    end(states[*current], *group[*current], ended.hung ? Outcome::Hung : Outcome::Crashed,
        ended.describe());
  return std::nullopt;
}

int Measuring::keep(const State &state) const {
  if (append(options.results, tuning::toJson(*state.end)))
    return 0;
  return fail("cannot write " + options.results + ": " + std::strerror(errno), run::ExitUsage);
}

int Measuring::runGroup(const Group &group) {
  std::vector<State> states(group.size());
  std::vector<bool> kept(group.size());
  auto isOpen = [](const State &s) { return !s.end; };
  while (std::any_of(states.begin(), states.end(), isOpen)) {
    size_t before = size_t(std::count_if(states.begin(), states.end(), isOpen));
    if (std::optional<int> code = runOnce(group, states))
      return *code;
    for (size_t i = 0; i < group.size(); ++i)
      if (states[i].end && !kept[i]) {
        kept[i] = true;
        if (int code = keep(states[i]))
          return code;
      }
    if (before == size_t(std::count_if(states.begin(), states.end(), isOpen)))
      return fail("the process that measures ended without a result", run::ExitDevice);
  }
  progress("");
  report(group, states);
  done += group.size();
  return 0;
}

void Measuring::report(const Group &group, const std::vector<State> &states) const {
  std::printf("%s %s on %s%s\n", group.front()->kernel.c_str(),
              tuning::toString(group.front()->sizes).c_str(), device.name.c_str(),
              device.emulated ? " (emulated: times say nothing of a GPU)" : "");
  std::vector<size_t> order;
  for (size_t i = 0; i < group.size(); ++i)
    order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Measured &x = *states[a].end, &y = *states[b].end;
    if (x.outcome != y.outcome)
      return x.outcome < y.outcome;
    return x.microseconds < y.microseconds;
  });
  for (size_t i : order) {
    const Measured &m = *states[i].end;
    if (m.outcome == Outcome::Ok)
      std::printf("  %10.2f us +-%4.1f %%  predicted %10.2f  %s%s\n", m.microseconds, m.spread * 50,
                  group[i]->predicted, tuning::toString(group[i]->schedule).c_str(),
                  group[i]->rank == 0 ? "  (the model's choice)" : "");
    else
      std::printf("  %10s                 %s: %s\n",
                  std::string(tuning::outcomeName(m.outcome)).c_str(),
                  tuning::toString(group[i]->schedule).c_str(), m.detail.c_str());
  }
  std::fflush(stdout);
}

int Measuring::run() {
  if (int code = readFiles())
    return code;
  if (int code = openDevice())
    return code;
  std::set<std::array<std::string, 3>> have;
  for (const Measured &m : known)
    have.insert({m.package, m.sizes, m.device});
  std::vector<Group> groups;
  size_t skipped = 0;
  for (const Planned &p : plan) {
    std::string sizes = tuning::toString(p.sizes);
    if (!have.insert({p.package, sizes, device.name}).second) {
      ++skipped;
      continue;
    }
    ++total;
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group &g) {
      return g.front()->kernel == p.kernel && g.front()->sizes == p.sizes;
    });
    if (at == groups.end())
      groups.push_back({&p});
    else
      at->push_back(&p);
  }
  if (skipped)
    std::printf("%zu candidates are measured already on %s\n", skipped, device.name.c_str());
  auto began = std::chrono::steady_clock::now();
  for (const Group &group : groups) {
    std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    if (options.budget > 0 && spent.count() > options.budget) {
      std::printf("the budget of %g s is over: %zu of %zu candidates are left for the next run\n",
                  options.budget, total - done, total);
      return 0;
    }
    if (int code = runGroup(group))
      return code;
  }
  return 0;
}

} // namespace

int measureMain(int argc, char **argv, const char *name) {
  MeasureOptions o;
  CLI::App app("Checks and times the candidates of a plan on a device", name);
  app.footer(footer);
  app.add_option("plan", o.folder, "The folder that heddle-tune plan made")
      ->type_name("DIR")
      ->required();
  app.add_option("--device", o.device, "cuda:<index> or emulator:<target>")->capture_default_str();
  app.add_option("--deadline", o.deadline, "Seconds without a sign of life that count as a hang")
      ->check(CLI::Range(0.1, 86400.0))
      ->capture_default_str();
  app.add_option("--rounds", o.rounds, "Timings of each candidate; their median counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--budget", o.budget, "Start no kernel or size after so many seconds")
      ->check(CLI::Range(0.1, 1e9));
  app.add_option("--results", o.results, "Where to append (default: DIR/results.jsonl)")
      ->type_name("FILE");
  app.add_option("--seed", o.seed, "Seed of the random inputs")->capture_default_str();
  app.add_option("--threads", o.threads, "CPU threads for filling and checking")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--quiet", o.quiet, "Print no progress");
  try {
    if (auto empty = findEmptyArgument(argc, argv))
      throw CLI::ParseError(*empty, CLI::ExitCodes::InvalidError);
    app.parse(argc, argv);
    if (o.results.empty())
      o.results = o.folder + "/results.jsonl";
    return Measuring(o, name).run();
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: error: %s\n", name, error.what());
    return run::ExitUsage;
  }
}

} // namespace heddle::measure
