//===- RecordMain.cpp - heddle-tune record --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/Writer.h"
#include "heddle/Support/CommandLine.h"
#include "heddle/Tuning/Record.h"
#include "heddle/Tuning/Tools.h"
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

namespace heddle::measure {

namespace {

struct RecordOptions {
  std::string folder, results, output = "tuning";
  bool replace = false;
};

Expected<int> mergeInto(const std::string &file, const std::vector<tuning::Record> &added,
                        bool replace) {
  std::vector<tuning::Record> records;
  auto text = tuning::readText(file);
  if (!text && text.error().code != ErrorCode::NotFound)
    return text.takeError();
  if (text) {
    auto parsed = tuning::parseRecords(*text, file);
    if (!parsed)
      return parsed.takeError();
    records = std::move(*parsed);
  }
  int taken = tuning::mergeRecords(records, added, replace);
  std::string all;
  for (const tuning::Record &r : records)
    all += tuning::toJson(r) + "\n";
  if (taken)
    if (auto written = pkg::writeFileAtomically(file, std::string_view(all)); !written)
      return written.takeError();
  return taken;
}

Expected<int> record(const RecordOptions &o) {
  std::string index = o.folder + "/index.jsonl";
  auto planText = tuning::readText(index), resultText = tuning::readText(o.results);
  if (!planText)
    return planText.takeError();
  if (!resultText)
    return resultText.takeError();
  auto plan = tuning::parsePlan(*planText, index);
  if (!plan)
    return plan.takeError();
  auto results = tuning::parseResults(*resultText, o.results);
  if (!results)
    return results.takeError();
  std::map<std::string, int> leftOut;
  std::map<std::string, std::vector<tuning::Record>> byFile;
  for (tuning::Record &r : tuning::bestOf(*plan, *results, &leftOut))
    byFile[o.output + "/" + tuning::fileFor(r)].push_back(std::move(r));
  for (const auto &[cause, count] : leftOut)
    std::printf("left out: %d, %s\n", count, cause.c_str());
  if (byFile.empty()) {
    std::printf("nothing to record\n");
    return 1;
  }
  std::error_code ec;
  std::filesystem::create_directories(o.output, ec);
  if (ec)
    return Error{ErrorCode::Io, "cannot make the folder " + o.output + ": " + ec.message()};
  for (const auto &[file, records] : byFile) {
    auto taken = mergeInto(file, records, o.replace);
    if (!taken)
      return taken.takeError();
    std::printf("%s: %d of %zu schedules recorded%s\n", file.c_str(), *taken, records.size(),
                size_t(*taken) == records.size() ? "" : "; the others are no faster than before");
  }
  return 0;
}

} // namespace

int recordMain(int argc, char **argv, const char *name) {
  RecordOptions o;
  CLI::App app("Keeps the fastest schedules of a plan that was measured", name);
  app.footer(
      R"(A record is for one chip, kind of kernel, types, layout and size; heddlec uses it for sizes of the
same class (the same powers of two around m, n, k and batch). Times of the emulator are never
recorded.
Example:
  heddle-tune record plan -o tuning && heddlec gemm.mlir --chip H200 --tuning tuning --explain
Exit codes: 0 done; 1 nothing to record; 2 bad command line or file.)");
  app.add_option("plan", o.folder, "The folder that was measured")->type_name("DIR")->required();
  app.add_option("-o,--output", o.output, "The folder of records")
      ->type_name("DIR")
      ->capture_default_str();
  app.add_option("--results", o.results, "What measure appended (default: DIR/results.jsonl)")
      ->type_name("FILE");
  app.add_flag("--replace", o.replace, "Take the new ones even where a recorded one is faster");
  try {
    if (auto empty = findEmptyArgument(argc, argv))
      throw CLI::ParseError(*empty, CLI::ExitCodes::InvalidError);
    app.parse(argc, argv);
    if (o.results.empty())
      o.results = o.folder + "/results.jsonl";
    auto done = record(o);
    if (done)
      return *done;
    bool located = done.error().message.find(": error: ") != std::string::npos;
    std::fprintf(stderr, "%s%s%s\n", located ? "" : name,
                 located ? "" : ": error: ", done.error().message.c_str());
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s: error: %s\n", name, error.what());
  }
  return 2;
}

} // namespace heddle::measure
