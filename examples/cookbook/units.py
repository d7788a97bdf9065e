# Quantities with units that are kept apart when the program runs.
from dataclasses import dataclass


@dataclass
class Quantity:
    value: float
    unit: str

    def __add__(self, other):
        if self.unit != other.unit:
            raise TypeError(f"{self.unit} + {other.unit}")
        return Quantity(self.value + other.value, self.unit)

    def __truediv__(self, other):
        return Quantity(self.value / other.value, self.unit + "/" + other.unit)


way = Quantity(100.0, "m") + Quantity(50.0, "m")
speed = way / Quantity(12.5, "s")
print(f"{way.value} {way.unit}, {speed.value} {speed.unit}")
