// edgectl generate: the unit file or the static pod by which a machine runs a daemon.
#include <string>

#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/units.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kUnit = "edgectl generate systemd-unit";
constexpr std::string_view kPod = "edgectl generate static-pod";
constexpr std::string_view kConfigPath = "/etc/edge";

/// A path that neither systemd nor YAML reads as anything else.
bool is_plain_path(std::string_view path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@";
  return path.starts_with('/') && path.size() > 1 && path.find_first_not_of(kPlain) == std::string_view::npos &&
         path.find("..") == std::string_view::npos;
}

/// A reference to an image: host, path, tag or digest. Nothing that YAML reads as anything but text.
bool is_image(std::string_view image) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:@+";
  return !image.empty() && image.size() <= 512 && image.front() != '-' && image.front() != '/' &&
         image.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string config_path(const cli::Arguments& arguments) {
  std::string path = arguments.one("config-path");
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

int print_file(std::string_view command, const cli::Arguments& arguments, std::string text) {
  const std::string path = config_path(arguments);
  if (!is_plain_path(path)) {
    cli::print_error(command, "--config-path takes the path of a directory, of letters, digits and /._-+@, not `" +
                                  arguments.one("config-path") + "`");
    return cli::kExitUsage;
  }
  return cli::write_text(stdout, replaced(std::move(text), kConfigPath, path)) ? cli::kExitOk : cli::kExitFindings;
}

int systemd_unit(const cli::Arguments& arguments) {
  return print_file(kUnit, arguments, std::string(unit_file(arguments.one("DAEMON"))));
}

int static_pod(const cli::Arguments& arguments) {
  const std::string daemon = arguments.one("DAEMON");
  const std::string image = arguments.has("image") ? arguments.one("image") : "edge-" + daemon + ":" EDGE_VERSION;
  if (!is_image(image)) {
    cli::print_error(kPod,
                     "--image takes a reference such as registry.example/edge-" + daemon + ":1.0, not `" + image + "`");
    return cli::kExitUsage;
  }
  // The path on the machine alone: in the pod it is always /etc/edge.
  const std::string pod(static_pod_file(daemon));
  const std::string path = config_path(arguments);
  if (!is_plain_path(path)) return print_file(kPod, arguments, {});
  std::string text = replaced(pod, "@CONFIG_PATH@", path);
  const std::string controller = arguments.one("controller");
  constexpr std::string_view kHost = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
  const std::size_t colon = controller.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == controller.size() || controller.size() > 300 ||
      controller.find_first_not_of(kHost) != std::string::npos) {
    cli::print_error(kPod, "--controller takes HOST:PORT, not `" + controller + "`");
    return cli::kExitUsage;
  }
  text = replaced(std::move(text), "@CONTROLLER@", controller);
  return cli::write_text(stdout, replaced(std::move(text), "@IMAGE@", image)) ? cli::kExitOk : cli::kExitFindings;
}

cli::Command command(std::string_view name, std::string_view summary, std::string_view details) {
  return {.name = name,
          .group = kProgramGroup,
          .summary = summary,
          .details = details,
          .flags = {{.name = "config-path",
                     .value = "DIR",
                     .help = "Directory of the machine with the daemon's files",
                     .fallback = kConfigPath}},
          .positional = cli::Positional{
              .name = "DAEMON", .help = "Which daemon", .choices = {"standalone", "agent", "controller"}}};
}

}  // namespace

cli::Command generate_systemd_unit_command() {
  cli::Command made =
      command("generate systemd-unit", "Print the systemd unit of a daemon",
              "The daemon is the one in /usr/bin. The unit runs it as a user of its own, with restricted "
              "access to the machine; `systemctl reload` has a new version or new flags take over without a "
              "refused connection.");
  made.examples = {"edgectl generate systemd-unit standalone > /etc/systemd/system/edge-standalone.service"};
  made.run = systemd_unit;
  return made;
}

cli::Command generate_static_pod_command() {
  cli::Command made =
      command("generate static-pod", "Print the manifest by which a kubelet runs a daemon without an API",
              "For the directory of static pods of a kubelet. The daemon has the network of the machine, "
              "a read-only root, the capabilities that it needs, and its state in /var/lib/edge-DAEMON.");
  made.flags.push_back({.name = "controller",
                        .value = "HOST:PORT",
                        .help = "Of an agent: its controller",
                        .fallback = "edge-controller.edge-system.svc:9090"});
  made.flags.push_back({.name = "image", .value = "REFERENCE", .help = "Image; default edge-DAEMON of this version"});
  made.examples = {
      "edgectl generate static-pod agent --image registry.example/edge-agent:0.1.0 > "
      "/etc/kubernetes/manifests/edge-agent.yaml"};
  made.run = static_pod;
  return made;
}

}  // namespace edge::edgectl
