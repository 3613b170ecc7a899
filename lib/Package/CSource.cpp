//===- CSource.cpp - packages as C code -----------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "heddle/Package/CSource.h"

#include "heddle/Package/Writer.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <set>
#include <vector>

using namespace heddle;
using namespace heddle::pkg;

namespace {

// Words that a C11 or C++20 compiler takes for something else, sorted; also what GNU C predefines.
constexpr std::string_view reservedWords[] = {
    "alignas",   "alignof",   "and",           "and_eq",       "asm",
    "auto",      "bitand",    "bitor",         "bool",         "break",
    "case",      "catch",     "char",          "char16_t",     "char32_t",
    "char8_t",   "class",     "co_await",      "co_return",    "co_yield",
    "compl",     "concept",   "const",         "const_cast",   "consteval",
    "constexpr", "constinit", "continue",      "decltype",     "default",
    "delete",    "do",        "double",        "dynamic_cast", "else",
    "enum",      "explicit",  "export",        "extern",       "false",
    "float",     "for",       "friend",        "goto",         "i386",
    "if",        "inline",    "int",           "linux",        "long",
    "mutable",   "namespace", "new",           "noexcept",     "not",
    "not_eq",    "nullptr",   "operator",      "or",           "or_eq",
    "private",   "protected", "public",        "register",     "reinterpret_cast",
    "requires",  "restrict",  "return",        "short",        "signed",
    "sizeof",    "static",    "static_assert", "static_cast",  "struct",
    "switch",    "template",  "this",          "thread_local", "throw",
    "true",      "try",       "typedef",       "typeid",       "typename",
    "typeof",    "union",     "unix",          "unsigned",     "using",
    "virtual",   "void",      "volatile",      "wchar_t",      "while",
    "xor",       "xor_eq"};

/// A C identifier close to `name`.
std::string identifier(std::string_view name) {
  std::string result;
  for (char c : name)
    result.push_back(std::isalnum(static_cast<unsigned char>(c)) ? c : '_');
  // A leading underscore may be the implementation's.
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])) || result[0] == '_')
    result.insert(0, "k");
  if (std::binary_search(std::begin(reservedWords), std::end(reservedWords), result))
    result.push_back('_');
  return result;
}

/// Hands out identifiers, each once.
class Names {
public:
  explicit Names(std::set<std::string> taken = {}) : taken(std::move(taken)) {}
  std::string unique(std::string_view name) {
    const std::string base = identifier(name);
    std::string candidate = base;
    for (int i = 2; !taken.insert(candidate).second; ++i)
      candidate = base + "_" + std::to_string(i);
    return candidate;
  }

private:
  std::set<std::string> taken;
};

/// A string literal's contents.
std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '"' || c == '\\' || c == '?') // '?': no trigraphs
      result.push_back('\\');
    result.push_back(c);
  }
  return result;
}

/// Text that is safe between comment marks: printable ASCII, lines kept.
std::string commentText(std::string_view text) {
  std::string result;
  for (char c : text) {
    const bool opens = c == '*' && result.ends_with('/');
    const bool closes = c == '/' && (result.ends_with('*') || result.ends_with("??")); // trigraph
    if (opens || closes)
      result.push_back(' ');
    result.push_back(c == '\n' || (c >= 0x20 && c < 0x7f) ? c : '?');
  }
  return result;
}

/// A block comment of lines that start with " * ".
std::string comment(std::string_view text) {
  std::string body = commentText(text), result = "/* ";
  while (!body.empty() && body.back() == '\n')
    body.pop_back();
  for (char c : body) {
    result.push_back(c);
    if (c == '\n')
      result += " * ";
  }
  return result + " */\n";
}

const char *dtypeConstant(DType type) {
  switch (type) {
  case DType::f32:
    return "HEDDLE_F32";
  case DType::f16:
    return "HEDDLE_F16";
  case DType::bf16:
    return "HEDDLE_BF16";
  case DType::f8e4m3:
    return "HEDDLE_F8E4M3";
  case DType::f8e5m2:
    return "HEDDLE_F8E5M2";
  case DType::i8:
    return "HEDDLE_I8";
  case DType::i32:
    return "HEDDLE_I32";
  case DType::i64:
    return "HEDDLE_I64";
  case DType::f64:
    break;
  }
  return "HEDDLE_F64";
}

/// The C type that a scalar argument is passed as.
const char *scalarType(DType type) {
  switch (type) {
  case DType::i8:
    return "int8_t";
  case DType::i32:
    return "int32_t";
  case DType::i64:
    return "int64_t";
  case DType::f64:
    return "double";
  default:
    return "float";
  }
}

/// One kernel's names in C.
struct KernelNames {
  std::string function;
  std::vector<std::string> symbols, args;
};

KernelNames namesOf(const Kernel &kernel, Names &functions) {
  KernelNames names;
  names.function = functions.unique(kernel.name()->string_view());
  Names parameters(
      {"module", "stream", "kernel", "status", "args", "options", "shapes", "strides"});
  if (kernel.symbols())
    for (const auto *symbol : *kernel.symbols())
      names.symbols.push_back(parameters.unique(symbol->string_view()));
  for (const Arg *arg : *kernel.args())
    names.args.push_back(parameters.unique(arg->name()->string_view()));
  return names;
}

std::string parameterOf(const Arg &arg, const std::string &name) {
  if (arg.kind() == ArgKind::scalar)
    return std::string(scalarType(arg.dtype())) + " " + name;
  return (arg.output() ? "void *" : "const void *") + name;
}

std::string prototype(const Kernel &kernel, const KernelNames &names) {
  std::string text =
      "heddle_status " + names.function + "_launch(heddle_module module, heddle_stream stream";
  for (const std::string &symbol : names.symbols)
    text += ",\n    int64_t " + symbol;
  for (uint32_t i = 0; i < names.args.size(); ++i)
    text += ",\n    " + parameterOf(*kernel.args()->Get(i), names.args[i]);
  return text + ")";
}

using Dims = flatbuffers::Vector<const Dim *>;

std::string dimList(const Dims *dims, const KernelNames &names) {
  std::string text;
  for (uint32_t i = 0; dims && i < dims->size(); ++i) {
    const Dim &dim = *dims->Get(i);
    text += (i ? ", " : "") + (dim.symbol() < 0 ? std::to_string(dim.value())
                                                : names.symbols[static_cast<size_t>(dim.symbol())]);
  }
  return text;
}

bool hasDims(const Dims *dims) { return dims && dims->size() != 0; }

std::string describeArg(const Arg &arg, const std::string &name, const KernelNames &names) {
  std::string text = name + ": " + (arg.output() ? "output, " : "") + EnumNameDType(arg.dtype());
  if (arg.kind() == ArgKind::scalar)
    return text + " scalar";
  text += " [" + dimList(arg.shape(), names) + "]";
  if (hasDims(arg.strides()))
    return text + ", strides [" + dimList(arg.strides(), names) + "] elements";
  return text + ", contiguous";
}

std::string kernelComment(const Kernel &kernel, const KernelNames &names) {
  std::string text = "Launches kernel " + kernel.name()->str() +
                     " on the device of `module`, ordered in `stream`, and returns\n"
                     "without waiting. Errors as of heddle_launch. Tensors are in device memory.\n";
  for (uint32_t i = 0; i < names.args.size(); ++i)
    text += "  " + describeArg(*kernel.args()->Get(i), names.args[i], names) + "\n";
  if (kernel.spec() && kernel.spec()->size() != 0)
    text += "\n" + kernel.spec()->str();
  return comment(text);
}

/// `{.kind = ..., ...}` of one argument.
std::string argInitializer(const Arg &arg, uint32_t index, const std::string &name) {
  const std::string number = std::to_string(index);
  std::string text = std::string("{.dtype = ") + dtypeConstant(arg.dtype());
  if (arg.kind() == ArgKind::scalar)
    return text + ", .kind = HEDDLE_SCALAR, .scalar = (double)" + name + "}";
  text += ", .kind = HEDDLE_TENSOR, .data = (void *)(uintptr_t)" + name;
  if (hasDims(arg.shape()))
    text += ", .rank = " + std::to_string(arg.shape()->size()) + ", .shape = shape_" + number;
  if (hasDims(arg.strides()))
    text += ",\n       .strides = strides_" + number;
  return text + "}";
}

std::string launchFunction(const Kernel &kernel, const KernelNames &names) {
  const auto &args = *kernel.args();
  std::string text = prototype(kernel, names) +
                     " {\n"
                     "  heddle_kernel kernel = NULL;\n"
                     "  heddle_status status = heddle_module_kernel(module, \"" +
                     escaped(kernel.name()->string_view()) +
                     "\", &kernel);\n"
                     "  if (status)\n"
                     "    return status;\n";
  std::string list;
  for (uint32_t i = 0; i < args.size(); ++i) {
    const std::string number = std::to_string(i);
    if (hasDims(args.Get(i)->shape()))
      text += "  const int64_t shape_" + number + "[] = {" + dimList(args.Get(i)->shape(), names) +
              "};\n";
    if (hasDims(args.Get(i)->strides()))
      text += "  const int64_t strides_" + number + "[] = {" +
              dimList(args.Get(i)->strides(), names) + "};\n";
    list += "      " + argInitializer(*args.Get(i), i, names.args[i]) + ",\n";
  }
  if (args.size() != 0)
    text += "  const heddle_arg args[] = {\n" + list + "  };\n";
  return text +
         "  const heddle_launch_options options = {.stream = stream};\n"
         "  return heddle_launch(kernel, " +
         (args.size() != 0 ? "args, sizeof args / sizeof args[0]" : "NULL, 0") +
         ", &options);\n"
         "}\n";
}

std::string byteArray(std::span<const uint8_t> bytes, const std::string &name) {
  constexpr size_t perLine = 24;
  std::string text = "/* Aligned so that the runtime reads it in place. */\n"
                     "_Alignas(16) const unsigned char " +
                     name + "[] = {";
  text.reserve(text.size() + bytes.size() * 4 + bytes.size() / perLine * 5);
  for (size_t i = 0; i < bytes.size(); ++i)
    text += (i % perLine == 0 ? "\n    " : "") + std::to_string(bytes[i]) + ",";
  return text + "\n};\nconst size_t " + name + "_size = sizeof " + name + ";\n";
}

std::string guardOf(const std::string &name) {
  std::string guard = name + "_HDL_H";
  for (char &c : guard)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return guard;
}

std::string banner(const PackageFile &package) {
  return comment("Generated by " + package->compiler_version()->str() +
                 " from a package; do not edit.");
}

} // namespace

std::string pkg::bytesSymbol(std::string_view stem) { return identifier(stem) + "_hdl"; }

Expected<CSource> pkg::generateCSource(const PackageFile &package, std::string_view stem,
                                       bool bytesInSource) {
  const bool plain = std::all_of(stem.begin(), stem.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-+.").find(c) != std::string_view::npos;
  });
  if (stem.empty() || !plain)
    return Error{
        ErrorCode::InvalidArgument,
        "expected a file name of letters, digits and '_', '-', '+', '.' for C code, got '" +
            std::string(stem) + "'"};
  const std::string name = identifier(stem);
  Names functions;
  const std::string guard = guardOf(name);
  CSource result;
  result.header =
      banner(package) + "#ifndef " + guard + "\n#define " + guard +
      "\n\n#include <heddle-rt/heddle.h>\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
      "/* The package (.hdl). */\nextern const unsigned char " +
      name + "_hdl[];\nextern const size_t " + name +
      "_hdl_size;\n\n"
      "/* heddle_module_load of it; the module is the caller's. */\nheddle_status " +
      name + "_load(heddle_device device, heddle_module *module);\n";
  result.source = banner(package) + "#include \"" + std::string(stem) + ".h\"\n\n";
  for (const Kernel *kernel : *package->kernels()) {
    const KernelNames names = namesOf(*kernel, functions);
    result.header += "\n" + kernelComment(*kernel, names) + prototype(*kernel, names) + ";\n";
    result.source += launchFunction(*kernel, names) + "\n";
  }
  result.header += "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* " + guard + " */\n";
  result.source += "heddle_status " + name +
                   "_load(heddle_device device, heddle_module *module) {\n"
                   "  return heddle_module_load(device, " +
                   name + "_hdl, " + name + "_hdl_size, module);\n}\n";
  if (bytesInSource)
    result.source += "\n" + byteArray(package.bytes(), name + "_hdl");
  return result;
}

Expected<void> pkg::writeCSource(const PackageFile &package, const std::string &path) {
  std::filesystem::path base(path);
  if (base.extension() == ".c" || base.extension() == ".h")
    base.replace_extension();
  Expected<CSource> text = generateCSource(package, base.filename().string());
  if (!text)
    return text.takeError().in(path);
  if (Expected<void> written = writeFileAtomically(base.string() + ".h", text->header); !written)
    return written;
  return writeFileAtomically(base.string() + ".c", text->source);
}
