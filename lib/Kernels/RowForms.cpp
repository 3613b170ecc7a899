//===- RowForms.cpp - how kernels that move tokens are cut up ===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In: rows, a target, maybe a schedule as text. Out: the forms, best first. Each rank takes the
// first whose constraints hold, so that they must not depend on the rank.
//
//===----------------------------------------------------------------------===//
#include "RankBuilder.h"
#include "dialects/Warp/Transforms/Roles.h"

using namespace mlir;

namespace heddle::kernels {

static LogicalResult parseField(RowSchedule &s, StringRef key, StringRef value,
                                function_ref<InFlightDiagnostic()> error) {
  if (key == "keep") {
    std::optional<warp::Keep> keep = warp::symbolizeKeep(value);
    if (!keep)
      return error() << "expected keep to be normal or stream, got " << value;
    s.keep = *keep;
    return success();
  }
  struct {
    StringRef name;
    int64_t *field, least, most;
  } fields[] = {{"ctas", &s.ctas, 1, 1024},
                {"warps", &s.warps, 1, 24},
                {"chunk", &s.chunk, 128, 65536},
                {"stages", &s.stages, 2, 32}};
  for (auto &[name, field, least, most] : fields)
    if (key == name) {
      if (value.getAsInteger(10, *field) || *field < least || *field > most)
        return error() << "expected " << key << " to be a number from " << least << " to " << most
                       << ", got " << value;
      return success();
    }
  return error() << "expected a field of ctas, warps, chunk, stages, keep in the schedule, got "
                 << key;
}

static LogicalResult check(const RowSchedule &s, int64_t elementBytes, const target::Target &target,
                           function_ref<InFlightDiagnostic()> error) {
  if (s.chunk % 128)
    return error() << "expected chunk to be a multiple of 128 bytes, got " << s.chunk;
  // 64 sums a thread at most leave registers for what is on its way.
  if (int64_t most = s.warps * 32 * 64 * elementBytes; s.chunk > most)
    return error() << "expected a chunk of at most " << most << " bytes with " << s.warps
                   << " warps, got " << s.chunk;
  int64_t bytes = warp::barrierBytes + s.stages * llvm::alignTo(s.chunk, warp::slotAlignment);
  if (bytes > target.sharedPerBlock)
    return error() << "expected stages x chunk to fit into the " << target.sharedPerBlock
                   << " bytes of shared memory of " << target.name << ", got " << bytes;
  return success();
}

FailureOr<SmallVector<RowForm>> rowForms(spec::KernelOp kernel, const BuildOptions &options,
                                         const spec::Size &size, Type element) {
  const target::Target &target = options.target;
  auto error = [&] { return kernel.emitError(); };
  StringRef text = options.schedule;
  if (text.empty() && kernel.getSchedule())
    text = *kernel.getSchedule();
  // A row is one piece where it fits: fewer, longer copies.
  constexpr int64_t longest = 32768, usual = 16384;
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  int64_t rowBytes = size.isDynamic() ? 0 : size.value * elementBytes;
  RowSchedule s;
  s.chunk = rowBytes && rowBytes <= longest ? llvm::alignTo(rowBytes, 128) : usual;
  s.chunk = std::min(s.chunk, s.warps * 32 * 64 * elementBytes);
  SmallVector<StringRef> fields;
  text.split(fields, ',', -1, /*KeepEmpty=*/false);
  for (StringRef field : fields) {
    auto [key, value] = field.trim().split('=');
    if (failed(parseField(s, key.trim(), value.trim(), error)))
      return failure();
  }
  int64_t slot = llvm::alignTo(s.chunk, warp::slotAlignment);
  if (!s.stages)
    s.stages = std::clamp<int64_t>((target.sharedPerBlock - warp::barrierBytes) / slot, 2, 16);
  if (failed(check(s, elementBytes, target, error)))
    return failure();

  bool bulk = target.has(target::Feature::BulkTensorCopy);
  bool fits = rowBytes % 16 == 0; // or is known at launch only
  SmallVector<RowForm> forms;
  if (fits)
    forms.push_back({bulk ? "bulk" : "threads", "", bulk, true, s});
  forms.push_back({"unaligned", fits ? "__unaligned" : "", false, false, s});
  return forms;
}

LogicalResult buildRowForms(OpBuilder &builder, spec::KernelOp kernel, const BuildOptions &options,
                            const spec::Size &size, Type element, DictionaryAttr interface,
                            function_ref<warp::KernelOp(const RowForm &)> make) {
  FailureOr<SmallVector<RowForm>> forms = rowForms(kernel, options, size, element);
  if (failed(forms))
    return failure();
  SmallVector<StringRef> names;
  for (const RowForm &form : *forms)
    names.push_back(form.name);
  if (failed(checkForm(kernel, options, names)))
    return failure();
  for (const RowForm &form : *forms) {
    if (!isWanted(options, form.name))
      continue;
    OpBuilder::InsertionGuard guard(builder);
    warp::KernelOp made = make(form);
    made->setAttr("heddle.interface", interface);
    made->setAttr("heddle.variant", builder.getStringAttr(form.name));
  }
  return success();
}

} // namespace heddle::kernels
