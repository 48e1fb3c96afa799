// A party of a case, client or upstream: runs the commands of its script in order over its connections.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/case_file.h"
#include "tests/support/connection.h"
#include "tests/support/stage.h"

namespace edge::test {

class Actor {
 public:
  explicit Actor(Stage& stage) : stage_(stage) {}
  virtual ~Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  /// Stops at the first command that fails; the error names its line.
  Status run(const std::vector<Command>& commands);
  /// No connection holds a byte that the script did not read.
  Status expect_quiet();
  void close_all();

 protected:
  /// Commands of one kind of party. kNotFound: unknown.
  virtual Status run_own(const Command& command) = 0;

  Result<Connection*> current();
  /// Over TLS where `tls` is given.
  Status adopt(const std::string& name, int fd, const TlsSide* tls);
  static Status unknown() { return Error{ErrorCode::kNotFound, "unknown command"}; }
  static Status mismatch(std::string_view expected, std::string_view got);

  Stage& stage_;
  Message head_;
  /// Of its body, as it came.
  std::string begun_;

 private:
  using Run = Status (Actor::*)(const Command& command);
  static const std::map<std::string, Run>& table();

  Status run_one(const Command& command);
  Result<Command> with_kept(const Command& command) const;
  Status send(const Command& command);
  Status send_torn(const Command& command);
  Status fill(const Command& command);
  Status fill_until_broken(const Command& command);
  Status head(const Command& command);
  Status field(const Command& command);
  Status field_like(const Command& command);
  Status no_field(const Command& command);
  Status count(const Command& command);
  Status keep(const Command& command);
  Status body(const Command& command);
  Result<std::string> receive_body();
  Status body_begins(const Command& command);
  Status body_like(const Command& command);
  Status body_fill(const Command& command);
  Status raw(const Command& command);
  Status raw_fill(const Command& command);
  Status raw_head(const Command& command);
  Status closed(const Command& command);
  Status closed_by_reset(const Command& command);
  Status quiet(const Command& command);
  Status close(const Command& command);
  Status reset(const Command& command);
  Status shutdown(const Command& command);
  Status signal(const Command& command);
  Status wait(const Command& command);
  Status use(const Command& command);

  std::map<std::string, std::unique_ptr<Connection>> connections_;
  std::map<std::string, std::string> kept_;
  std::string current_;
};

}  // namespace edge::test
