// The only file that uses CLI11, which splits the command line into words; their meaning is checked against the command
// table here, so that messages can name the flag, the value and the nearest valid one.
#include "cli/flags.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <CLI/CLI.hpp>

#include "base/diagnostics.h"
#include "cli/completion.h"

namespace edge::cli {

std::string Arguments::one(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end() && !found->second.empty()) {
    return found->second.back();
  }
  const auto fallback = fallbacks_.find(name);
  return fallback == fallbacks_.end() ? std::string() : fallback->second;
}

const std::vector<std::string>& Arguments::all(std::string_view name) const {
  static const std::vector<std::string> kNothing;
  const auto found = values_.find(name);
  return found == values_.end() ? kNothing : found->second;
}

void print_error(std::string_view program, std::string_view text) {
  std::fprintf(stderr, "%.*s: error: %.*s\n", static_cast<int>(program.size()), program.data(),
               static_cast<int>(text.size()), text.data());
}

bool is_choice(std::string_view value, const std::vector<std::string_view>& choices) {
  return choices.empty() || std::ranges::any_of(choices, [value](std::string_view choice) {
           return choice.ends_with('=') ? value.starts_with(choice) && value.size() > choice.size() : value == choice;
         });
}

std::vector<const Flag*> flags_of(const Program& program, const Command& command) {
  std::vector<const Flag*> all;
  for (const Flag& flag : command.flags) all.push_back(&flag);
  if (!command.global) return all;
  for (const Flag& flag : program.flags) {
    if (flag.passed_on) continue;
    const bool own = std::ranges::any_of(command.flags, [&](const Flag& other) { return other.name == flag.name; });
    if (!own) all.push_back(&flag);
  }
  return all;
}

namespace {

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  while (!name.empty()) {
    const std::size_t space = std::min(name.find(' '), name.size());
    words.emplace_back(name.substr(0, space));
    name.remove_prefix(std::min(space + 1, name.size()));
  }
  return words;
}

std::string hint(std::string_view given, const std::vector<std::string_view>& candidates, std::string_view prefix) {
  const std::string_view nearest = nearest_name(given, candidates);
  return nearest.empty() ? std::string() : "; did you mean `" + std::string(prefix) + std::string(nearest) + "`?";
}

/// More than a command line holds.
constexpr int kMostValues = 1 << 20;

std::string list(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

/// One parse of one command line.
class Parser {
 public:
  explicit Parser(const Program& program) : program_(program), app_(std::string(program.summary)) {
    for (const Flag& flag : program.flags) add_flag(app_, flag);
    for (const Command& command : program.commands) add(command);
    for (CLI::App* app : all_apps_) app->set_help_flag();
    // One command a line: behind it, the name of a command is a word like others.
    for (CLI::App* app : all_apps_) app->require_subcommand(0, 1);
    for (CLI::App* app : all_apps_) app->add_flag("-h,--help");
    app_.add_flag("--version");
  }

  int run(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return usage(program_.name, value_fault(error.what()));
    }
    if (app_.count("--version") > 0) return print(program_.version);
    return dispatch(&app_, {});
  }

 private:
  struct Node {
    std::map<std::string, CLI::App*, std::less<>> children;
    const Command* command = nullptr;
  };

  void add(const Command& command) {
    CLI::App* app = &app_;
    if (all_apps_.empty()) enter(app);
    for (const std::string& word : words_of(command.name)) {
      CLI::App*& child = nodes_[app].children[word];
      if (child == nullptr) {
        child = app->add_subcommand(word);
        child->silent(false);
        enter(child);
      }
      app = child;
    }
    nodes_[app].command = &command;
    for (const Flag* flag : flags_of(program_, command)) add_flag(*app, *flag);
    for (const Positional* each : positionals(command)) {
      CLI::Option* option = app->add_option(std::string(each->name))->type_size(1);
      if (each->repeatable) {
        option->expected(1, kMostValues)->allow_extra_args(true)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      } else {
        option->expected(1);
      }
    }
  }

  static void add_flag(CLI::App& app, const Flag& flag) {
    std::string names = "--" + std::string(flag.name);
    if (flag.letter != '\0') names = std::string("-") + flag.letter + "," + names;
    if (flag.value.empty()) {
      app.add_flag(names);
    } else {
      // One value a use: `-f a b` is a flag and a positional, as everywhere.
      app.add_option(names)->type_size(1)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
  }

  void enter(CLI::App* app) {
    // What nobody expected is collected and explained by `unexpected` with a hint.
    app->allow_extras(true);
    app->fallthrough(false);
    all_apps_.push_back(app);
    nodes_[app];
  }

  int dispatch(CLI::App* app, const std::string& path) {
    const Node& node = nodes_[app];
    for (const auto& [word, child] : node.children) {
      if (child->parsed()) return dispatch(child, path.empty() ? word : path + " " + word);
    }
    const bool help = app->count("--help") > 0;
    if (node.command == nullptr) {
      if (help) return print(program_help(program_, path));
      return missing_command(*app, node, path);
    }
    if (help) return print(command_help(program_, *node.command));
    return run_command(*app, *node.command);
  }

  int missing_command(const CLI::App& app, const Node& node, const std::string& path) {
    const std::string full = std::string(program_.name) + (path.empty() ? "" : " " + path);
    for (const std::string& word : app.remaining()) {
      if (word.starts_with("-")) continue;
      std::vector<std::string_view> names;
      for (const auto& [name, child] : node.children) names.push_back(name);
      return usage(full, "there is no command `" + word + "`" + hint(word, names, full + " "));
    }
    if (const auto rest = app.remaining(); !rest.empty()) return usage(full, "unknown flag `" + rest.front() + "`");
    std::fputs(program_help(program_, path).c_str(), stderr);
    return kExitUsage;
  }

  int run_command(const CLI::App& app, const Command& command) {
    const std::string full = std::string(program_.name) + (command.name.empty() ? "" : " " + std::string(command.name));
    if (const auto rest = app.remaining(); !rest.empty()) return usage(full, unexpected(rest.front(), command));
    Arguments arguments;
    std::string fault = misplaced(app, command);
    for (const Flag* flag : flags_of(program_, command)) {
      if (fault.empty()) fault = take(app, *flag, arguments);
    }
    for (const Positional* each : positionals(command)) {
      if (fault.empty()) fault = take(app, *each, arguments);
    }
    return fault.empty() ? command.run(arguments) : usage(full, fault);
  }

  /// A flag of the program that stands before a command which has none of its name.
  std::string misplaced(const CLI::App& app, const Command& command) const {
    if (&app == &app_) return {};
    const auto taken = flags_of(program_, command);
    for (const Flag& flag : program_.flags) {
      if (app_.get_option("--" + std::string(flag.name))->count() == 0) continue;
      if (std::ranges::none_of(taken, [&](const Flag* other) { return other->name == flag.name; })) {
        return "the flag `" + display(flag) + "` before the command's name is not for this command";
      }
    }
    return {};
  }

  /// The values of `flag`: behind the command's name, before it, or from the environment. Gives what is wrong.
  std::string take(const CLI::App& app, const Flag& flag, Arguments& arguments) const {
    const std::string name = "--" + std::string(flag.name);
    if (!flag.fallback.empty()) arguments.fallbacks_.emplace(flag.name, flag.fallback);
    std::vector<std::string> values = app.get_option(name)->results();
    std::string who = display(flag);
    if (values.empty() && std::ranges::any_of(program_.flags, [&](const Flag& own) { return own.name == flag.name; })) {
      values = app_.get_option(name)->results();
    }
    if (values.empty() && !flag.environment.empty()) {
      const char* value = std::getenv(std::string(flag.environment).c_str());
      const bool ours = value != nullptr && (is_choice(value, flag.choices) || flag.passed_over.empty() ||
                                             !is_choice(value, flag.passed_over));
      if (ours && *value != '\0') values.emplace_back(value);
      who = flag.environment;
    }
    if (values.empty()) return flag.required ? "the flag `" + display(flag) + "` is required" : std::string();
    if (flag.value.empty() && values != std::vector<std::string>{"true"}) {
      return "the flag `" + who + "` is given once and takes no value";
    }
    if (!flag.repeatable && values.size() > 1) return "the flag `" + who + "` was given twice";
    for (const std::string& value : values) {
      if (is_choice(value, flag.choices)) continue;
      return "`" + who + "` takes " + list(flag.choices) + ", not `" + value + "`" + hint(value, flag.choices, "");
    }
    arguments.values_.emplace(flag.name, std::move(values));
    return {};
  }

  static std::string take(const CLI::App& app, const Positional& each, Arguments& arguments) {
    std::vector<std::string> values = app.get_option(std::string(each.name))->results();
    if (values.empty()) return each.required ? "the argument " + std::string(each.name) + " is missing" : std::string();
    for (const std::string& value : values) {
      if (is_choice(value, each.choices)) continue;
      return std::string(each.name) + " is " + list(each.choices) + ", not `" + value + "`" +
             hint(value, each.choices, "");
    }
    arguments.values_.emplace(each.name, std::move(values));
    return {};
  }

  static std::string display(const Flag& flag) {
    return "--" + std::string(flag.name) + (flag.value.empty() ? "" : " " + std::string(flag.value));
  }

  std::string unexpected(const std::string& word, const Command& command) const {
    if (!word.starts_with("-")) return "unexpected argument `" + word + "`";
    const std::string_view name = std::string_view(word).substr(
        word.find_first_not_of('-') == std::string::npos ? word.size() : word.find_first_not_of('-'));
    std::vector<std::string_view> names;
    for (const Flag* flag : flags_of(program_, command)) names.push_back(flag->name);
    names.push_back("help");
    if (command.name.empty()) names.push_back("version");
    return "unknown flag `" + word + "`" + hint(name.substr(0, name.find('=')), names, "--");
  }

  /// CLI11's own complaints are about values alone: too few, or one for a switch.
  static std::string value_fault(std::string text) {
    if (!text.empty()) text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
    return text;
  }

  static int print(const std::string& text) {
    std::fputs(text.c_str(), stdout);
    return kExitOk;
  }

  static int usage(std::string_view full, std::string_view text) {
    print_error(full, text);
    std::fprintf(stderr, "Try `%.*s --help`.\n", static_cast<int>(full.size()), full.data());
    return kExitUsage;
  }

  const Program& program_;
  CLI::App app_;
  std::vector<CLI::App*> all_apps_;
  std::map<CLI::App*, Node> nodes_;
};

int run(const Program& program, int argc, const char* const* argv) {
  if (argc > 1 && argv[1] == kCompleteWord) {
    std::fputs(completion_lines(complete(program, {argv + 2, argv + argc})).c_str(), stdout);
    return kExitOk;
  }
  return Parser(program).run(argc, argv);
}

}  // namespace edge::cli
