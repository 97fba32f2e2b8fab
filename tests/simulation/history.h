#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/result.h>

#include "simulation/model.h"
#include "table/manifest/manifest.h"
#include "table/operation/operation.h"

namespace glaive::simulation {

// A verb as a client began it.
struct VerbRun {
  uint8_t client = 0;
  size_t index = 0;  // among the client's
  std::string name;
  std::string root;         // of the table or branch that it changes
  bool drops = false;       // it removes it
  bool is_by_path = false;  // it needs no version that somebody could have removed
  Intent intent;
  uint64_t began_at = 0;  // steps
  int64_t began_ns = 0;   // what it commits may be so old
  std::optional<uint64_t> ended_at;
  std::string outcome;
};

// A manifest that was ever put, and what came of it.
struct Record {
  size_t number = 0;
  std::string path;
  std::string root;
  uint64_t version = 0;
  std::string uuid;
  table::Manifest manifest;
  std::optional<table::Transaction> transaction;
  VerbRun* verb = nullptr;  // null: outside of clients
  uint64_t put_at = 0;      // steps; in order of numbers
  bool was_reported = false;
  bool is_durable = false;  // it was reported by a client who asked for that
  std::optional<Rows> rows;
};

// All manifests of a run, as the store saw them.
class History {
 public:
  // A manifest was put there. Nothing for what is no manifest.
  arrow::Result<Record*> Add(const std::string& path, const std::shared_ptr<arrow::Buffer>& bytes,
                             VerbRun* verb, uint64_t step);

  // The one that made a handle; null if it was never put.
  Record* Find(std::string_view root, uint64_t version, std::string_view uuid);
  // The one whose bytes these are.
  Record* Find(const std::string& path, const std::shared_ptr<arrow::Buffer>& bytes);

  // What it was made upon: null for a first version.
  Record* Before(const Record& record);
  // That of a number among those that lead to it, itself included; null if there is none.
  Record* Ancestor(Record& record, uint64_t version);
  bool Descends(Record& record, const Record& ancestor);

  // What the model makes of all verbs up to it. Where a verb may have chosen its rows in one of
  // several versions, those that the version shows tell which; so it is to be asked while that is
  // there.
  arrow::Result<const Rows*> RowsOf(Record& record);

  using Look = std::function<arrow::Result<Rows>(const Record&)>;
  void SetLook(Look look) { look_ = std::move(look); }

  std::deque<Record>& records() { return records_; }

 private:
  arrow::Result<Rows> Replay(Record& record);
  Record* SourceOf(const Record& clone);

  arrow::Result<Rows> ReplayChoice(Record& record, Record* before);

  std::deque<Record> records_;
  Look look_;
};

bool IsManifestPath(std::string_view path);
// "R-UUID.txn" without its ends.
std::string UuidOf(const table::Manifest& manifest);

}  // namespace glaive::simulation
