//===- Ast.h - parsed PTX ------------------------------------------------===//
//
// Part of the Heddle project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parser makes of PTX text. Names of registers and variables are
// resolved; opcodes are still text (the decoder owns their meaning).
//
//===----------------------------------------------------------------------===//
#ifndef HEDDLE_EMULATOR_PTX_AST_H
#define HEDDLE_EMULATOR_PTX_AST_H

#include "runtime/emulator/Emulator.h"

#include <deque>
#include <map>

namespace heddle::emulator {

/// Fundamental types of PTX, as declared.
enum class Ty : uint8_t {
  None, Pred, B8, B16, B32, B64, B128, U8, U16, U32, U64, S8, S16, S32, S64,
  F16, F16x2, BF16, BF16x2, F32, F32x2, F64,
};
unsigned tyBits(Ty t);
Ty tyFromName(std::string_view name); ///< "u32" -> U32; None when unknown
std::string_view tyName(Ty t);
inline bool tySigned(Ty t) { return t >= Ty::S8 && t <= Ty::S64; }
inline bool tyFloat(Ty t) { return t >= Ty::F16; }

/// Thrown inside the parser and the decoder, caught in Module::parse.
struct ParseError {
  uint32_t line;
  std::string message;
  ErrorKind kind = ErrorKind::Parse;
};

enum class VarSpace : uint8_t { Global, Const, Shared, Local, Param, EntryParam };

struct Variable {
  std::string name;
  VarSpace space = VarSpace::Global;
  bool isExtern = false;
  uint32_t align = 1;
  uint64_t bytes = 0;
  std::vector<uint8_t> init;
  struct Reloc { uint32_t offset; uint32_t width; uint32_t variable; int64_t addend; bool generic; };
  std::vector<Reloc> relocs;
  uint32_t line = 0;
  uint64_t offset = 0; ///< in its space; assigned by layout
};

struct Operand {
  enum Kind : uint8_t {
    Reg, Imm, Float, Special, Var, Name, Vector, Address, Pair, Sink, Paren,
  } kind = Imm;
  bool negated = false;         ///< !p
  uint32_t id = 0;              ///< Reg: register; Var: variable; Special: SpecialReg
  uint64_t bits = 0;            ///< Imm: two's complement; Float: bits of a double or float
  bool single = false;          ///< Float: `bits` are those of an f32 (0f...)
  int64_t offset = 0;           ///< Address
  std::string_view name;        ///< Name
  std::vector<Operand> elems;   ///< Vector, Pair, Paren; Address: [0] the base, then the rest
};

struct Stmt {
  uint32_t line = 0, loc = 0;
  int32_t pred = -1;            ///< register or -1
  bool predNeg = false;
  std::string_view op;
  uint32_t scope = 0;
  std::vector<Operand> ops;
};

struct Location { uint32_t file = 0, line = 0, column = 0; };

struct BranchTable { std::vector<std::string_view> labels; uint32_t scope; };

struct Function {
  std::string name;
  bool isEntry = false, isExtern = false;
  uint32_t line = 0;
  std::vector<uint32_t> params, results; ///< variables
  std::vector<Ty> regs;
  std::vector<Stmt> body;
  struct Scope {
    int32_t parent = -1;
    std::map<std::string_view, uint32_t> labels; ///< statement index
    std::map<std::string_view, BranchTable> tables;
  };
  std::vector<Scope> scopes;
  Dim3 reqntid{0, 0, 0}, maxntid{0, 0, 0}, cluster{0, 0, 0};
  unsigned minCtas = 0, maxRegs = 0;
};

struct Ast {
  std::string text; ///< owns what the string views point to
  unsigned versionMajor = 0, versionMinor = 0;
  std::string targetName;
  std::deque<Variable> variables;
  std::deque<Function> functions;
  std::map<std::string, uint32_t, std::less<>> functionByName;
  std::vector<Location> locations{Location{}};
  std::map<uint32_t, std::string> files;
};

/// Special registers, all 32-bit but those from Clock64 on.
enum class SpecialReg : uint8_t {
  TidX, TidY, TidZ, NtidX, NtidY, NtidZ, CtaidX, CtaidY, CtaidZ, NctaidX, NctaidY, NctaidZ,
  LaneId, WarpId, NWarpId, SmId, NSmId, ClusterIdX, ClusterIdY, ClusterIdZ, NClusterIdX, NClusterIdY, NClusterIdZ,
  ClusterCtaidX, ClusterCtaidY, ClusterCtaidZ, ClusterNctaidX, ClusterNctaidY, ClusterNctaidZ,
  ClusterCtaRank, ClusterNctaRank, IsExplicitCluster, LanemaskEq, LanemaskLe, LanemaskLt, LanemaskGe, LanemaskGt, Clock, ClockHi,
  GlobaltimerLo, GlobaltimerHi, DynamicSmemSize, TotalSmemSize, AggrSmemSize,
  Clock64, Globaltimer, GridId, CurrentGraphExec, Count,
};
/// Count when `name` ("%tid.x") is none.
SpecialReg specialFromName(std::string_view name);

/// Throws ParseError.
void parsePtx(std::string_view text, Ast &ast);

} // namespace heddle::emulator

#endif // HEDDLE_EMULATOR_PTX_AST_H
