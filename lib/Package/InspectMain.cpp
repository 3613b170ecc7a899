//===- InspectMain.cpp - the command heddle-inspect -----------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "InspectFormat.h"

#include "heddle/Package/Inspect.h"
#include "heddle/Package/Writer.h"
#include "heddle/Support/CommandLine.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <ostream>

using namespace heddle;
using namespace heddle::pkg;
using namespace heddle::pkg::detail;

namespace fs = std::filesystem;

namespace {

/// What the command line says.
struct Request {
  std::string file, kernel, folder;
  bool json = false, spec = false, ptx = false, cubin = false;
};

void describeCommand(CLI::App &app, Request &request) {
  app.description("Shows what a Heddle package (.hdl) holds: kernels with their arguments, the "
                  "compiled forms\nfor each target with launch geometry, parameters, tensor maps, "
                  "constraints, schedule and roles,\nand the code images. Expressions are over the "
                  "kernel's run-time sizes.");
  app.footer("Examples:\n"
             "  heddle-inspect gemm.hdl                        everything, as text\n"
             "  heddle-inspect gemm.hdl --json | jq .kernels   everything, for scripts\n"
             "  heddle-inspect gemm.hdl --spec                 the specs that were compiled\n"
             "  heddle-inspect gemm.hdl --extract-ptx -o out   out/gemm.<target>.ptx");
  app.set_version_flag("--version", "heddle-inspect " HEDDLE_VERSION);
  app.add_option("FILE", request.file, "The package")->required();
  app.add_option("--kernel", request.kernel, "Only this kernel")->type_name("NAME");
  auto *json = app.add_flag("--json", request.json, "Print JSON");
  auto *spec =
      app.add_flag("--spec", request.spec, "Print the specs the kernels were compiled from");
  auto *ptx = app.add_flag("--extract-ptx", request.ptx, "Write the PTX of each image to a file");
  auto *cubin =
      app.add_flag("--extract-cubin", request.cubin, "Write the cubin of each image to a file");
  app.add_option("-o,--output", request.folder,
                 "The folder to extract to; made when missing (default: the current one)")
      ->type_name("DIR");
  json->excludes(spec)->excludes(ptx)->excludes(cubin);
  spec->excludes(ptx)->excludes(cubin);
}

/// The kernel asked for; nullptr stands for all.
Expected<const Kernel *> chosenKernel(const PackageFile &package, const Request &request) {
  if (request.kernel.empty())
    return nullptr;
  if (const Kernel *kernel = package.findKernel(request.kernel))
    return kernel;
  return Error{ErrorCode::NotFound, request.file + ": expected the name of a kernel (" +
                                        package.kernelNames() + "), got " + request.kernel};
}

Expected<void> extract(const PackageFile &package, const Request &request, const Kernel *only,
                       std::ostream &out) {
  const std::string folder = request.folder.empty() ? "." : request.folder;
  const std::string stem = fs::path(request.file).stem().string();
  for (ImageForm form : {ImageForm::Ptx, ImageForm::Cubin}) {
    if (!(form == ImageForm::Ptx ? request.ptx : request.cubin))
      continue;
    Expected<std::vector<std::string>> paths = extractImages(package, form, folder, stem, only);
    if (!paths)
      return paths.takeError();
    for (const std::string &path : *paths)
      out << path << "\n";
  }
  return {};
}

Expected<void> inspect(const Request &request, std::ostream &out) {
  Expected<PackageFile> package = PackageFile::fromFile(request.file);
  if (!package)
    return package.takeError();
  Expected<const Kernel *> only = chosenKernel(*package, request);
  if (!only)
    return only.takeError();
  if (request.ptx || request.cubin)
    return extract(*package, request, *only, out);
  out << (request.json   ? packageJson(*package, *only)
          : request.spec ? packageSpecs(*package, *only)
                         : describePackage(*package, *only));
  return {};
}

/// A target's name is printable ASCII, but it may not lead out of the folder.
std::string fileNamePart(std::string_view target) {
  std::string part(target);
  std::replace(part.begin(), part.end(), '/', '_');
  return part;
}

} // namespace

Expected<std::vector<std::string>> pkg::extractImages(const PackageFile &package, ImageForm form,
                                                      const std::string &folder,
                                                      const std::string &stem, const Kernel *only) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    return Error{ErrorCode::Io, folder + ": cannot make the folder: " + failed.message()};
  std::vector<std::string> paths;
  for (uint32_t i = 0; i < package->images()->size(); ++i) {
    const Image &image = *package->images()->Get(i);
    const bool present = form == ImageForm::Ptx || (image.cubin() && image.cubin()->size() != 0);
    if (!present || !usesImage(only, i))
      continue;
    const std::string base =
        folder + "/" + stem + "." + fileNamePart(image.target()->string_view());
    const std::string extension = form == ImageForm::Ptx ? ".ptx" : ".cubin";
    std::string path = base + extension;
    if (std::find(paths.begin(), paths.end(), path) != paths.end())
      path = base + "." + std::to_string(i) + extension;
    const Expected<void> written =
        form == ImageForm::Ptx
            ? writeFileAtomically(path, image.ptx()->string_view())
            : writeFileAtomically(path, std::span(image.cubin()->data(), image.cubin()->size()));
    if (!written)
      return written.error();
    paths.push_back(path);
  }
  if (paths.empty())
    return Error{
        ErrorCode::NotFound,
        form == ImageForm::Cubin
            ? "expected a cubin in the package, found only PTX (no ptxas was there when it "
              "was compiled)"
            : "expected an image in the package, found none"};
  return paths;
}

int pkg::inspectMain(int argc, const char *const *argv, std::ostream &out, std::ostream &err) {
  Request request;
  CLI::App app;
  app.name("heddle-inspect");
  describeCommand(app, request);
  try {
    if (auto empty = findEmptyArgument(argc, argv))
      throw CLI::ParseError(*empty, CLI::ExitCodes::InvalidError);
    app.parse(argc, argv);
    if (!request.folder.empty() && !request.ptx && !request.cubin)
      throw CLI::ValidationError("--output: expected --extract-ptx or --extract-cubin with it");
  } catch (const CLI::Success &success) {
    return app.exit(success, out, err);
  } catch (const CLI::ParseError &error) {
    err << "heddle-inspect: error: " << error.what() << "\n";
    return 2;
  }
  if (Expected<void> done = inspect(request, out); !done) {
    err << "heddle-inspect: error: " << done.error().message << "\n";
    return 1;
  }
  if (!out.flush()) {
    err << "heddle-inspect: error: cannot write the output\n";
    return 1;
  }
  return 0;
}
