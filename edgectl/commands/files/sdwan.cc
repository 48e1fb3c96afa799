// edgectl sdwan explain: which way a packet between sites takes, and why, from the table that agents run.
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "compiler/link/wan/steering.h"
#include "edgectl/cluster_config.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/input.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/cluster.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;
using compiler::LinkedWan;
using compiler::LinkedWanPolicy;
using compiler::Steering;
using compiler::SteeringRule;
using compiler::SteeringTable;
using compiler::WanPacket;
using compiler::WanProtocol;

constexpr std::string_view kExplain = "edgectl sdwan explain";
constexpr std::int64_t kMostPort = 65'535;
constexpr std::int64_t kMostDscp = 63;

std::optional<std::int64_t> number(const std::string& text, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = fault == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

WanProtocol protocol_of(std::string_view name) {
  if (name == "tcp") return WanProtocol::kTcp;
  if (name == "udp") return WanProtocol::kUdp;
  return name == "icmp" ? WanProtocol::kIcmp : WanProtocol::kOther;
}

/// On nullopt stderr says what is wrong.
std::optional<WanPacket> packet_of(const cli::Arguments& arguments) {
  WanPacket packet;
  for (auto [name, address] : {std::pair("SOURCE", &packet.source), std::pair("DESTINATION", &packet.destination)}) {
    const auto parsed = parse_ip(arguments.one(name));
    if (!parsed) {
      cli::print_error(kExplain, "`" + arguments.one(name) + "` is no IP address");
      return std::nullopt;
    }
    *address = *parsed;
  }
  packet.protocol = protocol_of(arguments.one("protocol"));
  const auto port = number(arguments.one("port"), kMostPort);
  const auto dscp = number(arguments.one("dscp"), kMostDscp);
  if (!port || !dscp) {
    cli::print_error(kExplain, port ? "--dscp is a number from 0 to 63" : "--port is a number from 0 to 65535");
    return std::nullopt;
  }
  packet.port = static_cast<std::uint16_t>(*port);
  packet.dscp = static_cast<std::uint8_t>(*dscp);
  packet.gateway = arguments.one("gateway");
  return packet;
}

/// The configuration of the paths, or without any that of the cluster. On nullptr `exit` is set and stderr says why.
std::unique_ptr<Compiled> configuration(const cli::Arguments& arguments, int& exit) {
  const std::vector<std::string>& paths = arguments.all("file");
  auto read = read_paths(paths);
  if (!read) {
    exit = tell(kExplain, read.error());
    return nullptr;
  }
  if (paths.empty()) {
    const auto cluster = open_cluster(kExplain, arguments, exit);
    if (cluster == nullptr) return nullptr;
    if (const auto failure = add_cluster(*cluster, {}, (*read)->sources); !failure.none()) {
      exit = tell(kExplain, failure);
      return nullptr;
    }
  }
  (*read)->config = compiler::read_config((*read)->sources, (*read)->diagnostics, arguments.one("controller-class"));
  return std::move(*read);
}

std::string_view class_name(compiler::WanClass of) {
  switch (of) {
    case compiler::WanClass::kVoice:
      return "Voice";
    case compiler::WanClass::kDefault:
      return "Default";
    case compiler::WanClass::kBulk:
      return "Bulk";
    case compiler::WanClass::kByDscp:
      break;
  }
  return "";
}

/// What the policy does with packets beside choosing their link; empty: nothing.
std::string qos_text(const LinkedWanPolicy& policy) {
  std::string text;
  if (policy.set_dscp) text += "DSCP " + std::to_string(*policy.set_dscp);
  if (policy.traffic_class != compiler::WanClass::kByDscp) {
    text += (text.empty() ? "class " : ", class ") + std::string(class_name(policy.traffic_class));
  }
  return text;
}

std::string path_text(const LinkedWanPolicy& policy) {
  return policy.strategy + (policy.drops ? ", dropped when no link does" : ", by any link when none does");
}

/// A policy of the source's site that comes before the one that holds, and why it does not.
struct PassedOver {
  std::uint32_t policy = 0;
  std::string field;
};

std::vector<PassedOver> passed_over(const SteeringTable& table, const Steering& steering, const WanPacket& packet) {
  std::vector<PassedOver> all;
  for (const SteeringRule& rule : table.rules[*steering.from]) {
    if (const auto field = mismatch(rule.traffic, packet)) {
      all.push_back({rule.policy, std::string(*field)});
    } else {
      break;
    }
  }
  return all;
}

std::string reason(const Steering& steering) {
  if (!steering.to) return "no Site has the destination in its prefixes: the packet takes no tunnel";
  if (!steering.from) return "no Site has the source in its prefixes: the policies of the site that forwards it hold";
  if (steering.from == steering.to) return "source and destination are at one site: the packet takes no tunnel";
  return "";
}

std::string text_of(const LinkedWan& wan, const SteeringTable& table, const WanPacket& packet) {
  const Steering steering = steer(wan, table, packet);
  std::string out = to_string(packet) + "\n";
  if (steering.from) out += "from    " + wan.sites[*steering.from].id.text() + "\n";
  if (steering.to) out += "to      " + wan.sites[*steering.to].id.text() + "\n";
  if (const std::string why = reason(steering); !why.empty()) return out + why + "\n";
  out += "policy  " +
         (steering.policy ? wan.policies[*steering.policy].id.text() + ": " + path_text(wan.policies[*steering.policy])
                          : "none: the site's links in their order") +
         "\n";
  const std::string qos = steering.policy ? qos_text(wan.policies[*steering.policy]) : std::string();
  if (!qos.empty()) out += "given   " + qos + "\n";
  for (std::size_t i = 0; i < steering.links.size(); ++i) {
    out += (i == 0 ? "links   " : "        ") + std::to_string(i + 1) + ". " + wan.links[steering.links[i]].id.text() +
           "\n";
  }
  if (steering.links.empty()) out += "links   none is enabled\n";
  const char* heading = "before  ";
  for (const PassedOver& one : passed_over(table, steering, packet)) {
    out += std::exchange(heading, "        ") + wan.policies[one.policy].id.text() + ": `" + one.field +
           "` does not match\n";
  }
  return out;
}

OrderedJson json_of(const LinkedWan& wan, const SteeringTable& table, const WanPacket& packet) {
  const Steering steering = steer(wan, table, packet);
  const auto named = [](const compiler::Identity& id) { return id.name_space + "/" + id.name; };
  OrderedJson out = {{"packet", to_string(packet)}, {"from", nullptr}, {"to", nullptr}, {"policy", nullptr}};
  if (steering.from) out["from"] = named(wan.sites[*steering.from].id);
  if (steering.to) out["to"] = named(wan.sites[*steering.to].id);
  if (const std::string why = reason(steering); !why.empty()) {
    out["reason"] = why;
    return out;
  }
  if (steering.policy) {
    const LinkedWanPolicy& policy = wan.policies[*steering.policy];
    out["policy"] = named(policy.id);
    out["strategy"] = policy.strategy;
    out["fallback"] = policy.drops ? "Drop" : "BestEffort";
    if (policy.set_dscp) out["dscp"] = *policy.set_dscp;
    if (policy.traffic_class != compiler::WanClass::kByDscp) out["class"] = class_name(policy.traffic_class);
  }
  out["links"] = OrderedJson::array();
  for (const std::uint32_t link : steering.links) out["links"].push_back(named(wan.links[link].id));
  out["passedOver"] = OrderedJson::array();
  for (const PassedOver& one : passed_over(table, steering, packet)) {
    out["passedOver"].push_back({{"policy", named(wan.policies[one.policy].id)}, {"field", one.field}});
  }
  return out;
}

int explain(const cli::Arguments& arguments) {
  const auto packet = packet_of(arguments);
  if (!packet) return cli::kExitUsage;
  int exit = cli::kExitOk;
  const auto read = configuration(arguments, exit);
  if (read == nullptr) return exit;
  const LinkedWan& wan = read->config.wan;
  const SteeringTable table = make_steering(wan);
  return print(wants_data(arguments) ? data_text(arguments, indented_json(json_of(wan, table, *packet)))
                                     : text_of(wan, table, *packet));
}

}  // namespace

cli::Command sdwan_explain_command() {
  return {.name = "sdwan explain",
          .group = kFilesGroup,
          .summary = "Show which WANPolicy holds for a packet between sites, and the links it may take",
          .details =
              "Without --file the configuration is that of the cluster. Links are listed as the policy prefers "
              "them. What is at fault takes no part, as on agents.",
          .flags = {file_flag(kFilesToRead, /*required=*/false),
                    {.name = "protocol",
                     .value = "PROTOCOL",
                     .help = "Protocol of the packet",
                     .fallback = "tcp",
                     .choices = {"tcp", "udp", "icmp", "other"}},
                    {.name = "port", .value = "PORT", .help = "Port of the destination", .fallback = "0"},
                    {.name = "dscp", .value = "DSCP", .help = "Code point of the traffic class", .fallback = "0"},
                    {.name = "gateway",
                     .value = "NAMESPACE/NAME",
                     .help = "ProxyGateway whose own connection it is part of; without it the packet is forwarded"},
                    controller_class_flag(),
                    form_flag({"text", "json", "yaml"})},
          .positional = cli::Positional{.name = "SOURCE", .help = "IP address of the source"},
          .second = cli::Positional{.name = "DESTINATION", .help = "IP address of the destination"},
          .examples = {"edgectl sdwan explain 10.20.1.5 10.30.2.9 --protocol udp --port 5060 --dscp 46",
                       "edgectl sdwan explain 10.20.1.5 10.30.2.9 -f config/"},
          .run = explain,
          .global = true};
}

}  // namespace edge::edgectl
