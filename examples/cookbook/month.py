# The calendar of a month, and what day a date is.
from calendar import monthrange
from datetime import date


def calendar(year, month):
    first = date(year, month, 1)
    text = first.strftime("%B %Y") + "\nMo Tu We Th Fr Sa Su\n" + "   " * first.weekday()
    for day in range(1, monthrange(year, month)[1] + 1):
        last = date(year, month, day).weekday() == 6
        text += f"{day:2}" + ("\n" if last else " ")
    return text


print(calendar(2024, 2))
print(date(1815, 12, 10).strftime("%A"))
