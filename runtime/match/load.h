// Makes a checked program ready to decide: signature verified, native code opened, regex databases deserialised,
// backends resolved to indices.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "program/abi.h"
#include "program/read.h"
#include "program/sign.h"

struct hs_database;

namespace edge::runtime {

/// One host section with what was loaded for it.
struct LoadedHost {
  const program::HostHeader* header = nullptr;
  program::SectionView view;
  /// Null: its groups are interpreted.
  const program::NativeHost* native = nullptr;
  /// One a RegexSetRecord.
  std::span<const hs_database* const> regex_sets;
};

struct LoadedListener {
  const program::ListenerRecord* record = nullptr;
  const program::GatewayRecord* gateway = nullptr;
  /// One a HostEntry.
  std::span<const LoadedHost* const> hosts;
};

/// Immutable; shared by every thread. A request pins the one it began with (shared_ptr, taken once a batch).
class LoadedProgram {
 public:
  /// Loads native code only after `key` verified the signature. A null key accepts any program: for tests and for
  /// `--allow-unsigned`. What `previous` holds under the same section hash is shared, not loaded again.
  static Result<std::shared_ptr<const LoadedProgram>> load(program::ProgramView view, const program::VerifyKey* key,
                                                           std::shared_ptr<const LoadedProgram> previous = nullptr);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  const program::ProgramView& view() const { return view_; }
  const program::Hash& hash() const { return view_.hash(); }
  std::span<const program::BindRecord> binds() const { return binds_; }
  const program::SectionView& listeners_section() const { return listeners_section_; }
  const LoadedListener& listener(std::uint32_t index) const { return listeners_[index]; }
  std::span<const program::BackendRecord> backends() const { return backends_; }
  const program::SectionView& backends_section() const { return backends_section_; }
  /// Index into backends(), kNone when there is none.
  std::uint32_t backend_index(std::uint64_t backend_id) const;

 private:
  struct Impl;
  LoadedProgram();

  program::ProgramView view_;
  std::span<const program::BindRecord> binds_;
  std::span<const program::BackendRecord> backends_;
  program::SectionView listeners_section_;
  program::SectionView backends_section_;
  std::vector<LoadedListener> listeners_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::runtime
