"""Which branch of a choice was meant: of the errors of an `anyOf` or `oneOf`, those that help.

A branch is meant, in this order, by a type that fits, by a constant (a tag such as `kind`) that fits or
is near, by the members that it names and the value has. Where every branch wants another type or tag, or
just that some member is there, there is one error, and it lists what all of them want.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from jsonschema.exceptions import ValidationError

from conformance.events import JSON
from conformance.sentences import Alternatives
from conformance.wording import nearest

Members = Callable[[Any], Mapping[str, Any]]
"""The members that a schema object names, each with its schema."""

_TAGS = ("const", "enum")


class Branch(NamedTuple):
    """One branch of a choice, the value, and why the branch does not fit it."""

    members: Mapping[str, Any]
    value: JSON
    errors: list[ValidationError]

    def at(self, *path: str) -> list[ValidationError]:
        """The errors of the value itself, or of one of its members."""
        return [error for error in self.errors if tuple(error.path) == path]

    def wrong_tags(self) -> dict[tuple[Any, ...], ValidationError]:
        """The places, the value itself or a member of it, where another constant is wanted."""
        return {tuple(one.path): one for one in self.errors if one.validator in _TAGS and len(one.path) < 2}

    def missing(self) -> list[str]:
        """The members that the value itself lacks."""
        wanted: list[Any] = [error.validator_value for error in self.at() if error.validator == "required"]
        return [name for names in wanted for name in dict.fromkeys(names) if name not in self.value]

    def asks_for_presence(self) -> bool:
        """Whether members have to be there, and that is all the branch says."""
        return not self.members and all(one.validator == "required" and not one.path for one in self.errors)

    def has_tag(self, place: tuple[Any, ...]) -> bool:
        """Whether the branch wants a constant there."""
        sub = self.members.get(place[0]) if place else None
        return isinstance(sub, dict) and any(keyword in sub for keyword in _TAGS)


def meant(choice: ValidationError, members_of: Members) -> list[ValidationError]:
    """The errors of the branch that was meant, the deepest first, or one that speaks for all branches."""
    branches = _branches(choice, members_of)
    fitting = [one for one in branches if not any(error.validator == "type" for error in one.at())]
    if not fitting:
        return [_of_all(choice, branches, (), "type")] if len(branches) > 1 else branches[0].errors
    tags = [one.wrong_tags() for one in fitting]
    shared = [place for place in tags[0] if len(fitting) > 1 and all(place in wrong for wrong in tags)]
    if shared:
        return [_of_all(choice, fitting, shared[0], "enum")]
    if len(fitting) > 1 and all(one.asks_for_presence() for one in fitting):
        return [_of_all(choice, fitting, (), "required")]
    best = min(fitting, key=lambda one: _distance(one, fitting))
    return sorted(best.errors, key=lambda error: -len(error.path))


def _branches(choice: ValidationError, members_of: Members) -> list[Branch]:
    errors: dict[Any, list[ValidationError]] = {}
    for error in choice.context or ():
        errors.setdefault(error.schema_path[0], []).append(error)
    options: Any = choice.validator_value
    return [Branch(members_of(options[index]), choice.instance, some) for index, some in errors.items()]


def _distance(branch: Branch, branches: list[Branch]) -> tuple[int, int, int]:
    return _tag_level(branch, branches), _strangeness(branch), len(branch.errors)


def _tag_level(branch: Branch, branches: list[Branch]) -> int:
    """0: a tag fits that others want otherwise; 1: one is near; 2: there is none; 3: one is wrong."""
    wrong = branch.wrong_tags()
    if wrong:
        return 1 if all(map(_is_near, wrong.values())) else 3
    elsewhere = {place for other in branches for place in other.wrong_tags()}
    return 0 if any(branch.has_tag(place) for place in elsewhere) else 2


def _is_near(error: ValidationError) -> bool:
    texts = [value for value in _wanted(error) if isinstance(value, str)]
    return isinstance(error.instance, str) and nearest(error.instance, texts) is not None


def _strangeness(branch: Branch) -> int:
    """How many members are missing, and how many are there that the branch does not name; not near ones."""
    missing = branch.missing()
    present = branch.value if isinstance(branch.value, dict) and branch.members else ()
    unknown = [name for name in present if name not in branch.members]
    near = sum(nearest(name, unknown) is not None for name in missing)
    return len(missing) + len(unknown) - 2 * near


def _wanted(error: ValidationError) -> list[Any]:
    value: Any = error.validator_value
    return [value] if error.validator == "const" or isinstance(value, str) else list(value)


def _of_all(
    choice: ValidationError, branches: list[Branch], at: tuple[Any, ...], sort: str
) -> ValidationError:
    """One error in place of one per branch: none of the values, types or members that they want there."""
    keywords = _TAGS if sort == "enum" else (sort,)
    found = [error for one in branches for error in one.at(*at) if error.validator in keywords]
    wanted: list[Any] = []
    for value in (value for error in found for value in _wanted(error)):
        wanted += [value] if value not in wanted else []
    return ValidationError(
        "no alternative wants this",
        validator=choice.validator,
        validator_value=Alternatives(sort, tuple(wanted)),
        instance=found[0].instance,
        schema=choice.schema,
        path=at,
        parent=choice,
    )
