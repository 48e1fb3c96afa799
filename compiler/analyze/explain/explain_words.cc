#include "compiler/analyze/explain/explain_words.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/analyze/explain/explain.h"
#include "program/cluster_traffic.h"
#include "program/filter_table.h"
#include "program/format/records.h"

namespace edge::compiler::analyze {
namespace {

constexpr std::size_t kMaxShown = 200;

/// Quoted, with control bytes as escapes: it is printed on a terminal.
std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text.substr(0, kMaxShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + (text.size() > kMaxShown ? "…\"" : "\"");
}

std::string slot_text(const program::MatchInput& input, std::uint32_t slot) {
  const program::SlotValue& value = input.slots[slot];
  return value.data == nullptr ? "absent" : quoted({value.data, value.size});
}

std::string rule_text(const ExplainedRule& rule) {
  return rule.route + " rules[" + std::to_string(rule.rule) + "].matches[" + std::to_string(rule.match) + "]";
}

std::string backend_text(const ExplainedBackend& backend, bool alone) {
  std::string text = backend.name.empty() ? "(unresolved, answers 500)" : backend.name;
  text += " weight " + std::to_string(backend.weight);
  return text + (backend.canary && !alone ? " (takes X-Canary: true)" : "");
}

std::string engine_text(const ExplainedEngine& engine) {
  std::string text = engine.name;
  switch (engine.state) {
    case ExplainedEngine::State::kAgrees:
      text += " agrees";
      break;
    case ExplainedEngine::State::kDisagrees:
      text += " DISAGREES";
      break;
    case ExplainedEngine::State::kNotNeeded:
      text += " not needed";
      break;
    case ExplainedEngine::State::kNotRun:
      text += " not run";
      break;
  }
  return engine.note.empty() ? text : text + " (" + engine.note + ")";
}

void append_rules(const ExplainedHost& host, bool all, std::string& out) {
  std::string where;
  std::size_t hidden[2] = {0, 0};
  for (const ExplainedRule& rule : host.rules) {
    const bool looked_at = rule.match_result == ExplainedRule::MatchResult::kWon ||
                           rule.match_result == ExplainedRule::MatchResult::kFailed;
    if (!looked_at && !all) {
      ++hidden[rule.match_result == ExplainedRule::MatchResult::kNotTried ? 0 : 1];
      continue;
    }
    if (rule.where != where) out += "  " + rule.where + "\n";
    where = rule.where;
    switch (rule.match_result) {
      case ExplainedRule::MatchResult::kWon:
        out += "    + " + rule_text(rule) + ": wins";
        break;
      case ExplainedRule::MatchResult::kFailed:
        out += "    - " + rule_text(rule) + ": fails " + rule.failed;
        if (!rule.actual.empty()) out += "; the request has " + rule.actual;
        break;
      case ExplainedRule::MatchResult::kNotTried:
        out += "    . " + rule_text(rule) + ": an earlier rule won";
        break;
      case ExplainedRule::MatchResult::kOtherPath:
        out += "    . " + rule_text(rule) + ": another path";
        break;
    }
    if (rule.match_result != ExplainedRule::MatchResult::kFailed && !rule.condition.empty())
      out += ", " + rule.condition;
    out += "\n";
  }
  if (hidden[0] > 0) out += "  (" + std::to_string(hidden[0]) + " of lower priority; --all lists them)\n";
  if (hidden[1] > 0) out += "  (" + std::to_string(hidden[1]) + " of other paths; --all lists them)\n";
}

}  // namespace

std::string request_text(const program::RequestView& request) {
  std::string text(request.method);
  text += " http://" + std::string(request.host) + std::string(request.path);
  if (!request.query.empty()) text += "?" + std::string(request.query);
  return text + " from " + to_string(request.source);
}

std::string bind_text(const program::ProgramView& program, std::uint32_t bind) {
  const program::SectionView& section = program.listeners().view;
  const auto& record = section.array(section.header<program::ListenersHeader>().binds)[bind];
  const std::string port = ":" + std::to_string(record.port);
  if (record.any_address != 0) return "*" + port;
  IpAddress address;
  std::memcpy(address.bytes.data(), record.address, sizeof(record.address));
  return (address.is_v4() ? to_string(address) : "[" + to_string(address) + "]") + port;
}

std::string clients_text(const program::ListenerTlsRecord* tls) {
  const auto need = tls == nullptr ? program::kNoClientCertificate : tls->client_certificate;
  switch (need) {
    case program::kNoClientCertificate:
      break;
    case program::kNeedsClientCertificate:
      return "with a valid certificate alone are served; the backend is sent X-SSL-Client-Verify";
    case program::kOptionalClientCertificate:
      return "without a certificate are served too; the backend is sent X-SSL-Client-Verify";
    case program::kUnverifiedClientCertificate:
      return "without a valid certificate are served too; the backend is sent X-SSL-Client-Verify";
  }
  return {};
}

std::string backend_name(const program::ProgramView& program, std::uint64_t id) {
  const program::SectionView& section = program.backends().view;
  const auto backends = section.array(section.header<program::BackendsHeader>().backends);
  const auto found = std::ranges::lower_bound(backends, id, {}, &program::BackendRecord::id);
  if (found == backends.end() || found->id != id) return {};
  return std::string(section.string(found->name_space)) + "/" + std::string(section.string(found->name));
}

namespace {

std::vector<const program::ClusterRefRecord*> by_priority(std::span<const program::ClusterRefRecord> clusters) {
  std::vector<const program::ClusterRefRecord*> order;
  for (const program::ClusterRefRecord& cluster : clusters) order.push_back(&cluster);
  std::ranges::stable_sort(order, {}, &program::ClusterRefRecord::priority);
  return order;
}

std::string cluster_text(const program::SectionView& section, const program::ClusterRefRecord& cluster) {
  const std::string_view name = section.string(cluster.cluster);
  const std::string_view region = section.string(cluster.region);
  std::string text = name == program::kAnyCluster ? "every cluster that exports it" : "cluster " + std::string(name);
  text.append(" (").append(section.string(cluster.service));
  if (!region.empty()) text.append(", region ").append(region);
  if (cluster.weight != 1) text.append(", weight ").append(std::to_string(cluster.weight));
  return text + ")";
}

}  // namespace

std::vector<std::string> cluster_texts(const program::ProgramView& program, std::uint64_t id) {
  const program::SectionView& section = program.backends().view;
  const auto clusters = program::clusters_of(section, id);
  if (clusters.empty()) return {};
  const program::ClusterRefRecord& first = clusters.front();
  const std::string percent = std::to_string(first.healthy_percent) + "%";
  std::string own = "own endpoints first, those of the agent's zone before others: all requests while " + percent +
                    " of them can take any";
  if (first.most_in_flight != 0) {
    own += ", and no more than " + std::to_string(first.most_in_flight) + " are in flight for each";
  }
  std::vector<std::string> out = {own};
  std::uint32_t before = 0;
  for (const program::ClusterRefRecord* cluster : by_priority(clusters)) {
    const std::string text = cluster_text(section, *cluster);
    if (cluster->priority == before) {
      out.back() += " and " + text;
    } else {
      out.push_back("then priority " + std::to_string(cluster->priority) + ": " + text);
    }
    before = cluster->priority;
  }
  out.push_back(
      "clusters of the agent's region before others of their priority; each priority takes what keeps its "
      "healthy endpoints at 100/" +
      std::to_string(first.healthy_percent) + " of their usual load");
  return out;
}

std::string clusters_text(const program::ProgramView& program, std::uint64_t id) {
  const program::SectionView& section = program.backends().view;
  const auto clusters = program::clusters_of(section, id);
  if (clusters.empty()) return {};
  std::string text = " (below " + std::to_string(clusters.front().healthy_percent) + "% of its endpoints also";
  std::uint32_t before = 0;
  for (const program::ClusterRefRecord* cluster : by_priority(clusters)) {
    text += before == 0 ? " " : cluster->priority == before ? " and " : ", then ";
    text += "cluster " + std::string(section.string(cluster->cluster));
    before = cluster->priority;
  }
  return text + ")";
}

std::string filter_text(const program::SectionView& host, const program::FilterRecord& filter) {
  const std::uint32_t port = program::redirect_port(filter);
  const std::pair<std::string_view, std::string> values[] = {
      {"{name}", std::string(host.string(filter.name))},
      {"{value}", std::string(host.string(filter.value))},
      {"{detail}", std::to_string(filter.detail)},
      {"{status}", std::to_string(program::redirect_status(filter))},
      {"{port}", port == 0 ? "" : " to port " + std::to_string(port)}};
  std::string text;
  for (std::string_view rest = row_of(filter.op).sentence; !rest.empty();) {
    const auto next = std::ranges::find_if(values, [&](const auto& value) { return rest.starts_with(value.first); });
    text += next == std::end(values) ? std::string(1, rest.front()) : next->second;
    rest.remove_prefix(next == std::end(values) ? 1 : next->first.size());
  }
  return text;
}

std::string actual_text(const program::SectionView& host, std::uint32_t node, const program::MatchInput& input) {
  using program::Op;
  const auto& header = host.header<program::HostHeader>();
  const auto nodes = host.array(header.nodes);
  const program::NodeRecord& record = nodes[node];
  switch (record.op) {
    case Op::kNot:
      return actual_text(host, record.a, input);
    case Op::kPresent:
    case Op::kEquals:
    case Op::kPathPrefix:
    case Op::kContains:
      return slot_text(input, record.slot);
    case Op::kRegex:
      return slot_text(input, host.array(header.regexes)[record.a].slot);
    case Op::kSourceIn: {
      IpAddress address;
      std::memcpy(address.bytes.data(), input.source, address.bytes.size());
      return "source " + to_string(address);
    }
    case Op::kAnd:
    case Op::kOr:
    case Op::kFalse:
      break;
  }
  return {};
}

std::string explanation_text(const Explanation& explanation, bool all) {
  std::string out = "request   " + explanation.request + "\nbind      " + explanation.bind + "\n";
  const bool refused = explanation.handshake && explanation.handshake->answer == ExplainedHandshake::Answer::kRefused;
  if (explanation.handshake) out += "tls       " + explanation.handshake->text + "\n";
  if (refused) return out + "answer    none: no request reaches the rules\n";
  if (explanation.path_refused) return out + "answer    400, spec.paths of the gateway refuses the path\n";
  if (explanation.listener.empty()) return out + "listener  none takes this host\nanswer    404\n";
  out += "listener  " + explanation.listener + " of ProxyGateway " + explanation.gateway + "\n";
  if (!explanation.clients.empty()) out += "clients   " + explanation.clients + "\n";
  if (!explanation.token_policy.empty()) {
    out += "claims    only of a token that the JWT policy " + explanation.token_policy + " has verified before\n";
  }
  const auto& redirect = explanation.redirect;
  const std::string redirected = redirect ? std::to_string(redirect->status) + " to " + redirect->location : "";
  if (redirect && redirect->of_listener) {
    return out + "answer    " + redirected + ": redirectScheme, before rules and policies are asked\n";
  }
  if (explanation.hosts.empty()) out += "host      no route serves it here\n";
  for (const ExplainedHost& host : explanation.hosts) {
    out += "host      " + host.pattern + (host.tried ? "\n" : ": not asked, a more specific host had the winner\n");
    if (host.tried) append_rules(host, all, out);
  }
  if (!explanation.matched) {
    out += "winner    none\n";
    for (const std::string& policy : explanation.policies) out += "policy    " + policy + "\n";
    if (explanation.denied) {
      out += "answer    503, a policy that protects the listener cannot be enforced\n";
    } else {
      out += explanation.policies.empty() ? "answer    404\n" : "answer    404, unless a policy answers before\n";
    }
  } else {
    out += "winner    ProxyRoute " + rule_text(explanation.winner) + "\n";
    for (const std::string& policy : explanation.policies) out += "policy    " + policy + "\n";
    for (const std::string& limit : explanation.limits) out += "limit     " + limit + "\n";
    for (const std::string& filter : explanation.filters) out += "filter    " + filter + "\n";
    for (const ExplainedBackend& backend : explanation.backends) {
      out += "backend   " + backend_text(backend, explanation.backends.size() == 1) + "\n";
      for (const std::string& cluster : backend.clusters) out += "endpoints " + cluster + "\n";
      if (!backend.filters) continue;
      for (const std::string& filter : *backend.filters) out += "  filter    " + filter + "\n";
    }
    if (redirect) {
      out += "answer    " + redirected + (explanation.policies.empty() ? "\n" : ", unless a policy answers before\n");
    }
    if (explanation.denied) out += "answer    503, a policy that protects the route cannot be enforced\n";
  }
  out += "engines   interpreter decided";
  for (const ExplainedEngine& engine : explanation.engines) out += "; " + engine_text(engine);
  return out + "\n";
}

}  // namespace edge::compiler::analyze
