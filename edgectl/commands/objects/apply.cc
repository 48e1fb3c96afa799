// edgectl create, apply: sends the objects in files to the cluster. All errors that can be found in the files are
// reported before anything is sent; errors from the server are shown at their place in the file.
#include <set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/reports/diagnostics_output.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/write/manifest.h"
#include "edgectl/resources/write/prune.h"
#include "edgectl/resources/write/write.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

enum class Verb { kCreate, kApply };

class Sender {
 public:
  Sender(Verb verb, const cli::Arguments& arguments)
      : verb_(verb), arguments_(arguments), command_(verb == Verb::kCreate ? "edgectl create" : "edgectl apply") {}

  int run() {
    if (const int wrong = read(); wrong != cli::kExitOk) return wrong;
    cluster_ = open_cluster(command_, arguments_, exit_);
    if (cluster_ == nullptr) return exit_;
    sort_for_creation(manifest_.objects);
    for (const ManifestObject& object : manifest_.objects) {
      if (!send(object)) break;
    }
    if (arguments_.has("prune")) prune();
    print_objects();
    if (!diagnostics_.ok()) {
      diagnostics_.finish(manifest_.sources);
      cli::write_text(stderr, errors_text(diagnostics_, manifest_.sources, cli::colour_for(stderr)));
    }
    if (arguments_.one("wait") != "programmed" || settings_.dry_run != DryRun::kNone || sent_.empty()) return exit_;
    return std::max(exit_, wait_programmed(command_, *cluster_, arguments_, std::move(sent_), patience_));
  }

 private:
  int usage(const std::string& what) {
    cli::print_error(command_, what);
    return cli::kExitUsage;
  }

  int read() {
    const std::string dry_run = arguments_.one("dry-run");
    settings_.dry_run = dry_run == "client" ? DryRun::kClient : dry_run == "server" ? DryRun::kServer : DryRun::kNone;
    settings_.server_side = arguments_.has("server-side");
    settings_.force = arguments_.has("force-conflicts");
    settings_.field_manager = arguments_.one("field-manager");
    const std::string validate = arguments_.one("validate");
    settings_.field_validation = validate == "warn" ? "Warn" : validate == "false" ? "Ignore" : "Strict";
    const bool labels = arguments_.has("selector");
    if (arguments_.has("prune") != (labels || arguments_.has("all"))) {
      return usage("--prune goes with --selector, which says what belongs together, or with --all");
    }
    if (labels && arguments_.has("all")) return usage("--all and --selector exclude each other");
    if (settings_.force && !settings_.server_side) return usage("--force-conflicts goes with --server-side");
    const auto patience = parse_duration(arguments_.one("timeout"));
    if (!patience) return usage("`--timeout` takes a duration such as `60s`, not `" + arguments_.one("timeout") + "`");
    patience_ = std::chrono::duration_cast<std::chrono::milliseconds>(*patience);
    const Status status =
        read_manifest(arguments_.all("file"), /*generate_name=*/verb_ == Verb::kCreate, manifest_, diagnostics_);
    if (!status) {
      cli::print_error(command_, status.error().text);
      return cli::kExitFindings;
    }
    if (validate != "false") check_fields(manifest_, diagnostics_);
    if (!diagnostics_.ok()) {
      diagnostics_.finish(manifest_.sources);
      cli::write_text(stderr, errors_text(diagnostics_, manifest_.sources, cli::colour_for(stderr)));
      cli::print_error(command_, "nothing was sent");
      return cli::kExitFindings;
    }
    if (manifest_.objects.empty()) {
      cli::print_error(command_, "there is no resource in what -f names");
      return cli::kExitFindings;
    }
    return cli::kExitOk;
  }

  /// false: there is no point in going on.
  bool send(const ManifestObject& object) {
    const auto found = find(object);
    if (!found.type) return refused(object, found.failure);
    const Type& type = *found.type;
    Json json = parsed_json(object.text);
    std::string name_space;
    if (type.resource.namespaced) {
      name_space = object.name_space.empty() ? cluster_->name_space() : object.name_space;
      if (arguments_.has("namespace") && name_space != cluster_->name_space()) {
        return refused(object, {.kind = kube::Failure::Kind::kRefused,
                                .http = 400,
                                .reason = "BadRequest",
                                .message = "it names the namespace `" + name_space + "`, and --namespace says `" +
                                           cluster_->name_space() + "`"});
      }
      json["metadata"]["namespace"] = name_space;
      if (!has_namespace(object, name_space)) return false;
    }
    const WriteResult result = verb_ == Verb::kCreate ? create_object(*cluster_, type, name_space, json, settings_)
                                                      : apply_object(*cluster_, type, name_space, json, settings_);
    tell_warnings(result.warnings);
    if (!result.failure.none()) return refused(object, result.failure);
    done(type, result);
    return true;
  }

  Cluster::Found find(const ManifestObject& object) {
    // A definition that was sent a moment ago is in no table yet; once its kind is found, there is no need to ask
    // again.
    if (definitions_sent_) {
      const kube::Resource* resource = table_.find_kind(object.api_version, object.kind);
      if (resource == nullptr) {
        table_ = cluster_->api().discover().table;
        resource = table_.find_kind(object.api_version, object.kind);
      }
      if (resource != nullptr) return {.failure = {}, .type = Type{*resource, nullptr}};
    }
    auto found = cluster_->find_kind(object.api_version, object.kind);
    if (!found.type && found.failure.none()) {
      found.failure = {.kind = kube::Failure::Kind::kRefused,
                       .http = 404,
                       .reason = "NoKindMatch",
                       .message = "the cluster serves no `" + object.kind + "` of `" + object.api_version +
                                  "`; is its CustomResourceDefinition installed?"};
    }
    return found;
  }

  void done(const Type& type, const WriteResult& result) {
    const std::string& name = result.object.name;
    if (arguments_.has("output")) {
      objects_.emplace_back(type, plain_object(result.object.text));
    } else {
      cli::write_text(stdout, done_text(type, name, result.done, settings_.dry_run));
    }
    if (type.resource.plural == "customresourcedefinitions") definitions_sent_ = true;
    sent_.push_back(written(type, result.object));
    applied_.add(type, type.resource.namespaced ? result.object.name_space : std::string(), name);
  }

  /// What was applied before and is in the files no longer. Of files that were not applied whole nothing can be told.
  void prune() {
    if (exit_ != cli::kExitOk || !diagnostics_.ok()) {
      cli::print_error(command_, "nothing is pruned, as not everything was applied");
      return;
    }
    std::vector<Leftover> leftovers;
    for (const Type& type : applied_.types(*cluster_)) {
      const kube::Failure failure =
          find_leftovers(*cluster_, type, applied_, arguments_.one("selector"), settings_.field_manager, leftovers);
      if (!failure.none()) exit_ = std::max(exit_, tell(command_, failure, type.resource.plural));
    }
    for (const Leftover& leftover : leftovers) prune(leftover);
  }

  void prune(const Leftover& leftover) {
    if (settings_.dry_run != DryRun::kClient) {
      // Of another that has come under its name meanwhile nothing is known.
      const auto reply = cluster_->api().remove(
          leftover.type.resource, leftover.name_space, leftover.name,
          {.propagation = "Background", .dry_run = settings_.dry_run == DryRun::kServer, .uid = leftover.uid});
      if (reply.failure.not_found()) return;
      if (!reply.ok()) {
        exit_ = std::max(exit_, tell(command_, reply.failure, leftover.type.singular() + "/" + leftover.name));
        return;
      }
    }
    cli::write_text(arguments_.has("output") ? stderr : stdout,
                    done_text(leftover.type, leftover.name, "pruned", settings_.dry_run));
    sent_.push_back({.type = leftover.type,
                     .name_space = leftover.name_space,
                     .name = leftover.name,
                     .uid = leftover.uid,
                     .gone = true});
  }

  bool refused(const ManifestObject& object, const kube::Failure& failure) {
    exit_ = std::max(exit_, exit_code_of(failure));
    // What is wrong with fields is shown at the fields.
    const bool fields =
        failure.refused(422) || (failure.refused(400) && failure.message.find("field") != std::string::npos);
    if (fields) {
      add_refusal(object, failure, diagnostics_);
      return true;
    }
    const Span span = object.node.span();
    const SourceText& source = manifest_.sources[span.source];
    tell(command_, failure,
         object.title() + " (" + source.name() + ":" + std::to_string(source.position(span.begin).line) + ")");
    return exit_code_of(failure) == cli::kExitFindings;
  }

  /// Makes the namespace if that was asked for; once.
  bool has_namespace(const ManifestObject& object, const std::string& name_space) {
    if (!arguments_.has("create-namespaces") || !namespaces_.insert(name_space).second) return true;
    const Json json = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name_space}}}};
    const Type type{{.group = {}, .version = "v1", .plural = "namespaces", .kind = "Namespace", .namespaced = false}};
    const WriteResult result = create_object(*cluster_, type, {}, json, settings_);
    if (result.failure.none()) {
      cli::write_text(arguments_.has("output") ? stderr : stdout,
                      done_text(type, name_space, result.done, settings_.dry_run));
    }
    return result.failure.none() || result.failure.already_exists() || refused(object, result.failure);
  }

  void print_objects() {
    if (!arguments_.has("output") || objects_.empty()) return;
    const Output output = output_of(arguments_);
    if (output.form == Form::kName) {
      for (const auto& [type, object] : objects_) {
        cli::write_text(stdout, type.qualified(text_in(member_in(object, "metadata"), "name")) + "\n");
      }
      return;
    }
    std::vector<Json> all;
    for (auto& [type, object] : objects_) all.push_back(std::move(object));
    const auto text = object_text(output, all.size() == 1 ? all.front() : list_of(std::move(all)));
    if (!text) {
      exit_ = usage(text.error().text);
    } else if (!cli::write_text(stdout, *text)) {
      exit_ = std::max(exit_, cli::kExitFindings);
    }
  }

  Verb verb_;
  const cli::Arguments& arguments_;
  std::string command_;
  WriteSettings settings_;
  std::chrono::milliseconds patience_{};
  Manifest manifest_;
  Diagnostics diagnostics_;
  std::unique_ptr<Cluster> cluster_;
  std::vector<Written> sent_;
  Applied applied_;
  std::vector<std::pair<Type, Json>> objects_;
  std::set<std::string> namespaces_;  ///< that were made sure of
  bool definitions_sent_ = false;
  kube::ResourceTable table_;  ///< of after a definition was sent
  int exit_ = cli::kExitOk;
};

int create(const cli::Arguments& arguments) { return Sender(Verb::kCreate, arguments).run(); }
int apply(const cli::Arguments& arguments) { return Sender(Verb::kApply, arguments).run(); }

}  // namespace

cli::Command create_command() {
  return {.name = "create",
          .group = kObjectsGroup,
          .summary = "Create objects from files; fail if they exist",
          .details = "`create secret tls` and `create secret generic` make Secrets from files.",
          .flags = joined(
              {file_flag(kFilesToRead), create_namespaces_flag(), field_manager_flag(),
               dry_run_flag({"none", "client", "server"}), check_fields_flag(), wait_programmed_flag(), result_flag()},
              waiting_flags()),
          .examples = {"edgectl create -f gateway.yaml"},
          .run = create,
          .global = true};
}

cli::Command apply_command() {
  return {
      .name = "apply",
      .group = kObjectsGroup,
      .summary = "Create the objects in files, or update them to what the files say",
      .details =
          "A three-way merge with the configuration applied last, as `kubectl apply` does it and in the same "
          "annotation, so that the two can be used on the same objects. All errors in the files are reported before "
          "anything is sent; an error from the server is shown at its place in the file.",
      .flags = joined({file_flag(kFilesToRead),
                       {.name = "server-side", .help = "Merge in the server, by managed fields"},
                       {.name = "force-conflicts", .help = "With --server-side: take over fields of other managers"},
                       {.name = "prune",
                        .help = "Delete objects that were applied before, match the selector and are not in the files"},
                       {.name = "all", .help = "With --prune: regardless of labels"},
                       selector_flag(),
                       create_namespaces_flag(),
                       field_manager_flag(),
                       dry_run_flag({"none", "client", "server"}),
                       check_fields_flag(),
                       wait_programmed_flag(),
                       result_flag()},
                      waiting_flags()),
      .examples = {"edgectl apply -f config/", "edgectl apply -f route.yaml --wait=programmed",
                   "edgectl apply -f shop/ --prune -l app=shop --dry-run server",
                   "generate | edgectl apply -f - --server-side"},
      .run = apply,
      .global = true};
}

}  // namespace edge::edgectl
