#include <nanobind/nanobind.h>

#include "arrow_exchange.h"
#include "bindings.h"

// The module has no names of its own in the documentation: the package `glaive` shows them under
// pylance's.
NB_MODULE(_native, m) {
  m.attr("version") = GLAIVE_VERSION;
  glaive::python::BindArrow(m);
  glaive::python::BindVersionOptions(m);
  glaive::python::BindSession(m);
  glaive::python::BindFragment(m);
  glaive::python::BindDataset(m);
  glaive::python::BindSchema(m);
  glaive::python::BindScan(m);
  glaive::python::BindWrite(m);
  glaive::python::BindWriteTarget(m);
  glaive::python::BindUpdate(m);
  glaive::python::BindMergeInsert(m);
  glaive::python::BindCompaction(m);
  glaive::python::BindCanary(m);
  glaive::python::BindColumns(m);
  glaive::python::BindStagedColumns(m);
  glaive::python::BindBackfill(m);
  glaive::python::BindIndex(m);
  glaive::python::BindConfig(m);
  glaive::python::BindRefs(m);
  glaive::python::BindFragmentEdit(m);
  glaive::python::BindMaintenance(m);
  glaive::python::BindMaintain(m);
  glaive::python::BindDelta(m);
  glaive::python::BindFileLists(m);
  glaive::python::BindFile(m);
  glaive::python::BindOperation(m);
  glaive::python::BindCommit(m);
}
