//===- Record.h - measured schedules, and the files that hold them --------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tuner writes and the compiler reads. Three kinds of files, each a JSON object
// a line, empty lines ignored:
//
//   DIR/index.jsonl     Planned: candidates that were compiled, one a kernel, size and schedule
//   DIR/results.jsonl   Measured: what the device said about them, appended as it comes
//   tuning/*.jsonl      Record: the best schedules, by chip and kind of kernel
//
// Errors of a line begin with "file:line" or "file:line:column". Free of LLVM; no exceptions leave.
// Values own their text; one object is for one thread at a time, const ones for many.
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_TUNING_RECORD_H
#define HEDDLE_TUNING_RECORD_H

#include "heddle/Support/Result.h"
#include "heddle/Tuning/Schedule.h"
#include <map>

namespace heddle::tuning {

/// Run-time sizes by name; strides count as sizes.
using Sizes = std::map<std::string, int64_t>;

/// "M=4096,N=512", sorted by name, and back. The error tells what was expected.
std::string toString(const Sizes &sizes);
Expected<Sizes> parseSizes(std::string_view text);

/// How operands lie in memory, by the dimension that is contiguous in A and in B: "kk", "kn",
/// "mk", "mn".
std::string layoutOf(const GemmProblem &problem);

/// A candidate of the plan.
struct Planned {
  std::string kernel, chip, target;
  std::string package; ///< the file's name in the folder of the plan
  Sizes sizes;         ///< run-time sizes to measure with
  GemmProblem problem; ///< with those sizes; alignments are not kept
  Schedule schedule;
  double predicted = 0; ///< microseconds, of the model
  int rank = 0;         ///< 0: the model's own choice
};

/// How the measurement of a candidate ended.
enum class Outcome { Ok, Wrong, Refused, Hung, Crashed, Failed };
std::string_view outcomeName(Outcome outcome);

struct Measured {
  std::string package, sizes; ///< name the candidate; sizes as toString gives them
  std::string device;         ///< "NVIDIA H200", "emulator:..."
  bool emulated = false;      ///< times are those of the emulator and say nothing of a GPU
  Outcome outcome = Outcome::Ok;
  std::string detail;      ///< why it is not Ok
  double microseconds = 0; ///< of a launch, many in a row: the median over rounds
  double spread = 0;       ///< (slowest - fastest round) / median
  int rounds = 0, launches = 0;
  double relativeError = 0; ///< of the result against the reference
  std::string date;         ///< 2026-11-30
};

struct Record {
  std::string kind = "gemm", chip;
  GemmProblem problem; ///< alignments are not kept
  Schedule schedule;
  double microseconds = 0, spread = 0;
  std::string date;
  /// What the model would have chosen, and how long that took in the same run; 0: not measured.
  std::optional<Schedule> model;
  double modelMicroseconds = 0;
  std::string where; ///< "file:line" it was read from
};

/// One line, without its end.
std::string toJson(const Planned &planned);
std::string toJson(const Measured &measured);
std::string toJson(const Record &record);

/// Parses the text of a whole file; `file` is for messages.
Expected<std::vector<Planned>> parsePlan(std::string_view text, const std::string &file);
Expected<std::vector<Measured>> parseResults(std::string_view text, const std::string &file);
Expected<std::vector<Record>> parseRecords(std::string_view text, const std::string &file);

/// A whole file. ErrorCode::NotFound when there is none.
Expected<std::string> readText(const std::string &path);
/// The records of all .jsonl files of a folder, in the order of the files' names. It is an error
/// when there is no such folder.
Expected<std::vector<Record>> readRecords(const std::string &folder);
/// "H200.gemm.jsonl": the file that a record belongs in.
std::string fileFor(const Record &record);

/// The chip that a device's description names ("NVIDIA H200"); nullptr when unknown.
const target::Chip *chipOfDevice(std::string_view description);

/// Whether two records are for exactly the same problem on the same chip.
bool sameProblem(const Record &a, const Record &b);

/// Whether a record is for a problem's size class: m, n, k and batch each lie between the same
/// powers of two (2^(i-1), 2^i]. Sizes of 0 count as what the model assumes.
bool sameSizeClass(const GemmProblem &a, const GemmProblem &b);

/// The record to use for a problem on a chip: of the same kind, types, layout, epilogue and size
/// class, legal for the problem, and nearest in size. nullptr: none.
const Record *findRecord(std::span<const Record> records, std::string_view kind,
                         const GemmProblem &problem, const target::Target &target,
                         const target::Chip &chip);

/// The best of what was measured, one record a chip and problem. What is not Ok, emulated, on an
/// unknown chip or on another than was planned for is left out; `leftOut`, when given, counts it by
/// cause.
std::vector<Record> bestOf(std::span<const Planned> plan, std::span<const Measured> results,
                           std::map<std::string, int> *leftOut = nullptr);

/// Puts `added` among `records`: what is slower than a record of the same problem is dropped unless
/// `replace`. Returns how many were taken.
int mergeRecords(std::vector<Record> &records, std::span<const Record> added, bool replace);

} // namespace heddle::tuning

#endif // HEDDLE_TUNING_RECORD_H
