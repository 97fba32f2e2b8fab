#include <atomic>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.h"
#include "io/object_store.h"

namespace glaive::io {
namespace {

// What is registered. Every open looks here, beside threads that fork, so that it takes no lock:
// who registers puts a changed copy in its place. Registrations are few, and none is ever
// destroyed.
struct Registry {
  std::map<std::string, std::shared_ptr<ObjectStore>, std::less<>> stores;
  const Registry* before = nullptr;  // kept reachable, so that it is no leak
};

constinit std::atomic<const Registry*> registered = nullptr;

std::shared_ptr<ObjectStore> RegisteredStore(std::string_view scheme) {
  const Registry* const registry = registered.load(std::memory_order_acquire);
  if (registry == nullptr) return nullptr;
  const auto found = registry->stores.find(scheme);
  return found == registry->stores.end() ? nullptr : found->second;
}

// "scheme" of "scheme://rest", in small letters; nothing for a plain path.
std::optional<std::string> SchemeOf(std::string_view uri) {
  const size_t end = uri.find("://");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  std::string scheme;
  for (const char c : uri.substr(0, end)) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) == 0 && c != '+' && c != '-' && c != '.') return std::nullopt;
    scheme += static_cast<char>(std::tolower(letter));
  }
  return std::isalpha(static_cast<unsigned char>(scheme[0])) != 0 ? std::optional(scheme)
                                                                  : std::nullopt;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A '%' that no two hex digits follow stands for itself.
std::string PercentDecode(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        decoded += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

// Absolute, without ".", ".." and doubled or trailing slashes.
std::string Normalize(const std::filesystem::path& path) {
  std::string normal = path.lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

arrow::Result<std::string> AbsolutePath(std::string_view path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (error) return IOError({path}, "cannot tell the current folder: {}", error.message());
  return Normalize(absolute);
}

arrow::Result<std::string> PathOfFileUri(std::string_view uri, std::string_view rest) {
  constexpr std::string_view kLocalHost = "localhost/";
  if (rest.starts_with(kLocalHost)) rest.remove_prefix(kLocalHost.size() - 1);
  if (!rest.starts_with('/')) {
    return InvalidInput("'{}' names a file of another machine; file:///path is expected", uri);
  }
  return Normalize(PercentDecode(rest));
}

}  // namespace

arrow::Result<ResolvedUri> Resolve(std::string_view uri) {
  if (uri.empty()) return InvalidInput("the path is empty");
  if (uri.find('\0') != std::string_view::npos) return InvalidInput("the path holds a zero byte");
  ResolvedUri resolved;
  resolved.uri = uri;
  const std::optional<std::string> scheme = SchemeOf(uri);
  resolved.store = RegisteredStore(scheme.value_or("file"));
  const std::string_view rest = scheme ? uri.substr(scheme->size() + 3) : uri;
  if (!scheme) {
    ARROW_ASSIGN_OR_RAISE(resolved.path, AbsolutePath(uri));
  } else if (*scheme == "file") {
    ARROW_ASSIGN_OR_RAISE(resolved.path, PathOfFileUri(uri, rest));
  } else if (*scheme == "memory" || resolved.store != nullptr) {
    resolved.path = Normalize("/" + std::string(rest));
  } else {
    return Unsupported("'{}': the scheme '{}' is not supported; paths, file:// and memory:// are",
                       uri, *scheme);
  }
  if (resolved.store == nullptr) {
    resolved.store = scheme == "memory" ? MemoryStore() : LocalStore();
  }
  return resolved;
}

void RegisterStore(const std::string& scheme, std::shared_ptr<ObjectStore> store) {
  const std::shared_ptr<ObjectStore> added = std::move(store);
  const Registry* before = registered.load(std::memory_order_acquire);
  auto changed = std::make_unique<Registry>();
  do {
    if (before != nullptr) changed->stores = before->stores;
    changed->before = before;
    if (added == nullptr) {
      changed->stores.erase(scheme);
    } else {
      changed->stores[scheme] = added;
    }
  } while (!registered.compare_exchange_weak(before, changed.get(), std::memory_order_acq_rel));
  static_cast<void>(changed.release());
}

}  // namespace glaive::io
