#include "controller/federation/digest.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "program/sha256.h"

namespace edge::federation {
namespace {

std::string hashed(std::string_view text) {
  const program::Hash hash = program::sha256(std::as_bytes(std::span(text)));
  return {hash.begin(), hash.end()};
}

std::uint64_t number_of(std::string_view hash) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i)
    number |= std::uint64_t{static_cast<std::uint8_t>(hash[static_cast<std::size_t>(i)])} << (8 * i);
  return number;
}

bool counts(const std::vector<HeldVersion>& held) {
  return std::ranges::any_of(held, [](const HeldVersion& one) { return !one.version->deleted; });
}

}  // namespace

std::uint32_t leaf_of(const ObjectKey& key) {
  return static_cast<std::uint8_t>(hashed(key.name_space + '/' + key.name).front());
}

Tree digest_tree(const Replica& replica, const SharedScope& scope) {
  Tree tree;
  for (const auto& [key, held] : replica.objects()) {
    if (!counts(held) || !scope.covers(key)) continue;
    auto& leaves = tree.try_emplace(key.kind, kLeaves, 0).first->second;
    // A sum, as the order of what it is over does not count.
    for (const HeldVersion& one : held) leaves[leaf_of(key)] += number_of(hashed(one.version->statement));
  }
  return tree;
}

Digests roots_of(const Tree& tree) {
  Digests digests;
  for (const auto& [kind, leaves] : tree) {
    std::string text;
    for (const std::uint64_t leaf : leaves) {
      for (int i = 0; i < 8; ++i) text += static_cast<char>(leaf >> (8 * i) & 0xff);
    }
    digests.kinds.push_back({kind, hashed(text)});
  }
  return digests;
}

std::vector<HeldObject> list_leaves(const Replica& replica, const SharedScope& scope, const std::string& kind,
                                    const std::vector<std::uint32_t>& leaves) {
  std::vector<HeldObject> out;
  const auto& objects = replica.objects();
  for (auto object = objects.lower_bound({kind, "", ""}); object != objects.end() && object->first.kind == kind;
       ++object) {
    if (!counts(object->second) || !scope.covers(object->first)) continue;
    if (std::ranges::find(leaves, leaf_of(object->first)) == leaves.end()) continue;
    HeldObject listed{object->first, {}};
    for (const HeldVersion& one : object->second) listed.dots.push_back(one.version->dot);
    std::ranges::sort(listed.dots);
    out.push_back(std::move(listed));
  }
  return out;
}

}  // namespace edge::federation
