// A program's command line as a table: one definition of a command and its flags for parser, help text and hints in
// error messages. Shared by all programs.
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
inline constexpr int kExitFindings = 1;     ///< findings, a difference, or a failed request
inline constexpr int kExitUsage = 2;        ///< wrong usage
inline constexpr int kExitUnreachable = 3;  ///< the API or agent is unreachable or rejects the request

class Arguments;

/// Returns completions of a partial word, after the arguments `given`. It may contact a server, with a time limit; on
/// errors it returns nothing.
using Complete = std::vector<std::string> (*)(const Arguments& given, std::string_view typed);

struct Flag {
  std::string_view name;        ///< long name without dashes, such as `output`
  char letter = '\0';           ///< short form, '\0' for none
  std::string_view value = {};  ///< placeholder of its value in the help; empty: a switch without a value
  std::string_view help;
  std::string_view fallback = {};  ///< returned by `Arguments::one` when it is absent
  /// Empty: any text. A choice that ends in `=` accepts every text with this prefix.
  std::vector<std::string_view> choices = {};
  bool required = false;
  bool repeatable = false;
  /// Environment variable whose value replaces an absent flag.
  std::string_view environment = {};
  /// Values of that variable that are meant for other commands: this one uses its fallback.
  std::vector<std::string_view> passed_over = {};
  Complete complete = nullptr;  ///< null: the choices, or file names
  /// For a program's flag that is not global: it may precede the name of a command that has a flag of this name.
  bool passed_on = false;
};

/// At most two per command.
struct Positional {
  std::string_view name;
  std::string_view help;
  bool required = true;
  std::vector<std::string_view> choices = {};  ///< empty: any text
  Complete complete = nullptr;                 ///< null: the choices, or file names
  bool repeatable = false;                     ///< only the last one: takes all that follow
  bool open_ended = false;                     ///< completions may be continued, as paths of fields
};

/// The given arguments, validated by the table.
class Arguments {
 public:
  /// Returns the flag's value, or its fallback.
  std::string one(std::string_view name) const;
  /// Returns every value of a repeatable flag, in order.
  const std::vector<std::string>& all(std::string_view name) const;
  bool has(std::string_view name) const { return values_.contains(name); }

 private:
  friend class Parser;
  friend class Completer;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> fallbacks_;
};

struct Command {
  std::string_view name;        ///< words as typed, such as `routes dump`; empty for a program without commands
  std::string_view group = {};  ///< heading in the program's help
  std::string_view summary;
  std::string_view details = {};
  std::vector<Flag> flags = {};
  std::optional<Positional> positional = std::nullopt;
  std::optional<Positional> second = std::nullopt;  ///< what follows `positional`
  std::vector<std::string_view> examples = {};
  int (*run)(const Arguments&) = nullptr;
  /// Accepts the program's own flags too, except those with the name of one of its own.
  bool global = false;
};

/// Returns them in the order in which they are typed.
std::vector<const Positional*> positionals(const Command& command);

struct Program {
  std::string_view name;
  std::string_view summary;
  /// The output of `--version`, one line or several, each with its newline.
  std::string version = {};
  std::vector<Command> commands;
  /// For all commands that are `global`: may precede the command's name too.
  std::vector<Flag> flags = {};
};

/// Returns the flags of `command`: its own, then those of the program.
std::vector<const Flag*> flags_of(const Program& program, const Command& command);
/// Returns whether `value` is one of `choices`, or has one that ends in `=` as prefix.
bool is_choice(std::string_view value, const std::vector<std::string_view>& choices);

/// Parses and runs. Help goes to stdout (exit 0), usage errors to stderr (exit 2) with the most similar name as a hint.
int run(const Program& program, int argc, const char* const* argv);

/// `edgectl --help`, or `edgectl routes --help` when `group` names the first words of several commands.
std::string program_help(const Program& program, std::string_view group = {});
std::string command_help(const Program& program, const Command& command);
/// Returns what `--help` prints after `words`: for the program without any, for a group, or for a command. An error
/// names the unknown word and the most similar known one.
Result<std::string> help_of(const Program& program, const std::vector<std::string>& words);
/// Returns the next words of commands' names after `words`, each once.
std::vector<std::string_view> next_words(const Program& program, const std::vector<std::string>& words);

/// Prints `<program>: error: <text>` to stderr.
void print_error(std::string_view program, std::string_view text);

}  // namespace edge::cli
