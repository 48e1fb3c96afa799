#include "cli/man.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/os/file.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

constexpr std::string_view kMan = "edgectl man";

int write_all(const cli::Program& program, const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    cli::print_error(kMan, directory + ": " + std::strerror(errno));
    return cli::kExitFindings;
  }
  const auto put = [&](const std::string& name, const std::string& text) {
    const Status status = write_file(directory + "/" + name + ".1", text, FileAccess::kEveryone);
    if (!status) cli::print_error(kMan, status.error().text);
    return status.ok();
  };
  bool fine = put(std::string(program.name), cli::man_page(program));
  for (const cli::Command& command : program.commands) {
    fine = fine && put(cli::man_name(program, command), cli::man_page(program, command));
  }
  return fine ? cli::kExitOk : cli::kExitFindings;
}

int man(const cli::Arguments& arguments) {
  const cli::Program program = table();
  if (arguments.has("out")) return write_all(program, arguments.one("out"));
  std::string name;
  for (const std::string& word : arguments.all("COMMAND")) name += (name.empty() ? "" : " ") + word;
  if (name.empty()) return cli::write_text(stdout, cli::man_page(program)) ? cli::kExitOk : cli::kExitFindings;
  std::vector<std::string_view> names;
  for (const cli::Command& command : program.commands) {
    names.push_back(command.name);
    if (command.name != name) continue;
    return cli::write_text(stdout, cli::man_page(program, command)) ? cli::kExitOk : cli::kExitFindings;
  }
  const std::string_view nearest = nearest_name(name, names);
  cli::print_error(kMan, "there is no command `" + name + "`" +
                             (nearest.empty() ? "" : "; did you mean `" + std::string(nearest) + "`?"));
  return cli::kExitUsage;
}

}  // namespace

cli::Command man_command() {
  return {.name = "man",
          .group = kProgramGroup,
          .summary = "Print a manual page, or write all of them",
          .flags = {{.name = "out", .value = "DIR", .help = "Write a page for each command into this directory"}},
          .positional = command_argument("Words of a command, e.g. `config view`; the program's page without"),
          .examples = {"edgectl man get | man -l -", "edgectl man --out /usr/local/share/man/man1"},
          .run = man};
}

}  // namespace edge::edgectl
