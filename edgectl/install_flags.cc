#include "edgectl/install_flags.h"

#include <string>

#include "base/units.h"
#include "edgectl/install/plan.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {

std::vector<cli::Flag> installation_flags() {
  return {{.name = "namespace",
           .letter = 'n',
           .value = "NAME",
           .help = "Namespace of the operator and of its EdgeCluster",
           .fallback = kInstallNamespace},
          {.name = "dry-run", .help = "Ask the server what would be done, without doing it"},
          {.name = "timeout", .value = "DURATION", .help = "Timeout of all waiting together", .fallback = "5m"}};
}

std::vector<cli::Flag> applying_flags(bool needs_registry) {
  return joined(
      installation_flags(),
      {{.name = "image-registry",
        .value = "REPOSITORY",
        .help = needs_registry ? "Where the images edge-operator, edge-controller and edge-agent are"
                               : "Where the images are (default: where they came from)",
        .required = needs_registry},
       {.name = "tag", .value = "VERSION", .help = "Tag of the images: the version", .fallback = EDGE_VERSION},
       {.name = "wait", .help = "Return when everything runs"},
       {.name = "force-conflicts", .help = "Take over fields that somebody else manages"},
       {.name = "skip-checks", .help = "Go on where a check fails"},
       form_flag({"text", "json", "yaml"})});
}

std::optional<std::chrono::milliseconds> patience_of(std::string_view command, const cli::Arguments& arguments) {
  const std::string text = arguments.one("timeout");
  const auto patience = parse_duration(text);
  if (patience) return std::chrono::duration_cast<std::chrono::milliseconds>(*patience);
  cli::print_error(command, "`--timeout` takes a duration such as `60s`, not `" + text + "`");
  return std::nullopt;
}

}  // namespace edge::edgectl
