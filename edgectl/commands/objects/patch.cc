// edgectl patch: applies a strategic merge patch, a merge patch (RFC 7386) or a JSON patch (RFC 6902).
#include "base/os/file.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "compiler/model/node_json.h"
#include "compiler/yaml/read.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/selection.h"
#include "edgectl/resources/write/write.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

constexpr const char* kPatch = "edgectl patch";
constexpr std::size_t kMostPatchBytes = std::size_t{3} << 20;

/// The patch as JSON, whether it was written as JSON or as YAML.
Result<std::string> read_patch(const cli::Arguments& arguments) {
  std::string text = arguments.one("patch");
  std::string name = "--patch";
  if (arguments.has("patch") == arguments.has("patch-file")) {
    return Error{ErrorCode::kInvalidArgument, "give either --patch or --patch-file"};
  }
  if (arguments.has("patch-file")) {
    name = arguments.one("patch-file");
    auto read = read_file(name, kMostPatchBytes);
    if (!read) return read.error();
    text = std::move(*read);
  }
  SourceMap sources;
  Diagnostics diagnostics;
  const auto documents = compiler::yaml::read_documents(sources, sources.add(name, std::move(text)), diagnostics);
  if (!diagnostics.ok()) {
    return Error{ErrorCode::kInvalidArgument, name + " is neither JSON nor YAML: " + diagnostics.all().front().message};
  }
  if (documents.size() != 1) return Error{ErrorCode::kInvalidArgument, name + " holds no patch"};
  return compiler::model::json_of(documents.front().root()).dump();
}

struct Sent {
  kube::ObjectReply reply;
  kube::PatchType type;
};

/// Strategic merge patches are of built-in kinds alone: a server answers 415 for others, and then, as for own kinds
/// from the start, a merge patch is sent.
Sent send(Cluster& cluster, const Type& type, const std::string& name_space, const std::string& name,
          const std::string& patch, const cli::Arguments& arguments) {
  const std::string wanted = arguments.one("type");
  kube::WriteOptions options{.field_manager = arguments.one("field-manager"),
                             .dry_run = arguments.one("dry-run") == "server",
                             .subresource = arguments.one("subresource")};
  const auto call = [&](kube::PatchType how) {
    return Sent{cluster.api().patch(type.resource, name_space, name, how, patch, options), how};
  };
  if (wanted == "json") return call(kube::PatchType::kJson);
  if (wanted == "merge") return call(kube::PatchType::kMerge);
  if (type.own == nullptr) {
    auto sent = call(kube::PatchType::kStrategic);
    if (!sent.reply.failure.refused(415)) return sent;
  }
  cli::print_message("edgectl",
                     "note: " + type.resource.kind +
                         " knows no strategic merge patches; a merge patch is sent, which sets lists as a whole");
  return call(kube::PatchType::kMerge);
}

int patch(const cli::Arguments& arguments) {
  const auto text = read_patch(arguments);
  if (!text) return usage(kPatch, text.error().text);
  const auto patience = parse_duration(arguments.one("timeout"));
  if (!patience)
    return usage(kPatch, "`--timeout` takes a duration such as `60s`, not `" + arguments.one("timeout") + "`");
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kPatch, arguments, exit);
  if (cluster == nullptr) return exit;
  const auto chosen = choose(kPatch, *cluster, arguments, exit);
  if (!chosen) return exit;
  std::vector<Written> sent_all;
  for (const auto& [type, name] : *chosen) {
    const std::string name_space = type.resource.namespaced ? cluster->name_space() : std::string();
    const auto before = cluster->api().get(type.resource, name_space, name);
    if (!before.ok()) {
      exit = std::max(exit, tell(kPatch, before.failure, type.singular() + "/" + name));
      continue;
    }
    const Sent sent = send(*cluster, type, name_space, name, *text, arguments);
    tell_warnings(sent.reply.warnings);
    if (!sent.reply.ok()) {
      exit = std::max(exit, tell(kPatch, sent.reply.failure, type.singular() + "/" + name));
      continue;
    }
    const kube::Object& object = sent.reply.object;
    if (arguments.has("output")) {
      const Output output = output_of(arguments);
      const auto shown = output.form == Form::kName ? Result<std::string>(type.qualified(name) + "\n")
                                                    : object_text(output, plain_object(object.text));
      if (!shown) return usage(kPatch, shown.error().text);
      cli::write_text(stdout, *shown);
    } else {
      const bool same = object.resource_version == before.object.resource_version && object.text == before.object.text;
      const bool dry = arguments.one("dry-run") == "server";
      cli::write_text(stdout, done_text(type, name, same && !dry ? "patched (no change)" : "patched",
                                        dry ? DryRun::kServer : DryRun::kNone));
    }
    sent_all.push_back(written(type, object));
  }
  const bool wait = arguments.one("wait") == "programmed" && arguments.one("dry-run") == "none";
  if (!wait || sent_all.empty()) return exit;
  return std::max(exit, wait_programmed(kPatch, *cluster, arguments, std::move(sent_all),
                                        std::chrono::duration_cast<std::chrono::milliseconds>(*patience)));
}

}  // namespace

cli::Command patch_command() {
  return {.name = "patch",
          .group = kObjectsGroup,
          .summary = "Change fields of an object",
          .details =
              "Strategic merge patches exist for built-in kinds only; for other kinds a merge patch is sent instead, "
              "with a note on stderr.",
          .flags = joined(
              {{.name = "patch", .letter = 'p', .value = "PATCH", .help = "Patch in JSON or YAML"},
               {.name = "patch-file", .value = "PATH", .help = "File with the patch"},
               {.name = "type",
                .value = "TYPE",
                .help = "Type of the patch",
                .fallback = "strategic",
                .choices = {"strategic", "merge", "json"}},
               {.name = "subresource", .value = "NAME", .help = "Subresource to patch", .choices = {"status", "scale"}},
               field_manager_flag(),
               dry_run_flag({"none", "server"}),
               wait_programmed_flag(),
               result_flag()},
              waiting_flags()),
          .positional = type_argument(),
          .second = names_argument("Names"),
          .examples = {R"(edgectl patch backend pay -p '{"spec":{"lbPolicy":"P2C"}}')",
                       R"(edgectl patch rt cart --type json -p '[{"op":"remove","path":"/spec/hostnames/1"}]')"},
          .run = patch,
          .global = true};
}

}  // namespace edge::edgectl
