#include "compiler/route_test/generate.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compiler/analyze/space/host_classes.h"
#include "compiler/analyze/space/host_rules.h"
#include "compiler/analyze/space/space.h"
#include "compiler/analyze/space/witness.h"
#include "compiler/expr/regex_matcher.h"
#include "compiler/route_test/run.h"
#include "program/claim_field.h"
#include "program/format/records.h"

namespace edge::compiler::route_test {
namespace {

using analyze::Effort;
using analyze::Finding;
using analyze::HostRules;
using analyze::Set;
using analyze::Space;
using analyze::TableRule;
using analyze::Witness;
using analyze::WitnessView;
using program::kNone;
using PathClass = program::Trace::PathClass;

/// Steps for one request; what takes more is a rule among thousands that all but cover it.
constexpr std::uint64_t kEffort = 200'000;
/// Conditions of one rule that are missed one by one.
constexpr std::size_t kMaxParts = 16;
constexpr const char* kOddSegment = "/~w";

class Generator {
 public:
  Generator(const program::ProgramView& program, std::size_t most)
      : program_(program), most_(most), regex_(expr::regex_matcher()) {}

  Generated run() {
    const program::SectionView& view = program_.listeners().view;
    const auto binds = view.array(view.header<program::ListenersHeader>().binds);
    for (std::uint32_t bind = 0; bind < binds.size(); ++bind) {
      if (binds[bind].protocol == program::Protocol::kUdp) {
        count_datagrams(bind);
        continue;
      }
      // Another address on the same port cannot be told from it in a URL.
      if (*analyze::bind_of_port(program_, binds[bind].port, true) == bind) run_bind(bind, binds[bind].port);
    }
    return std::move(out_);
  }

 private:
  /// Rules for datagrams, which no request reaches.
  void count_datagrams(std::uint32_t bind) {
    const analyze::HostClasses classes(program_, bind);
    for (const program::Section* host : classes.chain({}).hosts) {
      space_ = Space();
      if (seen_hosts_.insert(host->id).second) out_.unreached += HostRules(space_, *host).rules().size();
    }
  }

  bool full() const { return out_.cases.size() >= most_; }

  void run_bind(std::uint32_t bind, std::uint16_t port) {
    const analyze::HostClasses classes(program_, bind);
    analyze::PatternMap index;
    for (std::uint32_t i = 0; i < classes.patterns().size(); ++i) index.add(classes.patterns()[i].text(), i);
    for (std::uint32_t i = 0; i < classes.patterns().size() && !full(); ++i) {
      const HostPattern& pattern = classes.patterns()[i];
      const auto name = analyze::name_of_class(pattern, i, index);
      if (!name) continue;
      base_ = Witness{};
      base_.host = *name;
      base_.port = port;
      base_.source = *parse_ip("127.0.0.1");
      const analyze::HostChain chain = classes.chain(*name);
      const std::string shown = pattern.any() ? "*" : pattern.text();
      add_host_edges(pattern, shown);
      if (chain.hosts.empty()) {
        add("no rule for host " + shown, base_);
      } else if (seen_hosts_.insert(chain.hosts.front()->id).second) {
        run_host(*chain.hosts.front(), shown);
      }
    }
  }

  // ---- Hosts ------------------------------------------------------------------------------------------------------

  void add_host_edges(const HostPattern& pattern, const std::string& shown) {
    if (pattern.any()) return;
    const std::string capitals = [this] {
      std::string text = base_.host;
      for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
      return text;
    }();
    add("host " + shown + " in capitals, with a dot at its end", base_, capitals + ".");
    Witness other = base_;
    other.host = "a.b." + std::string(pattern.domain());
    add("two labels below " + std::string(pattern.domain()), other);
    other.host = "not" + std::string(pattern.domain());
    add("a host that only ends like " + shown, other);
    if (!pattern.wildcard()) return;
    other.host = pattern.domain();
    add("the domain of " + shown + " itself", other);
  }

  void run_host(const program::Section& host, const std::string& shown) {
    space_ = Space();
    HostRules rules(space_, host);
    for (const TableRule& rule : rules.rules()) {
      if (full()) {
        out_.cut_off = true;
        return;
      }
      run_rule(host, rules, rule);
    }
    add_fall_through(rules, shown);
  }

  /// A request that no rule of the host takes, where there is one.
  void add_fall_through(HostRules& rules, const std::string& shown) {
    Effort effort(kEffort);
    const Finding finding = space_.find(space_.everything(), effort, [&](const Witness& request) -> std::optional<Set> {
      const WitnessView view(request);
      const auto taker = rules.taker(view.view(), regex_);
      return taker ? std::optional(rules.matches(*taker)) : std::nullopt;
    });
    if (finding.state == Finding::State::kFound) add("no rule of host " + shown, placed(*finding.request));
  }

  // ---- Rules ------------------------------------------------------------------------------------------------------

  void run_rule(const program::Section& host, HostRules& rules, const TableRule& rule) {
    const std::string name = rule_name(host, rule.action);
    Effort effort(kEffort);
    const Finding finding = space_.find(rules.matches(rule), effort, [&](const Witness& request) -> std::optional<Set> {
      const WitnessView view(request);
      const auto taker = rules.taker(view.view(), regex_);
      if (taker && taker->same_match(rule)) return std::nullopt;
      return taker ? std::optional(rules.matches(*taker)) : std::optional(space_.everything());
    });
    if (finding.state != Finding::State::kFound) {
      ++out_.unreached;
      return;
    }
    const Witness reaching = placed(*finding.request);
    add("reaches " + name, reaching);
    add_path_edges(rule, name, reaching);
    add_conditions(host, rules, rule, name);
    const program::ActionRecord& action = host.view.array(host.view.header<program::HostHeader>().actions)[rule.action];
    if (program::split_of(host.view, action).backends.size() > 1) {
      Witness canary = reaching;
      canary.headers.emplace_back("x-canary", "true");
      add("canary of " + name, canary);
    }
  }

  void add_path_edges(const TableRule& rule, const std::string& name, const Witness& reaching) {
    if (rule.path_class != PathClass::kExact && rule.path_class != PathClass::kPrefix) return;
    const auto with = [&](const std::string& what, const std::string& path) {
      if (path.empty() || !analyze::is_normal_path(path)) return;
      Witness edge = reaching;
      edge.path = path;
      add(what + name, edge);
    };
    const std::string key = rule.path == "/" ? std::string() : rule.path;
    with("the path itself of ", key.empty() ? "/" : key);
    with("a slash after the path of ", key + "/");
    with("a segment below the path of ", key + kOddSegment);
    with("a longer last segment than ", key.empty() ? "" : key + "v2");
    std::string capitals = key;
    for (char& c : capitals) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
    if (capitals != key) with("capitals in the path of ", capitals);
    with("the path above that of ", key.substr(0, key.rfind('/')));
  }

  /// One request for each condition that alone fails, and one for each alternative that alone holds.
  void add_conditions(const program::Section& host, HostRules& rules, const TableRule& rule, const std::string& name) {
    if (rule.predicate == kNone) return;
    const auto& header = host.view.header<program::HostHeader>();
    const program::NodeRecord& node = host.view.array(header.nodes)[rule.predicate];
    std::vector<std::uint32_t> parts = {rule.predicate};
    const bool junction = node.op == program::Op::kAnd || node.op == program::Op::kOr;
    if (junction) {
      const auto operands = host.view.array(header.operands).subspan(node.a, node.b);
      parts.assign(operands.begin(),
                   operands.begin() + static_cast<std::ptrdiff_t>(std::min(operands.size(), kMaxParts)));
    }
    TableRule position = rule;
    position.predicate = kNone;
    const bool alternatives = node.op == program::Op::kOr;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::vector<Set> sets = {rules.matches(position)};
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const Set part = rules.predicate(parts[k]);
        sets.push_back((k == i) == alternatives ? part : space_.complement(part));
      }
      Effort effort(kEffort);
      const Finding finding = space_.find(space_.all_of(std::move(sets)), effort);
      if (finding.state != Finding::State::kFound) continue;
      const std::string number = parts.size() == 1 ? std::string() : " " + std::to_string(i + 1);
      add((alternatives ? "by alternative" : "misses condition") + number + " of " + name, placed(*finding.request));
    }
  }

  static std::string rule_name(const program::Section& host, std::uint32_t index) {
    const auto& header = host.view.header<program::HostHeader>();
    const program::ActionRecord& action = host.view.array(header.actions)[index];
    const program::RouteRecord& route = host.view.array(header.routes)[action.route];
    return std::string(program::name_space_of(host.view, route)) + "/" + std::string(host.view.string(route.name)) +
           " rules[" + std::to_string(action.rule) + "].matches[" + std::to_string(action.match) + "]";
  }

  // ---- Cases ------------------------------------------------------------------------------------------------------

  /// On the host at hand; an address that nothing is asked of is the usual one.
  Witness placed(Witness request) const {
    request.host = base_.host;
    request.port = base_.port;
    if (request.source == IpAddress{}) request.source = base_.source;
    return request;
  }

  /// What a text file can hold: other bytes would be read back as something else.
  static bool printable(const Witness& request) {
    const auto plain = [](const std::string& text) {
      return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
    };
    return plain(request.method) && plain(request.query) &&
           std::ranges::all_of(request.headers, [&](const auto& header) { return plain(header.second); });
  }

  void add(std::string name, const Witness& request, std::string written_host = {}) {
    if (full() || request.path == "*" || !printable(request)) return;
    if (!seen_.insert(analyze::witness_text(request) + "\n" + written_host).second) return;
    Case one;
    one.name = std::move(name);
    one.request.request = request;
    // As it will be read back: the text of a claim, and its elements, belong together.
    analyze::NameValues& headers = one.request.request.headers;
    const analyze::NameValues claims = program::take_claims(headers);
    for (auto& field : program::claim_fields(claims)) headers.push_back(std::move(field));
    one.request.port_written = true;
    one.written_host = std::move(written_host);
    const CaseResult result = run_case(program_, one, regex_);
    one.expect = expectation_of(result.passage);
    out_.cases.push_back(std::move(one));
  }

  const program::ProgramView& program_;
  std::size_t most_;
  program::RegexMatcher regex_;
  Space space_;
  Witness base_;  ///< of the host at hand
  std::set<std::uint64_t> seen_hosts_;
  std::set<std::string> seen_;
  Generated out_;
};

}  // namespace

Generated generate_cases(const program::ProgramView& program, std::size_t most) {
  return Generator(program, most).run();
}

}  // namespace edge::compiler::route_test
