// edgectl gateway-api, conformance: shows resources of Gateway API with their conditions, and the supported features.
#include "edgectl/resources/gateway_api.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "compiler/link/supported_features.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/reports/conformance_report.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/describe.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/selection.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

/// A server without Gateway API's definitions answers 404 for the collection.
int missing(std::string_view command, const kube::Failure& failure) {
  if (!failure.not_found()) return tell(command, failure);
  cli::print_error(command, "the cluster has no Gateway API; its CustomResourceDefinitions are not installed");
  return cli::kExitFindings;
}

int list(std::string_view command, const cli::Arguments& arguments, const kube::Resource& kind,
         const Columns& columns) {
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(command, arguments, exit);
  if (cluster == nullptr) return exit;
  kube::ListOptions options;
  if (kind.namespaced && !arguments.has("all-namespaces")) options.name_space = cluster->name_space();
  options.label_selector = arguments.one("selector");
  const auto reply = cluster->api().list_all(kind, options);
  if (!reply.ok()) return missing(command, reply.failure);
  const Output output = output_of(arguments);
  TextTable table(columns.heads());
  std::vector<Json> all;
  std::string names;
  for (const kube::Object& object : reply.list.items) {
    Json json = parsed_json(object.text);
    if (output.tabular()) table.add(columns.cells(json, seconds_now()));
    names += Type{kind, nullptr}.qualified(object.name) + "\n";
    all.push_back(std::move(json));
  }
  if (output.form == Form::kName) return cli::write_text(stdout, names) ? exit : cli::kExitFindings;
  if (output.tabular()) {
    if (all.empty()) cli::print_message("edgectl", "no resources found");
    return all.empty() || cli::write_text(stdout, table.take(/*with_heads=*/true)) ? exit : cli::kExitFindings;
  }
  const auto text =
      output.form == Form::kCustomColumns
          ? Result<std::string>(Error{ErrorCode::kInvalidArgument, "`-o custom-columns=` is of `edgectl get`"})
          : object_text(output, list_of(std::move(all)));
  if (!text) {
    cli::print_error(command, text.error().text);
    return cli::kExitUsage;
  }
  return cli::write_text(stdout, *text) ? exit : cli::kExitFindings;
}

/// `HTTPRoute` of `HTTPRouteHostRewrite`: the kind that a feature belongs to.
std::string kind_of(std::string_view feature) {
  for (const std::string_view kind :
       {"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute", "BackendTLSPolicy"}) {
    if (feature.starts_with(kind)) return std::string(kind);
  }
  return "Gateway";
}

std::string counts_text(const ConformanceReport::Tests& tests) {
  std::string text = std::to_string(tests.passed) + " passed";
  if (tests.failed > 0) text += ", " + std::to_string(tests.failed) + " failed";
  if (tests.skipped > 0) text += ", " + std::to_string(tests.skipped) + " skipped";
  return text;
}

Json tests_json(const ConformanceReport::Tests& tests) {
  return {{"result", tests.result}, {"passed", tests.passed}, {"failed", tests.failed}, {"skipped", tests.skipped}};
}

/// What the report has of a profile that is claimed; nullptr: nothing.
const ConformanceReport::Profile* reported(const ConformanceReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.profiles, name, &ConformanceReport::Profile::name);
  return found == report.profiles.end() ? nullptr : &*found;
}

Json supported_json(const ConformanceReport& report) {
  Json profiles = Json::array();
  for (const auto& profile : compiler::link::kConformanceProfiles) {
    if (!compiler::link::is_supported(profile.route)) continue;
    Json entry = {{"name", profile.name}};
    if (const auto* told = reported(report, profile.name)) {
      entry["core"] = tests_json(told->core);
      entry["extended"] = tests_json(told->extended);
    }
    profiles.push_back(std::move(entry));
  }
  Json features = Json::array();
  for (const std::string_view feature : compiler::link::kSupportedFeatures) {
    features.push_back({{"name", feature}, {"of", kind_of(feature)}});
  }
  return {{"report", {{"version", report.version}, {"channel", report.channel}, {"date", report.date}}},
          {"profiles", std::move(profiles)},
          {"features", std::move(features)}};
}

std::string supported_text(const ConformanceReport& report) {
  TextTable profiles({"  PROFILE", "CORE", "EXTENDED"});
  for (const auto& profile : compiler::link::kConformanceProfiles) {
    if (!compiler::link::is_supported(profile.route)) continue;
    const auto* told = reported(report, profile.name);
    profiles.add({"  " + std::string(profile.name), told == nullptr ? "not run" : counts_text(told->core),
                  told == nullptr ? "not run" : counts_text(told->extended)});
  }
  TextTable features({"  FEATURE", "OF"});
  for (const std::string_view feature : compiler::link::kSupportedFeatures) {
    features.add({"  " + std::string(feature), kind_of(feature)});
  }
  return "Official tests of Gateway API " + report.version + " (" + report.channel + "), " + report.date + ":\n" +
         profiles.take(/*with_heads=*/true) + "Features:\n" + features.take(/*with_heads=*/true);
}

struct Conditions {
  std::string text{};
  Json data = Json::array();
};

/// The conditions of every object of the kind.
kube::Failure add_conditions(Cluster& cluster, const kube::Resource& kind, const std::string& name_space,
                             Conditions& out) {
  kube::ListOptions options;
  options.name_space = name_space;
  const auto reply = cluster.api().list_all(kind, options);
  if (!reply.ok()) return reply.failure;
  for (const kube::Object& object : reply.list.items) {
    const Json json = parse_json(object.text);
    const Json& conditions = list_in(member_in(json, "status"), "conditions");
    out.text += conditions_table(shown(kind.kind + " " + object.key()), conditions, seconds_now());
    out.data.push_back(
        {{"kind", kind.kind}, {"namespace", object.name_space}, {"name", object.name}, {"conditions", conditions}});
  }
  return {};
}

int gateway_api_classes(const cli::Arguments& arguments) {
  static constexpr const char* kAccepted = R"(.status.conditions[?(@.type=="Accepted")].status)";
  return list("edgectl gateway-api gatewayclasses", arguments, gateway_class_resource(),
              Columns::of({{"NAME", ".metadata.name"},
                           {"CONTROLLER", ".spec.controllerName"},
                           {"ACCEPTED", kAccepted},
                           {"AGE", ".metadata.creationTimestamp"}}));
}

int gateway_api_gateways(const cli::Arguments& arguments) {
  return list("edgectl gateway-api gateways", arguments, gateway_resource(),
              Columns::of({{"NAMESPACE", ".metadata.namespace"},
                           {"NAME", ".metadata.name"},
                           {"CLASS", ".spec.gatewayClassName"},
                           {"ADDRESS", ".status.addresses[*].value"},
                           {"PROGRAMMED", R"(.status.conditions[?(@.type=="Programmed")].status)"},
                           {"AGE", ".metadata.creationTimestamp"}}));
}

int gateway_api_routes(const cli::Arguments& arguments) {
  return list("edgectl gateway-api httproutes", arguments, http_route_resource(),
              Columns::of({{"NAMESPACE", ".metadata.namespace"},
                           {"NAME", ".metadata.name"},
                           {"HOSTNAMES", ".spec.hostnames"},
                           {"PARENTS", ".spec.parentRefs[*].name"},
                           {"ACCEPTED", R"(.status.parents[*].conditions[?(@.type=="Accepted")].status)"},
                           {"AGE", ".metadata.creationTimestamp"}}));
}

int gateway_api_describe(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl gateway-api describe-gateway";
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kCommand, arguments, exit);
  if (cluster == nullptr) return exit;
  const std::string name = arguments.one("NAME");
  const auto reply = cluster->api().get(gateway_resource(), cluster->name_space(), name);
  if (!reply.ok()) return tell(kCommand, reply.failure, "gateway/" + name);
  kube::ListOptions everywhere;
  const auto routes = cluster->api().list_all(http_route_resource(), everywhere);
  std::string attached;
  Json attached_names = Json::array();
  for (const kube::Object& route : routes.list.items) {
    const Json json = parse_json(route.text);
    const Json& parents = list_in(member_in(json, "spec"), "parentRefs");
    const bool names_it = std::ranges::any_of(parents, [&](const Json& parent) {
      const std::string& space = text_in(parent, "namespace");
      return text_in(parent, "name") == name && (space.empty() ? route.name_space : space) == cluster->name_space();
    });
    if (!names_it) continue;
    attached += "  " + shown(route.key()) + "\n";
    attached_names.push_back({{"namespace", route.name_space}, {"name", route.name}});
  }
  if (wants_data(arguments)) {
    const Json data = {{"object", plain_object(reply.object.text)}, {"httpRoutes", std::move(attached_names)}};
    return std::max(exit, print(data_text(arguments, indented_json(data))));
  }
  std::string text = describe(parsed_json(reply.object.text), {}, seconds_now());
  // Events are `edgectl describe`'s; here follow the routes that name the gateway.
  text.resize(text.rfind("Events:"));
  text += "HTTPRoutes:" + (attached.empty() ? " <none>\n" : "\n" + attached);
  return cli::write_text(stdout, text) ? exit : cli::kExitFindings;
}

int conformance(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl conformance";
  const bool data = wants_data(arguments);
  const auto report = read_conformance_report(conformance_report_text());
  if (!report) {
    cli::print_error(kCommand, report.error().text);
    return cli::kExitFindings;
  }
  Json supported = supported_json(*report);
  // The cluster may be away: what is supported is told all the same.
  if (!data && !cli::write_text(stdout, supported_text(*report))) return cli::kExitFindings;
  const auto print_data = [&] { return print(data_text(arguments, indented_json(supported))); };
  if (arguments.has("offline")) return data ? print_data() : cli::kExitOk;
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kCommand, arguments, exit);
  if (cluster == nullptr) return data ? std::max(exit, print_data()) : exit;
  Conditions found;
  auto failure = add_conditions(*cluster, gateway_class_resource(), {}, found);
  const std::string name_space = arguments.has("all-namespaces") ? std::string() : cluster->name_space();
  if (failure.none()) failure = add_conditions(*cluster, gateway_resource(), name_space, found);
  const bool known = failure.none() || failure.not_found();
  if (data) {
    if (known) supported["status"] = std::move(found.data);
    exit = std::max(exit, print_data());
  }
  if (!known) return tell(kCommand, failure);
  if (data) return exit;
  if (failure.not_found()) found.text = "  the cluster has no Gateway API\n";
  return print("Status:\n" + (found.text.empty() ? "  nothing of Gateway API is there\n" : found.text));
}

}  // namespace

namespace {

cli::Command list_command(std::string_view name, std::string_view summary, int (*run)(const cli::Arguments&)) {
  return {.name = name,
          .group = kObjectsGroup,
          .summary = summary,
          .flags = {all_namespaces_flag(), selector_flag(), output_flag()},
          .run = run,
          .global = true};
}

}  // namespace

std::vector<cli::Command> gateway_api_list_commands() {
  return {list_command("gateway-api gatewayclasses", "List GatewayClasses and who takes them", gateway_api_classes),
          list_command("gateway-api gc", "The same in short", gateway_api_classes),
          list_command("gateway-api gateways", "List Gateways of Gateway API", gateway_api_gateways),
          list_command("gateway-api gw", "The same in short", gateway_api_gateways),
          list_command("gateway-api httproutes", "List HTTPRoutes", gateway_api_routes),
          list_command("gateway-api hr", "The same in short", gateway_api_routes)};
}

cli::Command conformance_command() {
  return {.name = "conformance",
          .group = kObjectsGroup,
          .summary = "Print the report of Gateway API's official tests, the supported features, and live conditions",
          .flags = {all_namespaces_flag(),
                    {.name = "offline", .help = "Do not contact the cluster"},
                    form_flag({"text", "json", "yaml"})},
          .run = conformance,
          .global = true};
}

cli::Command gateway_api_describe_gateway_command() {
  return {.name = "gateway-api describe-gateway",
          .group = kObjectsGroup,
          .summary = "Show a Gateway in detail: listeners, conditions, the routes that refer to it",
          .flags = {form_flag({"text", "json", "yaml"})},
          .positional = cli::Positional{.name = "NAME", .help = "Name of the Gateway"},
          .run = gateway_api_describe,
          .global = true};
}

}  // namespace edge::edgectl
