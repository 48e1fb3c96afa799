// A kind of the API with the path to its objects and its names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edge::kube {

struct Resource {
  std::string group;  ///< empty: core
  std::string version;
  std::string plural;
  std::string kind;
  bool namespaced = true;

  // From discovery.
  std::string singular{};
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  std::vector<std::string> verbs{};
  std::vector<std::string> subresources{};

  /// `v1`, `apps/v1`
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  /// `pods`, `proxyroutes.edgeproxy.io`
  std::string qualified() const { return group.empty() ? plural : plural + "." + group; }
  bool has_verb(std::string_view verb) const;
  bool has_subresource(std::string_view name) const;
  friend bool operator==(const Resource&, const Resource&) = default;
};

/// `/apis/apps/v1/namespaces/shop/deployments/web/status`, each part percent-encoded. No namespace: all of them, or a
/// cluster-scoped kind; no name: the collection.
std::string path_of(const Resource& resource, std::string_view name_space = {}, std::string_view name = {},
                    std::string_view subresource = {});

/// Builds a query: `?a=b&c=d`, values percent-encoded.
class Query {
 public:
  Query& add(std::string_view name, std::string_view value);
  /// Adds nothing where the value is empty.
  Query& add_some(std::string_view name, std::string_view value);
  /// With the `?`, or empty.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace edge::kube
