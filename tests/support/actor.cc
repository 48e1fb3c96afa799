#include "tests/support/actor.h"

#include <regex>

#include "tests/support/coding.h"

namespace edge::test {

namespace {

Error failure(std::string text) { return Error{ErrorCode::kAborted, std::move(text)}; }

/// `Name: value` of a field command.
std::pair<std::string, std::string> name_and_value(const std::string& argument) {
  const std::size_t colon = argument.find(':');
  if (colon == std::string::npos) return {argument, ""};
  const std::size_t value = argument.find_first_not_of(' ', colon + 1);
  return {argument.substr(0, colon), value == std::string::npos ? "" : unescape(argument.substr(value))};
}

std::string joined(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) out += (out.empty() ? "" : " | ") + value;
  return values.empty() ? "(absent)" : out;
}

bool finds(const std::string& text, const std::string& regex) { return std::regex_search(text, std::regex(regex)); }

}  // namespace

const std::map<std::string, Actor::Run>& Actor::table() {
  static const std::map<std::string, Run> table = {{"send", &Actor::send},
                                                   {"send-torn", &Actor::send_torn},
                                                   {"fill", &Actor::fill},
                                                   {"fill-until-broken", &Actor::fill_until_broken},
                                                   {"head", &Actor::head},
                                                   {"field", &Actor::field},
                                                   {"field-like", &Actor::field_like},
                                                   {"no-field", &Actor::no_field},
                                                   {"count", &Actor::count},
                                                   {"keep", &Actor::keep},
                                                   {"body", &Actor::body},
                                                   {"body-begins", &Actor::body_begins},
                                                   {"body-like", &Actor::body_like},
                                                   {"body-fill", &Actor::body_fill},
                                                   {"raw", &Actor::raw},
                                                   {"raw-fill", &Actor::raw_fill},
                                                   {"raw-head", &Actor::raw_head},
                                                   {"closed", &Actor::closed},
                                                   {"closed-by-reset", &Actor::closed_by_reset},
                                                   {"quiet", &Actor::quiet},
                                                   {"close", &Actor::close},
                                                   {"reset", &Actor::reset},
                                                   {"shutdown", &Actor::shutdown},
                                                   {"signal", &Actor::signal},
                                                   {"wait", &Actor::wait},
                                                   {"use", &Actor::use}};
  return table;
}

Status Actor::run(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (Status done = run_one(command); !done) {
      return failure("line " + std::to_string(command.line) + ": " + command.name + " " + command.argument + ": " +
                     done.error().text);
    }
  }
  return {};
}

Status Actor::run_one(const Command& command) {
  const Result<Command> full = with_kept(command);
  if (!full) return full.error();
  const auto found = table().find(command.name);
  return found != table().end() ? (this->*found->second)(*full) : run_own(*full);
}

/// With what was kept in place of each `${NAME}`.
Result<Command> Actor::with_kept(const Command& command) const {
  Command full = command;
  for (std::size_t at = full.argument.find("${"); at != std::string::npos; at = full.argument.find("${", at)) {
    const std::size_t end = full.argument.find('}', at);
    const auto kept = kept_.find(full.argument.substr(at + 2, end - at - 2));
    if (kept == kept_.end()) return failure("nothing of this name was kept");
    full.argument.replace(at, end - at + 1, kept->second);
    at += kept->second.size();
  }
  return full;
}

Result<Connection*> Actor::current() {
  const auto found = connections_.find(current_);
  if (found == connections_.end()) return failure("no connection");
  return found->second.get();
}

Status Actor::adopt(const std::string& name, int fd, const TlsSide* tls) {
  std::unique_ptr<Connection>& connection = connections_[name];
  connection = std::make_unique<Connection>(fd, stage_.deadline());
  current_ = name;
  return tls == nullptr ? Status() : connection->encrypt(tls->over(fd));
}

Status Actor::mismatch(std::string_view expected, std::string_view got) {
  return failure("expected `" + std::string(expected) + "`, got `" + std::string(got.substr(0, 2000)) + "`");
}

Status Actor::expect_quiet() {
  for (const auto& [name, connection] : connections_) {
    if (Status quiet = connection->expect_quiet(); !quiet) return quiet;
  }
  return {};
}

void Actor::close_all() { connections_.clear(); }

Status Actor::send(const Command& command) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  return (*connection)->send(command.has_block ? command.block : unescape(command.argument));
}

Status Actor::send_torn(const Command& command) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  const std::string text = command.has_block ? command.block : unescape(command.argument);
  for (const char& c : text) {
    if (Status sent = (*connection)->send({&c, 1}); !sent) return sent;
  }
  return {};
}

Status Actor::fill(const Command& command) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  return (*connection)->send(pattern(std::stoul(command.argument)));
}

Status Actor::fill_until_broken(const Command& /*command*/) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  const std::string bytes = pattern(100'000);
  while ((*connection)->send(bytes)) {
  }
  // The end of the case's time breaks it too.
  return stage_.deadline().over() ? failure("the peer still takes bytes") : Status();
}

/// `head LINE` reads a head and compares its first line; a response's may be given as its code alone.
Status Actor::head(const Command& command) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  Result<Message> head = (*connection)->receive_head();
  if (!head) return head.error();
  head_ = std::move(*head);
  begun_.clear();
  const std::string& line = head_.start_line;
  const bool response = line.starts_with("HTTP/1.");
  const std::string code = response ? line.substr(9, 3) : "";
  head_.bodiless = response && (code[0] == '1' || code == "204" || code == "304");
  if (command.argument != line && (!response || command.argument != code)) {
    std::string got = line;
    for (const auto& [name, value] : head_.fields) got += "\n" + name + ": " + value;
    return mismatch(command.argument, got);
  }
  return {};
}

Status Actor::field(const Command& command) {
  const auto [name, value] = name_and_value(command.argument);
  const std::vector<std::string> values = head_.values(name);
  if (values.size() != 1 || values[0] != value) return mismatch(value, joined(values));
  return {};
}

Status Actor::field_like(const Command& command) {
  const auto [name, value] = name_and_value(command.argument);
  const std::vector<std::string> values = head_.values(name);
  if (values.size() != 1 || !finds(values[0], value)) return mismatch(value, joined(values));
  return {};
}

Status Actor::no_field(const Command& command) {
  const std::vector<std::string> values = head_.values(command.argument);
  return values.empty() ? Status() : mismatch("(absent)", joined(values));
}

Status Actor::count(const Command& command) {
  const auto [name, number] = split_word(command.argument);
  const std::vector<std::string> values = head_.values(name);
  return std::to_string(values.size()) == number ? Status() : mismatch(number, joined(values));
}

/// `keep FIELD [NAME]`: of a Set-Cookie what the client sends back. `keep body [NAME]` reads the body.
Status Actor::keep(const Command& command) {
  const auto [what, given] = split_word(command.argument);
  std::string& kept = kept_[given.empty() ? what : given];
  if (what == "body") {
    Result<std::string> body = receive_body();
    if (!body) return body.error();
    kept = std::move(*body);
    return {};
  }
  const std::vector<std::string> values = head_.values(what);
  if (values.size() != 1) return mismatch("one field", joined(values));
  kept = what == "Set-Cookie" ? values[0].substr(0, values[0].find(';')) : values[0];
  return {};
}

/// The body that the last head announces, with its content coding undone.
Result<std::string> Actor::receive_body() {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  const Result<std::string> rest = (*connection)->receive_body(head_);
  if (!rest) return rest;
  const std::vector<std::string> coding = head_.values("Content-Encoding");
  return decode_content(coding.empty() ? "" : coding[0], begun_ + *rest, true);
}

/// Reads chunks of the body until so much of it is known; the rest must still be to come.
Status Actor::body_begins(const Command& command) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  const std::string expected = unescape(command.argument);
  const std::vector<std::string> coding = head_.values("Content-Encoding");
  for (;;) {
    const Result<std::string> chunk = (*connection)->receive_chunk();
    if (!chunk) return chunk.error();
    begun_ += *chunk;
    const Result<std::string> known = decode_content(coding.empty() ? "" : coding[0], begun_, false);
    if (!known) return known.error();
    if (*known == expected) return {};
    if (chunk->empty() || !expected.starts_with(*known)) return mismatch(expected, *known);
  }
}

Status Actor::body(const Command& command) {
  const Result<std::string> body = receive_body();
  if (!body) return body.error();
  const std::string expected = command.has_block ? command.block : unescape(command.argument);
  return *body == expected ? Status() : mismatch(expected, *body);
}

Status Actor::body_like(const Command& command) {
  const Result<std::string> body = receive_body();
  if (!body) return body.error();
  return finds(*body, unescape(command.argument)) ? Status() : mismatch(command.argument, *body);
}

Status Actor::body_fill(const Command& command) {
  const Result<std::string> body = receive_body();
  if (!body) return body.error();
  const std::size_t size = std::stoul(command.argument);
  if (body->size() != size) return mismatch(command.argument, std::to_string(body->size()) + " bytes");
  return *body == pattern(size) ? Status() : mismatch("the pattern", "other bytes");
}

Status Actor::raw(const Command& command) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  const std::string expected = command.has_block ? command.block : unescape(command.argument);
  const Result<std::string> got = (*connection)->receive(expected.size());
  if (!got) return got.error();
  return *got == expected ? Status() : mismatch(expected, *got);
}

Status Actor::raw_fill(const Command& command) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  const std::size_t size = std::stoul(command.argument);
  const Result<std::string> got = (*connection)->receive(size);
  if (!got) return got.error();
  return *got == pattern(size) ? Status() : mismatch("the pattern", "other bytes");
}

/// Reads a head as bytes and looks for a regular expression in it.
Status Actor::raw_head(const Command& command) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  const Result<std::string> got = (*connection)->receive_until("\r\n\r\n");
  if (!got) return got.error();
  return finds(*got, command.argument) ? Status() : mismatch(command.argument, *got);
}

Status Actor::closed(const Command& /*command*/) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  return (*connection)->expect_closed();
}

Status Actor::closed_by_reset(const Command& /*command*/) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  return (*connection)->expect_reset();
}

Status Actor::quiet(const Command& /*command*/) { return expect_quiet(); }

Status Actor::close(const Command& /*command*/) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  (*connection)->close();
  return {};
}

Status Actor::reset(const Command& /*command*/) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  (*connection)->reset();
  return {};
}

Status Actor::shutdown(const Command& /*command*/) {
  const Result<Connection*> connection = current();
  if (!connection) return connection.error();
  (*connection)->shutdown();
  return {};
}

Status Actor::signal(const Command& command) {
  stage_.signal(command.argument);
  return {};
}

Status Actor::wait(const Command& command) { return stage_.wait(command.argument); }

Status Actor::use(const Command& command) {
  if (!connections_.contains(command.argument)) return failure("no connection of this name");
  current_ = command.argument;
  return {};
}

}  // namespace edge::test
