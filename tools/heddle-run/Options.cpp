//===- Options.cpp - the command line of heddle-run -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "heddle-rt/heddle.h"
#include "heddle/Support/CommandLine.h"
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace heddle::run {

namespace {

constexpr const char *footer =
    R"(Inputs that no file gives are random. Sizes that no --size gives come from input files.
Exit codes: 0 ran, and the result agrees with the reference; 1 the result is wrong; 2 bad command
line or input file; 3 no driver or no such device; 4 the package is damaged or has no code for the
device; 5 the kernel does not take these sizes, strides or addresses; 6 the device failed.)";

template <typename T> bool number(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Splits "NAME=VALUE".
std::pair<std::string, std::string> split(const std::string &text, const char *option) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw CLI::ValidationError(option, "expected NAME=VALUE, got '" + text + "'");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

template <typename T> T parseNumber(const std::string &text, const char *option) {
  T value{};
  if (!number(std::string_view(text), value))
    throw CLI::ValidationError(option, "expected a number, got '" + text + "'");
  return value;
}

std::vector<int64_t> parseList(const std::string &text, const char *option) {
  std::vector<int64_t> values;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parseNumber<int64_t>(text.substr(begin, end - begin), option));
    begin = end + 1;
  }
  return values;
}

/// An option NAME=VALUE that may come several times, kept in a map.
template <typename T, typename Parse>
void addMap(CLI::App &app, const char *option, std::map<std::string, T> &map, const char *help,
            Parse parse) {
  app.add_option_function<std::vector<std::string>>(
         option,
         [&map, option, parse](const std::vector<std::string> &values) {
           for (const std::string &text : values) {
             auto [name, value] = split(text, option);
             if (!map.emplace(name, parse(value, option)).second)
               throw CLI::ValidationError(option, "'" + name + "' is given twice");
           }
         },
         help)
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

/// An option whose value is one of a few words.
template <typename T>
CLI::Option *addChoice(CLI::App &app, const char *option, T &value, const char *help,
                       std::vector<std::pair<std::string, T>> choices) {
  std::string names;
  for (const auto &[name, choice] : choices)
    names += (names.empty() ? "" : "|") + name;
  return app
      .add_option_function<std::string>(
          option,
          [&value, option, choices, names](const std::string &given) {
            for (const auto &[name, choice] : choices)
              if (name == given) {
                value = choice;
                return;
              }
            throw CLI::ValidationError(option, "expected " + names + ", got '" + given + "'");
          },
          help)
      ->option_text(names);
}

std::string text(const std::string &value, const char *) { return value; }

void addOptions(CLI::App &app, Options &o) {
  app.add_option("package", o.package, "The package (.hdl) to run")->type_name("FILE");
  app.add_option("--kernel", o.kernel, "The kernel; may be left out when the package has one");
  app.add_option("--device", o.device, "cuda:<index> or emulator:<target>")->capture_default_str();
  app.add_option("--checks", o.checks,
                 "What an emulated device looks for beyond errors: races (of threads, copies and "
                 "matrix instructions; slower) or none")
      ->check(CLI::IsMember({"races", "none"}))
      ->option_text("races|none");
  app.add_option(
         "--trace", o.trace,
         "Write what each warp of an emulated device did, waited for and copied, as a trace "
         "for ui.perfetto.dev or chrome://tracing")
      ->type_name("FILE");
  app.add_option(
         "-n,--ranks", o.ranks,
         "Run on so many ranks that talk to each other, each with inputs of its own: on "
         "cuda:0, cuda:1, ... or on emulated devices that run together. %r in the name of a "
         "file stands for the rank")
      ->check(CLI::Range(1, 1024));
  app.add_option("--ranks-per-device", o.ranksPerDevice,
                 "Put so many ranks on each GPU; left out, as few as the number of GPUs allows")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--processes", o.processes, "With -n: each rank is a process of its own");
  app.add_flag("--join", o.join,
               "Be one rank of several, which torchrun, mpirun or srun started; the environment "
               "names it (docs/communication.md)");
  app.add_option("--transport", o.transport,
                 "How memory reaches other ranks: nvlink, host, or auto, the first that works")
      ->type_name("NAME");
  app.add_flag("--topology", o.topology,
               "Print which devices reach the memory of which by each transport, and stop");
  app.add_option("--timeout", o.timeoutMs,
                 "The longest that a kernel waits for another rank, in milliseconds")
      ->check(CLI::Range(1u, 3600000u))
      ->type_name("MS");
  app.add_flag("--list-devices", o.listDevices, "Print the devices and stop");
  addMap(app, "--size", o.sizes, "A run-time size, e.g. M=300", parseNumber<int64_t>);
  addMap(app, "--strides", o.strides, "Strides of an argument in elements, e.g. A=512,1",
         parseList);
  addMap(app, "--offset", o.offsets, "Start an argument so many elements past an aligned address",
         parseNumber<int64_t>);
  addMap(app, "--scalar", o.scalars, "Value of a scalar argument (default 1)", parseNumber<double>);
  addMap(app, "--input", o.inputs, "Read an argument from a .npy file", text);
  addMap(app, "--output", o.outputs, "Write an argument to a .npy file after the run", text);
  addMap(app, "--reference", o.references,
         "Compare an output with a .npy file, in place of the package's reference", text);
  app.add_flag("--widen", o.widen, "Write bf16 and f8 outputs as f32 instead of raw bits");
  addChoice<Random>(
      app, "--random", o.random,
      "Distribution of random inputs: normal (0, 1), uniform in [-1, 1], integers -4 to 4",
      {{"normal", Random::Normal}, {"uniform", Random::Uniform}, {"integers", Random::Integers}});
  app.add_option_function<std::string>(
         "--groups", [&o](const std::string &text) { o.groups = text, o.groupsGiven = true; },
         "Rows of each group of a kernel that has groups: numbers joined by commas, or\n"
         "random (the default), full, skew, one (row in one group), all (in one group), empty,\n"
         "around:<rows>; raw:<numbers> are given to the kernel as they are")
      ->type_name("LIST|PATTERN");
  app.add_option("--seed", o.seed, "Seed of random inputs")->capture_default_str();
  auto *check = addChoice<CheckMode>(
      app, "--check", o.check,
      "Compare with the reference on the CPU: full, sampled, or auto (by the cost)",
      {{"auto", CheckMode::Auto}, {"full", CheckMode::Full}, {"sampled", CheckMode::Sampled}});
  app.add_flag_function(
         "--no-check", [&o](int64_t) { o.check = CheckMode::None; }, "Do not compare")
      ->excludes(check);
  app.add_option("--tolerance", o.tolerance, "Largest relative error, in place of the type's")
      ->check([](const std::string &given) {
        double value = 0;
        bool good = number(std::string_view(given), value) && std::isfinite(value) && value > 0;
        return good ? "" : "expected a finite number over 0, got '" + given + "'";
      });
  app.add_option("--time", o.timeRuns, "Time so many launches after a warm-up")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--variant", o.variant, "Run only this compiled form (from 1)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--sms,--multiprocessors", o.multiprocessors,
                 "Multiprocessors that the launch may use")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--threads", o.threads, "CPU threads for filling and checking")
      ->check(CLI::Range(1, 1024));
  app.add_option(
         "--stats", o.stats,
         "On an emulated device: write instructions, bytes, bank conflicts and waits of each\n"
         "role to a file (JSON when its name ends in .json; - is standard output)")
      ->type_name("FILE");
  app.add_flag("--json", o.json, "Print one JSON object");
  app.add_flag("--quiet", o.quiet, "Print no progress");
}

/// What --checks, --trace and --stats ask for is part of the device's name.
void addDeviceOptions(Options &o) {
  if (o.checks.empty() && o.trace.empty() && o.stats.empty())
    return;
  const char *option = !o.checks.empty() ? "--checks" : !o.trace.empty() ? "--trace" : "--stats";
  if (!o.device.starts_with("emulator:"))
    throw CLI::ValidationError(option, "expected an emulated device, e.g. "
                                       "--device=emulator:sm_90a, got '" +
                                           o.device + "'");
  if (o.trace.find(',') != std::string::npos)
    throw CLI::ValidationError("--trace",
                               "expected a file name without commas, got '" + o.trace + "'");
  if (o.stats.find(',') != std::string::npos)
    throw CLI::ValidationError("--stats",
                               "expected a file name without commas, got '" + o.stats + "'");
  if (!o.checks.empty())
    o.device += ",checks=" + o.checks;
  if (!o.trace.empty())
    o.device += ",trace=" + o.trace;
  if (!o.stats.empty())
    o.device += ",stats=" + o.stats;
}

} // namespace

std::optional<Options> parseOptions(int argc, char **argv, int &exitCode) {
  Options options;
  CLI::App app("Runs a kernel of a Heddle package on a device and checks what it computes",
               "heddle-run");
  app.footer(footer);
  app.set_version_flag("--version", std::string("heddle-run ") + heddle_version());
  addOptions(app, options);
  try {
    if (auto empty = findEmptyArgument(argc, argv))
      throw CLI::ParseError(*empty, CLI::ExitCodes::InvalidError);
    app.parse(argc, argv);
    if (options.package.empty() && !options.listDevices && !options.topology)
      throw CLI::ParseError("expected a package to run; --help shows the options",
                            CLI::ExitCodes::RequiredError);
    addDeviceOptions(options);
  } catch (const CLI::Success &success) {
    app.exit(success);
    exitCode = ExitPassed;
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "heddle-run: error: %s\n", error.what());
    exitCode = ExitUsage;
    return std::nullopt;
  }
  return options;
}

} // namespace heddle::run
