#include "edgectl/resource_commands.h"

#include "edgectl/commands.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/complete.h"
#include "edgectl/resources/output.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kManifests = "File, directory or - for standard input";

cli::Flag files(bool required) {
  return {.name = "file", .letter = 'f', .value = "PATH", .help = kManifests, .required = required, .repeatable = true};
}

cli::Flag everywhere() { return {.name = "all-namespaces", .letter = 'A', .help = "In all namespaces"}; }

cli::Flag selector() {
  return {.name = "selector",
          .letter = 'l',
          .value = "LABELS",
          .help = "Those with these labels, e.g. `app=shop,tier!=db`"};
}

cli::Flag no_headers() { return {.name = "no-headers", .help = "Leave the heads of columns out"}; }

cli::Flag dry_run(std::vector<std::string_view> choices) {
  return {.name = "dry-run",
          .value = "WHERE",
          .help = "Say what would be done, and do nothing",
          .fallback = "none",
          .choices = std::move(choices)};
}

cli::Flag field_manager() {
  return {.name = "field-manager", .value = "NAME", .help = "Who writes, in managed fields", .fallback = "edgectl"};
}

cli::Flag wait_programmed_flag() {
  return {.name = "wait",
          .value = "FOR",
          .help = "Return when every agent runs what was written",
          .fallback = "none",
          .choices = {"none", "programmed"}};
}

cli::Flag timeout() {
  return {.name = "timeout", .value = "DURATION", .help = "Longest that --wait waits", .fallback = "60s"};
}

/// Of commands that wait for agents: for how long, and whom to ask.
std::vector<cli::Flag> waiting(std::vector<cli::Flag> flags) {
  flags.push_back(timeout());
  for (cli::Flag& flag : controller_flags()) flags.push_back(std::move(flag));
  return flags;
}

cli::Positional type(std::string_view help, bool required = true) {
  return {.name = "TYPE", .help = help, .required = required, .complete = complete_type};
}

cli::Positional names(std::string_view help, bool required = false) {
  return {.name = "NAME", .help = help, .required = required, .complete = complete_name, .repeatable = true};
}

constexpr std::string_view kTypes =
    "clusters (cl), gateways (gw), routes (rt), backends (be), vips, policies (pol), sites, links, wanpolicies; `edge` "
    "for all of them; any other type that the cluster serves; several with commas; or TYPE/NAME";

cli::Command get_command() {
  return {.name = "get",
          .summary = "List objects, or print them whole",
          .details = "Own kinds have the columns of `edgectl schema`; the columns of others are the server's.",
          .flags = {everywhere(),
                    selector(),
                    {.name = "field-selector",
                     .value = "FIELDS",
                     .help = "Those with these fields, e.g. `metadata.name=x`"},
                    {.name = "watch", .letter = 'w', .help = "Go on, and print each change"},
                    no_headers(),
                    {.name = "ignore-not-found", .help = "What is not there is no failure"},
                    {.name = "show-managed-fields", .help = "Keep metadata.managedFields"},
                    output_flag()},
          .positional = type(kTypes),
          .second = names("Names; all without"),
          .examples = {"edgectl get routes", "edgectl get gateways,routes -A -o wide", "edgectl get rt cart -o yaml",
                       "edgectl get route/cart backend/pay", "edgectl get routes -w",
                       "edgectl get routes -o jsonpath='{range .items[*]}{.metadata.name}{\"\\n\"}{end}'"},
          .run = get,
          .global = true};
}

cli::Command apply_command() {
  return {.name = "apply",
          .summary = "Create what files say, or bring what is there to it",
          .details =
              "A three-way merge by what was applied last, as `kubectl apply` does it and in the same annotation, "
              "so that either can go on where the other left off. Every fault of the files is told before "
              "anything is sent; what the server refuses is shown at its place in the file.",
          .flags = waiting(
              {files(/*required=*/true),
               {.name = "server-side", .help = "Let the server merge, by managed fields"},
               {.name = "force-conflicts", .help = "With --server-side: take fields that others manage"},
               {.name = "prune", .help = "Remove what was applied before, has the labels, and is not in the files"},
               {.name = "all", .help = "With --prune: whatever its labels"},
               selector(),
               {.name = "create-namespaces", .help = "Make the namespaces that are not there yet"},
               field_manager(),
               dry_run({"none", "client", "server"}),
               {.name = "validate",
                .value = "HOW",
                .help = "Check fields here first, and have the server refuse unknown ones; `warn` has it warn",
                .fallback = "true",
                .choices = {"true", "warn", "false"}},
               wait_programmed_flag(),
               result_flag()}),
          .examples = {"edgectl apply -f config/", "edgectl apply -f route.yaml --wait=programmed",
                       "edgectl apply -f shop/ --prune -l app=shop --dry-run server",
                       "generate | edgectl apply -f - --server-side"},
          .run = apply,
          .global = true};
}

cli::Command create_command() {
  return {
      .name = "create",
      .summary = "Create what files say; what is there already is refused",
      .flags = waiting({files(/*required=*/true),
                        {.name = "create-namespaces", .help = "Make the namespaces that are not there yet"},
                        field_manager(),
                        dry_run({"none", "client", "server"}),
                        {.name = "validate",
                         .value = "HOW",
                         .help = "Check fields here first, and have the server refuse unknown ones; `warn` has it warn",
                         .fallback = "true",
                         .choices = {"true", "warn", "false"}},
                        wait_programmed_flag(),
                        result_flag()}),
      .examples = {"edgectl create -f gateway.yaml"},
      .run = create,
      .global = true};
}

cli::Command delete_command() {
  return {.name = "delete",
          .summary = "Remove objects by name, by label, or as files name them",
          .flags = waiting(
              {files(/*required=*/false),
               {.name = "all", .help = "All of the type"},
               selector(),
               everywhere(),
               {.name = "force", .help = "Without a time of grace"},
               {.name = "grace-period", .value = "SECONDS", .help = "Time of grace (default: the object's)"},
               {.name = "cascade",
                .value = "HOW",
                .help = "What becomes of what it owns",
                .fallback = "background",
                .choices = {"background", "foreground", "orphan"}},
               {.name = "ignore-not-found", .help = "What is not there is no failure"},
               dry_run({"none", "client", "server"}),
               {.name = "wait",
                .value = "BOOL",
                .help = "Return when it is gone; `programmed`: when no agent serves it any more; `false`: at once",
                .fallback = "true",
                .choices = {"true", "false", "programmed"}},
               {.name = "output", .letter = 'o', .value = "FORM", .help = "Print names alone", .choices = {"name"}}}),
          .positional = type(kTypes, /*required=*/false),
          .second = names("Names"),
          .examples = {"edgectl delete route cart", "edgectl delete -f config/", "edgectl delete routes -l app=shop"},
          .run = remove,
          .global = true};
}

cli::Command edit_command() {
  return {.name = "edit",
          .summary = "Change an object in $EDITOR",
          .details =
              "Only what was changed is sent. What cannot be read or is refused comes back with the reason on "
              "top; what is given up is kept in a file.",
          .flags = waiting({wait_programmed_flag()}),
          .positional = type(kTypes),
          .second = names("Names"),
          .examples = {"EDITOR=nano edgectl edit route cart"},
          .run = edit,
          .global = true};
}

cli::Command patch_command() {
  return {.name = "patch",
          .summary = "Change fields of an object",
          .details =
              "Strategic merge patches are of built-in kinds alone; for others a merge patch is sent in their "
              "place, and stderr says so.",
          .flags = waiting(
              {{.name = "patch", .letter = 'p', .value = "PATCH", .help = "JSON or YAML"},
               {.name = "patch-file", .value = "PATH", .help = "The same from a file"},
               {.name = "type",
                .value = "TYPE",
                .help = "How it is meant",
                .fallback = "strategic",
                .choices = {"strategic", "merge", "json"}},
               {.name = "subresource", .value = "NAME", .help = "Of a subresource", .choices = {"status", "scale"}},
               field_manager(),
               dry_run({"none", "server"}),
               wait_programmed_flag(),
               result_flag()}),
          .positional = type(kTypes),
          .second = names("Names"),
          .examples = {R"(edgectl patch backend pay -p '{"spec":{"lbPolicy":"P2C"}}')",
                       R"(edgectl patch rt cart --type json -p '[{"op":"remove","path":"/spec/hostnames/1"}]')"},
          .run = patch,
          .global = true};
}

cli::Command describe_command() {
  return {.name = "describe",
          .summary = "Tell all about objects: spec, conditions, events",
          .flags = {everywhere(), selector()},
          .positional = type(kTypes),
          .second = names("Names; all without"),
          .examples = {"edgectl describe route cart"},
          .run = describe,
          .global = true};
}

void add_config(std::vector<cli::Command>& all) {
  all.push_back({.name = "config view",
                 .summary = "Print ~/.edgectl/config",
                 .flags = {{.name = "output",
                            .letter = 'o',
                            .value = "FORM",
                            .help = "Form",
                            .fallback = "yaml",
                            .choices = {"yaml", "json"}}},
                 .run = config_view});
  all.push_back({.name = "config get-contexts",
                 .summary = "List the contexts",
                 .flags = {no_headers(),
                           {.name = "output",
                            .letter = 'o',
                            .value = "FORM",
                            .help = "Form",
                            .fallback = "table",
                            .choices = {"table", "name"}}},
                 .run = config_get_contexts});
  all.push_back({.name = "config use-context",
                 .summary = "Choose the context that commands mean from now on",
                 .positional = cli::Positional{.name = "NAME", .help = "Context", .complete = complete_context},
                 .examples = {"edgectl config use-context prod"},
                 .run = config_use_context});
  all.push_back(
      {.name = "config set-context",
       .summary = "Make a context, or change what it says",
       .flags = {{.name = "current", .help = "The current one"},
                 {.name = "cluster", .value = "NAME", .help = "Its cluster"},
                 {.name = "namespace", .letter = 'n', .value = "NAME", .help = "Its namespace"},
                 {.name = "kubeconfig", .value = "PATH", .help = "Of the cluster: its kubeconfig"},
                 {.name = "kubeconfig-context",
                  .value = "CONTEXT",
                  .help = "Of the cluster: context in its kubeconfig"},
                 {.name = "controller", .value = "HOST:PORT", .help = "Of the cluster: gRPC port of the controller"},
                 {.name = "credentials", .value = "FILE", .help = "Of the cluster: the administrator's file for it"},
                 {.name = "traces", .value = "URL", .help = "Of the cluster: where its traces are asked for"}},
       .positional =
           cli::Positional{.name = "NAME", .help = "Context", .required = false, .complete = complete_context},
       .examples = {"edgectl config set-context prod --kubeconfig /etc/edge/kubeconfig -n shop",
                    "edgectl config set-context --current -n pay"},
       .run = config_set_context});
}

/// Of what is told of agents, in JSON and YAML beside text.
cli::Flag report_flag(std::vector<std::string_view> choices) {
  return {.name = "output",
          .letter = 'o',
          .value = "FORM",
          .help = "Form",
          .fallback = choices.front(),
          .choices = std::move(choices)};
}

std::vector<cli::Flag> with_controller(cli::Flag flag) {
  std::vector<cli::Flag> flags = controller_flags();
  flags.push_back(std::move(flag));
  return flags;
}

std::vector<cli::Flag> of_group(std::vector<cli::Flag> flags) {
  flags.push_back({.name = "group",
                   .value = "NAME",
                   .help = "Of the agents in this group (edgectl agents list)",
                   .fallback = controller::kDefaultGroup});
  return flags;
}

cli::Command of_agent(std::string_view name, std::string_view summary, int (*run)(const cli::Arguments&),
                      std::vector<std::string_view> forms) {
  return {.name = name,
          .summary = summary,
          .flags = with_controller(report_flag(std::move(forms))),
          .positional = cli::Positional{.name = "AGENT", .help = "Name of the agent", .complete = complete_agent},
          .run = run,
          .global = true};
}

void add_agents(std::vector<cli::Command>& all) {
  all.push_back({.name = "agents list",
                 .summary = "List the agents of a controller, and whether each runs what it shall",
                 .flags = with_controller(report_flag({"table", "wide", "json", "yaml", "name"})),
                 .examples = {"edgectl agents list -o wide"},
                 .run = agents_list,
                 .global = true});
  all.push_back(of_agent("agents describe", "Tell all about an agent: its program, backends and addresses",
                         agents_describe, {"text", "json", "yaml"}));
  all.push_back(
      {.name = "agents token",
       .summary = "Make a join file for one agent",
       .details = "With it an agent of this name joins that has lost its key, or a new machine that takes its "
                  "place; the certificates of the one before are refused from then on. It is good for a day "
                  "and for one machine. The file has a secret in it: --out writes it for you alone.",
       .flags = with_controller({.name = "out", .value = "FILE", .help = "Write it there (mode 0600)"}),
       .positional = cli::Positional{.name = "AGENT", .help = "Name of the agent", .complete = complete_agent},
       .examples = {"edgectl agents token edge-1 --out edge-1.join"},
       .run = agents_token,
       .global = true});
  all.push_back(
      {.name = "agents revoke",
       .summary = "Refuse every certificate that an agent has, and end its connections",
       .details = "Whoever has a join file may take the name then: give the agents a new one if the machine is "
                  "not yours any more.",
       .flags = controller_flags(),
       .positional = cli::Positional{.name = "AGENT", .help = "Name of the agent", .complete = complete_agent},
       .examples = {"edgectl agents revoke edge-1"},
       .run = agents_revoke,
       .global = true});
  all.push_back(
      of_agent("agents config", "Print the match tree of what an agent runs", agent_config, {"text", "json"}));
  all.push_back(of_agent("agent config", "Print the match tree of what an agent runs", agent_config, {"text", "json"}));
  all.push_back(of_agent("agent backends", "List the endpoints of an agent's backends and their health", agent_backends,
                         {"table", "json", "yaml"}));
  all.push_back(of_agent("agent vips", "List the addresses that an agent serves, and which it holds", agent_vips,
                         {"table", "json", "yaml"}));
  all.push_back({.name = "history",
                 .summary = "List the last programs of the controller, with the change that made each",
                 .flags = of_group(with_controller(report_flag({"table", "wide", "json", "yaml"}))),
                 .examples = {"edgectl history", "edgectl history --group canary"},
                 .run = history,
                 .global = true});
  all.push_back(
      {.name = "rollback",
       .summary = "Have agents run an earlier program until that is released",
       .details = "The resources stay as they are; what they say is served again after --release.",
       .flags = of_group(with_controller({.name = "release", .help = "Serve what the resources say"})),
       .positional =
           cli::Positional{
               .name = "PROGRAM", .help = "First digits of its hash, as `edgectl history` has it", .required = false},
       .examples = {"edgectl rollback 4f2a91", "edgectl rollback --release", "edgectl rollback --group canary 4f2a91"},
       .run = rollback,
       .global = true});
}

void add_gateway_api(std::vector<cli::Command>& all) {
  const auto add = [&](std::string_view name, std::string_view summary, int (*run)(const cli::Arguments&)) {
    all.push_back({.name = name,
                   .summary = summary,
                   .flags = {everywhere(), selector(), output_flag()},
                   .run = run,
                   .global = true});
  };
  add("gateway-api gatewayclasses", "List GatewayClasses and who takes them", gateway_api_classes);
  add("gateway-api gc", "The same in short", gateway_api_classes);
  add("gateway-api gateways", "List Gateways of Gateway API", gateway_api_gateways);
  add("gateway-api gw", "The same in short", gateway_api_gateways);
  add("gateway-api httproutes", "List HTTPRoutes", gateway_api_routes);
  add("gateway-api hr", "The same in short", gateway_api_routes);
  all.push_back({.name = "gateway-api describe-gateway",
                 .summary = "Tell all about a Gateway: listeners, conditions, the routes that name it",
                 .positional = cli::Positional{.name = "NAME", .help = "Name of the Gateway"},
                 .run = gateway_api_describe,
                 .global = true});
  all.push_back({.name = "conformance",
                 .summary = "Print which profiles and features of Gateway API are supported, and live conditions",
                 .flags = {everywhere(), {.name = "offline", .help = "Ask no cluster"}},
                 .run = conformance,
                 .global = true});
}

}  // namespace

std::vector<cli::Command> resource_commands() {
  std::vector<cli::Command> all = {get_command(),    describe_command(), create_command(), apply_command(),
                                   delete_command(), edit_command(),     patch_command()};
  add_agents(all);
  add_gateway_api(all);
  add_config(all);
  return all;
}

}  // namespace edge::edgectl
