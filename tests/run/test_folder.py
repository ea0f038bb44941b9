from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headrace import CheckpointError
from headrace.run.folder import HadoopFolder


def test_a_folder_behind_a_uri_is_read_as_it_was_written(spark: SparkSession, tmp_path: Path) -> None:
    folder = HadoopFolder(f"file:{tmp_path}/checkpoint", spark)
    assert folder.read("headrace/a.json") is None
    assert folder.names("headrace") == []
    folder.write("headrace/a.json", "one")
    folder.write("headrace/a.json", "two")
    assert folder.read("headrace/a.json") == "two"
    folder.remove()
    assert folder.read("headrace/a.json") is None


def test_a_file_system_that_is_none_is_told_in_one_sentence(spark: SparkSession) -> None:
    with pytest.raises(CheckpointError, match=r'file system: .*No FileSystem for scheme "nowhere"') as caught:
        HadoopFolder("nowhere://host/checkpoint", spark).read("a")
    assert len(str(caught.value).splitlines()) == 2
