import pickle

import pytest

from headrace import errors


def everything(kind):
    yield kind
    for child in kind.__subclasses__():
        yield from everything(child)


@pytest.mark.parametrize("kind", [*everything(errors.HeadraceError)])
def test_every_error_is_drawn_in_the_tree_and_exported(kind):
    assert kind.__name__ in errors.__doc__
    assert kind.__name__ in errors.__all__
    assert 0 < kind.exit_code < 128


def test_an_error_says_what_where_and_the_cure():
    error = errors.PlanError("It cannot be.", where="a.py:3", cure="do otherwise")
    assert str(error) == "It cannot be.\n  at a.py:3\n  cure: do otherwise"
    assert str(errors.PlanError("It cannot be.")) == "It cannot be."


def test_an_error_survives_the_way_to_another_process():
    sent = errors.RunError("It stopped.", cure="look")
    got = pickle.loads(pickle.dumps(sent))  # noqa: S301
    assert (type(got), str(got)) == (errors.RunError, str(sent))


def test_the_caller_is_the_users_own_line():
    where = errors.caller()
    assert where.startswith("tests/test_errors.py:")
