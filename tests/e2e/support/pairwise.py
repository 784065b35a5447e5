# SPDX-License-Identifier: MIT
"""
Combinations of values so that every possible pair of values of two axes comes together in at least one of them, and
every possible group of values of some chosen sets of axes.

Greedy: each combination starts from a group that is still uncovered and is completed in a few random ways, of which the
one that covers most is kept. The dice have a fixed seed: the same axes give the same combinations.
"""

import itertools
import random

COMPLETIONS = 6  # how many random ways are compared


class Constraint:
    """Values that can't come together, with the reason: a combination with one of each axis is impossible."""

    def __init__(self, reason, **axes):
        self.reason = reason
        self.axes = {axis: frozenset(values) for axis, values in axes.items()}

    def forbids(self, chosen):
        """Whether a combination that is complete so far as `chosen` is impossible."""
        return all(axis in chosen and chosen[axis] in values for axis, values in self.axes.items())


def is_possible(chosen, constraints):
    return not any(constraint.forbids(chosen) for constraint in constraints)


def groups_of(axes, names, constraints):
    """Every possible group of one value per named axis, as a tuple of (axis, value)."""
    groups = (tuple(zip(names, values)) for values in itertools.product(*(axes[name] for name in names)))
    return [group for group in groups if is_possible(dict(group), constraints)]


def covers(combination, names):
    return tuple((name, combination[name]) for name in names)


class _Generator:
    def __init__(self, axes, constraints, sets, seed):
        self.axes, self.sets = axes, sets
        self.constraints_of = {axis: [c for c in constraints if axis in c.axes] for axis in axes}
        self.dice = random.Random(seed)
        # dicts keep their order, sets of strings don't from one process to the next.
        self.uncovered = {group: None for names in sets for group in groups_of(axes, names, constraints)}

    def complete(self, group):
        """A random possible combination with this group, or None if the dice led nowhere."""
        chosen = dict(group)
        rest = [axis for axis in self.axes if axis not in chosen]
        self.dice.shuffle(rest)
        for axis in rest:
            for value in self.dice.sample(self.axes[axis], len(self.axes[axis])):
                chosen[axis] = value
                if is_possible(chosen, self.constraints_of[axis]):
                    break
            else:
                return None
        return chosen

    def gain(self, combination):
        return sum(covers(combination, names) in self.uncovered for names in self.sets)

    def best(self, group):
        completed = [self.complete(group) for _ in range(COMPLETIONS)]
        for _ in range(200):
            if any(completed):
                return max((c for c in completed if c), key=self.gain)
            completed = [self.complete(group)]
        raise AssertionError(f"no combination is possible with {group}: the constraints lack what follows from them")

    def combinations(self):
        while self.uncovered:
            combination = self.best(next(iter(self.uncovered)))
            for names in self.sets:
                self.uncovered.pop(covers(combination, names), None)
            yield {axis: combination[axis] for axis in self.axes}


def combine(axes, constraints, chosen_sets=(), seed=1):
    """
    A list of {axis: value}. axes: {axis: [values]}; chosen_sets: further tuples of axes, whose groups are covered too.

    Every group that no constraint forbids by itself must be possible: what follows from two constraints together has to
    be in the table too.
    """
    sets = [tuple(names) for names in chosen_sets] + list(itertools.combinations(axes, 2))
    return list(_Generator(axes, constraints, sets, seed).combinations())
