// A runtime case as text: configuration, scripted upstreams and client in one file. docs of the language:
// tests/runtime/README.md.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge::test {

/// One command of a script. `block` holds the lines after it that begin with `|`, each with CRLF added.
struct Command {
  int line = 0;
  std::string name;
  std::string argument;
  std::string block;
  bool has_block = false;
};

/// `== kind argument`, up to the next one.
struct Section {
  int line = 0;
  std::string kind;
  std::string argument;
  /// The lines as they are, for configurations.
  std::string text;
  std::vector<Command> commands;
};

struct CaseFile {
  std::string name;
  std::vector<Section> sections;
};

Result<CaseFile> read_case(const std::string& path);
/// From text; `first_line` is the number of its first line.
CaseFile parse_case(std::string name, std::istream& text, int first_line);

/// `\r \n \t \\ \" \xHH`, in `text` with or without quotes around it.
std::string unescape(std::string_view text);

/// Splits at the first run of blanks; both parts trimmed.
std::pair<std::string, std::string> split_word(std::string_view text);

}  // namespace edge::test
