# JSON from a file as records, changed, and written again.
import json

with open("data/people.json") as file:
    people = json.load(file)
for p in people:
    print(f"{p['name']}, {len(p['works'])} works")
shorter = [{"name": p["name"], "century": p["born"] // 100 + 1} for p in people]
print(json.dumps(shorter, separators=(",", ":")))
