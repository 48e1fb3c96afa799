// Compiles predicates to machine code through LLVM: hosts in, one ELF shared object out.
//
// A group becomes a function (program/evaluate/abi.h). Candidates that test one slot for exact values become a split
// tree of linear size: f(list) = min(bucket[value], f(rules that do not test this slot)). No IR optimisation pipeline;
// CodeGenOptLevel::Less for small shards, None for others. LLVM's headers stay in native*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/evaluate/abi.h"
#include "program/format/format.h"
#include "program/read.h"

namespace edge::compiler::emit {

/// An emitted host section: native code is made from it, so that code and tables have the same input.
struct NativeInput {
  std::uint64_t host_id;
  program::SectionView host;
};

struct NativeShard {
  std::vector<std::byte> object;         ///< relocatable, for the proof
  std::vector<std::byte> shared_object;  ///< linked, for the program
};

/// Returns the version of the code generator: another version may generate other bytes from the same input.
std::string native_engine_version();

/// Returns whether a host has a group that needs code.
bool needs_code(const program::SectionView& host);

/// Deterministic: the same hosts in any order give the same bytes. kInternal with LLVM's or lld's message.
Result<NativeShard> build_native(program::Target target, std::vector<NativeInput> hosts);

/// The object loaded into this process through ORC. Thread-safe after construction.
class NativeCode {
 public:
  /// kFailedPrecondition when `target` is not this machine's.
  static Result<NativeCode> load(program::Target target, std::span<const std::byte> object);
  NativeCode(NativeCode&&) noexcept;
  NativeCode& operator=(NativeCode&&) noexcept;
  ~NativeCode();

  const program::NativeIndex& index() const;

 private:
  struct Impl;
  explicit NativeCode(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::compiler::emit
