//===- Npy.cpp - NumPy array files ----------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "heddle/Package/Numeric.h"
#include "heddle/Package/Writer.h"
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

namespace heddle::run {

namespace {

struct TypeRow {
  std::string_view name;
  NpyType type;
  unsigned bytes;
};
constexpr TypeRow typeRows[] = {{"<f2", NpyType::F16, 2}, {"<f4", NpyType::F32, 4},
                                {"<f8", NpyType::F64, 8}, {"|i1", NpyType::I8, 1},
                                {"|u1", NpyType::U8, 1},  {"<u2", NpyType::U16, 2},
                                {"<i4", NpyType::I32, 4}, {"<i8", NpyType::I64, 8}};
constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t maxRank = 32;

Error damaged(std::string message) { return Error{ErrorCode::Damaged, std::move(message)}; }

/// Reads the header's Python dictionary: the three keys NumPy writes, in any order.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}
  Expected<NpyArray> parse();

private:
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  bool take(char c) {
    skip();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  std::optional<std::string_view> quoted();
  std::optional<bool> boolean();
  Expected<std::vector<int64_t>> tuple();
  Expected<void> entry(std::string_view key, NpyArray &array);

  std::string_view text;
  size_t at = 0;
  bool haveType = false, haveOrder = false, haveShape = false;
};

std::optional<std::string_view> HeaderParser::quoted() {
  skip();
  if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
    return std::nullopt;
  size_t end = text.find(text[at], at + 1);
  if (end == std::string_view::npos)
    return std::nullopt;
  std::string_view value = text.substr(at + 1, end - at - 1);
  at = end + 1;
  return value;
}

std::optional<bool> HeaderParser::boolean() {
  skip();
  for (bool value : {true, false}) {
    std::string_view word = value ? "True" : "False";
    if (text.substr(at, word.size()) == word) {
      at += word.size();
      return value;
    }
  }
  return std::nullopt;
}

Expected<std::vector<int64_t>> HeaderParser::tuple() {
  std::vector<int64_t> shape;
  if (!take('('))
    return damaged("expected a shape like (2, 3) in the header");
  while (!take(')')) {
    skip();
    int64_t size = 0;
    auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
    if (error != std::errc() || size < 0)
      return damaged("expected a size of at least 0 in the header's shape");
    at = size_t(end - text.data());
    shape.push_back(size);
    if (shape.size() > maxRank)
      return damaged("expected at most 32 dimensions in the header's shape, got more");
    if (!take(',') && text.substr(at).find_first_not_of(" \n\t") != text.substr(at).find(')'))
      return damaged("expected ',' or ')' in the header's shape");
  }
  return shape;
}

Expected<void> HeaderParser::entry(std::string_view key, NpyArray &array) {
  if (key == "descr") {
    auto name = quoted();
    if (!name)
      return damaged("expected an element type like '<f4' in the header");
    for (const TypeRow &row : typeRows)
      if (row.name == *name) {
        array.type = row.type;
        haveType = true;
        return {};
      }
    return Error{ErrorCode::Unsupported,
                 "expected element type <f2, <f4, <f8, |i1, |u1, <u2, <i4 or <i8, got " +
                     std::string(*name)};
  }
  if (key == "fortran_order") {
    auto value = boolean();
    if (!value)
      return damaged("expected fortran_order to be True or False");
    array.columnMajor = *value;
    haveOrder = true;
    return {};
  }
  if (key != "shape")
    return damaged("unknown key '" + std::string(key) + "' in the header");
  auto shape = tuple();
  if (!shape)
    return shape.takeError();
  array.shape = std::move(*shape);
  haveShape = true;
  return {};
}

Expected<NpyArray> HeaderParser::parse() {
  NpyArray array;
  if (!take('{'))
    return damaged("expected a header that starts with '{'");
  while (!take('}')) {
    auto key = quoted();
    if (!key || !take(':'))
      return damaged("expected a key and ':' in the header");
    if (auto done = entry(*key, array); !done)
      return done.takeError();
    if (!take(',') && (skip(), at >= text.size() || text[at] != '}'))
      return damaged("expected ',' or '}' in the header");
  }
  if (!haveType || !haveOrder || !haveShape)
    return damaged("expected the keys descr, fortran_order and shape in the header");
  return array;
}

struct CloseFile {
  void operator()(FILE *file) const { std::fclose(file); }
};

} // namespace

int64_t NpyArray::size() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::vector<int64_t> NpyArray::strides() const {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    size_t dim = columnMajor ? i : shape.size() - 1 - i;
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

unsigned npyTypeBytes(NpyType type) { return typeRows[size_t(type)].bytes; }
std::string_view npyTypeName(NpyType type) { return typeRows[size_t(type)].name; }

Expected<NpyArray> parseNpy(std::span<const uint8_t> file) {
  if (file.size() < 10 || std::memcmp(file.data(), magic.data(), magic.size()) != 0)
    return damaged("expected a .npy file, found another beginning");
  unsigned version = file[6];
  if (version < 1 || version > 3)
    return Error{ErrorCode::Unsupported,
                 "expected .npy format 1, 2 or 3, got " + std::to_string(version)};
  size_t lengthBytes = version == 1 ? 2 : 4, start = 8 + lengthBytes, length = 0;
  if (file.size() < start)
    return damaged("the file ends in its header");
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= size_t(file[8 + i]) << (8 * i);
  if (length > file.size() - start)
    return damaged("the file ends in its header");
  auto array = HeaderParser({reinterpret_cast<const char *>(file.data()) + start, length}).parse();
  if (!array)
    return array.takeError();
  uint64_t need = npyTypeBytes(array->type), have = file.size() - start - length;
  for (int64_t size : array->shape)
    if (__builtin_mul_overflow(need, uint64_t(size), &need) || need > uint64_t(INT64_MAX))
      return damaged("the product of the sizes in the header is too large");
  if (need != have)
    return damaged("expected " + std::to_string(need) + " bytes of data, got " +
                   std::to_string(have));
  array->data.assign(file.begin() + ptrdiff_t(start + length), file.end());
  return array;
}

Expected<NpyArray> readNpy(const std::string &path) {
  std::unique_ptr<FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return Error{errno == ENOENT ? ErrorCode::NotFound : ErrorCode::Io,
                 path + ": " + std::strerror(errno)};
  std::vector<uint8_t> bytes;
  std::vector<uint8_t> chunk(size_t(1) << 20);
  while (size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get()))
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + ptrdiff_t(got));
  if (std::ferror(file.get()))
    return Error{ErrorCode::Io, path + ": " + std::strerror(errno)};
  auto array = parseNpy(bytes);
  if (!array)
    return array.takeError().in(path);
  return array;
}

std::vector<uint8_t> npyBytes(const NpyArray &array) {
  std::string shape;
  for (int64_t size : array.shape)
    shape += std::to_string(size) + ",";
  std::string header = "{'descr': '" + std::string(npyTypeName(array.type)) +
                       "', 'fortran_order': " + (array.columnMajor ? "True" : "False") +
                       ", 'shape': (" + shape + "), }";
  // The data starts at a multiple of 64 bytes, after a newline.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::vector<uint8_t> bytes(magic.begin(), magic.end());
  bytes.insert(bytes.end(), {1, 0, uint8_t(header.size()), uint8_t(header.size() >> 8)});
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), array.data.begin(), array.data.end());
  return bytes;
}

Expected<void> writeNpy(const std::string &path, const NpyArray &array) {
  return pkg::writeFileAtomically(path, std::span<const uint8_t>(npyBytes(array)));
}

NpyType npyTypeFor(pkg::DType type) {
  switch (type) {
  case pkg::DType::f32:
    return NpyType::F32;
  case pkg::DType::f16:
    return NpyType::F16;
  case pkg::DType::bf16:
    return NpyType::U16;
  case pkg::DType::f8e4m3:
  case pkg::DType::f8e5m2:
    return NpyType::U8;
  case pkg::DType::i8:
    return NpyType::I8;
  case pkg::DType::i32:
    return NpyType::I32;
  case pkg::DType::i64:
    return NpyType::I64;
  case pkg::DType::f64:
    break;
  }
  return NpyType::F64;
}

bool npyConvertible(NpyType from, pkg::DType to) {
  // Unsigned integers are raw bits and fit only their own type.
  if (from == NpyType::U8 || from == NpyType::U16)
    return from == npyTypeFor(to);
  return true;
}

static pkg::DType numberType(NpyType type) {
  switch (type) {
  case NpyType::F16:
    return pkg::DType::f16;
  case NpyType::F32:
    return pkg::DType::f32;
  case NpyType::I8:
    return pkg::DType::i8;
  case NpyType::I32:
    return pkg::DType::i32;
  case NpyType::I64:
    return pkg::DType::i64;
  default:
    return pkg::DType::f64;
  }
}

void npyStore(const NpyArray &from, int64_t index, pkg::DType to, void *address) {
  unsigned bytes = npyTypeBytes(from.type);
  const uint8_t *source = from.data.data() + size_t(index) * bytes;
  if (from.type == npyTypeFor(to))
    std::memcpy(address, source, bytes);
  else
    pkg::storeElement(to, address, pkg::loadElement(numberType(from.type), source));
}

} // namespace heddle::run
