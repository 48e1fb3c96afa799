#include "edgectl/reports/wan_report.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostInMatrix = 16;

std::string full_name(const Json& object) {
  const Json& metadata = member_in(object, "metadata");
  return text_in(metadata, "namespace") + "/" + text_in(metadata, "name");
}

std::string referred(const Json& object, const std::string& reference) {
  if (reference.find('/') != std::string::npos) return reference;
  return text_in(member_in(object, "metadata"), "namespace") + "/" + reference;
}

std::string or_else(std::string text, std::string_view fallback) { return text.empty() ? std::string(fallback) : text; }

const Json* condition_in(const Json& object, std::string_view type) {
  for (const Json& condition : list_in(member_in(object, "status"), "conditions")) {
    if (text_in(condition, "type") == type) return &condition;
  }
  return nullptr;
}

std::vector<std::string> texts_in(const Json& object, const char* field) {
  std::vector<std::string> texts;
  for (const Json& one : list_in(object, field)) {
    if (one.is_string()) texts.push_back(one.get<std::string>());
  }
  return texts;
}

std::string joined_text(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + shown(text);
  return all;
}

std::string cell(const std::string& text) { return text.empty() ? std::string("<none>") : shown(text); }

std::string link_text(const WanLinkLine& link) {
  std::string text = shown(link.name.substr(link.name.find('/') + 1)) + "  " + shown(link.role);
  for (const std::string& one : {link.provider, link.latency, link.loss.empty() ? "" : link.loss + " lost"}) {
    if (!one.empty()) text += "  " + shown(one);
  }
  const std::string health = link.healthy == "True"    ? "healthy"
                             : link.healthy == "False" ? "NOT HEALTHY"
                                                       : "not measured";
  return text + "  " + health;
}

std::string site_text(const WanSiteLine& site) {
  std::string text = shown(site.name) + " (" + shown(site.role) + ")";
  if (!site.prefixes.empty()) text += "  " + joined_text(site.prefixes);
  if (!site.node.empty()) text += "  node " + shown(site.node);
  return text;
}

void draw_links(const WanSiteLine& site, const std::string& indent, std::string& out) {
  for (const WanLinkLine& link : site.links) out += indent + "- " + link_text(link) + "\n";
}

/// A hub, and below it those that it has tunnels to.
void draw_hub(const WanPicture& picture, std::size_t hub, std::string& out) {
  out += site_text(picture.sites[hub]) + "\n";
  draw_links(picture.sites[hub], "│   ", out);
  std::vector<std::size_t> around;
  for (std::size_t site = 0; site < picture.sites.size(); ++site) {
    if (picture.tunnel(hub, site) != TunnelLook::kNone) around.push_back(site);
  }
  for (std::size_t i = 0; i < around.size(); ++i) {
    const bool last = i + 1 == around.size();
    const WanSiteLine& site = picture.sites[around[i]];
    const TunnelLook look = picture.tunnel(hub, around[i]);
    const std::string line = look == TunnelLook::kUp ? "──── " : look == TunnelLook::kDown ? "─╳── " : "─ ?─ ";
    out += (last ? "└" : "├") + line + site_text(site) + "  " + std::string(look_text(look)) + "\n";
    // Links of a hub stand where it is drawn itself.
    if (site.role != "hub") draw_links(site, last ? "      " : "│     ", out);
  }
}

void draw_matrix(const WanPicture& picture, std::string& out) {
  std::vector<std::string> heads = {"TUNNELS"};
  for (std::size_t i = 0; i < picture.sites.size(); ++i) heads.push_back(std::to_string(i + 1));
  TextTable table(std::move(heads));
  for (std::size_t a = 0; a < picture.sites.size(); ++a) {
    std::vector<std::string> cells = {std::to_string(a + 1) + " " + shown(picture.sites[a].name)};
    for (std::size_t b = 0; b < picture.sites.size(); ++b) {
      cells.emplace_back(a == b ? std::string_view("-") : look_text(picture.tunnel(a, b)));
    }
    table.add(std::move(cells));
  }
  out += table.take(true);
}

void draw_mesh(const WanPicture& picture, std::string& out) {
  for (const WanSiteLine& site : picture.sites) {
    out += site_text(site) + "\n";
    draw_links(site, "  ", out);
    if (picture.sites.size() > kMostInMatrix) out += "  tunnels up to " + cell(joined_text(site.peers)) + "\n";
  }
  if (picture.sites.size() > 1 && picture.sites.size() <= kMostInMatrix) {
    out += "\n";
    draw_matrix(picture, out);
  }
}

bool has_hub(const WanPicture& picture) {
  return std::ranges::any_of(picture.sites, [](const WanSiteLine& site) { return site.role == "hub"; });
}

std::string quoted(const std::string& text) { return json_line(Json(shown(text))); }

/// A line for each tunnel that carries nothing, up to a few.
std::string down_text(const WanLinkLine& link) {
  constexpr std::size_t kMostLines = 4;
  std::string text;
  for (std::size_t i = 0; i < link.down.size(); ++i) {
    text += "WANLink " + shown(link.name) + ": ";
    if (i == kMostLines) return text + std::to_string(link.down.size() - i) + " more tunnels are down\n";
    const WanDownLine& one = link.down[i];
    text += "tunnel to " + shown(one.site) + " by " + shown(one.link) + " is down: " + shown(one.why) + "\n";
  }
  return text;
}

WanLinkLine link_line(const Json& link) {
  const Json& spec = member_in(link, "spec");
  const Json& status = member_in(link, "status");
  const Json* const healthy = condition_in(link, "Healthy");
  std::vector<WanDownLine> down;
  for (const Json& one : list_in(member_in(status, "tunnels"), "down")) {
    down.push_back({text_in(one, "site"), text_in(one, "link"), text_in(one, "message"), text_in(one, "since")});
  }
  return {.name = full_name(link),
          .role = or_else(text_in(spec, "role"), "primary"),
          .provider = text_in(spec, "provider"),
          .latency = text_in(status, "latency"),
          .loss = text_in(status, "loss"),
          .healthy = healthy == nullptr ? std::string() : text_in(*healthy, "status"),
          .down = std::move(down)};
}

}  // namespace

std::string_view look_text(TunnelLook look) {
  switch (look) {
    case TunnelLook::kNone:
      return "";
    case TunnelLook::kDown:
      return "down";
    case TunnelLook::kUp:
      return "up";
    case TunnelLook::kUnknown:
      return "unknown";
  }
  return "";
}

OrderedJson wan_site_json(const WanSiteLine& site) {
  OrderedJson links = OrderedJson::array();
  for (const WanLinkLine& link : site.links) {
    OrderedJson down = OrderedJson::array();
    for (const WanDownLine& one : link.down) {
      down.push_back({{"site", one.site}, {"link", one.link}, {"why", one.why}, {"since", one.since}});
    }
    links.push_back({{"name", link.name},
                     {"role", link.role},
                     {"provider", link.provider},
                     {"latency", link.latency},
                     {"loss", link.loss},
                     {"healthy", or_else(link.healthy, "Unknown")},
                     {"tunnelsDown", std::move(down)}});
  }
  return {{"name", site.name},         {"role", site.role},   {"node", site.node}, {"ready", site.ready},
          {"prefixes", site.prefixes}, {"peers", site.peers}, {"why", site.why},   {"links", std::move(links)}};
}

TunnelLook WanPicture::tunnel(std::size_t a, std::size_t b) const {
  const WanSiteLine& one = sites[a];
  const WanSiteLine& other = sites[b];
  if (a == b || (has_hub(*this) && one.role != "hub" && other.role != "hub")) return TunnelLook::kNone;
  const bool up = std::ranges::find(one.peers, other.name) != one.peers.end() ||
                  std::ranges::find(other.peers, one.name) != other.peers.end();
  if (up) return TunnelLook::kUp;
  const auto known = [](const WanSiteLine& site) { return !site.ready.empty() && site.ready != "Unknown"; };
  return known(one) || known(other) ? TunnelLook::kDown : TunnelLook::kUnknown;
}

WanPicture wan_picture(const std::vector<Json>& sites, const std::vector<Json>& links) {
  WanPicture picture;
  for (const Json& site : sites) {
    const Json& spec = member_in(site, "spec");
    const Json& status = member_in(site, "status");
    const Json* const ready = condition_in(site, "Ready");
    picture.sites.push_back({.name = full_name(site),
                             .role = or_else(text_in(spec, "role"), "spoke"),
                             .node = text_in(status, "node"),
                             .ready = ready == nullptr ? std::string() : text_in(*ready, "status"),
                             .why = ready == nullptr ? std::string() : text_in(*ready, "message"),
                             .prefixes = texts_in(spec, "prefixes"),
                             .peers = texts_in(status, "peers"),
                             .link_count = text_in(member_in(status, "links"), "summary")});
  }
  std::ranges::sort(picture.sites, {}, &WanSiteLine::name);
  for (const Json& link : links) {
    const std::string of = referred(link, text_in(member_in(link, "spec"), "siteRef"));
    const auto site = std::ranges::lower_bound(picture.sites, of, {}, &WanSiteLine::name);
    if (site != picture.sites.end() && site->name == of) site->links.push_back(link_line(link));
  }
  for (WanSiteLine& site : picture.sites) std::ranges::sort(site.links, {}, &WanLinkLine::name);
  return picture;
}

std::string wan_status_text(const WanPicture& picture, const std::vector<Json>& policies, std::int64_t now) {
  TextTable sites({"SITE", "ROLE", "NODE", "LINKS", "TUNNELS UP TO", "READY"});
  std::string amiss;
  for (const WanSiteLine& site : picture.sites) {
    sites.add({shown(site.name), shown(site.role), cell(site.node), cell(site.link_count),
               cell(joined_text(site.peers)), or_else(shown(site.ready), "Unknown")});
    if (site.ready != "True" && !site.why.empty()) amiss += "Site " + shown(site.name) + ": " + shown(site.why) + "\n";
    for (const WanLinkLine& link : site.links) {
      if (link.healthy == "False") amiss += "WANLink " + shown(link.name) + ": not healthy\n";
      amiss += down_text(link);
    }
  }
  TextTable paths({"POLICY", "FROM", "TO", "LINKS", "SINCE", "WHY"});
  for (const Json& policy : policies) {
    const std::string name = full_name(policy);
    for (const Json& path : list_in(member_in(policy, "status"), "paths")) {
      const std::string since = text_in(path, "since");
      paths.add({shown(name), cell(text_in(path, "site")), cell(text_in(path, "peer")),
                 cell(joined_text(texts_in(path, "links"))), since.empty() ? "<unknown>" : age_of(since, now),
                 cell(text_in(path, "reason"))});
    }
    const Json* const ready = condition_in(policy, "Ready");
    if (ready != nullptr && text_in(*ready, "status") != "True") {
      amiss += "WANPolicy " + shown(name) + ": " + shown(text_in(*ready, "message")) + "\n";
    }
  }
  std::string out = sites.take(true);
  if (!paths.empty()) out += "\n" + paths.take(true);
  if (!amiss.empty()) out += "\n" + amiss;
  return out;
}

OrderedJson wan_status_json(const WanPicture& picture, const std::vector<Json>& policies) {
  OrderedJson out = {{"sites", OrderedJson::array()}, {"policies", OrderedJson::array()}};
  for (const WanSiteLine& site : picture.sites) out["sites"].push_back(wan_site_json(site));
  for (const Json& policy : policies) {
    const Json* const ready = condition_in(policy, "Ready");
    out["policies"].push_back({{"name", full_name(policy)},
                               {"ready", ready == nullptr ? std::string("Unknown") : text_in(*ready, "status")},
                               {"paths", OrderedJson(list_in(member_in(policy, "status"), "paths"))}});
  }
  return out;
}

std::string wan_topology_text(const WanPicture& picture) {
  std::string out;
  if (!has_hub(picture)) {
    draw_mesh(picture, out);
    return out;
  }
  for (std::size_t site = 0; site < picture.sites.size(); ++site) {
    if (picture.sites[site].role != "hub") continue;
    if (!out.empty()) out += "\n";
    draw_hub(picture, site, out);
  }
  return out;
}

std::string wan_topology_dot(const WanPicture& picture) {
  std::string out = "graph sdwan {\n  node [shape=box];\n";
  for (const WanSiteLine& site : picture.sites) {
    std::string label = site.name;
    for (const WanLinkLine& link : site.links) {
      label += "\n" + link.name.substr(link.name.find('/') + 1) + (link.healthy == "False" ? " (not healthy)" : "");
    }
    out += "  " + quoted(site.name) + " [label=" + json_line(Json(label)) + (site.role == "hub" ? ", style=bold" : "") +
           "];\n";
  }
  for (std::size_t a = 0; a < picture.sites.size(); ++a) {
    for (std::size_t b = a + 1; b < picture.sites.size(); ++b) {
      const TunnelLook look = picture.tunnel(a, b);
      if (look == TunnelLook::kNone) continue;
      out += "  " + quoted(picture.sites[a].name) + " -- " + quoted(picture.sites[b].name) +
             (look == TunnelLook::kUp ? "" : " [style=dashed, color=red]") + ";\n";
    }
  }
  return out + "}\n";
}

OrderedJson wan_topology_json(const WanPicture& picture) {
  OrderedJson out = {{"sites", OrderedJson::array()}, {"tunnels", OrderedJson::array()}};
  for (const WanSiteLine& site : picture.sites) out["sites"].push_back(wan_site_json(site));
  for (std::size_t a = 0; a < picture.sites.size(); ++a) {
    for (std::size_t b = a + 1; b < picture.sites.size(); ++b) {
      const TunnelLook look = picture.tunnel(a, b);
      if (look == TunnelLook::kNone) continue;
      out["tunnels"].push_back(
          {{"between", {picture.sites[a].name, picture.sites[b].name}}, {"state", look_text(look)}});
    }
  }
  return out;
}

}  // namespace edge::edgectl
