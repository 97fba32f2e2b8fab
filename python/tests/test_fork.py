"""Children of processes whose other threads read, open and decode: none may wait for a thread that
it does not have."""

import os

import pytest

FORKS = int(os.environ.get("GLAIVE_TEST_FORKS", "300"))

TABLE = """
import os, select, signal, sys, threading
import numpy as np, pyarrow as pa, glaive

def make(path, rows=2_000):
    numbers = np.random.default_rng(1)
    columns = {f"c{i}": numbers.integers(0, 1 << 40, rows) for i in range(8)}
    columns["vector"] = pa.FixedSizeListArray.from_arrays(
        pa.array(numbers.random(rows * 300, np.float32)), 300
    )
    columns["text"] = [str(i) * 60 for i in range(rows)]
    columns["wide"] = [b"x" * 3_000 for _ in range(rows)]
    columns["list"] = [list(range(i % 5)) for i in range(rows)]
    columns["null"] = pa.nulls(rows, pa.int32())
    columns["same"] = ["same"] * rows
    return glaive.write_dataset(pa.table(columns), path, max_rows_per_file=rows // 2)

def waits(pid, seconds=60):
    '''Whether a child is still there after a time that is long for any.'''
    descriptor = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return not poll.poll(seconds * 1000)
    finally:
        os.close(descriptor)

def child_hangs(work):
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    hangs = waits(pid)
    if hangs:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    assert hangs or status == 0, f"a child ended with {status}"
    return hangs
"""

WHILE_READING = """
path = PATH
dataset = make(path)
sys.setswitchinterval(1e-4)  # who forks is one of six threads
stop = threading.Event()
failures = []

def loop(work, seed):
    numbers = np.random.default_rng(seed)
    try:
        while not stop.is_set():
            work(numbers)
    except BaseException as error:
        failures.append(error)

def read(numbers):
    # Now through what is cached, now through what is read for the first time.
    source = dataset if numbers.random() < 0.98 else glaive.dataset(path, session=glaive.Session())
    source.take(sorted(numbers.choice(2_000, 4, replace=False)))

def open_it(numbers):
    glaive.dataset(path, session=glaive.Session() if numbers.random() < 0.5 else None)

def in_child():
    assert dataset.take([1, 1_500]).num_rows == 2
    fresh = glaive.dataset(path, session=glaive.Session())
    assert fresh.take([3, 1_999], columns=["c1"]).num_rows == 2
    assert glaive.dataset(path).count_rows() == 2_000

threads = [threading.Thread(target=loop, args=(read, i)) for i in range(3)]
threads += [threading.Thread(target=loop, args=(open_it, i)) for i in (3, 4)]
for thread in threads:
    thread.start()
hung = sum(child_hangs(in_child) for _ in range(FORKS))
stop.set()
for thread in threads:
    thread.join()
assert not failures, failures
print(hung)
"""


def test_children_beside_threads_that_read_and_open(path, run):
    program = f"PATH, FORKS = {path!r}, {FORKS}\n" + TABLE + WHILE_READING
    assert run(program, timeout=600 + FORKS) == "0\n"


@pytest.mark.parametrize(
    "go_on",
    [
        "dataset.scanner().to_batches()",
        "file_rows(dataset)",
    ],
)
def test_what_a_thread_of_the_parent_is_reading_is_refused(path, run, go_on):
    """At any moment of its reading, as the child cannot tell."""
    program = f"PATH, FORKS = {path!r}, 30\n" + TABLE + f"""
from glaive.file import LanceFileReader

def file_rows(dataset):
    name = dataset.get_fragment(0).metadata.files[0].path
    return LanceFileReader(PATH + "/data/" + name).read_all(batch_size=1).to_batches()

dataset = make(PATH)
hung = 0
for _ in range(FORKS):
    batches = iter({go_on})
    first = next(batches)
    thread = threading.Thread(target=lambda: [None for _ in batches])

    def goes_on():
        try:
            next(batches)
        except (glaive.errors.InvalidInput, ValueError) as error:
            # A generator that is running is refused by Python itself.
            assert "fork" in str(error) or "already executing" in str(error), error
        except StopIteration:
            pass

    thread.start()
    hung += child_hangs(goes_on)
    thread.join()
print(hung)
"""
    assert run(program, timeout=600) == "0\n"
