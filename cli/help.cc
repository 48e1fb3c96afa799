// Help texts, generated from the table that the parser uses.
#include <algorithm>

#include "base/diagnostics.h"
#include "cli/flags.h"
#include "cli/terminal.h"

namespace edge::cli {
namespace {

constexpr std::size_t kTextWidth = 100;
/// In fewer columns a table of flags has no room for two words.
constexpr std::size_t kLeastWidth = 60;

/// Of what is printed: that of the terminal where it is narrower.
std::size_t text_width() {
  const std::size_t columns = columns_of(stdout);
  return columns == 0 ? kTextWidth : std::clamp(columns, kLeastWidth, kTextWidth);
}

/// `text` broken into lines at spaces, each after the first indented to `indent`.
std::string wrapped(std::string_view text, std::size_t indent) {
  static const std::size_t kWidth = text_width();
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

struct Row {
  std::string left;
  std::string right;
};

std::size_t width_of(const std::vector<Row>& rows) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.left.size());
  return width;
}

std::string row_text(const Row& row, std::size_t width) {
  return "  " + row.left + std::string(width - row.left.size() + 3, ' ') + wrapped(row.right, width + 5) + "\n";
}

std::string table(const std::vector<Row>& rows) {
  const std::size_t width = width_of(rows);
  std::string out;
  for (const Row& row : rows) out += row_text(row, width);
  return out;
}

Row flag_row(const Flag& flag) {
  Row row;
  row.left = flag.letter == '\0' ? "    " : std::string("-") + flag.letter + ", ";
  row.left += "--" + std::string(flag.name);
  if (!flag.value.empty()) row.left += " " + std::string(flag.value);
  row.right = flag.help;
  if (!flag.choices.empty()) {
    row.right += ": ";
    for (std::size_t i = 0; i < flag.choices.size(); ++i)
      row.right += (i == 0 ? "" : ", ") + std::string(flag.choices[i]);
  }
  std::string remarks;
  if (flag.required) remarks = "required";
  if (flag.repeatable) remarks += remarks.empty() ? "repeatable" : ", repeatable";
  if (!flag.environment.empty()) remarks += (remarks.empty() ? "$" : ", $") + std::string(flag.environment);
  if (!flag.fallback.empty()) remarks += (remarks.empty() ? "default " : ", default ") + std::string(flag.fallback);
  if (!remarks.empty()) row.right += " (" + remarks + ")";
  return row;
}

}  // namespace

std::vector<const Positional*> positionals(const Command& command) {
  std::vector<const Positional*> all;
  for (const auto* each : {&command.positional, &command.second}) {
    if (*each) all.push_back(&**each);
  }
  return all;
}

std::string program_help(const Program& program, std::string_view group) {
  const std::string full = std::string(program.name) + (group.empty() ? "" : " " + std::string(group));
  std::string out = std::string(program.summary) + "\n\nUsage: " + full + " COMMAND [flags]\n";
  // One width for all groups, so that their columns are in line.
  std::vector<std::string_view> headings;
  std::vector<Row> rows;
  for (const Command& command : program.commands) {
    const std::string prefix = std::string(group) + " ";
    if (!group.empty() && !command.name.starts_with(prefix)) continue;
    headings.push_back(command.group);
    rows.push_back({std::string(command.name), std::string(command.summary)});
  }
  const std::size_t width = width_of(rows);
  std::string_view heading = {};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // The commands of one group are few: they are one list, whatever each is for.
    if (i == 0 || (group.empty() && headings[i] != heading)) {
      heading = headings[i];
      out += "\n" + (heading.empty() || !group.empty() ? std::string("Commands") : std::string(heading)) + ":\n";
    }
    out += row_text(rows[i], width);
  }
  if (!program.flags.empty() && group.empty()) {
    rows.clear();
    for (const Flag& flag : program.flags) rows.push_back(flag_row(flag));
    out += "\nFlags of every command that asks a cluster:\n" + table(rows);
    out += "\nFlags of the program:\n" +
           table({{"-h, --help", "Print this text"},
                  {"    --version", "Print the versions of this program and of its formats"}});
  }
  return out + "\n`" + std::string(program.name) + " COMMAND --help` tells more about each.\n";
}

std::vector<std::string_view> next_words(const Program& program, const std::vector<std::string>& words) {
  std::vector<std::string_view> next;
  for (const Command& command : program.commands) {
    std::string_view rest = command.name;
    bool below = true;
    for (const std::string& word : words) {
      below = below && rest.starts_with(word) && (rest.size() == word.size() || rest[word.size()] == ' ');
      if (below) rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    }
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (below && !word.empty() && std::ranges::find(next, word) == next.end()) next.push_back(word);
  }
  return next;
}

Result<std::string> help_of(const Program& program, const std::vector<std::string>& words) {
  std::string name;
  std::vector<std::string> before;
  for (const std::string& word : words) {
    const auto next = next_words(program, before);
    if (std::ranges::find(next, word) == next.end()) {
      const std::string full = std::string(program.name) + (name.empty() ? "" : " " + name);
      const std::string_view nearest = nearest_name(word, next);
      return Error{ErrorCode::kNotFound,
                   "there is no command `" + word + "`" +
                       (nearest.empty() ? "" : "; did you mean `" + full + " " + std::string(nearest) + "`?")};
    }
    name += (name.empty() ? "" : " ") + word;
    before.push_back(word);
  }
  const auto command = std::ranges::find(program.commands, name, &Command::name);
  return command != program.commands.end() ? command_help(program, *command) : program_help(program, name);
}

std::string command_help(const Program& program, const Command& command) {
  const std::string full = std::string(program.name) + (command.name.empty() ? "" : " " + std::string(command.name));
  std::string usage = full;
  for (const Flag& flag : command.flags) {
    if (!flag.required) continue;
    usage += flag.letter == '\0' ? " --" + std::string(flag.name) : std::string(" -") + flag.letter;
    usage += " " + std::string(flag.value);
    if (flag.repeatable) usage += "...";
  }
  usage += " [flags]";
  for (const Positional* each : positionals(command)) {
    const std::string name = std::string(each->name) + (each->repeatable ? "..." : "");
    usage += each->required ? " " + name : " [" + name + "]";
  }

  std::string out = std::string(command.summary) + "\n\nUsage: " + usage + "\n";
  if (!command.details.empty()) out += "\n" + wrapped(command.details, 0) + "\n";
  std::vector<Row> arguments;
  for (const Positional* each : positionals(command)) {
    std::string help(each->help);
    for (std::size_t i = 0; i < each->choices.size(); ++i) {
      help += (i == 0 ? ": " : ", ") + std::string(each->choices[i]);
    }
    arguments.push_back({std::string(each->name), help});
  }
  if (!arguments.empty()) out += "\nArguments:\n" + table(arguments);
  std::vector<Row> rows;
  for (const Flag* flag : flags_of(program, command)) rows.push_back(flag_row(*flag));
  rows.push_back({"-h, --help", "Print this text"});
  if (command.name.empty()) rows.push_back({"    --version", "Print the versions of this program and of its formats"});
  out += "\nFlags:\n" + table(rows);
  if (!command.examples.empty()) out += "\nExamples:\n";
  for (const std::string_view example : command.examples) out += "  " + std::string(example) + "\n";
  return out;
}

}  // namespace edge::cli
