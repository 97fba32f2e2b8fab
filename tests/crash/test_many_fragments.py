"""More fragments than a process may have files open: they are scanned, appended to and compacted all the same.

GLAIVE_MANY_FRAGMENTS sets how many there are.
"""

import os
import subprocess
import sys

FRAGMENTS = int(os.environ.get("GLAIVE_MANY_FRAGMENTS", "1500"))
SCRIPT = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
import glaive, pyarrow as pa
path, count = sys.argv[1], int(sys.argv[2])
def rows(start, stop):
    return pa.table({"id": pa.array(range(start, stop), pa.int64())})
glaive.write_dataset(rows(0, count), path, max_rows_per_file=1)
dataset = glaive.dataset(path)
assert len(dataset.get_fragments()) == count
assert dataset.to_table()["id"].to_pylist() == list(range(count))
dataset.delete("id % 7 = 3")
live = [i for i in range(count) if i % 7 != 3]
assert glaive.dataset(path).to_table()["id"].to_pylist() == live
glaive.write_dataset(rows(count, count + 1), path, mode="append")
assert glaive.dataset(path).take([0, len(live)])["id"].to_pylist() == [live[0], count]
glaive.dataset(path).optimize.compact_files(target_rows_per_fragment=count)
dataset = glaive.dataset(path)
assert dataset.to_table()["id"].to_pylist() == [*live, count]
print(len(dataset.get_fragments()))
"""


def test_few_descriptors_are_enough(tmp_path):
    environment = {**os.environ, "GLAIVE_DURABILITY": "none"}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "table"), str(FRAGMENTS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "1\n"
