# The most frequent words of a text, and what a log says of its levels.
import re
from collections import Counter

text = "the cat and the dog and the bird saw the cat"
for word, count in Counter(re.findall("[a-z]+", text)).most_common(3):
    print(f"{word}: {count}")

log = """
2024-03-01 12:00:01 INFO  started
2024-03-01 12:00:07 ERROR disk full
2024-03-01 12:01:30 WARN  slow answer
2024-03-01 12:02:00 ERROR no route
"""
entry = re.compile(r"^(\S+) (\S+) (\w+) +(.*)$")
for line in log.split("\n"):
    match = entry.match(line)
    if match and match[3] == "ERROR":
        print(match[2], match[4])
