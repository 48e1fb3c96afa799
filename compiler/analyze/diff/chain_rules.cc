#include "compiler/analyze/diff/chain_rules.h"

#include <algorithm>

#include "program/dump/dump.h"

namespace edge::compiler::analyze {
namespace {

using program::kNone;
using PathClass = program::Trace::PathClass;

}  // namespace

ChainRules::ChainRules(Space& space, const RuleChain& chain, Interned& texts, bool by_name) : chain_(chain) {
  for (std::uint32_t host = 0; host < chain.hosts.size(); ++host) {
    const program::Section& section = *chain.hosts[host];
    hosts_.push_back(std::make_unique<HostRules>(space, section));
    std::unordered_map<std::uint32_t, std::uint32_t> conditions;
    for (TableRule& rule : hosts_.back()->rules()) {
      auto [condition, fresh] = conditions.try_emplace(rule.predicate, 0);
      if (fresh) {
        const bool always = rule.predicate == kNone;
        condition->second =
            texts.number(always ? std::string() : program::predicate_text(section.view, rule.predicate));
      }
      std::string treatment = chain.treatments.text(section, rule.action);
      if (by_name) treatment += "\n" + rule_name(section.view, rule.action);
      const auto index = static_cast<std::uint32_t>(entries_.size());
      if (rule.path_class == PathClass::kExact) {
        exact_[rule.path].push_back(index);
      } else if (rule.path_class == PathClass::kPrefix) {
        prefix_[rule.path].push_back(index);
      } else {
        pathless_.push_back(index);
      }
      entries_.push_back({host, std::move(rule), condition->second, texts.number(treatment)});
    }
  }
}

std::string ChainRules::name(std::size_t index) const {
  const Entry& entry = entries_[index];
  return rule_name(chain_.hosts[entry.host]->view, entry.rule.action);
}

std::optional<std::size_t> ChainRules::taker(const program::RequestView& request,
                                             const program::RegexMatcher& regex) const {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    const auto rule = hosts_[host]->taker(request, regex);
    if (!rule) continue;
    const std::vector<std::uint32_t>* position = &pathless_;
    if (rule->path_class == PathClass::kExact || rule->path_class == PathClass::kPrefix) {
      const RulesByPath& places = rule->path_class == PathClass::kExact ? exact_ : prefix_;
      const auto found = places.find(rule->path);
      if (found == places.end()) return std::nullopt;
      position = &found->second;
    }
    for (const std::uint32_t index : *position) {
      if (entries_[index].host == host && entries_[index].rule.same_match(*rule)) return index;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

bool ChainRules::visit(const std::vector<std::uint32_t>& entries, const std::function<bool(std::size_t)>& each) {
  return std::ranges::all_of(entries, each);
}

bool ChainRules::visit_below(const RulesByPath& places, const std::string& prefix,
                             const std::function<bool(std::size_t)>& each) const {
  // "/a" itself, then "/a/…"; what lies between ("/a-b") is passed over.
  if (const auto same = places.find(prefix); same != places.end() && !visit(same->second, each)) return false;
  for (auto at = places.lower_bound(prefix + "/"); at != places.end() && at->first.starts_with(prefix + "/"); ++at) {
    if (!visit(at->second, each)) return false;
  }
  return true;
}

bool ChainRules::visit_prefixes_of(std::string_view path, const std::function<bool(std::size_t)>& each) const {
  for (std::size_t size = path.size(); size != std::string_view::npos;) {
    const auto found = prefix_.find(path.substr(0, size));
    if (found != prefix_.end() && !visit(found->second, each)) return false;
    size = size == 0 ? std::string_view::npos : path.rfind('/', size - 1);
  }
  return true;
}

void ChainRules::for_each_meeting(const TableRule& rule, const std::function<bool(std::size_t)>& each) const {
  if (!visit(pathless_, each)) return;
  if (rule.path_class == PathClass::kExact) {
    const auto same = exact_.find(rule.path);
    if (same != exact_.end() && !visit(same->second, each)) return;
    visit_prefixes_of(rule.path, each);
  } else if (rule.path_class == PathClass::kPrefix) {
    if (!visit_below(exact_, rule.path, each) || !visit_below(prefix_, rule.path, each)) return;
    if (!rule.path.empty()) visit_prefixes_of(rule.path.substr(0, rule.path.rfind('/')), each);
  } else {
    for (const auto& places : {&exact_, &prefix_}) {
      for (const auto& [path, entries] : *places) {
        if (!visit(entries, each)) return;
      }
    }
  }
}

}  // namespace edge::compiler::analyze
