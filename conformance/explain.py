"""Why a schema refuses a value: the second engine, asked only about values that were refused.

jsonschema with referencing walks the same documents; what it adds here is the absolute place of each
failing keyword, the branch of a choice that was meant, and sentences for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import jsonschema
import jsonschema_rs
from jsonschema.exceptions import ValidationError
from jsonschema_specifications import REGISTRY as SPECIFICATIONS
from referencing import Registry, Specification
from referencing.jsonschema import specification_with

from conformance import jsontext
from conformance.choices import meant
from conformance.events import JSON
from conformance.findings import BrokenConstraint
from conformance.keywords import validator_class
from conformance.places import walk
from conformance.rephrasing import rephrased
from conformance.sentences import Forbidden, told
from conformance.stringformats import CHECKS

FORMATS = ("date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4", "ipv6",
           "iri", "iri-reference", "json-pointer", "regex", "relative-json-pointer", "time", "uri",
           "uri-reference", "uri-template", "uuid")  # fmt: skip


def _format_checker(dialect: str) -> jsonschema.FormatChecker:
    # The first engine's own judgement of formats, so that the two can never differ on one.
    checker = jsonschema.FormatChecker(formats=())
    for name in FORMATS:
        judge = jsonschema_rs.validator_for(
            {"$schema": dialect, **rephrased({"format": name})}, formats=CHECKS, validate_formats=True
        )
        checker.checks(name)(judge.is_valid)
    return checker


def specification(dialect: str) -> Specification[Any]:
    """How referencing reads a dialect; of `dependencies`, its own takes lists for schemas where some are."""
    its_own = specification_with(dialect)

    def subresources(contents: Any) -> Iterator[Any]:
        return (one for one in its_own.subresources_of(contents) if not isinstance(one, list))

    make: Any = Specification  # whose fields are not typed
    made: Specification[Any] = make(
        name=its_own.name,
        id_of=its_own.id_of,
        subresources_of=subresources,
        anchors_in=lambda _, contents: its_own.anchors_in(contents),
        maybe_in_subresource=its_own.maybe_in_subresource,
    )
    return made


class Explainer:
    """Explains refusals over the documents of one `Schemas`.

    `location_of` says where a schema object stands, `members_of` which members it names.
    """

    def __init__(
        self,
        documents: Mapping[str, Any],
        uris: Mapping[str, str],
        dialect: str,
        location_of: Callable[[Any], str],
        members_of: Callable[[Any], Mapping[str, Any]],
    ) -> None:
        its_own = specification(dialect)
        self._location_of, self._members_of = location_of, members_of
        self._registry: Registry[Any] = SPECIFICATIONS.with_resources(
            (uris[name], its_own.create_resource(document)) for name, document in documents.items()
        )
        self._class = validator_class(dialect)
        self._formats = _format_checker(dialect)

    def explain(self, uri: str, value: JSON) -> Iterator[BrokenConstraint]:
        """One BrokenConstraint for each constraint; of a choice, those of the branch that was meant.

        What two constraints say of the same place in the same words is one fault, and told once.
        """
        validator = self._class({"$ref": uri}, registry=self._registry, format_checker=self._formats)
        done: set[tuple[str, str]] = set()
        for error in validator.iter_errors(value):
            for leaf in self._leaves(error):
                for one in self._described(leaf):
                    said = {(one.location + one.about, one.pointer), (one.message, one.pointer)}
                    if done.isdisjoint(said):
                        yield one
                    done |= said

    def _leaves(self, error: ValidationError) -> Iterator[ValidationError]:
        if error.validator not in ("anyOf", "oneOf") or not error.context:
            yield error
            return
        for inner in meant(error, self._members_of):
            yield from self._leaves(inner)

    def _described(self, error: ValidationError) -> Iterator[BrokenConstraint]:
        base = self._location_of(error.schema) or self._foreign.get(id(error.schema), "")
        keyword, location = _place(error, base)
        pointer = jsontext.pointer([str(part) for part in error.absolute_path])
        for one in told(error):
            yield BrokenConstraint(
                keyword=keyword,
                location=location,
                pointer=pointer + one.inside,
                message=one.message,
                expected=one.expected,
                actual=one.actual,
                about=f"{base}/properties{jsontext.pointer([one.about])}" if one.about else "",
            )

    @cached_property
    def _foreign(self) -> dict[int, str]:
        """The URI of each schema object of the dialects themselves, by its identity."""
        texts = ((uri, SPECIFICATIONS.contents(uri)) for uri in SPECIFICATIONS)
        return {id(node): f"{uri.rstrip('#')}#{where}" for uri, text in texts for where, node in walk(text)}


def _place(error: ValidationError, base: str) -> tuple[str, str]:
    """The keyword that an error is about, and its location."""
    keyword = str(error.validator)
    if not isinstance(error.validator_value, Forbidden):
        return keyword, f"{base}/{keyword}"
    within = error.validator_value.within
    if not within:
        return keyword, f"{base}/{keyword}"
    return "false", f"{base}{within}" if keyword == "if" else f"{base}/{keyword}{within}"
