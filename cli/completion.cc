#include "cli/completion.h"

#include <algorithm>
#include <span>

namespace edge::cli {
namespace {

using Words = std::span<const std::string>;

/// Whether what a placeholder stands for is the name of a file.
bool names_file(std::string_view placeholder) {
  constexpr std::string_view kFiles[] = {"PATH", "FILE", "DIR", "PEM", "PROGRAM"};
  return std::ranges::find(kFiles, placeholder) != std::end(kFiles);
}

std::string_view first_word(std::string_view& name) {
  const std::size_t space = std::min(name.find(' '), name.size());
  const std::string_view word = name.substr(0, space);
  name.remove_prefix(std::min(space + 1, name.size()));
  return word;
}

/// The words of `name` that `given` begins with are taken away; nullopt when they differ.
std::optional<std::string_view> below(std::string_view name, Words given) {
  for (const std::string& word : given) {
    if (name.empty() || first_word(name) != word) return std::nullopt;
  }
  return name;
}

const Flag* find_flag(std::span<const Flag* const> flags, std::string_view word) {
  for (const Flag* flag : flags) {
    const bool is_long = word.starts_with("--") && word.substr(2) == flag->name;
    const bool is_short = word.size() == 2 && word[0] == '-' && flag->letter != '\0' && word[1] == flag->letter;
    if (is_long || is_short) return flag;
  }
  return nullptr;
}

}  // namespace

/// Computes the completions of one command line.
class Completer {
 public:
  Completer(const Program& program, Words given, std::string_view typed)
      : program_(program), given_(given), typed_(typed) {
    for (const Flag& flag : program.flags) flags_.push_back(&flag);
    skip_program_flags();
  }

  Completions run() {
    if (waiting_ != nullptr) {
      value(*waiting_);
    } else if (const Command* command = command_of()) {
      flags_ = flags_of(program_, *command);
      arguments(*command);
    } else if (typed_.starts_with("-") && given_.empty()) {
      flags();
    } else {
      commands(given_);
    }
    return std::move(out_);
  }

 private:
  void offer(std::string_view text, std::string_view help) {
    if (!text.starts_with(typed_)) return;
    if (std::ranges::find(out_.words, text, &Completions::Word::text) != out_.words.end()) return;
    out_.words.push_back({std::string(text), std::string(help)});
  }

  /// The program's flags before the command's name are noted and passed over.
  void skip_program_flags() {
    while (!given_.empty() && given_.front().starts_with("-")) {
      const std::size_t count = note(given_);
      if (count > given_.size()) break;  // the last one waits for its value
      given_ = given_.subspan(count);
    }
  }

  /// Notes what the first of `words` says, a flag with its value or without. Gives how many words that are, one more
  /// than there are when its value is still to come.
  std::size_t note(Words words) {
    const std::string& word = words.front();
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const Flag* flag = find_flag(flags_, std::string_view(word).substr(0, equals));
    if (flag == nullptr) return 1;
    if (flag->value.empty() || equals != std::string::npos) {
      so_far_.values_[std::string(flag->name)].push_back(equals == std::string::npos ? "true"
                                                                                     : word.substr(equals + 1));
      return 1;
    }
    // bash hands `--flag=value` over as three words.
    const std::size_t at = words.size() > 1 && words[1] == "=" ? 2 : 1;
    if (at >= words.size()) {
      waiting_ = flag;
    } else {
      so_far_.values_[std::string(flag->name)].push_back(words[at]);
    }
    return at + 1;
  }

  /// The command whose words were all typed, the longest; `rest_` is what stands behind them.
  const Command* command_of() {
    const Command* found = nullptr;
    std::size_t most = 0;
    for (const Command& command : program_.commands) {
      const std::size_t count = command.name.empty() ? 0 : 1 + std::ranges::count(command.name, ' ');
      if (count > given_.size() || (found != nullptr && count <= most)) continue;
      const auto rest = below(command.name, given_.first(count));
      if (!rest || !rest->empty()) continue;
      found = &command;
      most = count;
    }
    rest_ = given_.subspan(most);
    return found;
  }

  void commands(Words given) {
    for (const Command& command : program_.commands) {
      auto rest = below(command.name, given);
      if (!rest || rest->empty()) continue;
      const std::string_view word = first_word(*rest);
      offer(word, rest->empty() ? command.summary : std::string_view());
    }
  }

  void arguments(const Command& command) {
    // A group's own command may have others below it: `key` and `key generate`.
    if (rest_.empty()) commands(given_);
    const std::vector<const Positional*> all = positionals(command);
    std::size_t next = 0;  // the positional that stands in the place of the word
    for (Words words = rest_; !words.empty();) {
      if (words.front().size() > 1 && words.front().starts_with("-")) {
        words = words.subspan(std::min(note(words), words.size()));
        continue;
      }
      if (next < all.size()) {
        so_far_.values_[std::string(all[next]->name)].push_back(words.front());
        if (!all[next]->repeatable) ++next;
      }
      words = words.subspan(1);
    }
    if (waiting_ != nullptr) return value(*waiting_);
    const std::size_t equals = typed_.find('=');
    if (typed_.starts_with("--") && equals != std::string_view::npos) return joined_value(equals);
    if (typed_.starts_with("-")) return flags();
    if (next < all.size()) positional(*all[next]);
  }

  void value(const Flag& flag) {
    for (const std::string_view choice : flag.choices) offer(choice, "");
    if (flag.complete != nullptr) {
      for (const std::string& text : flag.complete(so_far_, typed_)) offer(text, "");
    } else if (flag.choices.empty() && names_file(flag.value)) {
      out_.then = Completions::Then::kFiles;
    }
  }

  /// `--output=te`: the candidates carry the flag.
  void joined_value(std::size_t equals) {
    const Flag* flag = find_flag(flags_, typed_.substr(0, equals));
    if (flag == nullptr) return;
    const std::string name(typed_.substr(0, equals + 1));
    for (const std::string_view choice : flag->choices) offer(name + std::string(choice), "");
    if (flag->complete == nullptr) return;
    for (const std::string& text : flag->complete(so_far_, typed_.substr(equals + 1))) offer(name + text, "");
  }

  void flags() {
    for (const Flag* flag : flags_) {
      if (!so_far_.has(flag->name) || flag->repeatable) offer("--" + std::string(flag->name), flag->help);
    }
    offer("--help", "Print the help text");
    if (given_.empty()) offer("--version", "Print the versions of this program and of its formats");
  }

  void positional(const Positional& positional) {
    for (const std::string_view choice : positional.choices) offer(choice, "");
    if (positional.complete != nullptr) {
      for (const std::string& text : positional.complete(so_far_, typed_)) offer(text, "");
      out_.then = positional.open_ended ? Completions::Then::kNoSpace : Completions::Then::kNothing;
    } else if (positional.choices.empty() && names_file(positional.name)) {
      out_.then = Completions::Then::kFiles;
    }
  }

  const Program& program_;
  Words given_;
  Words rest_{};
  std::string_view typed_;
  std::vector<const Flag*> flags_{};  ///< that may stand here
  const Flag* waiting_ = nullptr;     ///< the word is its value
  Arguments so_far_{};
  Completions out_;
};

namespace {

constexpr std::string_view kBash = R"(# bash completion for %PROGRAM%. Load it: source <(%PROGRAM% completion bash)
_%PROGRAM%() {
  local line words=()
  # The words themselves are data: nothing of them is evaluated.
  while IFS= read -r line; do words+=("$line"); done < <(
    "${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  [ "${#words[@]}" -gt 0 ] || return
  for line in "${words[@]::${#words[@]}-1}"; do COMPREPLY+=("${line%%$'\t'*}"); done
  case "${words[-1]}" in
    :files) compopt -o default 2>/dev/null ;;
    :nospace) compopt -o nospace 2>/dev/null ;;
  esac
}
complete -F _%PROGRAM% %PROGRAM%
)";

constexpr std::string_view kZsh = R"(#compdef %PROGRAM%
# zsh completion for %PROGRAM%. Load it: source <(%PROGRAM% completion zsh)
_%PROGRAM%() {
  local -a lines words_with_help
  local line next
  lines=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  next=${lines[-1]}
  for line in "${(@)lines[1,-2]}"; do
    words_with_help+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  case $next in
    :files) _files ;;
    :nospace) _describe '%PROGRAM%' words_with_help -S '' ;;
    *) _describe '%PROGRAM%' words_with_help ;;
  esac
}
compdef _%PROGRAM% %PROGRAM%
)";

constexpr std::string_view kFish = R"(# fish completion for %PROGRAM%. Load it: %PROGRAM% completion fish | source
function __%PROGRAM%_complete
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] "$typed" 2>/dev/null)
  if test "$lines[-1]" = ":files"
    __fish_complete_path "$typed"
  else
    printf '%s\n' $lines | string match -v ':*'
  end
end
complete -c %PROGRAM% -f -a '(__%PROGRAM%_complete)'
)";

}  // namespace

Completions complete(const Program& program, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  // bash calls the sign of `--flag=` a word of its own.
  const std::string_view typed = words.back() == "=" ? std::string_view() : std::string_view(words.back());
  return Completer(program, Words(words).first(words.size() - 1), typed).run();
}

std::string completion_lines(const Completions& completions) {
  std::string out;
  for (const Completions::Word& word : completions.words) out += word.text + "\t" + word.help + "\n";
  switch (completions.then) {
    case Completions::Then::kNothing:
      return out + ":nothing\n";
    case Completions::Then::kFiles:
      return out + ":files\n";
    case Completions::Then::kNoSpace:
      return out + ":nospace\n";
  }
  return out;
}

std::optional<std::string> completion_script(std::string_view program, std::string_view shell) {
  const std::string_view script = shell == "bash"   ? kBash
                                  : shell == "zsh"  ? kZsh
                                  : shell == "fish" ? kFish
                                                    : std::string_view();
  if (script.empty()) return std::nullopt;
  constexpr std::string_view kPlace = "%PROGRAM%";
  std::string out(script);
  for (std::size_t at = out.find(kPlace); at != std::string::npos; at = out.find(kPlace, at)) {
    out.replace(at, kPlace.size(), program);
  }
  return out;
}

}  // namespace edge::cli
