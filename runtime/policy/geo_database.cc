#include "runtime/policy/geo_database.h"

#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <utility>

#include <fcntl.h>
#include <maxminddb.h>
#include <unistd.h>

#include "net/socket.h"

namespace edge::runtime {
namespace {

constexpr off_t kMaxBytes = off_t{512} << 20;

Error fault(std::string what) { return {ErrorCode::kFailedPrecondition, std::move(what)}; }

/// The library maps what it opens: a file that is cut short meanwhile would end the process (SIGBUS).
Result<net::Fd> copied(const std::string& path) {
  const net::Fd from(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!from.valid() || ::fstat(from.get(), &status) != 0) return fault(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return fault("it is no regular file");
  if (status.st_size > kMaxBytes) return fault("it is larger than 512 MiB");
  net::Fd copy(::memfd_create("mmdb", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!copy.valid()) return fault(std::strerror(errno));
  for (off_t left = status.st_size; left > 0;) {
    const ssize_t sent = ::sendfile(copy.get(), from.get(), nullptr, static_cast<std::size_t>(left));
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return fault(std::strerror(errno));
    if (sent == 0) return fault("it has become shorter while it was read");
    left -= sent;
  }
  if (::fcntl(copy.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return fault(std::strerror(errno));
  }
  return copy;
}

bool is_of(std::string_view type, GeoDatabase::Kind kind) {
  const auto any = [type](std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) {
      if (type.find(word) != std::string_view::npos) return true;
    }
    return false;
  };
  return kind == GeoDatabase::Kind::kCountry ? any({"Country", "City", "Enterprise"})
                                             : any({"ASN", "ISP", "Enterprise"});
}

}  // namespace

struct GeoDatabase::Handle {
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (open) MMDB_close(&database);
  }
  MMDB_s database{};
  bool open = false;
};

GeoDatabase::GeoDatabase(std::unique_ptr<Handle> handle, Kind kind) : handle_(std::move(handle)), kind_(kind) {}
GeoDatabase::~GeoDatabase() = default;

Result<std::shared_ptr<const GeoDatabase>> GeoDatabase::open(const std::string& path, Kind kind) {
  const Result<net::Fd> copy = copied(path);
  if (!copy) return copy.error();
  auto handle = std::make_unique<Handle>();
  const std::string name = "/proc/self/fd/" + std::to_string(copy->get());
  if (const int code = MMDB_open(name.c_str(), MMDB_MODE_MMAP, &handle->database); code != MMDB_SUCCESS) {
    return fault(MMDB_strerror(code));
  }
  handle->open = true;
  // By the other one no address would be found, and a list of those that are denied would deny nobody.
  if (const std::string type(handle->database.metadata.database_type); !is_of(type, kind)) {
    return fault("its type is `" + type.substr(0, 60) + "`, which tells no " +
                 (kind == Kind::kCountry ? "countries" : "autonomous systems"));
  }
  return std::shared_ptr<const GeoDatabase>(new GeoDatabase(std::move(handle), kind));
}

GeoDatabase::Found GeoDatabase::find(const IpAddress& address) const {
  sockaddr_in6 wide{};
  sockaddr_in narrow{};
  const auto* name = reinterpret_cast<const sockaddr*>(&wide);
  if (address.is_v4()) {
    narrow.sin_family = AF_INET;
    std::memcpy(&narrow.sin_addr, address.bytes.data() + 12, 4);
    name = reinterpret_cast<const sockaddr*>(&narrow);
  } else {
    wide.sin6_family = AF_INET6;
    std::memcpy(&wide.sin6_addr, address.bytes.data(), address.bytes.size());
  }
  int code = MMDB_SUCCESS;
  MMDB_lookup_result_s result = MMDB_lookup_sockaddr(&handle_->database, name, &code);
  if (code == MMDB_IPV6_LOOKUP_IN_IPV4_DATABASE_ERROR) return {true, 0};
  if (code != MMDB_SUCCESS) return {false, 0};
  if (!result.found_entry) return {true, 0};
  static constexpr std::array<const char*, 3> kCountryPath = {"country", "iso_code", nullptr};
  static constexpr std::array<const char*, 2> kAsnPath = {"autonomous_system_number", nullptr};
  const bool country = kind_ == Kind::kCountry;
  MMDB_entry_data_s data{};
  code = MMDB_aget_value(&result.entry, &data, country ? kCountryPath.data() : kAsnPath.data());
  if (code == MMDB_LOOKUP_PATH_DOES_NOT_MATCH_DATA_ERROR || (code == MMDB_SUCCESS && !data.has_data)) return {true, 0};
  if (code != MMDB_SUCCESS) return {false, 0};
  if (country) {
    if (data.type != MMDB_DATA_TYPE_UTF8_STRING) return {false, 0};
    const std::uint32_t number = country_number({data.utf8_string, data.data_size});
    return {number != 0, number};
  }
  if (data.type == MMDB_DATA_TYPE_UINT32) return {true, data.uint32};
  if (data.type == MMDB_DATA_TYPE_UINT16) return {true, data.uint16};
  return {false, 0};
}

std::uint64_t GeoDatabase::built() const { return handle_->database.metadata.build_epoch; }
std::string_view GeoDatabase::type() const { return handle_->database.metadata.database_type; }

}  // namespace edge::runtime
