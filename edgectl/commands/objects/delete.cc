// edgectl delete: deletes objects by type and name, by label, all of a type, or those in files.
#include <algorithm>
#include <charconv>
#include <chrono>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/reports/diagnostics_output.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/selection.h"
#include "edgectl/resources/write/manifest.h"
#include "edgectl/resources/write/wait.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr const char* kDelete = "edgectl delete";

class Remover {
 public:
  explicit Remover(const cli::Arguments& arguments) : arguments_(arguments) {}

  int run() {
    if (const int wrong = settings(); wrong != cli::kExitOk) return wrong;
    const bool files = arguments_.has("file");
    if (files == arguments_.has("TYPE")) return usage("give either -f, or a type and names");
    if (files && !read()) return cli::kExitFindings;
    cluster_ = open_cluster(kDelete, arguments_, exit_);
    if (cluster_ == nullptr) return exit_;
    if (files) {
      by_files();
    } else {
      by_names();
    }
    const auto began = std::chrono::steady_clock::now();
    for (const Written& held : held_) {
      if (wait_gone(*cluster_, held.type, held.name_space, held.name, held.uid, patience_)) continue;
      cli::print_error(kDelete, held.title() + " is still there: something holds it by a finalizer");
      exit_ = std::max(exit_, cli::kExitFindings);
    }
    if (arguments_.one("wait") != "programmed" || removed_.empty() || exit_ != cli::kExitOk) return exit_;
    const auto left = patience_ - (std::chrono::steady_clock::now() - began);
    return wait_programmed(kDelete, *cluster_, arguments_, std::move(removed_),
                           std::max(std::chrono::duration_cast<std::chrono::milliseconds>(left), 0ms));
  }

 private:
  static int usage(const std::string& what) {
    cli::print_error(kDelete, what);
    return cli::kExitUsage;
  }

  int settings() {
    const auto patience = parse_duration(arguments_.one("timeout"));
    if (!patience) return usage("`--timeout` takes a duration such as `60s`, not `" + arguments_.one("timeout") + "`");
    patience_ = std::chrono::duration_cast<std::chrono::milliseconds>(*patience);
    const std::string cascade = arguments_.one("cascade");
    options_.propagation = cascade == "foreground" ? "Foreground" : cascade == "orphan" ? "Orphan" : "Background";
    options_.dry_run = arguments_.one("dry-run") == "server";
    if (arguments_.has("force")) options_.grace_seconds = 0;
    if (const std::string text = arguments_.one("grace-period"); !text.empty()) {
      const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), options_.grace_seconds);
      if (fault != std::errc() || end != text.data() + text.size() || options_.grace_seconds < 0) {
        return usage("`--grace-period` takes a number of seconds, not `" + text + "`");
      }
    }
    return cli::kExitOk;
  }

  bool read() {
    const Status status = read_manifest(arguments_.all("file"), /*generate_name=*/false, manifest_, diagnostics_);
    if (!status) {
      cli::print_error(kDelete, status.error().text);
      return false;
    }
    if (diagnostics_.ok()) return true;
    diagnostics_.finish(manifest_.sources);
    cli::write_text(stderr, errors_text(diagnostics_, manifest_.sources, cli::colour_for(stderr)));
    cli::print_error(kDelete, "nothing was removed");
    return false;
  }

  void by_files() {
    sort_for_creation(manifest_.objects);
    // What refers to others goes before what it refers to.
    for (auto object = manifest_.objects.rbegin(); object != manifest_.objects.rend(); ++object) {
      const auto found = cluster_->find_kind(object->api_version, object->kind);
      if (!found.type) {
        if (found.failure.none() && arguments_.has("ignore-not-found")) continue;
        const kube::Failure unknown{
            .kind = kube::Failure::Kind::kRefused, .http = 404, .message = "the cluster serves no such kind"};
        exit_ = std::max(exit_, tell(kDelete, found.failure.none() ? unknown : found.failure, object->title()));
        continue;
      }
      const std::string own = object->name_space.empty() ? cluster_->name_space() : object->name_space;
      remove(*found.type, found.type->resource.namespaced ? own : std::string(), object->name);
    }
  }

  void by_names() {
    const auto selections = select(kDelete, *cluster_, arguments_, exit_);
    if (!selections) return;
    tell_of_other_gateways(kDelete, *cluster_, arguments_, *selections);
    const bool many = arguments_.has("all") || arguments_.has("selector");
    for (const Selection& selection : *selections) {
      if (selection.names.empty() == !many) {
        exit_ = usage(many ? "names go with neither --all nor --selector"
                           : "which " + selection.type.singular() + "? Give names, --selector or --all");
        return;
      }
    }
    for (const Selection& selection : *selections) {
      const std::string name_space = place_of(selection.type, *cluster_, arguments_);
      for (const std::string& name : selection.names) remove(selection.type, name_space, name);
      if (many) all_of(selection.type, name_space);
    }
  }

  /// One by one, so that each is told of.
  void all_of(const Type& type, const std::string& name_space) {
    kube::ListOptions options;
    options.name_space = name_space;
    options.label_selector = arguments_.one("selector");
    const auto list = cluster_->api().list_all(type.resource, options);
    if (!list.ok()) exit_ = std::max(exit_, tell(kDelete, list.failure, type.resource.plural));
    for (const kube::Object& object : list.list.items) {
      // Gone meanwhile is as good.
      remove(type, object.name_space, object.name, /*may_be_gone=*/true);
    }
    if (list.ok() && list.list.items.empty()) cli::print_message("edgectl", "no resources found");
  }

  void remove(const Type& type, const std::string& name_space, const std::string& name, bool may_be_gone = false) {
    const std::string how = arguments_.has("force") ? "force deleted" : "deleted";
    const std::string dry_run = arguments_.one("dry-run");
    const std::string suffix = dry_run == "client" ? " (dry run)" : dry_run == "server" ? " (server dry run)" : "";
    kube::Reply reply;
    if (dry_run == "client") {
      reply.failure = cluster_->api().get(type.resource, name_space, name).failure;
    } else {
      reply = cluster_->api().remove(type.resource, name_space, name, options_);
    }
    if (reply.failure.not_found() && (may_be_gone || arguments_.has("ignore-not-found"))) return;
    if (!reply.ok()) {
      exit_ = std::max(exit_, tell(kDelete, reply.failure, type.singular() + "/" + name));
      return;
    }
    const std::string title = type.singular() + (type.resource.group.empty() ? "" : "." + type.resource.group);
    const bool only_name = arguments_.one("output") == "name";
    cli::write_text(stdout,
                    only_name ? type.qualified(name) + "\n" : title + " \"" + name + "\" " + how + suffix + "\n");
    if (!suffix.empty()) return;
    // A metav1.Status says that it is gone, and its details what it was; the object, that something holds it.
    const Json answer = parsed_json(reply.body);
    const bool held = !text_in(member_in(answer, "metadata"), "deletionTimestamp").empty();
    const std::string uid = text_in(member_in(answer, held ? "metadata" : "details"), "uid");
    Written removed{.type = type, .name_space = name_space, .name = name, .uid = uid, .gone = true};
    if (held && arguments_.one("wait") != "false") held_.push_back(removed);
    removed_.push_back(std::move(removed));
  }

  const cli::Arguments& arguments_;
  kube::DeleteOptions options_;
  std::chrono::milliseconds patience_{};
  Manifest manifest_;
  Diagnostics diagnostics_;
  std::unique_ptr<Cluster> cluster_;
  std::vector<Written> removed_;
  std::vector<Written> held_;  ///< of these, by finalizers
  int exit_ = cli::kExitOk;
};

int remove(const cli::Arguments& arguments) { return Remover(arguments).run(); }

}  // namespace

cli::Command delete_command() {
  return {.name = "delete",
          .group = kObjectsGroup,
          .summary = "Delete objects by name, by label, or by files",
          .flags = joined(
              {file_flag(kFilesToRead, /*required=*/false),
               {.name = "all", .help = "All objects of the type"},
               selector_flag(),
               all_namespaces_flag(),
               {.name = "force", .help = "Without a grace period"},
               {.name = "grace-period", .value = "SECONDS", .help = "Grace period (default: the object's)"},
               {.name = "cascade",
                .value = "HOW",
                .help = "How owned objects are deleted",
                .fallback = "background",
                .choices = {"background", "foreground", "orphan"}},
               {.name = "ignore-not-found", .help = "Succeed if the object does not exist"},
               dry_run_flag({"none", "client", "server"}),
               {.name = "wait",
                .value = "BOOL",
                .help = "`true`: return when the object is gone; `programmed`: when no agent serves it any more; "
                        "`false`: at once",
                .fallback = "true",
                .choices = {"true", "false", "programmed"}},
               {.name = "output", .letter = 'o', .value = "FORM", .help = "Print only names", .choices = {"name"}}},
              waiting_flags()),
          .positional = type_argument(/*required=*/false),
          .second = names_argument("Names"),
          .examples = {"edgectl delete route cart", "edgectl delete -f config/", "edgectl delete routes -l app=shop"},
          .run = remove,
          .global = true};
}

}  // namespace edge::edgectl
