import subprocess
import sys

from pyspark import cloudpickle
from pyspark.sql.types import DecimalType, IntegerType, MapType, StringType

from headrace.plan.udf import _guarded


def test_a_guarded_function_answers_with_its_value_or_what_it_raised():
    guarded = _guarded(lambda x: 10 // x, "tenth", IntegerType())
    assert guarded(5) == (2, None)
    assert guarded(0) == (None, "ZeroDivisionError: integer division or modulo by zero")
    assert guarded.__name__ == "tenth"


def test_a_value_of_another_type_counts_as_raised():
    def check(value, kind):
        return _guarded(lambda: value, "f", kind)()

    assert check(None, IntegerType()) == (None, None)
    assert check("5", IntegerType()) == (5, None)
    assert check("five", IntegerType()) == (None, "returned 'five', which is no int")
    assert check(2**40, IntegerType())[1] == "returned 1099511627776, which is no int"
    assert check(5, DecimalType(5, 2))[1] == "returned 5, which is no decimal(5,2)"
    assert check({"a": "b"}, MapType(StringType(), StringType())) == ({"a": "b"}, None)


def test_workers_need_no_headrace(tmp_path):
    sent = tmp_path / "function"
    sent.write_bytes(cloudpickle.dumps(_guarded(lambda x: x + 1, "next", IntegerType())))
    code = (
        "import pickle, sys; sys.modules['headrace'] = None; "
        f"print(pickle.load(open({str(sent)!r}, 'rb'))(1))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.strip() == "(2, None)", done.stderr
