#include "controller/hub_flags.h"

#include <algorithm>

namespace edge::controller {

std::vector<std::string> listed_words(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    if (comma > first) words.push_back(text.substr(first, comma - first));
    first = comma + 1;
  }
  return words;
}

std::vector<cli::Flag> hub_flags() {
  return {
      {.name = "hub",
       .value = "HOST:PORT",
       .help = "Address of a hub to connect to, its controller's --agents-listen as it is reached from here; default: "
               "as the file of --hub-join says"},
      {.name = "hub-join",
       .value = "FILE",
       .help = "Join file that edgectl cluster add made at the hub; needed until the cluster has connected once"},
      {.name = "hub-federation",
       .value = "KIND[,KIND...]",
       .help = "Kinds of resources to exchange with the hub, such as ProxyRoute,ProxyBackend; default: none"},
      {.name = "hub-federation-namespaces",
       .value = "NAME[,NAME...]",
       .help = "Namespaces of the resources that are exchanged with the hub; default: all"},
      {.name = "hub-reads",
       .value = "WHAT",
       .help = "What administrators of a hub may read of this cluster: objects of " EDGE_API_GROUP
               " and the program (`config`), traces by their id too (`traces`), or nothing "
               "(`none`)",
       .fallback = "config",
       .choices = {"config", "traces", "none"}}};
}

}  // namespace edge::controller
