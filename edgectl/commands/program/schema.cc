// edgectl crds, schema: print the schemas of the kinds for people, clusters and editors.
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"
#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"
#include "schemas/crd.h"
#include "schemas/describe.h"
#include "schemas/json_schema.h"
#include "schemas/reference.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kCrds = "edgectl crds";
constexpr std::string_view kSchema = "edgectl schema";

int unknown_kind(std::string_view program, std::string_view name) {
  std::vector<std::string_view> names;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    names.push_back(kind.kind);
    names.push_back(kind.plural);
    names.insert(names.end(), kind.manifest->aliases.begin(), kind.manifest->aliases.end());
  }
  const std::string_view near = nearest_name(name, names);
  cli::print_error(
      program, "there is no kind `" + std::string(name) + "`" +
                   (near.empty() ? "; `edgectl schema` lists them" : "; did you mean `" + std::string(near) + "`?"));
  return cli::kExitUsage;
}

int unknown_field(const schemas::Kind& kind, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string above(dot == std::string_view::npos ? std::string_view() : path.substr(0, dot + 1));
  const std::vector<std::string> known = schemas::next_paths(kind, above);
  const std::string_view near = nearest_name(path, {known.begin(), known.end()});
  cli::print_error(kSchema, std::string(kind.kind) + " has no field `" + std::string(path) + "`" +
                                (near.empty() ? "" : "; did you mean `" + std::string(near) + "`?"));
  return cli::kExitUsage;
}

std::string list_kinds() {
  std::string out;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    std::string names(kind.plural);
    for (const std::string_view alias : kind.manifest->aliases) names += ", " + std::string(alias);
    out += std::string(kind.kind);
    out.append(20 - kind.kind.size(), ' ');
    out += names + "\n";
  }
  return out;
}

int print_whole(const schemas::Kind& kind, const std::string& format) {
  return print(format == "json-schema" ? schemas::json_schema(kind) : schemas::reference_page(kind));
}

/// As `kubectl get` gives several objects.
std::string crd_list() {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest != nullptr) items.push_back(parse_ordered_json(schemas::crd_json(kind)));
  }
  const nlohmann::ordered_json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
  return indented_json(list);
}

int crds(const cli::Arguments& arguments) {
  const std::string name = arguments.one("KIND");
  const bool json = arguments.one("output") == "json";
  if (name.empty()) return print(json ? crd_list() : schemas::crd_manifests());
  const schemas::Kind* kind = schemas::find_own_kind(name);
  if (kind == nullptr) return unknown_kind(kCrds, name);
  return print(json ? schemas::crd_json(*kind) : schemas::crd_manifest(*kind));
}

int schema(const cli::Arguments& arguments) {
  const std::string field = arguments.one("KIND[.FIELD]");
  const std::string format = arguments.one("output");
  if (field.empty()) {
    if (format == "json-schema") return print(schemas::json_schema());
    return print(format == "markdown" ? schemas::reference_index() : list_kinds());
  }
  const std::string name = field.substr(0, field.find('.'));
  const schemas::Kind* kind = schemas::find_own_kind(name);
  if (kind == nullptr) return unknown_kind(kSchema, name);
  std::string_view path = std::string_view(field).substr(std::min(name.size() + 1, field.size()));
  if (path.ends_with('.')) path.remove_suffix(1);
  if (format != "text") {
    if (path.empty()) return print_whole(*kind, format);
    cli::print_error(kSchema, "`--output " + format + "` is of a whole kind; leave `." + std::string(path) + "` out");
    return cli::kExitUsage;
  }
  const auto text = schemas::describe(*kind, path);
  return text ? print(*text) : unknown_field(*kind, path);
}

std::vector<std::string> complete_kind(const cli::Arguments&, std::string_view typed) {
  std::vector<std::string> words;
  const auto offer = [&](std::string_view word) {
    if (word.starts_with(typed)) words.emplace_back(word);
  };
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    offer(kind.kind);
    // Nothing typed: the kinds are enough; their other names would bury them.
    if (typed.empty()) continue;
    offer(kind.plural);
    for (const std::string_view alias : kind.manifest->aliases) offer(alias);
  }
  return words;
}

std::vector<std::string> complete_field(const cli::Arguments& given, std::string_view typed) {
  const std::size_t dot = typed.find('.');
  if (dot == std::string_view::npos) return complete_kind(given, typed);
  const std::string_view name = typed.substr(0, dot);
  const schemas::Kind* kind = schemas::find_own_kind(name);
  std::vector<std::string> words;
  if (kind == nullptr) return words;
  for (const std::string& path : schemas::next_paths(*kind, typed.substr(dot + 1))) {
    words.push_back(std::string(name) + "." + path);
  }
  return words;
}

}  // namespace

cli::Command schema_command() {
  return {.name = "schema",
          .group = kProgramGroup,
          .summary = "Show the documentation of a kind or a field: type, values, default",
          .details = "Without an argument it lists the kinds.",
          .flags = {form_flag({"text", "json-schema", "markdown"})},
          .positional = cli::Positional{.name = "KIND[.FIELD]",
                                        .help = "e.g. `route.spec.rules.matches`",
                                        .required = false,
                                        .complete = complete_field,
                                        .open_ended = true},
          .examples = {"edgectl schema route.spec.rules.retry", "edgectl schema -o json-schema > edge.schema.json"},
          .run = schema};
}

cli::Command crds_command() {
  return {.name = "crds",
          .group = kProgramGroup,
          .summary = "Print the CustomResourceDefinitions of the kinds",
          .details =
              "One stream of YAML documents, or with `-o json` a List, made from the same tables that validation uses.",
          .flags = {form_flag({"yaml", "json"})},
          .positional = cli::Positional{.name = "KIND",
                                        .help = "Kind, plural or short name; default: all",
                                        .required = false,
                                        .complete = complete_kind},
          .examples = {"edgectl crds | kubectl apply -f -", "edgectl crds routes"},
          .run = crds};
}

}  // namespace edge::edgectl
