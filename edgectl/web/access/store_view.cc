#include "edgectl/web/access/store_view.h"

#include <algorithm>
#include <array>

namespace edge::edgectl::web {
namespace {

constexpr std::array<std::string_view, 7> kRoutes = {"ProxyRoute", "HTTPRoute", "GRPCRoute", "TLSRoute",
                                                     "TCPRoute",   "UDPRoute",  "Ingress"};
constexpr std::array<std::string_view, 2> kGateways = {"ProxyGateway", "Gateway"};
constexpr std::array<std::string_view, 2> kBackends = {"ProxyBackend", "Service"};

/// What names of objects are made of, with what stands between namespace and name.
constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789-./";

}  // namespace

std::span<const std::string_view> route_kinds() { return kRoutes; }
std::span<const std::string_view> gateway_kinds() { return kGateways; }
std::span<const std::string_view> backend_kinds() { return kBackends; }

std::vector<const StoredKind*> StoreView::kinds() const {
  std::vector<const StoredKind*> kinds;
  for (const auto& kind : store_.kinds()) {
    if (visible_.may_list_some(kind->kind)) kinds.push_back(kind.get());
  }
  return kinds;
}

const StoredKind* StoreView::find(std::string_view plural) const {
  const StoredKind* kind = store_.find(plural);
  return kind != nullptr && visible_.may_list_some(kind->kind) ? kind : nullptr;
}

const StoredKind* StoreView::find_kind(std::string_view name) const {
  const StoredKind* kind = store_.find_kind(name);
  return kind != nullptr && visible_.may_list_some(kind->kind) ? kind : nullptr;
}

void StoreView::each(const StoredKind& kind, const Visitor& visit) const {
  for (const auto& [key, object] : kind.objects) {
    if (visible_.may_list(kind.kind, object.name_space)) visit(key, object);
  }
}

const StoredObject* StoreView::find_object(const StoredKind& kind, std::string_view key) const {
  const auto found = kind.objects.find(key);
  if (found == kind.objects.end() || !visible_.may_list(kind.kind, found->second.name_space)) return nullptr;
  return &found->second;
}

std::size_t StoreView::left_out(const StoredKind& kind) const {
  return visible_.may_list(kind.kind, {}) ? kind.left_out : 0;
}

std::vector<Reference> StoreView::referring_to(const Reference& object) const {
  std::vector<Reference> found = store_.referring_to(object);
  std::erase_if(found, [this](const Reference& one) {
    const StoredKind* kind = store_.find_kind(one.kind);
    return kind == nullptr || !visible_.may_list(kind->kind, one.name_space);
  });
  return found;
}

bool StoreView::names(std::span<const std::string_view> kinds, std::string_view key) const {
  return std::ranges::any_of(kinds, [&](std::string_view name) {
    const StoredKind* kind = find_kind(name);
    return kind != nullptr && find_object(*kind, key) != nullptr;
  });
}

bool StoreView::names_hidden(std::string_view sentence) const {
  if (visible_.everything()) return false;
  const auto hidden = [this](std::string_view key) {
    return std::ranges::any_of(store_.kinds(), [&](const auto& kind) {
      return kind->objects.contains(key) && find_object(*kind, key) == nullptr;
    });
  };
  while (!sentence.empty()) {
    const std::string_view word = sentence.substr(0, sentence.find_first_not_of(kOfNames));
    sentence.remove_prefix(std::max<std::size_t>(word.size(), 1));
    // A full stop may end the sentence.
    const std::string_view key = word.substr(0, word.find_last_not_of('.') + 1);
    if (key.find('/') != std::string_view::npos && hidden(key)) return true;
  }
  return false;
}

}  // namespace edge::edgectl::web
