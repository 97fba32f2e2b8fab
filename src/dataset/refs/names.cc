#include <algorithm>
#include <array>

#include "core/error.h"
#include "dataset/handle/dataset_state.h"
#include "dataset/refs/files.h"

namespace glaive::dataset {
namespace {

constexpr std::string_view kTree = "/tree/";
constexpr std::string_view kJson = ".json";

// Letters beyond ASCII are taken as they come.
bool IsNameCharacter(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z') || byte >= 0x80 || byte == '.' || byte == '-' || byte == '_';
}

arrow::Status InvalidName(std::string_view name, std::string_view reason) {
  return InvalidInput("Ref is invalid: '{}' {}", name, reason);
}

// Folders that every branch has: one below it must not be taken for them.
constexpr std::array<std::string_view, 7> kOwnFolders = {
    "data", "tree", "_versions", "_transactions", "_deletions", "_indices", "_refs"};

// What a name of a file may not hold is written as %XX.
std::string Encoded(std::string_view name) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char character : name) {
    if (IsNameCharacter(character) && static_cast<unsigned char>(character) < 0x80) {
      encoded += character;
      continue;
    }
    const auto byte = static_cast<unsigned char>(character);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

std::optional<uint8_t> HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<uint8_t>(digit - '0');
  if (digit >= 'A' && digit <= 'F') return static_cast<uint8_t>(digit - 'A' + 10);
  if (digit >= 'a' && digit <= 'f') return static_cast<uint8_t>(digit - 'a' + 10);
  return std::nullopt;
}

std::string Decoded(std::string_view name) {
  std::string decoded;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%' && i + 2 < name.size()) {
      const auto high = HexDigit(name[i + 1]);
      const auto low = HexDigit(name[i + 2]);
      if (high && low) {
        decoded += static_cast<char>(*high << 4 | *low);
        i += 2;
        continue;
      }
    }
    decoded += name[i];
  }
  return decoded;
}

std::string_view FolderOf(RefKind kind) {
  return kind == RefKind::kTag ? "_refs/tags" : "_refs/branches";
}

}  // namespace

std::optional<std::string> Standardized(const std::optional<std::string>& branch) {
  return branch == "main" ? std::nullopt : branch;
}

table::TableLocation MainLocation(const Dataset& dataset) {
  table::TableLocation location = StateOf(dataset)->location;
  const auto& branch = StateOf(dataset)->manifest->branch;
  if (!branch) return location;
  const std::string below = std::string(kTree) + *branch;
  // A branch that was copied elsewhere is a table of its own there.
  if (!location.root.ends_with(below)) return location;
  location.root.resize(location.root.size() - below.size());
  if (location.uri.ends_with(below)) {
    location.uri.resize(location.uri.size() - below.size());
  } else {
    location.uri = location.root;
  }
  return location;
}

arrow::Result<table::TableLocation> BranchLocation(const table::TableLocation& main,
                                                   const std::optional<std::string>& branch) {
  const auto standard = Standardized(branch);
  if (!standard) return main;
  ARROW_RETURN_NOT_OK(CheckBranchName(*standard));
  const std::string below = std::string(kTree) + *standard;
  return table::TableLocation{main.store, main.root + below, main.uri + below};
}

arrow::Status CheckTagName(std::string_view name) {
  if (name.empty()) return InvalidName(name, "is empty");
  if (!std::ranges::all_of(name, IsNameCharacter)) {
    return InvalidName(name, "has other characters than letters, digits, '.', '-' and '_'");
  }
  if (name.starts_with('.') || name.ends_with('.')) {
    return InvalidName(name, "begins or ends with a dot");
  }
  if (name.ends_with(".lock")) return InvalidName(name, "ends with .lock");
  if (name.find("..") != std::string_view::npos) return InvalidName(name, "has two dots in a row");
  return arrow::Status::OK();
}

arrow::Status CheckBranchName(std::string_view name) {
  if (name == "main") return InvalidName(name, "is the default branch's name");
  if (name.ends_with(".lock")) return InvalidName(name, "ends with .lock");
  if (name.find("..") != std::string_view::npos) return InvalidName(name, "has two dots in a row");
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part == ".") return InvalidName(name, "is empty, or has an empty part");
    if (!std::ranges::all_of(part, IsNameCharacter)) {
      return InvalidName(name, "has other characters than letters, digits, '.', '-', '_' and '/'");
    }
    if (begin > 0 && std::ranges::count(kOwnFolders, part) > 0) {
      return InvalidName(name, "has a part that is the name of a folder of each branch");
    }
    begin = end + 1;
  }
  return arrow::Status::OK();
}

std::string RefPath(const table::TableLocation& main, RefKind kind, std::string_view name) {
  return main.Path(std::string(FolderOf(kind)) + "/" + Encoded(name) + std::string(kJson));
}

arrow::Result<std::vector<std::string>> ListRefNames(const table::TableLocation& main,
                                                     RefKind kind) {
  ARROW_ASSIGN_OR_RAISE(const auto files, main.store->ListNames(main.Path(FolderOf(kind))));
  std::vector<std::string> names;
  for (const std::string& file : files) {
    std::string_view name = file;
    if (!name.ends_with(kJson)) continue;
    name.remove_suffix(kJson.size());
    names.push_back(Decoded(name));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace glaive::dataset
