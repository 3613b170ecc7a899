//===- Problem.cpp - sizes, strides and host memory of one run ------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"
#include "heddle/Package/Numeric.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace heddle::run {

namespace {

template <typename T> size_t sizeOf(const T *vector) { return vector ? vector->size() : 0; }

Error usage(std::string message) { return Error{ErrorCode::InvalidArgument, std::move(message)}; }

std::string listOf(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : "x") + std::to_string(value);
  return text.empty() ? "scalar" : text;
}

/// The memory of this machine.
uint64_t machineBytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? uint64_t(pages) * uint64_t(bytes) : UINT64_MAX;
}

std::string mebibytes(uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// Finds the values of the run-time sizes.
class Resolver {
public:
  Resolver(const pkg::Kernel &kernel, const Options &options,
           const std::map<std::string, NpyArray> &files)
      : kernel(kernel), options(options), files(files), values(sizeOf(kernel.symbols())) {}

  Expected<Problem> resolve();

private:
  std::string symbolName(size_t i) const { return kernel.symbols()->Get(uint32_t(i))->str(); }
  /// The size that is the number of ranks; past the end when there is none.
  size_t worldSize() const {
    size_t i = talks(kernel) ? 0 : values.size();
    while (i < values.size() && symbolName(i) != "world")
      ++i;
    return i;
  }
  Expected<void> checkNames();
  Expected<void> set(size_t symbol, int64_t value, const std::string &from);
  Expected<void> fromCommandLine();
  Expected<void> fromFiles();
  Expected<void> shapeOf(const pkg::Arg &arg, TensorData &tensor);
  Expected<void> stridesOf(const pkg::Arg &arg, TensorData &tensor);
  Expected<void> place(TensorData &tensor);

  const pkg::Kernel &kernel;
  const Options &options;
  const std::map<std::string, NpyArray> &files;
  std::vector<std::optional<int64_t>> values;
  uint64_t hostBytes = 0; ///< that the tensors so far need
};

/// Every name on the command line must be one of the kernel's.
Expected<void> Resolver::checkNames() {
  std::string tensors, scalars;
  std::vector<std::string> tensorNames, scalarNames;
  for (const pkg::Arg *arg : *kernel.args()) {
    bool tensor = arg->kind() == pkg::ArgKind::tensor;
    (tensor ? tensorNames : scalarNames).push_back(arg->name()->str());
    std::string &list = tensor ? tensors : scalars;
    list += (list.empty() ? "" : ", ") + arg->name()->str();
  }
  auto known = [](const std::vector<std::string> &names, const std::string &name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  auto unknown = [&](const char *option, const std::string &name, const char *kind,
                     const std::string &list) {
    return usage(std::string(option) + ": expected one of the " + kind + " " +
                 (list.empty() ? "(none)" : list) + ", got " + name);
  };
  auto check = [&](const char *option, const auto &map, const std::vector<std::string> &names,
                   const char *kind, const std::string &list) -> Expected<void> {
    for (const auto &[name, value] : map)
      if (!known(names, name))
        return unknown(option, name, kind, list);
    return {};
  };
  if (auto ok = check("--input", options.inputs, tensorNames, "tensors", tensors); !ok)
    return ok;
  if (auto ok = check("--output", options.outputs, tensorNames, "tensors", tensors); !ok)
    return ok;
  if (auto ok = check("--strides", options.strides, tensorNames, "tensors", tensors); !ok)
    return ok;
  if (auto ok = check("--offset", options.offsets, tensorNames, "tensors", tensors); !ok)
    return ok;
  return check("--scalar", options.scalars, scalarNames, "scalars", scalars);
}

Expected<void> Resolver::set(size_t symbol, int64_t value, const std::string &from) {
  if (!values[symbol])
    values[symbol] = value;
  if (*values[symbol] != value)
    return usage(from + ": expected " + symbolName(symbol) + " to be " +
                 std::to_string(*values[symbol]) + ", got " + std::to_string(value));
  return {};
}

Expected<void> Resolver::fromCommandLine() {
  std::string names;
  for (size_t i = 0; i < values.size(); ++i)
    names += (i ? ", " : "") + symbolName(i);
  if (worldSize() < values.size())
    values[worldSize()] = std::max(options.ranks, 1);
  for (const auto &[name, value] : options.sizes) {
    size_t i = 0;
    while (i < values.size() && symbolName(i) != name)
      ++i;
    if (i < values.size() && i == worldSize())
      return usage("--size world: expected the number of ranks to be given by -n");
    if (i == values.size())
      return usage("--size: expected one of the sizes " +
                   (names.empty() ? "(none: all are fixed)" : names) + ", got " + name);
    values[i] = value;
  }
  return {};
}

Expected<void> Resolver::fromFiles() {
  for (const pkg::Arg *arg : *kernel.args()) {
    auto file = files.find(arg->name()->str());
    if (file == files.end())
      continue;
    const std::vector<int64_t> &shape = file->second.shape;
    std::string where = "input " + arg->name()->str();
    if (shape.size() != sizeOf(arg->shape()))
      return usage(where + ": expected " + std::to_string(sizeOf(arg->shape())) +
                   " dimensions, the file has " + std::to_string(shape.size()) + " (" +
                   listOf(shape) + ")");
    for (uint32_t i = 0; i < shape.size(); ++i) {
      const pkg::Dim &dim = *arg->shape()->Get(i);
      if (dim.symbol() >= 0) {
        if (auto ok = set(size_t(dim.symbol()), shape[i], where); !ok)
          return ok;
      } else if (dim.value() != shape[i]) {
        return usage(where + ": expected size " + std::to_string(i) + " to be " +
                     std::to_string(dim.value()) + ", the file has " + listOf(shape));
      }
    }
    if (!npyConvertible(file->second.type, arg->dtype()))
      return usage(where + ": cannot take raw bits of type " +
                   std::string(npyTypeName(file->second.type)) + " as " +
                   pkg::EnumNameDType(arg->dtype()));
  }
  return {};
}

Expected<void> Resolver::shapeOf(const pkg::Arg &arg, TensorData &tensor) {
  for (uint32_t i = 0; i < sizeOf(arg.shape()); ++i) {
    const pkg::Dim &dim = *arg.shape()->Get(i);
    if (dim.symbol() >= 0 && !values[size_t(dim.symbol())])
      return usage("expected --size " + symbolName(size_t(dim.symbol())) +
                   "=<number>: no input file gives it");
    int64_t size = dim.symbol() >= 0 ? *values[size_t(dim.symbol())] : dim.value();
    if (size < 0)
      return usage("expected sizes of at least 0, got " + std::to_string(size));
    tensor.shape.push_back(size);
  }
  return {};
}

Expected<void> Resolver::stridesOf(const pkg::Arg &arg, TensorData &tensor) {
  size_t rank = tensor.shape.size();
  std::string where = "argument " + arg.name()->str();
  if (auto given = options.strides.find(arg.name()->str()); given != options.strides.end()) {
    tensor.strides = given->second;
    if (tensor.strides.size() != rank)
      return usage("--strides " + arg.name()->str() + ": expected " + std::to_string(rank) +
                   " strides, got " + std::to_string(tensor.strides.size()));
    for (int64_t stride : tensor.strides)
      if (stride < 0)
        return usage("--strides " + arg.name()->str() + ": expected strides of at least 0, got " +
                     std::to_string(stride));
  } else {
    // From the inside out: what the manifest fixes, what a size names, else without gaps.
    tensor.strides.assign(rank, 0);
    int64_t next = 1;
    for (size_t i = rank; i-- > 0;) {
      int64_t stride = next;
      if (sizeOf(arg.strides())) {
        const pkg::Dim &dim = *arg.strides()->Get(uint32_t(i));
        if (dim.symbol() < 0)
          stride = dim.value();
        else if (values[size_t(dim.symbol())])
          stride = *values[size_t(dim.symbol())];
      }
      tensor.strides[i] = stride;
      if (__builtin_mul_overflow(stride, std::max<int64_t>(tensor.shape[i], 1), &next))
        return usage(where + ": its sizes are too large");
    }
  }
  for (size_t i = 0; i < rank && sizeOf(arg.strides()); ++i)
    if (int symbol = arg.strides()->Get(uint32_t(i))->symbol();
        symbol >= 0 && !values[size_t(symbol)])
      values[size_t(symbol)] = tensor.strides[i];
  return {};
}

Expected<void> Resolver::place(TensorData &tensor) {
  std::string name = tensor.arg->name()->str();
  uint64_t bytes = tensor.elementBytes(), last = 0;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    uint64_t span = 0;
    if (tensor.shape[i] > 0 && (__builtin_mul_overflow(uint64_t(tensor.shape[i] - 1),
                                                       uint64_t(tensor.strides[i]), &span) ||
                                __builtin_add_overflow(last, span, &last)))
      return usage("argument " + name + ": its sizes are too large");
  }
  auto offset = options.offsets.find(name);
  uint64_t skip = offset == options.offsets.end() ? 0 : uint64_t(offset->second);
  if (skip > guardBytes / 8)
    return usage("--offset " + name + ": expected 0 to " + std::to_string(guardBytes / 8) +
                 " elements, got " + std::to_string(offset->second));
  if (last > (uint64_t(1) << 40) / bytes)
    return Error{ErrorCode::OutOfMemory, "argument " + name + ": needs more than 1 TiB"};
  tensor.begin = guardBytes + skip * bytes;
  // Filling more than there is would not fail, but end the process or its neighbours. Beside this
  // copy there is one of what comes back from the device.
  hostBytes += 2 * ((last + 1) * bytes);
  if (const uint64_t have = machineBytes(); hostBytes > have)
    return Error{ErrorCode::OutOfMemory,
                 "argument " + name + ": needs, with those before it, " + mebibytes(hostBytes) +
                     " of host memory for two copies, the machine has " + mebibytes(have)};
  tensor.host.assign(tensor.begin + (last + 1) * bytes + guardBytes, guardByte);
  return {};
}

/// Whether the reference computation loads this argument.
bool isLoaded(const pkg::Kernel &kernel, size_t arg) {
  if (kernel.nodes())
    for (const pkg::RefNode *node : *kernel.nodes())
      if ((node->op() == pkg::RefOp::load || node->op() == pkg::RefOp::gather) &&
          node->arg() == arg)
        return true;
  return false;
}

Expected<Problem> Resolver::resolve() {
  if (auto ok = checkNames(); !ok)
    return ok.takeError();
  if (auto ok = fromCommandLine(); !ok)
    return ok.takeError();
  if (auto ok = fromFiles(); !ok)
    return ok.takeError();
  Problem problem;
  problem.kernel = &kernel;
  problem.tensors.resize(kernel.args()->size());
  problem.scalars.assign(kernel.args()->size(), 1.0);
  for (uint32_t i = 0; i < kernel.args()->size(); ++i) {
    const pkg::Arg &arg = *kernel.args()->Get(i);
    if (arg.kind() == pkg::ArgKind::scalar) {
      if (auto given = options.scalars.find(arg.name()->str()); given != options.scalars.end())
        problem.scalars[i] = given->second;
      continue;
    }
    TensorData &tensor = problem.tensors[i];
    tensor.arg = &arg;
    tensor.output = arg.output();
    tensor.readBack = tensor.output && isLoaded(kernel, i);
    if (auto ok = shapeOf(arg, tensor); !ok)
      return ok.takeError();
    if (auto ok = stridesOf(arg, tensor); !ok)
      return ok.takeError();
    if (auto ok = place(tensor); !ok)
      return ok.takeError();
  }
  for (size_t i = 0; i < values.size(); ++i)
    problem.symbols.push_back(values[i].value_or(0));
  return problem;
}

uint64_t hash(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Where an argument holds indices of a dimension of another one: that dimension's size; else 0.
int64_t indexed(const Problem &problem, size_t arg) {
  const auto *nodes = problem.kernel->nodes();
  for (uint32_t i = 0; nodes && i < nodes->size(); ++i) {
    const pkg::RefNode &node = *nodes->Get(i);
    for (uint32_t k = 1; node.op() == pkg::RefOp::gather && k < node.inputs()->size(); ++k) {
      const pkg::RefNode &index = *nodes->Get(node.inputs()->Get(k));
      if (index.op() == pkg::RefOp::load && index.arg() == arg)
        return problem.tensors[node.arg()].shape[k - 1];
    }
  }
  return 0;
}

/// An index, or, one time in 16, the -1 that stands for none.
double randomIndex(uint64_t key, int64_t size) {
  const uint64_t bits = hash(key);
  return bits % 16 == 0 ? -1 : double((bits >> 4) % uint64_t(size));
}

/// In (0, 1).
double unit(uint64_t bits) { return (double(bits >> 11) + 0.5) * 0x1p-53; }

double randomValue(Random random, uint64_t key) {
  uint64_t bits = hash(key);
  switch (random) {
  case Random::Uniform:
    return 2 * unit(bits) - 1;
  case Random::Integers:
    return double(bits % 9) - 4;
  case Random::Normal:
    break;
  }
  return std::sqrt(-2 * std::log(unit(bits))) * std::cos(6.283185307179586 * unit(hash(bits)));
}

} // namespace

int64_t TensorData::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t offsetOf(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides,
                 int64_t index) {
  int64_t offset = 0;
  for (size_t i = shape.size(); i-- > 0;) {
    offset += index % shape[i] * strides[i];
    index /= shape[i];
  }
  return offset;
}

void parallel(int64_t count, unsigned threads, const std::function<void(int64_t, int64_t)> &body) {
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = unsigned(std::clamp<int64_t>(count / 4096, 1, threads));
  std::vector<std::thread> pool;
  for (unsigned t = 1; t < threads; ++t)
    pool.emplace_back(body, count * t / threads, count * (t + 1) / threads);
  body(0, count / threads);
  for (std::thread &thread : pool)
    thread.join();
}

Expected<Problem> makeProblem(const pkg::Kernel &kernel, const Options &options,
                              const std::map<std::string, NpyArray> &files) {
  return Resolver(kernel, options, files).resolve();
}

bool talks(const pkg::Kernel &kernel) {
  for (const pkg::Arg *arg : *kernel.args())
    if (arg->symmetric())
      return true;
  for (const pkg::Variant *variant : *kernel.variants())
    for (const pkg::Param *param : *variant->params())
      if (param->kind() == pkg::ParamKind::comm || param->kind() == pkg::ParamKind::signals)
        return true;
  return false;
}

void fillInputs(Problem &problem, const Options &options,
                const std::map<std::string, NpyArray> &files, unsigned rank) {
  for (size_t i = 0; i < problem.tensors.size(); ++i) {
    TensorData &tensor = problem.tensors[i];
    if (!tensor.arg || (tensor.output && !tensor.readBack))
      continue;
    auto file = files.find(tensor.arg->name()->str());
    const NpyArray *array = file == files.end() ? nullptr : &file->second;
    std::vector<int64_t> fileStrides = array ? array->strides() : std::vector<int64_t>();
    uint64_t base = hash(options.seed * 1000003 + i) + rank * 0xd1342543de82ef95ull;
    bool integral = tensor.arg->dtype() >= pkg::DType::i8 && tensor.arg->dtype() <= pkg::DType::i64;
    Random random = integral ? Random::Integers : options.random;
    const int64_t indices = integral ? indexed(problem, i) : 0;
    parallel(tensor.elements(), options.threads, [&](int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e) {
        uint8_t *to = tensor.first() +
                      uint64_t(offsetOf(tensor.shape, tensor.strides, e)) * tensor.elementBytes();
        if (array)
          npyStore(*array, offsetOf(tensor.shape, fileStrides, e), tensor.arg->dtype(), to);
        else
          pkg::storeElement(tensor.arg->dtype(), to,
                            indices ? randomIndex(base + uint64_t(e), indices)
                                    : randomValue(random, base + uint64_t(e)));
      }
    });
  }
}

void storeAs(pkg::DType from, const void *source, pkg::DType to, void *target) {
  if (from == to)
    std::memcpy(target, source, pkg::dtypeBytes(from));
  else
    pkg::storeElement(to, target, pkg::loadElement(from, source));
}

} // namespace heddle::run
