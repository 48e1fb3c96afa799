// edgectl: the table of commands. Everything a user can type is on this page.
#include <csignal>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "edgectl/commands.h"
#include "edgectl/resource_commands.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/complete.h"
#include "edgectl/resources/target.h"
#include "edgectl/seeing_commands.h"
#include "edgectl/trace_commands.h"

namespace edge::edgectl {
namespace {

cli::Flag file_flag(std::string_view help, bool required = true) {
  return {.name = "file", .letter = 'f', .value = "PATH", .help = help, .required = required, .repeatable = true};
}

cli::Flag format_flag(std::vector<std::string_view> choices) {
  return {.name = "output",
          .letter = 'o',
          .value = "FORMAT",
          .help = "Format",
          .fallback = "text",
          .choices = std::move(choices)};
}

/// Those that ask a cluster, those of this page, then those that ask a trace store.
std::vector<cli::Command> with_resource_commands(std::vector<cli::Command> all) {
  std::vector<cli::Command> others = resource_commands();
  all.insert(all.begin(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  for (cli::Command& command : trace_commands()) all.push_back(std::move(command));
  for (cli::Command& command : seeing_commands()) all.push_back(std::move(command));
  return all;
}

constexpr std::string_view kConfigFile = "File, directory or - for standard input";
constexpr std::string_view kConfigOrProgram =
    "File, directory, - for standard input, one .edgeprog, or http://ADDRESS:PORT of an agent";

}  // namespace

cli::Program table() {
  return {
      .name = kName,
      .summary = "edgectl checks, compiles, applies and explains the configuration of the edge proxy.",
      .commands = with_resource_commands({
          {.name = "validate",
           .summary = "Check configuration and report every fault with its place and remedy",
           .details = "Runs the whole compiler, its proof included, so that rules that no request reaches are reported "
                      "too. All paths are one configuration: references between them are resolved.",
           .flags = {file_flag(kConfigFile),
                     format_flag({"text", "json", "sarif"}),
                     {.name = "fail-on",
                      .value = "SEVERITY",
                      .help = "Least severity that makes the exit code 1",
                      .fallback = "error",
                      .choices = {"error", "warning"}},
                     {.name = "cluster",
                      .help = "Together with what the cluster holds, as if the files had been applied; tells findings "
                              "of the files alone"},
                     {.name = "shadows", .help = "Note also which rules take some of another rule's requests"},
                     {.name = "conditions",
                      .help = "Print the conditions of gateways, of Gateway API's resources and of what is not fine"}},
           .examples = {"edgectl validate -f examples/quick-start",
                        "kubectl get -o yaml proxyroutes | edgectl validate -f -",
                        "edgectl validate -f . -o sarif > edge.sarif", "edgectl validate -f route.yaml --cluster"},
           .run = validate,
           .global = true},
          {.name = "compile",
           .summary = "Compile configuration to a routing program",
           .details = "Writes nothing when the configuration has an error.",
           .flags = {file_flag(kConfigFile),
                     {.name = "output",
                      .letter = 'o',
                      .value = "FILE",
                      .help = "Where to write the program (*.edgeprog)",
                      .required = true},
                     {.name = "sign-key", .value = "PEM", .help = "Sign with this private key (edgectl key generate)"},
                     {.name = "endpoints-out",
                      .value = "FILE",
                      .help = "Also write the endpoints of the backends, as edge-agent --endpoints takes them"},
                     {.name = "secrets-out",
                      .value = "FILE",
                      .help = "Also write the values of the secrets that are named, as edge-agent --secrets takes "
                              "them; readable by the owner alone"},
                     {.name = "target",
                      .value = "CPU",
                      .help = "CPU of the native code",
                      .fallback = "x86-64-v2",
                      .choices = {"tables-only", "x86-64", "x86-64-v2", "x86-64-v3", "aarch64"}},
                     {.name = "cache-dir",
                      .value = "DIR",
                      .help = "Where databases and code are kept (default: $XDG_CACHE_HOME/edge)"},
                     {.name = "no-cache", .help = "Keep nothing, and use nothing that was kept"},
                     {.name = "timings",
                      .help = "Print to stderr how long each stage took, and what came from the cache"}},
           .examples =
               {"edgectl compile -f config/ -o site.edgeprog --sign-key edge.key --endpoints-out endpoints.json"},
           .run = compile},
          {.name = "routes dump",
           .summary = "Print the compiled match tree",
           .details = "Listeners, hosts and paths in the order in which they are tried, each rule with its conditions.",
           .flags = {file_flag(kConfigOrProgram, /*required=*/false),
                     {.name = "agent",
                      .value = "AGENT",
                      .help = "What this agent runs: by its name, which the controller knows, or by its health "
                              "address, e.g. 127.0.0.1:9091",
                      .complete = complete_agent},
                     controller_flags().front(),
                     controller_flags().back(),
                     format_flag({"text", "json"})},
           .positional =
               cli::Positional{.name = "PROGRAM", .help = "A program (*.edgeprog), instead of -f", .required = false},
           .examples = {"edgectl routes dump site.edgeprog", "edgectl routes dump -f config/ -o json",
                        "edgectl routes dump --agent node-1"},
           .run = routes_dump,
           .global = true},
          {.name = "explain",
           .summary = "Say which rule takes a request, and why the others do not",
           .details = "Shows the way through the match tree, the winner, and for each loser the first condition that "
                      "failed. The interpreter, the native code and the regex engine each decide; they must agree.",
           .flags =
               {file_flag(kConfigOrProgram, /*required=*/false),
                {.name = "agent",
                 .value = "ADDR",
                 .help = "Ask what this agent runs, by its health address, e.g. 127.0.0.1:9091"},
                {.name = "header",
                 .letter = 'H',
                 .value = "FIELD",
                 .help = "Header field, `name: value`",
                 .repeatable = true},
                {.name = "source", .value = "IP", .help = "The client's address", .fallback = "127.0.0.1"},
                {.name = "port", .value = "PORT", .help = "Port that the request comes in on (default: the URL's)"},
                {.name = "all", .help = "List also every rule that another path or an earlier winner ruled out"},
                format_flag({"text", "json"})},
           .positional =
               cli::Positional{.name = "REQUEST", .help = "`[METHOD] URL`, e.g. 'GET http://shop.example/cart?id=7'"},
           .examples = {"edgectl explain -f config/ 'GET https://shop.example/cart' -H 'x-env: staging'"},
           .run = explain},
          {.name = "explain-code",
           .summary = "Tell what a diagnostic's code means, with an example and the remedy",
           .details = "The same pages are in docs/diagnostics. Without a code: all of them with their titles.",
           .flags = {{.name = "list", .help = "List every code with its title"}},
           .positional = cli::Positional{.name = "CODE", .help = "`EDGE0104`, or `104`", .required = false},
           .examples = {"edgectl explain-code EDGE0104"},
           .run = explain_code},
          {.name = "cost",
           .summary = "Say what a program costs in bytes, and the most that one request can make it do",
           .details = "The bounds are read off the tables: conditions that are evaluated when every rule on the way "
                      "fails but the last, with the path on which they are met.",
           .flags = {file_flag(kConfigOrProgram), format_flag({"text", "json"})},
           .examples = {"edgectl cost -f config/", "edgectl cost -f site.edgeprog -o json"},
           .run = cost},
          {.name = "diff",
           .summary = "Say which requests a change treats otherwise, whatever its text",
           .details = "Each class of requests is shown with one of them and with what became and what becomes of it. "
                      "Exit code 0 when both are equal in meaning.",
           .flags = {{.name = "names", .help = "Count it as a difference when another rule does the same"},
                     {.name = "access-log",
                      .value = "FILE",
                      .help = "Weigh the classes by the requests in this log (JSON, common or combined lines; - for "
                              "standard input)"},
                     {.name = "log-host", .value = "HOST", .help = "Host of log lines that name none"},
                     format_flag({"text", "json"})},
           .positional =
               cli::Positional{.name = "BEFORE",
                               .help = "Configuration, .edgeprog, http://ADDRESS:PORT of an agent, or @cluster"},
           .second = cli::Positional{.name = "AFTER", .help = "The same after the change"},
           .examples = {"edgectl diff running.edgeprog config/", "edgectl diff old/ new/ --access-log access.log",
                        "edgectl diff http://127.0.0.1:9091 config/", "edgectl diff @cluster config/"},
           .run = diff,
           .global = true},
          {.name = "test",
           .summary = "Run route tests: requests with what is to become of each",
           .details = "Tests are documents of `kind: RouteTest` in what -f names. A failing one is shown with what "
                      "differs and with the way that the request takes.",
           .flags = {file_flag("Configuration or one .edgeprog, and tests"),
                     {.name = "generate",
                      .help = "Run nothing; print tests on both sides of every border that the rules draw, which hold "
                              "what becomes of each request today"},
                     {.name = "coverage", .help = "List the rules that no test reaches"},
                     {.name = "fail-under",
                      .value = "PERCENT",
                      .help = "Fail when fewer rules are covered",
                      .fallback = "0"},
                     format_flag({"text", "json", "junit"})},
           .examples = {"edgectl test -f config/ -f tests.yaml --coverage",
                        "edgectl test -f config/ --generate > boundaries.yaml"},
           .run = test},
          {.name = "assert",
           .summary = "Prove claims about all requests, or show one that breaks them",
           .details =
               "A claim is an expression as routes have them that may also ask for `host`, `gateway`, `listener`, "
               "`route`, `backend`, `policy`, `status` and `denied`; `A implies B` joins two. It holds when no "
               "request at all breaks it.",
           .flags = {file_flag(kConfigOrProgram),
                     {.name = "claim", .letter = 'c', .value = "CLAIM", .help = "Another claim", .repeatable = true},
                     {.name = "claims",
                      .value = "FILE",
                      .help = "A file with a claim a line; `#` starts a comment",
                      .repeatable = true}},
           .positional = cli::Positional{.name = "CLAIM", .help = "What is to hold", .required = false},
           .examples = {"edgectl assert -f config/ 'path prefix \"/admin\" implies policy OIDC'",
                        "edgectl assert -f config/ --claims claims.txt"},
           .run = assert_claims},
          {.name = "key generate",
           .summary = "Make an Ed25519 key pair that signs and verifies programs",
           .flags = {{.name = "out",
                      .value = "FILE",
                      .help = "Private key; the public one goes to FILE.pub",
                      .required = true}},
           .examples = {"edgectl key generate --out edge.key"},
           .run = key_generate},
          {.name = "key replace-administrator",
           .summary = "Refuse the administrator's certificates and token of a data directory, and have new ones made",
           .details =
               "For a kubeconfig or agents/admin.pem that somebody else may have. Run it on the machine of "
               "edge-standalone or edge-controller, as the user of its data directory. The process there does it "
               "within seconds and writes kubeconfig, api/token and agents/admin.pem anew; without one, the next "
               "that starts.",
           .flags = {{.name = "data-dir", .value = "DIR", .help = "Data directory of the daemon", .required = true}},
           .examples = {"edgectl key replace-administrator --data-dir /var/lib/edge-standalone"},
           .run = key_replace_administrator},
          {.name = "crds",
           .summary = "Print the CustomResourceDefinitions of the kinds",
           .details = "One stream of YAML documents, made from the same tables that validation uses.",
           .positional = cli::Positional{.name = "KIND",
                                         .help = "Kind, plural or short name; all without it",
                                         .required = false,
                                         .complete = complete_kind},
           .examples = {"edgectl crds | kubectl apply -f -", "edgectl crds routes"},
           .run = crds},
          {.name = "schema",
           .summary = "Say what a kind or a field is: type, values, default",
           .details = "Without an argument it lists the kinds.",
           .flags = {format_flag({"text", "json-schema", "markdown"})},
           .positional = cli::Positional{.name = "KIND[.FIELD]",
                                         .help = "e.g. `route.spec.rules.matches`",
                                         .required = false,
                                         .complete = complete_field,
                                         .open_ended = true},
           .examples = {"edgectl schema route.spec.rules.retry", "edgectl schema -o json-schema > edge.schema.json"},
           .run = schema},
          {.name = "completion",
           .summary = "Print the script by which a shell completes edgectl",
           .positional = cli::Positional{.name = "SHELL", .help = "Shell", .choices = {"bash", "zsh", "fish"}},
           .examples = {"source <(edgectl completion bash)", "edgectl completion fish | source"},
           .run = completion},
          {.name = "man",
           .summary = "Print a manual page, or write all of them",
           .flags = {{.name = "out", .value = "DIR", .help = "Write a page for each command into this directory"}},
           .positional = cli::Positional{.name = "COMMAND",
                                         .help = "Words of a command, e.g. `config view`; the program's page without",
                                         .required = false,
                                         .repeatable = true},
           .examples = {"edgectl man get | man -l -", "edgectl man --out /usr/local/share/man/man1"},
           .run = man},
          {.name = "version",
           .summary = "Print the version of this program, of the formats it knows, and of the cluster",
           .flags = {{.name = "client", .help = "Ask no cluster"}},
           .run = version,
           .global = true},
      }),
      .flags = target_flags()};
}

}  // namespace edge::edgectl

int main(int argc, char** argv) {
  // `edgectl … | head` ends by a failed write, not by a signal.
  std::signal(SIGPIPE, SIG_IGN);
  return edge::cli::run(edge::edgectl::table(), argc, argv);
}
