// edgectl web: serves the dashboard until it is interrupted.
#include "edgectl/agents/agent_pages.h"
#include "edgectl/commands.h"
#include "edgectl/input.h"
#include "edgectl/shared_flags.h"
#include "edgectl/web/web_command.h"

namespace edge::edgectl {

cli::Command web_command() {
  return {
      .name = "web",
      .group = kTrafficGroup,
      .summary = "Serve the dashboard",
      .details =
          "Shows the connected cluster's objects, agents and traffic in a browser, and explains requests. Every viewer "
          "acts with the rights of this kubeconfig; therefore only loopback addresses are listened on, unless viewers "
          "log in (--oidc-issuer) or --serve-without-login is given.",
      .flags = joined(joined(web::server_flags(), agent_page_flags()), {controller_class_flag()}),
      .examples = {"edgectl web", "edgectl web --listen :8080 --read-only",
                   "edgectl web --listen 0.0.0.0:9080 --tls-cert site.crt --tls-key site.key --oidc-issuer "
                   "https://login.example --oidc-client-id edge --oidc-client-secret-file secret"},
      .run = web::serve_web,
      .global = true};
}

}  // namespace edge::edgectl
