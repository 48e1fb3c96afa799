// edgectl edit: opens an object in the user's editor. Only changed fields are sent; an edit that cannot be parsed or is
// refused reopens with the reason at the top, and nothing typed is lost.
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/json.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/selection.h"
#include "edgectl/resources/table.h"
#include "edgectl/resources/write/manifest.h"
#include "edgectl/resources/write/merge.h"
#include "edgectl/resources/write/write.h"
#include "edgectl/shared_flags.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr const char* kEdit = "edgectl edit";
constexpr std::size_t kMostBytes = std::size_t{16} << 20;
constexpr std::string_view kHead =
    "# Edit the object below. Lines that begin with `#` on top are left out; saving it as it is, or empty, changes\n"
    "# nothing.\n#\n";

std::string editor() {
  for (const char* name : {"EDGECTL_EDITOR", "KUBE_EDITOR", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "vi";
}

/// The editor may be a command with arguments, so a shell takes it apart; the path is never part of what it parses.
Status run_editor(const std::string& path) {
  const std::string command = "exec " + editor() + " \"$1\"";
  const pid_t child = ::fork();
  if (child < 0) return Error{ErrorCode::kUnavailable, "no process can be started"};
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), "edgectl", path.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{ErrorCode::kAborted, "the editor `" + editor() + "` failed; EDITOR names another"};
}

/// A file that only its owner may read: it may contain a Secret.
class EditFile {
 public:
  EditFile() : path_((std::filesystem::temp_directory_path() / "edgectl-edit-XXXXXX.yaml").string()) {
    const int fd = ::mkstemps(path_.data(), 5);
    made_ = fd >= 0;
    if (made_) ::close(fd);
  }
  ~EditFile() {
    if (made_ && !kept_) ::unlink(path_.c_str());
  }
  EditFile(const EditFile&) = delete;
  EditFile& operator=(const EditFile&) = delete;

  bool made() const { return made_; }
  const std::string& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  std::string path_;
  bool made_ = false;
  bool kept_ = false;
};

/// Without the comments on top.
std::string_view body_of(std::string_view text) {
  while (text.starts_with('#')) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

std::string commented(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += "# " + shown(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out + "#\n";
}

class Editing {
 public:
  Editing(Cluster& cluster, const Chosen& chosen) : cluster_(cluster), chosen_(chosen) {}

  int run() {
    name_space_ = chosen_.type.resource.namespaced ? cluster_.name_space() : std::string();
    const auto live = cluster_.api().get(chosen_.type.resource, name_space_, chosen_.name);
    if (!live.ok()) return tell(kEdit, live.failure, title());
    before_ = plain_object(live.object.text);
    if (!file_.made()) return failed("no file can be made in " + std::filesystem::temp_directory_path().string());
    std::string body = schemas::yaml_text(before_);
    const std::string original = body;
    for (std::string fault;;) {
      if (const Status status = write_file(file_.path(), std::string(kHead) + fault + body, FileAccess::kOwnerOnly);
          !status) {
        return failed(status.error().text);
      }
      if (const Status status = run_editor(file_.path()); !status) return lost(status.error().text);
      const auto text = read_file(file_.path(), kMostBytes);
      if (!text) return lost(text.error().text);
      const std::string edited(body_of(*text));
      if (edited.find_first_not_of(" \t\r\n") == std::string::npos || edited == original) return cancelled();
      // The same text again: the user has seen what is wrong with it and gives up.
      if (!fault.empty() && edited == body) return lost("it is as it was refused");
      body = edited;
      fault = attempt(body);
      if (fault.empty()) return exit_;
      fault = commented(fault);
    }
  }

  const std::optional<Written>& done() const { return done_; }

 private:
  std::string title() const { return chosen_.type.singular() + "/" + chosen_.name; }

  static int failed(const std::string& what) {
    cli::print_error(kEdit, what);
    return cli::kExitFindings;
  }

  int lost(const std::string& what) {
    file_.keep();
    return failed(what + "; nothing was sent, and your text is in " + file_.path());
  }

  static int cancelled() {
    cli::print_message("edgectl", "edit cancelled, nothing was changed");
    return cli::kExitOk;
  }

  /// Sends what changed. Gives what is wrong, in words for the user's file; empty when the edit is over.
  std::string attempt(const std::string& body) {
    Manifest manifest;
    Diagnostics diagnostics;
    if (Status status = write_file(file_.path(), body, FileAccess::kOwnerOnly); !status) return status.error().text;
    if (Status status = read_manifest({file_.path()}, /*generate_name=*/false, manifest, diagnostics); !status) {
      return status.error().text;
    }
    if (diagnostics.ok()) check_fields(manifest, diagnostics);
    if (!diagnostics.ok()) return rendered(manifest, diagnostics);
    if (manifest.objects.size() != 1) return "exactly one object is expected";
    const ManifestObject& object = manifest.objects.front();
    const Json after = parsed_json(object.text);
    for (const char* field : {"apiVersion", "kind"}) {
      if (after[field] != before_[field]) return std::string("`") + field + "` cannot be changed";
    }
    if (object.name != chosen_.name || object.name_space != name_space_) return "name and namespace cannot be changed";
    Json change = merge_patch_between(before_, after);
    if (change.empty()) {
      exit_ = cancelled();
      return {};
    }
    // Lists are set as a whole, so nobody else may have changed them meanwhile.
    change["metadata"]["resourceVersion"] = before_["metadata"].value("resourceVersion", Json());
    return send(manifest, object, change);
  }

  std::string send(const Manifest& manifest, const ManifestObject& object, const Json& change) {
    const WriteSettings settings{.field_validation = "Strict"};
    const auto reply = cluster_.api().patch(chosen_.type.resource, name_space_, chosen_.name, kube::PatchType::kMerge,
                                            json_line(change), settings.options());
    tell_warnings(reply.warnings);
    if (reply.ok()) {
      cli::write_text(stdout, done_text(chosen_.type, chosen_.name, "edited", DryRun::kNone));
      done_ = written(chosen_.type, reply.object);
      return {};
    }
    if (reply.failure.conflict()) {
      exit_ = lost(title() + " was changed by somebody else meanwhile");
      return {};
    }
    if (exit_code_of(reply.failure) == cli::kExitUnreachable) {
      exit_ = lost(reply.failure.text());
      exit_ = cli::kExitUnreachable;
      return {};
    }
    Diagnostics diagnostics;
    add_refusal(object, reply.failure, diagnostics);
    return rendered(manifest, diagnostics);
  }

  static std::string rendered(const Manifest& manifest, Diagnostics& diagnostics) {
    diagnostics.finish(manifest.sources);
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics.all()) text += render(diagnostic, manifest.sources, Colour::kNo);
    return text;
  }

  Cluster& cluster_;
  const Chosen& chosen_;
  std::string name_space_;
  Json before_;
  EditFile file_;
  std::optional<Written> done_;
  int exit_ = cli::kExitOk;
};

int edit(const cli::Arguments& arguments) {
  const auto patience = parse_duration(arguments.one("timeout"));
  if (!patience) {
    cli::print_error(kEdit, "`--timeout` takes a duration such as `60s`, not `" + arguments.one("timeout") + "`");
    return cli::kExitUsage;
  }
  int exit = cli::kExitOk;
  const auto cluster = open_cluster(kEdit, arguments, exit);
  if (cluster == nullptr) return exit;
  const auto chosen = choose(kEdit, *cluster, arguments, exit);
  if (!chosen) return exit;
  std::vector<Written> written_all;
  for (const Chosen& each : *chosen) {
    Editing editing(*cluster, each);
    exit = std::max(exit, editing.run());
    if (editing.done()) written_all.push_back(*editing.done());
  }
  if (arguments.one("wait") != "programmed" || written_all.empty()) return exit;
  return std::max(exit, wait_programmed(kEdit, *cluster, arguments, std::move(written_all),
                                        std::chrono::duration_cast<std::chrono::milliseconds>(*patience)));
}

}  // namespace

cli::Command edit_command() {
  return {.name = "edit",
          .group = kObjectsGroup,
          .summary = "Change an object in $EDITOR",
          .details =
              "Only changed fields are sent. An edit that cannot be parsed or is refused reopens with the reason at "
              "the top; an abandoned edit is saved to a file.",
          .flags = joined({wait_programmed_flag()}, waiting_flags()),
          .positional = type_argument(),
          .second = names_argument("Names"),
          .examples = {"EDITOR=nano edgectl edit route cart"},
          .run = edit,
          .global = true};
}

}  // namespace edge::edgectl
