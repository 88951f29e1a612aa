"""Numbers of a shape: whole ones where they do, else with as few decimals as they need."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, lcm

from conformance.generation.choosing import Choices
from conformance.generation.shapes import Impossible, Shape, number_fits

_SPAN = 1000


def number(shape: Shape, choices: Choices) -> int | float:
    """A number within the bounds, a multiple of what it has to be; the simplest is the nearest to 0."""
    step = _step(shape)
    drawing = choices
    for attempt in range(30):
        try:
            value = _multiple(shape, step, drawing)
        except Impossible:
            if shape.integral or shape.multiples:
                raise
            step /= 10
            if attempt > 12:
                raise
            continue
        if number_fits(shape, value):
            return _plain(value)
        drawing = choices.again(attempt + 1)
        if shape.not_multiples and not shape.multiples and not shape.integral:
            step = min(step, Fraction(1)) / (2 if attempt % 2 else 10)
    raise Impossible


def _step(shape: Shape) -> Fraction:
    """What every number is a multiple of; of numbers that need not be whole, 1."""
    steps = [*shape.multiples, *([Fraction(1)] if shape.integral else [])]
    if not steps:
        return Fraction(1)
    below = lcm(*(one.denominator for one in steps))
    return Fraction(lcm(*(int(one * below) for one in steps)), below)


def _multiple(shape: Shape, step: Fraction, choices: Choices) -> Fraction:
    low = None if shape.low is None else ceil(shape.low[0] / step)
    high = None if shape.high is None else floor(shape.high[0] / step)
    if low is not None and shape.low is not None and shape.low[1] and low * step == shape.low[0]:
        low += 1
    if high is not None and shape.high is not None and shape.high[1] and high * step == shape.high[0]:
        high -= 1
    if low is None and high is None:
        return choices.integer(0, _SPAN) * step * (-1 if choices.chance(15) else 1)
    if low is None:
        assert high is not None
        low = min(high, 0) - _SPAN
    if high is None:
        high = max(low, 0) + _SPAN
    if low > high:
        raise Impossible
    return _nearest_first(low, high, choices) * step


def _nearest_first(low: int, high: int, choices: Choices) -> int:
    """An integer of the range: the simplest is the one nearest to 0."""
    if low >= 0:
        return choices.integer(low, high)
    if high <= 0:
        return -choices.integer(-high, -low)
    return -choices.integer(1, -low) if choices.chance(30) else choices.integer(0, high)


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)
