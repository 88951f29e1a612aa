"""Violations of every constraint of every pack, counted, judged, and judged again by engines of others.

For each pack, in each form: how many constraints there are (at each place of each kind, and in the schemas),
how many are broken, how many are impossible, and the processor time of each. Every violation must be caught
by the monitor, by which `validate` judges, under the requirement that speaks for its constraint. And each
engine must refuse every violation and accept every twin: jsonschema-rs, the kit's second engine without it,
python-jsonschema as it is, and with `--ajv FOLDER` the npm packages ajv and ajv-formats, which are in that
folder. What differs is listed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
from referencing import Registry, Resource

from conformance import jsontext, packs
from conformance.attribution import Attribution
from conformance.events import Received
from conformance.generation.coverage import never, tally
from conformance.generation.violations import Violation, workshop
from conformance.monitor import Monitor
from conformance.packs import Kind, Pack
from conformance.schemas import Schemas

HEAD = ("pack", "form", "places", "broken", "impossible", "unexplained", "schemas", "broken", "ms each")


class Case(NamedTuple):
    """A violation of a kind, its parsed part and that of its twin."""

    kind: Kind
    violation: Violation
    bad: Any
    good: Any


def cases(pack: Pack, form: str, published: bool) -> Iterator[Case]:
    for kind in pack.kinds:
        for _, one in workshop(pack, kind.name, form=form, as_published=published).all():
            if isinstance(one, Violation):
                parts = (
                    jsontext.resolve(jsontext.parse(text).value, kind.at) for text in (one.text, one.twin)
                )
                yield Case(kind, one, *parts)


def count(pack: Pack, form: str, published: bool) -> tuple[Any, ...]:
    """The row of a pack in a form."""
    began = time.process_time()
    found = [
        tally(kind.name, workshop(pack, kind.name, form=form, as_published=published)) for kind in pack.kinds
    ]
    spent = time.process_time() - began
    places, broken, impossible, unexplained = (sum(row.row[1][at] for row in found) for at in range(4))
    whole = {key for one in found for key in (*one.broken, *one.reasons)}
    named = "published" if published else form
    ones = len(whole), len(whole) - len(never(found))
    return pack.name, named, places, broken, impossible, unexplained, *ones, f"{1000 * spent / broken:.1f}"


def caught(pack: Pack, form: str, one: Case) -> str:
    """What is wrong with how the monitor tells the violation; empty where it is caught as it should be."""
    schemas = pack.schemas(form)
    attribution = Attribution(pack.requirements.values(), pack.unknown_kind_id)
    errors = schemas.errors(one.kind.schema, one.bad)
    whole = (error._replace(pointer=one.kind.at + error.pointer) for error in errors)
    owners = {attribution.of(error, one.kind.name) for error in whole}
    text = one.violation.text
    parsed = jsontext.parse(text)
    monitor = Monitor(pack, form=form, stateless=True, kind=one.kind.name)
    found = [f for f in monitor.feed(Received(0, "", text, parsed.value, faults=parsed.faults)) if not f.ok]
    told = {finding.requirement for finding in found}
    if owners & told:
        return ""
    envelope = any(finding.pointer == "" or one.kind.at.startswith(finding.pointer) for finding in found)
    at = [finding for finding in found if finding.pointer == one.violation.pointer]
    if at or (envelope and found):  # another requirement that says the same of the same place
        return f"instead {at[0].requirement if at else found[0].requirement} for {'/'.join(sorted(owners))}"
    return f"missed: {'/'.join(sorted(owners))} is not among {sorted(told)}"


def plain(value: Any) -> Any:
    """A value as json.loads would have made it."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return [plain(part) for part in value] if isinstance(value, list) else value


class Python:
    """python-jsonschema, with its own format checker."""

    def __init__(self, schemas: Schemas) -> None:
        named = [
            (
                schemas.uri(name).partition("#")[0],
                Resource.from_contents({"$schema": schemas.dialect, **document}),
            )
            for name, document in schemas.documents.items()
        ]
        self._registry: Any = Registry().with_resources(named)
        self._class: Any = jsonschema.validators.validator_for({"$schema": schemas.dialect})
        self._schemas = schemas

    def accepts(self, location: str, value: Any) -> bool:
        schema = {"$ref": self._schemas.uri(location)}
        judge = self._class(schema, registry=self._registry, format_checker=self._class.FORMAT_CHECKER)
        return bool(judge.is_valid(plain(value)))


AJV = """
const path = process.argv[2] + '/node_modules/';
const input = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const Ajv = require(path + (input.legacy ? 'ajv' : 'ajv/dist/2020')).default;
const ajv = new Ajv({strict: false, allErrors: false});
require(path + 'ajv-formats').default(ajv);
for (const [uri, schema] of input.documents) ajv.addSchema(schema, uri);
const known = {};
const verdicts = input.values.map(([uri, value]) => {
  known[uri] = known[uri] || ajv.compile({$ref: uri});
  return known[uri](value);
});
console.log(JSON.stringify(verdicts));
"""


def by_ajv(folder: Path, schemas: Schemas, values: Iterable[tuple[str, Any]]) -> list[bool]:
    """The verdicts of ajv."""
    documents = [
        (schemas.uri(name).partition("#")[0], {"$schema": schemas.dialect, **document})
        for name, document in schemas.documents.items()
    ]
    asked = [(schemas.uri(location), plain(value)) for location, value in values]
    said = {"legacy": "draft-07" in schemas.dialect, "documents": documents, "values": asked}
    done = subprocess.run(
        ["node", "-e", AJV, "ajv", str(folder)],
        input=json.dumps(said),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    verdicts: list[bool] = json.loads(done.stdout)
    return verdicts


def differences(pack: Pack, form: str, found: list[Case], ajv: Path | None) -> Iterator[str]:
    """What an engine says otherwise than that a violation is none and its twin is valid."""
    schemas = pack.schemas(form)
    python = Python(schemas)
    explainer = schemas._explainer
    verdicts = (
        by_ajv(ajv, schemas, [(c.kind.schema, v) for c in found for v in (c.bad, c.good)]) if ajv else []
    )
    for number, one in enumerate(found):
        for part, right in ((one.bad, False), (one.good, True)):
            says = {
                "jsonschema-rs": not schemas.broken(one.kind.schema, part),
                "the explainer alone": not any(explainer.explain(schemas.uri(one.kind.schema), part)),
                "python-jsonschema": python.accepts(one.kind.schema, part),
            }
            if verdicts:
                says["ajv"] = verdicts[2 * number + right]
            for engine, verdict in says.items():
                if verdict != right:
                    what = "refuses a twin" if right else "accepts the violation"
                    shown = jsontext.resolve(part, one.violation.pointer[len(one.kind.at) :])
                    yield f"{engine} {what} of {one.violation.schema}: {json.dumps(plain(shown))[:80]}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("protocol", nargs="*", help="PROTOCOL or PROTOCOL@REVISION; all without one")
    parser.add_argument("--ajv", type=Path, metavar="FOLDER", help="where ajv and ajv-formats are installed")
    parser.add_argument("--published", action="store_true", help="as published too, where there are errata")
    parser.add_argument("--count", action="store_true", help="count only")
    options = parser.parse_args()
    chosen = [packs.find(name) for name in options.protocol] or packs.find_all()
    print("\t".join(HEAD))
    for pack in chosen:
        forms = ("sender", "receiver") if pack.meta.get("sender_form") else ("sender",)
        for form, published in [
            *((form, False) for form in forms),
            *([("sender", True)] if options.published else []),
        ]:
            print("\t".join(map(str, count(pack, form, published))), flush=True)
        if not options.count:
            found = list(cases(pack, forms[0], False))
            told = Counter(filter(None, (caught(pack, forms[0], one) for one in found)))
            print(f"  {len(found)} violations, {len(found) - told.total()} caught under their requirement")
            for what, number in [
                *told.items(),
                *Counter(differences(pack, forms[0], found, options.ajv)).items(),
            ]:
                print(f"    {number} × {what}", flush=True)


if __name__ == "__main__":
    main()
