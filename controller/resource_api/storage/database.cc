#include "controller/resource_api/storage/database.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

namespace edge::resource_api {
namespace {

// "edgR": what `file` and a look with sqlite3 tell this database by.
constexpr int kApplicationId = 0x65646752;
constexpr int kFormat = 1;
// The loop waits for nobody who looks into the file for longer than this.
constexpr int kBusyMilliseconds = 250;

constexpr const char* kSchema = R"(
  CREATE TABLE IF NOT EXISTS objects(collection TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    version INTEGER NOT NULL, text BLOB NOT NULL, PRIMARY KEY(collection, namespace, name));
  CREATE TABLE IF NOT EXISTS history(version INTEGER PRIMARY KEY, collection TEXT NOT NULL, namespace TEXT NOT NULL,
    name TEXT NOT NULL, before BLOB);
  CREATE TABLE IF NOT EXISTS floors(collection TEXT PRIMARY KEY, version INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS facts(name TEXT PRIMARY KEY, value INTEGER NOT NULL);
  INSERT OR IGNORE INTO facts VALUES('version', 0);
)";

enum Statement : std::size_t { kPut, kRemove, kRemember, kForget, kFloor, kVersion, kStatements };
constexpr std::array<const char*, kStatements> kTexts = {
    "INSERT INTO objects VALUES(?1,?2,?3,?4,?5) ON CONFLICT(collection, namespace, name) "
    "DO UPDATE SET version=?4, text=?5",
    "DELETE FROM objects WHERE collection=?1 AND namespace=?2 AND name=?3",
    "INSERT INTO history VALUES(?4,?1,?2,?3,?5)",
    "DELETE FROM history WHERE version=?1",
    "INSERT INTO floors VALUES(?1,?2) ON CONFLICT(collection) DO UPDATE SET version=?2",
    "UPDATE facts SET value=?1 WHERE name='version'",
};

ErrorCode code_of(int result) {
  switch (result & 0xff) {
    case SQLITE_FULL:
      return ErrorCode::kResourceExhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kDataLoss;
    default:
      return ErrorCode::kUnavailable;
  }
}

std::string_view text_of(sqlite3_stmt* row, int column) {
  const void* bytes = sqlite3_column_blob(row, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

/// Binds by reference: what is bound outlives the step that follows.
void bind(sqlite3_stmt* statement, int at, std::string_view text) {
  sqlite3_bind_text(statement, at, text.empty() ? "" : text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
}
void bind_blob(sqlite3_stmt* statement, int at, const std::string* bytes) {
  if (bytes == nullptr) {
    sqlite3_bind_null(statement, at);
  } else {
    sqlite3_bind_blob(statement, at, bytes->data(), static_cast<int>(bytes->size()), SQLITE_STATIC);
  }
}

}  // namespace

struct Database::Handles {
  std::string path;
  sqlite3* file = nullptr;
  std::array<sqlite3_stmt*, kStatements> statements{};

  ~Handles() {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
    sqlite3_close(file);
  }

  Error error(int result) const { return {code_of(result), path + ": " + sqlite3_errmsg(file)}; }

  Status run(const char* text) {
    const int result = sqlite3_exec(file, text, nullptr, nullptr, nullptr);
    return result == SQLITE_OK ? Status{} : error(result);
  }
  /// `empty`: nothing was acknowledged yet. Such a file reaches the disk once, when all of this is done.
  Status set_up(bool names_it, bool empty) {
    // FULL: a commit returns when the log is on the disk. That is what an acknowledged write rests on.
    std::string text = empty ? "PRAGMA synchronous=OFF; " : "";
    text += "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; BEGIN IMMEDIATE; ";
    if (names_it) {
      text += "PRAGMA application_id=" + std::to_string(kApplicationId) +
              "; PRAGMA user_version=" + std::to_string(kFormat) + "; ";
    }
    text += kSchema;
    text += "COMMIT; ";
    if (empty) text += "PRAGMA wal_checkpoint(TRUNCATE)";
    return run(text.c_str());
  }
  Status step(sqlite3_stmt* statement) {
    const int result = sqlite3_step(statement);
    const Status status = result == SQLITE_DONE || result == SQLITE_ROW ? Status{} : error(result);
    sqlite3_reset(statement);
    return status;
  }
  Result<std::int64_t> number(const char* text) {
    sqlite3_stmt* statement = nullptr;
    const int result = sqlite3_prepare_v2(file, text, -1, &statement, nullptr);
    if (result != SQLITE_OK) return error(result);
    const int row = sqlite3_step(statement);
    const std::int64_t value = row == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    if (row != SQLITE_ROW && row != SQLITE_DONE) return error(row);
    return value;
  }
  template <typename Row>
  Status each(const char* text, const Row& visit) {
    sqlite3_stmt* statement = nullptr;
    int result = sqlite3_prepare_v2(file, text, -1, &statement, nullptr);
    if (result != SQLITE_OK) return error(result);
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) visit(statement);
    const Status status = result == SQLITE_DONE ? Status{} : error(result);
    sqlite3_finalize(statement);
    return status;
  }
};

Database::Database(std::unique_ptr<Handles> handles) : handles_(std::move(handles)) {}
Database::~Database() = default;

Result<std::unique_ptr<Database>> Database::open(const std::string& path) {
  // Secrets are in it: nobody else reads it, whatever the folder and the umask are. The log takes the file's mode.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return Error{ErrorCode::kUnavailable, path + ": " + std::strerror(errno)};
  ::close(file);
  auto handles = std::make_unique<Handles>();
  handles->path = path;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (const int result = sqlite3_open_v2(path.c_str(), &handles->file, flags, nullptr); result != SQLITE_OK) {
    return handles->error(result);
  }
  sqlite3_busy_timeout(handles->file, kBusyMilliseconds);
  const auto application = handles->number("PRAGMA application_id");
  if (!application) return application.error();
  const auto format = handles->number("PRAGMA user_version");
  if (!format) return format.error();
  const auto tables = handles->number("SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.error();
  if (*application != kApplicationId && (*application != 0 || *tables != 0)) {
    return Error{ErrorCode::kFailedPrecondition, path + ": is another program's database"};
  }
  if (*format > kFormat) {
    return Error{ErrorCode::kFailedPrecondition,
                 path + ": was written by a newer version (format " + std::to_string(*format) +
                     ", this one reads up to " + std::to_string(kFormat) + "); run that version, or an empty folder"};
  }
  if (Status status = handles->set_up(*application != kApplicationId || *format != kFormat, *tables == 0); !status) {
    return status.error();
  }
  for (std::size_t i = 0; i < kStatements; ++i) {
    const int result =
        sqlite3_prepare_v3(handles->file, kTexts[i], -1, SQLITE_PREPARE_PERSISTENT, &handles->statements[i], nullptr);
    if (result != SQLITE_OK) return handles->error(result);
  }
  const auto version = handles->number("SELECT value FROM facts WHERE name='version'");
  if (!version) return version.error();
  auto database = std::unique_ptr<Database>(new Database(std::move(handles)));
  database->version_ = *version;
  return database;
}

Status Database::each_object(const std::function<void(const ObjectRow&)>& visit) {
  return handles_->each("SELECT collection, namespace, name, version, text FROM objects", [&](sqlite3_stmt* row) {
    visit({text_of(row, 0), text_of(row, 1), text_of(row, 2), text_of(row, 4), sqlite3_column_int64(row, 3)});
  });
}

Status Database::each_history(const std::function<void(const HistoryRow&)>& visit) {
  return handles_->each("SELECT collection, namespace, name, version, before FROM history ORDER BY version DESC",
                        [&](sqlite3_stmt* row) {
                          visit({text_of(row, 0), text_of(row, 1), text_of(row, 2), sqlite3_column_int64(row, 3),
                                 sqlite3_column_type(row, 4) == SQLITE_NULL, text_of(row, 4)});
                        });
}

Status Database::each_floor(const std::function<void(std::string_view, std::int64_t)>& visit) {
  return handles_->each("SELECT collection, version FROM floors",
                        [&](sqlite3_stmt* row) { visit(text_of(row, 0), sqlite3_column_int64(row, 1)); });
}

Status Database::write(std::span<const Change> changes, std::span<const Forgotten> forgotten) {
  if (Status status = handles_->run("BEGIN IMMEDIATE"); !status) return status;
  Status status = write_all(changes, forgotten);
  if (status) status = handles_->run("COMMIT");
  // A commit that failed for want of space has left the transaction open.
  if (!status && sqlite3_get_autocommit(handles_->file) == 0) (void)handles_->run("ROLLBACK");
  return status;
}

Status Database::write_all(std::span<const Change> changes, std::span<const Forgotten> forgotten) {
  auto& statements = handles_->statements;
  const auto bind_key = [&](sqlite3_stmt* statement, const Change& change) {
    bind(statement, 1, change.collection);
    bind(statement, 2, change.name_space);
    bind(statement, 3, change.name);
  };
  std::int64_t newest = version_;
  for (const Change& change : changes) {
    sqlite3_stmt* object = statements[change.text != nullptr ? kPut : kRemove];
    bind_key(object, change);
    if (change.text != nullptr) {
      sqlite3_bind_int64(object, 4, change.version);
      bind_blob(object, 5, change.text);
    }
    if (Status status = handles_->step(object); !status) return status;
    bind_key(statements[kRemember], change);
    sqlite3_bind_int64(statements[kRemember], 4, change.version);
    bind_blob(statements[kRemember], 5, change.before);
    if (Status status = handles_->step(statements[kRemember]); !status) return status;
    newest = std::max(newest, change.version);
  }
  for (const Forgotten& old : forgotten) {
    for (const std::int64_t version : old.versions) {
      sqlite3_bind_int64(statements[kForget], 1, version);
      if (Status status = handles_->step(statements[kForget]); !status) return status;
    }
    bind(statements[kFloor], 1, old.collection);
    sqlite3_bind_int64(statements[kFloor], 2, old.floor);
    if (Status status = handles_->step(statements[kFloor]); !status) return status;
  }
  sqlite3_bind_int64(statements[kVersion], 1, newest);
  if (Status status = handles_->step(statements[kVersion]); !status) return status;
  version_ = newest;
  return {};
}

}  // namespace edge::resource_api
