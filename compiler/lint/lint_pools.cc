// Lint of `spec.pool` of ProxyVIPs: an address is given to one gateway alone, whichever pools it is in, but how it is
// held and announced says one ProxyVIP.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/lint/finding.h"
#include "compiler/lint/lint.h"

namespace edge::compiler::lint {
namespace {

using model::ProxyVip;

struct Block {
  const ProxyVip* vip = nullptr;
  std::size_t index = 0;

  const Cidr& cidr() const { return vip->pool[index].value; }
  auto order() const {
    return std::tie(cidr().address, cidr().prefix_length, vip->metadata.name_space, vip->metadata.name, index);
  }
};

Diagnostic overlap(const Block& inner, const Block& outer) {
  const bool own = inner.vip == outer.vip;
  Diagnostic found =
      warning(inner.vip->metadata,
              {.code = DiagnosticCode::kConflict,
               .span = inner.vip->pool[inner.index].span,
               .field = indexed("spec.pool", inner.index),
               .message = in_quotes(to_string(inner.cidr())) + " is within " + in_quotes(to_string(outer.cidr())) +
                          (own ? std::string(" of the same pool") : " of " + outer.vip->metadata.text()),
               .fix = own ? "leave one of them out" : "give each ProxyVIP blocks of its own"});
  found.labels.push_back({outer.vip->pool[outer.index].span, "the other block"});
  if (!own)
    found.notes.emplace_back("which of the two gives out and holds an address of both depends on who asks first");
  return found;
}

}  // namespace

void lint_pools(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  std::vector<Block> blocks;
  for (const ProxyVip& vip : resources.vips) {
    for (std::size_t i = 0; i < vip.pool.size(); ++i) blocks.push_back({&vip, i});
  }
  std::ranges::sort(blocks, [](const Block& a, const Block& b) { return a.order() < b.order(); });
  // Two blocks are apart, or one is within the other: each is held against the narrowest around it.
  std::vector<const Block*> around;
  for (const Block& block : blocks) {
    while (!around.empty() && !around.back()->cidr().contains(block.cidr().address)) around.pop_back();
    if (!around.empty()) diagnostics.add(overlap(block, *around.back()));
    around.push_back(&block);
  }
}

}  // namespace edge::compiler::lint
