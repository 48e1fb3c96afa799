// SQLite as this folder uses it: a connection, and statements of it. A connection and its statements belong to one
// thread at a time.
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

  /// Places count from 1. Text and bytes are not copied: they outlive the run that follows.
  void bind(int index, std::int64_t number);
  void bind_text(int index, std::string_view text);
  void bind_bytes(int index, std::string_view bytes);
  /// To its end, and back to its beginning.
  Status run();
  /// \returns true when there is a row. After false, and after an error, it is back at its beginning.
  Result<bool> step();
  void reset();

  /// Of the row; columns count from 0. Bytes are good until the next step.
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
  /// Makes the file for kWrite, readable by its owner alone. kUnavailable, kDataLoss: it cannot be opened, is none.
  static Result<std::unique_ptr<Connection>> open(const std::string& path, Mode mode);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Statements without parameters, one after the other.
  Status run(const std::string& text);
  /// The first number of the first row; 0 without a row.
  Result<std::int64_t> number(const std::string& text);
  Result<Statement> prepare(std::string_view text);
  /// Rows that the last statement has changed.
  std::int64_t changes() const;
  /// BEGIN has been, and neither COMMIT nor ROLLBACK.
  bool in_transaction() const;
  /// What runs then ends with kDeadlineExceeded.
  void set_deadline(std::chrono::steady_clock::time_point until) { until_ = until; }

 private:
  explicit Connection(sqlite3* handle) : handle_(handle) {}
  sqlite3* handle_;
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::time_point::max();
};

}  // namespace edge::traces
