//===- Record.cpp - the text form of plans, results and records -----------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Tuning/Record.h"
#include "JsonLine.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace heddle::tuning {

using target::DType;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Small parts
//===----------------------------------------------------------------------===//

std::string toString(const Sizes &sizes) {
  std::string text;
  for (const auto &[name, value] : sizes)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return text;
}

Expected<Sizes> parseSizes(std::string_view text) {
  Sizes sizes;
  while (!text.empty()) {
    size_t end = std::min(text.find(','), text.size());
    std::string_view part = text.substr(0, end);
    bool more = end < text.size();
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t equals = part.find('=');
    std::string_view digits = equals < part.size() ? part.substr(equals + 1) : "";
    int64_t value = 0;
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (equals == 0 || digits.empty() || error != std::errc() ||
        stop != digits.data() + digits.size() || value < 1 || (more && text.empty()))
      return Error{ErrorCode::InvalidArgument,
                   "expected NAME=NUMBER,... with numbers of at least 1, got '" +
                       std::string(part) + (more && text.empty() ? ",'" : "'")};
    if (!sizes.emplace(part.substr(0, equals), value).second)
      return Error{ErrorCode::InvalidArgument, "expected each size once, got two of '" +
                                                   std::string(part.substr(0, equals)) + "'"};
  }
  return sizes;
}

std::string layoutOf(const GemmProblem &p) {
  return std::string(p.aKMajor ? "k" : "m") + (p.bKMajor ? "k" : "n");
}

static constexpr std::string_view outcomeNames[] = {"ok",   "wrong",   "refused",
                                                    "hung", "crashed", "failed"};

std::string_view outcomeName(Outcome outcome) { return outcomeNames[size_t(outcome)]; }

Expected<std::string> readText(const std::string &path) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec))
    return Error{ErrorCode::NotFound, "expected the file " + path + ", found none"};
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf()))
    if (std::filesystem::file_size(path, ec) != 0 || ec)
      return Error{ErrorCode::Io, "cannot read " + path};
  return std::move(text).str();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Four digits after the point are enough, and keep lines readable.
static double rounded(double value) { return std::round(value * 1e4) / 1e4; }

static Json problemJson(const GemmProblem &p) {
  Json json{{"a", target::dtypeName(p.a)},
              {"b", target::dtypeName(p.b)},
              {"out", target::dtypeName(p.out)},
              {"layout", layoutOf(p)},
              {"m", p.m},
              {"n", p.n},
              {"k", p.k},
              {"batch", p.batch},
              {"epilogue_bytes", p.epilogueReadBytes},
              {"scale_rows_a", p.scaleRowsA},
              {"scale_rows_b", p.scaleRowsB}};
  if (p.sms)
    json["sms"] = p.sms;
  return json;
}

static std::string dumped(const Json &json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string toJson(const Planned &p) {
  return dumped(Json{{"kernel", p.kernel},
                     {"chip", p.chip},
                     {"target", p.target},
                     {"sizes", toString(p.sizes)},
                     {"problem", problemJson(p.problem)},
                     {"schedule", toString(p.schedule)},
                     {"package", p.package},
                     {"predicted_us", rounded(p.predicted)},
                     {"rank", p.rank}});
}

std::string toJson(const Measured &m) {
  return dumped(Json{{"package", m.package},
                     {"sizes", m.sizes},
                     {"device", m.device},
                     {"emulated", m.emulated},
                     {"outcome", outcomeName(m.outcome)},
                     {"detail", m.detail},
                     {"us", rounded(m.microseconds)},
                     {"spread", rounded(m.spread)},
                     {"rounds", m.rounds},
                     {"launches", m.launches},
                     {"relative_error", m.relativeError},
                     {"date", m.date}});
}

std::string toJson(const Record &r) {
  Json json{{"kind", r.kind},
            {"chip", r.chip},
            {"problem", problemJson(r.problem)},
            {"schedule", toString(r.schedule)},
            {"us", rounded(r.microseconds)},
            {"spread", rounded(r.spread)},
            {"date", r.date}};
  if (r.model)
    json["model_schedule"] = toString(*r.model);
  if (r.model && r.modelMicroseconds > 0)
    json["model_us"] = rounded(r.modelMicroseconds);
  return dumped(json);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static DType dtypeIn(JsonLine &line, const char *key) {
  std::string name = line.text(key), known;
  for (DType type :
       {DType::F32, DType::F16, DType::BF16, DType::TF32, DType::F8E4M3, DType::F8E5M2}) {
    if (target::dtypeName(type) == name)
      return type;
    known += (known.empty() ? "" : ", ") + std::string(target::dtypeName(type));
  }
  line.fail(std::string("expected key '") + key + "' to be one of " + known + ", got '" + name +
            "'");
  return DType::BF16;
}

static GemmProblem problemIn(JsonLine &line) {
  JsonLine inner = line.object("problem");
  GemmProblem p;
  if (line.ok()) {
    p.a = dtypeIn(inner, "a"), p.b = dtypeIn(inner, "b"), p.out = dtypeIn(inner, "out");
    std::string layout = inner.text("layout");
    if (layout.size() != 2 || (layout[0] != 'k' && layout[0] != 'm') ||
        (layout[1] != 'k' && layout[1] != 'n'))
      inner.fail("expected key 'layout' to be one of kk, kn, mk, mn, got '" + layout + "'");
    else
      p.aKMajor = layout[0] == 'k', p.bKMajor = layout[1] == 'k';
    p.m = inner.integer("m", 0), p.n = inner.integer("n", 0), p.k = inner.integer("k", 0);
    p.batch = inner.integer("batch", 0);
    p.epilogueReadBytes = int(std::min<int64_t>(inner.integer("epilogue_bytes", 0), INT32_MAX));
  }
  if (line.ok() && inner.has("sms"))
    p.sms = int(std::min<int64_t>(inner.integer("sms", 0), INT32_MAX));
  auto scaleRows = [&](const char *key) {
    int64_t rows = inner.integer(key, 0);
    if (rows != 0 && rows != 1 && rows != 128)
      inner.fail(std::string("expected key '") + key + "' to be 0, 1 or 128, got " +
                 std::to_string(rows));
    return int(rows == 1 || rows == 128 ? rows : 0);
  };
  if (line.ok())
    p.scaleRowsA = scaleRows("scale_rows_a"), p.scaleRowsB = scaleRows("scale_rows_b");
  line.adopt(inner);
  return p;
}

static Schedule scheduleIn(JsonLine &line, const char *key) {
  std::string text = line.text(key), problem;
  if (!line.ok())
    return {};
  std::optional<Schedule> schedule = parse(text, Schedule(), &problem);
  if (!schedule)
    line.fail(std::string("bad schedule under '") + key + "': " + problem);
  return schedule.value_or(Schedule());
}

Expected<std::vector<Planned>> parsePlan(std::string_view text, const std::string &file) {
  std::vector<Planned> all;
  auto done = forEachLine(text, file, [&](JsonLine &line) {
    Planned p;
    p.kernel = line.text("kernel"), p.chip = line.text("chip"), p.target = line.text("target");
    p.package = line.text("package");
    if (line.ok() && p.package != std::filesystem::path(p.package).filename())
      line.fail("expected key 'package' to be a file beside the plan, got '" + p.package + "'");
    auto sizes = parseSizes(line.text("sizes"));
    if (sizes)
      p.sizes = std::move(*sizes);
    else
      line.fail("bad key 'sizes': " + sizes.error().message);
    p.problem = problemIn(line), p.schedule = scheduleIn(line, "schedule");
    p.predicted = line.number("predicted_us");
    p.rank = int(std::min<int64_t>(line.integer("rank", 0), INT32_MAX));
    all.push_back(std::move(p));
  });
  if (!done)
    return done.takeError();
  return all;
}

Expected<std::vector<Measured>> parseResults(std::string_view text, const std::string &file) {
  std::vector<Measured> all;
  auto done = forEachLine(text, file, [&](JsonLine &line) {
    Measured m;
    m.package = line.text("package"), m.sizes = line.text("sizes"), m.device = line.text("device");
    m.emulated = line.flag("emulated"), m.detail = line.text("detail");
    std::string outcome = line.text("outcome");
    const auto *found = std::find(std::begin(outcomeNames), std::end(outcomeNames), outcome);
    if (found == std::end(outcomeNames))
      line.fail("expected key 'outcome' to be one of ok, wrong, refused, hung, crashed, failed, "
                "got '" +
                outcome + "'");
    else
      m.outcome = Outcome(found - std::begin(outcomeNames));
    m.microseconds = line.number("us"), m.spread = line.number("spread");
    if (m.outcome == Outcome::Ok && !(m.microseconds > 0))
      line.fail("expected key 'us' of a measured candidate to be over 0, got 0");
    m.rounds = int(std::min<int64_t>(line.integer("rounds", 0), INT32_MAX));
    m.launches = int(std::min<int64_t>(line.integer("launches", 0), INT32_MAX));
    m.relativeError = line.number("relative_error"), m.date = line.text("date");
    all.push_back(std::move(m));
  });
  if (!done)
    return done.takeError();
  return all;
}

Expected<std::vector<Record>> parseRecords(std::string_view text, const std::string &file) {
  std::vector<Record> all;
  auto done = forEachLine(text, file, [&](JsonLine &line) {
    Record r;
    r.kind = line.text("kind"), r.chip = line.text("chip");
    if (line.ok() && !target::findChip(r.chip))
      line.fail("expected key 'chip' to be one of " + target::knownChipNames() + ", got '" +
                r.chip + "'");
    r.problem = problemIn(line), r.schedule = scheduleIn(line, "schedule");
    r.microseconds = line.number("us"), r.spread = line.number("spread");
    if (!(r.microseconds > 0))
      line.fail("expected key 'us' to be over 0, got 0");
    r.date = line.text("date");
    if (line.has("model_schedule"))
      r.model = scheduleIn(line, "model_schedule");
    r.modelMicroseconds = line.number("model_us", /*needed=*/false);
    r.where = line.where();
    all.push_back(std::move(r));
  });
  if (!done)
    return done.takeError();
  return all;
}

Expected<std::vector<Record>> readRecords(const std::string &folder) {
  std::error_code ec;
  std::vector<std::string> files;
  for (std::filesystem::directory_iterator at(folder, ec), end; !ec && at != end; at.increment(ec))
    if (at->path().extension() == ".jsonl")
      files.push_back(at->path().string());
  if (ec)
    return Error{ErrorCode::NotFound, "cannot read the folder " + folder + ": " + ec.message()};
  std::sort(files.begin(), files.end());
  std::vector<Record> all;
  for (const std::string &file : files) {
    auto text = readText(file);
    if (!text)
      return text.takeError();
    auto records = parseRecords(*text, file);
    if (!records)
      return records.takeError();
    all.insert(all.end(), records->begin(), records->end());
  }
  return all;
}

std::string fileFor(const Record &record) { return record.chip + "." + record.kind + ".jsonl"; }

} // namespace heddle::tuning
