"""Bots for Basic Rummy."""

from croupier.bots.basic_rummy.easy import EasyBot

__all__ = ["EasyBot"]
