// A wrapper of SQLite: a connection and its statements. A connection and its statements are used by one thread at a
// time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace edge::traces {

class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  /// Parameters count from 1. Text and bytes are not copied: they must stay valid during the following run.
  void bind(int index, std::int64_t number);
  void bind_text(int index, std::string_view text);
  void bind_bytes(int index, std::string_view bytes);
  /// Runs the statement to its end, and resets it.
  Status run();
  /// \returns true when there is a row. After false, and after an error, the statement is reset.
  Result<bool> step();
  void reset();

  /// Return a column of the row, counting from 0. Bytes are valid until the next step.
  std::int64_t number(int column) const;
  std::string_view bytes(int column) const;

 private:
  friend class Connection;
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}
  sqlite3_stmt* handle_ = nullptr;
};

class Connection {
 public:
  enum class Mode : std::uint8_t { kRead, kWrite };
  /// Creates the file for kWrite, readable only by the owner. kUnavailable: it cannot be opened; kDataLoss: it is not a
  /// database.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, Mode mode);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Runs statements without parameters, one after the other.
  Status run(const std::string& text);
  /// Returns the first number of the first row; 0 without a row.
  Result<std::int64_t> number(const std::string& text);
  Result<Statement> prepare(std::string_view text);
  /// Returns the number of rows changed by the last statement.
  std::int64_t changes() const;
  /// Returns whether a transaction is open.
  bool in_transaction() const;
  /// Statements still running then end with kDeadlineExceeded.
  void set_deadline(std::chrono::steady_clock::time_point until) { until_ = until; }

 private:
  explicit Connection(sqlite3* handle) : handle_(handle) {}
  sqlite3* handle_;
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::time_point::max();
};

}  // namespace edge::traces
