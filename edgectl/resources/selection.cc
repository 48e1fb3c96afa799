#include "edgectl/resources/selection.h"

#include <algorithm>

#include "cli/terminal.h"
#include "edgectl/resources/gateway_api.h"
#include "edgectl/resources/spoke.h"

namespace edge::edgectl {
namespace {

/// The category of own kinds, as their CustomResourceDefinitions have it.
constexpr std::string_view kOwnCategory = "edge";

class Selector {
 public:
  Selector(std::string_view command, Cluster& cluster, int& exit) : command_(command), cluster_(cluster), exit_(exit) {}

  std::optional<std::vector<Selection>> run(const std::string& types, const std::vector<std::string>& names) {
    if (types.find('/') != std::string::npos) {
      if (!pair(types)) return std::nullopt;
      for (const std::string& word : names) {
        if (!pair(word)) return std::nullopt;
      }
      return std::move(all_);
    }
    for (const std::string& name : names) {
      if (name.find('/') == std::string::npos) continue;
      return usage("`" + name + "` names its type, but a type was given before it");
    }
    for (std::size_t begin = 0; begin <= types.size();) {
      const std::size_t end = std::min(types.find(',', begin), types.size());
      if (!word(types.substr(begin, end - begin), names)) return std::nullopt;
      begin = end + 1;
    }
    return std::move(all_);
  }

 private:
  std::nullopt_t usage(const std::string& what) {
    cli::print_error(command_, what);
    exit_ = cli::kExitUsage;
    return std::nullopt;
  }

  /// `route/cart`
  bool pair(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == text.size()) {
      usage("`" + text + "` is not `TYPE/NAME`, as the others are");
      return false;
    }
    return word(text.substr(0, slash), {text.substr(slash + 1)});
  }

  bool word(const std::string& text, const std::vector<std::string>& names) {
    if (text.empty()) {
      usage("a type is missing");
      return false;
    }
    if (text == kOwnCategory) {
      for (const schemas::Kind& kind : schemas::kinds()) {
        if (kind.manifest != nullptr) add(Type{resource_of(kind), &kind}, names);
      }
      return true;
    }
    const auto found = cluster_.find(text);
    if (found.type) {
      add(*found.type, names);
      return true;
    }
    if (!found.failure.none()) {
      exit_ = tell(command_, found.failure);
      return false;
    }
    return category(text, names);
  }

  bool category(const std::string& text, const std::vector<std::string>& names) {
    const auto discovered = cluster_.api().discover();
    const auto members = discovered.table.of_category(text);
    for (const kube::Resource* resource : members) add(Type{*resource, nullptr}, names);
    if (members.empty()) exit_ = tell_unknown_type(command_, text);
    return !members.empty();
  }

  void add(const Type& type, const std::vector<std::string>& names) {
    const auto same = std::ranges::find_if(all_, [&](const Selection& other) {
      return other.type.resource.qualified() == type.resource.qualified() && other.names.empty() == names.empty();
    });
    if (same == all_.end()) {
      all_.push_back({type, names});
    } else {
      same->names.insert(same->names.end(), names.begin(), names.end());
    }
  }

  std::string_view command_;
  Cluster& cluster_;
  int& exit_;
  std::vector<Selection> all_;
};

/// Whether a type was written as a word that both groups have.
bool says_gateway(const cli::Arguments& arguments) {
  constexpr std::string_view kWords[] = {"gateway", "gateways", "gw"};
  std::string types = "," + arguments.one("TYPE") + ",";
  for (const std::string& word : arguments.all("NAME")) types += word + ",";
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    const std::string begin = "," + std::string(word);
    return types.find(begin + ",") != std::string::npos || types.find(begin + "/") != std::string::npos;
  });
}

}  // namespace

void tell_of_other_gateways(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                            const std::vector<Selection>& selections) {
  if (!says_gateway(arguments) || !spoke_of(arguments).empty()) return;
  for (const Selection& selection : selections) {
    if (selection.type.own == nullptr || selection.type.own->kind != "ProxyGateway") continue;
    for (const std::string& name : selection.names) {
      if (!cluster.api().get(gateway_resource(), cluster.name_space(), name).ok()) continue;
      cli::print_message("edgectl", "`" + name +
                                        "` is taken for a ProxyGateway; there is a Gateway of Gateway API of "
                                        "this name too: `" +
                                        std::string(command) + " gateways.gateway.networking.k8s.io " + name + "`");
    }
    if (!selection.names.empty()) continue;
    kube::ListOptions options;
    options.limit = 1;
    options.name_space = place_of(selection.type, cluster, arguments);
    const auto list = cluster.api().list(gateway_resource(), options);
    if (!list.ok() || list.list.items.empty()) continue;
    cli::print_message("edgectl",
                       "these are ProxyGateways; there are Gateways of Gateway API too: `edgectl gateway-api "
                       "gateways`, or `" +
                           std::string(command) + " gateways.gateway.networking.k8s.io`");
  }
}

std::optional<std::vector<Selection>> select(std::string_view command, Cluster& cluster,
                                             const cli::Arguments& arguments, int& exit) {
  return Selector(command, cluster, exit).run(arguments.one("TYPE"), arguments.all("NAME"));
}

std::optional<std::vector<Chosen>> choose(std::string_view command, Cluster& cluster, const cli::Arguments& arguments,
                                          int& exit) {
  const auto selections = select(command, cluster, arguments, exit);
  if (!selections) return std::nullopt;
  std::vector<Chosen> all;
  for (const Selection& selection : *selections) {
    if (selection.names.empty()) {
      cli::print_error(command, "which " + selection.type.singular() + "? Give its name");
      exit = cli::kExitUsage;
      return std::nullopt;
    }
    for (const std::string& name : selection.names) all.push_back({selection.type, name});
  }
  tell_of_other_gateways(command, cluster, arguments, *selections);
  return all;
}

std::string place_of(const Type& type, Cluster& cluster, const cli::Arguments& arguments) {
  return type.resource.namespaced && !arguments.has("all-namespaces") ? cluster.name_space() : std::string();
}

}  // namespace edge::edgectl
