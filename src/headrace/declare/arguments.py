"""Arguments of a recorded function held against the parameters that pyspark gives it."""

from headrace.declare import catalogue
from headrace.declare.expr import Call
from headrace.errors import DeclarationError


def check_arguments(call: Call, where: str) -> None:
    """Refuse arguments that the function does not take; where its parameters are unknown, Spark will."""
    parameters = catalogue.parameters(call.function)
    if parameters is None:
        return
    names = [parameter.name for parameter in parameters]
    variadic = any(parameter.variadic for parameter in parameters)
    by_position = names[: len(call.arguments)]
    unknown = [name for name, _ in call.keywords if name not in names]
    twice = [name for name, _ in call.keywords if name in by_position and not variadic]
    if len(call.arguments) > len(names) and not variadic:
        more = ", ".join(each.text() for each in call.arguments[len(names) :])
        raise _refused(call, f"has no place for {more}", names, where)
    if unknown:
        raise _refused(call, f"has no argument {unknown[0]}", names, where)
    if twice:
        raise _refused(call, f"is given {twice[0]} twice", names, where)


def _refused(call: Call, why: str, names: list[str], where: str) -> DeclarationError:
    return DeclarationError(
        f"F.{call.function} {why}",
        where=call.where or where,
        cure=f"it takes {', '.join(names)}" if names else "it takes no arguments",
    )
