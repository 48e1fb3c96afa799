#include "compiler/link/policies/policy_pages.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace edge::compiler::link {
namespace {

std::vector<model::Page*> pages_of(model::ProxyPolicy& policy) {
  std::vector<model::Page*> pages;
  if (auto* const maintenance = std::get_if<model::Maintenance>(&policy.settings)) pages.push_back(&maintenance->page);
  if (auto* const fixed = std::get_if<model::FixedResponse>(&policy.settings)) pages.push_back(&fixed->page);
  if (auto* const errors = std::get_if<model::ErrorPages>(&policy.settings)) {
    for (model::ErrorPage& page : errors->pages) pages.push_back(&page.page);
  }
  std::erase_if(pages, [](const model::Page* page) { return !page->map; });
  return pages;
}

/// Empty: the value can be sent.
std::string unfitness(const model::ConfigMapValue* value, const std::string& key) {
  if (value == nullptr) return "has no key `" + key + "`";
  if (!value->unread.empty()) return "has under its key `" + key + "` a value that " + value->unread;
  if (value->value == nullptr) return "has no base64 under its key `" + key + "` of binaryData";
  if (value->value->size() > kMostBody) return "has more than 64 KiB under its key `" + key + "`";
  return {};
}

class Bodies {
 public:
  Bodies(const model::ProxyPolicy& policy, const SecretTable& tables, Findings& findings)
      : policy_(policy), tables_(tables), findings_(findings) {}

  /// \returns false where the body cannot be had.
  bool take(model::Page& page) {
    const auto field = [&] { return page.field + ".name"; };
    if (tables_.config_maps == nullptr) return refuse(page, reason::kSecretNotFound);
    const Resolved found =
        tables_.config_map_names->resolve(policy_.metadata, "ConfigMap", *page.map, field, findings_);
    if (!found) {
      const bool permitted = found.fault != ReferenceFault::kNotPermitted;
      return refuse(page, permitted ? reason::kSecretNotFound : reason::kRefNotPermitted);
    }
    const model::ConfigMap& map = (*tables_.config_maps)[found.position];
    const auto value = std::ranges::find(map.values, page.map_key.value, &model::ConfigMapValue::key);
    const std::string what = unfitness(value == map.values.end() ? nullptr : &*value, page.map_key.value);
    if (what.empty()) {
      page.body = {*value->value, page.map_key.span};
      return true;
    }
    findings_.diagnostics.add({.code = DiagnosticCode::kUnfitSecret,
                               .resource = policy_.metadata.text(),
                               .field = page.field + ".key",
                               .span = page.map_key.span,
                               .message = map.metadata.text() + " " + what,
                               .labels = {{map.metadata.span, "the ConfigMap"}}});
    return refuse(page, reason::kSecretNotUsable);
  }

 private:
  bool refuse(const model::Page& page, std::string_view why) {
    fail(findings_.status.conditions, condition::kResolvedRefs, why,
         "the ConfigMap `" + page.map->name.value + "` cannot be used");
    return false;
  }

  const model::ProxyPolicy& policy_;
  const SecretTable& tables_;
  Findings& findings_;
};

}  // namespace

std::optional<model::ProxyPolicy> with_bodies(const model::ProxyPolicy& policy, const SecretTable& tables,
                                              Findings& findings, bool& usable) {
  const bool answers = std::holds_alternative<model::Maintenance>(policy.settings) ||
                       std::holds_alternative<model::FixedResponse>(policy.settings) ||
                       std::holds_alternative<model::ErrorPages>(policy.settings);
  if (!answers) return std::nullopt;
  model::ProxyPolicy filled = policy;
  const std::vector<model::Page*> pages = pages_of(filled);
  if (pages.empty()) return std::nullopt;
  Bodies bodies(policy, tables, findings);
  for (model::Page* const page : pages) usable &= bodies.take(*page);
  return filled;
}

}  // namespace edge::compiler::link
