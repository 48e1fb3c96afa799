#include "edgectl/reports/wan_report.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

Json wan_site(const std::string& name, const std::string& role, const Json& peers, const std::string& ready) {
  return {{"metadata", {{"namespace", "n"}, {"name", name}}},
          {"spec", {{"role", role}, {"prefixes", {"10.1.0.0/16"}}}},
          {"status",
           {{"node", "edge-" + name},
            {"peers", peers},
            {"links", {{"summary", "1/1"}}},
            {"conditions", {{{"type", "Ready"}, {"status", ready}, {"message", "no tunnel is up to n/x"}}}}}}};
}

Json wan_link(const std::string& name, const std::string& site, const std::string& healthy) {
  return {{"metadata", {{"namespace", "n"}, {"name", name}}},
          {"spec", {{"siteRef", site}, {"provider", "Nordnetz"}}},
          {"status",
           {{"latency", "12.3ms"}, {"loss", "0.25%"}, {"conditions", {{{"type", "Healthy"}, {"status", healthy}}}}}}};
}

std::vector<Json> sites(bool hub) {
  return {wan_site("hamburg", hub ? "hub" : "spoke", {"n/bremen"}, "True"),
          wan_site("bremen", "spoke", {"n/hamburg"}, "True"), wan_site("kiel", "spoke", Json::array(), "False")};
}

std::vector<Json> links() { return {wan_link("fibre", "n/hamburg", "True"), wan_link("mobile", "bremen", "False")}; }

TEST(WanReport, DrawsAHubWithTheSitesAroundIt) {
  EXPECT_EQ(wan_topology_text(wan_picture(sites(true), links())),
            "n/hamburg (hub)  10.1.0.0/16  node edge-hamburg\n"
            "│   - fibre  primary  Nordnetz  12.3ms  0.25% lost  healthy\n"
            "├──── n/bremen (spoke)  10.1.0.0/16  node edge-bremen  up\n"
            "│     - mobile  primary  Nordnetz  12.3ms  0.25% lost  NOT HEALTHY\n"
            "└─╳── n/kiel (spoke)  10.1.0.0/16  node edge-kiel  down\n");
}

TEST(WanReport, DrawsEveryPairWithoutAHub) {
  const std::string text = wan_topology_text(wan_picture(sites(false), {}));
  EXPECT_NE(text.find("TUNNELS       1      2      3\n"
                      "1 n/bremen    -      up     down\n"
                      "2 n/hamburg   up     -      down\n"
                      "3 n/kiel      down   down   -\n"),
            std::string::npos)
      << text;
}

TEST(WanReport, IsAGraph) {
  const WanPicture picture = wan_picture(sites(true), links());
  EXPECT_EQ(wan_topology_dot(picture),
            "graph sdwan {\n"
            "  node [shape=box];\n"
            "  \"n/bremen\" [label=\"n/bremen\\nmobile (not healthy)\"];\n"
            "  \"n/hamburg\" [label=\"n/hamburg\\nfibre\", style=bold];\n"
            "  \"n/kiel\" [label=\"n/kiel\"];\n"
            "  \"n/bremen\" -- \"n/hamburg\";\n"
            "  \"n/hamburg\" -- \"n/kiel\" [style=dashed, color=red];\n"
            "}\n");
  const auto json = wan_topology_json(picture);
  ASSERT_EQ(json["tunnels"].size(), 2U) << "spokes have none between them";
  EXPECT_EQ(json["tunnels"][0]["state"], "up");
  EXPECT_EQ(json["sites"][0]["links"][0]["healthy"], "False");
}

TEST(WanReport, ShowsWhatMovedWhenAndWhy) {
  const Json policy = {{"metadata", {{"namespace", "n"}, {"name", "voice"}}},
                       {"status",
                        {{"paths",
                          {{{"site", "n/hamburg"},
                            {"peer", "n/bremen"},
                            {"links", {"n/fibre"}},
                            {"since", "1970-01-01T00:00:00Z"},
                            {"reason", "fault: loss"}}}},
                         {"conditions", {{{"type", "Ready"}, {"status", "False"}, {"message", "none keeps them"}}}}}}};
  EXPECT_EQ(wan_status_text(wan_picture(sites(true), links()), {policy}, 300),
            "SITE        ROLE    NODE           LINKS   TUNNELS UP TO   READY\n"
            "n/bremen    spoke   edge-bremen    1/1     n/hamburg       True\n"
            "n/hamburg   hub     edge-hamburg   1/1     n/bremen        True\n"
            "n/kiel      spoke   edge-kiel      1/1     <none>          False\n"
            "\n"
            "POLICY    FROM        TO         LINKS     SINCE   WHY\n"
            "n/voice   n/hamburg   n/bremen   n/fibre   5m      fault: loss\n"
            "\n"
            "WANLink n/mobile: not healthy\n"
            "Site n/kiel: no tunnel is up to n/x\n"
            "WANPolicy n/voice: none keeps them\n");
  EXPECT_EQ(wan_status_json(wan_picture(sites(true), links()), {policy})["policies"][0]["paths"][0]["peer"],
            "n/bremen");
}

TEST(WanReport, NamesTunnelsThatAreDown) {
  Json link = wan_link("fibre", "n/hamburg", "True");
  for (const char* site : {"n/a", "n/b", "n/c", "n/d", "n/e", "n/f"}) {
    link["status"]["tunnels"]["down"].push_back({{"site", site},
                                                 {"link", "n/dsl"},
                                                 {"message", "no handshake was answered"},
                                                 {"since", "2026-01-01T00:00:00Z"}});
  }
  const WanPicture picture = wan_picture(sites(true), {link});
  const std::string text = wan_status_text(picture, {}, 0);
  EXPECT_NE(text.find("WANLink n/fibre: tunnel to n/d by n/dsl is down: no handshake was answered\n"
                      "WANLink n/fibre: 2 more tunnels are down\n"),
            std::string::npos)
      << text;
  const auto json = wan_status_json(picture, {})["sites"][1]["links"][0]["tunnelsDown"];
  ASSERT_EQ(json.size(), 6U);
  EXPECT_EQ(json[5]["site"], "n/f");
  EXPECT_EQ(json[5]["since"], "2026-01-01T00:00:00Z");
}

TEST(WanReport, SiteThatNobodyReportsIsUnknown) {
  const WanPicture picture =
      wan_picture({{{"metadata", {{"namespace", "n"}, {"name", "a"}}}, {"spec", Json::object()}},
                   {{"metadata", {{"namespace", "n"}, {"name", "b"}}}, {"spec", Json::object()}}},
                  {});
  EXPECT_EQ(picture.tunnel(0, 1), TunnelLook::kUnknown);
  EXPECT_NE(wan_status_text(picture, {}, 0).find("n/a"), std::string::npos);
}

}  // namespace
}  // namespace edge::edgectl
