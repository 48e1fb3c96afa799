// The rules of one side of a diff: of every section that a host falls through, in the order in which one request may be
// tested against them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/analyze/diff/diff_rules.h"

namespace edge::compiler::analyze {

/// Maps equal texts to equal numbers.
class Interned {
 public:
  std::uint32_t number(const std::string& text) {
    return numbers_.emplace(text, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

class ChainRules {
 public:
  struct Entry {
    std::uint32_t host;  ///< index into the chain's hosts
    TableRule rule;
    std::uint32_t condition;  ///< interned text
    std::uint32_t treatment;  ///< interned text, including the rule's name where names count
  };

  /// All arguments must outlive this object; `texts` is shared by both sides.
  ChainRules(Space& space, const RuleChain& chain, Interned& texts, bool by_name);

  const std::vector<Entry>& entries() const { return entries_; }
  ChainRule rule(std::size_t index) const { return {chain_.hosts[entries_[index].host], entries_[index].rule}; }
  std::string name(std::size_t index) const;

  Set matches(std::size_t index) { return hosts_[entries_[index].host]->matches(entries_[index].rule); }
  /// Returns the entry that matches the request; nullopt: none.
  std::optional<std::size_t> taker(const program::RequestView& request, const program::RegexMatcher& regex) const;

  /// Calls `each` with the index of every entry whose paths a request of `rule` can have, until it returns false.
  void for_each_meeting(const TableRule& rule, const std::function<bool(std::size_t)>& each) const;

 private:
  using RulesByPath = std::map<std::string, std::vector<std::uint32_t>, std::less<>>;  ///< by path

  static bool visit(const std::vector<std::uint32_t>& entries, const std::function<bool(std::size_t)>& each);
  bool visit_below(const RulesByPath& places, const std::string& prefix,
                   const std::function<bool(std::size_t)>& each) const;
  bool visit_prefixes_of(std::string_view path, const std::function<bool(std::size_t)>& each) const;

  const RuleChain& chain_;
  std::vector<std::unique_ptr<HostRules>> hosts_;
  std::vector<Entry> entries_;
  RulesByPath exact_;
  RulesByPath prefix_;
  std::vector<std::uint32_t> pathless_;  ///< patterns, and rules without a path
};

}  // namespace edge::compiler::analyze
