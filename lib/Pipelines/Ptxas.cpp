//===- Ptxas.cpp - from PTX to machine code --------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Pipelines/Ptxas.h"
#include "heddle/Support/Subprocess.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

namespace heddle {

namespace fs = llvm::sys::fs;
using llvm::StringRef;

/// Raised when what is kept, or how, changes.
static constexpr std::string_view cacheFormat = "ptxas 1";

unsigned toolkitForPtx(unsigned ptxVersion) {
  // PTX ISA, "Release History".
  struct Entry {
    unsigned ptx, toolkit;
  };
  static constexpr Entry entries[] = {{70, 110}, {71, 111}, {72, 112}, {73, 113}, {74, 114},
                                      {75, 115}, {76, 116}, {77, 117}, {78, 118}, {80, 120},
                                      {81, 121}, {82, 122}, {83, 123}, {84, 124}, {85, 125},
                                      {86, 127}, {87, 128}, {88, 129}, {90, 130}, {91, 131}};
  for (const Entry &entry : entries)
    if (ptxVersion <= entry.ptx)
      return entry.toolkit;
  return entries[std::size(entries) - 1].toolkit;
}

static std::string dotted(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}

/// At most this many columns of a line, and lines, of what another program said.
static constexpr size_t shownColumns = 200, shownLines = 10;

/// The text cut to a size for a message, with dots where something is missing.
static std::string shortened(StringRef text) {
  llvm::SmallVector<StringRef> lines;
  text.trim().split(lines, '\n');
  std::vector<std::string> kept;
  for (StringRef line : llvm::ArrayRef(lines).take_front(shownLines))
    kept.push_back(line.size() > shownColumns ? line.take_front(shownColumns).str() + "..."
                                              : line.rtrim().str());
  if (lines.size() > shownLines)
    kept.push_back("... (" + std::to_string(lines.size() - shownLines) + " more lines)");
  return llvm::join(kept, "\n  ");
}

static std::string seconds(std::chrono::milliseconds time) {
  return std::to_string(time.count() / 1000) + " s";
}

//===----------------------------------------------------------------------===//
// Finding it
//===----------------------------------------------------------------------===//

/// Asks a program for its version.
static Expected<Ptxas> identify(const std::string &path, const PtxasSearch &search) {
  fs::file_status status;
  if (std::error_code ec = fs::status(path, status))
    return Error{ErrorCode::NotFound, "cannot use ptxas " + path + ": " + ec.message()};
  if (status.type() != fs::file_type::regular_file || !fs::can_execute(path))
    return Error{ErrorCode::NotFound, "cannot use ptxas " + path + ": not an executable file"};
  Ptxas ptxas;
  ptxas.path = path;
  ptxas.identity = path + " " + std::to_string(status.getSize()) + " " +
                   std::to_string(status.getLastModificationTime().time_since_epoch().count());
  std::string key = Cache::key({cacheFormat, "version", ptxas.identity});
  std::optional<std::string> text = search.cache.get(key);
  if (!text) {
    auto result = runProcess({path, "--version"}, search.timeout);
    if (!result)
      return result.takeError();
    if (result->timedOut)
      return Error{ErrorCode::Unsupported, "cannot use ptxas " + path +
                                               ": it did not tell its release within " +
                                               seconds(search.timeout) + " and was stopped"};
    text = result->output;
  }
  llvm::SmallVector<StringRef> matches;
  if (!llvm::Regex("release ([0-9]+)\\.([0-9]+)").match(*text, &matches))
    return Error{ErrorCode::Unsupported,
                 "cannot use ptxas " + path + ": expected it to tell its release, got " +
                     (StringRef(*text).trim().empty() ? "nothing" : shortened(*text))};
  matches[1].getAsInteger(10, ptxas.major);
  matches[2].getAsInteger(10, ptxas.minor);
  search.cache.put(key, *text);
  return ptxas;
}

static Expected<Ptxas> identifyNewEnough(const std::string &path, const PtxasSearch &search) {
  auto ptxas = identify(path, search);
  if (!ptxas)
    return ptxas;
  unsigned need = toolkitForPtx(search.ptxVersion), have = ptxas->major * 10 + ptxas->minor;
  if (have < need)
    return Error{ErrorCode::Unsupported, "expected ptxas " + dotted(need) + " or newer for PTX " +
                                             dotted(search.ptxVersion) + ", got " + dotted(have) +
                                             " at " + path};
  return ptxas;
}

/// Where else to look, in order.
static std::vector<std::string> usualPlaces(const std::string &buildFolder) {
  std::vector<std::string> places;
  std::error_code ec;
  // <venv>/lib/python3.11/site-packages/nvidia/cu13/bin/ptxas
  std::string lib = buildFolder + "/venv/lib";
  for (fs::directory_iterator python(lib, ec), end; !ec && python != end; python.increment(ec)) {
    std::error_code inner;
    std::string vendor = python->path() + "/site-packages/nvidia";
    for (fs::directory_iterator part(vendor, inner); !inner && part != end; part.increment(inner))
      places.push_back(part->path() + "/bin/ptxas");
  }
  if (auto onPath = llvm::sys::findProgramByName("ptxas"))
    places.push_back(*onPath);
  places.push_back("/usr/local/cuda/bin/ptxas");
  return places;
}

Expected<Ptxas> findPtxas(const PtxasSearch &search) {
  if (!search.explicitPath.empty())
    return identifyNewEnough(search.explicitPath, search);
  if (const char *path = std::getenv("HEDDLE_PTXAS"); path && *path) {
    auto ptxas = identifyNewEnough(path, search);
    if (!ptxas)
      return ptxas.takeError().in("HEDDLE_PTXAS");
    return ptxas;
  }
  std::optional<Error> unusable;
  for (const std::string &place : usualPlaces(search.buildFolder)) {
    if (!fs::exists(place))
      continue;
    auto ptxas = identifyNewEnough(place, search);
    if (ptxas)
      return ptxas;
    if (!unusable)
      unusable = ptxas.takeError();
  }
  if (unusable)
    return std::move(*unusable);
  return Error{ErrorCode::NotFound,
               "no ptxas found: looked at --ptxas, $HEDDLE_PTXAS, the build's virtual environment, "
               "$PATH and /usr/local/cuda/bin; it comes with the CUDA toolkit and with the Python "
               "wheel nvidia-cuda-nvcc"};
}

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

/// A file that goes away with its owner.
namespace {
struct TemporaryFile {
  llvm::SmallString<128> path;
  TemporaryFile(StringRef suffix) : error(fs::createTemporaryFile("heddle", suffix, path)) {}
  ~TemporaryFile() {
    if (!error)
      fs::remove(path);
  }
  std::error_code error;
};
} // namespace

static Error describeFailure(const Ptxas &ptxas, const ProcessResult &result,
                             const AssembleOptions &options) {
  if (result.timedOut)
    return Error{ErrorCode::Unsupported, "ptxas did not end within " + seconds(options.timeout) +
                                             " and was stopped (" + ptxas.path + ")"};
  if (result.signal != 0)
    return Error{ErrorCode::Io, "ptxas was killed by signal " + std::to_string(result.signal) +
                                    " (" + strsignal(result.signal) + "; " + ptxas.path + ")" +
                                    (result.signal == 9 ? "; is the machine out of memory?" : "")};
  std::vector<StringRef> errors;
  llvm::SmallVector<StringRef> all;
  StringRef(result.output).split(all, '\n');
  for (StringRef line : all)
    if (line.contains("error") || line.contains("fatal"))
      errors.push_back(line.trim());
  std::string text = errors.empty() ? result.output : llvm::join(errors, "\n");
  return Error{ErrorCode::InvalidArgument,
               "ptxas failed with status " + std::to_string(result.exitCode) +
                   (StringRef(text).trim().empty() ? " and said nothing (" + ptxas.path + ")"
                                                   : ":\n  " + shortened(text))};
}

/// Whether a file is machine code for a GPU, whole as far as its header tells; else what is wrong.
static std::string checkCubin(StringRef file) {
  using namespace llvm::ELF;
  constexpr uint16_t cudaMachine = 190; // EM_CUDA, System V ABI, "e_machine"
  Elf64_Ehdr header;
  if (file.size() < sizeof(header))
    return "got " + std::to_string(file.size()) + " bytes";
  std::memcpy(&header, file.data(), sizeof(header));
  if (!header.checkMagic())
    return "got a file that begins with " + llvm::toHex(file.take_front(4), /*LowerCase=*/true);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return "got class " + std::to_string(header.e_ident[EI_CLASS]) + " and byte order " +
           std::to_string(header.e_ident[EI_DATA]);
  if (header.e_machine != cudaMachine)
    return "got machine " + std::to_string(header.e_machine);
  for (auto [offset, bytes] : {std::pair<uint64_t, uint64_t>{
                                   header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize},
                               {header.e_phoff, uint64_t{header.e_phnum} * header.e_phentsize}})
    if (offset > file.size() || bytes > file.size() - offset)
      return "got " + std::to_string(file.size()) + " bytes with a table at " +
             std::to_string(offset) + ", as if it was cut off";
  return "";
}

/// Runs ptxas and packs what it made: the length of its output, a newline, output, cubin.
static Expected<std::string> run(const Ptxas &ptxas, const std::string &ptx,
                                 const std::vector<std::string> &flags,
                                 const AssembleOptions &options) {
  TemporaryFile in("ptx"), out("cubin");
  if (in.error || out.error)
    return Error{ErrorCode::Io,
                 "cannot make a temporary file: " + (in.error ? in.error : out.error).message()};
  std::error_code ec;
  llvm::raw_fd_ostream stream(in.path, ec);
  stream << ptx;
  stream.close();
  if (ec || stream.has_error()) {
    stream.clear_error();
    return Error{ErrorCode::Io, "cannot write " + std::string(in.path)};
  }
  std::vector<std::string> argv = {ptxas.path};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {std::string(in.path), "-o", std::string(out.path)});
  auto result = runProcess(argv, options.timeout);
  if (!result)
    return result.takeError();
  if (!result->succeeded())
    return describeFailure(ptxas, *result, options);
  auto cubin = llvm::MemoryBuffer::getFile(out.path, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!cubin || (*cubin)->getBufferSize() == 0)
    return Error{ErrorCode::Io, "ptxas ended well but wrote nothing (" + ptxas.path + ")"};
  if (std::string wrong = checkCubin((*cubin)->getBuffer()); !wrong.empty())
    return Error{ErrorCode::Damaged,
                 "ptxas ended well but what it wrote is no cubin: expected a 64-bit little-endian "
                 "ELF file of machine 190, " +
                     wrong + " (" + ptxas.path + ")"};
  return std::to_string(result->output.size()) + "\n" + result->output +
         (*cubin)->getBuffer().str();
}

static bool unpack(StringRef packed, Assembly &assembly) {
  auto [length, rest] = packed.split('\n');
  size_t size;
  if (length.getAsInteger(10, size) || size > rest.size())
    return false;
  assembly.output = rest.take_front(size).str();
  assembly.cubin = rest.drop_front(size).str();
  return true;
}

Expected<Assembly> assemble(const Ptxas &ptxas, const std::string &ptx,
                            const target::Target &target, const AssembleOptions &options,
                            const Cache &cache) {
  std::vector<std::string> flags = {"-v", "-O3", "-arch=" + std::string(target.name)};
  if (options.lineInfo)
    flags.push_back("-lineinfo");
  std::string key = Cache::key({cacheFormat, ptxas.identity, llvm::join(flags, " "), ptx});
  Assembly assembly;
  std::optional<std::string> packed = cache.get(key);
  assembly.cached = packed && unpack(*packed, assembly);
  if (!assembly.cached) {
    auto made = run(ptxas, ptx, flags, options);
    if (!made)
      return made.takeError();
    cache.put(key, *made);
    unpack(*made, assembly);
  }
  assembly.reports = parsePtxasOutput(assembly.output);
  for (const PtxasReport &report : assembly.reports)
    if (std::string losses = explainLosses(report); !losses.empty())
      assembly.losses.push_back(
          {report.entry,
           "ptxas accepts " + report.entry + ", but it would not run as meant:\n  " + losses});
  return assembly;
}

} // namespace heddle
