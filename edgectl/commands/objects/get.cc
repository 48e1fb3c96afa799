// edgectl get: lists objects in the columns of their kind or in another format, once or as they change.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/commands/objects/certificates.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/gateway_api.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/selection.h"
#include "edgectl/resources/server_table.h"
#include "edgectl/resources/sort_key.h"
#include "edgectl/resources/spoke.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "net/clock.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr const char* kGet = "edgectl get";
constexpr int kMostBreaks = 5;
constexpr std::chrono::milliseconds kPause(200);
constexpr std::chrono::hours kForever(24 * 365);

class Get {
 public:
  Get(Cluster& cluster, const cli::Arguments& arguments)
      : cluster_(cluster), arguments_(arguments), output_(output_of(arguments)) {}

  int run() {
    const auto selections = select(kGet, cluster_, arguments_, exit_);
    if (!selections) return exit_;
    if (output_.form == Form::kCustomColumns) {
      auto custom = Columns::custom(output_.argument);
      if (!custom) return usage(custom.error().text);
      columns_ = std::move(*custom);
    }
    if (arguments_.has("sort-by")) {
      auto order = SortKey::parse(arguments_.one("sort-by"));
      if (!order) return usage(order.error().text);
      if (arguments_.has("watch")) return usage("changes come in their own order: --sort-by goes without --watch");
      order_ = std::move(*order);
    }
    if (arguments_.has("watch")) {
      if (!spoke_of(arguments_).empty())
        return usage("changes of a spoke cannot be followed: --watch goes without --cluster");
      const bool one = selections->size() == 1 && selections->front().names.size() <= 1;
      return one ? watch(selections->front()) : usage("--watch follows one type, or one object");
    }
    if (output_.tabular()) {
      tables(*selections);
      tell_of_other_gateways(kGet, cluster_, arguments_, *selections);
    } else {
      objects(*selections);
    }
    return exit_;
  }

 private:
  int usage(const std::string& what) {
    cli::print_error(kGet, what);
    return exit_ = cli::kExitUsage;
  }

  void print(const std::string& text) {
    if (!cli::write_text(stdout, text)) exit_ = cli::kExitFindings;
  }

  void failed(const kube::Failure& failure, const std::string& about) {
    if (failure.not_found() && arguments_.has("ignore-not-found")) return;
    exit_ = std::max(exit_, tell(kGet, failure, about));
  }

  kube::ListOptions list_options(const Type& type) const {
    kube::ListOptions options;
    options.name_space = place_of(type, cluster_, arguments_);
    options.label_selector = arguments_.one("selector");
    options.field_selector = arguments_.one("field-selector");
    options.reading.managed_fields = arguments_.has("show-managed-fields");
    return options;
  }

  /// What is selected, as far as it can be had; the rest is told on stderr.
  std::vector<Json> fetch(const Selection& selection) {
    std::vector<Json> all;
    if (selection.names.empty()) {
      const auto list = cluster_.api().list_all(selection.type.resource, list_options(selection.type));
      if (!list.ok()) failed(list.failure, selection.type.resource.plural);
      for (const kube::Object& object : list.list.items) all.push_back(parsed_json(object.text));
      return all;
    }
    for (const std::string& name : selection.names) {
      const auto reply = fetch_one(selection.type, name);
      if (reply.ok()) {
        const bool managed = arguments_.has("show-managed-fields");
        all.push_back(managed ? parsed_json(reply.body) : plain_object(reply.body));
      } else {
        failed(reply.failure, selection.type.singular() + "/" + name);
      }
    }
    return all;
  }

  kube::Reply fetch_one(const Type& type, const std::string& name) {
    const std::string name_space = type.resource.namespaced ? cluster_.name_space() : std::string();
    // As the server has it, managed fields included.
    if (arguments_.has("show-managed-fields")) {
      return cluster_.api().send({.target = kube::path_of(type.resource, name_space, name)});
    }
    auto object = cluster_.api().get(type.resource, name_space, name);
    return {.failure = std::move(object.failure), .body = std::move(object.object.text)};
  }

  void tables(const std::vector<Selection>& selections) {
    bool any = false;
    for (const Selection& selection : selections) {
      const std::string prefix = selections.size() > 1 ? selection.type.singular() + "/" : std::string();
      const std::string text = table(selection, prefix);
      if (text.empty()) continue;
      print((any ? "\n" : "") + text);
      any = true;
    }
    if (any || exit_ != cli::kExitOk || arguments_.has("ignore-not-found")) return;
    const bool everywhere = arguments_.has("all-namespaces");
    cli::print_message("edgectl", everywhere ? std::string("no resources found")
                                             : "no resources found in namespace `" + cluster_.name_space() + "`");
  }

  /// Empty when there are no rows.
  std::string table(const Selection& selection, const std::string& prefix) {
    const bool heads = !arguments_.has("no-headers");
    const bool wide = output_.form == Form::kWide;
    if (selection.type.own == nullptr) {
      ServerTable table(cluster_, selection.type, wide, order_ ? &*order_ : nullptr);
      for (const auto& failure : table.fetch(selection.names, list_options(selection.type))) {
        failed(failure.why, failure.about);
      }
      return table.text(prefix, heads);
    }
    const Columns columns = Columns::of_kind(*selection.type.own, wide);
    TextTable text(columns.heads());
    std::vector<Json> all = fetch(selection);
    if (order_) order_->sort(all);
    for (const Json& object : all) text.add(columns.cells(object, seconds_now(), prefix));
    return text.empty() ? std::string() : text.take(heads);
  }

  void objects(const std::vector<Selection>& selections) {
    struct Found {
      const Type* type;
      Json object;
    };
    std::vector<Found> found;
    for (const Selection& selection : selections) {
      for (Json& object : fetch(selection)) found.push_back({&selection.type, std::move(object)});
    }
    if (order_) order_->sort(found, [](const Found& one) -> const Json& { return one.object; });
    std::vector<Json> all;
    std::string names;
    for (Found& one : found) {
      names += one.type->qualified(text_in(member_in(one.object, "metadata"), "name")) + "\n";
      all.push_back(std::move(one.object));
    }
    if (output_.form == Form::kName) return print(names);
    if (output_.form == Form::kCustomColumns) {
      TextTable text(columns_.heads());
      for (const Json& object : all) text.add(columns_.cells(object, seconds_now()));
      return print(text.take(!arguments_.has("no-headers")));
    }
    const bool one = selections.size() == 1 && selections.front().names.size() == 1;
    if (one && all.empty()) return;
    const auto text = object_text(output_, one ? all.front() : list_of(std::move(all)));
    if (text) {
      print(*text);
    } else {
      usage(text.error().text);
    }
  }

  /// One line, or one object, for each that is there and then for each change.
  int watch(const Selection& selection) {
    const Type& type = selection.type;
    if (output_.tabular()) {
      columns_ = type.own != nullptr ? Columns::of_kind(*type.own, output_.form == Form::kWide)
                                     : Columns::of_any(type.resource.namespaced);
    }
    TextTable text(columns_.heads());
    bool heads = !arguments_.has("no-headers");
    const bool row = output_.tabular() || output_.form == Form::kCustomColumns;
    const auto show = [&](const Json& object) {
      if (row) {
        text.add(columns_.cells(object, seconds_now()));
        const bool with_heads = std::exchange(heads, false);
        return cli::write_text(stdout, text.take(with_heads));
      }
      const std::string name = type.qualified(text_in(member_in(object, "metadata"), "name"));
      if (output_.form == Form::kName) return cli::write_text(stdout, name + "\n");
      const auto shown = object_text(output_, object);
      return shown && cli::write_text(stdout, (output_.form == Form::kYaml ? "---\n" : "") + *shown);
    };
    kube::WatchOptions options;
    options.name_space = place_of(type, cluster_, arguments_);
    options.label_selector = arguments_.one("selector");
    options.field_selector = arguments_.one("field-selector");
    options.reading.managed_fields = arguments_.has("show-managed-fields");
    if (!selection.names.empty()) options.field_selector = "metadata.name=" + selection.names.front();
    if (!row) return follow(type, options, show);
    // The rows that are there come first and together: columns are as wide as the widest of them.
    kube::ListOptions listed = list_options(type);
    listed.field_selector = options.field_selector;
    const auto list = cluster_.api().list_all(type.resource, listed);
    if (!list.ok()) return tell(kGet, list.failure, type.resource.plural);
    options.resource_version = list.list.resource_version;
    for (const kube::Object& object : list.list.items) {
      text.add(columns_.cells(parsed_json(object.text), seconds_now()));
    }
    if (!text.empty() && !cli::write_text(stdout, text.take(std::exchange(heads, false)))) return exit_;
    return follow(type, options, show);
  }

  template <typename Show>
  int follow(const Type& type, kube::WatchOptions options, const Show& show) {
    const auto limit = arguments_.has("request-timeout")
                           ? request_timeout(arguments_)
                           : std::chrono::duration_cast<std::chrono::milliseconds>(kForever);
    const net::Time until = std::chrono::steady_clock::now() + limit;
    int breaks = 0;
    while (std::chrono::steady_clock::now() < until) {
      bool reader_left = false;
      const auto failure = cluster_.api().watch(type.resource, options, until, [&](const kube::WatchEvent& event) {
        breaks = 0;
        if (event.type == kube::EventType::kError) return true;
        options.resource_version = event.object.resource_version;
        if (event.type == kube::EventType::kBookmark) return true;
        reader_left = !show(parsed_json(event.object.text));
        return !reader_left;
      });
      if (reader_left) return exit_;
      if (failure.kind == kube::Failure::Kind::kTimeout && std::chrono::steady_clock::now() >= until) break;
      if (failure.expired()) options.resource_version.clear();
      const bool again = failure.none() || failure.expired() || failure.temporary();
      if (!again || ++breaks > kMostBreaks) return tell(kGet, failure, type.resource.plural);
      // A server that ends every watch at once is not asked without a pause.
      if (breaks > 1) std::this_thread::sleep_for(kPause * breaks);
    }
    return exit_;
  }

  Cluster& cluster_;
  const cli::Arguments& arguments_;
  Output output_;
  Columns columns_;
  std::optional<SortKey> order_{};
  int exit_ = cli::kExitOk;
};

int get(const cli::Arguments& arguments) {
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kGet, arguments, exit);
  if (cluster == nullptr) return exit;
  return asks_for_certificates(arguments) ? get_certificates(*cluster, arguments) : Get(*cluster, arguments).run();
}

}  // namespace

cli::Command get_command() {
  return {
      .name = "get",
      .group = kObjectsGroup,
      .summary = "List objects, or print them in full",
      .details =
          "Kinds of edgeproxy.io have the columns of `edgectl schema`; other kinds those of the server. "
          "`certificates` are those that are ordered from CAs, by host name.",
      .flags = joined({all_namespaces_flag(),
                       selector_flag(),
                       {.name = "field-selector", .value = "FIELDS", .help = "Field selector, e.g. `metadata.name=x`"},
                       {.name = "sort-by",
                        .value = "PATH",
                        .help = "Sort by the value at this JSONPath, e.g. `.metadata.creationTimestamp`"},
                       {.name = "watch", .letter = 'w', .help = "Keep running, and print each change"},
                       no_headers_flag(),
                       {.name = "ignore-not-found", .help = "Succeed if the object does not exist"},
                       {.name = "show-managed-fields", .help = "Show metadata.managedFields"},
                       output_flag()},
                      remote_cluster_flags()),
      .positional = type_argument(),
      .second = names_argument("Names; all without"),
      .examples = {"edgectl get routes", "edgectl get gateways,routes -A -o wide", "edgectl get rt cart -o yaml",
                   "edgectl get route/cart backend/pay", "edgectl get certificates -A", "edgectl get routes -w",
                   "edgectl get routes --cluster berlin",
                   "edgectl get routes -l app=shop --sort-by .metadata.creationTimestamp",
                   "edgectl get routes -o jsonpath='{range .items[*]}{.metadata.name}{\"\\n\"}{end}'"},
      .run = get,
      .global = true};
}

}  // namespace edge::edgectl
