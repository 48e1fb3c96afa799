#include "compiler/cache/compiled_hosts.h"

#include <utility>

namespace edge::compiler {
namespace {

void keep_if(CompiledHosts::Ids& ids, std::uint64_t id, bool belongs) {
  if (belongs) {
    ids.insert(id);
  } else {
    ids.erase(id);
  }
}

}  // namespace

program::Hash CompiledHosts::set_inputs(std::uint64_t id, const program::Hash& inputs) {
  const auto [host, added] = hosts_.try_emplace(id);
  if (added) in_order_.came(*host);
  return std::exchange(host->second.inputs, inputs);
}

void CompiledHosts::set_code(std::uint64_t id, CodeSource code, std::size_t conditional) {
  CompiledHost& host = hosts_.at(id);
  conditional_ += conditional - host.conditional;
  host.conditional = conditional;
  host.code = std::move(code);
  keep_if(with_code_, id, host.code != nullptr);
}

void CompiledHosts::set_section(std::uint64_t id, program::BlobPtr section) {
  const program::SectionView view(section->bytes);
  keep_if(with_patterns_, id, view.header<program::HostHeader>().regex_sets.count > 0);
  hosts_.at(id).section = std::move(section);
}

void CompiledHosts::set_proof(std::uint64_t id, std::vector<Diagnostic> remarks, std::vector<ResourceStatus> shadowed) {
  CompiledHost& host = hosts_.at(id);
  host.remarks = std::move(remarks);
  host.shadowed = std::move(shadowed);
  keep_if(remarkable_, id, !host.remarks.empty() || !host.shadowed.empty());
}

void CompiledHosts::erase(std::uint64_t id) {
  const auto found = hosts_.find(id);
  if (found == hosts_.end()) return;
  conditional_ -= found->second.conditional;
  for (Ids* ids : {&with_code_, &with_patterns_, &remarkable_}) ids->erase(id);
  in_order_.goes(*found);
  hosts_.erase(found);
}

void CompiledHosts::erase_all_but(const std::unordered_set<std::uint64_t>& ids) {
  std::vector<std::uint64_t> gone;
  for (const auto& [id, host] : hosts_) {
    if (!ids.contains(id)) gone.push_back(id);
  }
  for (const std::uint64_t id : gone) erase(id);
}

}  // namespace edge::compiler
