//===- PtxasReport.cpp - what ptxas says, and what it means ----------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The texts of the C75xx messages are those of ptxas 13.0; they are matched by a piece
// of their text, since codes are undocumented. What provokes each was found by assembling
// variants of one wgmma kernel.
//
//===----------------------------------------------------------------------===//
#include "heddle/Pipelines/Ptxas.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"

namespace heddle {

using llvm::StringRef;

namespace {
struct Explanation {
  StringRef text, meaning, advice;
};
} // namespace

static constexpr Explanation explanations[] = {
    {"unable to determine register count at entry",
     "setmaxnreg has no effect, because nothing fixes how many registers a thread starts with",
     "give the kernel nvvm.reqntid together with nvvm.minctasm = 1, or nvvm.maxnreg"},
    {"to maintain minimum register requirements",
     "setmaxnreg has no effect, because a role needs more registers than it asks for",
     "raise the role's registers (load_registers, mma_registers), or choose a smaller tile"},
    {"'setmaxnreg' ignored",
     "setmaxnreg has no effect here, so the roles keep the registers of the launch",
     "compile the kernel as one module without calls, and without device debugging"},
    {"insufficient register resources",
     "the accumulators do not fit the registers, so every wgmma waits for the one before",
     "choose a smaller tile, or give the mma role more registers or more warps"},
    {"reading accumulator registers",
     "something reads accumulators while their multiplications may still run, so every wgmma waits",
     "wait for the group in the iteration that issued it before its accumulators are read; only "
     "wgmma may touch accumulators whose group is still open at the loop's end"},
    {"defining accumulator registers",
     "something writes accumulators while multiplications may still run, so every wgmma waits",
     "let the first multiplication overwrite (accumulate = false) in place of writing zeros, and "
     "do no arithmetic on accumulators between two multiplications"},
    {"defining input registers",
     "something writes operand registers of a wgmma that may still run, so every wgmma waits",
     "keep the operand's registers unchanged until the group is waited for"},
    {"ill formed pipeline stage",
     "fence, multiplications and commit are not in one straight piece of code, so every wgmma "
     "waits",
     "keep a K block in one ptx.wgmma_block, with no branch inside"},
    {"in divergent path",
     "a wgmma stands where the warps of a warpgroup may part, so every wgmma waits",
     "branch on values that are equal in the warpgroup, and do not leave the wgmma loop by a "
     "branch"},
    {"crossing function boundary",
     "a function call stands between the start and the wait of a wgmma, so every wgmma waits",
     "inline the call"},
    {"Extern calls", "the kernel calls an external function, so every wgmma waits",
     "remove the call"},
    {"wgmma.mma_async instructions are serialized", "every wgmma waits for the one before",
     "keep everything but wgmma away from the accumulators between the first multiplication and "
     "its wait"},
};

/// The number before `unit`: 128 in "..., 128 bytes smem" for " bytes smem".
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef head = line.take_front(at);
  size_t start = head.find_last_not_of("0123456789");
  int64_t value = 0;
  head.drop_front(start == StringRef::npos ? 0 : start + 1).getAsInteger(10, value);
  return value;
}

static int64_t numberAfter(StringRef line, StringRef word) {
  size_t at = line.find(word);
  if (at == StringRef::npos)
    return 0;
  int64_t value = 0;
  line.drop_front(at + word.size()).take_while(llvm::isDigit).getAsInteger(10, value);
  return value;
}

static void readLine(StringRef line, PtxasReport &report) {
  static const llvm::Regex code("\\((C75[0-9][0-9])\\) *(.*)");
  report.stackBytes = std::max(report.stackBytes, numberBefore(line, " bytes stack frame"));
  report.spillStoreBytes =
      std::max(report.spillStoreBytes, numberBefore(line, " bytes spill stores"));
  report.spillLoadBytes = std::max(report.spillLoadBytes, numberBefore(line, " bytes spill loads"));
  report.sharedBytes = std::max(report.sharedBytes, numberBefore(line, " bytes smem"));
  report.registers = std::max<unsigned>(report.registers, numberAfter(line, "Used "));
  report.barriers = std::max<unsigned>(report.barriers, numberBefore(line, " barriers"));
  llvm::SmallVector<StringRef> matches;
  if (code.match(line, &matches))
    report.losses.push_back({matches[1].str(), matches[2].trim().str()});
  else if (line.contains("warning"))
    report.warnings.push_back(line.trim().str());
}

std::vector<PtxasReport> parsePtxasOutput(std::string_view output) {
  std::vector<PtxasReport> reports;
  PtxasReport early; // messages that come before the first entry is named
  llvm::SmallVector<StringRef> lines;
  StringRef(output).split(lines, '\n');
  for (StringRef line : lines) {
    size_t at = line.find("Compiling entry function '");
    if (at != StringRef::npos) {
      reports.emplace_back();
      reports.back().entry =
          line.drop_front(line.find('\'') + 1).take_until([](char c) { return c == '\''; }).str();
    }
    readLine(line, reports.empty() ? early : reports.back());
  }
  if (reports.empty())
    reports.push_back(early);
  else
    reports[0].losses.insert(reports[0].losses.begin(), early.losses.begin(), early.losses.end());
  return reports;
}

static std::string explain(const PtxasReport::Message &message) {
  std::string text = message.code + ": " + message.text;
  for (const Explanation &known : explanations)
    if (StringRef(message.text).contains(known.text))
      return text + "\n    meaning: " + known.meaning.str() + "\n    remedy: " + known.advice.str();
  return text + "\n    meaning: ptxas gave up an optimisation that the kernel is built on";
}

std::string explainLosses(const PtxasReport &report) {
  std::vector<std::string> parts;
  int64_t spills = report.spillStoreBytes + report.spillLoadBytes;
  if (spills != 0)
    parts.push_back("expected no register spills, got " + std::to_string(report.spillStoreBytes) +
                    " bytes stored and " + std::to_string(report.spillLoadBytes) +
                    " bytes loaded a thread, with " + std::to_string(report.registers) +
                    " registers\n    remedy: choose a smaller tile, more mma warps, or more "
                    "registers for the role (mma_registers)");
  else if (report.stackBytes != 0)
    parts.push_back("expected no stack, got " + std::to_string(report.stackBytes) +
                    " bytes a thread\n    meaning: a value lives in local memory, usually an "
                    "array indexed at run time\n    remedy: unroll the loop that indexes it");
  for (const PtxasReport::Message &message : report.losses)
    parts.push_back(explain(message));
  return llvm::join(parts, "\n  ");
}

} // namespace heddle
