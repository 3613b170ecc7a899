//===- Check.cpp - results against the reference --------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Groups.h"
#include "heddle/Package/Numeric.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>

namespace heddle::run {

namespace {

// A sample: whole tiles, the corners first, and single points.
constexpr int64_t sampleTile = 64, sampleTiles = 24, samplePoints = 4096;
/// Points of one call of the reference, and operations a core that auto mode spends.
constexpr int64_t boxPoints = int64_t(1) << 18;
constexpr double operationsPerCore = 4e9;

uint64_t next(uint64_t &state) {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t x = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ull;
  return x ^ (x >> 29);
}

bool isFloat(pkg::DType type) { return type < pkg::DType::i8 || type == pkg::DType::f64; }

/// Prints how far a long check is, at most once a second.
class Progress {
public:
  Progress(bool quiet, int64_t total) : quiet(quiet), total(total) {}
  ~Progress() {
    if (shown)
      std::fputs("\n", stderr);
  }
  void at(int64_t done) {
    auto now = std::chrono::steady_clock::now();
    if (quiet || now - last < std::chrono::seconds(1))
      return;
    last = now;
    shown = true;
    std::fprintf(stderr, "\rchecking: %3d %%",
                 int(100.0 * double(done) / double(std::max<int64_t>(total, 1))));
    std::fflush(stderr);
  }

private:
  bool quiet, shown = false;
  int64_t total;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

/// Compares points as they come and keeps the sums.
class Comparison {
public:
  Comparison(const TensorData &tensor, std::span<const uint8_t> device)
      : tensor(tensor), device(device) {}

  void add(std::span<const int64_t> point, double reference) {
    if (pkg::isAnything(reference))
      return;
    int64_t offset = start;
    for (size_t i = 0; i < point.size(); ++i)
      offset += point[i] * tensor.strides[i];
    pkg::DType type = tensor.arg->dtype();
    double got = pkg::loadElement(type, device.data() + tensor.begin +
                                            uint64_t(offset) * tensor.elementBytes());
    ++points;
    if (std::isnan(got) || std::isnan(reference)) {
      if (nans++ == 0)
        remember(firstNan, point, got, reference);
      return;
    }
    double rounded = pkg::roundTo(type, reference);
    double error = got == rounded ? 0 : std::abs(got - reference);
    if (std::isinf(error) || (error != 0 && std::isinf(reference))) {
      if (infinities++ == 0)
        remember(firstInfinity, point, got, reference);
      return;
    }
    if (std::isfinite(reference))
      referenceSquares += reference * reference;
    errorSquares += error * error;
    if (points == 1 || error > worstError) {
      worstError = error;
      remember(worst, point, got, reference);
    }
    // The bound needs the root mean square, which is known only at the end: keep the worst
    // of both parts of it.
    double excess = error - elementTolerance * std::abs(reference);
    if (excess > worstExcess) {
      worstExcess = excess;
      remember(mostExcess, point, got, reference);
    }
  }

  struct Place {
    std::vector<int64_t> point;
    double got = 0, reference = 0;
    std::string text() const {
      char numbers[96];
      std::snprintf(numbers, sizeof(numbers), ": expected %.9g, got %.9g", reference, got);
      return pointText(point) + numbers;
    }
  };

  /// Points that follow count from `origin`.
  void moveTo(std::span<const int64_t> origin) {
    shift.assign(origin.begin(), origin.end()), start = 0;
    for (size_t i = 0; i < origin.size(); ++i)
      start += origin[i] * tensor.strides[i];
  }

  double elementTolerance = 0;
  int64_t points = 0, nans = 0, infinities = 0;
  double errorSquares = 0, referenceSquares = 0, worstError = 0, worstExcess = 0;
  Place worst, mostExcess, firstNan, firstInfinity;

private:
  void remember(Place &place, std::span<const int64_t> point, double got, double reference) {
    place.point.assign(point.begin(), point.end());
    for (size_t i = 0; i < shift.size(); ++i)
      place.point[i] += shift[i];
    place.got = got;
    place.reference = reference;
  }
  const TensorData &tensor;
  std::span<const uint8_t> device;
  std::vector<int64_t> shift;
  int64_t start = 0; ///< elements
};

/// Steps `index` through a box, row-major; false at the end.
bool advance(std::vector<int64_t> &index, std::span<const int64_t> origin,
             std::span<const int64_t> extent) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < origin[i] + extent[i])
      return true;
    index[i] = origin[i];
  }
  return false;
}

Expected<void> compareBox(const pkg::Reference &reference, std::vector<int64_t> origin,
                          std::vector<int64_t> extent, unsigned threads, Comparison &comparison) {
  int64_t count = 1;
  for (int64_t size : extent)
    count *= size;
  std::vector<double> values(static_cast<size_t>(count));
  if (auto done = reference.evaluateBox(origin, extent, values, threads); !done)
    return done;
  std::vector<int64_t> point = origin;
  for (double value : values) {
    comparison.add(point, value);
    advance(point, origin, extent);
  }
  return {};
}

/// All points, in slabs of about boxPoints.
Expected<void> compareAll(const pkg::Reference &reference, const Options &options,
                          Comparison &comparison) {
  std::span<const int64_t> shape = reference.shape();
  std::vector<int64_t> origin(shape.size()), extent(shape.begin(), shape.end());
  // Cut dimensions from the outermost in until a slab is small enough.
  int64_t inner = 1;
  size_t cut = shape.size();
  while (cut > 0 && inner * shape[cut - 1] <= boxPoints)
    inner *= shape[--cut];
  if (cut > 0) {
    extent[cut - 1] = std::max<int64_t>(1, boxPoints / inner);
    for (size_t i = 0; i + 1 < cut; ++i)
      extent[i] = 1;
  }
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  Progress progress(options.quiet, total);
  for (;;) {
    std::vector<int64_t> box = extent;
    for (size_t i = 0; i < shape.size(); ++i)
      box[i] = std::min(extent[i], shape[i] - origin[i]);
    if (auto done = compareBox(reference, origin, box, options.threads, comparison); !done)
      return done;
    progress.at(comparison.points);
    size_t i = shape.size();
    while (i-- > 0) {
      origin[i] += extent[i];
      if (origin[i] < shape[i])
        break;
      origin[i] = 0;
    }
    if (i == size_t(-1))
      return {};
  }
}

/// The corners of the last two dimensions, random tiles, random points; fewer for each of `parts`.
Expected<void> compareSample(const pkg::Reference &reference, const Options &options,
                             Comparison &comparison, int64_t parts = 1) {
  const int64_t tiles = std::max<int64_t>(sampleTiles / parts, 4);
  const int64_t count = std::max<int64_t>(samplePoints / parts, 64);
  std::span<const int64_t> shape = reference.shape();
  size_t rank = shape.size();
  uint64_t state = options.seed * 77 + 5;
  Progress progress(options.quiet, tiles * sampleTile * sampleTile + count);
  for (int64_t tile = 0; tile < tiles; ++tile) {
    std::vector<int64_t> origin(rank), extent(rank, 1);
    for (size_t i = 0; i < rank; ++i) {
      bool matrix = i + 2 >= rank;
      extent[i] = matrix ? std::min(sampleTile, shape[i]) : 1;
      int64_t most = shape[i] - extent[i];
      // The first tiles are the corners; bit by bit, low end or high end.
      bool high = tile >> (rank - 1 - i) & 1;
      origin[i] = tile < 8 ? (high ? most : 0) : int64_t(next(state) % uint64_t(most + 1));
    }
    if (auto done = compareBox(reference, origin, extent, options.threads, comparison); !done)
      return done;
    progress.at(comparison.points);
  }
  std::vector<int64_t> points;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t size : shape)
      points.push_back(int64_t(next(state) % uint64_t(size)));
  std::vector<double> values(static_cast<size_t>(count));
  reference.evaluate(points, values, options.threads);
  for (int64_t i = 0; i < count; ++i)
    comparison.add(std::span(points).subspan(size_t(i) * rank, rank), values[size_t(i)]);
  return {};
}

/// Whether a kernel may leave elements unwritten: then comparing finds those that it may not.
bool leavesElements(const pkg::Kernel &kernel) {
  return kernel.nodes() && std::any_of(kernel.nodes()->begin(), kernel.nodes()->end(), [](const pkg::RefNode *node) {
           return node->op() == pkg::RefOp::anything;
         });
}

/// Whether an element is to be written.
using Owned = std::function<bool(std::span<const int64_t>)>;

/// Elements of a floating type that still hold the pattern from before the run; or, with
/// `written`, those that do not. Of those that `owned`, when given, holds for.
int64_t countUnwritten(const TensorData &tensor, std::span<const uint8_t> device,
                       std::vector<int64_t> &first, const Owned &owned = {}, bool written = false) {
  if (!isFloat(tensor.arg->dtype()) || tensor.readBack)
    return 0;
  uint8_t pattern[8];
  std::memset(pattern, guardByte, sizeof(pattern));
  int64_t count = 0;
  std::vector<int64_t> origin(tensor.shape.size()), point = origin;
  for (int64_t left = tensor.elements(); left > 0; --left) {
    int64_t offset = 0;
    for (size_t i = 0; i < point.size(); ++i)
      offset += point[i] * tensor.strides[i];
    const bool same =
        std::memcmp(device.data() + tensor.begin + uint64_t(offset) * tensor.elementBytes(),
                    pattern, tensor.elementBytes()) == 0;
    if (same != written && (!owned || owned(point)) && count++ == 0)
      first = point;
    advance(point, origin, tensor.shape);
  }
  return count;
}

std::string numberText(const char *format, double a, double b) {
  char text[128];
  std::snprintf(text, sizeof(text), format, a, b);
  return text;
}

void judge(const Comparison &comparison, const Tolerance &tolerance, CheckResult &result) {
  result.points = comparison.points;
  result.maxAbsError = comparison.worstError;
  double norm = std::sqrt(comparison.referenceSquares);
  result.relativeError =
      norm > 0 ? std::sqrt(comparison.errorSquares) / norm : std::sqrt(comparison.errorSquares);
  result.tolerance = tolerance.relative;
  auto fail = [&](std::string what) { result.problems.push_back(std::move(what)); };
  if (comparison.nans)
    fail(std::to_string(comparison.nans) + " values are not a number, first at " +
         comparison.firstNan.text());
  if (comparison.infinities)
    fail(std::to_string(comparison.infinities) + " infinities differ, first at " +
         comparison.firstInfinity.text());
  // Written so that a NaN would fail.
  if (!(result.relativeError <= tolerance.relative))
    fail(numberText("expected a relative error of at most %.3g, got %.3g", tolerance.relative,
                    result.relativeError) +
         "; worst at " + comparison.worst.text());
  double rms = comparison.points ? norm / std::sqrt(double(comparison.points)) : 0;
  if (comparison.worstExcess > tolerance.element * rms)
    fail("an element is off by more than its type allows, at " + comparison.mostExcess.text());
}

/// Whether an element of a group's result is in the rows of one: a bit for each row.
Owned ownedByGroups(const Problem &problem, size_t arg) {
  const pkg::GroupBounds &bounds = *problem.groups;
  const pkg::GroupView *view = nullptr;
  for (const pkg::GroupView *v : *problem.kernel->groups()->views())
    if (v->arg() == arg)
      view = v;
  if (!view || view->rows_dim() < 0)
    return [](auto) { return true; };
  const auto rowsDim = size_t(view->rows_dim());
  if (view->group_dim() >= 0)
    return [&bounds, rowsDim, groupDim = size_t(view->group_dim())](auto point) {
      return point[rowsDim] < bounds.ranges[size_t(point[groupDim])].size;
    };
  std::vector<bool> rows(size_t(std::max<int64_t>(bounds.limit, 0)));
  for (const pkg::GroupBounds::Range &range : bounds.ranges)
    for (int64_t r = 0; r < range.size; ++r)
      rows[size_t(range.first + r)] = true;
  return
      [rows = std::move(rows), rowsDim](auto point) { return bool(rows[size_t(point[rowsDim])]); };
}

/// One group after the other; what is in none must be as it was.
Expected<void> compareGroups(const Problem &problem, size_t output,
                             std::span<const pkg::ArgBuffer> args, const pkg::ExprContext &sizes,
                             std::span<const uint8_t> device, const Options &options,
                             Comparison &comparison, CheckResult &result) {
  const size_t arg = problem.kernel->outputs()->Get(uint32_t(output))->arg();
  const TensorData &tensor = problem.tensors[arg];
  const Owned owned = ownedByGroups(problem, arg);
  std::vector<int64_t> first;
  if (int64_t unwritten = countUnwritten(tensor, device, first, owned))
    result.problems.push_back(std::to_string(unwritten) + " elements were never written, first " +
                              pointText(first));
  const Owned others = [&](std::span<const int64_t> point) { return !owned(point); };
  if (int64_t written = countUnwritten(tensor, device, first, others, /*written=*/true))
    result.problems.push_back(std::to_string(written) +
                              " elements outside of all groups were "
                              "written, first " +
                              pointText(first));
  const pkg::GroupBounds &bounds = *problem.groups;
  const bool contracted = problem.kernel->groups()->contracted();
  for (size_t g = 0; g < bounds.ranges.size(); ++g) {
    const int64_t size = bounds.ranges[g].size;
    if (!size && !contracted)
      continue;
    const pkg::GroupArgs group = pkg::groupArgs(*problem.kernel, args, bounds, g);
    auto reference =
        pkg::Reference::create(*problem.kernel, output, group.args, sizes,
                               contracted ? std::optional<int64_t>(size) : std::nullopt);
    if (!reference)
      return reference.takeError();
    comparison.moveTo(group.origins[arg]);
    auto done = result.sampled
                    ? compareSample(*reference, options, comparison, int64_t(bounds.ranges.size()))
                    : compareAll(*reference, options, comparison);
    if (!done)
      return done;
  }
  return {};
}

/// What the kernel says of the groups: 0, or 1 + the number of the first bad one.
void checkStatus(const Problem &problem, std::span<const uint8_t> device, CheckResult &result) {
  const TensorData &tensor = problem.tensors[size_t(problem.kernel->groups()->status())];
  int32_t got = 0;
  std::memcpy(&got, device.data() + tensor.begin, sizeof(got));
  result.points = 1;
  if (const int64_t expected = problem.groups->firstBad + 1; got != expected)
    result.problems.push_back("expected the state of the groups to be " + std::to_string(expected) +
                              ", got " + std::to_string(got));
  result.ok = result.problems.empty();
}

} // namespace

std::string pointText(std::span<const int64_t> point) {
  std::string text = "(";
  for (int64_t index : point)
    text += (text.size() > 1 ? ", " : "") + std::to_string(index);
  return text + ")";
}

Tolerance toleranceOf(const Problem &problem, pkg::DType output) {
  // Roughly: 1 to 2 units in the last place over the whole, 4 of one element.
  Tolerance tolerance;
  switch (output) {
  case pkg::DType::f64:
  case pkg::DType::f32:
    tolerance = {1e-4, 1e-3};
    break;
  case pkg::DType::f16:
    tolerance = {1e-3, 4e-3};
    break;
  case pkg::DType::bf16:
    tolerance = {4e-3, 1.6e-2};
    break;
  case pkg::DType::f8e4m3:
    tolerance = {5e-2, 0.13};
    break;
  case pkg::DType::f8e5m2:
    tolerance = {1e-1, 0.26};
    break;
  case pkg::DType::i8:
  case pkg::DType::i32:
  case pkg::DType::i64:
    return {0, 0};
  }
  // f32 operands of a contraction go through the tensor cores as tf32 (10 mantissa bits).
  bool contracts = false, f32Matrix = false;
  if (problem.kernel->nodes())
    for (const pkg::RefNode *node : *problem.kernel->nodes())
      contracts |= node->op() == pkg::RefOp::contract;
  for (const TensorData &tensor : problem.tensors)
    f32Matrix |= tensor.arg && !tensor.output && tensor.arg->dtype() == pkg::DType::f32 &&
                 tensor.shape.size() >= 2;
  if (contracts && f32Matrix)
    tolerance = {std::max(tolerance.relative, 2e-3), std::max(tolerance.element, 1.6e-2)};
  // Tensor cores may keep 13 bits of the sum of 128 products of 8-bit operands.
  bool bytes = false;
  for (const TensorData &tensor : problem.tensors)
    bytes |= tensor.arg && !tensor.output && tensor.elementBytes() == 1;
  if (contracts && bytes)
    tolerance = {std::max(tolerance.relative, 5e-4), std::max(tolerance.element, 4e-3)};
  return tolerance;
}

/// A problem's tensors and scalars as the reference takes them.
static std::vector<pkg::ArgBuffer> buffersOf(const Problem &problem,
                                             std::vector<std::array<uint8_t, 8>> &scalars) {
  std::vector<pkg::ArgBuffer> args;
  scalars.resize(problem.scalars.size());
  for (size_t i = 0; i < problem.tensors.size(); ++i) {
    const TensorData &tensor = problem.tensors[i];
    pkg::ArgBuffer buffer;
    buffer.dtype = problem.kernel->args()->Get(uint32_t(i))->dtype();
    buffer.data = tensor.first();
    if (!tensor.arg) {
      pkg::storeElement(buffer.dtype, scalars[i].data(), problem.scalars[i]);
      buffer.data = scalars[i].data();
    }
    buffer.shape = tensor.shape;
    buffer.strides = tensor.strides;
    args.push_back(buffer);
  }
  return args;
}

Expected<CheckResult> checkOutput(const Problem &problem, size_t output,
                                  std::span<const uint8_t> device, const Options &options,
                                  int64_t multiprocessors) {
  return checkOutput(std::span(&problem, 1), 0, output, device, options, multiprocessors);
}

Expected<CheckResult> checkOutput(std::span<const Problem> ranks, size_t rank, size_t output,
                                  std::span<const uint8_t> device, const Options &options,
                                  int64_t multiprocessors) {
  const Problem &problem = ranks[rank];
  std::vector<std::vector<pkg::ArgBuffer>> args;
  std::vector<std::vector<std::array<uint8_t, 8>>> scalars(ranks.size());
  for (size_t r = 0; r < ranks.size(); ++r)
    args.push_back(buffersOf(ranks[r], scalars[r]));
  const std::vector<std::span<const pkg::ArgBuffer>> all(args.begin(), args.end());
  pkg::ExprContext sizes{problem.symbols, multiprocessors, int64_t(ranks.size())};
  auto reference = pkg::Reference::create(*problem.kernel, output, all, rank, sizes);
  if (!reference && !problem.groups)
    return reference.takeError();
  const size_t argument = problem.kernel->outputs()->Get(uint32_t(output))->arg();
  const TensorData &tensor = problem.tensors[argument];

  CheckResult result;
  result.output = tensor.arg->name()->str();
  result.total = tensor.elements();
  if (problem.groups && problem.kernel->groups()->status() == int64_t(argument)) {
    // A kernel with an empty result is not launched, and says nothing.
    if (std::any_of(problem.tensors.begin(), problem.tensors.end(),
                    [](const TensorData &t) { return t.arg && t.output && t.elements() == 0; })) {
      result.total = 0;
      return result;
    }
    checkStatus(problem, device, result);
    return result;
  }
  Tolerance tolerance = toleranceOf(problem, tensor.arg->dtype());
  if (options.tolerance)
    tolerance.relative = *options.tolerance;
  double operations = double(result.total) * 16;
  if (problem.kernel->flops())
    if (auto flops = pkg::evaluateExpr(problem.kernel->flops(), sizes))
      operations += double(*flops) * usedOperations(problem);
  unsigned cores =
      options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  result.sampled = options.check == CheckMode::Sampled ||
                   (options.check == CheckMode::Auto && operations > operationsPerCore * cores);

  Comparison comparison(tensor, device);
  comparison.elementTolerance = tolerance.element;
  std::vector<int64_t> first;
  const bool whole = !problem.groups && !leavesElements(*problem.kernel);
  if (int64_t unwritten = whole ? countUnwritten(tensor, device, first) : 0)
    result.problems.push_back(std::to_string(unwritten) + " elements were never written, first " +
                              pointText(first));
  auto done = result.total == 0 ? Expected<void>()
              : problem.groups  ? compareGroups(problem, output, args[rank], sizes, device, options,
                                                comparison, result)
              : result.sampled  ? compareSample(*reference, options, comparison)
                                : compareAll(*reference, options, comparison);
  if (!done)
    return done.takeError();
  judge(comparison, tolerance, result);
  result.ok = result.problems.empty();
  return result;
}

Expected<CheckResult> checkAgainst(const Problem &problem, size_t index,
                                   std::span<const uint8_t> device, const NpyArray &expected,
                                   const Options &options) {
  const TensorData &tensor = problem.tensors[index];
  CheckResult result;
  result.output = tensor.arg->name()->str();
  result.total = tensor.elements();
  if (expected.shape != tensor.shape)
    return Error{ErrorCode::InvalidArgument, "expected the reference of " + result.output +
                                                 " to have the shape " + pointText(tensor.shape) +
                                                 ", got " + pointText(expected.shape)};
  const pkg::DType type = tensor.arg->dtype();
  if (!npyConvertible(expected.type, type))
    return Error{ErrorCode::InvalidArgument, "expected the reference of " + result.output +
                                                 " to hold numbers, or the bits of its own type"};
  // Raw bits are of the output's type; numbers keep their precision.
  const bool bits = expected.type == npyTypeFor(type);
  const pkg::DType held = bits ? type : pkg::DType::f64;
  Tolerance tolerance = toleranceOf(problem, type);
  if (options.tolerance)
    tolerance.relative = *options.tolerance;
  Comparison comparison(tensor, device);
  comparison.elementTolerance = tolerance.element;
  std::vector<int64_t> first;
  if (int64_t unwritten = countUnwritten(tensor, device, first))
    result.problems.push_back(std::to_string(unwritten) + " elements were never written, first " +
                              pointText(first));
  const std::vector<int64_t> strides = expected.strides();
  std::vector<int64_t> origin(tensor.shape.size()), point = origin;
  for (int64_t left = result.total; left > 0; --left) {
    int64_t at = 0;
    for (size_t i = 0; i < point.size(); ++i)
      at += point[i] * strides[i];
    uint8_t element[8] = {};
    npyStore(expected, at, held, element);
    comparison.add(point, pkg::loadElement(held, element));
    advance(point, origin, tensor.shape);
  }
  judge(comparison, tolerance, result);
  result.ok = result.problems.empty();
  return result;
}

std::string changedOutside(const TensorData &tensor, std::span<const uint8_t> device) {
  std::vector<uint8_t> seen(device.begin(), device.end());
  // Put back what the kernel may change; the rest must be as it was.
  if (tensor.output) {
    std::vector<int64_t> origin(tensor.shape.size()), point = origin;
    for (int64_t left = tensor.elements(); left > 0; --left) {
      int64_t offset = 0;
      for (size_t i = 0; i < point.size(); ++i)
        offset += point[i] * tensor.strides[i];
      uint64_t at = tensor.begin + uint64_t(offset) * tensor.elementBytes();
      std::memcpy(seen.data() + at, tensor.host.data() + at, tensor.elementBytes());
      advance(point, origin, tensor.shape);
    }
  }
  int64_t changed = 0, first = 0;
  for (size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != tensor.host[i] && changed++ == 0)
      first = int64_t(i) - int64_t(tensor.begin);
  if (!changed)
    return {};
  return std::to_string(changed) + " bytes changed " +
         (tensor.output ? "outside the elements of " : "in the input ") +
         tensor.arg->name()->str() + ", first at byte " + std::to_string(first) + " from its start";
}

} // namespace heddle::run
