"""Streams that are read by coroutines."""

import asyncio
import io
import pathlib
import threading

import pyarrow as pa
import pytest

import marquetry

TABLE = pa.table({"id": pa.array(range(10_000), pa.int64()), "name": [f"name {i % 100}" for i in range(10_000)]})


@pytest.fixture
def path(tmp_path: pathlib.Path) -> str:
    path = str(tmp_path / "t.parquet")
    marquetry.write(TABLE, path, row_group_rows=3000)
    return path


class SlowFile(io.BytesIO):
    """A file whose reads wait until they may."""

    def __init__(self, contents: bytes) -> None:
        super().__init__(contents)
        self.may_read = threading.Event()
        self.may_read.set()
        self.broken = False

    def _wait(self) -> None:
        assert self.may_read.wait(30)
        if self.broken:
            raise ZeroDivisionError

    def read(self, size: int | None = -1) -> bytes:
        self._wait()
        return super().read(size)

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        self._wait()
        return super().readinto(buffer)


async def ids(stream: marquetry.Stream) -> list[int]:
    return [value async for batch in stream for value in pa.record_batch(batch)["id"].to_pylist()]


def test_async_for_gives_all_rows(path: str) -> None:
    async def read() -> list[int]:
        async with marquetry.open(path).stream(["id"], "id >= 5000", batch_size=700) as stream:
            return await ids(stream)

    assert asyncio.run(read()) == list(range(5000, 10_000))


def test_datasets_too_and_many_at_once(path: str) -> None:
    async def read() -> list[list[int]]:
        file, dataset = marquetry.open(path), marquetry.dataset([path])
        return await asyncio.gather(*(ids(source.stream(["id"])) for source in (file, dataset) for _ in range(4)))

    assert asyncio.run(read()) == [list(range(10_000))] * 8


def test_others_run_while_bytes_are_awaited(path: str) -> None:
    async def read() -> tuple[list[int], bool]:
        slow = SlowFile(pathlib.Path(path).read_bytes())
        file = marquetry.open(slow)
        slow.may_read.clear()
        stream = await asyncio.to_thread(file.stream, ["id"])
        reading = asyncio.create_task(ids(stream))
        for _ in range(20):
            await asyncio.sleep(0.005)
        waited = not reading.done()
        slow.may_read.set()
        return await reading, waited

    assert asyncio.run(asyncio.wait_for(read(), 30)) == (list(range(10_000)), True)


def test_a_cancelled_coroutine_loses_no_batch(path: str) -> None:
    async def read() -> list[int]:
        slow = SlowFile(pathlib.Path(path).read_bytes())
        file = marquetry.open(slow)
        slow.may_read.clear()
        stream = file.stream(["id"], batch_size=700)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(anext(stream), 0.05)
        slow.may_read.set()
        return await ids(stream)

    assert asyncio.run(read()) == list(range(10_000))


def test_two_coroutines_cannot_wait_for_one_batch(path: str) -> None:
    async def read() -> None:
        slow = SlowFile(pathlib.Path(path).read_bytes())
        file = marquetry.open(slow)
        slow.may_read.clear()
        stream = file.stream(["id"])
        first = asyncio.create_task(ids(stream))
        await asyncio.sleep(0.02)
        try:
            with pytest.raises(RuntimeError, match="another coroutine"):
                await anext(stream)
        finally:
            slow.may_read.set()
        assert await first == list(range(10_000))

    asyncio.run(read())


def test_errors_come_out_of_the_loop(path: str) -> None:
    async def read() -> None:
        slow = SlowFile(pathlib.Path(path).read_bytes())
        file = marquetry.open(slow)
        slow.broken = True
        with pytest.raises(ZeroDivisionError):
            await ids(file.stream(["id"]))

    asyncio.run(read())


def test_what_is_closed_early_ends(path: str) -> None:
    async def read() -> int:
        async with marquetry.open(path).stream(batch_size=10) as stream:
            async for batch in stream:
                return batch.num_rows
        return 0

    assert asyncio.run(read()) == 10
