// The results per host that are kept between compiles, and indices of the hosts relevant to each stage: of thousands of
// hosts few have code, patterns or findings. Part of `compile`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/cache/flat_order.h"
#include "compiler/cache/native_shards.h"
#include "compiler/ir/match_ir.h"
#include "compiler/link/conditions.h"
#include "program/read.h"
#include "program/write.h"

namespace edge::compiler {

/// A host passing through the stages.
struct HostWork {
  const ir::HostKey* key;
  const std::vector<std::uint32_t>* routes;
  ir::Host host;
  std::vector<std::byte> bytes;  ///< of its section

  program::SectionView view() const { return program::SectionView(bytes); }
};

struct CompiledHost {
  program::Hash inputs{};
  program::BlobPtr section;
  CodeSource code;
  std::size_t conditional = 0;
  /// The findings of its proof.
  std::vector<Diagnostic> remarks;
  /// Conditions of the routes with a rule that no request reaches here.
  std::vector<ResourceStatus> shadowed;
};

/// Ordered by id, like a program's sections. Not thread-safe.
class CompiledHosts {
 public:
  using Ids = std::set<std::uint64_t>;

  using Map = std::map<std::uint64_t, CompiledHost>;

  std::span<const Map::value_type* const> in_order() { return in_order_.of(hosts_); }
  std::size_t size() const { return hosts_.size(); }
  const CompiledHost& at(std::uint64_t id) const { return hosts_.at(id); }

  const Ids& with_code() const { return with_code_; }
  const Ids& with_patterns() const { return with_patterns_; }
  /// Hosts with remarks or shadowed routes.
  const Ids& remarkable() const { return remarkable_; }
  /// Returns the number of candidates with conditions, of all hosts.
  std::size_t conditional() const { return conditional_; }

  /// Sets the inputs of a host, added if new. \returns its previous inputs.
  program::Hash set_inputs(std::uint64_t id, const program::Hash& inputs);
  void set_code(std::uint64_t id, CodeSource code, std::size_t conditional);
  void set_section(std::uint64_t id, program::BlobPtr section);
  void set_proof(std::uint64_t id, std::vector<Diagnostic> remarks, std::vector<ResourceStatus> shadowed);
  void erase(std::uint64_t id);
  void erase_all_but(const std::unordered_set<std::uint64_t>& ids);

 private:
  Map hosts_;
  FlatOrder<Map> in_order_;
  Ids with_code_;
  Ids with_patterns_;
  Ids remarkable_;
  std::size_t conditional_ = 0;
};

}  // namespace edge::compiler
