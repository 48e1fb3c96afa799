#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/wan/site/site.h"

namespace edge::agent::wan {
namespace {

using testing::HasSubstr;
using testing::Not;

SiteState hamburg() {
  SiteState state;
  state.active = true;
  state.assignment.node.tunnels.site = "default/hamburg";
  state.assignment.measured.links = {{.id = "default/fibre"}, {.id = "default/off", .enabled = false}};
  state.assignment.measured.tunnels = {
      {.link = "default/fibre", .peer_site = "default/bremen", .peer_link = "default/cable"}};
  PathReport path{.measured = true, .alive = true};
  path.quality.latency = std::chrono::milliseconds(20);
  path.quality.jitter = std::chrono::milliseconds(2);
  path.quality.loss = 0.25;
  state.measured.links = {path, path};
  state.measured.tunnels = {path};
  state.measured.policies = {
      {.policy = "default/voice", .peer_site = "default/bremen", .best_effort = true, .moves = 3}};
  state.node.tunnels.tunnels = {
      {.link = "default/fibre",
       .peer = "default/bremen",
       .peer_link = "default/cable",
       .interface = "ewg1",
       .handshake = std::chrono::seconds(1'700'000'000),
       .endpoint = net::SocketAddress{*parse_ip("198.51.100.7"), 51820},
       .received = 5,
       .sent = 6,
       .fault = {}},
      {.link = "default/fibre", .peer = "default/bremen", .peer_link = "default/radio", .interface = {}, .fault = {}}};
  state.measured.reflector = {.answered = 7, .unknown = 1, .forged = 2, .replayed = 3, .limited = 4};
  return state;
}

std::string text_of(const SiteState& state) {
  metrics::Exposition out(metrics::Format::kText);
  write_metrics(state, out);
  return out.finish();
}

TEST(SiteMetrics, SayWhatIsMeasuredAndChosen) {
  const std::string text = text_of(hamburg());
  const std::string tunnel = "{link=\"default/fibre\",peer=\"default/bremen\",peer_link=\"default/cable\"} ";
  const std::string policy = "{policy=\"default/voice\",peer=\"default/bremen\"} ";
  EXPECT_THAT(text, HasSubstr("edge_wan_active{site=\"default/hamburg\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("edge_wan_tunnel_alive" + tunnel + "1\n"));
  EXPECT_THAT(text, HasSubstr("edge_wan_tunnel_latency_seconds" + tunnel + "0.02\n"));
  EXPECT_THAT(text, HasSubstr("edge_wan_tunnel_jitter_seconds" + tunnel + "0.002\n"));
  EXPECT_THAT(text, HasSubstr("edge_wan_tunnel_loss_ratio" + tunnel + "0.25\n"));
  const std::string labels = tunnel.substr(0, tunnel.size() - 2);
  EXPECT_THAT(text, HasSubstr("edge_wan_tunnel_handshake_timestamp_seconds" + tunnel + "1700000000\n"));
  EXPECT_THAT(text, HasSubstr("edge_wan_tunnel_bytes_total" + labels + ",direction=\"received\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("edge_wan_tunnel_bytes_total" + labels + ",direction=\"sent\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("edge_wan_tunnel_endpoint_info" + labels + ",endpoint=\"198.51.100.7:51820\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("peer_link=\"default/radio\""))) << "there is no interface, and was no session";
  EXPECT_THAT(text, HasSubstr("edge_wan_link_healthy{link=\"default/fibre\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("edge_wan_link_healthy{link=\"default/off\"}"))) << "nothing is sent on it";
  EXPECT_THAT(text, HasSubstr("edge_wan_moves_total" + policy + "3\n"));
  EXPECT_THAT(text, HasSubstr("edge_wan_unfit" + policy + "1\n"));
  EXPECT_THAT(text, HasSubstr("edge_wan_reflector_packets_total{result=\"forged\"} 2\n"));
}

TEST(SiteMetrics, OfANodeThatDoesNotHoldTheSiteSayOnlyThat) {
  SiteState state = hamburg();
  state.active = false;
  EXPECT_THAT(text_of(state), HasSubstr("edge_wan_active{site=\"default/hamburg\"} 0\n"));
  EXPECT_THAT(text_of(state), Not(HasSubstr("edge_wan_moves_total{")));
  EXPECT_THAT(text_of({}), Not(HasSubstr("edge_wan_active{"))) << "of no site";
}

}  // namespace
}  // namespace edge::agent::wan
