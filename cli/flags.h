// A program's command line as a table: one definition of a command and its flags feeds the parser, the help text and
// the hints of error messages. Shared by every program of the house.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::cli {

/// Exit codes of every program (decisions.md, "The command line").
inline constexpr int kExitOk = 0;
inline constexpr int kExitFindings = 1;     ///< findings, a difference, or the thing asked for failed
inline constexpr int kExitUsage = 2;        ///< wrong usage
inline constexpr int kExitUnreachable = 3;  ///< the API or agent cannot be reached or refuses

class Arguments;

/// What completion offers for a word that begins so, behind what was `given`. It may ask a server, and then bounds the
/// time that it takes; what is at fault offers nothing.
using Complete = std::vector<std::string> (*)(const Arguments& given, std::string_view typed);

struct Flag {
  std::string_view name;        ///< long name without dashes, e.g. `output`
  char letter = '\0';           ///< short form, '\0' for none
  std::string_view value = {};  ///< placeholder of its value in the help; empty: a switch without a value
  std::string_view help;
  std::string_view fallback = {};  ///< what `Arguments::one` gives when it is absent
  /// Empty: any text. A choice that ends in `=` stands for every text that begins so.
  std::vector<std::string_view> choices = {};
  bool required = false;
  bool repeatable = false;
  /// Variable whose value stands in for an absent flag.
  std::string_view environment = {};
  /// Values of that variable that mean something to other commands: this one goes by its fallback.
  std::vector<std::string_view> passed_over = {};
  Complete complete = nullptr;  ///< null: the choices, or names of files
  /// Of a program's flag: no command's by itself, but may stand before the name of one that has a flag of this name.
  bool passed_on = false;
};

/// At most two a command.
struct Positional {
  std::string_view name;
  std::string_view help;
  bool required = true;
  std::vector<std::string_view> choices = {};  ///< empty: any text
  Complete complete = nullptr;                 ///< null: the choices, or names of files
  bool repeatable = false;                     ///< of the last one: takes all that follow
  bool open_ended = false;                     ///< what completion offers may go on, as a path of fields does
};

/// What was given, after the table's checks.
class Arguments {
 public:
  /// The flag's value, or its fallback.
  std::string one(std::string_view name) const;
  /// Every value of a repeatable flag, in order.
  const std::vector<std::string>& all(std::string_view name) const;
  bool has(std::string_view name) const { return values_.contains(name); }

 private:
  friend class Parser;
  friend class Completer;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> fallbacks_;
};

struct Command {
  std::string_view name;        ///< words as typed, e.g. `routes dump`; empty for a program without commands
  std::string_view group = {};  ///< heading under which the program's help lists it
  std::string_view summary;
  std::string_view details = {};
  std::vector<Flag> flags = {};
  std::optional<Positional> positional = std::nullopt;
  std::optional<Positional> second = std::nullopt;  ///< what follows `positional`
  std::vector<std::string_view> examples = {};
  int (*run)(const Arguments&) = nullptr;
  /// Takes the program's own flags too, but those for which it has one of the same name.
  bool global = false;
};

/// In the order in which they are typed.
std::vector<const Positional*> positionals(const Command& command);

struct Program {
  std::string_view name;
  std::string_view summary;
  /// What `--version` prints, one line or several, each with its end.
  std::string version = {};
  std::vector<Command> commands;
  /// Of all commands that are `global`: may stand before the command's name too.
  std::vector<Flag> flags = {};
};

/// The flags that `command` takes: its own, then those of the program.
std::vector<const Flag*> flags_of(const Program& program, const Command& command);
/// Whether `value` is one of `choices`, or goes on from one that ends in `=`.
bool is_choice(std::string_view value, const std::vector<std::string_view>& choices);

/// Parses and runs. Help goes to stdout (exit 0), usage errors to stderr (exit 2) with the nearest name as a hint.
int run(const Program& program, int argc, const char* const* argv);

/// `edgectl --help`, or `edgectl routes --help` when `group` names the first words of several commands.
std::string program_help(const Program& program, std::string_view group = {});
std::string command_help(const Program& program, const Command& command);
/// What `--help` prints behind `words`: of the program without any, of a group, or of a command. An error names the
/// word that is none and the nearest that is.
Result<std::string> help_of(const Program& program, const std::vector<std::string>& words);
/// The words with which a command's name goes on behind `words`, each once.
std::vector<std::string_view> next_words(const Program& program, const std::vector<std::string>& words);

/// Prints `<program>: error: <text>` to stderr.
void print_error(std::string_view program, std::string_view text);

}  // namespace edge::cli
