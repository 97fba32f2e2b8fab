"""Backfills `y = x + 1` slowly, and writes down the first id of each batch that it computes.

    python tests/crash/backfill_writer.py PATH CHECKPOINT LOG COMMIT_EVERY
"""

import os
import sys
import time

import glaive
import pyarrow as pa
import pyarrow.compute as pc


def main():
    path, checkpoint, log, commit_every = sys.argv[1:5]
    schema = pa.schema([pa.field("y", pa.int64())])
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def compute(batch):
        time.sleep(0.005)
        os.write(out, b"%d\n" % batch["x"][0].as_py())
        return pa.record_batch([pc.add(batch["x"], 1)], schema=schema)

    print("ready", flush=True)
    glaive.backfill(path, schema, compute, ["x"], checkpoint=checkpoint, commit_every=int(commit_every))


if __name__ == "__main__":
    main()
