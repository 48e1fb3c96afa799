#include "controller/hub_flags.h"

namespace edge::controller {

std::vector<cli::Flag> hub_flags() {
  return {
      {.name = "hub",
       .value = "HOST:PORT",
       .help = "Address of a hub to connect to, its controller's --agents-listen as it is reached from here; default: "
               "as the file of --hub-join says"},
      {.name = "hub-join",
       .value = "FILE",
       .help = "Join file that edgectl cluster add made at the hub; needed until the cluster has connected once"}};
}

}  // namespace edge::controller
