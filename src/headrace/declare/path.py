"""Paths into columns: ``customer.id``, and names that have a dot themselves."""


def parts(path: str) -> tuple[str, ...]:
    """Split ``customer.id`` into its parts; backticks keep a dot inside a name."""
    found, current, inside = [], "", False
    for character in path:
        if character == "`":
            inside = not inside
        elif character == "." and not inside:
            found.append(current)
            current = ""
        else:
            current += character
    return (*found, current)
