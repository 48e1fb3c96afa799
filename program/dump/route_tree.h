// The match tree of a program as plain values: the common source of the text and JSON forms of a dump.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/dump/settings_tree.h"
#include "program/mirror_share.h"
#include "program/read.h"

namespace edge::program {

struct TreeFilter {
  std::string op;     ///< e.g. `request-header set`
  std::string name;   ///< empty where the filter has none
  std::string value;  ///< empty where the filter has none
};

struct TreeBackend {
  std::string name;  ///< `namespace/name`, or `unresolved`
  std::uint32_t weight = 0;
  bool canary = false;
  /// Replace the action's filters, where different.
  std::optional<std::vector<TreeFilter>> filters{};
};

struct TreePolicyName {
  std::string name;  ///< `namespace/name`
  std::string type;
};

struct TreeAction {
  std::string route;  ///< `namespace/name`
  std::uint32_t rule = 0;
  std::uint32_t match = 0;
  std::vector<TreeBackend> backends;
  std::vector<TreeFilter> filters;
  std::vector<TreePolicyName> policies;  ///< in the order of evaluation
  struct Mirror {
    std::string backend;  ///< `namespace/name`
    MirrorShare share;
    std::string host;  ///< empty: that of the request
  };
  std::vector<Mirror> mirrors;
  const TreatmentRecord* treatment = nullptr;  ///< the limits; points into the program
};

struct TreeCandidate {
  std::string condition;  ///< empty: always
  TreeAction action;
};

struct TreeTarget {
  const char* path_class = "";  ///< `exact`, `prefix`, `regex`, `any`
  std::string path;             ///< empty for `regex` and `any`
  std::vector<TreeCandidate> candidates;
};

struct TreeHost {
  std::string pattern;  ///< `*` for every host
  std::string next;     ///< the host that matching falls through to, empty at the end
  std::vector<TreeTarget> targets;
};

struct TreeListener {
  std::string gateway;  ///< `namespace/name`
  std::string name;
  std::uint64_t max_request_body = 0;
  std::vector<std::string> trusted_proxies;
  std::vector<TreeSettings> settings;
  std::vector<TreeHost> hosts;
  /// Of requests that no rule takes.
  std::vector<TreePolicyName> policies_without_route;
  bool denied_without_route = false;
  /// Verifies tokens before a rule is looked for; an empty name: no rule matches claims.
  TreePolicyName token_policy;
  std::vector<std::string> claims;  ///< that rules match, such as `claim:plan`
};

struct TreeBind {
  std::string address;  ///< `*` for every address
  std::uint16_t port = 0;
  std::string protocol;
  struct Claim {
    std::string pattern;
    std::uint32_t listener;
  };
  std::vector<Claim> claims;  ///< host pattern -> listener, most specific first
};

struct RouteTree {
  std::vector<TreeBind> binds;
  std::vector<TreeListener> listeners;
};

RouteTree route_tree(const ProgramView& program);

/// `HTTP`, as in spec.listeners[].protocol.
const char* protocol_name(Protocol protocol);

}  // namespace edge::program
