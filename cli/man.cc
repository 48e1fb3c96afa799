#include "cli/man.h"

#include <algorithm>

namespace edge::cli {
namespace {

/// Text that roff prints as it stands: no escape, no request at the beginning of a line, hyphens as they are typed.
std::string plain(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    begins = c == '\n';
  }
  return out;
}

/// One argument of a request.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : plain(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return out + "\"";
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

std::string head(const std::string& name, std::string_view summary) {
  return ".TH " + in_quotes(upper(name)) + " 1 \"\" " + in_quotes("edge proxy " EDGE_VERSION) + " \"User Commands\"\n" +
         ".nh\n.ad l\n.SH NAME\n" + plain(name) + " \\- " + plain(summary) + "\n";
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) out += (out.empty() ? "" : ", ") + std::string(word);
  return out;
}

std::string flag_text(const Flag& flag) {
  std::string out = ".TP\n";
  if (flag.letter != '\0') out += "\\fB\\-" + std::string(1, flag.letter) + "\\fR, ";
  out += "\\fB\\-\\-" + plain(flag.name) + "\\fR";
  if (!flag.value.empty()) out += " \\fI" + plain(flag.value) + "\\fR";
  out += "\n" + plain(flag.help) + ".";
  if (!flag.choices.empty()) out += "\nOne of " + plain(joined(flag.choices)) + ".";
  if (!flag.fallback.empty()) out += "\nDefault " + plain(flag.fallback) + ".";
  if (!flag.environment.empty()) out += "\nElse taken from $" + plain(flag.environment) + ".";
  if (flag.required) out += "\nRequired.";
  if (flag.repeatable) out += "\nRepeatable.";
  return out + "\n";
}

std::string flags_text(const std::vector<const Flag*>& flags) {
  std::string out = ".SH OPTIONS\n";
  for (const Flag* flag : flags) out += flag_text(*flag);
  return out + ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint a short form of this text.\n";
}

std::string environment_text(const std::vector<const Flag*>& flags) {
  std::string out;
  for (const Flag* flag : flags) {
    if (flag->environment.empty()) continue;
    out += ".TP\n.B " + plain(flag->environment) + "\nStands in for \\-\\-" + plain(flag->name) + ".\n";
  }
  out += ".TP\n.B NO_COLOR\nNo colour, on terminals either.\n";
  return ".SH ENVIRONMENT\n" + out;
}

std::string exit_text() {
  return ".SH EXIT STATUS\n"
         ".TP\n0\nFine.\n"
         ".TP\n1\nFindings, a difference, or what was asked for failed.\n"
         ".TP\n2\nWrong usage.\n"
         ".TP\n3\nThe API or agent cannot be reached, or lets nobody in.\n";
}

std::string full_name(const Program& program, const Command& command) {
  return std::string(program.name) + (command.name.empty() ? "" : " " + std::string(command.name));
}

}  // namespace

std::string man_name(const Program& program, const Command& command) {
  std::string name = full_name(program, command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(const Program& program, const Command& command) {
  std::string out = head(man_name(program, command), command.summary);
  out += ".SH SYNOPSIS\n.B " + plain(full_name(program, command)) + "\n";
  for (const Flag& flag : command.flags) {
    if (flag.required) out += "\\fB\\-\\-" + plain(flag.name) + "\\fR \\fI" + plain(flag.value) + "\\fR\n";
  }
  out += "[\\fIoptions\\fR]\n";
  for (const Positional* each : positionals(command)) {
    const std::string name = "\\fI" + plain(each->name) + "\\fR" + (each->repeatable ? "..." : "");
    out += (each->required ? name : "[" + name + "]") + "\n";
  }
  out += ".SH DESCRIPTION\n" + plain(command.summary) + ".\n";
  if (!command.details.empty()) out += ".PP\n" + plain(command.details) + "\n";
  if (command.positional) out += ".SH ARGUMENTS\n";
  for (const Positional* each : positionals(command)) {
    out += ".TP\n.I " + plain(each->name) + "\n" + plain(each->help) + ".\n";
    if (!each->choices.empty()) out += "One of " + plain(joined(each->choices)) + ".\n";
  }
  const auto flags = flags_of(program, command);
  out += flags_text(flags) + environment_text(flags) + exit_text();
  if (!command.examples.empty()) out += ".SH EXAMPLES\n";
  for (const std::string_view example : command.examples) {
    out += ".PP\n.nf\n.RS\n" + plain(example) + "\n.RE\n.fi\n";
  }
  if (!command.name.empty()) out += ".SH SEE ALSO\n.BR " + plain(program.name) + " (1)\n";
  return out;
}

std::string man_page(const Program& program) {
  std::string out = head(std::string(program.name), program.summary);
  out += ".SH SYNOPSIS\n.B " + plain(program.name) + "\n[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]\n";
  out += ".SH DESCRIPTION\n" + plain(program.summary) + "\n.SH COMMANDS\n";
  std::string_view heading = {};
  for (const Command& command : program.commands) {
    if (command.group != heading) out += ".SS " + in_quotes(command.group) + "\n";
    heading = command.group;
    out += ".TP\n.BR " + plain(man_name(program, command)) + " (1)\n" + plain(command.summary) + ".\n";
  }
  std::vector<const Flag*> flags;
  for (const Flag& flag : program.flags) flags.push_back(&flag);
  out += flags_text(flags) + ".TP\n\\fB\\-\\-version\\fR\nPrint the versions of this program and of its formats.\n";
  return out + environment_text(flags) + exit_text();
}

}  // namespace edge::cli
