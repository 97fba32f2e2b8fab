#pragma once

#include <nanobind/nanobind.h>

namespace glaive::python {

namespace nb = nanobind;

// One for each public header that has something to bind, in the order in which types are needed.
void BindVersionOptions(nb::module_& m);
void BindSession(nb::module_& m);
void BindFragment(nb::module_& m);
void BindDataset(nb::module_& m);
void BindSchema(nb::module_& m);
void BindScan(nb::module_& m);
void BindWrite(nb::module_& m);
void BindWriteTarget(nb::module_& m);
void BindUpdate(nb::module_& m);
void BindMergeInsert(nb::module_& m);
void BindCompaction(nb::module_& m);
void BindCanary(nb::module_& m);
void BindColumns(nb::module_& m);
void BindStagedColumns(nb::module_& m);
void BindBackfill(nb::module_& m);
void BindIndex(nb::module_& m);
void BindConfig(nb::module_& m);
void BindRefs(nb::module_& m);
void BindFragmentEdit(nb::module_& m);
void BindMaintenance(nb::module_& m);
void BindMaintain(nb::module_& m);
void BindDelta(nb::module_& m);
void BindFileLists(nb::module_& m);
void BindFile(nb::module_& m);
void BindOperation(nb::module_& m);
void BindCommit(nb::module_& m);

}  // namespace glaive::python
