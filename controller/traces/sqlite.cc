#include "controller/traces/sqlite.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

namespace edge::traces {
namespace {

/// Whoever looks into the file with a tool of their own holds nobody up for longer.
constexpr int kBusyMilliseconds = 2000;
/// Steps of SQLite's machine between two looks at the clock.
constexpr int kStepsBetweenLooks = 10'000;

ErrorCode code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL:
      return ErrorCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kDataLoss;
    case SQLITE_INTERRUPT:
      return ErrorCode::kDeadlineExceeded;
    default:
      return ErrorCode::kUnavailable;
  }
}

Error error_of(sqlite3* handle, int result) {
  return {code_of(result), std::string("the file of traces: ") + sqlite3_errmsg(handle)};
}

int past_deadline(void* until) {
  const auto deadline = *static_cast<const std::chrono::steady_clock::time_point*>(until);
  return std::chrono::steady_clock::now() > deadline ? 1 : 0;
}

}  // namespace

Statement::Statement(Statement&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}
Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::bind(int index, std::int64_t number) { sqlite3_bind_int64(handle_, index, number); }
void Statement::bind_text(int index, std::string_view text) {
  sqlite3_bind_text(handle_, index, text.empty() ? "" : text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}
void Statement::bind_bytes(int index, std::string_view bytes) {
  sqlite3_bind_blob(handle_, index, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
}

Result<bool> Statement::step() {
  const int result = sqlite3_step(handle_);
  if (result == SQLITE_ROW) return true;
  Error error{ErrorCode::kInternal, {}};
  if (result != SQLITE_DONE) error = error_of(sqlite3_db_handle(handle_), result);
  sqlite3_reset(handle_);
  if (result != SQLITE_DONE) return error;
  return false;
}

Status Statement::run() {
  const Result<bool> stepped = step();
  reset();
  return stepped ? Status() : stepped.error();
}

void Statement::reset() { sqlite3_reset(handle_); }

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(handle_, column); }
std::string_view Statement::bytes(int column) const {
  const void* const bytes = sqlite3_column_blob(handle_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, Mode mode) {
  if (mode == Mode::kWrite) {
    // Who was where, and when, is nobody else's to read. The log of changes takes the file's mode.
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return Error{ErrorCode::kUnavailable, path + ": " + std::strerror(errno)};
    ::close(file);
  }
  const int flags = mode == Mode::kWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  sqlite3* handle = nullptr;
  const int result = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<Connection> connection(new Connection(handle));
  if (result != SQLITE_OK) return error_of(handle, result);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  sqlite3_progress_handler(handle, kStepsBetweenLooks, past_deadline, &connection->until_);
  return connection;
}

Connection::~Connection() { sqlite3_close(handle_); }

Status Connection::run(const std::string& text) {
  const int result = sqlite3_exec(handle_, text.c_str(), nullptr, nullptr, nullptr);
  return result == SQLITE_OK ? Status() : error_of(handle_, result);
}

Result<std::int64_t> Connection::number(const std::string& text) {
  Result<Statement> statement = prepare(text);
  if (!statement) return statement.error();
  const Result<bool> row = statement->step();
  if (!row) return row.error();
  return *row ? statement->number(0) : 0;
}

Result<Statement> Connection::prepare(std::string_view text) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(handle_, text.data(), static_cast<int>(text.size()), SQLITE_PREPARE_PERSISTENT,
                                        &statement, nullptr);
  if (result != SQLITE_OK) return error_of(handle_, result);
  return Statement(statement);
}

std::int64_t Connection::changes() const { return sqlite3_changes64(handle_); }
bool Connection::in_transaction() const { return sqlite3_get_autocommit(handle_) == 0; }

}  // namespace edge::traces
