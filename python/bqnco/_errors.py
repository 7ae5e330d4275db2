"""Exceptions. Each carries one sentence of the library: what, where, what was expected."""


class Error(Exception):
    """Any error of the library."""

    __module__ = "bqnco"


class InstanceError(Error, ValueError):
    """Numbers or a file that are no instance or no solution of one."""

    __module__ = "bqnco"


class InfeasibleError(Error, ValueError):
    """A solution that breaks a constraint of its instance."""

    __module__ = "bqnco"


class SettingsError(Error, ValueError):
    """Settings that are out of range or do not fit the problem."""

    __module__ = "bqnco"


class ModelError(Error, ValueError):
    """A network that cannot be loaded, or is for another problem."""

    __module__ = "bqnco"


class PolicyError(Error, RuntimeError):
    """A policy that gave no usable scores."""

    __module__ = "bqnco"
