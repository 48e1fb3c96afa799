// `edgectl get certificates`: the certificates that are ordered from CAs, from the Secrets in which the controller
// keeps them and their orders.
#pragma once

#include "cli/flags.h"
#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

/// Whether the first argument of `edgectl get` asks for them. cert-manager's kind has the same plural, and is named in
/// full: `certificates.cert-manager.io`.
bool asks_for_certificates(const cli::Arguments& arguments);
int get_certificates(Cluster& cluster, const cli::Arguments& arguments);

}  // namespace edge::edgectl
