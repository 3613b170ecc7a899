//===- Output.cpp - writing what was compiled ------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Output.h"
#include "heddle/Package/CSource.h"
#include "heddle/Package/Writer.h"
#include "heddle/Pipelines/EmbedObject.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace heddle::tools {

using llvm::StringRef;
namespace path = llvm::sys::path;

/// Names and contents.
using Files = std::vector<std::pair<std::string, std::string>>;

static Expected<void> writeToStandardOutput(StringRef content) {
  llvm::outs() << content;
  llvm::outs().flush();
  if (!llvm::outs().has_error())
    return {};
  llvm::outs().clear_error();
  return Error{ErrorCode::Io, "cannot write to standard output"};
}

/// Atomically; devices such as /dev/null, which cannot be replaced, are written to; - is standard
/// output.
static Expected<void> writeFile(const std::string &name, StringRef content) {
  if (name == "-")
    return writeToStandardOutput(content);
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(name, status) ||
      status.type() == llvm::sys::fs::file_type::regular_file ||
      status.type() == llvm::sys::fs::file_type::directory_file)
    return pkg::writeFileAtomically(name, std::string_view(content));
  std::error_code ec;
  llvm::raw_fd_ostream stream(name, ec);
  stream << content;
  stream.close();
  if (!ec && !stream.has_error())
    return {};
  std::string cause = (ec ? ec : stream.error()).message();
  stream.clear_error();
  return Error{ErrorCode::Io, "cannot write " + name + ": " + cause};
}

static StringRef asText(const std::vector<uint8_t> &bytes) {
  return StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

/// Whether several results cannot share this output: a file, there or to be made.
static bool isOneFile(const std::string &output) {
  if (output.empty() || output == "-" || StringRef(output).ends_with("/"))
    return false;
  llvm::sys::fs::file_status status;
  return llvm::sys::fs::status(output, status) ||
         status.type() == llvm::sys::fs::file_type::regular_file;
}

static bool isFolder(const std::string &output) {
  return StringRef(output).ends_with("/") || llvm::sys::fs::is_directory(output);
}

/// Whether a file with the results for several targets can be fed back as it is: each is a module
/// of its own that names its target.
static bool mayShareFile(Emit emit) {
  return emit == Emit::Warp || emit == Emit::Roles || emit == Emit::NVVM || emit >= Emit::Package;
}

Expected<void> checkOutput(const CompilerOptions &options, size_t results) {
  if (results <= 1 || mayShareFile(options.emit) || !isOneFile(options.output))
    return {};
  return Error{ErrorCode::InvalidArgument,
               "expected -o to be a folder for " + std::to_string(results) +
                   " results of --emit=" + std::string(emitName(options.emit)) +
                   ", one for each kernel and target, got the file " + options.output +
                   "; a name that ends in / makes a folder"};
}

static Expected<void> writeFiles(const Files &files) {
  for (const auto &[name, content] : files)
    if (auto written = writeFile(name, content); !written)
      return written;
  return {};
}

/// The name of the input without folder and extension.
static std::string stemOf(const CompilerOptions &options) {
  return options.input == "-" ? "kernels" : path::stem(options.input).str();
}

/// -o, or the input's name with `extension`; inside the folder when -o is one.
static std::string outputPath(const CompilerOptions &options, const std::string &extension) {
  if (options.output.empty())
    return stemOf(options) + extension;
  if (isFolder(options.output)) {
    llvm::SmallString<128> file(options.output);
    path::append(file, stemOf(options) + extension);
    return std::string(file);
  }
  return options.output;
}

/// As --save-temps names them.
static std::string extensionOf(Emit emit) {
  switch (emit) {
  case Emit::LLVM:
    return ".ll";
  case Emit::Ptx:
    return ".ptx";
  case Emit::Cubin:
    return ".cubin";
  default:
    return "." + std::string(emitName(emit)) + ".mlir";
  }
}

/// What a job made, when that is no package.
static std::string contentOf(const CompilerOptions &options, Job &job) {
  if (options.emit == Emit::Cubin)
    return job.units[0]->compiled.cubin;
  std::string text = job.text;
  for (auto &unit : job.units)
    text += unit->text;
  return text;
}

/// One file a job, by kernel and target.
static Expected<void> writeToFolder(const CompilerOptions &options,
                                    std::vector<std::unique_ptr<Job>> &jobs) {
  Files files;
  for (auto &job : jobs) {
    llvm::SmallString<128> file(options.output);
    path::append(file, job->fileStem() + extensionOf(options.emit));
    for (const auto &[name, content] : files)
      if (name == file.str())
        return Error{ErrorCode::InvalidArgument, "expected kernels of different names, got two of "
                                                 "@" +
                                                     job->getKernel().name +
                                                     " that would be written to " + name};
    files.emplace_back(std::string(file), contentOf(options, *job));
  }
  return writeFiles(files);
}

static Expected<void> writeText(const CompilerOptions &options,
                                std::vector<std::unique_ptr<Job>> &jobs) {
  const char *comment = options.emit == Emit::LLVM ? "; " : "// ";
  std::string text;
  for (auto &job : jobs) {
    if (jobs.size() > 1)
      text += (text.empty() ? "" : "\n") + (comment + job->describe()) + "\n";
    text += contentOf(options, *job);
  }
  return writeFile(options.output.empty() ? "-" : options.output, text);
}

static Expected<std::vector<uint8_t>> makePackage(std::vector<std::unique_ptr<Job>> &jobs) {
  Packager packager("heddlec " HEDDLE_VERSION);
  for (auto &job : jobs)
    for (auto &unit : job->units)
      if (auto added = packager.add(std::move(unit->compiled)); !added)
        return added.takeError();
  return pkg::packageBytes(packager.package());
}

/// <stem>.h and <stem>.c with the launch functions, <stem>.o with the package itself.
static Expected<void> writeC(const CompilerOptions &options, std::vector<uint8_t> bytes) {
  std::string file = outputPath(options, ".h");
  llvm::SmallString<128> base(file);
  for (StringRef extension : {".h", ".c", ".o"})
    if (path::extension(file) == extension)
      path::replace_extension(base, "");
  std::string stem = path::filename(base).str();
  auto object = embedInObject(bytes, pkg::bytesSymbol(stem));
  if (!object)
    return object.takeError();
  auto package = pkg::PackageFile::fromBytes(std::move(bytes));
  if (!package)
    return package.takeError();
  auto source = pkg::generateCSource(*package, stem, /*bytesInSource=*/false);
  if (!source)
    return source.takeError();
  std::string prefix(base);
  return writeFiles({{prefix + ".o", std::move(*object)},
                     {prefix + ".c", std::move(source->source)},
                     {prefix + ".h", std::move(source->header)}});
}

Expected<void> writeResults(const CompilerOptions &options,
                            std::vector<std::unique_ptr<Job>> &jobs) {
  if (StringRef(options.output).ends_with("/"))
    if (std::error_code ec = llvm::sys::fs::create_directories(options.output))
      return Error{ErrorCode::Io, "cannot make the folder " + options.output + ": " + ec.message()};
  if (options.emit < Emit::Package &&
      (isFolder(options.output) || (options.emit == Emit::Cubin && jobs.size() > 1)))
    return writeToFolder(options, jobs);
  if (isText(options.emit))
    return writeText(options, jobs);
  if (options.emit == Emit::Cubin)
    return writeFile(outputPath(options, ".cubin"), contentOf(options, *jobs[0]));
  auto bytes = makePackage(jobs);
  if (!bytes)
    return bytes.takeError();
  if (options.emit == Emit::C)
    return writeC(options, std::move(*bytes));
  return writeFile(outputPath(options, ".hdl"), asText(*bytes));
}

std::string listTargets() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const target::Target *target : target::allTargets())
    stream << llvm::format("%-9s", std::string(target->name).c_str()) << target->summary << "\n";
  return text;
}

std::string listChips() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "chip             target    SMs  MHz   memory GB/s  NVLink GB/s  16-bit Tflop/s\n";
  for (const target::Chip &chip : target::allChips())
    stream << llvm::format("%-16s %-9s %3u  %4u  %11.0f  %11.0f  %14.0f\n",
                           std::string(chip.name).c_str(), std::string(chip.target).c_str(),
                           chip.sms, chip.boostMHz, chip.memoryGBps, chip.nvlinkGBps,
                           chip.tensorTflops16);
  return text;
}

std::string summarise(const Job &job) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const auto &unit : job.units)
    for (const PtxasReport &report : unit->reports)
      stream << job.describe() << ": " << report.entry << " uses " << report.registers
             << " registers, " << report.barriers << " barriers, " << report.sharedBytes
             << " bytes of static shared memory" << (unit->fromCache ? " (from the cache)" : "")
             << "\n";
  return text;
}

std::string warningsOf(const Job &job) {
  std::string text;
  for (const auto &unit : job.units)
    for (const PtxasReport &report : unit->reports)
      for (const std::string &warning : report.warnings)
        text += "heddlec: warning: " + job.describe() + ": " + warning + "\n";
  return text;
}

} // namespace heddle::tools
