#include "edgectl/web/api/views/wan_view.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/reports/wan_report.h"

namespace edge::edgectl::web {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// At most `most` objects of a kind; those beyond are counted in `left_out`.
std::vector<Json> objects_of(const StoreView& view, std::string_view kind_name, std::size_t most,
                             std::size_t& left_out) {
  std::vector<Json> objects;
  const StoredKind* kind = view.find_kind(kind_name);
  if (kind == nullptr) return objects;
  view.each(*kind, [&](const std::string&, const StoredObject& object) {
    if (objects.size() < most) {
      objects.push_back(parse_json(object.text));
    } else {
      ++left_out;
    }
  });
  return objects;
}

OrderedJson tunnels_of(const WanPicture& picture) {
  OrderedJson tunnels = OrderedJson::array();
  for (std::size_t a = 0; a < picture.sites.size(); ++a) {
    for (std::size_t b = a + 1; b < picture.sites.size(); ++b) {
      const TunnelLook look = picture.tunnel(a, b);
      if (look != TunnelLook::kNone) tunnels.push_back({a, b, look_text(look)});
    }
  }
  return tunnels;
}

/// A policy's paths, each from a site to another, as they are in its status.
void add_paths(const Json& policy, std::size_t& left_out, OrderedJson& paths) {
  const Json& metadata = member_in(policy, "metadata");
  for (const Json& path : list_in(member_in(policy, "status"), "paths")) {
    if (paths.size() >= kMostWanPaths) {
      ++left_out;
      continue;
    }
    OrderedJson links = OrderedJson::array();
    for (const Json& link : list_in(path, "links")) links.push_back(text_value(link));
    paths.push_back({{"namespace", text_in(metadata, "namespace")},
                     {"policy", text_in(metadata, "name")},
                     {"site", text_in(path, "site")},
                     {"peer", text_in(path, "peer")},
                     {"links", std::move(links)},
                     {"since", text_in(path, "since")},
                     {"reason", text_in(path, "reason")}});
  }
}

}  // namespace

OrderedJson wan_json(const StoreView& view) {
  std::size_t sites_left_out = 0;
  std::size_t paths_left_out = 0;
  const std::vector<Json> sites = objects_of(view, "Site", kMostWanSites, sites_left_out);
  // The store bounds them.
  const std::vector<Json> links = objects_of(view, "WANLink", ObjectStore::kMostObjects, sites_left_out);
  const std::vector<Json> policies = objects_of(view, "WANPolicy", ObjectStore::kMostObjects, paths_left_out);
  const WanPicture picture = wan_picture(sites, links);
  OrderedJson paths = OrderedJson::array();
  for (const Json& policy : policies) add_paths(policy, paths_left_out, paths);
  OrderedJson shown_sites = OrderedJson::array();
  for (const WanSiteLine& site : picture.sites) shown_sites.push_back(wan_site_json(site));
  return {{"sites", std::move(shown_sites)},
          {"tunnels", tunnels_of(picture)},
          {"paths", std::move(paths)},
          {"sitesLeftOut", sites_left_out},
          {"pathsLeftOut", paths_left_out}};
}

}  // namespace edge::edgectl::web
