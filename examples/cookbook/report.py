# A report from a CSV file: what each region has sold, the largest first.
import csv

with open("data/sales.csv") as file:
    rows = list(csv.DictReader(file))
totals = {}
for row in rows:
    sold = int(row["units"]) * float(row["price"])
    totals[row["region"]] = totals.get(row["region"], 0.0) + sold
total = sum(totals.values())
for region, sold in sorted(totals.items(), key=lambda item: -item[1]):
    print(f"{region:8}{sold:8.2f}{100.0 * sold / total:6.1f} %")
print(f"total   {total:8.2f}")
