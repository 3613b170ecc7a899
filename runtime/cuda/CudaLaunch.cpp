//===- CudaLaunch.cpp - images, entries, tensor maps, launches ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include <cstring>

namespace heddle::rt::cu {

namespace {

/// Portable cluster size; more needs the function's consent (CUDA programming
/// guide, thread block clusters).
constexpr unsigned portableCluster = 8;
constexpr unsigned maxParams = 256;
/// The first driver that captures programmatic dependent launches into graphs (CUDA 12.3
/// release notes).
constexpr int overlapVersion = 12030;

class CudaImage final : public Image {
public:
  CudaImage(const Driver &driver, Context context) : driver(driver), context(context) {}
  ~CudaImage() override {
    if (Scope scope(driver, context); scope.result == Success && module)
      driver.moduleUnload(module);
  }
  const Driver &driver;
  Context context;
  Module module = nullptr;
};

class CudaEntry final : public Entry {
public:
  unsigned residentPerMultiprocessor() const override { return resident; }
  unsigned clusteredMultiprocessors() const override { return clustered; }
  EntryDesc desc;
  Function function = nullptr;
  unsigned resident = 0, clustered = 0;
  unsigned clusterSize = 1;
};

/// pkg::DType to the driver's; tensor cores see tf32 and f8 through these too.
bool mapType(uint8_t dtype, TensorMapType &type) {
  static constexpr TensorMapType types[] = {MapF32, MapF16, MapBF16, MapU8, MapU8,
                                            MapU8,  MapI32, MapI64,  MapF64};
  if (dtype >= std::size(types))
    return false;
  type = types[dtype];
  return true;
}

} // namespace

Status CudaDevice::loadImage(const ImageDesc &desc, std::unique_ptr<Image> &image) {
  Scope scope(driver, context);
  if (scope.result != Success)
    return driver.status(scope.result, text("use ", deviceInfo.name));
  auto made = std::make_unique<CudaImage>(driver, context);
  char log[4096] = "";
  JitOption options[] = {JitErrorLog, JitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  // The driver reads PTX up to its terminating zero and cubins by their header.
  std::string terminated;
  const void *data = desc.cubin.data();
  if (!desc.useCubin) {
    terminated = desc.ptx;
    data = terminated.c_str();
  }
  Result result = driver.moduleLoadDataEx(&made->module, data, 2, options, values);
  if (result != Success) {
    made->module = nullptr;
    log[sizeof(log) - 1] = '\0';
    std::string_view detail(log);
    while (!detail.empty() && (detail.back() == '\n' || detail.back() == ' '))
      detail.remove_suffix(1);
    return driver.status(result,
                         text("load the ", desc.useCubin ? "cubin" : "PTX", " for ", desc.target,
                              " on ", deviceInfo.name, detail.empty() ? "" : " (", detail,
                              detail.empty() ? "" : ")"));
  }
  image = std::move(made);
  return {};
}

Status CudaDevice::findEntry(Image &image, const EntryDesc &desc, std::unique_ptr<Entry> &entry) {
  Scope scope(driver, context);
  auto made = std::make_unique<CudaEntry>();
  made->desc = desc;
  made->clusterSize = desc.cluster[0] * desc.cluster[1] * desc.cluster[2];
  unsigned threads = desc.block[0] * desc.block[1] * desc.block[2];
  Result result = scope.result;
  if (result == Success)
    result = driver.moduleGetFunction(&made->function, static_cast<CudaImage &>(image).module,
                                      desc.name.c_str());
  if (result != Success)
    return driver.status(result, text("find entry '", desc.name, "' in its image"));
  if (desc.params.size() > maxParams)
    return Status::error(HEDDLE_OUT_OF_RANGE,
                         text("expected at most ", maxParams, " parameters of entry '", desc.name,
                              "', got ", desc.params.size()));
  if (desc.mustBeResident || made->clusterSize > 1)
    if (!driver.launchKernelEx)
      return Status::error(HEDDLE_UNAVAILABLE,
                           text("entry '", desc.name,
                                "' needs clusters or co-residency: expected a driver of CUDA 11.8 "
                                "or newer, found ",
                                driver.version / 1000, '.', driver.version % 1000 / 10));

  // Loaded lazily, a function would be loaded by its first launch, which waits for what runs: for a
  // kernel, maybe, that waits for this one.
  int staticShared = 0, maxThreads = 0;
  if (driver.funcLoad)
    result = driver.funcLoad(made->function);
  if (result == Success)
    result = driver.funcGetAttribute(&staticShared, StaticSharedBytes, made->function);
  if (result == Success)
    result = driver.funcGetAttribute(&maxThreads, MaxThreadsPerBlock, made->function);
  if (result != Success)
    return driver.status(result, text("query entry '", desc.name, "'"));
  if (uint64_t need = desc.sharedBytes + uint64_t(staticShared);
      need > deviceInfo.sharedBytesPerBlock)
    return Status::error(HEDDLE_OUT_OF_RANGE,
                         text("entry '", desc.name, "' needs ", need,
                              " bytes of shared memory a block, ", deviceInfo.name, " has ",
                              deviceInfo.sharedBytesPerBlock));
  if (threads > unsigned(maxThreads))
    return Status::error(HEDDLE_OUT_OF_RANGE,
                         text("entry '", desc.name, "' needs blocks of ", threads,
                              " threads, its registers allow ", maxThreads));
  result = driver.funcSetAttribute(made->function, MaxDynamicSharedBytes, int(desc.sharedBytes));
  if (result == Success && made->clusterSize > portableCluster)
    result = driver.funcSetAttribute(made->function, NonPortableClusterSize, 1);
  if (result != Success)
    return driver.status(result, text("prepare entry '", desc.name, "'"));
  // Only a hint: where the driver cannot tell, the launch itself will.
  int resident = 0;
  if (driver.occupancy(&resident, made->function, int(threads), desc.sharedBytes) == Success)
    made->resident = unsigned(resident);
  if (made->clusterSize > 1 && made->resident && driver.maxActiveClusters) {
    LaunchAttribute attribute{};
    attribute.id = LaunchClusterDimension;
    attribute.value.cluster = {desc.cluster[0], desc.cluster[1], desc.cluster[2]};
    LaunchConfig config{
        desc.cluster[0], desc.cluster[1],  desc.cluster[2], desc.block[0], desc.block[1],
        desc.block[2],   desc.sharedBytes, nullptr,         &attribute,    1};
    int clusters = 0;
    if (driver.maxActiveClusters(&clusters, made->function, &config) == Success && clusters > 0)
      made->clustered = unsigned(clusters) * made->clusterSize / made->resident;
  }
  entry = std::move(made);
  return {};
}

Status CudaDevice::encodeTensorMap(const TensorMapDesc &desc, TensorMapBytes &map) {
  static_assert(sizeof(TensorMap) == sizeof(map.bytes));
  if (!driver.tensorMapEncodeTiled)
    return Status::error(HEDDLE_UNAVAILABLE,
                         text("tensor maps need a driver of CUDA 12.0 or newer, found ",
                              driver.version / 1000, '.', driver.version % 1000 / 10));
  TensorMapType type;
  if (!mapType(desc.dtype, type))
    return Status::error(HEDDLE_INVALID_PACKAGE,
                         text("unknown element type ", desc.dtype, " of a tensor map"));
  int promotion = desc.l2Promotion == 64    ? 1
                  : desc.l2Promotion == 128 ? 2
                  : desc.l2Promotion == 256 ? 3
                                            : 0;
  const uint32_t elementStrides[TensorMapDesc::maxRank] = {1, 1, 1, 1, 1};
  TensorMap encoded;
  Scope scope(driver, context);
  Result result = scope.result;
  if (result == Success)
    result = driver.tensorMapEncodeTiled(&encoded, type, desc.rank,
                                         reinterpret_cast<void *>(desc.address), desc.dims.data(),
                                         desc.strides.data(), desc.box.data(), elementStrides,
                                         /*interleave=*/0, desc.swizzle, promotion, /*fill=*/0);
  if (result != Success) {
    std::string dims, strides, box;
    for (unsigned i = 0; i < desc.rank; ++i) {
      dims += text(i ? "x" : "", desc.dims[i]);
      box += text(i ? "x" : "", desc.box[i]);
      if (i + 1 < desc.rank)
        strides += text(i ? "," : "", desc.strides[i]);
    }
    return driver.status(result, text("encode a tensor map of ", dims, " elements, strides ",
                                      strides, " bytes, box ", box, ", swizzle ", desc.swizzle));
  }
  std::memcpy(map.bytes.data(), &encoded, sizeof(encoded));
  return {};
}

Status CudaDevice::launch(Entry &entry, const LaunchDesc &launch, rt::Stream stream) {
  auto &e = static_cast<CudaEntry &>(entry);
  const EntryDesc &desc = e.desc;
  void *params[maxParams];
  for (size_t i = 0; i < desc.params.size(); ++i)
    params[i] = const_cast<std::byte *>(launch.params.data()) + desc.params[i].offset;

  Scope scope(driver, context);
  Result result = scope.result;
  if (result == Success && driver.launchKernelEx) {
    LaunchAttribute attributes[3] = {};
    unsigned count = 0;
    if (e.clusterSize > 1) {
      attributes[count].id = LaunchClusterDimension;
      attributes[count++].value.cluster = {desc.cluster[0], desc.cluster[1], desc.cluster[2]};
    }
    if (desc.mustBeResident && launch.cooperative) {
      attributes[count].id = LaunchCooperative;
      attributes[count++].value.cooperative = 1;
    }
    if (launch.overlap && !desc.mustBeResident && driver.version >= overlapVersion) {
      attributes[count].id = LaunchProgrammaticSerialization;
      attributes[count++].value.programmaticSerialization = 1;
    }
    LaunchConfig config{launch.grid[0],
                        launch.grid[1],
                        launch.grid[2],
                        desc.block[0],
                        desc.block[1],
                        desc.block[2],
                        desc.sharedBytes,
                        static_cast<cu::Stream>(stream),
                        count ? attributes : nullptr,
                        count};
    result = driver.launchKernelEx(&config, e.function, params, nullptr);
  } else if (result == Success) {
    result = driver.launchKernel(e.function, launch.grid[0], launch.grid[1], launch.grid[2],
                                 desc.block[0], desc.block[1], desc.block[2], desc.sharedBytes,
                                 static_cast<cu::Stream>(stream), params, nullptr);
  }
  if (result == Success)
    return {};
  return driver.status(result, text("launch '", desc.name, "' with grid ", launch.grid[0], 'x',
                                    launch.grid[1], 'x', launch.grid[2], " on ", deviceInfo.name));
}

} // namespace heddle::rt::cu
